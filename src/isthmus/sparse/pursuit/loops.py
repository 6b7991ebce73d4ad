"""Compiled loops of matching pursuits and of pursuits with gaps: one signal after another.

Atoms are rows with unit length. Nothing is allocated inside a loop over signals.
"""

import numpy as np

from isthmus._compiled import njit

# Sums may be taken in any order, so that they run in vector registers.
SUMS = {"reassoc", "contract", "nsz"}
# An atom this near to the span of the chosen ones (squared distance) adds nothing but noise.
PIVOT = 1e-10
# Correlations below this share of the signal are rounding errors.
NOTHING = 1e-12


@njit(nogil=True, fastmath=SUMS, inner=True)
def dot(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(nogil=True, inner=True)
def copy(source, out):
    """A loop: the assignment of a slice checks shapes, and compiles three times as long."""
    for j in range(out.shape[0]):
        out[j] = source[j]


@njit(nogil=True, fastmath=SUMS, inner=True)
def subtract(out, weight, row):
    for j in range(out.shape[0]):
        out[j] -= weight * row[j]


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
def masked_pursuits(X, observed, columns, goals, support, coef, sums, Q, R):
    """Orthogonal pursuits on the observed entries alone, one set of them for each signal.

    ``columns`` is the transposed dictionary (n_features, n_atoms). Atoms are compared by
    ⟨d, r⟩²/‖d‖² over the observed entries, which is what a pursuit of rescaled atoms does; the
    coefficients belong to the whole atoms. ``sums`` is memory for two lines of all atoms. For s
    chosen ones, ``Q`` is memory for an orthonormal basis, zero where nothing is observed, and the
    residual (s + 1, n_features), ``R`` for its factor and the products with the signal (s + 1, s).
    """
    n_nonzero = support.shape[1]
    p, k = columns.shape
    alpha, seen, c, r = sums[0], sums[1], R[n_nonzero], Q[n_nonzero]
    for i in range(X.shape[0]):
        chosen, a = support[i], coef[i]
        for t in range(n_nonzero):
            chosen[t] = -1
            a[t] = 0.0
        for j in range(k):
            seen[j] = 0.0
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
            for j in range(k):
                alpha[j] = 0.0
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
            for s in range(count):
                R[s, count] = 0.0
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
