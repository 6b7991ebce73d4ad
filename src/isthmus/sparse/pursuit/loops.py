"""Compiled loops of the pursuits: one signal after another, nothing allocated inside.

Atoms are rows of ``D`` with unit length. A pursuit keeps an orthonormal basis q_1, q_2, ... of the
chosen atoms without ever forming it: ``U[s, j]`` holds ⟨q_s, d_j⟩ for every atom, so the columns of
the chosen ones are the Cholesky factor of their Gram matrix.
"""

import numpy as np

from isthmus._compiled import njit

# Sums may be taken in any order, so that they run in vector registers.
SUMS = {"reassoc", "contract", "nsz"}
# An atom this near to the span of the chosen ones (squared distance) adds nothing but noise.
PIVOT = 1e-10
# Correlations below this share of the signal are rounding errors.
NOTHING = 1e-12
# ‖x‖² - Σc² has lost its digits below this share of ‖x‖²: the residual is then formed.
CANCELLED = 1e-8


@njit(nogil=True, fastmath=SUMS)
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(nogil=True)
def copy(source, out):
    """A loop: the assignment of a slice checks shapes, and compiles three times as long."""
    for j in range(out.shape[0]):
        out[j] = source[j]


@njit(nogil=True, fastmath=SUMS)
def subtract(out, weight, row):
    for j in range(out.shape[0]):
        out[j] -= weight * row[j]


@njit(nogil=True, fastmath=SUMS)
def _subtract_four(out, a, A, b, B, c, C, d, D):
    for j in range(out.shape[0]):
        out[j] -= (a * A[j] + b * B[j]) + (c * C[j] + d * D[j])


@njit(nogil=True)
def _largest(values):
    """Place of the entry of largest modulus, the first among equals.

    Four running maxima: one alone would wait for the last comparison at every entry.
    """
    k = values.shape[0]
    m0 = m1 = m2 = m3 = -1.0
    i0 = i1 = i2 = i3 = 0
    for j in range(0, k - 3, 4):
        v0, v1, v2, v3 = abs(values[j]), abs(values[j + 1]), abs(values[j + 2]), abs(values[j + 3])
        i0 = j if v0 > m0 else i0
        m0 = v0 if v0 > m0 else m0
        i1 = j + 1 if v1 > m1 else i1
        m1 = v1 if v1 > m1 else m1
        i2 = j + 2 if v2 > m2 else i2
        m2 = v2 if v2 > m2 else m2
        i3 = j + 3 if v3 > m3 else i3
        m3 = v3 if v3 > m3 else m3
    for j in range(k - k % 4, k):
        v0 = abs(values[j])
        i0 = j if v0 > m0 else i0
        m0 = v0 if v0 > m0 else m0
    if m1 > m0 or (m1 == m0 and i1 < i0):
        m0, i0 = m1, i1
    if m2 > m0 or (m2 == m0 and i2 < i0):
        m0, i0 = m2, i2
    if m3 > m0 or (m3 == m0 and i3 < i0):
        m0, i0 = m3, i3
    return i0


@njit(nogil=True)
def _coefficients(U, c, chosen, count, out):
    """Solve R a = c with R[s, t] = U[s, chosen[t]], upper triangular."""
    for t in range(count - 1, -1, -1):
        value = c[t]
        for s in range(t + 1, count):
            value -= U[t, chosen[s]] * out[s]
        out[t] = value / U[t, chosen[t]]


@njit(nogil=True)
def _refresh(x, D, U, c, chosen, count, a, r, alpha):
    """Form the residual, refine ``c`` by it, renew the correlations; return its squared norm.

    One step of the corrected semi-normal equations, R'δ = D_I r.
    """
    for turn in range(2):
        _coefficients(U, c, chosen, count, a)
        copy(x, r)
        for t in range(count):
            subtract(r, a[t], D[chosen[t]])
        if turn == 1:
            break
        for t in range(count):
            value = dot(D[chosen[t]], r)
            for s in range(t):
                value -= U[s, chosen[t]] * a[s]  # a holds δ from here on
            a[t] = value / U[t, chosen[t]]
        for t in range(count):
            c[t] += a[t]
    for j in range(D.shape[0]):
        alpha[j] = dot(D[j], r)
    for t in range(count):
        alpha[chosen[t]] = 0.0
    return dot(r, r)


@njit(nogil=True)
def _new_row(U, G, count, new):
    """Write row ``count`` of ``U``, for an atom that is to be chosen; return its squared pivot."""
    u = U[count]
    copy(G[new], u)
    pivot = G[new, new]
    s = 0
    while s + 3 < count:
        _subtract_four(
            u, U[s, new], U[s], U[s + 1, new], U[s + 1],
            U[s + 2, new], U[s + 2], U[s + 3, new], U[s + 3],
        )  # fmt: skip
        s += 4
    while s < count:
        subtract(u, U[s, new], U[s])
        s += 1
    for s in range(count):
        pivot -= U[s, new] ** 2
    if pivot >= PIVOT:
        scale = 1.0 / np.sqrt(pivot)
        for j in range(u.shape[0]):
            u[j] *= scale
        u[new] = np.sqrt(pivot)
    return pivot


