"""Compiled loops that find near pairs (point, centre) and add over them: local constants.

Pairs are listed point by point: those of point ``j`` are ``indptr[j]:indptr[j + 1]``, with the
number of the centre in ``indices``. Numbers of places are unsigned where numba would otherwise
ask at every pair whether they count from the end.
"""

import numpy as np

from isthmus._compiled import njit

SUMS = {"reassoc", "contract", "nsz"}


@njit(nogil=True, inner=True)
def cell_of(place, n):
    """Which of n cells; the first for no number, the last for all beyond."""
    if not place > 0.0:
        return 0
    return n - 1 if place >= n else int(place)


@njit(nogil=True)
def sort_into_cells(X, axes, low, scale, shape, cells, starts, order, lines):
    """Fill in where cells start, which row is where, and the rows in that order, by coordinates.

    Cells divide three ``axes``, of which the last runs fastest. ``starts`` are zero before, and
    two more than there are cells; ``cells`` is memory for a number of each row.
    """
    n, q = X.shape
    for i in range(n):
        c = 0
        for m in range(3):
            c = c * shape[m] + cell_of((X[i, axes[m]] - low[m]) * scale[m], shape[m])
        cells[i] = c
        starts[c + 2] += 1
    # A place early: what is said of the next cell is where this one goes on, and in the end stops.
    for c in range(2, len(starts)):
        starts[c] += starts[c - 1]
    for i in range(n):
        p = starts[cells[i] + 1]
        starts[cells[i] + 1] += 1
        order[p] = i
        for k in range(q):
            lines[k, p] = X[i, k]


@njit(nogil=True, fastmath={"contract"}, forceinline=True, inner=True)
def list_point(
    j, Xe, lines, order, starts, axes, low, scale, shape, reach, support, later, indices, squared,
    at,
):  # fmt: skip
    """Write the centres near point j and their squared distances from ``at`` on; where they end.

    There is room for all centres. Where points are the sorted centres themselves, ``later`` ones
    are those after point j alone.
    """
    q = Xe.shape[1]
    place0, place1 = Xe[j, axes[0]] - low[0], Xe[j, axes[1]] - low[1]
    place2 = Xe[j, axes[2]] - low[2]
    first0 = cell_of((place0 - reach) * scale[0], shape[0])
    last0 = cell_of((place0 + reach) * scale[0], shape[0])
    first1 = cell_of((place1 - reach) * scale[1], shape[1])
    last1 = cell_of((place1 + reach) * scale[1], shape[1])
    first2 = cell_of((place2 - reach) * scale[2], shape[2])
    last2 = cell_of((place2 + reach) * scale[2], shape[2])
    # Only numbers depend on ``later``: numba would count references to arrays in every branch.
    own0, own1 = cell_of(place0 * scale[0], shape[0]), cell_of(place1 * scale[1], shape[1])
    first0 = own0 if later else first0
    x0, x1, x2 = lines[0], lines[1], lines[2]
    z0 = Xe[j, 0]
    z1 = Xe[j, 1] if q > 1 else 0.0
    z2 = Xe[j, 2] if q > 2 else 0.0
    for a in range(first0, last0 + 1):
        own = later and a == own0
        for b in range(own1 if own else first1, last1 + 1):
            c = (a * shape[1] + b) * shape[2]
            stop = np.uint64(starts[np.uint64(c + last2 + 1)])
            start = np.uint64(starts[np.uint64(c + first2)])
            start = np.uint64(j + 1) if own and b == own1 else start
            # Written always and kept if near: no branch to guess wrong.
            if q <= 2:
                for i in range(start, stop):
                    s, t = x0[i] - z0, x1[i] - z1
                    s = s * s + t * t
                    indices[at], squared[at] = order[i], s
                    at += np.uint64(s < support)
                continue
            for i in range(start, stop):
                s, t, u = x0[i] - z0, x1[i] - z1, x2[i] - z2
                s = s * s + t * t + u * u
                for k in range(3, q):
                    t = lines[k, i] - Xe[j, k]
                    s += t * t
                indices[at], squared[at] = order[i], s
                at += np.uint64(s < support)
    return at


@njit(nogil=True)
def pairs_within(
    Xe,
    lines,
    order,
    starts,
    axes,
    low,
    scale,
    shape,
    reach,
    support,
    later,
    most,
    first,
    at,
    indptr,
    indices,
    squared,
):
    """List pairs of squared distance below ``support`` from point ``first`` on, as far as may be.

    The centres are sorted into cells; a point looks at those within ``reach`` along three axes.
    ``indptr``, ``indices`` and ``squared`` are filled in, the last two from ``at`` on. Return how
    many points are done and how many pairs there are: the end comes before the last point where
    memory is short, or once there are more than ``most``. Of points that are the sorted centres,
    ``later`` lists every pair once, with the first of both.
    """
    m, n, end = len(Xe), lines.shape[1], np.uint64(at)
    for j in range(first, m):
        if end + np.uint64(n) > np.uint64(len(indices)):
            return j, np.int64(end)
        end = list_point(
            j,
            Xe,
            lines,
            order,
            starts,
            axes,
            low,
            scale,
            shape,
            reach,
            support,
            later,
            indices,
            squared,
            end,
        )
        indptr[j + 1] = end
        if end > most:
            return j + 1, np.int64(end)
    return m, np.int64(end)


