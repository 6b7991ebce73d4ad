"""Compiled loops that make a line through segments cheaper."""

import numpy as np

from isthmus._compiled import njit


@njit
def _total(path, costs, closed):
    K = len(path) // 2
    total = 0.0
    for k in range(K - 1):
        total += costs[path[2 * k + 1], path[2 * k + 2]]
    return total + costs[path[-1], path[0]] if closed else total


@njit
def _turn_stretches(path, costs, closed):
    """Reverse stretches of the line as long as that makes it cheaper (2-opt); in place."""
    K = len(path) // 2
    changed, better = False, True
    while better:
        better = False
        for a in range(K):
            for b in range(a, K):
                # Segments a..b turn round: only the joints before and after change.
                first, last = path[2 * a], path[2 * b + 1]
                change = 0.0
                around = closed and (b - a + 1) < K
                if a > 0 or around:
                    before = path[2 * a - 1]
                    change += costs[before, last] - costs[before, first]
                if b < K - 1 or around:
                    after = path[(2 * b + 2) % (2 * K)]
                    change += costs[first, after] - costs[last, after]
                if change < -1e-12:
                    left, right = 2 * a, 2 * b + 1
                    while left < right:
                        path[left], path[right] = path[right], path[left]
                        left, right = left + 1, right - 1
                    changed = better = True
    return changed


@njit
def _move_segments(path, costs, closed):
    """Put single segments, either way round, where that makes the line cheapest; in place."""
    K = len(path) // 2
    changed = False
    for a in range(K):
        lowest = _total(path, costs, closed)
        best = path
        rest = np.concatenate((path[: 2 * a], path[2 * a + 2 :]))
        pair = path[2 * a : 2 * a + 2]
        for b in range(K):
            for way in range(2):
                piece = pair if way == 0 else pair[::-1]
                trial = np.concatenate((rest[: 2 * b], piece, rest[2 * b :]))
                total = _total(trial, costs, closed)
                if total < lowest - 1e-12:
                    lowest, best, changed = total, trial, True
        for b in range(2 * K):
            path[b] = best[b]
    return changed


@njit
def untangle(path, costs, closed):
    """Turn stretches and move segments of the line as long as that makes it cheaper; in place."""
    _turn_stretches(path, costs, closed)
    while _move_segments(path, costs, closed):
        _turn_stretches(path, costs, closed)
    return path
