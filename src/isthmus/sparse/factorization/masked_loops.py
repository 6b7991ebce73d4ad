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
    roots,
    scaled,
    spread,
    store_row,
    total,
    where_larger,
)

# Share of a curvature below which what others leave of it is rounding, and the least that an entry
# leaves to others.
DEPENDENT, LEAST_LEFT = 1e-12, 1e-3


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


@njit(nogil=True)
def leverages(W, G, V, first, stop, out):
    r"""Fill in :math:`v_j'G_i^{-1}v_j` for all j and rows i of a range, over components in use.

    That is how far the fit of entry (i, j) moves with the entry. ``out`` has a row for each j;
    components that are zero in row i, or depend on those before them, take no part.
    """
    k, zero, one = len(W), spread(0.0), spread(1.0)
    L, room = np.empty((k * (k + 1) // 2, LANES)), np.empty((3, k, LANES))
    used, inverse, y = room[0], room[1], room[2]
    for begin in range(first, stop, LANES):
        for j in range(k):
            store_row(used, j, 0, where_larger(load_row(W, j, begin), zero, one, zero))
            row = j * (j + 1) // 2
            for m in range(j + 1):
                entry = products(load_row(G, row + m, begin), load_row(used, m, 0))
                rest = products(entry, load_row(used, j, 0))
                below = m * (m + 1) // 2
                for p in range(m):
                    rest = less_products(rest, load_row(L, row + p, 0), load_row(L, below + p, 0))
                if m < j:
                    store_row(L, row + m, 0, products(rest, load_row(inverse, m, 0)))
                else:
                    least = scaled(DEPENDENT, load_row(G, row + j, begin))
                    root = quotients(one, roots(where_larger(rest, least, rest, one)))
                    store_row(inverse, j, 0, where_larger(rest, least, root, zero))
        for i in range(len(V)):
            total_share = zero
            for j in range(k):
                rest = scaled(V[i, j], load_row(used, j, 0))
                for p in range(j):
                    entry = load_row(L, j * (j + 1) // 2 + p, 0)
                    rest = less_products(rest, entry, load_row(y, p, 0))
                rest = products(rest, load_row(inverse, j, 0))
                store_row(y, j, 0, rest)
                total_share = more_products(total_share, rest, rest)
            store_row(out, i, begin - first, total_share)


@njit(nogil=True, error_model="numpy")
def squared_errors_left_out(fit, values, mask, by_row, by_column):
    """Sum of squared residuals of known entries, each over what it leaves to others on both sides.

    ``by_row`` has columns for rows. ``fit`` is overwritten.
    """
    n, d = fit.shape
    total = 0.0
    # In tiles, since one table lies across the others.
    for low in range(0, n, LANES):
        for j in range(d):
            for i in range(low, min(low + LANES, n)):
                fit[i, j] = (fit[i, j] - values[i, j]) / max(1.0 - by_row[j, i], LEAST_LEFT)
        for i in range(low, min(low + LANES, n)):
            for j in range(d):
                rest = mask[i, j] * fit[i, j] / max(1.0 - by_column[i, j], LEAST_LEFT)
                total += rest * rest
    return total
