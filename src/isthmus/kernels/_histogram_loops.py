"""Sums of minima: they leave no matrix product, so the loop is compiled."""

from numba import njit, prange


@njit(cache=True, parallel=True)
def intersections(X, Z, K):
    """Fill ``K`` with the intersections of rows of ``X`` and ``Z``."""
    for i in prange(X.shape[0]):
        for j in range(Z.shape[0]):
            total = 0.0
            for c in range(X.shape[1]):
                total += min(X[i, c], Z[j, c])
            K[i, j] = total
