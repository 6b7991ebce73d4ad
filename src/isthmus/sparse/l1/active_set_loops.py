"""Compiled loops over a set of active atoms and the Cholesky factor of their Gram matrix.

``m`` atoms are active: ``active[:m]`` are their numbers and ``R[:m, :m]`` is the upper Cholesky
factor of their Gram matrix, R'R, with the reciprocals of its diagonal in their place: a division
takes three times as long as a product, and each solution of a system waits for m of them.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    less,
    load,
    load_row,
    more,
    more_products,
    scaled,
    spread,
    store,
    store_row,
    total,
)

# Sums may be taken in any order, so that they run in vector registers.
SUMS = {"reassoc", "contract", "nsz", "nnan"}
# An atom whose part outside the span of the active ones has a smaller squared length (relative
# to its own) is taken to lie in that span.
DEPENDENT = 1e-10


@njit(nogil=True, fastmath={"contract"}, inner=True)
def gradient(G, b, active, a, m, g):
    """Fill ``g`` with G a - b, 64 places at a time, whose sums stay in registers."""
    k = b.shape[0]
    j = 0
    while j + 64 <= k:
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = spread(0.0)
        for q in range(m):
            i, x = active[q], a[q]
            s0, s1 = more(s0, x, load_row(G, i, j)), more(s1, x, load_row(G, i, j + 8))
            s2, s3 = more(s2, x, load_row(G, i, j + 16)), more(s3, x, load_row(G, i, j + 24))
            s4, s5 = more(s4, x, load_row(G, i, j + 32)), more(s5, x, load_row(G, i, j + 40))
            s6, s7 = more(s6, x, load_row(G, i, j + 48)), more(s7, x, load_row(G, i, j + 56))
        store(g, j, less(s0, 1.0, load(b, j)))
        store(g, j + 8, less(s1, 1.0, load(b, j + 8)))
        store(g, j + 16, less(s2, 1.0, load(b, j + 16)))
        store(g, j + 24, less(s3, 1.0, load(b, j + 24)))
        store(g, j + 32, less(s4, 1.0, load(b, j + 32)))
        store(g, j + 40, less(s5, 1.0, load(b, j + 40)))
        store(g, j + 48, less(s6, 1.0, load(b, j + 48)))
        store(g, j + 56, less(s7, 1.0, load(b, j + 56)))
        j += 64
    while j + LANES <= k:
        s0 = spread(0.0)
        for q in range(m):
            s0 = more(s0, a[q], load_row(G, active[q], j))
        store(g, j, less(s0, 1.0, load(b, j)))
        j += LANES
    while j < k:
        g[j] = -b[j]
        for q in range(m):
            g[j] += a[q] * G[active[q], j]
        j += 1


@njit(nogil=True, fastmath={"contract"}, inner=True)
def forward(R, first, m, y):
    """Solve R' z = y in place where ``y[:first]`` is zero, by pairs of rows of R."""
    i = first
    while i + 1 < m:
        upper, lower = R[i], R[i + 1]
        one = y[i] * upper[i]
        two = (y[i + 1] - one * upper[i + 1]) * lower[i + 1]
        y[i], y[i + 1] = one, two
        for j in range(i + 2, m):
            y[j] -= one * upper[j] + two * lower[j]
        i += 2
    if i < m:
        y[i] *= R[i, i]


@njit(nogil=True, fastmath={"contract"}, inner=True)
def backward(R, m, y):
    """Solve R z = y in place, eight rows at a time; what follows in ``y`` is lost."""
    end = m
    while end % LANES:
        y[end] = 0.0
        end += 1
    start = end
    while start > 0:
        stop, start = min(start, m), start - LANES
        for i in range(stop - 1, start - 1, -1):
            known = spread(0.0)
            for j in range(start + LANES, end, LANES):
                known = more_products(known, load_row(R, i, j), load(y, j))
            value = y[i] - total(known)
            for j in range(stop - 1, i, -1):  # the last one found comes last: all wait for it
                value -= R[i, j] * y[j]
            y[i] = value * R[i, i]


@njit(nogil=True, fastmath={"contract"}, inner=True)
def columns(R, m, G, active, new, count, W):
    """Solve R' W = products of the active atoms with ``count`` new ones, eight columns at most."""
    for t in range(count):
        products = G[new[t]]
        for i in range(m):
            W[i, t] = products[active[i]]
    i = 0
    while i + 4 <= m:
        r0, r1, r2, r3 = R[i], R[i + 1], R[i + 2], R[i + 3]
        w0 = scaled(r0[i], load_row(W, i, 0))
        w1 = scaled(r1[i + 1], less(load_row(W, i + 1, 0), r0[i + 1], w0))
        w2 = less(less(load_row(W, i + 2, 0), r0[i + 2], w0), r1[i + 2], w1)
        w2 = scaled(r2[i + 2], w2)
        w3 = less(less(load_row(W, i + 3, 0), r0[i + 3], w0), r1[i + 3], w1)
        w3 = scaled(r3[i + 3], less(w3, r2[i + 3], w2))
        store_row(W, i, 0, w0)
        store_row(W, i + 1, 0, w1)
        store_row(W, i + 2, 0, w2)
        store_row(W, i + 3, 0, w3)
        for j in range(i + 4, m):
            rest = less(less(load_row(W, j, 0), r0[j], w0), r1[j], w1)
            store_row(W, j, 0, less(less(rest, r2[j], w2), r3[j], w3))
        i += 4
    while i < m:
        w0 = scaled(R[i, i], load_row(W, i, 0))
        store_row(W, i, 0, w0)
        for j in range(i + 1, m):
            store_row(W, j, 0, less(load_row(W, j, 0), R[i, j], w0))
        i += 1


