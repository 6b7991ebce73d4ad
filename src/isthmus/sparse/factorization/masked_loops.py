"""Compiled coordinate descent where each row has normal equations of its own, eight rows at once.

``G[j (j + 1) // 2 + m, i]`` is entry (j, m), m <= j, of the matrix of row i.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    largest,
    less,
    less_products,
    load_row,
    more,
    more_products,
    products,
    quotients,
    scaled,
    spread,
    store_row,
    total,
    where_larger,
)


@njit(nogil=True, inline="always")
def _slope(W, B, G, j, first):
    """b_j - w'g_j of eight rows, in two sums that need not wait for each other."""
    start = j * (j + 1) // 2
    below, above = load_row(B, j, first), spread(0.0)
    for m in range(j + 1):
        below = less_products(below, load_row(G, start + m, first), load_row(W, m, first))
    for m in range(j + 1, W.shape[0]):
        entry = load_row(G, m * (m + 1) // 2 + j, first)
        above = less_products(above, entry, load_row(W, m, first))
    return more(below, 1.0, above)


@njit(nogil=True)
def sweep_columns(W, B, G, n_sweeps, share):
    """Coordinate descent on ½ w'Gw - b'w over w >= 0 for each column of ``W``, in place.

    A column gets at most ``n_sweeps`` sweeps and stops where one gains no more than ``share`` of
    what the first one gained. Returns the sum of what is minimised.
    """
    k, n = W.shape
    zero = spread(0.0)
    value = zero
    for first in range(0, n, LANES):
        on, least = spread(1.0), zero
        for sweep in range(n_sweeps):
            gain = zero
            for j in range(k):
                curvature = load_row(G, j * (j + 3) // 2, first)
                x = load_row(W, j, first)
                new = more(x, 1.0, quotients(_slope(W, B, G, j, first), curvature))
                new = where_larger(new, zero, new, zero)
                # A component that a row does not see stays as it is.
                new = where_larger(products(on, curvature), zero, new, x)
                store_row(W, j, first, new)
                step = less(new, 1.0, x)
                gain = more_products(gain, products(curvature, step), step)
            if sweep == 0:
                least = scaled(share, gain)
            on = where_larger(gain, least, on, zero)
            if largest(on) == 0.0:
                break
        # ½ w'Gw - b'w = -½ w'(b + (b - Gw))
        for j in range(k):
            both = more(load_row(B, j, first), 1.0, _slope(W, B, G, j, first))
            value = less_products(value, load_row(W, j, first), both)
    return 0.5 * total(value)


@njit(nogil=True)
def slopes_of_columns(W, B, G):
    """Gw - b of each column."""
    out = np.empty_like(W)
    for first in range(0, W.shape[1], LANES):
        for j in range(W.shape[0]):
            store_row(out, j, first, scaled(-1.0, _slope(W, B, G, j, first)))
    return out
