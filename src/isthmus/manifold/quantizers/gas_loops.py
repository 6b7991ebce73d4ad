"""Compiled loops of the neural gas: keys that sort centres by distance, and sums by rank.

A key is a squared distance, read as an integer, whose last bits are the number of the centre:
numbers that are not negative lie in the same order as their bits. Sorting keys takes a quarter of
the time of sorting numbers of centres by distance, since nothing is moved along.
"""

import numpy as np

from isthmus._compiled import njit

LAST = np.iinfo(np.int64).max


@njit(nogil=True, fastmath=True)
def fill_keys(Y, columns, mask, keys):
    """Keys (N, n) of N rows and the n centres whose coordinates are ``columns`` (d, n)."""
    d, n = columns.shape
    squared = np.empty(n)
    bits = squared.view(np.int64)
    for i in range(len(Y)):
        for j in range(n):
            squared[j] = 0.0
        for k in range(0, d - 3, 4):  # four at a time, since each pass reads and writes the sums
            y0, y1, y2, y3 = Y[i, k], Y[i, k + 1], Y[i, k + 2], Y[i, k + 3]
            for j in range(n):
                first = (columns[k, j] - y0) ** 2 + (columns[k + 1, j] - y1) ** 2
                squared[j] += first + (columns[k + 2, j] - y2) ** 2 + (columns[k + 3, j] - y3) ** 2
        for k in range(d - d % 4, d):
            for j in range(n):
                squared[j] += (columns[k, j] - Y[i, k]) ** 2
        for j in range(n):
            keys[i, j] = (bits[j] & ~mask) | j


@njit(nogil=True)
def choose_first(keys, mask, count):
    """Bring the ``count`` smallest keys of each row to its front, in order; the others are lost."""
    chosen = np.empty(count, dtype=np.int64)
    for i in range(len(keys)):
        row = keys[i]
        for r in range(count):
            least = row[0]
            for j in range(1, len(row)):
                least = min(least, row[j])
            chosen[r] = least
            row[least & mask] = LAST
        for r in range(count):
            row[r] = chosen[r]


@njit(nogil=True)
def scatter_weights(keys, mask, by_rank, h):
    """Weights (N, n) of the centres, from keys in order; zero beyond the ranks that are given."""
    for i in range(len(keys)):
        for j in range(h.shape[1]):
            h[i, j] = 0.0
        for r in range(len(by_rank)):
            h[i, keys[i, r] & mask] = by_rank[r]


@njit(nogil=True, fastmath=True)
def add_first(Y, keys, mask, by_rank, sums):
    """Add rows to the sums of the few centres that are nearest to them."""
    for i in range(len(Y)):
        for r in range(len(by_rank)):
            j = keys[i, r] & mask
            for k in range(Y.shape[1]):
                sums[j, k] += by_rank[r] * Y[i, k]
