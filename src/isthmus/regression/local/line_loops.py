"""Compiled fits of lines from moments about an origin."""

from typing import Any

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import cholesky, cholesky_solve

# A pivot below this share of its diagonal entry is left to the loops over pairs: a moment that was
# moved from the origin has a relative error of up to 1e-12.
LEAST_PIVOT = 1e-5


@njit(nogil=True)
def fit_lines(sums: Any, X: Any, ridge: Any, u: Any, beta: Any, ridges: Any) -> None:
    """Fill ``u``, ``beta`` and ``ridges`` of each point, see :mod:`.lines`.

    ``sums`` are moments about the origin, the lower triangle row by row, and then those of each
    output. A ridge of -1 tells that the moments are nearly singular.
    """
    (m, q), d = X.shape, beta.shape[1]
    n = q + 1
    C = np.empty((n, n))
    for j in range(m):
        x, raw = X[j], sums[j]
        total, at = raw[0], 1
        C[0, 0] = total
        trace = total
        for a in range(1, n):
            # The first sum of the row is that of coordinate a alone.
            mean = raw[at]
            C[a, 0] = mean - x[a - 1] * total
            for b in range(1, a + 1):
                C[a, b] = raw[at + b] - x[b - 1] * mean - x[a - 1] * C[b, 0]
            trace += C[a, a]
            at += a + 1
        share = ridge * trace / n
        for a in range(1, n):
            C[a, a] += share
        ridges[j] = share
        if not cholesky(C, n, LEAST_PIVOT):
            ridges[j] = -1.0
            continue
        u[j, 0] = 1.0
        cholesky_solve(C, n, u[j])
        for k in range(d):
            line, first = beta[j, k], raw[at]
            line[0] = first
            for a in range(1, n):
                line[a] = raw[at + a] - x[a - 1] * first
            cholesky_solve(C, n, line)
            at += n
