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
def _add(out, weight, row):
    for j in range(out.shape[0]):
        out[j] += weight * row[j]


@njit(nogil=True)
def power_sweep(R, D, coef, order, starts, places, n_power):
    """Improve atoms and their coefficients in turn; ``R`` = X - C D is kept up to date.

    For one atom and the signals that use it, E = R + a d' is what the other atoms leave. A power
    step d = E'a/‖E'a‖, a = E d gets closer to the best rank-one fit of E without forming it.
    """
    n_features = D.shape[1]
    s = coef.shape[1]
    flat = coef.reshape(-1)
    d = np.empty(n_features)
    fresh = np.empty(places.shape[0])
    for j in order:
        mine = places[starts[j] : starts[j + 1]]
        if mine.shape[0] == 0:
            continue
        old = D[j]
        a = fresh[: mine.shape[0]]
        for m in range(mine.shape[0]):
            a[m] = flat[mine[m]]
        for _ in range(n_power):
            # E'a = R'a + (a_old·a) d_old
            d[:] = 0.0
            overlap = 0.0
            for m in range(mine.shape[0]):
                _add(d, a[m], R[mine[m] // s])
                overlap += a[m] * flat[mine[m]]
            _add(d, overlap, old)
            length = np.sqrt(dot(d, d))
            if length == 0.0:
                break
            for e in range(n_features):
                d[e] /= length
            turn = dot(old, d)
            for m in range(mine.shape[0]):
                a[m] = dot(R[mine[m] // s], d) + flat[mine[m]] * turn
        if length == 0.0:
            continue
        for m in range(mine.shape[0]):
            r = R[mine[m] // s]
            _add(r, flat[mine[m]], old)
            subtract(r, a[m], d)
            flat[mine[m]] = a[m]
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
