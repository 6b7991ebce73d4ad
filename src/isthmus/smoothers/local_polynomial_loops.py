"""Compiled loops of local polynomial regression: one weighted least-squares fit a query."""

import numpy as np
from numba import njit

# A pivot of the Cholesky factor below this share of its diagonal entry has no correct digits.
SMALLEST_PIVOT = 1e-13
# Largest sum of squared weights, the variance of a prediction in units of that of the noise.
# A parabola through three equidistant points has 19 one step beyond them, a line through two 5.
LARGEST_VARIANCE = 25.0


@njit(cache=True, nogil=True)
def n_terms(degree, cross, q):
    """Length of the design vector: 1, q+1, 2q+1 or (q+1)(q+2)/2."""
    if degree == 0:
        return 1
    if degree == 1:
        return q + 1
    return (q + 1) * (q + 2) // 2 if cross else 2 * q + 1


@njit(cache=True, nogil=True)
def _design(center, query, n, xi):
    """Fill ``xi`` with the first n of (1, dx, dx_m^2, dx_m dx_l for m < l)."""
    q = query.shape[0]
    xi[0] = 1.0
    if n == 1:
        return
    for m in range(q):
        xi[1 + m] = center[m] - query[m]
    if n == q + 1:
        return
    for m in range(q):
        xi[1 + q + m] = xi[1 + m] * xi[1 + m]
    if n == 2 * q + 1:
        return
    place = 2 * q + 1
    for m in range(q):
        for other in range(m + 1, q):
            xi[place] = xi[1 + m] * xi[1 + other]
            place += 1


@njit(cache=True, nogil=True)
def _design_slope(xi, m, n, q, v):
    """Return chi_m v, where chi_m is the derivative of the design vector by dx_m."""
    if n == 1:
        return 0.0
    total = v[1 + m]
    if n == q + 1:
        return total
    total += 2.0 * xi[1 + m] * v[1 + q + m]
    if n == 2 * q + 1:
        return total
    place = 2 * q + 1
    for a in range(q):
        for b in range(a + 1, q):
            if a == m:
                total += xi[1 + b] * v[place]
            elif b == m:
                total += xi[1 + a] * v[place]
            place += 1
    return total


@njit(cache=True, nogil=True)
def _cholesky(C, n):
    """Factor the leading n x n block in place, lower triangle; False where it is singular."""
    for a in range(n):
        diagonal = C[a, a]
        for c in range(a):
            C[a, a] -= C[a, c] * C[a, c]
        if not C[a, a] > SMALLEST_PIVOT * diagonal:
            return False
        C[a, a] = np.sqrt(C[a, a])
        for b in range(a + 1, n):
            total = C[b, a]
            for c in range(a):
                total -= C[b, c] * C[a, c]
            C[b, a] = total / C[a, a]
    return True


@njit(cache=True, nogil=True)
def _solve(C, n, x):
    """Solve with the factor of ``_cholesky``; ``x`` is overwritten."""
    for a in range(n):
        for c in range(a):
            x[a] -= C[a, c] * x[c]
        x[a] /= C[a, a]
    for a in range(n - 1, -1, -1):
        for c in range(a + 1, n):
            x[a] -= C[c, a] * x[c]
        x[a] /= C[a, a]


@njit(cache=True, nogil=True)
def _local_fit(k, centers, query, degree, cross, ridge, C, xi, u, b):
    """Fill ``b`` with the weights of the outputs at one query; return the number of terms.

    ``C`` becomes the Cholesky factor of sum_i k_i xi_i xi_i', ``u`` its solution for the first
    unit vector. The degree falls until the factor exists and the weights bear noise.
    """
    q = query.shape[0]
    while degree > 0:
        n = n_terms(degree, cross, q)
        degree -= 1
        C[:n, :n] = 0.0
        for i in range(k.shape[0]):
            if k[i] > 0.0:
                _design(centers[i], query, n, xi)
                for a in range(n):
                    weighted = k[i] * xi[a]
                    for c in range(a + 1):
                        C[a, c] += weighted * xi[c]
        trace = 0.0
        for a in range(n):
            trace += C[a, a]
        for a in range(1, n):
            C[a, a] += ridge * trace / n
        if not _cholesky(C, n):
            continue
        u[:n] = 0.0
        u[0] = 1.0
        _solve(C, n, u)
        squares = 0.0
        for i in range(k.shape[0]):
            b[i] = 0.0
            if k[i] > 0.0:
                _design(centers[i], query, n, xi)
                for a in range(n):
                    b[i] += xi[a] * u[a]
                b[i] *= k[i]
                squares += b[i] * b[i]
        if squares <= LARGEST_VARIANCE:
            return n
    total = k.sum()
    C[0, 0] = np.sqrt(total)
    u[0] = 1.0 / total
    for i in range(k.shape[0]):
        b[i] = k[i] / total
    return 1


