"""The compiled map through a grid of nodes: values and slopes of eight points at once.

Polynomials are products of differences from the left and from the right of a node,
``ell_i = b_i p_i s_i``, and so are their slopes, ``b_i (p_i' s_i + p_i s_i')``: no division, no
point that needs a case of its own. Coordinates are scaled by a power of two to a box about four
units wide, in which such products neither vanish nor overflow (:func:`axis_tables` says where they
could). Each of the eight lanes may see a window of nodes of its own.
"""

from typing import NamedTuple

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    less,
    load_row,
    more,
    more_products,
    products,
    scaled,
    spread,
    store_row,
)
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.typing import Array, IntArray

# More nodes at once, or nodes nearer to one another in a box of four units, are left to the map in
# barycentric form: products of their differences could leave the range of doubles.
MOST_NODES, LEAST_GAP = 32, 1e-9


class AxisTables(NamedTuple):
    """What compiled loops know of a grid; an axis in each row, a window in each second index."""

    nodes: Array  # (q, n), scaled
    factors: Array  # (q, windows, width): 1 / products of the nodes' differences, scaled
    scale: Array  # (q,)
    counts: (
        IntArray  # (4, q): nodes, nodes of a window, windows, steps between nodes in the weights
    )
    offsets: IntArray  # places of the nodes of the first window among all nodes


def axis_tables(grid: NodeGrid, local: int | None) -> AxisTables | None:
    """Tables of the axes, for windows of ``local`` nodes or all; None where products may fail."""
    shape = np.array(grid.shape)
    widths = shape if local is None else np.minimum(local, shape)
    windows = shape - widths + 1
    if widths.max() > MOST_NODES:
        return None
    scale = 2.0 ** np.round(np.log2(4.0 / (grid.high - grid.low)))
    nodes = np.zeros((len(shape), int(shape.max())))
    factors = np.zeros((len(shape), int(windows.max()), int(widths.max())))
    for k, axis in enumerate(grid.axes):
        m, width = len(axis), int(widths[k])
        nodes[k, :m] = scale[k] * axis.nodes
        if np.diff(nodes[k, :m]).min() < LEAST_GAP:
            return None
        table = np.lib.stride_tricks.sliding_window_view(nodes[k, :m], width)
        gaps = table[:, :, None] - table[:, None, :]
        gaps[:, range(width), range(width)] = 1.0
        factors[k, : len(table), :width] = 1.0 / gaps.prod(axis=2)
    steps = np.append(np.cumprod(shape[:0:-1])[::-1], 1)
    places = np.ix_(*(step * np.arange(width) for width, step in zip(widths, steps, strict=True)))
    counts = np.stack([shape, widths, windows, steps])
    return AxisTables(nodes, factors, scale, counts, np.ravel(sum(places)))


class MapSpace(NamedTuple):
    """Arrays in which the map of eight points is computed, lanes last."""

    own: Array  # (2 q width, lanes): nodes of each lane's window, and factors
    window: Array  # weights of each lane's window; one row where there is one for all
    basis: Array  # (4 width, lanes): products from the left, their slopes; polynomials, slopes
    jets: Array  # ((1 + q) width, lanes)
    base: IntArray  # (lanes,): where the windows in these arrays begin


