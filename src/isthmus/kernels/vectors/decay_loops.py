"""Compiled exponentials of a block of negative numbers, in one pass over it."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.exponentials import decays
from isthmus.linalg.lanes import LANES, load, load_row, store, store_row, store_turned


@njit(nogil=True)
def decay(numbers):
    """Replace the numbers x of a vector by exp(min(x, 0))."""
    n = len(numbers)
    whole = n // LANES * LANES
    for i in range(0, whole, LANES):
        store(numbers, i, decays(load(numbers, i)))
    if whole < n:
        rest = np.zeros(LANES)
        rest[: n - whole] = numbers[whole:]
        store(rest, 0, decays(load(rest, 0)))
        numbers[whole:] = rest[: n - whole]


@njit(nogil=True)
def mirror_decays(block, row, column, K):
    """Write exp(min(x, 0)) of a block below the diagonal to its place in ``K``, and turned beyond.

    All sizes and places are multiples of eight. Of a block on the diagonal the lower half counts.
    """
    for i in range(0, block.shape[0], LANES):
        p = row + i
        for j in range(0, min(block.shape[1], p - column + LANES), LANES):
            q = column + j
            a, b = decays(load_row(block, i, j)), decays(load_row(block, i + 1, j))
            c, d = decays(load_row(block, i + 2, j)), decays(load_row(block, i + 3, j))
            e, f = decays(load_row(block, i + 4, j)), decays(load_row(block, i + 5, j))
            g, h = decays(load_row(block, i + 6, j)), decays(load_row(block, i + 7, j))
            store_row(K, p, q, a)
            store_row(K, p + 1, q, b)
            store_row(K, p + 2, q, c)
            store_row(K, p + 3, q, d)
            store_row(K, p + 4, q, e)
            store_row(K, p + 5, q, f)
            store_row(K, p + 6, q, g)
            store_row(K, p + 7, q, h)
            if p != q:
                store_turned(K, q, p, a, b, c, d, e, f, g, h)
                continue
            for r in range(p, p + LANES):
                for s in range(p, r):
                    K[s, r] = K[r, s]
