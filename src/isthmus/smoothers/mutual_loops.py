"""Compiled loops over pairs of places that are points and centres at once.

Of the pairs (j, i) and (i, j) one is listed, and serves both. Places are in the order of their
cells, so that those near each other lie near each other in memory, and rows of outputs come in
multiples of eight, beginning with a line of the cache. :mod:`isthmus.smoothers.pair_loops` lists
these pairs too; with all pairs in any order it is what the sums here are tested against.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import LANES, load_row, more, more_products, spread, store_row, total

_NEXT = np.uint64(1)


@njit(nogil=True)
def sort_rows(Y, order, sorted_rows):
    """Fill in the rows of Y in the given order, and zeros beyond their columns."""
    d = Y.shape[1]
    for j in range(len(order)):
        i = order[j]
        for k in range(d):
            sorted_rows[j, k] = Y[i, k]
        for k in range(d, sorted_rows.shape[1]):
            sorted_rows[j, k] = 0.0


@njit(nogil=True, forceinline=True)
def _add_sixteen(j, start, stop, indices, K, Y, c, F):
    """Add the weighted outputs of the pairs of a place, sixteen columns, to both places."""
    y, z = load_row(Y, j, c), load_row(Y, j, c + LANES)
    f, g = load_row(F, j, c), load_row(F, j, c + LANES)
    for p in range(start, stop):
        i, k = np.int64(indices[p]), K[p]
        f = more(f, k, load_row(Y, i, c))
        g = more(g, k, load_row(Y, i, c + LANES))
        store_row(F, i, c, more(load_row(F, i, c), k, y))
        store_row(F, i, c + LANES, more(load_row(F, i, c + LANES), k, z))
    store_row(F, j, c, f)
    store_row(F, j, c + LANES, g)


@njit(nogil=True)
def mutual_sums(indptr, indices, K, own, Y, S, F):
    """Fill S with the sums of the weights of every place and F with those of weighted outputs.

    ``own`` is the weight of a place for itself.
    """
    n, d = Y.shape
    for j in range(n):
        S[j] = own
        for c in range(0, d, LANES):
            store_row(F, j, c, more(spread(0.0), own, load_row(Y, j, c)))
    for j in range(n):
        start, stop, mass = np.uint64(indptr[j]), np.uint64(indptr[j + 1]), S[j]
        for p in range(start, stop):
            mass += K[p]
            S[np.uint64(indices[p])] += K[p]
        S[j] = mass
        c = 0
        while c + 2 * LANES <= d:
            _add_sixteen(j, start, stop, indices, K, Y, c, F)
            c += 2 * LANES
        if c < d:
            y, f = load_row(Y, j, c), load_row(F, j, c)
            for p in range(start, stop):
                i = np.int64(indices[p])
                f = more(f, K[p], load_row(Y, i, c))
                store_row(F, i, c, more(load_row(F, i, c), K[p], y))
            store_row(F, j, c, f)


@njit(nogil=True)
def means_of(first, place_of, inverse, F, values):
    """Fill in the means F / S of the rows from ``first`` on."""
    for r in range(len(values)):
        j = place_of[first + r]
        for k in range(values.shape[1]):
            values[r, k] = F[j, k] * inverse[j]


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def sort_slopes(first, place_of, inverse, D, values, sorted_slopes, offsets):
    """Fill in slopes over S at the places of the rows from ``first`` on, and offsets.

    An offset is the product of the slopes over S with the values.
    """
    m, d = D.shape
    for r in range(m):
        j, offset = place_of[first + r], 0.0
        scale = inverse[j]
        for k in range(d):
            slope = D[r, k] * scale
            sorted_slopes[j, k] = slope
            offset += slope * values[r, k]
        for k in range(d, sorted_slopes.shape[1]):
            sorted_slopes[j, k] = 0.0
        offsets[j] = offset


@njit(nogil=True, forceinline=True)
def _both(D, Y, j, i, c, found):
    """Add d_j · y_i and d_i · y_j, in eight columns."""
    found = more_products(found, load_row(D, j, c), load_row(Y, i, c))
    return more_products(found, load_row(D, i, c), load_row(Y, j, c))


@njit(nogil=True)
def mutual_pulls(indptr, indices, D, offsets, Y, H):
    """Multiply H by d_j · (y_i - f_j) / S_j + d_i · (y_j - f_i) / S_i at every pair.

    ``D`` are the slopes over S and ``offsets`` their products with f. Four pairs at once, of which
    the last of a place may be one and the same.
    """
    d = Y.shape[1]
    for j in range(len(indptr) - 1):
        start, stop, offset = np.uint64(indptr[j]), np.uint64(indptr[j + 1]), offsets[j]
        p = start
        while p < stop:
            p1, p2 = min(p + _NEXT, stop - _NEXT), min(p + np.uint64(2), stop - _NEXT)
            p3 = min(p + np.uint64(3), stop - _NEXT)
            i0, i1 = np.uint64(indices[p]), np.uint64(indices[p1])
            i2, i3 = np.uint64(indices[p2]), np.uint64(indices[p3])
            a, b, c, e = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
            for k in range(0, d, LANES):
                a = _both(D, Y, j, np.int64(i0), k, a)
                b = _both(D, Y, j, np.int64(i1), k, b)
                c = _both(D, Y, j, np.int64(i2), k, c)
                e = _both(D, Y, j, np.int64(i3), k, e)
            h0, h1, h2, h3 = H[p], H[p1], H[p2], H[p3]
            H[p] = h0 * (total(a) - offset - offsets[i0])
            H[p1] = h1 * (total(b) - offset - offsets[i1])
            H[p2] = h2 * (total(c) - offset - offsets[i2])
            H[p3] = h3 * (total(e) - offset - offsets[i3])
            p += np.uint64(4)


@njit(nogil=True, fastmath={"contract"})
def mutual_slopes(indptr, indices, pulls, X, slopes):
    """Fill in the sums of the pulls along (x_i - x_j): a pair adds to place j, takes from i.

    Places and slopes have a coordinate in each row.
    """
    for m in range(len(slopes)):
        x, g = X[m], slopes[m]
        for j in range(len(g)):
            g[j] = 0.0
        for j in range(len(g)):
            here, total_pull = x[j], 0.0
            for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
                i = np.uint64(indices[p])
                pull = pulls[p] * (x[i] - here)
                total_pull += pull
                g[i] -= pull
            g[j] += total_pull