@njit(nogil=True)
def orthogonal_pursuits(X, D, G, B, goals, order_recursive, support, coef):
    """Fill ``support`` and ``coef`` (n, n_nonzero) with the codes of the rows of ``X``.

    ``G`` is D D', ``B`` is X D' and is overwritten, ``goals`` are the norms at which a residual is
    small enough. Unused places of ``support`` hold -1.
    """
    n_nonzero = support.shape[1]
    k = D.shape[0]
    U = np.empty((n_nonzero, k))
    c = np.empty(n_nonzero)
    r = np.empty(D.shape[1])
    left = np.empty(k)  # squared distance of each atom to the span of the chosen ones
    score = np.empty(k)
    for i in range(X.shape[0]):
        x, alpha, chosen, a = X[i], B[i], support[i], coef[i]
        energy = dot(x, x)
        error = energy
        goal = goals[i] * goals[i]
        nothing = NOTHING * np.sqrt(energy)
        chosen[:] = -1
        a[:] = 0.0
        count = 0
        if order_recursive:
            for j in range(k):
                left[j] = G[j, j]
        while count < n_nonzero and error > goal:
            if order_recursive:
                for j in range(k):
                    score[j] = alpha[j] * alpha[j] / left[j] if left[j] > PIVOT else 0.0
                new = _largest(score)
            else:
                new = _largest(alpha)
            if abs(alpha[new]) <= nothing:
                break
            u = U[count]
            pivot = _new_row(U, G, count, new)
            if pivot < PIVOT:
                break
            c[count] = alpha[new] * (1.0 / np.sqrt(pivot))
            subtract(alpha, c[count], u)
            if order_recursive:
                for j in range(k):
                    left[j] -= u[j] * u[j]
                left[new] = 0.0
            chosen[count] = new
            count += 1
            alpha[new] = 0.0
            error -= c[count - 1] ** 2
            if error < CANCELLED * energy:
                error = _refresh(x, D, U, c, chosen, count, a, r, alpha)
        _coefficients(U, c, chosen, count, a)


@njit(nogil=True)
def masked_pursuits(X, observed, columns, goals, support, coef):
    """Orthogonal pursuits on the observed entries alone, one set of them for each signal.

    ``columns`` is the transposed dictionary (n_features, n_atoms). Atoms are compared by
    ⟨d, r⟩²/‖d‖² over the observed entries, which is what a pursuit of rescaled atoms does; the
    coefficients belong to the whole atoms.
    """
    n_nonzero = support.shape[1]
    p, k = columns.shape
    alpha = np.empty(k)
    seen = np.empty(k)
    Q = np.empty((n_nonzero, p))  # orthonormal basis of the chosen atoms, zero where unobserved
    R = np.empty((n_nonzero, n_nonzero))
    c = np.empty(n_nonzero)
    r = np.empty(p)
    for i in range(X.shape[0]):
        chosen, a = support[i], coef[i]
        chosen[:] = -1
        a[:] = 0.0
        seen[:] = 0.0
        for e in range(p):
            r[e] = X[i, e] if observed[i, e] else 0.0
            if observed[i, e]:
                row = columns[e]
                for j in range(k):
                    seen[j] += row[j] * row[j]
        error = dot(r, r)
        nothing = NOTHING * np.sqrt(error)
        count = 0
        while count < n_nonzero and error > goals[i] * goals[i]:
            alpha[:] = 0.0
            for e in range(p):
                if observed[i, e]:
                    subtract(alpha, -r[e], columns[e])
            for j in range(k):
                # An atom that is all but hidden would be blown up by its few visible entries.
                alpha[j] = alpha[j] / np.sqrt(seen[j]) if seen[j] > 1e-4 else 0.0
            for t in range(count):
                alpha[chosen[t]] = 0.0
            new = _largest(alpha)
            if abs(alpha[new]) <= nothing:
                break
            q = Q[count]
            for e in range(p):
                q[e] = columns[e, new] if observed[i, e] else 0.0
            R[:, count] = 0.0
            for _ in range(2):  # Gram-Schmidt, twice is enough
                for s in range(count):
                    along = dot(Q[s], q)
                    R[s, count] += along
                    subtract(q, along, Q[s])
            pivot = dot(q, q)
            if pivot < PIVOT * seen[new]:
                break
            R[count, count] = np.sqrt(pivot)
            for e in range(p):
                q[e] /= R[count, count]
            c[count] = dot(q, r)
            subtract(r, c[count], q)
            error = dot(r, r)
            chosen[count] = new
            count += 1
        _solve_upper(R, c, count, a)


@njit(nogil=True)
def _solve_upper(R, c, count, out):
    """Solve R a = c for the upper triangle of ``count`` rows."""
    for t in range(count - 1, -1, -1):
        value = c[t]
        for s in range(t + 1, count):
            value -= R[t, s] * out[s]
        out[t] = value / R[t, t]


@njit(nogil=True)
def plain_pursuits(X, G, B, goals, max_iter, codes):
    """Matching pursuit without re-fitting: the best atom takes its share, again and again."""
    for i in range(X.shape[0]):
        alpha = B[i]
        energy = dot(X[i], X[i])
        error = energy
        for _ in range(max_iter):
            # The error is a difference of squares: below its rounding it says nothing.
            if error <= max(goals[i] * goals[i], 1e-15 * energy):
                break
            best = _largest(alpha)
            share = alpha[best]
            if abs(share) <= NOTHING * np.sqrt(energy):
                break
            codes[i, best] += share
            error -= share * share
            subtract(alpha, share, G[best])