def map_space(tables: AxisTables, d: int) -> MapSpace:
    """Arrays for a map to d columns."""
    width, q = tables.factors.shape[2], len(tables.nodes)
    n = len(tables.offsets)
    windowed = bool((tables.counts[2] > 1).any())
    jets = (1 + q) * d * (n // int(tables.counts[1, 0]))
    sizes = (2 * q * width, n * d if windowed else 1, 4 * width, jets)
    own, window, basis, slots = (np.zeros((size, LANES)) for size in sizes)
    return MapSpace(own, window, basis, slots, np.full(LANES, -1))


@njit(nogil=True)
def _take_windows(x, W, d, nodes, factors, scale, counts, offsets, own, window, base):
    """Fill in the nodes, factors and weights of the windows where the lanes' points are now."""
    q, width, windowed = len(nodes), factors.shape[2], len(window) > 1
    for lane in range(LANES):
        begin = 0
        for k in range(q):
            if counts[2, k] > 1:
                first = -(counts[1, k] // 2)
                for i in range(counts[0, k] - 1):
                    first += (nodes[k, i] + nodes[k, i + 1]) / 2 < scale[k] * x[k, lane]
                begin += min(max(first, 0), counts[2, k] - 1) * counts[3, k]
        if begin == base[lane]:
            continue
        base[lane] = left = begin
        for k in range(q):
            first = left // counts[3, k]
            left -= first * counts[3, k]
            for i in range(counts[1, k]):
                own[k * width + i, lane] = nodes[k, first + i]
                own[(q + k) * width + i, lane] = factors[k, first, i]
        if windowed:
            for r in range(len(offsets)):
                for c in range(d):
                    window[r * d + c, lane] = W[(begin + offsets[r]) * d + c]


@njit(nogil=True)
def _fill_basis(x, k, n, width, scale, own, basis):
    """Fill in the polynomials of axis k at the lanes' points, and their slopes."""
    here, place = scaled(scale, load_row(x, k, 0)), k * width
    left, slope = spread(1.0), spread(0.0)
    for i in range(n):
        gap = less(here, 1.0, load_row(own, place + i, 0))
        store_row(basis, i, 0, left)
        store_row(basis, width + i, 0, slope)
        slope = more_products(left, slope, gap)
        left = products(left, gap)
    place += len(x) * width
    right, turn = spread(1.0), spread(0.0)
    for i in range(n - 1, -1, -1):
        factor = load_row(own, place + i, 0)
        left = products(factor, load_row(basis, i, 0))
        slope = products(factor, load_row(basis, width + i, 0))
        store_row(basis, 2 * width + i, 0, products(left, right))
        slope = more_products(products(slope, right), left, turn)
        store_row(basis, 3 * width + i, 0, scaled(scale, slope))
        gap = less(here, 1.0, load_row(own, k * width + i, 0))
        turn = more_products(right, turn, gap)
        right = products(right, gap)


@njit(nogil=True)
def _contract_weights(W, basis, width, n, size, jets):
    """Contract the first axis of common weights with polynomials, and with their slopes."""
    ell, slope = 2 * width, 3 * width
    whole = size - size % 4
    for r in range(0, whole, 4):
        e, z = load_row(basis, ell, 0), load_row(basis, slope, 0)
        f0, f1, f2, f3 = (
            scaled(W[r], e),
            scaled(W[r + 1], e),
            scaled(W[r + 2], e),
            scaled(W[r + 3], e),
        )
        g0, g1, g2, g3 = (
            scaled(W[r], z),
            scaled(W[r + 1], z),
            scaled(W[r + 2], z),
            scaled(W[r + 3], z),
        )
        for i in range(1, n):
            e, z, o = load_row(basis, ell + i, 0), load_row(basis, slope + i, 0), i * size + r
            f0, f1, f2, f3 = (
                more(f0, W[o], e),
                more(f1, W[o + 1], e),
                more(f2, W[o + 2], e),
                more(f3, W[o + 3], e),
            )
            g0, g1, g2, g3 = (
                more(g0, W[o], z),
                more(g1, W[o + 1], z),
                more(g2, W[o + 2], z),
                more(g3, W[o + 3], z),
            )
        store_row(jets, r, 0, f0)
        store_row(jets, r + 1, 0, f1)
        store_row(jets, r + 2, 0, f2)
        store_row(jets, r + 3, 0, f3)
        store_row(jets, size + r, 0, g0)
        store_row(jets, size + r + 1, 0, g1)
        store_row(jets, size + r + 2, 0, g2)
        store_row(jets, size + r + 3, 0, g3)
    for r in range(whole, size):
        f, g = spread(0.0), spread(0.0)
        for i in range(n):
            f = more(f, W[i * size + r], load_row(basis, ell + i, 0))
            g = more(g, W[i * size + r], load_row(basis, slope + i, 0))
        store_row(jets, r, 0, f)
        store_row(jets, size + r, 0, g)


@njit(nogil=True)
def _contract(basis, row, n, source, first, target, size, jets):
    """Contract an axis of a table whose rows begin at ``first``; its place may be the target."""
    for r in range(size):
        found = spread(0.0)
        for i in range(n):
            entry = load_row(source, first + i * size + r, 0)
            found = more_products(found, load_row(basis, row + i, 0), entry)
        store_row(jets, target + r, 0, found)


@njit(nogil=True)
def fill_jets(x, W, d, nodes, factors, scale, counts, offsets, own, window, basis, jets, base):
    """Fill ``jets``: values at the points x (q, lanes), then slopes by axis; return their stride.

    Slot s begins at row s times the stride, and has a row for each column. The arguments are one
    by one what :class:`AxisTables` and :class:`MapSpace` hold: what a loop takes from a tuple, it
    counts.
    """
    width, windowed = factors.shape[2], len(window) > 1
    if windowed or base[0] < 0:
        _take_windows(x, W, d, nodes, factors, scale, counts, offsets, own, window, base)
    size = len(offsets) * d
    stride = size // counts[1, 0]
    for k in range(len(x)):
        n = counts[1, k]
        size //= n
        _fill_basis(x, k, n, width, scale[k], own, basis)
        if k > 0:
            _contract(basis, 3 * width, n, jets, 0, (k + 1) * stride, size, jets)
            for s in range(k + 1):
                _contract(basis, 2 * width, n, jets, s * stride, s * stride, size, jets)
        elif windowed:
            _contract(basis, 2 * width, n, window, 0, 0, size, jets)
            _contract(basis, 3 * width, n, window, 0, stride, size, jets)
        else:
            _contract_weights(W, basis, width, n, size, jets)
    return stride
