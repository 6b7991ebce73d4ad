"""Compiled loops over the segments of a polygonal line: exact projections, and who is nearest."""

import numpy as np

from isthmus._compiled import njit

# Segments that are taken together, one after the other on the line and so near to one another.
GROUP = 16
# What rounding may take off a distance, as a share of it.
MARGIN = 1.0 + 1e-9


@njit
def _segment(y, w, a, b):
    """Where a row falls on the line through two corners (0 at ``a``, 1 at ``b``), not clipped.

    ``w`` is empty where all components count the same. A direction that no component sees gets
    the middle: every point of the segment is as good.
    """
    slope, size = 0.0, 0.0
    for k in range(len(a)):
        weight = w[k] if len(w) else 1.0
        step = b[k] - a[k]
        if weight > 0.0:
            slope += weight * step * (y[k] - a[k])
            size += weight * step * step
    return slope / size if size > 0.0 else 0.5


@njit
def _distance(y, w, a, b, t):
    total = 0.0
    for k in range(len(a)):
        weight = w[k] if len(w) else 1.0
        if weight > 0.0:
            gap = y[k] - a[k] - t * (b[k] - a[k])
            total += weight * gap * gap
    return total


@njit
def _weights(W, i):
    return W[i] if len(W) else W.reshape(-1)


@njit
def _fill_boxes(A, B, low, high):
    """Fill in the ends (groups, d) of the boxes that hold the segments of each group."""
    low[:], high[:] = np.inf, -np.inf
    for j in range(len(A)):
        g = j // GROUP
        for k in range(A.shape[1]):
            low[g, k] = min(low[g, k], A[j, k], B[j, k])
            high[g, k] = max(high[g, k], A[j, k], B[j, k])


@njit
def _look(y, starts, steps, sizes, first, n, places, errors):
    """Fill in places and errors of a row on ``n`` segments, taken together."""
    places[:] = 0.0
    errors[:] = 0.0
    for k in range(len(y)):
        for j in range(n):
            places[j] += steps[k, first + j] * (y[k] - starts[k, first + j])
    for j in range(n):
        t = places[j] / sizes[first + j] if sizes[first + j] > 0.0 else 0.5
        places[j] = min(max(t, 0.0), 1.0)
    for k in range(len(y)):
        for j in range(n):
            gap = y[k] - starts[k, first + j] - places[j] * steps[k, first + j]
            errors[j] += gap * gap


@njit
def _nearest_plain(Y, A, B, segment, place, error):
    """Fill in the last of the nearest segments of each row, where all components count the same.

    Segments come in groups, of which those are left out whose box is farther than what is known.
    """
    (K, d), n_groups = A.shape, -(-len(A) // GROUP)
    starts, steps, sizes = A.T.copy(), (B - A).T.copy(), np.zeros(K)
    for k in range(d):
        sizes += steps[k] * steps[k]
    low, high = np.empty((n_groups, d)), np.empty((n_groups, d))
    _fill_boxes(A, B, low, high)
    low, high = low.T.copy(), high.T.copy()
    bounds, places, errors = np.empty(n_groups), np.empty(GROUP), np.empty(GROUP)
    for i in range(len(Y)):
        bounds[:] = 0.0
        for k in range(d):
            for g in range(n_groups):
                gap = max(low[k, g] - Y[i, k], Y[i, k] - high[k, g], 0.0)
                bounds[g] += gap * gap
        nearest = np.argmin(bounds)
        for g in range(-1, n_groups):  # the nearest box comes first
            group = nearest if g < 0 else g
            if g == nearest or bounds[group] > error[i] * MARGIN:
                continue
            first = group * GROUP
            n = min(GROUP, K - first)
            _look(Y[i], starts, steps, sizes, first, n, places, errors)
            for j in range(n):
                found, here = errors[j], first + j
                if found < error[i] or (found == error[i] and here >= segment[i]):
                    segment[i], place[i], error[i] = here, places[j], found


@njit
def nearest(Y, W, A, B):
    """The segment, the place on it in [0, 1] and the squared distance of each row's nearest point.

    Segments go from the rows of ``A`` to those of ``B``.

    Of several nearest points the last counts, as Hastie and Stuetzle define the projection index.
    ``W`` has weights (n, d), or no rows where all components count the same. Cost O(n K d).
    """
    n, K = len(Y), len(A)
    segment, place = np.zeros(n, dtype=np.int64), np.zeros(n)
    error = np.full(n, np.inf)
    if len(W) == 0:
        _nearest_plain(Y, A, B, segment, place, error)
        return segment, place, error
    for i in range(n):
        for j in range(K):
            t = min(max(_segment(Y[i], W[i], A[j], B[j]), 0.0), 1.0)
            found = _distance(Y[i], W[i], A[j], B[j], t)
            if found <= error[i]:
                segment[i], place[i], error[i] = j, t, found
    return segment, place, error


@njit
def local_minima(Y, W, corners, closed, n_best):
    """The best ``n_best`` local minima of each row's distance along the line, in order of error.

    Returns positions (segment + place, a float) and errors, (n, n_best), infinite after the last.
    """
    n, K = len(Y), len(corners) - 1
    position, error = np.zeros((n, n_best)), np.full((n, n_best), np.inf)
    place = np.empty(K)
    for i in range(n):
        w = _weights(W, i)
        for j in range(K):
            place[j] = _segment(Y[i], w, corners[j], corners[j + 1])
        for j in range(K):
            before = place[j - 1] if j > 0 or closed else 2.0
            if 0.0 < place[j] < 1.0:
                t = place[j]
            elif place[j] <= 0.0 and before >= 1.0:  # both sides lead to the corner
                t = 0.0
            elif place[j] >= 1.0 and j == K - 1 and not closed:
                t = 1.0
            else:
                continue
            found = _distance(Y[i], w, corners[j], corners[j + 1], t)
            rank = n_best
            while rank > 0 and found < error[i, rank - 1]:
                rank -= 1
            if rank == n_best:
                continue
            for r in range(n_best - 1, rank, -1):
                position[i, r], error[i, r] = position[i, r - 1], error[i, r - 1]
            position[i, rank], error[i, rank] = j + t, found
    return position, error


@njit
def descend(Y, W, corners, closed, segment):
    """Positions (segment + place) and errors where descents along the line end.

    Each begins in a segment, walks to the lowest point there, and on across a corner while the
    distance falls. The distance is convex on a segment, so it goes one way only.
    """
    n, K = len(Y), len(corners) - 1
    position, error = np.zeros(n), np.zeros(n)
    for i in range(n):
        w, j, way, t = _weights(W, i), segment[i], 0, 0.0
        for _ in range(K + 1):
            t = _segment(Y[i], w, corners[j], corners[j + 1])
            turn = 1 if t > 1.0 else (-1 if t < 0.0 else 0)
            t = min(max(t, 0.0), 1.0)
            if turn == 0 or way * turn < 0:  # inside, or back to the corner just crossed
                break
            way = turn
            if not closed and not 0 <= j + way < K:
                break
            j = (j + way) % K
        position[i], error[i] = j + t, _distance(Y[i], w, corners[j], corners[j + 1], t)
    return position, error
