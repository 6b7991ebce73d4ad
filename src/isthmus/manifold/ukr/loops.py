"""Compiled loops over pairs (evaluation point, centre) of unsupervised kernel regression.

Pairs are listed row by row: those of evaluation point ``j`` are ``indptr[j]:indptr[j + 1]``,
with the number of the centre in ``indices`` and kernel values ``K`` and slopes ``H``.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def pairs_within(Xe, C, order, axis, support, most):
    """Pairs of squared distance below ``support``: ends of rows, centres, distances.

    ``C`` holds a coordinate in each row, with centres sorted by that of number ``axis``;
    ``order`` says which centre is where. Nothing is listed once there are more than ``most``.
    """
    (m, q), n = Xe.shape, C.shape[1]
    radius = np.sqrt(support)
    indptr = np.zeros(m + 1, np.int32)
    room = 16 * m + n
    indices, squared = np.empty(room, np.int32), np.empty(room)
    row = np.empty(n)
    at = 0
    for j in range(m):
        low, high = 0, n
        if radius < np.inf:
            low = np.searchsorted(C[axis], Xe[j, axis] - radius)
            high = np.searchsorted(C[axis], Xe[j, axis] + radius, side="right")
        row[low:high] = 0.0
        for k in range(q):
            x, line = Xe[j, k], C[k]
            for i in range(low, high):
                step = line[i] - x
                row[i] += step * step
        if at + high - low > room:
            room = 2 * room + n
            grown, grown_squared = np.empty(room, np.int32), np.empty(room)
            grown[:at], grown_squared[:at] = indices[:at], squared[:at]
            indices, squared = grown, grown_squared
        for i in range(low, high):
            # Written always and kept if near: no branch to guess wrong.
            indices[at], squared[at] = order[i], row[i]
            at += row[i] < support
        if at > most:
            return indptr[:0], indices[:0], squared[:0]
        indptr[j + 1] = at
    # Copies, so that the room to grow is given back.
    return indptr, indices[:at].copy(), squared[:at].copy()


@njit(cache=True, nogil=True)
def exclude(indptr, indices, excluded, K, H):
    """Set the weights of centres that may not help to reconstruct a point to zero."""
    for j in range(excluded.shape[0]):
        for p in range(indptr[j], indptr[j + 1]):
            for e in excluded[j]:
                if indices[p] == e:
                    K[p] = 0.0
                    H[p] = 0.0
                    break


@njit(cache=True, nogil=True)
def pair_slopes(indptr, indices, H, S, D, F, Y):
    """Q = H / S · d_j (y_i - f_j) on the listed pairs: local constants."""
    d = Y.shape[1]
    Q = np.zeros(len(indices))
    for j in range(len(indptr) - 1):
        if S[j] <= 0.0:
            continue
        offset = 0.0
        for k in range(d):
            offset += D[j, k] * F[j, k]
        for p in range(indptr[j], indptr[j + 1]):
            if H[p] != 0.0:
                y = Y[indices[p]]
                total = 0.0
                for k in range(d):
                    total += D[j, k] * y[k]
                Q[p] = H[p] / S[j] * (total - offset)
    return Q


@njit(cache=True, nogil=True)
def _design(x, centre, degree, cross, xi):
    """Powers of the difference ``centre - x``: 1, linear, squares, products."""
    q = len(x)
    xi[0] = 1.0
    for m in range(q):
        xi[1 + m] = centre[m] - x[m]
    if degree == 2:
        for m in range(q):
            xi[1 + q + m] = xi[1 + m] * xi[1 + m]
        if cross:
            at = 1 + 2 * q
            for m in range(q):
                for n in range(m + 1, q):
                    xi[at] = xi[1 + m] * xi[1 + n]
                    at += 1


@njit(cache=True, nogil=True)
def _slope(coef, xi, q, degree, cross, out):
    """Gradient of the polynomial with these coefficients at the difference in ``xi``."""
    for m in range(q):
        out[m] = coef[1 + m]
    if degree == 2:
        for m in range(q):
            out[m] += 2.0 * coef[1 + q + m] * xi[1 + m]
        if cross:
            at = 1 + 2 * q
            for m in range(q):
                for n in range(m + 1, q):
                    out[m] += coef[at] * xi[1 + n]
                    out[n] += coef[at] * xi[1 + m]
                    at += 1


@njit(cache=True, nogil=True)
def _cholesky(C):
    """Lower factor in place; False where the matrix is singular."""
    n = C.shape[0]
    for a in range(n):
        for b in range(a + 1):
            total = C[a, b]
            for c in range(b):
                total -= C[a, c] * C[b, c]
            if a == b:
                if not total > 0.0:
                    return False
                C[a, a] = np.sqrt(total)
            else:
                C[a, b] = total / C[b, b]
    return True


@njit(cache=True, nogil=True)
def _solve(L, b):
    """Solve L Lᵀ x = b in place."""
    n = L.shape[0]
    for a in range(n):
        for c in range(a):
            b[a] -= L[a, c] * b[c]
        b[a] /= L[a, a]
    for a in range(n - 1, -1, -1):
        for c in range(a + 1, n):
            b[a] -= L[c, a] * b[c]
        b[a] /= L[a, a]


@njit(cache=True, nogil=True)
def _moments(j, indptr, indices, K, Xe, Xc, degree, cross, ridge, background, xi, C):
    """Factor of Σ K ξ ξᵀ, plus the background on the constant and the ridge on the others.

    False where the matrix is singular: nothing is near.
    """
    C[:] = 0.0
    C[0, 0] = background
    n = C.shape[0]
    for p in range(indptr[j], indptr[j + 1]):
        if K[p] == 0.0:
            continue
        _design(Xe[j], Xc[indices[p]], degree, cross, xi)
        for a in range(n):
            for b in range(a + 1):
                C[a, b] += K[p] * xi[a] * xi[b]
    for a in range(1, n):
        # Half on products: then the ridge on second derivatives is the same in all directions.
        C[a, a] += ridge if a <= 2 * Xe.shape[1] else 0.5 * ridge
    return _cholesky(C)


@njit(cache=True, nogil=True)
def polynomial_values(indptr, indices, K, Xe, Xc, Y, degree, cross, ridge, background, n_terms):
    """Local polynomial fits at the evaluation points, (m, d); zero where nothing is near."""
    F = np.zeros((len(indptr) - 1, Y.shape[1]))
    xi, u, C = np.empty(n_terms), np.empty(n_terms), np.empty((n_terms, n_terms))
    for j in range(len(indptr) - 1):
        if not _moments(j, indptr, indices, K, Xe, Xc, degree, cross, ridge, background, xi, C):
            continue
        u[:] = 0.0
        u[0] = 1.0
        _solve(C, u)
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                continue
            _design(Xe[j], Xc[indices[p]], degree, cross, xi)
            weight = 0.0
            for a in range(n_terms):
                weight += xi[a] * u[a]
            weight *= K[p]
            y = Y[indices[p]]
            for k in range(Y.shape[1]):
                F[j, k] += weight * y[k]
    return F


@njit(cache=True, nogil=True)
def polynomial_gradients(
    indptr, indices, K, H, Xe, Xc, Y, D, degree, cross, ridge, background, n_terms, outputs_too
):
    """Adjoint of the local fits: gradients by evaluation point, by centre and, if asked, output."""
    q, d = Xe.shape[1], Y.shape[1]
    by_point, by_centre, by_output = np.zeros(Xe.shape), np.zeros(Xc.shape), np.zeros(Y.shape)
    xi, C = np.empty(n_terms), np.empty((n_terms, n_terms))
    u, v = np.empty(n_terms), np.empty(n_terms)
    slope_u, slope_v = np.empty(q), np.empty(q)
    products = np.empty(Xc.shape[0])  # m_i = d_j · y_i of the pairs of point j
    for j in range(len(indptr) - 1):
        if not _moments(j, indptr, indices, K, Xe, Xc, degree, cross, ridge, background, xi, C):
            continue
        u[:] = 0.0
        u[0] = 1.0
        _solve(C, u)
        v[:] = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                continue
            y = Y[indices[p]]
            total = 0.0
            for k in range(d):
                total += D[j, k] * y[k]
            products[p - indptr[j]] = total
            _design(Xe[j], Xc[indices[p]], degree, cross, xi)
            for a in range(n_terms):
                v[a] += K[p] * total * xi[a]
        _solve(C, v)
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                continue
            i = indices[p]
            _design(Xe[j], Xc[i], degree, cross, xi)
            a_i, c_i = 0.0, 0.0
            for a in range(n_terms):
                a_i += xi[a] * u[a]
                c_i += xi[a] * v[a]
            rest = products[p - indptr[j]] - c_i
            _slope(u, xi, q, degree, cross, slope_u)
            _slope(v, xi, q, degree, cross, slope_v)
            for m in range(q):
                g = -rest * a_i * H[p] * xi[1 + m]
                g += K[p] * (rest * slope_u[m] - a_i * slope_v[m])
                by_centre[i, m] += g
                by_point[j, m] -= g
            if outputs_too:
                for k in range(d):
                    by_output[i, k] += K[p] * a_i * D[j, k]
    return by_point, by_centre, by_output


@njit(cache=True, nogil=True)
def polynomial_jacobians(
    indptr, indices, K, H, Xe, Xc, Y, degree, cross, ridge, background, n_terms
):
    """Local fits and their derivatives by the evaluation point, (m, d) and (m, d, q)."""
    m, q, d = Xe.shape[0], Xe.shape[1], Y.shape[1]
    F, J = np.zeros((m, d)), np.zeros((m, d, q))
    xi, C, u = np.empty(n_terms), np.empty((n_terms, n_terms)), np.empty(n_terms)
    slope_u, weight = np.empty(q), np.empty(q)
    V = np.empty((d, n_terms))  # coefficients of the local polynomials
    through = np.empty((n_terms, q))  # what moves C⁻¹: Σ b ∂ξ - Σ w ξ
    for j in range(m):
        if not _moments(j, indptr, indices, K, Xe, Xc, degree, cross, ridge, background, xi, C):
            continue
        u[:] = 0.0
        u[0] = 1.0
        _solve(C, u)
        V[:] = 0.0
        through[:] = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                continue
            y = Y[indices[p]]
            _design(Xe[j], Xc[indices[p]], degree, cross, xi)
            a_i = 0.0
            for a in range(n_terms):
                a_i += xi[a] * u[a]
            _slope(u, xi, q, degree, cross, slope_u)
            b_i = K[p] * a_i
            for n in range(q):
                weight[n] = H[p] * a_i * xi[1 + n] - K[p] * slope_u[n]
                for a in range(n_terms):
                    through[a, n] -= weight[n] * xi[a]
                through[1 + n, n] += b_i
                if degree == 2:
                    through[1 + q + n, n] += 2.0 * b_i * xi[1 + n]
            if degree == 2 and cross:
                at = 1 + 2 * q
                for n in range(q):
                    for o in range(n + 1, q):
                        through[at, n] += b_i * xi[1 + o]
                        through[at, o] += b_i * xi[1 + n]
                        at += 1
            for k in range(d):
                F[j, k] += b_i * y[k]
                for a in range(n_terms):
                    V[k, a] += K[p] * xi[a] * y[k]
                for n in range(q):
                    J[j, k, n] += weight[n] * y[k]
        for k in range(d):
            _solve(C, V[k])
            for n in range(q):
                for a in range(n_terms):
                    J[j, k, n] += V[k, a] * through[a, n]
    return F, J
