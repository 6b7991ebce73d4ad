"""Compiled loops over pairs (point, centre) of local polynomials.

Pairs are listed point by point: those of point ``j`` are ``indptr[j]:indptr[j + 1]``, with the
number of the centre in ``indices`` and kernel values ``K`` and slopes ``H``. Where every point is
paired with every centre, local polynomials take an empty list of numbers. ``shape`` is the tuple
that :meth:`LocalSmoother.settings` returns.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import cholesky, cholesky_solve

# A pivot of the Cholesky factor below this share of its diagonal entry has no correct digits.
SMALLEST_PIVOT = 1e-13
# Largest sum of squared weights, the variance of a prediction in units of that of the noise.
# A parabola through three equidistant points has 19 one step beyond them, a line through two 5.
LARGEST_VARIANCE = 25.0


@njit(nogil=True)
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
            for p in range(at):
                grown[p], grown_squared[p] = indices[p], squared[p]
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


@njit(nogil=True)
def exclude(indptr, indices, excluded, K, H):
    """Set the weights of centres that may not help to reconstruct a point to zero."""
    for j in range(excluded.shape[0]):
        for p in range(indptr[j], indptr[j + 1]):
            for e in excluded[j]:
                if indices[p] == e:
                    K[p] = 0.0
                    H[p] = 0.0
                    break


@njit(nogil=True)
def pair_products(indptr, indices, D, Y):
    """Inner products d_j · y_i of the listed pairs."""
    d = Y.shape[1]
    M = np.empty(len(indices))
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            y = Y[indices[p]]
            total = 0.0
            for k in range(d):
                total += D[j, k] * y[k]
            M[p] = total
    return M


@njit(nogil=True)
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


@njit(nogil=True)
def n_terms(degree, cross, q):
    """Length of the design vector: 1, q+1, 2q+1 or (q+1)(q+2)/2."""
    if degree == 0:
        return 1
    if degree == 1:
        return q + 1
    return (q + 1) * (q + 2) // 2 if cross else 2 * q + 1


@njit(nogil=True)
def _design(x, centre, n, xi):
    """Fill ``xi`` with the first n of 1, linear terms, squares, products of ``centre - x``."""
    q = len(x)
    xi[0] = 1.0
    if n == 1:
        return
    for m in range(q):
        xi[1 + m] = centre[m] - x[m]
    if n == q + 1:
        return
    for m in range(q):
        xi[1 + q + m] = xi[1 + m] * xi[1 + m]
    if n == 2 * q + 1:
        return
    at = 1 + 2 * q
    for m in range(q):
        for other in range(m + 1, q):
            xi[at] = xi[1 + m] * xi[1 + other]
            at += 1


@njit(nogil=True)
def _slope(coef, xi, q, n, out):
    """Gradient of the polynomial with these n coefficients at the difference in ``xi``."""
    for m in range(q):
        out[m] = coef[1 + m] if n > 1 else 0.0
    if n > q + 1:
        for m in range(q):
            out[m] += 2.0 * coef[1 + q + m] * xi[1 + m]
    if n > 2 * q + 1:
        at = 1 + 2 * q
        for m in range(q):
            for other in range(m + 1, q):
                out[m] += coef[at] * xi[1 + other]
                out[other] += coef[at] * xi[1 + m]
                at += 1


@njit(nogil=True)
def _centre(indices, p, start):
    """Number of the centre of pair p; where all pairs are there, no list is needed."""
    return indices[p] if len(indices) else p - start


@njit(nogil=True)
def _factored_moments(j, indptr, indices, K, Xe, Xc, n, shape, xi, C):
    """Factor of sum K xi xi' over the pairs of a point; False where it is singular."""
    _, _, ridge, background, adaptive = shape
    C[:n, :n] = 0.0
    C[0, 0] = background
    for p in range(indptr[j], indptr[j + 1]):
        if K[p] == 0.0:
            continue
        _design(Xe[j], Xc[_centre(indices, p, indptr[j])], n, xi)
        for a in range(n):
            weighted = K[p] * xi[a]
            for c in range(a + 1):
                C[a, c] += weighted * xi[c]
    if adaptive:
        trace = 0.0
        for a in range(n):
            trace += C[a, a]
        for a in range(1, n):
            C[a, a] += ridge * trace / n
        return cholesky(C, n, SMALLEST_PIVOT)
    for a in range(1, n):
        # Half on products: then the ridge on second derivatives is the same in all directions.
        C[a, a] += ridge if a <= 2 * Xe.shape[1] else 0.5 * ridge
    return cholesky(C, n, 0.0)


@njit(nogil=True)
def _fit(j, indptr, indices, K, Xe, Xc, shape, xi, C, u, b, weigh):
    """Fit around point j; return the number of terms, 0 where nothing is near.

    ``C`` becomes the Cholesky factor of the moments, ``u`` their solution for the first unit
    vector, ``b`` (of the pairs of all points) the weights of the outputs, if ``weigh``. An
    adaptive fit lowers the degree until the factor exists and the weights bear noise.
    """
    degree, cross, _, _, adaptive = shape
    q, start, stop = Xe.shape[1], indptr[j], indptr[j + 1]
    while degree > 0 or not adaptive:
        n = n_terms(degree, cross, q)
        degree -= 1
        if _factored_moments(j, indptr, indices, K, Xe, Xc, n, shape, xi, C):
            u[:n] = 0.0
            u[0] = 1.0
            cholesky_solve(C, n, u)
            if not adaptive and not weigh:
                return n
            squares = 0.0
            for p in range(start, stop):
                b[p] = 0.0
                if K[p] == 0.0:
                    continue
                _design(Xe[j], Xc[_centre(indices, p, indptr[j])], n, xi)
                for a in range(n):
                    b[p] += xi[a] * u[a]
                b[p] *= K[p]
                squares += b[p] * b[p]
            if not adaptive or squares <= LARGEST_VARIANCE:
                return n
        elif not adaptive:
            break
    total = 0.0
    for p in range(start, stop):
        total += K[p]
    if not adaptive or total == 0.0:
        b[start:stop] = 0.0
        return 0
    C[0, 0] = np.sqrt(total)
    u[0] = 1.0 / total
    for p in range(start, stop):
        b[p] = K[p] / total
    return 1


