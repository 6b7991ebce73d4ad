"""Compiled search for the nearest series, with bounds that spare most of the work."""

import numpy as np

from isthmus._compiled import njit
from isthmus.series.warping_loops import _local, one_distance


@njit(nogil=True)
def envelope(z, low, high, floor, ceiling):
    """Least and greatest value, by channel, that row i may meet inside its window."""
    for i in range(len(low)):
        for c in range(z.shape[1]):
            least, greatest = z[low[i], c], z[low[i], c]
            for j in range(low[i] + 1, high[i]):
                least = min(least, z[j, c])
                greatest = max(greatest, z[j, c])
            floor[i, c], ceiling[i, c] = least, greatest


@njit(nogil=True)
def lower_bound(x, z, floor, ceiling, root, least_weight):
    """A cost that no path is below: what sticks out of the envelope, and the two ends."""
    total = 0.0
    for i in range(len(x)):
        cost = 0.0
        for c in range(x.shape[1]):
            over = max(x[i, c] - ceiling[i, c], floor[i, c] - x[i, c], 0.0)
            cost += over * over
        total += np.sqrt(cost) if root else cost
    ends = _local(x[0], z[0], root)
    if len(x) * len(z) > 1:
        ends += _local(x[-1], z[-1], root)
    return least_weight * max(total, ends)


@njit(nogil=True)
def nearest(x, Z, bounds, low, high, weights, root, distances, indices):
    """The nearest of ``Z``, best bounds first; return how many distances were begun.

    ``low[j]`` and ``high[j]`` are the window of ``x`` and series j.
    """
    values, starts, lengths = Z
    k = len(distances)
    distances[:] = np.inf
    indices[:] = -1
    order = np.argsort(bounds)
    begun = 0
    for j in order:
        if bounds[j] > distances[k - 1]:
            break
        begun += 1
        z = values[starts[j] : starts[j] + lengths[j]]
        d = one_distance(x, z, low[j], high[j], weights, root, distances[k - 1])
        # Insert; of equal distances the earlier series stays ahead.
        at = k
        while at > 0 and (
            d < distances[at - 1] or (d == distances[at - 1] and j < indices[at - 1])
        ):
            at -= 1
        if at < k and d < np.inf:
            for q in range(k - 1, at, -1):
                distances[q], indices[q] = distances[q - 1], indices[q - 1]
            distances[at], indices[at] = d, j
    return begun
