"""Threads of BLAS during the search for pre-images."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.preimage import FixedPointPreimage, GradientPreimage


@pytest.mark.parametrize("kind", [FixedPointPreimage, GradientPreimage])
@pytest.mark.parametrize(("n_queries", "threads"), [(20, 1), (5_000_000, 2)])
def test_only_long_products_have_threads(kind, n_queries, threads, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 3))
    pca = KernelPCA(3, kernel=Gaussian(0.1)).fit(X)
    solver = kind().fit(X, pca)
    seen, solve, operations = [], kind._solve, kind._operations

    def watched(self, coordinates, start=None):
        pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        seen.append({pool["num_threads"] for pool in pools})
        return solve(self, coordinates, start)

    monkeypatch.setattr(kind, "_solve", watched)
    monkeypatch.setattr(kind, "_operations", lambda self, n: operations(self, n_queries))
    with threadpool_limits(limits=2):
        found = solver.solve(pca.transform(X[:20]))
    assert seen == [{threads}]
    assert np.all(np.isfinite(found))
