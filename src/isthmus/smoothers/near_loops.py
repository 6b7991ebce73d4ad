"""Compiled loops over lists of pairs that reach a little farther than a kernel."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def farthest_move(X, before):
    """Largest squared distance between the rows of two arrays; infinite where one is no number."""
    n, q = X.shape
    most = 0.0
    for i in range(n):
        s = 0.0
        for k in range(q):
            t = X[i, k] - before[i, k]
            s += t * t
        if not s <= most:
            if not s < np.inf:
                return np.inf
            most = s
    return most


@njit(nogil=True, fastmath={"contract"})
def pairs_kept(Xe, Xc, support, rows, centres, indptr, indices, squared):
    """Write the listed pairs of squared distance below ``support``; their number.

    The list has the pairs ``rows[j]:rows[j + 1]`` of point j.
    """
    m, q = Xe.shape
    at = np.uint64(0)
    indptr[0] = 0
    for j in range(m):
        z0 = Xe[j, 0]
        z1 = Xe[j, 1] if q > 1 else 0.0
        for p in range(np.uint64(rows[j]), np.uint64(rows[j + 1])):
            i = np.uint64(centres[p])
            t = Xc[i, 0] - z0
            s = t * t
            if q > 1:
                t = Xc[i, 1] - z1
                s += t * t
                for k in range(2, q):
                    t = Xc[i, k] - Xe[j, k]
                    s += t * t
            # Written always and kept if near: no branch to guess wrong.
            indices[at], squared[at] = centres[p], s
            at += np.uint64(s < support)
        indptr[j + 1] = at
    return at
