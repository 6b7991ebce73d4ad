"""Compiled loops of K-SVD: residuals, power steps of the atoms, least-squares coefficients."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import append_row, cholesky_solve
from isthmus.sparse.pursuit.loops import PIVOT, SUMS, copy, dot, subtract


@njit(nogil=True)
def residuals(X, D, support, coef, out):
    """Fill ``out`` with X - C D for codes given by their supports."""
    for i in range(X.shape[0]):
        r = out[i]
        copy(X[i], r)
        for t in range(support.shape[1]):
            if support[i, t] < 0:
                break
            subtract(r, coef[i, t], D[support[i, t]])


@njit(nogil=True)
def users(support, n_atoms):
    """Places of each atom in the supports: ``places[starts[j]:starts[j + 1]]`` are those of j.

    A place is counted through the rows of ``support``.
    """
    n, s = support.shape
    starts = np.zeros(n_atoms + 1, dtype=np.int64)
    for i in range(n):
        for t in range(s):
            if support[i, t] < 0:
                break
            starts[support[i, t] + 1] += 1
    for j in range(n_atoms):
        starts[j + 1] += starts[j]
    places = np.empty(starts[n_atoms], dtype=np.int64)
    free = starts[:-1].copy()
    for i in range(n):
        for t in range(s):
            j = support[i, t]
            if j < 0:
                break
            places[free[j]] = i * s + t
            free[j] += 1
    return starts, places


@njit(nogil=True, fastmath=SUMS)
def _add_four(out, a, A, b, B, c, C, d, D):
    for e in range(out.shape[0]):
        out[e] += (a * A[e] + b * B[e]) + (c * C[e] + d * D[e])


@njit(nogil=True, fastmath=SUMS)
def _along(R, mine, s, a, known, old, d):
    """Fill ``d`` with the direction of E'a = R'a + (known·a) old; return its length."""
    overlap = 0.0
    for m in range(mine.shape[0]):
        overlap += a[m] * known[mine[m]]
    for e in range(d.shape[0]):
        d[e] = overlap * old[e]
    m = 0
    while m + 4 <= mine.shape[0]:
        _add_four(
            d, a[m], R[mine[m] // s], a[m + 1], R[mine[m + 1] // s],
            a[m + 2], R[mine[m + 2] // s], a[m + 3], R[mine[m + 3] // s],
        )  # fmt: skip
        m += 4
    while m < mine.shape[0]:
        subtract(d, -a[m], R[mine[m] // s])
        m += 1
    length = np.sqrt(dot(d, d))
    if length > 0.0:
        for e in range(d.shape[0]):
            d[e] /= length
    return length


@njit(nogil=True, fastmath=SUMS)
def _exchange(r, before, old, after, new):
    """Replace an atom and its coefficient in a residual."""
    for e in range(r.shape[0]):
        r[e] += before * old[e] - after * new[e]


@njit(nogil=True)
def power_sweep(R, D, coef, order, starts, places, n_power):
    """Improve atoms and their coefficients in turn; ``R`` = X - C D is kept up to date.

    For one atom and the signals that use it, E = R + a d' is what the other atoms leave. A power
    step d = E'a/‖E'a‖, a = E d gets closer to the best rank-one fit of E without forming it. The
    last one changes each residual while it is at hand.
    """
    s = coef.shape[1]
    flat = coef.reshape(-1)
    d = np.empty(D.shape[1])
    fresh = np.empty(places.shape[0])
    for j in order:
        mine = places[starts[j] : starts[j + 1]]
        if mine.shape[0] == 0:
            continue
        old = D[j]
        a = fresh[: mine.shape[0]]
        for m in range(mine.shape[0]):
            a[m] = flat[mine[m]]
        for step in range(n_power):
            if _along(R, mine, s, a, flat, old, d) == 0.0:
                break
            turn = dot(old, d)
            last = step == n_power - 1
            for m in range(mine.shape[0]):
                r, before = R[mine[m] // s], flat[mine[m]]
                a[m] = dot(r, d) + before * turn
                if last:
                    _exchange(r, before, old, a[m], d)
                    flat[mine[m]] = a[m]
            if last:
                copy(d, old)


@njit(nogil=True)
def refit(X, D, G, support, coef):
    """Least-squares coefficients on given supports; places of dependent atoms get zero."""
    s_max = support.shape[1]
    L = np.empty((s_max, s_max))
    b = np.empty(s_max)
    atoms, places = np.empty(s_max, dtype=np.int64), np.empty(s_max, dtype=np.int64)
    for i in range(X.shape[0]):
        chosen = support[i]
        a = coef[i]
        count = 0
        while count < s_max and chosen[count] >= 0:
            count += 1
        size = 0
        for t in range(count):
            a[t] = 0.0
            if append_row(L, size, G, atoms, chosen[t], PIVOT):
                b[size] = dot(D[chosen[t]], X[i])
                places[size] = t
                size += 1
        cholesky_solve(L, size, b)
        for s in range(size):
            a[places[s]] = b[s]
