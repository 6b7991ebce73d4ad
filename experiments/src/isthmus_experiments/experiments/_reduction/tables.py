"""Test errors of supervised reductions over the number of components, on identical folds."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from isthmus.features import DistanceCorrelationReduction
from isthmus.features.distance_correlation.stack import StackedRegression
from isthmus.kernels import Gaussian
from isthmus.regression import KernelRidgeCV, Selection
from isthmus_experiments.experiments._reduction.kernels import gkdr, lsdr, sca
from isthmus_experiments.experiments._reduction.slices import lad, save, sir
from isthmus_experiments.kept.draws import draws
from isthmus_experiments.measure import rmse

OURS, TRUE, CROSSFITTED = "DisCoMax", "DisCoMax, exponent 1", "DisCoMax, cross-fitted"
PROJECTION = "projection, exponent 1"
ALL = "all columns"
STACKED_ALL = "all columns, stacked"
MEAN = "mean of the training rows"
SLICED = {"LAD": lad, "SAVE": save, "SIR": sir}
KERNEL = {"LSDR": lsdr, "gKDR": gkdr, "SCA": sca}
PUBLISHED = (OURS, "LSDR", "gKDR", "SCA", "LAD", "SAVE", "SIR")
OTHERS = ("PLS", "PCA")
# Of a quick run: one rival of either kind, since regressions are tuned behind each.
FEW = (OURS, "gKDR", "SIR", *OTHERS)
KERNELS = tuple(Gaussian(width_factor=scale) for scale in (2.0, 1.0, 0.5, 0.25))
PENALTIES = tuple(10.0 ** np.arange(-4, 2.1, 0.5))
# What predicts the outputs in the coordinates of new rows.
INSIDE = "stacked"
# Rows on which coordinates at exponent 1 are sought.
N_LANDMARKS = 500


def svr(n_columns):
    """Support vector regression with a Gaussian kernel, tuned in three folds."""
    grid = {"C": [1, 10, 100], "gamma": list(np.array([0.3, 1, 3]) / n_columns)}
    return GridSearchCV(SVR(epsilon=0.05), grid, cv=3, scoring="neg_mean_squared_error")


def ridge(n_columns):
    """Kernel ridge regression, tuned by leave-one-out."""
    return KernelRidgeCV(KERNELS, alpha=PENALTIES, cv=Selection(max_rows=800))


REGRESSORS = {"svr": svr, "ridge": ridge}


def folds_of(n, n_folds, n_repeats, seed, groups=None):
    """Pairs of training and test rows, the same for every method."""
    if groups is not None:
        return list(GroupKFold(n_folds).split(np.zeros(n), groups=groups))
    return [
        pair
        for repeat in range(n_repeats)
        for pair in KFold(n_folds, shuffle=True, random_state=seed + repeat).split(np.zeros(n))
    ]


class Problem(NamedTuple):
    """Inputs, outputs, the folds that every method shares, and the methods."""

    X: Any
    y: Any
    folds: Any
    methods: Any


def errors_over_components(X, y, folds, components, *, regressor, methods, seed, progress):
    """Test RMSE of each method, shape (components, folds); references have one row.

    Inputs and outputs are standardised on the training rows; errors are in units of ``y``.
    """
    problems = {"": Problem(X, y, folds, methods)}
    return errors_of_problems(
        problems, components, regressor=regressor, seed=seed, progress=progress
    )[""]


def errors_of_problems(problems, components, *, regressor, seed, progress):
    """The errors of several problems with the same number of folds, by name.

    A fold of all of them is one draw: a run whose results are kept can be stopped in between, and
    there are fewer folds where its time was over.
    """
    n_folds = min(len(problem.folds) for problem in problems.values())

    def draw(i):
        def report(share, text):
            progress((i + share) / n_folds, f"fold {i + 1}, {text}")

        return {
            key: _errors_of_fold(problem, i, components, regressor, seed, report)
            for key, problem in problems.items()
        }

    found = draws(draw, n_folds, progress)
    return {
        key: {name: np.array([one[key][name] for one in found]).T for name in found[0][key]}
        for key in problems
    }


def _errors_of_fold(problem, i, components, regressor, seed, report):
    X, y, methods = problem.X, problem.y, problem.methods
    train, test = problem.folds[i]
    inputs = StandardScaler().fit(X[train])
    X_train, X_test = inputs.transform(X[train]), inputs.transform(X[test])
    centre, spread = y[train].mean(), y[train].std()
    t, truth = (y[train] - centre) / spread, (y[test] - centre) / spread

    def error(Z, Z_test, model=regressor):
        return spread * error_behind(model, Z, t, Z_test, truth)

    found = {
        MEAN: [spread * rmse(truth, 0)],
        ALL: [error(X_train, X_test)],
    }
    both, controls = {}, CROSSFITTED in methods
    if controls:  # a whole run
        found[STACKED_ALL] = [error(X_train, X_test, _stack)]
        # One fit serves the optimal and the cross-fitted coordinates.
        both = _optimal_and_crossfitted(X_train, t, X_test, components)
    for j, name in enumerate(methods):
        report(j / len(methods), name)
        rng = np.random.default_rng([seed, i, j])
        pairs = both.get(name) or coordinates(name, X_train, t, X_test, components, rng)
        found[name] = [error(Z, Z_test) for Z, Z_test in pairs]
        if controls and (name in SLICED | KERNEL or name in OTHERS):
            # What ours has inside, behind the most components of the rival.
            found[stacked_name(name)] = [error(*pairs[-1], _stack)]
    return found


def stacked_name(name):
    """What a rival is called with the stacked regression behind it."""
    return f"{name}, stacked"


def _stack(n_columns):
    return StackedRegression()


def error_behind(regressor, Z, t, Z_test, truth):
    """Test error of a regression on coordinates, in units of their largest deviation."""
    Z_scale = Z.std(axis=0).max()
    model = regressor(Z.shape[1]).fit(Z / Z_scale, t)
    return rmse(truth, model.predict(Z_test / Z_scale))


def coordinates(name, X, t, X_test, components, rng):
    """Training and test coordinates of one method for each number of components."""
    most = max(components)
    if name == OURS:
        model = DistanceCorrelationReduction(most, regressor=INSIDE).fit(X, t)
        return _nested(model.embedding_, model.transform(X_test), components)
    if name in (TRUE, PROJECTION):
        return [_climbed(name, d, X, t, X_test) for d in components]
    if name in OTHERS:
        model = (PLSRegression if name == "PLS" else PCA)(most).fit(X, t)
        return _nested(model.transform(X), model.transform(X_test), components)
    if name == "gKDR":
        B = gkdr(X, t, most, rng)
        return _nested(X @ B, X_test @ B, components)
    maps = [
        SLICED[name](X, t, d) if name in SLICED else KERNEL[name](X, t, d, rng) for d in components
    ]
    return [(X @ B, X_test @ B) for B in maps]


def _optimal_and_crossfitted(X, t, X_test, components):
    model = DistanceCorrelationReduction(max(components), regressor=INSIDE, crossfit=5)
    Z, Z_test = model.fit_transform(X, t), model.transform(X_test)
    return {
        OURS: _nested(model.embedding_, Z_test, components),
        CROSSFITTED: _nested(Z, Z_test, components),
    }


def _climbed(name, d, X, t, X_test):
    linear = name == PROJECTION
    model = DistanceCorrelationReduction(
        d,
        solver="gradient",
        mapping="linear" if linear else "learned",
        y_weight=0.8 if linear else 0.5,
        n_landmarks=N_LANDMARKS,
        max_iter=100,
        tol=1e-4,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 100 steps are meant
        return model.fit_transform(X, t), model.transform(X_test)


def _nested(Z, Z_test, components):
    return [(Z[:, :d], Z_test[:, :d]) for d in components]
