"""Compiled searches for the nearest of some points, when rough distances to all are known."""

import numpy as np

from isthmus._compiled import njit

# Points whose distances are computed side by side, in the nearest cache.
BESIDE = 256
# Squares of roots are nearer than this share.
MARGIN = 1e-15
# Of the numbers of a hash: Fowler, Noll and Vo's.
SEED, PRIME, HALF = np.uint64(14695981039346656037), np.uint64(1099511628211), np.uint64(32)


@njit(nogil=True)
def nearest_by_rough(
    rough, slack, widest, slack_of, queries, points, crowd, distances, places, crowded
):
    """Fill distances and places of the k points nearest to each query, nearest first.

    ``rough`` (n, m) tells which points are near but for rounding errors: they are at most the
    ``slack`` (m,) of the point, nowhere more than ``widest``, and ``slack_of`` (n,) the query. Most
    numbers are compared with the greatest of those that are kept, and that is all. Where others
    are so close to these that rounding may have chosen, they are looked at too. Of equal ones the
    first is taken.

    Rows for which more than ``crowd`` points would be looked at are left to
    :func:`nearest_of_close`: ``crowded`` (n,) tells which, and their number is returned.
    """
    n, m = rough.shape
    k = places.shape[1]
    kept, chosen, left = np.empty(k), np.empty(k, np.int64), 0
    for i in range(n):
        row, place, distance = rough[i], places[i], distances[i]
        for c in range(k):
            kept[c], chosen[c] = np.inf, c  # where rough numbers are no numbers
        margin = 2.0 * (widest + slack_of[i])
        limit, next_best = np.inf, np.inf
        for j in range(m):
            if row[j] < limit:
                if row[j] < kept[k - 1]:
                    next_best = min(next_best, kept[k - 1])
                    _insert(kept, chosen, k - 1, row[j], j)
                    limit = kept[k - 1] + margin
                else:
                    next_best = min(next_best, row[j])
        if next_best > kept[k - 1] + margin:
            for c in range(k):
                value = _distance(queries, points, i, chosen[c])
                _insert(distance, place, c, value, chosen[c])
            crowded[i] = False
            continue
        most = -np.inf  # none of the k nearest is farther than these may be at most
        for c in range(k):
            bound = kept[c] + slack[chosen[c]] + 2.0 * slack_of[i]
            most = max(most, bound) if bound < np.inf else np.inf
        beyond, filled = 0, 0
        for j in range(m):
            beyond += 1 if row[j] - slack[j] > most else 0
        crowded[i] = m - beyond > crowd
        if crowded[i]:
            left += 1
            continue
        for j in range(m):
            if row[j] - slack[j] > most:
                continue
            value = _distance(queries, points, i, j)
            if filled < k:
                _insert(distance, place, filled, value, j)
                filled += 1
            elif value < distance[k - 1]:
                _insert(distance, place, k - 1, value, j)
    return left


@njit(nogil=True)
def nearest_of_close(crowded, queries, columns, unlike, distances, places):
    """Fill in the rows that :func:`nearest_by_rough` has left, from the ``unlike`` points.

    ``columns`` (d, m) are these points, so that many distances are computed side by side.
    """
    (d, m), k, squares = columns.shape, places.shape[1], np.empty(BESIDE)
    for i in range(len(queries)):
        if not crowded[i]:
            continue
        place, distance, filled, limit = places[i], distances[i], 0, np.inf
        for start in range(0, m, BESIDE):
            size = min(BESIDE, m - start)
            squares[:size] = 0.0
            for a in range(d):
                x, line = queries[i, a], columns[a, start : start + size]
                for c in range(size):
                    squares[c] += (x - line[c]) ** 2
            for c in range(size):
                if squares[c] > limit:
                    continue
                value = np.sqrt(squares[c])
                if filled < k:
                    _insert(distance, place, filled, value, unlike[start + c])
                    filled += 1
                elif value < distance[k - 1]:
                    _insert(distance, place, k - 1, value, unlike[start + c])
                if filled == k:  # roots of squares beyond are no smaller
                    limit = distance[k - 1] ** 2 * (1.0 + MARGIN)


@njit(nogil=True)
def unlike_points(words, k):
    """Numbers of the points without those that have k equal ones before them, in order.

    These are never among the k nearest. ``words`` (m, d) are the bits of the points' numbers.
    """
    m, d = words.shape
    size = 2
    while size < 2 * m:
        size *= 2
    # At a hash, or in the first free place after it, the first of equal points.
    table, count, unlike, filled = (
        np.full(size, -1),
        np.zeros(m, np.int64),
        np.empty(m, np.int64),
        0,
    )
    for i in range(m):
        value = SEED
        for a in range(d):
            value = (value ^ words[i, a]) * PRIME
            value ^= value >> HALF
        at = np.int64(value & np.uint64(size - 1))
        while table[at] >= 0 and not _same(words, table[at], i):
            at = (at + 1) % size
        if table[at] < 0:
            table[at] = i
        first = table[at]
        count[first] += 1
        if count[first] <= k:
            unlike[filled] = i
            filled += 1
    return unlike[:filled]


@njit(nogil=True, inner=True)
def _same(words, i, j):
    a = 0
    while a < words.shape[1] and words[i, a] == words[j, a]:
        a += 1
    return a == words.shape[1]


@njit(nogil=True, inner=True)
def _distance(queries, points, i, j):
    total = 0.0
    for d in range(points.shape[1]):
        total += (queries[i, d] - points[j, d]) ** 2
    return np.sqrt(total)


@njit(nogil=True, inner=True)
def _insert(kept, place, last, value, j):
    """Put a value and its place among sorted ones, over the last of them."""
    c = last
    while c > 0 and (value < kept[c - 1] or (value == kept[c - 1] and j < place[c - 1])):
        kept[c] = kept[c - 1]
        place[c] = place[c - 1]
        c -= 1
    kept[c] = value
    place[c] = j
