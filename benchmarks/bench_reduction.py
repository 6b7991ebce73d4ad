"""Supervised reduction: the closed form, true distance correlation, and errors at equal size."""

import warnings

import numpy as np
from isthmus_experiments.experiments._reduction.tables import folds_of, ridge
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.cross_decomposition import CCA, PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.datasets import (
    DataNotAvailable,
    load_blogfeedback,
    load_boston,
    load_ct_slices,
    load_music_origin,
    load_uji_indoor,
)
from isthmus.features import DistanceCorrelationReduction
from isthmus.features.distance_correlation.formulas import exact_reduction, joint_table
from isthmus.features.distance_correlation.gradient import free_reduction, wanted_distances
from isthmus.features.distance_correlation.stack import StackedRegression

COMPONENTS = (3, 5, 7, 9, 11)
N_ROWS, N_FOLDS = 800, 3
STEPS = 30


def _planted(n, p=50):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * np.linspace(2, 0.2, p)
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


@benchmark(
    "reduction-closed-form",
    work="Five coordinates of 50 columns and an output, with a linear map for new rows",
    peer="sklearn PLSRegression(5)",
    cases=(2_000, 10_000, 50_000),
    quick=(500, 1_000, 2_000),
    goal="as fast; linear in n",
)
def closed_form(n):
    X, y = _planted(n)
    return Contest(
        lambda: DistanceCorrelationReduction(5, regressor=Ridge()).fit(X, y),
        lambda: PLSRegression(5).fit(X, y),
    )


@benchmark(
    "reduction-default",
    work="The same by default: kernel ridge on weighted columns gives the coordinates of new rows; "
    "RMSE of the outputs it predicts, of which 0.1 is noise",
    peer="sklearn PLSRegression(5)",
    cases=(2_000, 10_000, 50_000),
    quick=(500, 1_000),
    goal="a tenth of its speed",
    why="24 kernels are judged by leaving rows out, which takes the same time whatever the number "
    "of rows: at 10 000 rows a third of all is 24 judgements on 128 rows, a third the few of 512 "
    "rows that remain, and a sixth the regression on landmarks; the peer's map is linear, at six "
    "times the error",
)
def default(n):
    X, y = _planted(n + 2_000)
    X, y, new, truth = X[:n], y[:n], X[n:], y[n:]
    mean, scale = y.mean(), y.std()

    def rmse(model):
        if isinstance(model, PLSRegression):
            return {"RMSE": float(np.sqrt(np.mean((model.predict(new).ravel() - truth) ** 2)))}
        scaled = (new - X.mean(axis=0)) / X.std(axis=0)
        found = mean + scale * np.ravel(model.regressor_.predict(scaled))
        return {"RMSE": float(np.sqrt(np.mean((found - truth) ** 2)))}

    return Contest(
        lambda: DistanceCorrelationReduction(5).fit(X, y),
        lambda: PLSRegression(5).fit(X, y),
        rmse,
    )


def _formula(S):
    """Objective and gradient at exponent 1 as their formulas say, in NumPy."""
    n = len(S)

    def value_and_gradient(z):
        Z = z.reshape(n, -1)
        c = np.sqrt(cdist(Z, Z, "sqeuclidean") + 1e-12)
        np.fill_diagonal(c, 0)
        means = c.mean(axis=0)
        C = c - means - means[:, None] + means.mean()
        p, q = np.sum(S * c), np.sum(C * c)
        np.fill_diagonal(c, 1)
        W = 2 * (S / np.sqrt(q) - p * q**-1.5 * C) / c
        np.fill_diagonal(W, 0)
        return -p / np.sqrt(q), -(W.sum(axis=1)[:, None] * Z - W @ Z).ravel()

    return value_and_gradient


