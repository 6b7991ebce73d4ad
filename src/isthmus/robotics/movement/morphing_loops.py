"""Compiled dynamic programming for a monotone path with bounded slopes."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True)
def cheapest_path(costs, slope_costs, smallest):
    """Column of each row on the cheapest path from the first cell to the last.

    From row to row the column grows by ``smallest`` or more; a growth by ``smallest + k``
    costs ``slope_costs[k]``. The first entry is -1 if no path has such slopes.
    """
    n_rows, n_columns = costs.shape
    n_moves = len(slope_costs)
    total = np.full((n_rows, n_columns), np.inf)
    move = np.zeros((n_rows, n_columns), dtype=np.int64)
    total[0, 0] = costs[0, 0]
    for i in range(1, n_rows):
        for j in range(n_columns):
            best = np.inf
            for k in range(n_moves):
                before = j - smallest - k
                if before < 0:
                    break
                value = total[i - 1, before] + slope_costs[k]
                if value < best:
                    best = value
                    move[i, j] = smallest + k
            total[i, j] = best + costs[i, j]
    path = np.empty(n_rows, dtype=np.int64)
    path[n_rows - 1] = n_columns - 1
    for i in range(n_rows - 1, 0, -1):
        path[i - 1] = path[i] - move[i, path[i]]
    if not np.isfinite(total[n_rows - 1, n_columns - 1]):
        path[0] = -1
    return path
