r"""PSOM+ of rows that come in blocks: a triangular root of the normal equations is a sum.

With the basis B of the latent points, :math:`R^\top R=[B,Y]^\top[B,Y]`. The misfit of any map is
:math:`\|Y-BW\|^2=\|R_y-R_bW\|^2`, to the last digit and for every smoothness, so that the rows of
:math:`R` stand for all rows. Roots of blocks merge by one more decomposition.
"""

from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.rows import Rows
from isthmus.blocks.slices import block_slices
from isthmus.manifold.psom.checks import check_latent, check_spread
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.manifold.psom.smoothing import Samples
from isthmus.typing import Array


class LatentExtent(NamedTuple):
    """Smallest and largest latent coordinates, and rows enough to see whether they spread."""

    low: Array
    high: Array
    some: Array


def map_extent(X: Array, Z: Array) -> LatentExtent:
    """Extent of one block of latent points."""
    Z = Z.reshape(len(Z), -1)
    return LatentExtent(Z.min(axis=0), Z.max(axis=0), _root(np.c_[np.ones(len(Z)), Z]))


def merge_extents(a: LatentExtent, b: LatentExtent) -> LatentExtent:
    """Extent of both."""
    return LatentExtent(
        np.minimum(a.low, b.low), np.maximum(a.high, b.high), _root(np.r_[a.some, b.some])
    )


class RootSums(NamedTuple):
    """A root of the normal equations and the number of rows behind it."""

    root: Array
    n_rows: int


class RootMap:
    """Roots of the basis and the values of a block."""

    def __init__(self, owner: Any, grid: NodeGrid):
        self.owner, self.grid = owner, grid

    def __call__(self, X: Array, Z: Array) -> RootSums:
        Z = np.asarray(Z.reshape(len(Z), -1), dtype=np.float64)
        check_latent(self.owner, Z, self.grid)
        parts = (
            _root(np.c_[self.grid.basis_matrix(Z[rows]), X[rows]])
            for rows in block_slices(len(X), self.grid.size + X.shape[1])
        )
        return RootSums(reduce(lambda a, b: _root(np.r_[a, b]), parts), len(X))


def merge_roots(a: RootSums, b: RootSums) -> RootSums:
    """The root of both sets of rows."""
    return RootSums(_root(np.r_[a.root, b.root]), a.n_rows + b.n_rows)


def _root(rows: Array) -> Array:
    if len(rows) <= rows.shape[1]:
        return rows
    return np.asarray(np.linalg.qr(rows, mode="r"))


def extent_of(owner: Any, rows: Rows) -> Array:
    """The box of the latent points, shape (q, 2); points in a plane of it are refused."""
    found = rows.fold(map_extent, merge_extents)
    check_spread_of_root(owner, found.some)
    return np.c_[found.low, found.high]


def check_spread_of_root(owner: Any, root: Array) -> None:
    """Linear maps must be determined by the points."""
    q = root.shape[1] - 1
    if np.linalg.matrix_rank(root) <= q:
        check_spread(owner, np.zeros((1, q)), "latent points")


def folded_samples(owner: Any, rows: Rows, grid: NodeGrid) -> tuple[Samples, int]:
    """Samples with the same misfit as all rows, for every map, and the number of rows."""
    found = rows.fold(RootMap(owner, grid), merge_roots)
    R = found.root
    values = np.asarray(R[:, grid.size :])
    samples = Samples(
        np.empty((len(R), 0)), values, np.ones(len(R)), basis_rows=np.asarray(R[:, : grid.size])
    )
    return samples, found.n_rows
