"""The compiled loop of the quadratic program over the simplex."""

import numpy as np

from isthmus._compiled import njit


@njit
def descend(M, alpha, G, tol, max_iter, tie):
    """Move weight between pairs until the gap is below ``tol``; return it and the number of steps.

    ``G`` is the gradient ``2 M alpha + v``; both it and ``alpha`` are changed in place, and ``M``
    may have more rows and columns than there are weights. The point that gains weight is the one
    with the smallest gradient; the point that loses it is the one for which the objective falls
    most. Of points that differ by the share ``tie`` of the gap, or of what is gained, it is the
    first: two that have just shared weight are equal but for rounding. What is computed for every
    point is kept apart from the search for the least, so that both run in vector registers.
    """
    n = len(alpha)
    diagonal, change, slopes = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        diagonal[k] = M[k, k]
    gap = np.inf
    for iteration in range(max_iter):
        low = _least(G)
        i = _first(G, low + tie * gap) if iteration else _first(G, low)
        low = G[i]
        _price(M[i, :n], diagonal, diagonal[i], alpha, G, low, change, slopes)
        gap = -_least(slopes) - low
        best = _least(change)
        if gap <= tol or best >= 0.0:
            return max(gap, 0.0), iteration
        j = _first(change, (1.0 - tie) * best)
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * M[i, j], 1e-300)
        step = min(alpha[j], 0.5 * (G[j] - G[i]) / curvature)
        alpha[i] += step
        alpha[j] -= step
        if alpha[j] < 1e-16:
            alpha[j] = 0.0
        _move(G, M[i, :n], M[j, :n], 2.0 * step)
    return gap, max_iter


@njit(error_model="numpy")
def _price(row, diagonal, own, alpha, G, low, change, slopes):
    """By how much the objective changes where each point gives weight to that of ``row``.

    ``slopes`` are minus the gradients of the points with weight, infinite for the others.
    """
    for k in range(alpha.size):
        fall = G[k] - low
        curvature = own + diagonal[k] - 2.0 * row[k]
        curvature = curvature if curvature > 1e-300 else 1e-300
        step = 0.5 * fall / curvature
        # A step is also bounded by the weight there is.
        step = step if step < alpha[k] else alpha[k]
        change[k] = step * (step * curvature - fall)
        slopes[k] = -G[k] if alpha[k] > 0.0 else np.inf


@njit
def _move(G, gaining, losing, factor):
    for k in range(G.size):
        G[k] += factor * (gaining[k] - losing[k])


@njit
def _least(x):
    """The least entry; four at a time, which do not wait for each other."""
    a = b = c = d = np.inf
    whole = x.size - x.size % 4
    for k in range(0, whole, 4):
        a = x[k] if x[k] < a else a
        b = x[k + 1] if x[k + 1] < b else b
        c = x[k + 2] if x[k + 2] < c else c
        d = x[k + 3] if x[k + 3] < d else d
    for k in range(whole, x.size):
        a = x[k] if x[k] < a else a
    return min(min(a, b), min(c, d))


@njit
def _first(x, value):
    """Where an entry that is as small is found first."""
    for k in range(x.size):
        if x[k] <= value:
            return k
    return 0
