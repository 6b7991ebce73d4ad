r"""PSOM+ of rows that come in blocks: a triangular root of the normal equations is a sum.

With the basis B of the latent points, :math:`R^\top R=[B,Y]^\top[B,Y]`. The misfit of any map is
:math:`\|Y-BW\|^2=\|R_y-R_bW\|^2`, to the last digit and for every smoothness, so that the rows of
:math:`R` stand for all rows. Roots of blocks merge by one more decomposition. Where columns are
far from dependent, a root is the Cholesky factor of their products; else it is found by QR.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from isthmus.blocks.rows import Rows
from isthmus.blocks.slices import block_slices
from isthmus.features.components.roots import factor_of_products, triangle
from isthmus.linalg.threads import threads_for
from isthmus.manifold.psom.checks import check_latent, check_spread
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.manifold.psom.smoothing import DENSE_LIMIT, Samples
from isthmus.typing import Array

# Values of a piece of basis and rows: 2 MB, which stay in the cache.
BLOCK_VALUES = 250_000


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
        return RootSums(samples_root(self.grid, Z, X), len(X))


def samples_root(grid: NodeGrid, Z: Array, X: Array) -> Array:
    """A root of the basis at points ``Z`` beside the values ``X``, without all of it in memory."""
    width = grid.size + X.shape[1]
    size = max(2 * width, BLOCK_VALUES // width)

    def pieces() -> Iterator[Array]:
        for rows in block_slices(len(X), width, block_size=size):
            yield np.c_[grid.basis_matrix(Z[rows]), X[rows]]

    with threads_for(size * width**2):
        S = np.zeros((width, width), order="F")
        for piece in pieces():
            S = blas.dsyrk(1.0, piece.T, beta=1.0, c=S, overwrite_c=1)
        R = factor_of_products(S)
        if R is None:
            none = np.empty((0, width))
            R = reduce(lambda above, piece: _root(np.r_[above, piece]), pieces(), none)
    return R


def merge_roots(a: RootSums, b: RootSums) -> RootSums:
    """The root of both sets of rows."""
    return RootSums(_root(np.r_[a.root, b.root]), a.n_rows + b.n_rows)


def _root(rows: Array) -> Array:
    return rows if len(rows) <= rows.shape[1] else triangle(rows)


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
    return root_as_samples(grid, found.root), found.n_rows


def root_as_samples(grid: NodeGrid, R: Array) -> Samples:
    """The rows of a root of basis and values as samples."""
    basis, values = np.asarray(R[:, : grid.size]), np.asarray(R[:, grid.size :])
    return Samples(np.empty((len(R), 0)), values, np.ones(len(R)), basis_rows=basis)


def stands_for_many(grid: NodeGrid, X: Array) -> bool:
    """Whether a root has far fewer rows than the samples, and is small enough to be found."""
    return grid.size <= DENSE_LIMIT and len(X) > 4 * (grid.size + X.shape[1])
