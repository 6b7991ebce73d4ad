"""Compiled loops over pairs of rows: stresses, their slopes, and steps of stochastic descent."""

import numpy as np

from isthmus._compiled import njit


@njit
def sammon_sums(X, D):
    r"""The sum over pairs of (D - d)² / D, and its gradient (n, q)."""
    n, q = X.shape
    slope = np.zeros((n, q))
    total = 0.0
    for i in range(n):
        for j in range(i):
            d = 0.0
            for k in range(q):
                d += (X[i, k] - X[j, k]) ** 2
            d = np.sqrt(d)
            gap = D[i, j] - d
            total += gap * gap / D[i, j]
            if d > 0.0:  # where places coincide every direction is as good
                factor = -2.0 * gap / (D[i, j] * d)
                for k in range(q):
                    step = factor * (X[i, k] - X[j, k])
                    slope[i, k] += step
                    slope[j, k] -= step
    return total, slope


@njit
def curvilinear_sums(X, D, reach):
    r"""The sum over pairs with d ≤ reach of (D - d)², and its gradient with the pairs held."""
    n, q = X.shape
    slope = np.zeros((n, q))
    total = 0.0
    for i in range(n):
        for j in range(i):
            d = 0.0
            for k in range(q):
                d += (X[i, k] - X[j, k]) ** 2
            d = np.sqrt(d)
            if d > reach:
                continue
            gap = D[i, j] - d
            total += gap * gap
            if d > 0.0:
                factor = -2.0 * gap / d
                for k in range(q):
                    step = factor * (X[i, k] - X[j, k])
                    slope[i, k] += step
                    slope[j, k] -= step
    return total, slope


@njit
def curvilinear_sweep(X, D, order, rate, reach):
    """For each row of ``order`` in turn, move all others towards their distance from it.

    x_j += rate (D - d)(x_j - x_i) / d for places within reach; in place.
    """
    n, q = X.shape
    here = np.empty(q)
    for i in order:
        for k in range(q):
            here[k] = X[i, k]
        for j in range(n):
            square = 0.0
            for k in range(q):
                square += (X[j, k] - here[k]) ** 2
            if 0.0 < square <= reach * reach:  # few are: the root of the others is not taken
                d = np.sqrt(square)
                factor = rate * (D[i, j] - d) / d
                for k in range(q):
                    X[j, k] += factor * (X[j, k] - here[k])
