"""Dependency estimation with vector outputs, which is kernel ridge regression."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from benchmarks._harness import Contest, benchmark
from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.regression import KernelRidgeCV
from isthmus.structured import DependencyEstimator

ALPHA = 0.1


def _task(n, n_new=1000):
    """Smooth nonlinear map from 20 inputs to 30 outputs, with noise in the training outputs."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(20, 40)), rng.normal(size=(40, 30))
    X = rng.normal(size=(n + n_new, 20))
    Y = np.tanh(X @ A / 10) @ B
    noisy = Y[:n] + 0.3 * rng.normal(size=(n, 30))
    return X[:n], noisy, X[n:], Y[n:]


def _rmse_to(truth):
    return lambda predicted: {"RMSE": np.sqrt(np.mean((predicted - truth) ** 2))}


@benchmark(
    "dependency-ridge",
    work="DependencyEstimator fit, predict 1000 rows; fixed penalty, 20 inputs, 30 outputs",
    peer="sklearn KernelRidge",
    cases=(1000, 2000, 4000),
    quick=(200, 400, 800),
    goal="the same predictions in no more time",
)
def ridge(n):
    X, Y, new, truth = _task(n)
    gamma = Gaussian().resolve(X).gamma

    def ours():
        return (
            DependencyEstimator(
                regressor=KernelRidgeCV(Gaussian(gamma), alpha=ALPHA, fit_intercept=False),
                y_features=KernelPCA(kernel="linear", center=False),
            )
            .fit(X, Y)
            .predict(new)
        )

    def peer():
        return KernelRidge(alpha=ALPHA, kernel="rbf", gamma=gamma).fit(X, Y).predict(new)

    return Contest(ours, peer, _rmse_to(truth), lambda a, b: np.abs(a - b).max())


@benchmark(
    "dependency-penalty",
    work="DependencyEstimator() as it comes, width and penalty chosen by leave-one-out",
    peer="sklearn GridSearchCV(KernelRidge), 5 folds, eight widths around the median distance "
    "and seven penalties",
    cases=(500, 1000, 2000),
    quick=(100, 200, 400),
)
def penalty(n):
    X, Y, new, truth = _task(n)
    # Ours walks over these widths from the median distance; its penalties cost nothing, and there
    # are many more of them.
    grid = {
        "gamma": [Gaussian(width_factor=2.0**k).resolve(X).gamma for k in range(-3, 5)],
        "alpha": list(np.logspace(-5, 1, 7)),
    }

    def ours():
        return DependencyEstimator().fit(X, Y).predict(new)

    def peer():
        return GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5).fit(X, Y).predict(new)

    return Contest(ours, peer, _rmse_to(truth))
