"""LPR-degrees: a noisy sine by local constants, lines and parabolas."""

import numpy as np

from isthmus.plotting import curves
from isthmus.regression import LocalPolynomialRegression
from isthmus_experiments import Covers, Outcome, Picture, Row, draws, experiment
from isthmus_experiments.experiments._ukr import mean_sd

DEGREES = {"constant": 0, "linear": 1, "quadratic": 2}
WIDTHS = (1.0, 0.3)
# What the document does not say; every claim is judged under all of these.
NOISES = (0.1, 0.2, 0.4)
PERIODS = (1, 2)


@experiment(
    "LPR-degrees",
    document="[004] 5.4.1, figure 5.26",
    title="A noisy sine by local constants, lines and parabolas at two bandwidths",
    published=(
        "100 noisy samples of a sine, Gaussian kernel, bandwidths 1 and 0.3. Lines and parabolas "
        "fit much better at the larger one, especially at the borders; constants are biased at the "
        "ends even at the smaller one; at the peaks parabolas are more accurate than lines. "
        "Pictures; noise and number of periods of the sine are not given."
    ),
    covers=[
        Covers("004 figure 5.26", way="claim",
               why="noise and number of periods are not given: judged at three noises and two "
               "numbers of periods")
    ],
    readings={
        "": (
            "'much better' is read as a tenth or more; under the largest noise the gain is "
            "smaller, and the document shows one set"
        ),
    },
    in_short=(
        "under the largest noise lines gain less than the tenth that 'much better' is read as"
    ),
    quick={"n_sets": 10},
    full={"n_sets": 100},
)  # fmt: skip
def degrees(settings, seed, progress):
    kinds = [(noise, periods) for noise in NOISES for periods in PERIODS]

    def draw(j):
        return {
            f"{noise:g}, {periods}": {
                key: [*(np.sqrt(np.mean(away[part] ** 2)) for part in _parts(periods)),
                      _inward(away)]
                for key, away in _errors(noise, periods, [seed, j])
            }
            for noise, periods in kinds
        }  # fmt: skip

    sets = draws(draw, settings["n_sets"], progress)
    found = {
        kind: {key: np.array([one[kind][key] for one in sets]) for key in sets[0][kind]}
        for kind in sets[0]
    }
    shown = found["0.2, 1"]
    rows = [
        Row(f"{key.replace(', ', ', bandwidth ')}: error everywhere, at the ends, at the peaks",
            None, ", ".join(mean_sd(column, 3) for column in values.T[:3]),
            "root of the mean square, one period with a noise of 0.2")
        for key, values in shown.items()
    ]  # fmt: skip
    means = [{key: v.mean(axis=0) for key, v in of.items()} for of in found.values()]
    return Outcome(
        [*rows, *_claims(means)],
        [
            Picture(
                "fits", "One data set at both bandwidths.",
                lambda: curves(
                    {
                        f"bandwidth {h:g}": {
                            k.split(",")[0]: (_grid(1), away + np.sin(_grid(1)))
                            for k, away in _errors(0.2, 1, [seed, 0]) if k.endswith(f"{h:g}")
                        } | {"truth": (_grid(1), np.sin(_grid(1)))}
                        for h in WIDTHS
                    },
                    xlabel="x", ylabel="y",
                ),
            )
        ],
        [f"{len(sets)} data sets for each of {len(kinds)} kinds: noise of "
         f"{', '.join(f'{noise:g}' for noise in NOISES)}, one or two periods of the sine of x; the "
         "document shows one set. A claim counts as holding only if it does for every kind."],
    )  # fmt: skip


def _grid(periods):
    return np.linspace(0, 2 * np.pi * periods, 400)


def _parts(periods):
    """All places, those near the ends, and those near the peaks."""
    grid = _grid(periods)
    ends = (grid < 0.3) | (grid > grid[-1] - 0.3)
    return ..., ends, np.abs(np.abs(np.sin(grid)) - 1) < 0.02


def _errors(noise, periods, seed):
    """The differences to the sine on the grid, by degree and bandwidth."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 2 * np.pi * periods, size=100))[:, None]
    y = np.sin(x[:, 0]) + noise * rng.normal(size=100)
    grid = _grid(periods)
    for name, degree in DEGREES.items():
        for h in WIDTHS:
            model = LocalPolynomialRegression(degree, bandwidth=h, density_kernel="gaussian")
            yield f"{name}, {h:g}", model.fit(x, y).predict(grid[:, None]) - np.sin(grid)


def _inward(away, n=20):
    """Mean error at the ends, positive at the left and negative at the right: a flattened end."""
    return (away[:n].mean() - away[-n:].mean()) / 2


def _claims(means):
    """The sentences of the text, each as the range of a ratio over all kinds of data."""

    def ratios(upper, lower, part):
        return [abs(m[upper][part] / m[lower][part]) for m in means]

    names = {"linear": "lines", "quadratic": "parabolas"}
    for degree, name in names.items():
        yield _claim(f"bandwidth 1: error of {name} over that of constants", "much better",
                     ratios(f"{degree}, 1", "constant, 1", 0), 0.9)  # fmt: skip
        yield _claim(f"bandwidth 1: error of {name} at the ends over that of constants",
                     "especially there", ratios(f"{degree}, 1", "constant, 1", 1), 0.9)  # fmt: skip
        yield _claim(f"bandwidth 0.3: bias of {name} at the ends over that of constants",
                     "constants are biased even here",
                     ratios(f"{degree}, 0.3", "constant, 0.3", 3), 0.5)  # fmt: skip
    yield _claim("bandwidth 1: error at the peaks, parabolas over lines", "more accurate",
                 ratios("quadratic, 1", "linear, 1", 2), 1.0)  # fmt: skip


def _claim(quantity, published, ratios, limit):
    low, high = min(ratios), max(ratios)
    n_below = sum(ratio < limit for ratio in ratios)
    return Row(
        quantity,
        published,
        f"{low:.2f} to {high:.2f}",
        f"below {limit:g} for {n_below} of {len(ratios)} kinds of data",
        bool(high < limit),
    )