@njit(nogil=True)
def polynomial_weights(indptr, indices, K, Xe, Xc, shape, b):
    """Fill ``b`` with weights of the outputs; return the number of terms used at every point."""
    largest = n_terms(shape[0], shape[1], Xe.shape[1])
    xi, C, u = np.empty(largest), np.empty((largest, largest)), np.empty(largest)
    used = np.empty(len(indptr) - 1, np.int64)
    for j in range(len(indptr) - 1):
        used[j] = _fit(j, indptr, indices, K, Xe, Xc, shape, xi, C, u, b, True)
    return used


@njit(nogil=True)
def weight_slopes(indptr, indices, K, H, Xe, Xc, shape, b, slopes):
    """Fill ``b`` with weights and ``slopes`` (q, pairs) with their derivatives by the point.

    Returns the number of terms used. With a = xi'u and w = H a dx - K grad(a) they are
    w + K xi' C^-1 (sum b grad(xi) - sum w xi).
    """
    q = Xe.shape[1]
    largest = n_terms(shape[0], shape[1], q)
    xi, C, u = np.empty(largest), np.empty((largest, largest)), np.empty(largest)
    used = np.empty(len(indptr) - 1, np.int64)
    slope_u, through = np.empty(q), np.empty((q, largest))
    for j in range(len(indptr) - 1):
        n = used[j] = _fit(j, indptr, indices, K, Xe, Xc, shape, xi, C, u, b, False)
        if n == 0:
            slopes[:, indptr[j] : indptr[j + 1]] = 0.0
            continue
        through[:] = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                b[p] = 0.0
                for m in range(q):
                    slopes[m, p] = 0.0
                continue
            i = _centre(indices, p, indptr[j])
            _design(Xe[j], Xc[i], n, xi)
            a_i = 0.0
            for a in range(n):
                a_i += xi[a] * u[a]
            b[p] = K[p] * a_i
            _slope(u, xi, q, n, slope_u)
            for m in range(q):
                w = H[p] * a_i * (Xc[i, m] - Xe[j, m]) - K[p] * slope_u[m]
                slopes[m, p] = w
                for a in range(n):
                    through[m, a] -= w * xi[a]
                if n > 1:
                    through[m, 1 + m] += b[p]
                if n > q + 1:
                    through[m, 1 + q + m] += 2.0 * b[p] * xi[1 + m]
            if n > 2 * q + 1:
                at = 1 + 2 * q
                for m in range(q):
                    for other in range(m + 1, q):
                        through[m, at] += b[p] * xi[1 + other]
                        through[other, at] += b[p] * xi[1 + m]
                        at += 1
        for m in range(q):
            cholesky_solve(C, n, through[m])
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                continue
            _design(Xe[j], Xc[_centre(indices, p, indptr[j])], n, xi)
            for m in range(q):
                total = 0.0
                for a in range(n):
                    total += xi[a] * through[m, a]
                slopes[m, p] += K[p] * total
    return used


@njit(nogil=True)
def pull_back_loop(indptr, indices, K, H, M, Xe, Xc, shape, b, by_centre):
    """Gradient of sum_j d_j · f(x_j) by the points; that by the centres is added to ``by_centre``.

    M holds d_j · y_i on the pairs; ``b`` is room for weights.
    """
    q = Xe.shape[1]
    largest = n_terms(shape[0], shape[1], q)
    xi, C = np.empty(largest), np.empty((largest, largest))
    u, v = np.empty(largest), np.empty(largest)
    by_point = np.zeros(Xe.shape)
    slope_u, slope_v = np.empty(q), np.empty(q)
    for j in range(len(indptr) - 1):
        n = _fit(j, indptr, indices, K, Xe, Xc, shape, xi, C, u, b, False)
        if n == 0:
            continue
        v[:n] = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                continue
            _design(Xe[j], Xc[_centre(indices, p, indptr[j])], n, xi)
            for a in range(n):
                v[a] += K[p] * M[p] * xi[a]
        cholesky_solve(C, n, v)
        for p in range(indptr[j], indptr[j + 1]):
            if K[p] == 0.0:
                continue
            i = _centre(indices, p, indptr[j])
            _design(Xe[j], Xc[i], n, xi)
            a_i, c_i = 0.0, 0.0
            for a in range(n):
                a_i += xi[a] * u[a]
                c_i += xi[a] * v[a]
            rest = M[p] - c_i
            _slope(u, xi, q, n, slope_u)
            _slope(v, xi, q, n, slope_v)
            for m in range(q):
                g = -rest * a_i * H[p] * (Xc[i, m] - Xe[j, m])
                g += K[p] * (rest * slope_u[m] - a_i * slope_v[m])
                by_centre[i, m] += g
                by_point[j, m] -= g
    return by_point