@njit(nogil=True)
def power_weights(squared, power, K, H):
    """Fill in values (1 - s)^k and slopes 2k (1 - s)^(k - 1); both are zero out of reach."""
    if power == 2:  # without a loop inside, several pairs at a time
        for p in range(len(squared)):
            rest = max(1.0 - squared[p], 0.0)
            K[p], H[p] = rest * rest, 4.0 * rest
        return
    for p in range(len(squared)):
        rest = max(1.0 - squared[p], 0.0)
        lower = 1.0 if rest > 0.0 else 0.0
        for _ in range(power - 1):
            lower *= rest
        K[p], H[p] = lower * rest, 2.0 * power * lower


@njit(nogil=True)
def exclude(indptr, indices, excluded, barred_at, K, H):
    """Set the weights of centres that may not help to reconstruct a point to zero.

    ``barred_at`` becomes the last point at which a centre may not help; before there is none, -1.
    """
    n = np.uint64(len(barred_at))
    for j in range(excluded.shape[0]):
        for k in range(excluded.shape[1]):
            barred_at[np.uint64(excluded[j, k])] = j
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            i = np.uint64(indices[p])
            if i < n and barred_at[i] == j:
                K[p] = 0.0
                H[p] = 0.0


@njit(nogil=True, fastmath=SUMS)
def pair_products(indptr, indices, D, Y, M):
    """Fill M with the inner products d_j · y_i of the listed pairs."""
    d = Y.shape[1]
    for j in range(len(indptr) - 1):
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            i, total = np.uint64(indices[p]), 0.0
            for k in range(d):
                total += D[j, k] * Y[i, k]
            M[p] = total


@njit(nogil=True, fastmath=SUMS)
def weighted_sums(indptr, indices, K, Y, S, F):
    """Fill S with the sums of the weights of a point and F with those of weights times outputs.

    Four pairs at a time, so that a sum waits for its last addend less often.
    """
    d = Y.shape[1]
    for j in range(len(indptr) - 1):
        f, total = F[j], 0.0
        for k in range(d):
            f[k] = 0.0
        p, stop = indptr[j], indptr[j + 1]
        while p + 4 <= stop:
            a, b, c, e = K[p], K[p + 1], K[p + 2], K[p + 3]
            total += (a + b) + (c + e)
            y0, y1 = Y[indices[p]], Y[indices[p + 1]]
            y2, y3 = Y[indices[p + 2]], Y[indices[p + 3]]
            for k in range(d):
                f[k] += (a * y0[k] + b * y1[k]) + (c * y2[k] + e * y3[k])
            p += 4
        while p < stop:
            a, y0 = K[p], Y[indices[p]]
            total += a
            for k in range(d):
                f[k] += a * y0[k]
            p += 1
        S[j] = total


@njit(nogil=True, fastmath=SUMS)
def add_mean_slopes(indptr, indices, H, inverse, D, F, Y, Xe, Xc, by_point, by_centre):
    """Add the gradients by points and centres of sum d_j · f_j for weighted means f_j.

    Every pair adds Q (x_i - x_j) to one and takes it from the other, where
    Q = H / S · d_j (y_i - f_j). ``inverse`` is 1 / S, and zero where nothing reaches. Four pairs
    share every entry of d_j; the last ones of a point are filled up with its last, without weight.
    """
    d, q = Y.shape[1], Xe.shape[1]
    for j in range(len(indptr) - 1):
        slope, offset = D[j], 0.0
        for k in range(d):
            offset += slope[k] * F[j, k]
        start, stop = indptr[j], indptr[j + 1]
        last = np.uint64(stop - 1)
        for first in range(start, stop, 4):
            p0 = np.uint64(first)
            p1, p2, p3 = p0 + np.uint64(1), p0 + np.uint64(2), p0 + np.uint64(3)
            i0, i1 = np.uint64(indices[p0]), np.uint64(indices[min(p1, last)])
            i2, i3 = np.uint64(indices[min(p2, last)]), np.uint64(indices[min(p3, last)])
            a = b = c = e = -offset
            for k in range(d):
                v = slope[k]
                a += v * Y[i0, k]
                b += v * Y[i1, k]
                c += v * Y[i2, k]
                e += v * Y[i3, k]
            a *= H[p0] * inverse[j]
            b *= H[p1] * inverse[j] if p1 <= last else 0.0
            c *= H[p2] * inverse[j] if p2 <= last else 0.0
            e *= H[p3] * inverse[j] if p3 <= last else 0.0
            for m in range(q):
                x = Xe[j, m]
                u0, u1 = a * (Xc[i0, m] - x), b * (Xc[i1, m] - x)
                u2, u3 = c * (Xc[i2, m] - x), e * (Xc[i3, m] - x)
                by_point[j, m] += (u0 + u1) + (u2 + u3)
                by_centre[i0, m] -= u0
                by_centre[i1, m] -= u1
                by_centre[i2, m] -= u2
                by_centre[i3, m] -= u3


@njit(nogil=True, fastmath=SUMS)
def row_sums(indptr, K, S):
    """Fill S with the sums of the weights of every point."""
    for j in range(len(indptr) - 1):
        total = 0.0
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            total += K[p]
        S[j] = total


@njit(nogil=True, fastmath=SUMS)
def add_pulls(indptr, indices, H, c, Xe, Xc, by_point, by_centre):
    """Add c_j H (x_i - x_j) of every pair to its point, and take it from its centre."""
    q = Xe.shape[1]
    for j in range(len(indptr) - 1):
        for m in range(q):
            x, total = Xe[j, m], 0.0
            for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
                i = np.uint64(indices[p])
                pull = c[j] * H[p] * (Xc[i, m] - x)
                total += pull
                by_centre[i, m] -= pull
            by_point[j, m] += total
