"""Compiled recurrences of alignments with gaps."""

import numpy as np

from isthmus._compiled import njit
from isthmus.series.warping_loops import fill_band

SERIES, EDITS, PIECES = 0, 1, 2


@njit(nogil=True, inner=True)
def gap_distance(x, y, gap, low, high):
    """Alignment of two series; an element may meet the value ``gap`` instead of another one.

    Entry j + 1 of a row is column j; entry 0, all elements of y left out, is open as column 0 is.
    """
    n, m = len(x), len(y)
    above, row = np.full(m + 1, np.inf), np.full(m + 1, np.inf)
    above[0] = 0.0
    for j in range(high[0]):
        above[j + 1] = above[j] + _norm(y[j], gap)
    for i in range(n):
        skip = _norm(x[i], gap)
        row[: low[i] + 1] = np.inf
        row[high[i] + 1 :] = np.inf
        if low[i] == 0:
            row[0] = above[0] + skip
        for j in range(low[i], high[i]):
            best = above[j] + _norm(x[i], y[j])
            best = min(best, above[j + 1] + skip)
            row[j + 1] = min(best, row[j] + _norm(y[j], gap))
        above, row = row, above
    return above[m]


@njit(nogil=True)
def _norm(a, b):
    total = 0.0
    for c in range(len(a)):
        total += (a[c] - b[c]) ** 2
    return np.sqrt(total)


@njit(nogil=True, inner=True)
def symbol_distance(s, t, mismatch, gap):
    """Weighted edit distance of two sequences of codes."""
    n, m = len(s), len(t)
    above, row = gap * np.arange(m + 1), np.empty(m + 1)
    for i in range(n):
        row[0] = (i + 1) * gap
        for j in range(m):
            best = above[j] + (0.0 if s[i, 0] == t[j, 0] else mismatch)
            best = min(best, above[j + 1] + gap)
            row[j + 1] = min(best, row[j] + gap)
        above, row = row, above
    return above[m]


@njit(nogil=True, inner=True)
def local_score(s, t, match, mismatch, gap):
    """Score of the best alignment of any two pieces of two sequences of codes."""
    n, m = len(s), len(t)
    above, row = np.zeros(m + 1), np.zeros(m + 1)
    top = 0.0
    for i in range(n):
        for j in range(m):
            best = max(0.0, above[j] + (match if s[i, 0] == t[j, 0] else -mismatch))
            best = max(best, above[j + 1] - gap)
            row[j + 1] = max(best, row[j] - gap)
            top = max(top, row[j + 1])
        above, row = row, above
    return top


@njit(nogil=True)
def pair_values(kind, X, Z, first, second, level, costs, window, out):
    """One of the three for all pairs; a function as argument would be compiled in every run."""
    longest = 0
    for p in range(len(first)):
        longest = max(longest, X[2][first[p]])
    low, high = np.zeros(longest, dtype=np.int64), np.zeros(longest, dtype=np.int64)
    for p in range(len(first)):
        i, j = first[p], second[p]
        x = X[0][X[1][i] : X[1][i] + X[2][i]]
        z = Z[0][Z[1][j] : Z[1][j] + Z[2][j]]
        if kind == SERIES:
            fill_band(window[0], window[1], len(x), len(z), low, high)
            out[p] = gap_distance(x, z, level, low, high)
        elif kind == EDITS:
            out[p] = symbol_distance(x, z, costs[1], costs[2])
        else:
            out[p] = local_score(x, z, costs[0], costs[1], costs[2])
