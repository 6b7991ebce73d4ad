"""Kernel machines and measures on landmarks, against Nyström features of scikit-learn."""

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem as NystroemFeatures
from sklearn.linear_model import Ridge
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from benchmarks._harness import Contest, benchmark
from isthmus.dependence import Nystroem, hsic
from isthmus.kernels import Gaussian
from isthmus.manifold.quantizers.gas import neural_gas
from isthmus.regression import KernelRidgeCV

N_LANDMARKS = 300


def _function(X):
    return np.sin(3 * X[:, 0]) * X[:, 1] + np.cos(2 * X[:, 2] + X[:, 3])


# What a tuned pipeline is chosen from, on so many rows.
GAMMAS, PENALTIES, TUNING_ROWS = np.logspace(-3, 0, 7), np.logspace(-8, 0, 5), 10_000


def _data(n):
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, size=(n, 6)), rng.uniform(-1, 1, size=(10_000, 6))
    y = _function(X) + 0.2 * rng.normal(size=n)

    def quality(model):
        missed = model.predict(new) - _function(new)
        return {"rmse": float(np.sqrt(np.mean(missed**2)))}

    return X, y, quality


def _tuned(X, y):
    """The pipeline with width and penalty of smallest error in three folds of some rows."""
    features = NystroemFeatures(n_components=N_LANDMARKS, random_state=0)
    grid = {"nystroem__gamma": GAMMAS, "ridge__alpha": PENALTIES}
    search = GridSearchCV(make_pipeline(features, Ridge()), grid, cv=3, refit=False)
    best = search.fit(X[:TUNING_ROWS], y[:TUNING_ROWS]).best_params_
    return make_pipeline(features, Ridge()).set_params(**best)


@benchmark(
    "landmarks-ridge",
    work=f"kernel ridge regression on {N_LANDMARKS} landmarks, width and penalty chosen",
    peer="scikit-learn Nystroem with as many components and Ridge, width and penalty chosen by "
    f"GridSearchCV on {TUNING_ROWS} rows",
    cases=(100_000, 300_000, 1_000_000),
    quick=(2_000, 4_000, 8_000),
    goal="lower error or 3 times faster",
)
def ridge(n):
    X, y, quality = _data(n)
    return Contest(
        lambda: KernelRidgeCV(n_landmarks=N_LANDMARKS).fit(X, y),
        lambda: _tuned(X, y).fit(X, y),
        quality,
    )


@benchmark(
    "landmarks-ridge-known",
    work=f"kernel ridge regression on {N_LANDMARKS} landmarks, width and penalty chosen",
    peer="scikit-learn Nystroem with as many components and Ridge, width and penalty given: their "
    "search is not counted",
    cases=(100_000, 300_000, 1_000_000),
    quick=(2_000, 4_000, 8_000),
    goal="equal",
)
def ridge_known(n):
    X, y, quality = _data(n)
    tuned = _tuned(X, y)
    return Contest(
        lambda: KernelRidgeCV(n_landmarks=N_LANDMARKS).fit(X, y),
        lambda: clone(tuned).fit(X, y),
        quality,
    )


@benchmark(
    "landmarks-hsic",
    work="HSIC of low rank, 100 landmarks",
    peer="the exact HSIC of ours",
    cases=(2_000, 4_000, 8_000),
    quick=(500, 1_000, 2_000),
    goal="linear growth",
)
def dependence(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n)
    return Contest(
        lambda: hsic(X, y, approximation=Nystroem(100)),
        lambda: hsic(X, y),
        lambda value: {"hsic": float(value)},
        lambda a, b: abs(a / b - 1),
    )


@benchmark(
    "landmarks-hsic-rows",
    work="HSIC of low rank, 100 landmarks on both sides",
    peer="scikit-learn's Nystroem features in blocks of 10 000 rows, and their cross-covariance",
    cases=(10_000, 100_000, 1_000_000),
    quick=(2_000,),
    goal="10^6 rows in seconds",
)
def dependence_rows(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    Y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n))[:, None]
    kernel = Gaussian(0.2)

    def ours():
        return hsic(X, Y, x_kernel=kernel, y_kernel=kernel, approximation=Nystroem(100))

    def peer():
        maps = [NystroemFeatures(gamma=0.2, n_components=100, random_state=0) for _ in range(2)]
        for features, table in zip(maps, (X, Y), strict=True):
            features.fit(table[:10_000])
        products, sums = np.zeros((100, 100)), np.zeros((2, 100))
        for low in range(0, n, 10_000):
            A, B = (m.transform(t[low : low + 10_000]) for m, t in zip(maps, (X, Y), strict=True))
            products += A.T @ B
            sums += A.sum(axis=0), B.sum(axis=0)
        return np.sum((products / n - np.outer(*sums / n)) ** 2)

    return Contest(ours, peer, lambda value: {"hsic": float(value)})


@benchmark(
    "landmarks-gas",
    work="100 centres of a neural gas, of rows in ten clouds far from each other, 5 columns",
    peer="sklearn KMeans with one start, by its rule for starts",
    cases=(1_000, 3_000, 10_000),
    quick=(500,),
    goal="as near to the rows from any start, as fast",
    why="1000 rows take milliseconds on both sides, which is too short for threads to gain",
)
def gas(n):
    rng = np.random.default_rng(0)
    X = 10 * rng.normal(size=(10, 5))[rng.integers(0, 10, n)] + rng.normal(size=(n, 5))

    def quality(centres):
        away = pairwise_distances_argmin_min(X, centres, metric="sqeuclidean")[1]
        return {"squared distance": float(away.mean())}

    return Contest(
        lambda: neural_gas(X, 100, np.random.default_rng(0)),
        lambda: KMeans(100, n_init=1, random_state=0).fit(X).cluster_centers_,
        quality,
    )