@njit(nogil=True, fastmath={"contract"})
def _inner_products(W, m, y, S):
    """Fill ``S`` with W'W, and its last row with W'y."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = last = spread(0.0)
    for i in range(m):
        lanes = load_row(W, i, 0)
        s0, s1 = more(s0, W[i, 0], lanes), more(s1, W[i, 1], lanes)
        s2, s3 = more(s2, W[i, 2], lanes), more(s3, W[i, 3], lanes)
        s4, s5 = more(s4, W[i, 4], lanes), more(s5, W[i, 5], lanes)
        s6, s7 = more(s6, W[i, 6], lanes), more(s7, W[i, 7], lanes)
        last = more(last, y[i], lanes)
    store_row(S, 0, 0, s0)
    store_row(S, 1, 0, s1)
    store_row(S, 2, 0, s2)
    store_row(S, 3, 0, s3)
    store_row(S, 4, 0, s4)
    store_row(S, 5, 0, s5)
    store_row(S, 6, 0, s6)
    store_row(S, 7, 0, s7)
    store_row(S, 8, 0, last)


@njit(nogil=True, inner=True)
def join(R, m, G, active, new, count, rhs, y, W, S):
    """Let at most eight new atoms in; return how many are active then.

    Those that depend on the others stay out, and all for which there is no room. With each that
    comes in, the solution ``y`` of R'y = rhs grows by the one for its right-hand side, ``rhs[t]``.
    """
    columns(R, m, G, active, new, count, W)
    _inner_products(W, m, y, S)
    for t in range(count):
        j = new[t]
        pivot = G[j, j] - S[t, t]
        if m < R.shape[0] and pivot > DEPENDENT * G[j, j]:
            root = np.sqrt(pivot)
            inverse = 1.0 / root
            y[m] = (rhs[t] - S[LANES, t]) * inverse
            W[m, t] = root
            for s in range(t + 1, count):
                W[m, s] = (G[j, new[s]] - S[t, s]) * inverse
                S[LANES, s] += y[m] * W[m, s]
                for r in range(t + 1, s + 1):
                    S[r, s] += W[m, r] * W[m, s]
            for i in range(m):
                R[i, m] = W[i, t]
            R[m, m] = inverse
            active[m] = j
            m += 1
    return m


@njit(nogil=True, fastmath={"contract"}, inner=True)
def remove(R, m, active, a, signs, y, v, q):
    """Take the atom at place ``q`` out of the active set; Givens rotations mend the factor.

    They turn ``y`` and ``v`` too, which stay R'⁻¹t and R a for other vectors t and a with a zero
    at ``q``, that one taken out.
    """
    for i in range(q, m - 1):
        active[i], a[i], signs[i] = active[i + 1], a[i + 1], signs[i + 1]
    for i in range(q + 1):
        for j in range(q, m - 1, LANES):
            store_row(R, i, j, load_row(R, i, j + 1))
    x = R[q, q]
    for i in range(q, m - 1):
        z = 1.0 / R[i + 1, i + 1]
        inverse = 1.0 / np.sqrt(x * x + z * z)
        c, s = x * inverse, z * inverse
        x = c * R[i + 1, i + 2] - s * R[i, i + 1]
        # Row i + 1 begins one place left of where it is to be; it is moved as it is turned. Whole
        # registers, so that what is left of the diagonal and behind the end is lost.
        for j in range(i - i % LANES, m - 1, LANES):
            above, below = load_row(R, i, j), load_row(R, i + 1, j + 1)
            store_row(R, i, j, more(scaled(c, above), s, below))
            store_row(R, i + 1, j, less(scaled(c, below), s, above))
        R[i, i] = inverse
        above, below = y[i], y[i + 1]
        y[i], y[i + 1] = c * above + s * below, c * below - s * above
        above, below = v[i], v[i + 1]
        v[i], v[i + 1] = c * above + s * below, c * below - s * above


@njit(nogil=True, fastmath=SUMS, inner=True)
def times(R, m, a, v):
    """Write R a to ``v``."""
    for i in range(m):
        row, entry = R[i], a[i] / R[i, i]
        for j in range(i + 1, m):
            entry += row[j] * a[j]
        v[i] = entry