@benchmark(
    "reduction-gradient",
    work=f"Five coordinates at exponent 1 from the closed form, {STEPS} quasi-Newton steps",
    peer="the formulas in NumPy under SciPy's L-BFGS-B",
    cases=(500, 1_000, 2_000),
    quick=(200, 400, 800),
    goal="5 times faster at the same objective",
)
def gradient(n):
    X, y = _planted(n, 10)
    X, Y = X - X.mean(axis=0), (y - y.mean())[:, None]
    S = wanted_distances(X, Y, 0.5, 1.0)
    start = exact_reduction(joint_table(X, Y, 0.5), 5).Z
    start = start / np.sqrt(np.mean(start**2))

    def peer():
        options = {"maxiter": STEPS, "ftol": 0.0, "gtol": 0.0}
        found = minimize(_formula(S), start.ravel(), jac=True, method="L-BFGS-B", options=options)
        return -float(found.fun)

    return Contest(
        lambda: free_reduction(S, start, 1.0, tol=0.0, max_iter=STEPS).values[-1],
        peer,
        lambda value: {"objective": value},
    )


def _tables(name):
    """Inputs and outputs of at most ``N_ROWS`` rows."""
    try:
        if name == "diabetes":
            X, y = load_diabetes(return_X_y=True)
        elif name == "boston":
            data = load_boston()
            X, y = data.X, data.y
        elif name == "music":
            data = load_music_origin()
            X, y = data.X, data.Y[:, 0]
        elif name in ("blog", "blog, log"):
            data = load_blogfeedback()
            # A handful of posts with hundreds of comments make the error of the counts.
            X, y = data.X_train, np.log1p(data.y_train) if name == "blog, log" else data.y_train
        elif name == "ct":
            data = load_ct_slices()
            X, y = data.X, data.y
        else:
            data = load_uji_indoor()
            X, y = np.where(data.X_train == 100, -105, data.X_train), data.Y_train[:, 0]
    except DataNotAvailable as error:
        raise Unavailable(str(error)) from None
    rows = np.random.default_rng(0).permutation(len(y))[:N_ROWS]
    return np.asarray(X[rows], dtype=float), np.asarray(y[rows], dtype=float)


def _folds(X, y):
    """Standardised training and test parts of the same folds for everybody."""
    for train, test in folds_of(len(y), N_FOLDS, 1, 0):
        scaler = StandardScaler().fit(X[train])
        centre, spread = y[train].mean(), y[train].std()
        yield (
            scaler.transform(X[train]),
            (y[train] - centre) / spread,
            scaler.transform(X[test]),
            (y[test] - centre) / spread,
            spread,
        )


def _error(Z, t, Z_test, truth):
    scale = Z.std(axis=0).max()
    guess = ridge(Z.shape[1]).fit(Z / scale, t).predict(Z_test / scale)
    return np.sqrt(np.mean((guess - truth) ** 2))


def _closed(X, t, X_test, components, **parameters):
    """Closed form; components of fewer are the first ones of more."""
    model = DistanceCorrelationReduction(components[-1], **parameters).fit(X, t)
    new = model.transform(X_test)
    for d in components:
        yield model.embedding_[:, :d], new[:, :d]


def _stacked(X, t, X_test, components):
    yield from _closed(X, t, X_test, components, regressor="stacked")


def _free(X, t, X_test, components):
    """True distance correlation: a search of its own for each number."""
    for d in components:
        model = DistanceCorrelationReduction(d, solver="gradient", max_iter=60, tol=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, t)
        yield model.embedding_, model.transform(X_test)


def _peers(X, t, X_test, most):
    # One output allows one canonical direction and no more.
    for model in (PLSRegression(most), PCA(most), CCA(1)):
        model.fit(X, t)
        yield model.transform(X), model.transform(X_test)


@benchmark(
    "reduction-error",
    work=f"Test RMSE behind 3 to 11 coordinates, {N_FOLDS} folds of at most {N_ROWS} rows, the "
    'same kernel ridge regression behind all; ours with regressor="stacked"',
    peer="the best of sklearn PLS, PCA and CCA at each d, chosen by the test error",
    cases=("boston", "music", "blog", "ct", "uji", "blog, log", "diabetes"),
    quick=("diabetes",),
    unit="set",
    goal="lowest error at every d on four of the five sets of the documents, the first five here",
    why="inside are five regressions, trees among them, which choose their kernels and penalties "
    "and are fitted once more for each of five folds to be weighed; the peers are linear maps, of "
    "larger error on most sets",
)
def error(name):
    return _error_contest(name, _stacked, COMPONENTS)


