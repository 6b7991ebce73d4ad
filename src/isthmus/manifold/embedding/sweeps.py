"""Sweeps of stochastic descent in which places move towards their distances from each other.

Places that are near each other stand side by side in boxes of a few, whose borders are kept while
places move. A box beyond the reach of a place is not looked at: the places end where they would if
all had been, to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    aligned,
    largest,
    less,
    load,
    load_row,
    more,
    products,
    quotients,
    roots,
    scaled,
    spread,
    store,
    store_row,
    where_larger,
)
from isthmus.typing import Array, IntArray

# Places in a box: fewer have tighter borders, more are less often asked for them.
BOX = 4 * LANES


class Boxes(NamedTuple):
    """Places as columns of ``P`` (q, m), filled up with nan; borders ``low``, ``high`` (m/32, q).

    ``D`` (n, m) has the distances that are aimed at, in the same order; ``rank`` (n,) tells where
    each place stands.
    """

    P: Array
    D: Array
    low: Array
    high: Array
    rank: IntArray

    def places(self) -> Array:
        """Places (n, q) in their own order."""
        return np.ascontiguousarray(self.P[:, self.rank].T)


def boxes_of(X: Array, D: Array) -> Boxes:
    """Sort places (n, q) with distances (n, n) into boxes."""
    n, q = X.shape
    order = _side_by_side(X, np.arange(n))
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    m = -(-n // BOX) * BOX
    P, aims = aligned(q, m), aligned(n, m)
    P[:, :n], P[:, n:] = X[order].T, np.nan
    aims[:, :n], aims[:, n:] = D[order[:, None], order], 0.0
    boxed = P.reshape(q, -1, BOX)
    low, high = np.fmin.reduce(boxed, axis=2).T, np.fmax.reduce(boxed, axis=2).T
    return Boxes(P, aims, np.ascontiguousarray(low), np.ascontiguousarray(high), rank)


def _side_by_side(X: Array, rows: IntArray) -> IntArray:
    """The rows halved again and again along the axis of their largest range, in full boxes."""
    if len(rows) <= BOX:
        return rows
    some = X[rows]
    axis = int(np.argmax(np.ptp(some, axis=0)))
    half = -(-len(rows) // BOX) // 2 * BOX
    order = rows[np.argpartition(some[:, axis], half)]
    return np.concatenate([_side_by_side(X, order[:half]), _side_by_side(X, order[half:])])


def curvilinear_sweep(at: Boxes, order: IntArray, rate: float, reach: float) -> None:
    """For each place of ``order`` in turn, move all others towards their distance from it.

    x_j += rate (D - d)(x_j - x_i) / d for places within reach, where they are.
    """
    sweep: Any = sweep_in_plane if len(at.P) == 2 else sweep_anywhere
    sweep(at.P, at.D, at.low, at.high, at.rank[order], rate, reach)


@njit
def sweep_anywhere(P: Any, D: Any, low: Any, high: Any, order: Any, rate: Any, reach: Any) -> None:
    """The sweep in any number of coordinates."""
    none, limit, one = spread(0.0), spread(reach * reach), spread(1.0)
    steps = np.empty(BOX)
    for i in order:
        for b in range(len(low)):
            away = 0.0
            for k in range(len(P)):
                away += max(low[b, k] - P[k, i], P[k, i] - high[b, k], 0.0) ** 2
            if away > reach * reach:
                continue
            for t in range(0, BOX, LANES):
                square = none
                for k in range(len(P)):
                    gap = less(load_row(P, k, b * BOX + t), P[k, i], one)
                    square = more(square, 1.0, products(gap, gap))
                d = roots(square)
                step = scaled(rate, less(load_row(D, i, b * BOX + t), 1.0, d))
                step = where_larger(square, limit, none, quotients(step, d))
                store(steps, t, where_larger(square, none, step, none))
            for k in range(len(P)):
                here, top, bottom = P[k, i], spread(-np.inf), spread(-np.inf)
                for t in range(0, BOX, LANES):
                    x = load_row(P, k, b * BOX + t)
                    x = more(x, 1.0, products(load(steps, t), less(x, here, one)))
                    store_row(P, k, b * BOX + t, x)
                    turned = scaled(-1.0, x)
                    top = where_larger(x, top, x, top)
                    bottom = where_larger(turned, bottom, turned, bottom)
                low[b, k], high[b, k] = -largest(bottom), largest(top)


@njit
def sweep_in_plane(P: Any, D: Any, low: Any, high: Any, order: Any, rate: Any, reach: Any) -> None:
    """The same for two coordinates, whose groups of lanes have names and stay in registers."""
    limit = spread(reach * reach)
    for i in order:
        a, b = P[0, i], P[1, i]
        for k in range(len(low)):
            beside = max(low[k, 0] - a, a - high[k, 0], 0.0)
            above = max(low[k, 1] - b, b - high[k, 1], 0.0)
            if beside * beside + above * above > reach * reach:
                continue
            s = k * BOX
            t, u, v = s + LANES, s + 2 * LANES, s + 3 * LANES
            x0, x1, x2, x3 = (
                load_row(P, 0, s),
                load_row(P, 0, t),
                load_row(P, 0, u),
                load_row(P, 0, v),
            )
            y0, y1, y2, y3 = (
                load_row(P, 1, s),
                load_row(P, 1, t),
                load_row(P, 1, u),
                load_row(P, 1, v),
            )
            x0, y0 = _moved(x0, y0, load_row(D, i, s), a, b, rate, limit)
            x1, y1 = _moved(x1, y1, load_row(D, i, t), a, b, rate, limit)
            x2, y2 = _moved(x2, y2, load_row(D, i, u), a, b, rate, limit)
            x3, y3 = _moved(x3, y3, load_row(D, i, v), a, b, rate, limit)
            store_row(P, 0, s, x0)
            store_row(P, 0, t, x1)
            store_row(P, 0, u, x2)
            store_row(P, 0, v, x3)
            store_row(P, 1, s, y0)
            store_row(P, 1, t, y1)
            store_row(P, 1, u, y2)
            store_row(P, 1, v, y3)
            low[k, 0], high[k, 0] = _ends(x0, x1, x2, x3)
            low[k, 1], high[k, 1] = _ends(y0, y1, y2, y3)


@njit(forceinline=True)
def _moved(x: Any, y: Any, D: Any, a: Any, b: Any, rate: Any, limit: Any) -> Any:
    """Eight places after their steps from (a, b), whose distances from there should be ``D``."""
    none, one = spread(0.0), spread(1.0)
    right, up = less(x, a, one), less(y, b, one)
    square = more(products(right, right), 1.0, products(up, up))
    d = roots(square)
    step = where_larger(square, limit, none, quotients(scaled(rate, less(D, 1.0, d)), d))
    step = where_larger(square, none, step, none)
    return more(x, 1.0, products(step, right)), more(y, 1.0, products(step, up))


@njit(forceinline=True)
def _ends(x0: Any, x1: Any, x2: Any, x3: Any) -> Any:
    """The least and the largest of four groups of lanes, of which some may be nan."""
    top, bottom = spread(-np.inf), spread(-np.inf)
    top, turned = where_larger(x0, top, x0, top), scaled(-1.0, x0)
    bottom = where_larger(turned, bottom, turned, bottom)
    top, turned = where_larger(x1, top, x1, top), scaled(-1.0, x1)
    bottom = where_larger(turned, bottom, turned, bottom)
    top, turned = where_larger(x2, top, x2, top), scaled(-1.0, x2)
    bottom = where_larger(turned, bottom, turned, bottom)
    top, turned = where_larger(x3, top, x3, top), scaled(-1.0, x3)
    bottom = where_larger(turned, bottom, turned, bottom)
    return -largest(bottom), largest(top)
