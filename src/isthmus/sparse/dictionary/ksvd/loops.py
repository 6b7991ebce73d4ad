"""Compiled loops of K-SVD: residuals, power steps of the atoms, least-squares coefficients.

Memory comes from outside: to allocate it here would take longer to compile than the loops.
"""

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


@njit(nogil=True, fastmath=SUMS)
def _add_four(out, a, A, b, B, c, C, d, D):
    for e in range(out.shape[0]):
        out[e] += (a * A[e] + b * B[e]) + (c * C[e] + d * D[e])


@njit(nogil=True, fastmath=SUMS)
def _four_dots(A, B, C, D, d):
    a = b = c = e = 0.0
    for q in range(d.shape[0]):
        a += A[q] * d[q]
        b += B[q] * d[q]
        c += C[q] * d[q]
        e += D[q] * d[q]
    return a, b, c, e


@njit(nogil=True, fastmath=SUMS)
def _direction(R, rows, a, known, old, d, begun, after):
    """Write to ``after`` the direction of E'a, E = R + known old'; return its length.

    Once ``begun``, a = E d is written first: a row of ``R`` is read once for both.
    """
    turn = dot(old, d) if begun else 0.0
    overlap = 0.0
    for e in range(after.shape[0]):
        after[e] = 0.0
    whole = a.shape[0] - a.shape[0] % 4
    for m in range(0, whole, 4):
        A, B, C, D = R[rows[m]], R[rows[m + 1]], R[rows[m + 2]], R[rows[m + 3]]
        if begun:
            a0, a1, a2, a3 = _four_dots(A, B, C, D, d)
            a[m], a[m + 1] = a0 + turn * known[m], a1 + turn * known[m + 1]
            a[m + 2], a[m + 3] = a2 + turn * known[m + 2], a3 + turn * known[m + 3]
        _add_four(after, a[m], A, a[m + 1], B, a[m + 2], C, a[m + 3], D)
    for m in range(whole, a.shape[0]):
        if begun:
            a[m] = dot(R[rows[m]], d) + turn * known[m]
        subtract(after, -a[m], R[rows[m]])
    for m in range(a.shape[0]):
        overlap += a[m] * known[m]
    subtract(after, -overlap, old)
    return _unit(after)


@njit(nogil=True)
def _unit(d):
    """Scale to length one; return the length there was."""
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
def power_sweep(R, D, flat, s, order, starts, places, n_power, d, after, lines, rows):
    """Improve atoms and their coefficients in turn; ``R`` = X - C D is kept up to date.

    For one atom and the signals that use it, E = R + a d' is what the other atoms leave. A power
    step d = E'a/‖E'a‖, a = E d gets closer to the best rank-one fit of E without forming it. The
    last one changes each residual while it is at hand. ``flat`` has ``s`` coefficients of each
    signal; ``lines`` (2, n) and ``rows`` (n,) have room for the users of an atom.
    """
    fresh, before = lines[0], lines[1]
    for j in order:
        mine = places[starts[j] : starts[j + 1]]
        if mine.shape[0] == 0:
            continue
        old = D[j]
        a, known = fresh[: mine.shape[0]], before[: mine.shape[0]]
        for m in range(mine.shape[0]):
            rows[m], known[m] = mine[m] // s, flat[mine[m]]
            a[m] = known[m]
        length = 1.0
        for step in range(n_power):
            if length > 0.0:
                length = _direction(R, rows, a, known, old, d, step > 0, after)
                d, after = after, d
        if length > 0.0:
            turn = dot(old, d)
            for m in range(mine.shape[0]):
                r = R[rows[m]]
                flat[mine[m]] = dot(r, d) + known[m] * turn
                _exchange(r, known[m], old, flat[mine[m]], d)
            copy(d, old)


@njit(nogil=True)
def add_codes(X, support, coef, usage, codes, cross):
    """Add how many signals use each atom, C'C and C'X, for codes given by their supports."""
    for i in range(X.shape[0]):
        for t in range(support.shape[1]):
            j = support[i, t]
            if j < 0:
                break
            usage[j] += 1.0
            for u in range(support.shape[1]):
                if support[i, u] < 0:
                    break
                codes[j, support[i, u]] += coef[i, t] * coef[i, u]
            subtract(cross[j], -coef[i, t], X[i])


@njit(nogil=True)
def power_steps(D, codes, cross, order):
    """One power step for each used atom in turn, by the sums C'C and C'X; ``D`` is changed."""
    d = np.empty(D.shape[1])
    for j in order:
        if codes[j, j] <= 0.0:
            continue
        copy(cross[j], d)
        for i in range(D.shape[0]):
            if i != j and codes[j, i] != 0.0:
                subtract(d, codes[j, i], D[i])
        if _unit(d) > 0.0:
            copy(d, D[j])


@njit(nogil=True)
def refit(X, D, G, support, coef, L, numbers):
    """Least-squares coefficients on given supports; places of dependent atoms get zero.

    For s places there is room for a factor and a line in ``L`` (s + 1, s), and for ``numbers``
    (2, s).
    """
    s_max = support.shape[1]
    b, atoms, places = L[s_max], numbers[0], numbers[1]
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
