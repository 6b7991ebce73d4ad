"""Compiled loops over pairs (point, centre) of local polynomials.

Pairs are listed point by point: those of point ``j`` are ``indptr[j]:indptr[j + 1]``, with the
number of the centre in ``indices`` and kernel values ``K`` and slopes ``H``. Where every point is
paired with every centre, local polynomials take an empty list of numbers. ``shape`` is the tuple
that :meth:`LocalSmoother.settings` returns.
"""

from typing import Any

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import cholesky, cholesky_solve
from isthmus.typing import Array, IntArray

# A pivot of the Cholesky factor below this share of its diagonal entry has no correct digits.
SMALLEST_PIVOT = 1e-13
# Largest sum of squared weights, the variance of a prediction in units of that of the noise.
# A parabola through three equidistant points has 19 one step beyond them, a line through two 5.
LARGEST_VARIANCE = 25.0


def n_terms(degree: int, cross: bool, q: int) -> int:
    """Length of the design vector: 1, q+1, 2q+1 or (q+1)(q+2)/2."""
    if degree == 0:
        return 1
    if degree == 1:
        return q + 1
    return (q + 1) * (q + 2) // 2 if cross else 2 * q + 1


_n_terms = njit(nogil=True)(n_terms)


@njit(nogil=True)
def _design(j, start, stop, indices, Xe, Xc, n, T):
    """Fill T with n terms of the pairs of point j: 1, centre minus point, squares, products.

    A term is a row, so that every loop below runs along pairs without a jump. The linear terms
    are always filled in. Where all pairs are there, no list of centres is needed.
    """
    q, count = Xe.shape[1], stop - start
    for p in range(count):
        T[0, p] = 1.0
    for m in range(q):
        x = Xe[j, m]
        if len(indices):
            for p in range(count):
                T[1 + m, p] = Xc[indices[start + p], m] - x
        else:
            for p in range(count):
                T[1 + m, p] = Xc[p, m] - x
    if n <= q + 1:
        return
    for m in range(q):
        for p in range(count):
            T[1 + q + m, p] = T[1 + m, p] * T[1 + m, p]
    if n <= 2 * q + 1:
        return
    at = 1 + 2 * q
    for m in range(q):
        for other in range(m + 1, q):
            for p in range(count):
                T[at, p] = T[1 + m, p] * T[1 + other, p]
            at += 1


@njit(nogil=True)
def _combine(coef, n, T, count, out):
    """Values of the polynomial with these n coefficients, at all pairs."""
    for p in range(count):
        out[p] = coef[0]
    for a in range(1, n):
        c = coef[a]
        for p in range(count):
            out[p] += c * T[a, p]


@njit(nogil=True)
def _slope(coef, n, q, m, T, count, out):
    """Derivative of that polynomial by coordinate m, at all pairs."""
    constant = coef[1 + m] if n > 1 else 0.0
    for p in range(count):
        out[p] = constant
    if n > q + 1:
        c = 2.0 * coef[1 + q + m]
        for p in range(count):
            out[p] += c * T[1 + m, p]
    if n > 2 * q + 1:
        at = 1 + 2 * q
        for first in range(q):
            for second in range(first + 1, q):
                if m == first:
                    other = second
                elif m == second:
                    other = first
                else:
                    other = -1
                if other >= 0:
                    c = coef[at]
                    for p in range(count):
                        out[p] += c * T[1 + other, p]
                at += 1


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _moments(weights, start, n, T, count, out):
    """Fill ``out`` with the sums of weight times term; weights of the pairs from ``start`` on."""
    # A slice has no place before its start: without the question the loop runs in registers.
    some = weights[start : start + count]
    for a in range(n):
        term, total = T[a], 0.0
        for p in range(count):
            total += some[p] * term[p]
        out[a] = total


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _weigh(K, start, row, count, b):
    """Weights of the outputs, kernel value times polynomial, and the sum of their squares."""
    values, weights, squares = K[start : start + count], b[start : start + count], 0.0
    for p in range(count):
        weight = values[p] * row[p]
        weights[p] = weight
        squares += weight * weight
    return squares


