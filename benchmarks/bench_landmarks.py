"""Kernel machines and measures on landmarks, against Nyström features of scikit-learn."""

import numpy as np
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem as NystroemFeatures
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from benchmarks._harness import Contest, benchmark
from isthmus.dependence import Nystroem, hsic
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
