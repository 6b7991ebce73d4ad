"""A compiled search for the nearest of some points, when rough distances to all are known."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def nearest_by_rough(rough, queries, points, distances, places):
    """Fill distances and places of the k points nearest to each query, nearest first.

    ``rough`` (n, m) orders the points of a query but for rounding errors. Most of its numbers are
    compared with the greatest of those that are kept, and that is all. Of equal ones the first
    is taken.
    """
    n, m = rough.shape
    k = places.shape[1]
    kept = np.empty(k)
    for i in range(n):
        row, place, distance = rough[i], places[i], distances[i]
        for c in range(k):
            kept[c] = np.inf
            place[c] = c  # where rough numbers are no numbers
        for j in range(m):
            if row[j] < kept[k - 1]:
                _insert(kept, place, k - 1, row[j], j)
        for c in range(k):  # until now; sorted again by what is exact
            kept[c] = place[c]
        for c in range(k):
            j = int(kept[c])
            total = 0.0
            for d in range(points.shape[1]):
                total += (queries[i, d] - points[j, d]) ** 2
            _insert(distance, place, c, np.sqrt(total), j)


@njit(nogil=True, inner=True)
def _insert(kept, place, last, value, j):
    """Put a value and its place among sorted ones, over the last of them."""
    c = last
    while c > 0 and value < kept[c - 1]:
        kept[c] = kept[c - 1]
        place[c] = place[c - 1]
        c -= 1
    kept[c] = value
    place[c] = j
