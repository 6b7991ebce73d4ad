"""The compiled loop of the quadratic program over the simplex."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    fetch_row,
    largest,
    less,
    load,
    load_row,
    more,
    products,
    quotients,
    scaled,
    spread,
    store,
    where_larger,
)

# Entries of a row that are asked for ahead. Each step reads other rows of a matrix that has left
# the caches, and the processor itself looks ahead to the end of a page of 4 KB alone.
AHEAD = 256
# Every other step goes so much farther than to the least value between its two points: it gains a
# third as much by itself, and those that follow gain more.
FARTHER = 1.8


@njit
def descend(M, alpha, G, tol, max_iter, tie):
    """Move weight between pairs until the gap is below ``tol``; return it and the number of steps.

    ``G`` is the gradient ``2 M alpha + v``; both it and ``alpha`` are changed in place, and ``M``
    may have more rows and columns than there are weights. The point that gains weight is the one
    with the smallest gradient; the point that loses it is the one for which the objective falls
    most. Of points that differ by the share ``tie`` of the gap, or of what is gained, it is the
    first: two that have just shared weight are equal but for rounding. Where ``tie`` is 0 every
    other step is longer than the pair asks for. A step is two passes over the points: one that
    prices what each would lose, one that moves the gradient.
    """
    n = len(alpha)
    diagonal, changes = np.empty(n), np.empty(n if tie > 0.0 else 0)
    for k in range(n):
        diagonal[k] = M[k, k]
    numbers = -np.arange(LANES).astype(np.float64)
    gap = np.inf
    i = np.argmin(G)
    for iteration in range(max_iter):
        best, j, highest = _price(M, i, diagonal, alpha, G, changes, numbers)
        gap = highest - G[i]
        if gap <= tol or best >= 0.0:
            return max(gap, 0.0), iteration
        if tie > 0.0:
            j = _first(changes, (1.0 - tie) * best)
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * M[i, j], 1e-300)
        reach = 0.5 * FARTHER if tie == 0.0 and iteration % 2 else 0.5
        step = min(alpha[j], reach * (G[j] - G[i]) / curvature)
        alpha[i] += step
        alpha[j] -= step
        if alpha[j] < 1e-16:
            alpha[j] = 0.0
        low, i = _move(G, M, i, j, 2.0 * step, numbers)
        if tie > 0.0:
            i = _first(G, low + tie * gap)
    return gap, max_iter


@njit(inline="always")
def _price(M, i, diagonal, alpha, G, changes, numbers):
    """By how much the objective changes where each point gives weight to point i.

    Returns the most that it falls by and where, and the largest gradient of a point with weight;
    ``changes`` are written where there is room for them.
    """
    n, written = alpha.size, changes.size > 0
    whole = n - n % LANES
    own, low = spread(diagonal[i]), spread(G[i])
    floor, nothing = spread(1e-300), spread(0.0)
    best, place, highest = spread(np.inf), spread(0.0), spread(-np.inf)
    for k in range(0, whole, LANES):
        fetch_row(M, i, k + AHEAD)
        g, weight = load(G, k), load(alpha, k)
        fall = less(g, 1.0, low)
        curvature = less(more(own, 1.0, load(diagonal, k)), 2.0, load_row(M, i, k))
        curvature = where_larger(curvature, floor, curvature, floor)
        step = quotients(scaled(0.5, fall), curvature)
        step = where_larger(step, weight, weight, step)  # a step is bounded by the weight there is
        change = products(step, less(products(step, curvature), 1.0, fall))
        if written:
            store(changes, k, change)
        place = where_larger(best, change, spread(-np.float64(k)), place)
        best = where_larger(best, change, change, best)
        holding = where_larger(weight, nothing, g, highest)
        highest = where_larger(holding, highest, holding, highest)
    least, j = _least(best, place, numbers)
    most = largest(highest)
    for k in range(whole, n):
        fall = G[k] - G[i]
        curvature = max(diagonal[i] + diagonal[k] - 2.0 * M[i, k], 1e-300)
        step = min(0.5 * fall / curvature, alpha[k])
        change = step * (step * curvature - fall)
        if written:
            changes[k] = change
        if change < least:
            least, j = change, k
        if alpha[k] > 0.0 and G[k] > most:
            most = G[k]
    return least, j, most


@njit(inline="always")
def _move(G, M, i, j, factor, numbers):
    """Move the gradient by two rows of ``M``; return its least entry, and where that is first."""
    n = G.size
    whole = n - n % LANES
    best, place = spread(np.inf), spread(0.0)
    for k in range(0, whole, LANES):
        fetch_row(M, j, k + AHEAD)
        change = scaled(factor, less(load_row(M, i, k), 1.0, load_row(M, j, k)))
        g = more(load(G, k), 1.0, change)  # rounded as it is written: ties are then the same
        store(G, k, g)
        place = where_larger(best, g, spread(-np.float64(k)), place)
        best = where_larger(best, g, g, best)
    least, low = _least(best, place, numbers)
    for k in range(whole, n):
        G[k] += factor * (M[i, k] - M[j, k])
        if G[k] < least:
            least, low = G[k], k
    return least, low


@njit(inline="always")
def _least(best, place, numbers):
    """The least of the lanes and the first place of it; ``numbers`` are 0, -1, -2, ..."""
    negative = scaled(-1.0, best)
    most = largest(negative)
    # Places are negative: the first is the largest.
    place = where_larger(
        spread(most), negative, spread(-np.inf), more(place, 1.0, load(numbers, 0))
    )
    return -most, np.int64(-largest(place))


@njit
def _first(x, value):
    """Where an entry that is as small is found first."""
    for k in range(x.size):
        if x[k] <= value:
            return k
    return 0
