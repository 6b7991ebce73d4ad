"""Compiled loops of local polynomials on a line or in a plane, where every moment has a name.

The sums of kernel value times a product of two terms are the moments of the differences up to
twice the degree: 3 or 5 on a line, 6 or 15 in a plane. Each is a number of its own in one loop
along the pairs of a point, which keeps them in registers. The small systems of 64 points are solved
side by side, and once for values and gradient. :mod:`isthmus.smoothers.loops` has any number of
coordinates, and is what these loops are tested against. Lists of pairs and ``shape`` are as there.

``fits`` has a block for every 64 points: its first n lines a factor of the moments, one matrix
entry of all points beside the other, the last the coefficients of the polynomials.
"""

import numpy as np

from isthmus._compiled import njit

SUMS = {"reassoc", "contract", "nsz"}
BESIDE = 64  # points whose systems are solved side by side


@njit(nogil=True)
def _longest(indptr):
    """Most pairs of a block of points."""
    N, most = len(indptr) - 1, np.int64(0)
    for first in range(0, N, BESIDE):
        count = np.int64(indptr[min(first + BESIDE, N)]) - np.int64(indptr[first])
        most = max(most, count)
    return most


@njit(nogil=True, forceinline=True)
def _differences(j, m, start, count, indices, Xe, Xc, at, x):
    """Fill x from ``at`` on with coordinate m of centre minus point j."""
    here = Xe[j, m]
    if len(indices):
        for p in range(count):
            x[at + p] = Xc[np.uint64(indices[start + p]), m] - here
    else:
        for p in range(count):
            x[at + p] = Xc[p, m] - here


@njit(nogil=True, fastmath=SUMS, forceinline=True)
def _line_moments(K, start, count, x, at, n, C, j):
    """Moments of the pairs of a point on a line: the lower triangle of C, of n rows."""
    s0 = s1 = s2 = s3 = s4 = 0.0
    for p in range(count):
        w, a = K[start + p], x[at + p]
        wa, aa = w * a, a * a
        s0 += w
        s1 += wa
        s2 += w * aa
        s3 += wa * aa
        s4 += w * aa * aa
    C[0, 0, j], C[1, 0, j], C[1, 1, j] = s0, s1, s2
    if n == 3:
        C[2, 0, j], C[2, 1, j], C[2, 2, j] = s2, s3, s4


@njit(nogil=True, fastmath=SUMS, forceinline=True)
def _plane_moments(K, start, count, x, y, at, n, C, j):
    """Moments of the pairs of a point in a plane: the lower triangle of C, of n rows."""
    s = sx = sy = xx = xy = yy = 0.0
    if n == 3:
        for p in range(count):
            w, a, b = K[start + p], x[at + p], y[at + p]
            wa, wb = w * a, w * b
            s += w
            sx += wa
            sy += wb
            xx += wa * a
            xy += wa * b
            yy += wb * b
        C[0, 0, j], C[1, 0, j], C[1, 1, j] = s, sx, xx
        C[2, 0, j], C[2, 1, j], C[2, 2, j] = sy, xy, yy
        return
    xxx = xxy = xyy = yyy = x4 = x3y = xxyy = xy3 = y4 = 0.0
    for p in range(count):
        w, a, b = K[start + p], x[at + p], y[at + p]
        wa, wb = w * a, w * b
        aa, ab, bb = a * a, a * b, b * b
        s += w
        sx += wa
        sy += wb
        xx += w * aa
        xy += w * ab
        yy += w * bb
        xxx += wa * aa
        xxy += wa * ab
        xyy += wa * bb
        yyy += wb * bb
        x4 += w * aa * aa
        x3y += w * aa * ab
        xxyy += w * aa * bb
        xy3 += w * bb * ab
        y4 += w * bb * bb
    C[0, 0, j], C[1, 0, j], C[1, 1, j] = s, sx, xx
    C[2, 0, j], C[2, 1, j], C[2, 2, j] = sy, xy, yy
    C[3, 0, j], C[3, 1, j], C[3, 2, j], C[3, 3, j] = xx, xxx, xxy, x4
    C[4, 0, j], C[4, 1, j], C[4, 2, j] = yy, xyy, yyy
    C[4, 3, j], C[4, 4, j] = xxyy, y4
    if n == 6:
        C[5, 0, j], C[5, 1, j], C[5, 2, j] = xy, xxy, xyy
        C[5, 3, j], C[5, 4, j], C[5, 5, j] = x3y, xy3, xxyy


