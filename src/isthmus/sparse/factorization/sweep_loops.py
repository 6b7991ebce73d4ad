"""Compiled coordinate descent on non-negative least squares, eight rows side by side.

And the extrapolation between two of its steps.
"""

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    largest,
    less,
    load_row,
    more,
    more_products,
    scaled,
    spread,
    store_row,
    where_larger,
)


@njit(nogil=True, inline="always")
def _slope(work, row, k, j):
    """b_j - w'g_j of eight rows, in four sums that need not wait for each other."""
    s0, s1, s2, s3 = load_row(work, k + j, 0), spread(0.0), spread(0.0), spread(0.0)
    m = 0
    while m + 4 <= k:
        s0 = less(s0, row[m], load_row(work, m, 0))
        s1 = less(s1, row[m + 1], load_row(work, m + 1, 0))
        s2 = less(s2, row[m + 2], load_row(work, m + 2, 0))
        s3 = less(s3, row[m + 3], load_row(work, m + 3, 0))
        m += 4
    while m < k:
        s1 = less(s1, row[m], load_row(work, m, 0))
        m += 1
    return more(more(s0, 1.0, s1), 1.0, more(s2, 1.0, s3))


@njit(nogil=True)
def sweep_rows(W, B, G, n_sweeps, share, work):
    """Coordinate descent on ½ w'Gw - b'w over w >= 0 for each row of ``W``, in place.

    A row gets at most ``n_sweeps`` sweeps and stops where one gains no more than ``share`` of what
    the first one gained. ``work`` is memory for 2k rows of eight numbers, where a row of ``W``
    becomes a column. The slope of an entry is summed anew: what has been loaded is not stored.
    """
    n, k = W.shape
    zero = spread(0.0)
    for first in range(0, n, LANES):
        for j in range(k):
            for q in range(LANES):
                i = min(first + q, n - 1)  # the last row stands for those after it
                work[j, q], work[k + j, q] = W[i, j], B[i, j]
        on, least = spread(1.0), zero
        for sweep in range(n_sweeps):
            gain = zero
            for j in range(k):
                curvature = G[j, j]
                if curvature > 0.0:
                    x = load_row(work, j, 0)
                    new = more(x, 1.0 / curvature, _slope(work, G[j], k, j))
                    new = where_larger(on, zero, where_larger(new, zero, new, zero), x)
                    store_row(work, j, 0, new)
                    step = less(new, 1.0, x)
                    gain = more_products(gain, scaled(curvature, step), step)
            if sweep == 0:
                least = scaled(share, gain)
            on = where_larger(gain, least, on, zero)
            if largest(on) == 0.0:
                break
        for q in range(min(LANES, n - first)):
            for j in range(k):
                W[first + q, j] = work[j, q]


@njit(nogil=True)
def go_on(now, before, share, out):
    """Set ``out`` to ``now`` and a share of the last step, no less than zero, in one pass."""
    for i in range(out.shape[0]):
        ahead = now[i] + share * (now[i] - before[i])
        out[i] = 0.0 if ahead < 0.0 else ahead
