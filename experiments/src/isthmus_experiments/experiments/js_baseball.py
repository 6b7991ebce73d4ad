"""JS-baseball: James and Stein's estimate of eighteen batters."""

import numpy as np

from isthmus.plotting import style
from isthmus.regression import james_stein
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

AT_BATS = 45
# Efron and Morris (1975): hits in the first 45 at-bats of 1970, average in the rest of the season.
HITS = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7])
REST = np.array(
    [0.346, 0.298, 0.276, 0.222, 0.273, 0.270, 0.263, 0.210, 0.269]
    + [0.230, 0.264, 0.256, 0.303, 0.264, 0.226, 0.286, 0.316, 0.200]
)


@experiment(
    "JS-baseball",
    document="[002] 5.1, figure 24",
    title="Eighteen batters, shrunk towards their mean",
    published=(
        "Batting averages after 45 at-bats, shrunk towards their mean, predict the rest of the "
        "season with a third of the squared error: factor 0.212, 0.075 to 0.021. The document "
        "prints m - 2 and claims a gain from three observations on."
    ),
    covers=[
        Covers("002 figure 24"),
    ],
    in_short="the printed formula gains from four observations on, not from three",
    quick={"draws": 2000},
    full={"draws": 50_000},
)
def baseball(settings, seed, progress):
    first = HITS / AT_BATS
    mean = first.mean()
    shrunk, factor = james_stein(first, sigma2=mean * (1 - mean) / AT_BATS, return_factor=True)
    before, after = (float(np.sum((guess - REST) ** 2)) for guess in (first, shrunk))
    better = int(np.sum(np.abs(shrunk - REST) < np.abs(first - REST)))
    progress(0.3, "risk of three observations")
    printed = _risk_of_three(settings["draws"], seed)
    return Outcome(
        [
            _close("factor", 0.212, factor, 5e-4),
            _close("squared error of the averages", 0.075, before, 1e-3),
            _close("squared error after shrinking", 0.021, after, 1e-3),
            Row("players predicted better", None, f"{better} of 18", "in total, not each of them"),
            Row(
                "mean squared error of three observations, printed formula towards the mean",
                "less than 3",
                printed,
                "more than 3, and infinite in expectation (the mean of 1/|y - mean|^2 diverges in "
                "two dimensions), so it depends on the draws; with m - 3 the gain begins at four"
                if printed > 3
                else "less than 3",
                bool(printed < 3),
            ),
        ],
        [
            Picture(
                "batters",
                "Averages of the first 45 at-bats, shrunk, and what came of it.",
                lambda: _lines(first, shrunk),
            )
        ],
    )


def _close(name, published, ours, tolerance):
    near = bool(abs(ours - published) <= tolerance)
    return Row(name, published, ours, "as published" if near else "differs", near)


def _risk_of_three(draws, seed):
    theta = np.linspace(0, 3, 3)
    y = theta + np.random.default_rng(seed).normal(size=(draws, 3))
    away = y - y.mean(axis=1, keepdims=True)
    factor = 1 - 1 / np.sum(away**2, axis=1, keepdims=True)
    return float(np.mean(np.sum((y.mean(axis=1, keepdims=True) + factor * away - theta) ** 2, 1)))


def _lines(first, shrunk):
    from matplotlib.figure import Figure

    from isthmus.plotting import PALETTE

    with style():
        figure = Figure(figsize=(6, 4.2), layout="constrained")
        ax = figure.subplots()
        for values in zip(first, shrunk, REST, strict=True):
            ax.plot([0, 1, 2], values, color=PALETTE[6], linewidth=1, zorder=1)
        for place, values in enumerate((first, shrunk, REST)):
            ax.scatter(np.full(18, place), values, color=PALETTE[place], zorder=2, s=30)
        ax.set_xticks([0, 1, 2], ["first 45 at-bats", "shrunk", "rest of the season"])
        ax.set(ylabel="batting average", xlim=(-0.3, 2.3))
    return figure