@njit(nogil=True)
def _factored_moments(K, start, T, count, n, q, shape, row, C):
    """Factor of sum K xi xi' over the pairs of a point; False where it is singular."""
    _, _, ridge, background, adaptive = shape
    values = K[start : start + count]
    for a in range(n):
        term = T[a]
        for p in range(count):
            row[p] = values[p] * term[p]
        _moments(row, 0, a + 1, T, count, C[a])
    C[0, 0] += background
    if adaptive:
        trace = 0.0
        for a in range(n):
            trace += C[a, a]
        for a in range(1, n):
            C[a, a] += ridge * trace / n
        return cholesky(C, n, SMALLEST_PIVOT)
    for a in range(1, n):
        # Half on products: then the ridge on second derivatives is the same in all directions.
        C[a, a] += ridge if a <= 2 * q else 0.5 * ridge
    return cholesky(C, n, 0.0)


@njit(nogil=True)
def _fit(start, stop, K, q, shape, T, row, C, u, b, weigh):
    """Fit around a point whose terms are in T; return the number of them, 0 if nothing is near.

    ``C`` becomes the Cholesky factor of the moments, ``u`` their solution for the first unit
    vector, ``b`` (of the pairs of all points) the weights of the outputs, if ``weigh``. An
    adaptive fit lowers the degree until the factor exists and the weights bear noise.
    """
    degree, cross, _, _, adaptive = shape
    count = stop - start
    while degree > 0 or not adaptive:
        n = _n_terms(degree, cross, q)
        degree -= 1
        if _factored_moments(K, start, T, count, n, q, shape, row, C):
            for a in range(n):
                u[a] = 1.0 if a == 0 else 0.0
            cholesky_solve(C, n, u)
            if not adaptive and not weigh:
                return n
            _combine(u, n, T, count, row)
            squares = _weigh(K, start, row, count, b)
            if not adaptive or squares <= LARGEST_VARIANCE:
                return n
        elif not adaptive:
            break
    total = 0.0
    for p in range(start, stop):
        total += K[p]
    if not adaptive or total == 0.0:
        for p in range(start, stop):
            b[p] = 0.0
        return 0
    C[0, 0] = np.sqrt(total)
    u[0] = 1.0 / total
    for p in range(start, stop):
        b[p] = K[p] / total
    return 1


def _room(indptr: IntArray, shape: Any, q: int) -> tuple[Array, Array, Array]:
    """Room for the terms of one point, lines of its pairs, and moments with three lines more."""
    n, most = max(n_terms(shape[0], shape[1], q), q + 1), int(np.diff(indptr).max(initial=0))
    return np.empty((n, most)), np.empty((4, most)), np.empty((n + 3, n))


def polynomial_weights(
    indptr: Any, indices: Any, K: Any, H: Any, Xe: Any, Xc: Any, shape: Any, b: Any, slopes: Any
) -> IntArray:
    """Fill ``b`` with weights and ``slopes`` with their derivatives; the number of terms used."""
    used = np.empty(len(indptr) - 1, np.int64)
    room = _room(indptr, shape, Xe.shape[1])
    if len(slopes):
        fill_weights(indptr, indices, K, H, Xe, Xc, shape, b, slopes, *room, used)
    else:  # a loop of its own: without slopes, half of the compiling
        fill_weights_alone(indptr, indices, K, Xe, Xc, shape, b, *room, used)
    return used


@njit(nogil=True)
def fill_weights_alone(indptr, indices, K, Xe, Xc, shape, b, T, lines, C, used):
    """Fill ``b`` with weights; ``used`` is the number of terms."""
    q, largest = Xe.shape[1], len(T)
    for j in range(len(indptr) - 1):
        start, stop = np.int64(indptr[j]), np.int64(indptr[j + 1])
        _design(j, start, stop, indices, Xe, Xc, largest, T)
        used[j] = _fit(start, stop, K, q, shape, T, lines[0], C, C[largest], b, True)


