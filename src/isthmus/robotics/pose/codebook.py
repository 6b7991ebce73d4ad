"""Vector quantisation with a guarantee: every pattern has a codeword within some radius."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array
from sklearn.metrics import pairwise_distances

from isthmus.typing import Array, BoolArray, IntArray

SUPPORT = 1e-9


def covering_subset(near: BoolArray) -> IntArray:
    r"""A few rows such that every row is near one of them: kernel vector quantisation.

    The linear program :math:`\min 1^\top w` subject to :math:`Gw\ge1, w\ge0` with
    :math:`G_{ij}=1` if i and j are near [Tipping2001]_. Its support covers all rows, since no sum
    of zeros reaches one; rows of small weight that are not needed are then dropped.

    Parameters
    ----------
    near : symmetric boolean array of shape (n, n), True on the diagonal.

    Returns
    -------
    ndarray of int
        The rows kept, in increasing order.
    """
    n = len(near)
    G = csr_array(near.astype(float))
    solution = linprog(np.ones(n), A_ub=-G, b_ub=-np.ones(n), method="highs")
    if solution.x is None:
        raise RuntimeError(f"The linear program of the codebook failed: {solution.message}")
    support = np.flatnonzero(solution.x > SUPPORT)
    covered_by = near[:, support].sum(axis=1)
    kept = np.ones(len(support), dtype=bool)
    for k in np.argsort(solution.x[support], kind="stable"):
        column = near[:, support[k]]
        if (covered_by[column] > 1).all():
            covered_by -= column
            kept[k] = False
    return np.asarray(support[kept])


def vector_codebook(patterns: Array, n_codewords: int) -> tuple[Array, float]:
    """At most ``n_codewords`` of the patterns, and a radius within which every one has one.

    The radius is the smallest with so few codewords, found by bisection over the city-block
    distances that occur; counts make many of them equal, so the number may fall short. The
    patterns farthest from the book then fill it, which can only bring every one nearer.
    """
    patterns = np.unique(patterns, axis=0)
    if len(patterns) <= n_codewords:
        return patterns, 0.0
    distances = pairwise_distances(patterns, metric="cityblock")
    radii = np.unique(distances)
    low, high = 0, len(radii) - 1  # at radii[high] one codeword does for all, nearly always
    book = np.array([int(distances.max(axis=1).argmin())])
    while low < high:
        middle = (low + high) // 2
        found = covering_subset(distances <= radii[middle])
        if len(found) <= n_codewords:
            high, book = middle, found
        else:
            low = middle + 1
    chosen = list(book)
    gap = distances[:, chosen].min(axis=1)
    while len(chosen) < n_codewords and gap.max() > 0:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, distances[:, chosen[-1]])
    return patterns[np.sort(chosen)], float(gap.max())
