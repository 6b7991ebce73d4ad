"""Compiled recurrences of elastic distances; row i + 1 of a table belongs to the element x_i."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def _norm(a, b):
    total = 0.0
    for c in range(len(a)):
        total += (a[c] - b[c]) ** 2
    return np.sqrt(total)


@njit(nogil=True)
def common_share(x, y, width):
    """One minus the longest common subsequence, as a share of the shorter series."""
    n, m = len(x), len(y)
    above, row = np.zeros(m + 1), np.zeros(m + 1)
    for i in range(n):
        for j in range(m):
            if _norm(x[i], y[j]) <= width:
                row[j + 1] = above[j] + 1.0
            else:
                row[j + 1] = max(above[j + 1], row[j])
        above, row = row, above
    return 1.0 - above[m] / min(n, m)


@njit(nogil=True)
def edit_share(x, y, width):
    """Edits, of which a match within ``width`` is free, as a share of the longer series."""
    n, m = len(x), len(y)
    above, row = np.arange(m + 1) * 1.0, np.empty(m + 1)
    for i in range(n):
        row[0] = i + 1.0
        for j in range(m):
            best = above[j] + (0.0 if _norm(x[i], y[j]) <= width else 1.0)
            row[j + 1] = min(best, min(above[j + 1], row[j]) + 1.0)
        above, row = row, above
    return above[m] / max(n, m)


@njit(nogil=True)
def _split_cost(new, last, other, cost):
    """Of repeating ``last`` as ``new`` where the other series is at ``other``."""
    if last <= new <= other or last >= new >= other:
        return cost
    return cost + min(abs(new - last), abs(new - other))


@njit(nogil=True)
def move_split_merge(x, y, cost):
    """Moves, splits and merges of two series of one channel."""
    n, m = len(x), len(y)
    table = np.empty((n, m))
    table[0, 0] = abs(x[0, 0] - y[0, 0])
    for i in range(1, n):
        table[i, 0] = table[i - 1, 0] + _split_cost(x[i, 0], x[i - 1, 0], y[0, 0], cost)
    for j in range(1, m):
        table[0, j] = table[0, j - 1] + _split_cost(y[j, 0], x[0, 0], y[j - 1, 0], cost)
    for i in range(1, n):
        for j in range(1, m):
            move = table[i - 1, j - 1] + abs(x[i, 0] - y[j, 0])
            split = table[i - 1, j] + _split_cost(x[i, 0], x[i - 1, 0], y[j, 0], cost)
            merge = table[i, j - 1] + _split_cost(y[j, 0], x[i, 0], y[j - 1, 0], cost)
            table[i, j] = min(move, split, merge)
    return table[n - 1, m - 1]


@njit(nogil=True)
def time_warp_edit(x, y, stiffness, cost):
    """Edits of segments, with a price on differences in time; a zero stands before each series."""
    n, m = len(x), len(y)
    zero = np.zeros(x.shape[1])
    above, row = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    above[0] = 0.0
    for i in range(n):
        x_last = x[i - 1] if i > 0 else zero
        delete_x = _norm(x[i], x_last) + stiffness + cost
        row[0] = np.inf
        for j in range(m):
            y_last = y[j - 1] if j > 0 else zero
            match = _norm(x[i], y[j]) + _norm(x_last, y_last) + 2 * stiffness * abs(i - j)
            best = min(above[j] + match, above[j + 1] + delete_x)
            row[j + 1] = min(best, row[j] + _norm(y[j], y_last) + stiffness + cost)
        above, row = row, above
        row[0] = np.inf
    return above[m]


@njit(nogil=True)
def soft_warping(x, y, smoothness):
    """Minus the logarithm of the summed exponentials of all warping costs, times smoothness."""
    n, m = len(x), len(y)
    above, row = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    above[0] = 0.0
    for i in range(n):
        row[0] = np.inf
        for j in range(m):
            least = min(above[j], above[j + 1], row[j])
            total = np.exp((least - above[j]) / smoothness)
            total += np.exp((least - above[j + 1]) / smoothness)
            total += np.exp((least - row[j]) / smoothness)
            row[j + 1] = _norm(x[i], y[j]) ** 2 + least - smoothness * np.log(total)
        above, row = row, above
        row[0] = np.inf
    return above[m]


@njit(nogil=True)
def _element(parts, i):
    return parts[0][parts[1][i] : parts[1][i] + parts[2][i]]


# One loop over pairs for each distance: what is not asked for is not compiled.


@njit(nogil=True)
def lcss_pairs(X, Z, first, second, a, b, out):
    for p in range(len(first)):
        out[p] = common_share(_element(X, first[p]), _element(Z, second[p]), a)


@njit(nogil=True)
def edr_pairs(X, Z, first, second, a, b, out):
    for p in range(len(first)):
        out[p] = edit_share(_element(X, first[p]), _element(Z, second[p]), a)


@njit(nogil=True)
def msm_pairs(X, Z, first, second, a, b, out):
    for p in range(len(first)):
        out[p] = move_split_merge(_element(X, first[p]), _element(Z, second[p]), a)


@njit(nogil=True)
def twe_pairs(X, Z, first, second, a, b, out):
    for p in range(len(first)):
        out[p] = time_warp_edit(_element(X, first[p]), _element(Z, second[p]), a, b)


@njit(nogil=True)
def soft_pairs(X, Z, first, second, a, b, out):
    for p in range(len(first)):
        out[p] = soft_warping(_element(X, first[p]), _element(Z, second[p]), a)