@njit(nogil=True)
def fill_weights(indptr, indices, K, H, Xe, Xc, shape, b, slopes, T, lines, C, used):
    """Fill ``b`` with weights and ``slopes`` (q, pairs) with their derivatives by the point.

    ``used`` is the number of terms. With a = xi'u and w = H a dx - K grad(a) the derivatives are
    w + K xi' C^-1 (sum b grad(xi) - sum w xi).
    """
    q, largest = Xe.shape[1], len(T)
    row, slope, u, through, sums = lines[0], lines[1], C[largest], C[largest + 1], C[largest + 2]
    for j in range(len(indptr) - 1):
        start, stop = np.int64(indptr[j]), np.int64(indptr[j + 1])
        count = stop - start
        _design(j, start, stop, indices, Xe, Xc, largest, T)
        n = used[j] = _fit(start, stop, K, q, shape, T, row, C, u, b, False)
        if n == 0:
            for m in range(q):
                for p in range(start, stop):
                    slopes[m, p] = 0.0
            continue
        values, steep = K[start:stop], H[start:stop]
        _combine(u, n, T, count, row)
        _weigh(K, start, row, count, b)
        _moments(b, start, min(n, q + 1), T, count, sums)
        for m in range(q):
            w, term = slopes[m, start:stop], T[1 + m]
            _slope(u, n, q, m, T, count, slope)
            for p in range(count):
                w[p] = steep[p] * row[p] * term[p] - values[p] * slope[p]
            _moments(w, 0, n, T, count, through)
            _derived(sums, n, q, m, through)
            cholesky_solve(C, n, through)
            _combine(through, n, T, count, slope)
            for p in range(count):
                w[p] += values[p] * slope[p]


@njit(nogil=True)
def _derived(sums, n, q, m, through):
    """Turn the sums of w xi into sum b d(xi)/dx_m minus them; ``sums`` has those of b xi."""
    for a in range(n):
        through[a] = -through[a]
    if n > 1:
        through[1 + m] += sums[0]
    if n > q + 1:
        through[1 + q + m] += 2.0 * sums[1 + m]
    if n > 2 * q + 1:
        at = 1 + 2 * q
        for first in range(q):
            for second in range(first + 1, q):
                if m == first:
                    through[at] += sums[1 + second]
                elif m == second:
                    through[at] += sums[1 + first]
                at += 1


def pull_back_loop(indptr: Any, indices: Any, K: Any, H: Any, M: Any, Xe: Any, *rest: Any) -> Array:
    """Gradient of sum_j d_j · f(x_j) by the points; that by the centres is added."""
    by_point = np.zeros(Xe.shape)
    Xc, shape, b, by_centre = rest
    room = _room(indptr, shape, Xe.shape[1])
    add_gradients(indptr, indices, K, H, M, Xe, Xc, shape, b, by_centre, by_point, *room)
    return by_point


@njit(nogil=True)
def add_gradients(indptr, indices, K, H, M, Xe, Xc, shape, b, by_centre, by_point, T, lines, C):
    """Add the gradients of sum_j d_j · f(x_j) by the points and by the centres.

    M holds d_j · y_i on the pairs; ``b`` is room for weights.
    """
    q, largest = Xe.shape[1], len(T)
    row, rest, slope_u, slope_v = lines[0], lines[1], lines[2], lines[3]
    u, v = C[largest], C[largest + 1]
    for j in range(len(indptr) - 1):
        start, stop = np.int64(indptr[j]), np.int64(indptr[j + 1])
        count = stop - start
        _design(j, start, stop, indices, Xe, Xc, largest, T)
        n = _fit(start, stop, K, q, shape, T, row, C, u, b, False)
        if n == 0:
            continue
        values, steep, products = K[start:stop], H[start:stop], M[start:stop]
        for p in range(count):
            rest[p] = values[p] * products[p]
        _moments(rest, 0, n, T, count, v)
        cholesky_solve(C, n, v)
        _combine(v, n, T, count, rest)
        for p in range(count):
            rest[p] = products[p] - rest[p]
        _combine(u, n, T, count, row)
        for m in range(q):
            _slope(u, n, q, m, T, count, slope_u)
            _slope(v, n, q, m, T, count, slope_v)
            term, g = T[1 + m], slope_u
            for p in range(count):
                g[p] = values[p] * (rest[p] * slope_u[p] - row[p] * slope_v[p])
                g[p] -= rest[p] * row[p] * steep[p] * term[p]
            for p in range(count):
                by_centre[indices[start + p] if len(indices) else p, m] += g[p]
                by_point[j, m] -= g[p]
