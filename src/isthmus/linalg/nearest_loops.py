"""A compiled search for the nearest of some points, when rough distances to all are known."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def nearest_by_rough(rough, slack, widest, slack_of, queries, points, distances, places):
    """Fill distances and places of the k points nearest to each query, nearest first.

    ``rough`` (n, m) tells which points are near but for rounding errors: they are at most the
    ``slack`` (m,) of the point, nowhere more than ``widest``, and ``slack_of`` (n,) the query. Most
    numbers are compared with the greatest of those that are kept, and that is all. Where others
    are so close to these that rounding may have chosen, they are looked at too. Of equal ones the
    first is taken.
    """
    n, m = rough.shape
    k = places.shape[1]
    kept, chosen = np.empty(k), np.empty(k, np.int64)
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
            continue
        most = -np.inf  # none of the k nearest is farther than these may be at most
        for c in range(k):
            bound = kept[c] + slack[chosen[c]] + 2.0 * slack_of[i]
            most = max(most, bound) if bound < np.inf else np.inf
        filled = 0
        for j in range(m):
            if row[j] - slack[j] > most:
                continue
            value = _distance(queries, points, i, j)
            if filled < k:
                _insert(distance, place, filled, value, j)
                filled += 1
            elif value < distance[k - 1]:
                _insert(distance, place, k - 1, value, j)


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
