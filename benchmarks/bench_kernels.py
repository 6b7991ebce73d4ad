"""Gram matrices."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks._harness import Contest, benchmark
from isthmus.kernels import Gaussian, HistogramIntersection


def _largest_difference(A, B):
    return np.abs(A - B).max()


@benchmark(
    "gram-gaussian",
    work="Gaussian Gram matrix, 20 features",
    peer="sklearn rbf_kernel",
    cases=(1000, 2000, 4000, 8000),
    quick=(300, 600, 1200),
)
def gaussian(n):
    X = np.random.default_rng(0).normal(size=(n, 20))
    kernel = Gaussian(0.05)
    return Contest(lambda: kernel(X), lambda: rbf_kernel(X, gamma=0.05), None, _largest_difference)


@benchmark(
    "gram-histogram",
    work="Histogram intersection Gram matrix, 64 bins",
    peer="scipy cdist: (|x| + |z| - cityblock) / 2",
    cases=(500, 1000, 2000),
    quick=(100, 200, 400),
)
def histogram(n):
    X = np.random.default_rng(0).dirichlet(np.ones(64), size=n)
    kernel = HistogramIntersection()

    def peer():
        mass = X.sum(axis=1)
        return (mass[:, None] + mass - cdist(X, X, "cityblock")) / 2

    return Contest(lambda: kernel(X), peer, None, _largest_difference)
