"""What could explain that the errors of sliced rivals differ from the published ones."""

import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from isthmus.features import (
    LikelihoodAcquiredDirections,
    SlicedAverageVariance,
    SlicedInverseRegression,
)
from isthmus_experiments import Row
from isthmus_experiments.experiments._reduction.report import COMPONENTS
from isthmus_experiments.experiments._reduction.tables import (
    coordinates,
    error_behind,
    folds_of,
    svr,
)

RIVALS = {
    "SIR": SlicedInverseRegression,
    "SAVE": SlicedAverageVariance,
    "LAD": LikelihoodAcquiredDirections,
}
SLICES = (5, 10, 20)
AT = (3, 7)  # components; few slices have no more directions
N_PARTITIONS = 5


def partitions_row(X, y, table, seed):
    """How much the five-fold error moves if the folds are drawn again."""
    parts, wanted = [], []
    for name in ("SIR", "SAVE"):
        found = np.array(
            [_errors(X, y, seed + i, partial(_as_in_the_table, name)) for i in range(N_PARTITIONS)]
        )
        for k, d in enumerate(AT):
            parts.append(
                f"{name}, d = {d}: {found[:, k].mean():.4f} ± {found[:, k].std(ddof=1):.4f}"
            )
            wanted.append(f"{table[name][COMPONENTS.index(d)]:.4f}")
    return Row(
        f"five-fold RMSE of {N_PARTITIONS} partitions, with the deviation from one to the next",
        ", ".join(wanted),
        "; ".join(parts),
        "how far chance goes: the folds of one partition differ far more, because their rows do",
    )


def slices_row(X, y, table, seed):
    """The same errors with other numbers of slices."""
    parts, wanted = [], []
    for name in RIVALS:
        texts = [
            ", ".join(f"{e:.4f}" for e in _errors(X, y, seed, partial(_sliced, name, n_slices)))
            for n_slices in SLICES
        ]
        parts.append(f"{name} {' / '.join(texts)}")
        wanted.append(f"{name} " + ", ".join(f"{table[name][COMPONENTS.index(d)]:.4f}" for d in AT))
    return Row(
        f"RMSE at d = {', '.join(map(str, AT))} with {', '.join(map(str, SLICES))} slices",
        "; ".join(wanted),
        "; ".join(parts),
        "what the number of slices, which is not published, can explain",
    )


def _as_in_the_table(name, X, t, X_test):
    return coordinates(name, X, t, X_test, AT, None)


def _sliced(name, n_slices, X, t, X_test):
    # SIR has one direction less than slices.
    few = [d for d in AT if name != "SIR" or d < n_slices]
    maps = [RIVALS[name](d, n_slices=n_slices).fit(X, t).components_.T for d in few]
    return [(X @ B, X_test @ B) for B in maps]


def _errors(X, y, seed, coordinates_of):
    """Mean five-fold error behind each of the coordinates that a function returns."""
    found = []
    for train, test in folds_of(len(y), 5, 1, seed):
        scaler = StandardScaler().fit(X[train])
        centre, spread = y[train].mean(), y[train].std()
        t, truth = (y[train] - centre) / spread, (y[test] - centre) / spread
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            pairs = coordinates_of(scaler.transform(X[train]), t, scaler.transform(X[test]))
        found.append([spread * error_behind(svr, Z, t, Z_test, truth) for Z, Z_test in pairs])
    return np.mean(found, axis=0)
