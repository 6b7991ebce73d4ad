"""Local polynomial regression against statsmodels and scikit-learn."""

import warnings
from functools import cache

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Contest, Unavailable, benchmark
from isthmus.regression import LocalPolynomialRegression, Selection

BANDWIDTH = (0.3, 0.4)


@cache
def _statsmodels():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from statsmodels.nonparametric.kernel_regression import KernelReg
    except ImportError:
        raise Unavailable("statsmodels is not installed") from None
    return KernelReg


def _surface(n, n_test=500):
    """A curved function of two inputs with noise, and noise-free test points."""
    rng = np.random.default_rng(0)
    X, Xt = rng.uniform(-1, 1, size=(n, 2)), rng.uniform(-0.9, 0.9, size=(n_test, 2))

    def truth(X):
        return np.sin(4 * X[:, 0]) + X[:, 1] ** 2

    return X, truth(X) + 0.2 * rng.normal(size=n), Xt, truth(Xt)


def _peer(X, y, kind, bandwidth):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _statsmodels()(y, X, var_type="cc", reg_type=kind, bw=bandwidth)


def _largest_gap(a, b):
    return float(np.max(np.abs(a - b)))


def _prediction(n, degree, kind):
    X, y, Xt, truth = _surface(n)
    model = LocalPolynomialRegression(
        degree, bandwidth=BANDWIDTH, ridge=0.0, cv=Selection(max_rows=2)
    )
    model.fit(X, y)
    return Contest(
        lambda: model.predict(Xt),
        lambda: _peer(X, y, kind, np.array(BANDWIDTH)).fit(Xt)[0],
        lambda f: {"error": float(np.mean((f - truth) ** 2))},
        _largest_gap,
    )


@benchmark(
    "local-constant-predict",
    work="500 predictions of a Nadaraya-Watson estimator, 2 inputs, given bandwidths",
    peer='statsmodels KernelReg(reg_type="lc")',
    cases=(500, 1000, 2000, 4000),
    quick=(200, 400, 800),
    goal="ten times faster, equal to 1e-10",
)
def constant_predict(n):
    return _prediction(n, 0, "lc")


@benchmark(
    "local-linear-predict",
    work="500 predictions of local linear regression, 2 inputs, given bandwidths",
    peer='statsmodels KernelReg(reg_type="ll")',
    cases=(500, 1000, 2000, 4000),
    quick=(200, 400, 800),
    goal="ten times faster, equal to 1e-10",
)
def linear_predict(n):
    return _prediction(n, 1, "ll")


def _selection(n, degree, kind):
    X, y, Xt, truth = _surface(n)

    def ours():
        return LocalPolynomialRegression(degree, bandwidth="loo-ard").fit(X, y).predict(Xt)

    return Contest(
        ours,
        lambda: _peer(X, y, kind, "cv_ls").fit(Xt)[0],
        lambda f: {"error": float(np.mean((f - truth) ** 2))},
    )


@benchmark(
    "local-constant-bandwidth",
    work="Bandwidths of both inputs by leave-one-out and 500 predictions, Nadaraya-Watson",
    peer='statsmodels KernelReg(reg_type="lc", bw="cv_ls")',
    cases=(100, 200, 400),
    quick=(50, 100, 150),
    goal="twenty times faster, error not higher",
)
def constant_bandwidth(n):
    return _selection(n, 0, "lc")


@benchmark(
    "local-linear-bandwidth",
    work="Bandwidths of both inputs by leave-one-out and 500 predictions, local linear",
    peer='statsmodels KernelReg(reg_type="ll", bw="cv_ls")',
    cases=(100, 200, 400),
    quick=(50, 100, 150),
    goal="twenty times faster, error not higher",
)
def linear_bandwidth(n):
    return _selection(n, 1, "ll")


def _tables(name):
    if name == "surface":
        X, y, Xt, truth = _surface(1000)
        return X, Xt, y, truth
    if name == "friedman":
        X, y = make_friedman1(1500, noise=1.0, random_state=0)
    else:
        X, y = load_diabetes(return_X_y=True)
    return train_test_split(X, y, test_size=1 / 3, random_state=0)


@benchmark(
    "local-neighbours",
    work="Fit with its choice of parameters, and predict held-out rows",
    peer="scikit-learn KNeighborsRegressor(weights='distance'), scaled, k by 5-fold search",
    cases=("surface", "friedman", "diabetes"),
    unit="data",
    goal="lower error",
    why="bandwidths of all columns are searched by the exact error of rows left out, in dozens of "
    "passes over all pairs; the peer compares seven numbers of neighbours",
)
def neighbours(name):
    X, Xt, y, yt = _tables(name)

    def ours():
        return LocalPolynomialRegression(1, bandwidth="loo-ard").fit(X, y).predict(Xt)

    def peer():
        model = make_pipeline(StandardScaler(), KNeighborsRegressor(weights="distance"))
        grid = {"kneighborsregressor__n_neighbors": [3, 5, 8, 12, 20, 30, 50]}
        return GridSearchCV(model, grid, cv=5).fit(X, y).predict(Xt)

    return Contest(
        ours, peer, lambda f: {"share of variance": float(1 - np.var(f - yt) / np.var(yt))}
    )