@benchmark(
    "reduction-error-ridge",
    work="The same with the default regression inside, kernel ridge on weighted columns",
    peer="the same peers",
    cases=("boston", "music", "blog", "ct", "uji", "diabetes"),
    quick=("diabetes",),
    unit="set",
    goal="lowest error at every d on four of the five sets of the documents",
)
def error_ridge(name):
    return _error_contest(name, _closed, COMPONENTS)


@benchmark(
    "reduction-error-free",
    work="The same with coordinates of largest true distance correlation (exponent 1)",
    peer="the same peers",
    cases=("boston", "music", "diabetes"),
    quick=("diabetes",),
    unit="set",
    goal="lowest error at every d",
    why="five sixths are the choice among two dozen kernels for the ridge regression that maps new "
    "rows, once for every number of coordinates, and a twentieth the search for the coordinates; "
    "the maps of the peers are linear",
)
def error_free(name):
    return _error_contest(name, _free, (3, 7, 11))


@benchmark(
    "reduction-control",
    work='Test RMSE of ours with regressor="stacked" behind 3 to 11 coordinates, as above',
    peer="the same stacked regression on all columns, without any reduction",
    cases=("boston", "music", "blog", "ct", "uji", "diabetes"),
    quick=("diabetes",),
    unit="set",
    goal="say what the coordinates add to the regression that is inside",
)
def control(name):
    return _error_contest(name, _stacked, COMPONENTS, _all_columns)


@benchmark(
    "reduction-error-stacks",
    work="The same",
    peer="the best of sklearn PLS, PCA and CCA, each with the stacked regression behind it",
    cases=("boston", "music", "diabetes"),
    quick=("diabetes",),
    unit="set",
    goal="lower error at every d with the same regression on both sides",
)
def error_stacks(name):
    return _error_contest(name, _stacked, COMPONENTS, _stacked_peers)


def _all_columns(X, y, components):
    errors = [spread * _stack_error(A, t, B, truth) for A, t, B, truth, spread in _folds(X, y)]
    return np.full(len(components), np.mean(errors))


def _stacked_peers(X, y, components):
    errors = np.zeros((3, len(components)))
    for A, t, B, truth, spread in _folds(X, y):
        for i, (Z, Z_test) in enumerate(_peers(A, t, B, components[-1])):
            for k, d in enumerate(components):
                errors[i, k] += spread * _stack_error(Z[:, :d], t, Z_test[:, :d], truth)
    return errors.min(axis=0) / N_FOLDS


def _stack_error(Z, t, Z_test, truth):
    scale = Z.std(axis=0).max()
    guess = StackedRegression().fit(Z / scale, t).predict(Z_test / scale)
    return np.sqrt(np.mean((guess - truth) ** 2))


def _error_contest(name, reduced, components, peer_errors=None):
    X, y = _tables(name)
    components = [d for d in components if d <= X.shape[1]]

    def ours():
        errors = np.zeros(len(components))
        for A, t, B, truth, spread in _folds(X, y):
            for k, (Z, Z_test) in enumerate(reduced(A, t, B, components)):
                errors[k] += spread * _error(Z, t, Z_test, truth)
        return errors / N_FOLDS

    def peer():
        errors = np.zeros((3, len(components)))
        for A, t, B, truth, spread in _folds(X, y):
            for i, (Z, Z_test) in enumerate(_peers(A, t, B, components[-1])):
                for k, d in enumerate(components):
                    errors[i, k] += spread * _error(Z[:, :d], t, Z_test[:, :d], truth)
        return errors.min(axis=0) / N_FOLDS

    return Contest(
        ours,
        peer if peer_errors is None else lambda: peer_errors(X, y, components),
        lambda e: {f"d = {d}": float(v) for d, v in zip(components, e, strict=True)},
    )
