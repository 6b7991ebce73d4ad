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
from isthmus.linalg.lane_memory import lanes_at, number_at, put_lanes
from isthmus.linalg.lanes import (
    LANES,
    less,
    more,
    more_products,
    products,
    scaled,
    spread,
    total,
    where_larger,
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
    scale: Array  # (2, q): of the coordinates; numbers of nodes of a window
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
    return AxisTables(nodes, factors, np.stack([scale, widths]), counts, np.ravel(sum(places)))


class MapRows(NamedTuple):
    """Where the parts of a map of eight points begin in the rows of a memory, lanes last."""

    x: int  # (q,): the points
    reach: int  # (q, 2): places between which each lane's window is the one to take
    own: int  # (2 q width,): nodes of each lane's window, and factors
    window: int  # weights of each lane's window
    basis: int  # (4 width,): products from the left, their slopes; polynomials, slopes
    jets: int  # (1 + q, stride): values, a row for each column, then slopes by axis
    end: int
    q: int
    d: int
    width: int
    size: int  # numbers of all weights of a window
    stride: int
    windowed: bool


def map_rows(tables: AxisTables, d: int) -> MapRows:
    """Rows for a map to d columns."""
    (q, _, width), n = tables.factors.shape, len(tables.offsets)
    windowed = bool((tables.counts[2] > 1).any())
    stride = d * (n // int(tables.counts[1, 0]))
    sizes = (q, 2 * q, 2 * q * width, n * d if windowed else 0, 4 * width, (1 + q) * stride)
    x, reach, own, window, basis, jets, end = (int(row) for row in np.cumsum((0, *sizes)))
    parts = x, reach, own, window, basis, jets, end
    return MapRows(*parts, q, d, width, n * d, stride, windowed)


@njit(nogil=True, forceinline=True)
def some_left(at, rows):
    """Whether a lane's point has left the places for which its window is taken."""
    outside = spread(0.0)
    for k in range(rows.q):
        here, low = lanes_at(at, rows.x + k), lanes_at(at, rows.reach + 2 * k)
        high = lanes_at(at, rows.reach + 2 * k + 1)
        outside = where_larger(here, low, outside, spread(1.0))
        outside = where_larger(here, high, spread(1.0), outside)
    return total(outside) > 0.0


@njit(nogil=True)
def take_windows(memory, rows, W, nodes, factors, scale, counts, offsets):
    """Fill in the nodes, factors and weights of the windows where the lanes' points are now."""
    q, d, width = rows.q, rows.d, rows.width
    for lane in range(LANES):
        begin, moved = 0, False
        for k in range(q):
            x, reach = memory[rows.x + k, lane], rows.reach + 2 * k
            moved |= not memory[reach, lane] < x <= memory[reach + 1, lane]
        if not moved:
            continue
        for k in range(q):
            n, half, x = counts[1, k], counts[1, k] // 2, memory[rows.x + k, lane]
            first, low, high = 0, -np.inf, np.inf
            # The middles beside the node that is nearest end the window's reach.
            while first < counts[2, k] - 1:
                high = (nodes[k, first + half] + nodes[k, first + half + 1]) / (2 * scale[0, k])
                if x <= high:
                    break
                first, low, high = first + 1, high, np.inf
            memory[rows.reach + 2 * k, lane], memory[rows.reach + 2 * k + 1, lane] = low, high
            begin += first * counts[3, k]
            for i in range(n):
                memory[rows.own + k * width + i, lane] = nodes[k, first + i]
                memory[rows.own + (q + k) * width + i, lane] = factors[k, first, i]
        if rows.windowed:
            for r in range(len(offsets)):
                for c in range(d):
                    memory[rows.window + r * d + c, lane] = W[(begin + offsets[r]) * d + c]


@njit(nogil=True, forceinline=True)
def _fill_basis(at, rows, k, n, scale):
    """Fill in the polynomials of axis k at the lanes' points, and their slopes."""
    width, basis = rows.width, rows.basis
    here, nodes = scaled(scale, lanes_at(at, rows.x + k)), rows.own + k * width
    factors = nodes + rows.q * width
    left, slope = spread(1.0), spread(0.0)
    for i in range(n):
        gap = less(here, 1.0, lanes_at(at, nodes + i))
        put_lanes(at, basis + i, left)
        put_lanes(at, basis + width + i, slope)
        slope = more_products(left, slope, gap)
        left = products(left, gap)
    right, turn = spread(1.0), spread(0.0)
    for i in range(n - 1, -1, -1):
        factor = lanes_at(at, factors + i)
        left = products(factor, lanes_at(at, basis + i))
        slope = products(factor, lanes_at(at, basis + width + i))
        put_lanes(at, basis + 2 * width + i, products(left, right))
        slope = more_products(products(slope, right), left, turn)
        put_lanes(at, basis + 3 * width + i, scaled(scale, slope))
        gap = less(here, 1.0, lanes_at(at, nodes + i))
        turn = more_products(right, turn, gap)
        right = products(right, gap)


@njit(nogil=True, forceinline=True)
def _contract_weights(at, rows, weights, n, size):
    """Contract the first axis of common weights with polynomials, and with their slopes."""
    ell, slope = rows.basis + 2 * rows.width, rows.basis + 3 * rows.width
    low, high = rows.jets, rows.jets + size
    whole = size - size % 4
    for r in range(0, whole, 4):
        f0, f1, f2, f3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        g0, g1, g2, g3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        for i in range(n):
            e, z, o = lanes_at(at, ell + i), lanes_at(at, slope + i), i * size + r
            w0, w1 = number_at(weights, o), number_at(weights, o + 1)
            w2, w3 = number_at(weights, o + 2), number_at(weights, o + 3)
            f0, f1, f2, f3 = more(f0, w0, e), more(f1, w1, e), more(f2, w2, e), more(f3, w3, e)
            g0, g1, g2, g3 = more(g0, w0, z), more(g1, w1, z), more(g2, w2, z), more(g3, w3, z)
        put_lanes(at, low + r, f0)
        put_lanes(at, low + r + 1, f1)
        put_lanes(at, low + r + 2, f2)
        put_lanes(at, low + r + 3, f3)
        put_lanes(at, high + r, g0)
        put_lanes(at, high + r + 1, g1)
        put_lanes(at, high + r + 2, g2)
        put_lanes(at, high + r + 3, g3)
    for r in range(whole, size):
        f, g = spread(0.0), spread(0.0)
        for i in range(n):
            w = number_at(weights, i * size + r)
            f, g = more(f, w, lanes_at(at, ell + i)), more(g, w, lanes_at(at, slope + i))
        put_lanes(at, low + r, f)
        put_lanes(at, high + r, g)


@njit(nogil=True)
def _contract(at, row, n, source, target, size):
    """Contract an axis of a table with polynomials or slopes; its place may be the target."""
    for r in range(size):
        found = spread(0.0)
        for i in range(n):
            found = more_products(found, lanes_at(at, row + i), lanes_at(at, source + i * size + r))
        put_lanes(at, target + r, found)


@njit(nogil=True)
def fill_jets(at, rows, weights, axes):
    """Fill in values at the lanes' points, and slopes by axis.

    ``at``, ``weights`` and ``axes`` are the addresses of the memory, of the weights of all nodes
    and of ``scale`` in :class:`AxisTables`.
    """
    size, q, width = rows.size, rows.q, rows.width
    ell, slope = rows.basis + 2 * width, rows.basis + 3 * width
    for k in range(q):
        n = np.int64(number_at(axes, q + k))
        size //= n
        _fill_basis(at, rows, k, n, number_at(axes, k))
        if k > 0:
            _contract(at, slope, n, rows.jets, rows.jets + (k + 1) * rows.stride, size)
            for s in range(k + 1):
                here = rows.jets + s * rows.stride
                _contract(at, ell, n, here, here, size)
        elif rows.windowed:
            _contract(at, ell, n, rows.window, rows.jets, size)
            _contract(at, slope, n, rows.window, rows.jets + rows.stride, size)
        else:
            _contract_weights(at, rows, weights, n, size)