@njit(nogil=True, error_model="numpy")
def _factor(C, n, count, q, shape):
    """Turn the moments of a block into L D L' and fill in the coefficients.

    These are the solution for the first unit vector, and zero where moments are singular. The
    diagonal has 1 / D, or zero: solutions then take no division and the factor no root.
    """
    _, _, ridge, background, _ = shape
    for j in range(count):
        C[0, 0, j] += background
    for a in range(1, n):
        # Half on products: then the ridge on second derivatives is the same in all directions.
        more = ridge if a <= 2 * q else 0.5 * ridge
        for j in range(count):
            C[a, a, j] += more
    for a in range(n):
        for b in range(a):
            for c in range(b):
                for j in range(count):
                    C[a, b, j] -= C[a, c, j] * C[b, c, j]
        for b in range(a):
            for j in range(count):  # so far an entry was that of L D
                scaled = C[a, b, j] * C[b, b, j]
                C[a, a, j] -= C[a, b, j] * scaled
                C[a, b, j] = scaled
        for j in range(count):
            C[a, a, j] = 1.0 / C[a, a, j] if C[a, a, j] > 0.0 else 0.0
    u = C[n]
    for a in range(n):
        for j in range(count):
            u[a, j] = 1.0 if a == 0 else 0.0
    _solve(C, n, count, u)


@njit(nogil=True)
def _solve(C, n, count, x):
    """Solve L D L' z = x in place, a line for each entry; zero where the factor is singular."""
    for a in range(1, n):
        for c in range(a):
            for j in range(count):
                x[a, j] -= C[a, c, j] * x[c, j]
    for a in range(n - 1, -1, -1):
        for j in range(count):
            x[a, j] *= C[a, a, j]
        for c in range(a + 1, n):
            for j in range(count):
                x[a, j] -= C[c, a, j] * x[c, j]
    for a in range(n):
        for b in range(n):
            for j in range(count):
                x[a, j] = x[a, j] if C[b, b, j] > 0.0 else 0.0


@njit(nogil=True)
def fit_on_line(indptr, indices, K, Xe, Xc, shape, b, mass, fits):
    """Fill ``b`` with the weights of the outputs and ``fits``; ``mass`` with sums of kernel values.

    Where nothing is near, or moments are singular, coefficients and weights are zero.
    """
    N, n, x = len(indptr) - 1, shape[0] + 1, np.empty(_longest(indptr))
    for k in range(len(fits)):
        C, first = fits[k], k * BESIDE
        size, base = min(BESIDE, N - first), np.uint64(indptr[first])
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            _differences(first + j, 0, start, count, indices, Xe, Xc, at, x)
            _line_moments(K, start, count, x, at, n, C, j)
            mass[first + j] = C[0, 0, j]
        _factor(C, n, size, 1, shape)
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            u0, u1, u2 = C[n, 0, j], C[n, 1, j], C[n, 2, j] if n == 3 else 0.0
            for p in range(count):
                s = x[at + p]
                b[start + p] = K[start + p] * (u0 + s * (u1 + u2 * s))


@njit(nogil=True)
def fit_in_plane(indptr, indices, K, Xe, Xc, shape, b, mass, fits):
    """The same for two coordinates."""
    N, n = len(indptr) - 1, 3 if shape[0] == 1 else 6 if shape[1] else 5
    x, y = np.empty(_longest(indptr)), np.empty(_longest(indptr))
    for k in range(len(fits)):
        C, first = fits[k], k * BESIDE
        size, base = min(BESIDE, N - first), np.uint64(indptr[first])
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            _differences(first + j, 0, start, count, indices, Xe, Xc, at, x)
            _differences(first + j, 1, start, count, indices, Xe, Xc, at, y)
            _plane_moments(K, start, count, x, y, at, n, C, j)
            mass[first + j] = C[0, 0, j]
        _factor(C, n, size, 2, shape)
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            u0, u1, u2, u3, u4, u5 = _six(C[n], n, j)
            for p in range(count):
                s, t = x[at + p], y[at + p]
                value = u0 + s * (u1 + u3 * s + u5 * t) + t * (u2 + u4 * t)
                b[start + p] = K[start + p] * value


@njit(nogil=True, forceinline=True)
def _six(u, n, j):
    """Coefficients of point j in a plane; those of terms that it does not have are zero."""
    u3, u4 = (u[3, j], u[4, j]) if n > 3 else (0.0, 0.0)
    return u[0, j], u[1, j], u[2, j], u3, u4, u[5, j] if n > 5 else 0.0


@njit(nogil=True, fastmath=SUMS, forceinline=True)
def _line_sums(K, M, start, count, x, at, n, v, j):
    """Fill in the sums of K M xi over the pairs of a point."""
    s0 = s1 = s2 = 0.0
    for p in range(count):
        w, s = K[start + p] * M[start + p], x[at + p]
        s0 += w
        s1 += w * s
        s2 += w * s * s
    v[0, j], v[1, j] = s0, s1
    if n == 3:
        v[2, j] = s2


