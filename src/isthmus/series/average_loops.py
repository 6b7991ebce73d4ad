"""A compiled round of averaging under dynamic time warping."""

import numpy as np

from isthmus._compiled import njit
from isthmus.series.bands import NO_WINDOW
from isthmus.series.warping_loops import fill_band


@njit(nogil=True)
def _fill_table(x, center, low, high, weights, costs, table):
    """Squared distances of elements that may meet, and the distances of all beginnings.

    Entry (i + 1, j + 1) of the table is that of the first i + 1 and j + 1 elements; what lies
    outside of the band is infinite already. What comes from the row above is compared first, which
    fills vector registers; the steps along the row wait for each other.
    """
    diagonal, down, along = weights
    for i in range(len(x)):
        cost, above, row = costs[i], table[i], table[i + 1]
        for j in range(low[i], high[i]):
            total = 0.0
            for c in range(x.shape[1]):
                d = x[i, c] - center[j, c]
                total += d * d
            cost[j] = total
        for j in range(low[i], high[i]):
            best, other = above[j] + diagonal * cost[j], above[j + 1] + down * cost[j]
            row[j + 1] = other if other < best else best
        left = np.inf
        for j in range(low[i], high[i]):
            other, best = left + along * cost[j], row[j + 1]
            left = other if other < best else best
            row[j + 1] = left


@njit(nogil=True)
def _step_into(table, cost, i, j, weights):
    """The step that led to a meeting: 0 diagonal, 1 down, 2 along; ties in this order."""
    diagonal, down, along = weights
    best, step = table[i, j] + diagonal * cost, 0
    other = table[i, j + 1] + down * cost
    if other < best:
        best, step = other, 1
    return 2 if table[i + 1, j] + along * cost < best else step


@njit(nogil=True)
def add_meetings(series, shares, center, kind, width, weights, total, mass):
    """The summed distance of all series to the centre; what meets its elements is added up.

    ``series`` is ``(values, starts, lengths)``. Every element of a series that meets one of the
    centre is added to ``total`` there, with the weight of the step that led to the meeting, and the
    weight to ``mass``.
    """
    values, starts, lengths = series
    m, longest, summed = len(center), lengths.max(), 0.0
    low, high = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    costs, table = np.empty((longest, m)), np.full((longest + 1, m + 1), np.inf)
    table[0, 0] = 0.0
    for s in range(len(starts)):
        n = lengths[s]
        x = values[starts[s] : starts[s] + n]
        fill_band(kind, width, n, m, low, high)
        if kind != NO_WINDOW:  # another band
            table[1:] = np.inf
        _fill_table(x, center, low, high, weights, costs, table)
        summed += shares[s] * table[n, m]
        i, j = n - 1, m - 1
        while i >= 0:  # the first two elements meet by a diagonal step
            step = _step_into(table, costs[i, j], i, j, weights)
            share = shares[s] * weights[step]
            for c in range(x.shape[1]):
                total[j, c] += share * x[i, c]
            mass[j] += share
            i -= step != 2
            j -= step != 1
    return summed
