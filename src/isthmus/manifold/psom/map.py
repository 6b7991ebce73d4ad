"""The map through the nodes of a grid: values and Jacobians of a batch of points."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.threads import rest_in_threads
from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import MapValues
from isthmus.manifold.projection import RowSearch, Search
from isthmus.manifold.psom.grid import (
    NodeGrid,
    barycentric_rows,
    barycentric_weights,
    differentiation_matrix,
)
from isthmus.optimize.levenberg_marquardt import DAMPING, LARGEST_DAMPING, LeastSquaresRows
from isthmus.typing import Array

# Work space of one block of points.
BLOCK_BYTES = 2 * 2**20  # stays in the processor's cache


# Rows that are projected at a time; threads share many.
PART = 512
# Numbers of a map up to which rows are projected one by one, while it stays in the cache.
SMALL_MAP = 2**14


@dataclass(frozen=True, eq=False)
class GridMap(RowSearch):
    """The latent map of a grid whose nodes have the images ``weights``."""

    grid: NodeGrid
    weights: Array
    local: int | None = None

    @cached_property
    def domain(self) -> Domain:
        """The box of the grid."""
        return Domain(self.grid.low, self.grid.high)

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """The map at latent points; feasible in the box."""
        feasible = self.domain.contains(Z)
        if not jacobian:
            values = map_values(self.grid, self.weights, Z, local=self.local)
            return MapValues(values, None, feasible)
        return MapValues(*map_jets(self.grid, self.weights, Z, local=self.local), feasible)

    @cached_property
    def _starts(self) -> tuple[Array, Array]:
        return self.grid.points, self.weights.reshape(self.grid.size, -1)

    def starts(self) -> tuple[Array, Array]:
        """The nodes and their images."""
        return self._starts

    def _tables(self) -> Any:
        """What the compiled search knows of the grid; None where it is too large or too fine."""
        if self.weights.size > SMALL_MAP:
            return None
        if self.local not in self.grid.tables:
            from isthmus.manifold.psom.map_loops import axis_tables

            self.grid.tables[self.local] = axis_tables(self.grid, self.local)
        return self.grid.tables[self.local]

    def search_rows(
        self, targets: Array, weights: Array | None, start: Array, search: Search
    ) -> LeastSquaresRows | None:
        """Nearest points by a compiled search, eight rows at a time; None for a large map."""
        tables = self._tables()
        if tables is None:
            return None
        from isthmus.linalg.lane_memory import zero_rows
        from isthmus.linalg.lanes import LANES
        from isthmus.manifold.psom.map_loops import map_rows
        from isthmus.manifold.psom.search_loops import search_rows, search_rows_after

        w = np.ones((1, targets.shape[1])) if weights is None else np.atleast_2d(weights)
        known = np.ascontiguousarray(targets if weights is None else np.where(w > 0, targets, 0.0))
        # The loops read these by their addresses: doubles in row order.
        low, high, flat = (
            np.ascontiguousarray(numbers, dtype=np.float64)
            for numbers in (self.grid.low, self.grid.high, self.weights.ravel())
        )
        x = np.clip(start, low, high)
        error, converged = np.empty(len(x)), np.empty(len(x), dtype=bool)
        at_map = map_rows(tables, targets.shape[1])
        lines = search_rows_after(at_map.end, at_map.q, at_map.d)
        w, most = np.ascontiguousarray(w, dtype=np.float64), [0]
        settings = float(search.max_iter), float(search.tol), DAMPING, LARGEST_DAMPING

        def search_part(part: slice) -> None:
            n_iter = search_rows(
                x[part],
                known[part],
                w if len(w) == 1 else w[part],
                flat,
                tables,
                zero_rows(lines.end),
                at_map,
                lines,
                np.full(LANES, -1),
                low,
                high,
                settings,
                error[part],
                converged[part],
            )
            most.append(int(n_iter))

        rest_in_threads(search_part, list(block_slices(len(x), 1, block_size=PART)))
        return LeastSquaresRows(x, error, max(most), converged)


def map_values(grid: NodeGrid, W: Array, points: Array, *, local: int | None = None) -> Array:
    r""":math:`f(x)=\sum_gw_g\prod_\mu\ell_{g_\mu}(x_\mu)` at all points, shape (m, d).

    ``W`` holds the weights of the nodes, shape (\*grid.shape, d); ``local`` is the number of
    nodes per axis of the window around the node nearest to a point, None for all.
    """
    out = np.empty((len(points), W.shape[-1]))
    for rows in _blocks(grid, W, len(points), local):
        window, bases, _ = _window(grid, W, points[rows], local, with_slopes=False)
        out[rows] = _contract(window, bases, None)[:, 0]
    return out


def map_jets(
    grid: NodeGrid, W: Array, points: Array, *, local: int | None = None
) -> tuple[Array, Array]:
    """Values (m, d) and Jacobians (m, d, q) of the map at all points."""
    values = np.empty((len(points), W.shape[-1]))
    jacobian = np.empty((len(points), W.shape[-1], len(grid.axes)))
    for rows in _blocks(grid, W, len(points), local):
        jets = _contract(*_window(grid, W, points[rows], local))
        values[rows] = jets[:, 0]
        jacobian[rows] = np.moveaxis(jets[:, 1:], 1, 2)
    return values, jacobian


def _blocks(grid: NodeGrid, W: Array, n: int, local: int | None) -> Any:
    shape = grid.shape if local is None else (local,) * len(grid.axes)
    size = _group(len(shape))
    # What a point needs at once: the table left by the first axes, or its window.
    numbers = W.shape[-1] * int(np.prod(shape if local is not None else shape[size:]))
    return block_slices(n, 1, block_size=max(1, BLOCK_BYTES // (8 * (1 + size) * numbers)))


def _window(
    grid: NodeGrid, W: Array, points: Array, local: int | None, *, with_slopes: bool = True
) -> tuple[Array, list[Array], list[Array]]:
    """Weights (common, or a window for each point), and basis values and slopes by axis."""
    if local is None:
        bases = [axis.basis(x) for axis, x in zip(grid.axes, points.T, strict=True)]
        pairs = zip(bases, grid.axes, strict=True) if with_slopes else ()
        return W, bases, [ell @ axis.differentiation for ell, axis in pairs]
    index, bases, slopes = [], [], []
    for axis, x in zip(grid.axes, points.T, strict=True):
        n = min(local, len(axis))
        first = np.clip(axis.nearest(x) - n // 2, 0, len(axis) - n)
        index.append(first[:, None] + np.arange(n))
        # A window is an axis of its own; there are few, so their tables are made once.
        tables = np.lib.stride_tricks.sliding_window_view(axis.nodes, n)
        beta = barycentric_weights(tables)
        ell = barycentric_rows(x, tables[first], beta[first])
        D = differentiation_matrix(tables, beta)
        bases.append(ell)
        slopes.append(np.matmul(ell[:, None], D[first])[:, 0])
    q = len(index)
    places = tuple(
        where.reshape(len(points), *(-1 if k == j else 1 for j in range(q)))
        for k, where in enumerate(index)
    )
    return W[places], bases, slopes


def _contract(W: Array, bases: list[Array], slopes: list[Array] | None) -> Array:
    """Values and, where ``slopes`` are given, derivatives by axis: shape (m, 1 + q, d).

    One group of axes at a time. A slot for each derivative is carried along, and a group adds its
    own; the first and largest contraction is one matrix product for all points.
    """
    m, q, d = len(bases[0]), len(bases), W.shape[-1]
    size = _group(q)
    groups = [
        _products(bases[k : k + size], None if slopes is None else slopes[k : k + size])
        for k in range(0, q, size)
    ]
    n = groups[0].shape[2]
    if W.ndim == q + 1:
        jets = (groups[0].reshape(-1, n) @ W.reshape(n, -1)).reshape(m, groups[0].shape[1], -1)
    else:
        jets = np.matmul(groups[0], W.reshape(m, n, -1))
    for group in groups[1:]:
        table = jets.reshape(m, jets.shape[1], group.shape[2], -1)
        values = np.matmul(group[:, None, :1], table)[:, :, 0]
        jets = np.concatenate([values, np.matmul(group[:, 1:], table[:, 0])], axis=1)
    return jets.reshape(m, -1, d)


def _group(q: int) -> int:
    """Axes taken together: pairs of many axes, whose tables are small beside the weights."""
    return 2 if q > 3 else 1


def _products(bases: list[Array], slopes: list[Array] | None) -> Array:
    """Products over axes of the polynomials, and with one of them derived: (m, jets, n)."""
    m = len(bases[0])
    jets = np.ones((m, 1, 1))
    for mu, ell in enumerate(bases):
        parts = [jets[:, :, :, None] * ell[:, None, None, :]]
        if slopes is not None:
            parts.append(jets[:, :1, :, None] * slopes[mu][:, None, None, :])
        jets = np.concatenate(parts, axis=1).reshape(m, -1, jets.shape[2] * ell.shape[1])
    return jets