@njit(nogil=True, fastmath=SUMS, forceinline=True)
def _line_slopes(K, H, M, start, count, x, at, u, v, n, j):
    """Turn differences into what every pair adds to the slope by its centre; their sum.

    With a = xi'u and e = M - xi'v, v = C^-1 sum K M xi, this is K (e a' - a (xi'v)') - e a H dx.
    """
    u0, u1, u2 = u[0, j], u[1, j], u[2, j] if n == 3 else 0.0
    v0, v1, v2 = v[0, j], v[1, j], v[2, j] if n == 3 else 0.0
    total = 0.0
    for p in range(count):
        s, w = x[at + p], K[start + p]
        a, e = u0 + s * (u1 + u2 * s), M[start + p] - v0 - s * (v1 + v2 * s)
        g = w * (e * (u1 + 2.0 * u2 * s) - a * (v1 + 2.0 * v2 * s)) - e * a * H[start + p] * s
        x[at + p] = g
        total += g
    return total


@njit(nogil=True, fastmath=SUMS, forceinline=True)
def _plane_sums(K, M, start, count, x, y, at, n, v, j):
    """The sums in a plane."""
    s0 = s1 = s2 = s3 = s4 = s5 = 0.0
    for p in range(count):
        w, s, t = K[start + p] * M[start + p], x[at + p], y[at + p]
        ws, wt = w * s, w * t
        s0 += w
        s1 += ws
        s2 += wt
        s3 += ws * s
        s4 += wt * t
        s5 += ws * t
    v[0, j], v[1, j], v[2, j] = s0, s1, s2
    if n > 3:
        v[3, j], v[4, j] = s3, s4
    if n > 5:
        v[5, j] = s5


@njit(nogil=True, fastmath=SUMS, forceinline=True)
def _plane_slopes(K, H, M, start, count, x, y, at, u, v, n, j):
    """The slopes in a plane, and their two sums."""
    u0, u1, u2, u3, u4, u5 = _six(u, n, j)
    v0, v1, v2, v3, v4, v5 = _six(v, n, j)
    sum_x = sum_y = 0.0
    for p in range(count):
        s, t, w = x[at + p], y[at + p], K[start + p]
        a = u0 + s * (u1 + u3 * s + u5 * t) + t * (u2 + u4 * t)
        e = M[start + p] - v0 - s * (v1 + v3 * s + v5 * t) - t * (v2 + v4 * t)
        steep = e * a * H[start + p]
        ax, vx = u1 + 2.0 * u3 * s + u5 * t, v1 + 2.0 * v3 * s + v5 * t
        ay, vy = u2 + 2.0 * u4 * t + u5 * s, v2 + 2.0 * v4 * t + v5 * s
        gx, gy = w * (e * ax - a * vx) - steep * s, w * (e * ay - a * vy) - steep * t
        x[at + p], y[at + p] = gx, gy
        sum_x += gx
        sum_y += gy
    return sum_x, sum_y


@njit(nogil=True)
def pull_on_line(indptr, indices, K, H, M, Xe, Xc, shape, by_centre, by_point, fits):
    """Add the gradients of sum_j d_j · f(x_j) by the points and by the centres.

    M holds d_j · y_i on the pairs, ``fits`` what :func:`fit_on_line` has found.
    """
    N, n, x = len(indptr) - 1, shape[0] + 1, np.empty(_longest(indptr))
    v = np.empty((n, BESIDE))
    for k in range(len(fits)):
        C, first = fits[k], k * BESIDE
        size, base = min(BESIDE, N - first), np.uint64(indptr[first])
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            _differences(first + j, 0, start, count, indices, Xe, Xc, at, x)
            _line_sums(K, M, start, count, x, at, n, v, j)
        _solve(C, n, size, v)
        u = C[n]
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            by_point[first + j, 0] -= _line_slopes(K, H, M, start, count, x, at, u, v, n, j)
            for p in range(count):
                i = np.uint64(indices[start + p]) if len(indices) else p
                by_centre[i, 0] += x[at + p]


@njit(nogil=True)
def pull_in_plane(indptr, indices, K, H, M, Xe, Xc, shape, by_centre, by_point, fits):
    """The same for two coordinates."""
    N, n = len(indptr) - 1, 3 if shape[0] == 1 else 6 if shape[1] else 5
    x, y, v = np.empty(_longest(indptr)), np.empty(_longest(indptr)), np.empty((n, BESIDE))
    for k in range(len(fits)):
        C, first = fits[k], k * BESIDE
        size, base = min(BESIDE, N - first), np.uint64(indptr[first])
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            _differences(first + j, 0, start, count, indices, Xe, Xc, at, x)
            _differences(first + j, 1, start, count, indices, Xe, Xc, at, y)
            _plane_sums(K, M, start, count, x, y, at, n, v, j)
        _solve(C, n, size, v)
        u = C[n]
        for j in range(size):
            start, stop = np.uint64(indptr[first + j]), np.uint64(indptr[first + j + 1])
            count, at = stop - start, start - base
            sum_x, sum_y = _plane_slopes(K, H, M, start, count, x, y, at, u, v, n, j)
            by_point[first + j, 0] -= sum_x
            by_point[first + j, 1] -= sum_y
            for p in range(count):
                i = np.uint64(indices[start + p]) if len(indices) else p
                by_centre[i, 0] += x[at + p]
                by_centre[i, 1] += y[at + p]
