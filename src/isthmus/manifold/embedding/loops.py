"""Compiled loops over pairs of rows: stresses, their slopes, and a shortest tree."""

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
    r"""The sum over pairs with d ≤ reach of (D - d)², its gradient with them held, their number."""
    n, q = X.shape
    slope = np.zeros((n, q))
    total, near = 0.0, 0
    for i in range(n):
        for j in range(i):
            d = 0.0
            for k in range(q):
                d += (X[i, k] - X[j, k]) ** 2
            d = np.sqrt(d)
            if d > reach:
                continue
            near += 1
            gap = D[i, j] - d
            total += gap * gap
            if d > 0.0:
                factor = -2.0 * gap / d
                for k in range(q):
                    step = factor * (X[i, k] - X[j, k])
                    slope[i, k] += step
                    slope[j, k] -= step
    return total, slope, near


@njit
def spanning_tree(D):
    """The n - 1 pairs (m, 2) of a shortest tree through all points, of distances (n, n).

    Prim's algorithm: n times the nearest point outside the tree.
    """
    n = len(D)
    tree = np.empty((n - 1, 2), np.intp)
    outside = np.ones(n, np.bool_)
    outside[0] = False
    nearest = np.zeros(n, np.intp)
    distance = D[0].copy()
    for m in range(n - 1):
        new = -1
        for j in range(n):
            if outside[j] and (new < 0 or distance[j] < distance[new]):
                new = j
        tree[m, 0], tree[m, 1] = nearest[new], new
        outside[new] = False
        for j in range(n):
            if D[new, j] < distance[j]:
                distance[j], nearest[j] = D[new, j], new
    return tree
