"""Compiled recurrences of dynamic time warping.

Many pairs go side by side, a pair a lane: neighbouring numbers of a work array then belong to
different pairs, do not wait for one another and fill the vector registers. Cells outside a window
are infinite, so nothing here may assume finite numbers.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.series.bands import ITAKURA, NO_WINDOW, SAKOE_CHIBA, STRICT


@njit(nogil=True, error_model="numpy")
def fill_band(kind, width, n, m, low, high):
    """Columns ``low[i]`` to ``high[i] - 1`` that row ``i`` of an n x m table may use."""
    radius = np.floor(width * max(n, m)) if width < 1 else width
    for i in range(n):
        first, last = 0.0, m - 1.0
        if kind == SAKOE_CHIBA:
            first, last = i - radius - max(0, n - m), i + radius + max(0, m - n)
        elif kind == STRICT:
            first, last = i - radius, i + radius
        elif kind == ITAKURA:
            back = n - 1 - i
            first = max((i - 0.5) / width - 0.5, (m - 1) - width * (back + 0.5) - 0.5)
            last = min(width * (i + 0.5) + 0.5, (m - 1) - (back - 0.5) / width + 0.5)
        low[i] = max(0, int(np.ceil(first - 1e-9)))
        high[i] = min(m, int(np.floor(last + 1e-9)) + 1)


@njit(nogil=True)
def _local(x, z, root):
    total = 0.0
    for c in range(x.shape[0]):
        d = x[c] - z[c]
        total += d * d
    return np.sqrt(total) if root else total


@njit(nogil=True)
def one_distance(x, z, low, high, weights, root, bound):
    """Distance of two series; infinite as soon as every path costs more than ``bound``."""
    n, m = len(x), len(z)
    diagonal, down, along = weights
    # Entry j + 1 is column j; entry 0 lies before the first column.
    above = np.full(m + 1, np.inf)
    row = np.full(m + 1, np.inf)
    above[0] = 0.0
    for i in range(n):
        row[low[i]] = np.inf
        left = np.inf
        smallest = np.inf
        for j in range(low[i], high[i]):
            cost = _local(x[i], z[j], root)
            best = above[j] + diagonal * cost
            other = above[j + 1] + down * cost
            best = other if other < best else best
            other = left + along * cost
            left = other if other < best else best
            row[j + 1] = left
            smallest = left if left < smallest else smallest
        if smallest > bound:
            return np.inf
        if i + 1 < n:
            # The next row looks at these, and they may hold what an earlier row left.
            row[high[i] + 1 : high[i + 1] + 1] = np.inf
        above, row = row, above
    return above[m]


@njit(nogil=True)
def path_table(costs, low, high, weights):
    """Distance, and the step into every cell: 0 diagonal, 1 down, 2 along; ties in this order."""
    n, m = costs.shape
    diagonal, down, along = weights
    steps = np.zeros((n, m), dtype=np.int8)
    above = np.full(m + 1, np.inf)
    row = np.full(m + 1, np.inf)
    above[0] = 0.0
    for i in range(n):
        row[low[i]] = np.inf
        for j in range(low[i], high[i]):
            cost = costs[i, j]
            best = above[j] + diagonal * cost
            step = 0
            other = above[j + 1] + down * cost
            if other < best:
                best, step = other, 1
            other = row[j] + along * cost
            if other < best:
                best, step = other, 2
            row[j + 1] = best
            steps[i, j] = step
        if i + 1 < n:
            row[high[i] + 1 : high[i + 1] + 1] = np.inf
        above, row = row, above
    return above[m], steps


@njit(nogil=True)
def _squared_row(x, z, above, row, start, stop):
    """Columns ``start`` to ``stop`` for one channel, squared differences and equal weights."""
    for j in range(start, stop):
        right, corner, up, left, cell = z[j, 0], above[j], above[j + 1], row[j], row[j + 1]
        for b in range(cell.shape[0]):
            d = x[0, b] - right[b]
            best = corner[b] if corner[b] < up[b] else up[b]
            best = left[b] if left[b] < best else best
            cell[b] = d * d + best


@njit(nogil=True)
def _weighted_row(x, z, above, row, start, stop, weights, root, cost):
    """The same for any number of channels, weights and Euclidean costs."""
    diagonal, down, along = weights
    for j in range(start, stop):
        cost[:] = 0.0
        for c in range(x.shape[0]):
            right = z[j, c]
            for b in range(cost.shape[0]):
                d = x[c, b] - right[b]
                cost[b] += d * d
        if root:
            for b in range(cost.shape[0]):
                cost[b] = np.sqrt(cost[b])
        corner, up, left, cell = above[j], above[j + 1], row[j], row[j + 1]
        for b in range(cell.shape[0]):
            best = corner[b] + diagonal * cost[b]
            other = up[b] + down * cost[b]
            best = other if other < best else best
            other = left[b] + along * cost[b]
            cell[b] = other if other < best else best


@njit(nogil=True)
def _columns(x, z, above, row, start, stop, weights, root, cost):
    if x.shape[0] == 1 and not root and weights == (1.0, 1.0, 1.0):
        _squared_row(x, z, above, row, start, stop)
    else:
        _weighted_row(x, z, above, row, start, stop, weights, root, cost)


@njit(nogil=True)
def _fill(rows, start, stop):
    for j in range(start, stop):
        for b in range(rows.shape[1]):
            rows[j, b] = np.inf


@njit(nogil=True)
def _lanes(x, z, lengths, low, high, weights, root, work, cost, out):
    """Distances of all lanes of a block; ``lengths`` has the two lengths of each lane."""
    n, m = x.shape[0], z.shape[0]
    above, row = work[0], work[1]
    _fill(above, 0, m + 1)
    _fill(row, 0, m + 1)
    for b in range(above.shape[1]):
        above[0, b] = 0.0
    for i in range(n):
        start, stop = low[i].min(), high[i].max()
        # From here to there every lane is inside its window; outside of it some are not.
        inner, outer = min(low[i].max(), stop), min(high[i].min(), stop)
        _fill(row, start, start + 1)
        j = start
        while j < stop:
            until = outer if inner <= j < outer else j + 1
            _columns(x[i], z, above, row, j, until, weights, root, cost)
            if until == j + 1:
                for b in range(row.shape[1]):
                    if j < low[i, b] or j >= high[i, b]:
                        row[j + 1, b] = np.inf
            j = until
        for b in range(row.shape[1]):
            if lengths[0, b] == i + 1:
                out[b] = row[lengths[1, b], b]
        if i + 1 < n:
            _fill(row, stop + 1, high[i + 1].max() + 1)
        above, row = row, above


@njit(nogil=True, inner=True)
def fill_lanes(series, which, p, lanes, lengths):
    """Put series ``which[p]``, ``which[p + 1]``, ... side by side; return the greatest length.

    ``series`` is ``(values, starts, lengths)``. The last element is repeated up to the longest,
    and lanes without a series of their own repeat the last one.
    """
    values, starts, n_elements = series
    longest = 0
    for b in range(lanes.shape[2]):
        s = which[min(p + b, len(which) - 1)]
        lengths[b] = n_elements[s]
        longest = max(longest, lengths[b])
    for b in range(lanes.shape[2]):
        start = starts[which[min(p + b, len(which) - 1)]]
        for i in range(longest):
            row = start + min(i, lengths[b] - 1)
            for c in range(lanes.shape[1]):
                lanes[i, c, b] = values[row, c]
    return longest


@njit(nogil=True)
def _fill_bands(kind, width, n, m, lengths, low, high):
    for b in range(low.shape[1]):
        if kind == NO_WINDOW:
            # The columns behind the end of a lane are computed but not used.
            fill_band(kind, width, n, m, low[:, b], high[:, b])
            continue
        own = lengths[0, b]
        fill_band(kind, width, own, lengths[1, b], low[:, b], high[:, b])
        # Rows behind the end of a lane do not count; keep the bounds growing.
        for i in range(own, n):
            low[i, b], high[i, b] = low[own - 1, b], high[own - 1, b]


@njit(nogil=True)
def pair_distances(X, Z, first, second, kind, width, weights, root, longest, n_lanes, out):
    """Distances of ``X[first[p]]`` and ``Z[second[p]]`` for all p, into ``out``.

    ``X`` and ``Z`` are ``(values, starts, lengths)``: all series one after another, none longer
    than ``longest``.
    """
    n_channels = X[0].shape[1]
    work = np.empty((2, longest + 1, n_lanes))
    cost = np.empty(n_lanes)
    x = np.empty((longest, n_channels, n_lanes))
    z = np.empty((longest, n_channels, n_lanes))
    low = np.empty((longest, n_lanes), dtype=np.int64)
    high = np.empty((longest, n_lanes), dtype=np.int64)
    lengths = np.empty((2, n_lanes), dtype=np.int64)
    found = np.empty(n_lanes)
    for p in range(0, len(first), n_lanes):
        n = fill_lanes(X, first, p, x, lengths[0])
        m = fill_lanes(Z, second, p, z, lengths[1])
        _fill_bands(kind, width, n, m, lengths, low, high)
        _lanes(x[:n], z[:m], lengths, low, high, weights, root, work, cost, found)
        for b in range(min(n_lanes, len(first) - p)):
            out[p + b] = found[b]
