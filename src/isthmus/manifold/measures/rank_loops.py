"""Compiled loops over the ranks of neighbours in two spaces."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def count_ranks(keys_x, keys_z, mask, neighbors, counts, intruders, losers):
    """Add what some rows say of their neighbours to the three tables.

    Keys are sorted and hold the number of a neighbour in the bits of ``mask``; the first of a row
    is the row itself. ``counts[m]`` is the number of pairs whose larger rank is m + 1,
    ``intruders[c]`` sums how far beyond ``neighbors[c]`` in the first space lie the neighbours in
    the second, and ``losers[c]`` the other way round.
    """
    n_rows, n = keys_x.shape
    rank = np.empty(n, dtype=np.int64)
    for i in range(n_rows):
        for k in range(n):
            rank[np.int64(keys_z[i, k] & mask)] = k
        for k in range(1, n):
            r = rank[np.int64(keys_x[i, k] & mask)]
            counts[max(k, r) - 1] += 1
            for c in range(len(neighbors)):
                K = neighbors[c]
                if r <= K and k > K:
                    intruders[c] += k - K
                elif k <= K and r > K:
                    losers[c] += r - K


@njit(nogil=True)
def count_pairs(keys_x, keys_z, mask, table):
    """Add the pairs of some rows to the co-ranking matrix."""
    n_rows, n = keys_x.shape
    rank = np.empty(n, dtype=np.int64)
    for i in range(n_rows):
        for k in range(n):
            rank[np.int64(keys_z[i, k] & mask)] = k
        for k in range(1, n):
            table[k - 1, rank[np.int64(keys_x[i, k] & mask)] - 1] += 1
