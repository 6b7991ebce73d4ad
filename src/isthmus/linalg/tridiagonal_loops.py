"""Compiled loops over tridiagonal matrices with a penalty on their diagonal."""

import numpy as np

from isthmus._compiled import njit

# Rows at a time: what has to be kept of them stays in the nearest cache.
_ROWS = 64


@njit(nogil=True)
def factor(diagonal, beside, alphas, steps, inverse_pivots):
    r"""Factors :math:`T+\alpha I=LDL^\top` for every penalty: below the diagonal, and 1 / D.

    Pivots of a positive semi-definite T are never below the penalty; rounding errors that push
    them there are put right.
    """
    for a in range(len(alphas)):
        pivot = max(diagonal[0] + alphas[a], alphas[a])
        steps[a, 0] = 0.0
        inverse_pivots[a, 0] = 1 / pivot
        for j in range(1, len(diagonal)):
            step = beside[j - 1] / pivot
            pivot = max(diagonal[j] + alphas[a] - step * beside[j - 1], alphas[a])
            steps[a, j] = step
            inverse_pivots[a, j] = 1 / pivot


@njit(nogil=True)
def solve(steps, inverse_pivots, B, out):
    r"""Write :math:`(LDL^\top)^{-1}B` of every penalty side by side into ``out``."""
    n, q = B.shape
    for a in range(len(steps)):
        first = a * q
        for j in range(n):
            for k in range(q):
                before = out[j - 1, first + k] if j else 0.0
                out[j, first + k] = B[j, k] - steps[a, j] * before
        for j in range(n - 1, -1, -1):
            for k in range(q):
                after = steps[a, j + 1] * out[j + 1, first + k] if j < n - 1 else 0.0
                out[j, first + k] = out[j, first + k] * inverse_pivots[a, j] - after


@njit(nogil=True, fastmath={"contract"})
def inverse_diagonals(columns, steps, inverse_pivots, out):
    r"""Write the diagonals of :math:`Q(LDL^\top)^{-1}Q^\top`; ``columns`` are those of Q."""
    n = columns.shape[1]
    w, total = np.empty(_ROWS), np.empty(_ROWS)
    for start in range(0, n, _ROWS):
        size = min(_ROWS, n - start)
        for a in range(len(steps)):
            w[:] = 0.0
            total[:] = 0.0
            for j in range(len(columns)):
                step, share = steps[a, j], inverse_pivots[a, j]
                row = columns[j, start : start + size]
                for i in range(size):
                    w[i] = row[i] - step * w[i]
                    total[i] += share * w[i] * w[i]
            out[a, start : start + size] = total[:size]