@njit(cache=True, nogil=True)
def smoother_rows(K, centers, queries, degree, cross, ridge):
    """Weights of the outputs and the number of polynomial terms used, for every query."""
    largest = n_terms(degree, cross, centers.shape[1])
    C, xi, u = np.empty((largest, largest)), np.empty(largest), np.empty(largest)
    weights = np.empty_like(K)
    used = np.empty(K.shape[0], dtype=np.int64)
    for j in range(K.shape[0]):
        used[j] = _local_fit(K[j], centers, queries[j], degree, cross, ridge, C, xi, u, weights[j])
    return weights, used


@njit(cache=True, nogil=True)
def slope_rows(K, H, centers, queries, degree, cross, ridge):
    """Derivatives of the weights by the query, shape (queries, centres, q).

    With G_im = H_i dx_m a_i they are G - K Xi C^-1 (Xi' G - E), where E picks the linear terms.
    """
    q = centers.shape[1]
    largest = n_terms(degree, cross, q)
    C, xi, u = np.empty((largest, largest)), np.empty(largest), np.empty(largest)
    R, b = np.empty((q, largest)), np.empty(K.shape[1])
    J = np.zeros((K.shape[0], K.shape[1], q))
    for j in range(K.shape[0]):
        k, query = K[j], queries[j]
        n = _local_fit(k, centers, query, degree, cross, ridge, C, xi, u, b)
        R[:, :n] = 0.0
        for i in range(k.shape[0]):
            if H[j, i] > 0.0:
                _design(centers[i], query, n, xi)
                a = 0.0
                for c in range(n):
                    a += xi[c] * u[c]
                for m in range(q):
                    J[j, i, m] = H[j, i] * (centers[i, m] - query[m]) * a
                    for c in range(n):
                        R[m, c] += J[j, i, m] * xi[c]
        for m in range(q):
            if n > 1:
                R[m, 1 + m] -= 1.0
            _solve(C, n, R[m])
        for i in range(k.shape[0]):
            if k[i] > 0.0:
                _design(centers[i], query, n, xi)
                for m in range(q):
                    total = 0.0
                    for c in range(n):
                        total += xi[c] * R[m, c]
                    J[j, i, m] -= k[i] * total
    return J


@njit(cache=True, nogil=True)
def scale_gradient(K, H, M, centers, queries, degree, cross, ridge):
    """Gradient of sum_j d_j . f(x_j) by the logarithm of a factor of each coordinate.

    The factor stretches centres and queries alike; M[j, i] = d_j . y_i.
    """
    q = centers.shape[1]
    largest = n_terms(degree, cross, q)
    C, xi = np.empty((largest, largest)), np.empty(largest)
    u, v, b = np.empty(largest), np.empty(largest), np.empty(K.shape[1])
    found = np.zeros(q)
    for j in range(K.shape[0]):
        k, query = K[j], queries[j]
        n = _local_fit(k, centers, query, degree, cross, ridge, C, xi, u, b)
        v[:n] = 0.0
        for i in range(k.shape[0]):
            if k[i] > 0.0:
                _design(centers[i], query, n, xi)
                for c in range(n):
                    v[c] += k[i] * M[j, i] * xi[c]
        _solve(C, n, v)
        for i in range(k.shape[0]):
            if k[i] > 0.0 or H[j, i] > 0.0:
                _design(centers[i], query, n, xi)
                a, local = 0.0, 0.0
                for c in range(n):
                    a += xi[c] * u[c]
                    local += xi[c] * v[c]
                left = M[j, i] - local
                for m in range(q):
                    dx = centers[i, m] - query[m]
                    found[m] -= left * a * H[j, i] * dx * dx
                    if n > 1:
                        found[m] += (k[i] * dx) * (
                            left * _design_slope(xi, m, n, q, u) - a * _design_slope(xi, m, n, q, v)
                        )
    return found
