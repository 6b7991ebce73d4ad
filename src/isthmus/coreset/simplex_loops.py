"""The compiled loop of the quadratic program over the simplex."""

import numpy as np

from isthmus._compiled import njit


@njit
def descend(M, alpha, G, tol, max_iter):
    """Move weight between pairs until the gap is below ``tol``; return it and the number of steps.

    ``G`` is the gradient ``2 M alpha + v``; both it and ``alpha`` are changed in place, and ``M``
    may have more rows and columns than there are weights. The point that gains weight is the one
    with the smallest gradient; the point that loses it is the one for which the objective falls
    most.
    """
    n = len(alpha)
    gap = np.inf
    for iteration in range(max_iter):
        i, low = 0, np.inf
        for k in range(n):
            if G[k] < low:
                i, low = k, G[k]
        j, best, high = -1, 0.0, -np.inf
        for k in range(n):
            if alpha[k] > 0.0:
                if G[k] > high:
                    high = G[k]
                fall = G[k] - low
                if fall > 0.0:
                    curvature = max(M[i, i] + M[k, k] - 2.0 * M[i, k], 1e-300)
                    # A step is also bounded by the weight there is.
                    step = min(alpha[k], 0.5 * fall / curvature)
                    gain = step * fall - step * step * curvature
                    if gain > best:
                        j, best = k, gain
        gap = high - low
        if gap <= tol or j < 0:
            return max(gap, 0.0), iteration
        curvature = max(M[i, i] + M[j, j] - 2.0 * M[i, j], 1e-300)
        step = min(alpha[j], 0.5 * (G[j] - G[i]) / curvature)
        alpha[i] += step
        alpha[j] -= step
        if alpha[j] < 1e-16:
            alpha[j] = 0.0
        for k in range(n):
            G[k] += 2.0 * step * (M[i, k] - M[j, k])
    return gap, max_iter
