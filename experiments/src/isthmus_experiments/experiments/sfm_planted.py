"""SFM-planted: planted features, found again."""

import numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from isthmus.plotting import curves
from isthmus.regression import SupportFeatureMachine
from isthmus_experiments import Covers, Outcome, Picture, Row, experiment

DRAWS = 5
# (samples, features, true ones): features chosen by the margin and by the mean form, draws with
# true features only; from an independent program with the same draws.
TABLE = {
    (60, 500, 4): (((4, 6, 6, 12, 16), 1), ((5, 5, 6, 7, 8), 0)),
    (100, 1000, 5): (((10, 11, 10, 9, 8), 0), ((5, 7, 8, 5, 5), 3)),
    (60, 2000, 3): (((8, 9, 7, 6, 5), 0), ((3, 3, 3, 3, 3), 5)),
}
FORMS = ("margin", "mean")
PLAIN = {"standardize": False, "fit_intercept": False, "refit": False}


@experiment(
    "SFM-planted",
    document="[002] 4.2 and 5, figure 22",
    title="Planted features, found again",
    published=(
        "The support feature machine with class means finds the relevant features from fewer "
        "samples than the form with margins and than other machines. Curves without numbers."
    ),
    covers=[
        Covers("002 figure 22", way="claim"),
    ],
    quick={"sizes": ((60, 500, 4),), "samples": (20, 40, 60), "n": 100, "draws": 3},
    full={"sizes": tuple(TABLE), "samples": (20, 30, 40, 60, 80, 120), "n": 1000, "draws": 20},
)
def planted_features(settings, seed, progress):
    rows = []
    for size in settings["sizes"]:
        progress(0.0, f"table, {size}")
        for form, (expected, expected_pure) in zip(FORMS, TABLE[size], strict=True):
            supports = [
                SupportFeatureMachine(form, **PLAIN).fit(*_planted(*size, seed + i)).support_
                for i in range(DRAWS)
            ]
            counts = tuple(len(s) for s in supports)
            pure = sum(bool(np.all(s < size[2])) for s in supports)
            rows.append(
                Row(
                    f"{size[0]} samples, {size[1]} features, {size[2]} true, {form}: features "
                    "(draws with true ones only)",
                    None,
                    f"{', '.join(map(str, counts))} ({pure} of {DRAWS})",
                    "as an independent program found"
                    if (counts, pure) == (expected, expected_pure)
                    else f"an independent program found {', '.join(map(str, expected))} "
                    f"({expected_pure})",
                )
            )
    found = _recovery(settings, seed, progress)
    mean, others = found["means"].mean(), {k: v.mean() for k, v in found.items() if k != "means"}
    best = max(others.values())
    rows.append(
        Row(
            "share of draws with exactly the true features, mean over numbers of samples",
            "means first",
            ", ".join(f"{name} {100 * values.mean():.0f} %" for name, values in found.items()),
            "the form with means finds them most often"
            if mean >= best
            else "another method finds them as often or more",
            bool(mean >= best),
        )
    )
    return Outcome(
        rows,
        [
            Picture(
                "recovery",
                "Draws in which exactly the three true features were chosen. Elimination is told "
                "that there are three.",
                lambda: curves(
                    {
                        f"3 of {settings['n']} features are true": {
                            name: (settings["samples"], 100 * values)
                            for name, values in found.items()
                        }
                    },
                    xlabel="samples",
                    ylabel="exactly the true features, %",
                    marker="o",
                ),
            )
        ],
    )


def _planted(m, n, s, seed):
    X = np.random.default_rng(seed).normal(size=(m, n))
    return X, np.sign(X[:, :s].sum(axis=1))


def _recovery(settings, seed, progress):
    """Share of draws in which exactly the true features are chosen, by method."""
    n, samples, draws = settings["n"], settings["samples"], settings["draws"]
    methods = {
        "means": lambda X, y: SupportFeatureMachine("mean", **PLAIN).fit(X, y).support_,
        "margins": lambda X, y: SupportFeatureMachine("margin", **PLAIN).fit(X, y).support_,
        "l1 machine": lambda X, y: np.flatnonzero(
            LinearSVC(penalty="l1", dual=False, C=0.5, random_state=0).fit(X, y).coef_
        ),
        "elimination": lambda X, y: np.flatnonzero(
            RFE(LinearSVC(random_state=0), n_features_to_select=3, step=0.1).fit(X, y).support_
        ),
    }
    found = {name: np.zeros(len(samples)) for name in methods}
    for i, m in enumerate(samples):
        progress(0.2 + 0.8 * i / len(samples), f"{m} samples")
        for draw in range(draws):
            X, y = _planted(m, n, 3, [seed, m, draw])
            for name, choose in methods.items():
                found[name][i] += np.array_equal(choose(X, y), [0, 1, 2]) / draws
    return found
