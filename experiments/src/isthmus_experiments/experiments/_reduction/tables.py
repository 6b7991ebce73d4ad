"""Test errors of supervised reductions over the number of components, on identical folds."""

import warnings

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


def folds_of(n, n_folds, n_repeats, seed, groups=None):
    """Pairs of training and test rows, the same for every method."""
    if groups is not None:
        return list(GroupKFold(n_folds).split(np.zeros(n), groups=groups))
    return [
        pair
        for repeat in range(n_repeats)
        for pair in KFold(n_folds, shuffle=True, random_state=seed + repeat).split(np.zeros(n))
    ]


def errors_over_components(X, y, folds, components, *, regressor, methods, seed, progress):
    """Test RMSE of each method, shape (components, folds); references have one row.

    Inputs and outputs are standardised on the training rows; errors are in units of ``y``.
    """
    found = {name: np.empty((len(components), len(folds))) for name in methods}
    rivals = [name for name in methods if name in SLICED | KERNEL or name in OTHERS]
    for name in (ALL, STACKED_ALL, MEAN, *map(stacked_name, rivals)):
        found[name] = np.empty((1, len(folds)))
    for i, (train, test) in enumerate(folds):
        inputs = StandardScaler().fit(X[train])
        X_train, X_test = inputs.transform(X[train]), inputs.transform(X[test])
        centre, spread = y[train].mean(), y[train].std()
        t, truth = (y[train] - centre) / spread, (y[test] - centre) / spread
        found[MEAN][0, i] = spread * rmse(truth, 0)
        found[ALL][0, i] = spread * _error(regressor, X_train, t, X_test, truth)
        found[STACKED_ALL][0, i] = spread * _error(_stack, X_train, t, X_test, truth)
        for j, name in enumerate(methods):
            progress((i + j / len(methods)) / len(folds), f"fold {i + 1}, {name}")
            rng = np.random.default_rng([seed, i, j])
            if name == OURS and CROSSFITTED in methods:
                both = _optimal_and_crossfitted(X_train, t, X_test, components)
            if name in (OURS, CROSSFITTED) and CROSSFITTED in methods:
                pairs = both[name]  # one fit serves both
            else:
                pairs = coordinates(name, X_train, t, X_test, components, rng)
            for k, (Z, Z_test) in enumerate(pairs):
                found[name][k, i] = spread * _error(regressor, Z, t, Z_test, truth)
            if name in rivals:  # what ours has inside, behind the most components of the rival
                Z, Z_test = pairs[-1]
                found[stacked_name(name)][0, i] = spread * _error(_stack, Z, t, Z_test, truth)
    return found


def stacked_name(name):
    """What a rival is called with the stacked regression behind it."""
    return f"{name}, stacked"


def _stack(n_columns):
    return StackedRegression()


def _error(regressor, Z, t, Z_test, truth):
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
