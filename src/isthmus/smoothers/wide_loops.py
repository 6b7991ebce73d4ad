"""Compiled sums over near pairs in rows of eight columns or more, eight at a time.

Lists of pairs are as in :mod:`isthmus.smoothers.pair_loops`, whose loops take any number of columns
and are what these are tested against.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import LANES, load_row, more, spread, store_row

_NEXT = np.uint64(1)


@njit(nogil=True, forceinline=True)
def _sixteen_sums(start, stop, indices, K, Y, c, j, F):
    """Sums of sixteen columns from c on; two pairs at a time, so that a sum waits less often."""
    a, b, e, f = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    p = start
    while p + _NEXT < stop:
        i, k = np.int64(indices[p]), K[p]
        a, b = more(a, k, load_row(Y, i, c)), more(b, k, load_row(Y, i, c + LANES))
        i, k = np.int64(indices[p + _NEXT]), K[p + _NEXT]
        e, f = more(e, k, load_row(Y, i, c)), more(f, k, load_row(Y, i, c + LANES))
        p += np.uint64(2)
    if p < stop:
        i, k = np.int64(indices[p]), K[p]
        a, b = more(a, k, load_row(Y, i, c)), more(b, k, load_row(Y, i, c + LANES))
    store_row(F, j, c, more(a, 1.0, e))
    store_row(F, j, c + LANES, more(b, 1.0, f))


@njit(nogil=True, inner=True)
def row_sums_of(start, stop, indices, K, Y, j, F):
    """Fill row j of F with the outputs of the pairs from ``start`` to ``stop`` times weights K.

    Where the columns are no multiple of eight, the last eight are added up again.
    """
    d = np.int64(Y.shape[1])
    c = np.int64(0)
    while c + 2 * LANES <= d:
        _sixteen_sums(start, stop, indices, K, Y, c, j, F)
        c += 2 * LANES
    while c < d:
        c = min(c, d - LANES)
        a = spread(0.0)
        for p in range(start, stop):
            a = more(a, K[p], load_row(Y, np.int64(indices[p]), c))
        store_row(F, j, c, a)
        c += LANES


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def wide_sums(indptr, indices, K, Y, S, F):
    """Fill S with the sums of the weights of a point and F with those of weights times outputs."""
    for j in range(len(indptr) - 1):
        start, stop, mass = np.uint64(indptr[j]), np.uint64(indptr[j + 1]), 0.0
        for p in range(start, stop):
            mass += K[p]
        S[j] = mass
        row_sums_of(start, stop, indices, K, Y, j, F)
