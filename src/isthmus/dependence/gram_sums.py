r"""Inner products of centred matrices, from sums over tiles.

Every measure of this family is made of :math:`\langle\tilde K_a,\tilde K_b\rangle`, the inner
products of matrices centred in one of two ways. They are sums over rows, written as three
functions: :func:`map_block` on a strip of rows, :func:`merge` of two results, :func:`finish`.
"""

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.dependence.distance_sums import distance_sums
from isthmus.dependence.loops import shift_and_sum
from isthmus.dependence.sides import Side
from isthmus.dependence.threads import PARTS, map_in_threads
from isthmus.dependence.univariate import univariate_products
from isthmus.typing import Array

# Entries of the tiles of all sides together: they stay in the cache of one core.
TILE_ENTRIES = 2**17
FEW_SIDES = 4


class GramSums(NamedTuple):
    """Sums over all :math:`i` and :math:`j\\ne i` of g matrices minus their offsets."""

    products: Array  # (g, g), sums of products of two matrices
    rows: Array  # (g, n), sums of rows
    diagonals: Array  # (g, n)


def map_block(sides: Sequence[Side], rows: slice, *, width: int) -> GramSums:
    """Sums that the pairs of ``rows`` with themselves and with later rows add."""
    g, n = len(sides), sides[0].n
    sums = GramSums(np.zeros((g, g)), np.zeros((g, n)), np.zeros((g, n)))
    height = rows.stop - rows.start
    for start in range(rows.start, n, width):
        columns = slice(start, min(start + width, n))
        tiles = np.empty((g, height, columns.stop - start))
        for a, side in enumerate(sides):
            tile, u = tiles[a], side.offsets
            tile[:] = side.values(rows, columns)
            row_sums, column_sums = sums.rows[a, rows], sums.rows[a, columns]
            if start == rows.start:  # on the diagonal: all of it is here, upper and lower
                sums.diagonals[a, rows] = side.diagonal[rows] - 2 * u[rows]
                tile.flat[:: tile.shape[1] + 1] = 2 * u[rows]
                row_sums, column_sums = np.zeros(height), sums.rows[a, columns]
            shift_and_sum(tile, u[rows], u[columns], row_sums, column_sums)
        once = 1.0 if start == rows.start else 2.0
        sums.products[:] += once * _all_products(tiles.reshape(g, -1))
    return sums


def _map_blocks(sides: Sequence[Side], strips: Sequence[slice], *, width: int) -> GramSums:
    return reduce(merge, (map_block(sides, rows, width=width) for rows in strips))


def _all_products(tiles: Array) -> Array:
    if len(tiles) > FEW_SIDES:
        return tiles @ tiles.T
    # A thin product is slower in BLAS than the few inner products it consists of.
    products = np.empty((len(tiles), len(tiles)))
    for a, left in enumerate(tiles):
        for b in range(a + 1):
            products[a, b] = products[b, a] = left @ tiles[b]
    return products


def merge(a: GramSums, b: GramSums) -> GramSums:
    """Sums over two disjoint sets of strips."""
    return GramSums(a.products + b.products, a.rows + b.rows, a.diagonals + b.diagonals)


def finish(sums: GramSums, *, unbiased: bool) -> Array:
    r"""Matrix of :math:`\langle\tilde K_a,\tilde K_b\rangle` for all pairs of sides.

    With ``unbiased=False`` :math:`\tilde K=HKH`; with ``unbiased=True`` the U-centred matrix
    of [SzekelyRizzo2014]_, whose diagonal is zero and whose rows sum to zero.
    """
    if unbiased:
        rows, products = sums.rows, sums.products
    else:
        rows = sums.rows + sums.diagonals
        products = sums.products + sums.diagonals @ sums.diagonals.T
    totals = rows.sum(axis=1)
    return center_products(
        products, rows @ rows.T, totals[:, None] * totals, rows.shape[1], unbiased=unbiased
    )


def center_products(
    products: Array, rows: Array, totals: Array, n: int, *, unbiased: bool
) -> Array:
    r"""Inner product of centred matrices from that of the plain ones.

    ``rows`` is the inner product of the row sums, ``totals`` the product of the sums of all:

    .. math:: \langle HKH,L\rangle=\langle K,L\rangle-\tfrac2n(K1)^\top(L1)
              +\tfrac1{n^2}(1^\top K1)(1^\top L1),

    and for matrices with zero diagonal the same with :math:`n-2` and :math:`(n-1)(n-2)` below.
    """
    if unbiased:
        return products - rows * (2 / (n - 2)) + totals / ((n - 1) * (n - 2))
    return products - rows * (2 / n) + totals / n**2


def gram_sums(sides: Sequence[Side], *, n_jobs: int | None = None) -> GramSums:
    """Sums of all pairs of sides, by the cheapest of four ways.

    O(n log n) where all are columns of numbers with their distances, O(n r²) where all
    have r features, otherwise O(n²) with memory O(n), in one pass where a few sides are distances.
    """
    if all(side.features is not None for side in sides):
        sums = _feature_sums(sides)
    elif all(side.column is not None for side in sides):
        products, rows = univariate_products([side.column for side in sides], n_jobs=n_jobs)
        sums = GramSums(products, rows, np.zeros_like(rows))
    elif len(sides) <= FEW_SIDES and all(side.points is not None for side in sides):
        tables = [side.points for side in sides if side.points is not None]
        offsets = [side.offsets for side in sides]
        products, rows = distance_sums(tables, offsets, n_jobs=n_jobs)
        sums = GramSums(products, rows, -2 * np.array(offsets))
    else:
        width = int(np.clip(np.sqrt(TILE_ENTRIES / len(sides)), 128, 256))
        strips = list(block_slices(sides[0].n, 1, block_size=width))
        # Early strips are long and late ones short: every part gets some of all.
        parts = [strips[i::PARTS] for i in range(min(PARTS, len(strips)))]
        part_sums = partial(_map_blocks, sides, width=width)
        ours = all(side.compiled for side in sides)
        sums = reduce(merge, map_in_threads(part_sums, parts, n_jobs, ours=ours))
    if not np.isfinite(sums.products).all():
        raise ValueError("A kernel gave values that are not finite, or too large to be squared.")
    return sums


def _feature_sums(sides: Sequence[Side]) -> GramSums:
    features = [side.features for side in sides if side.features is not None]
    diagonals = np.array([side.diagonal for side in sides])
    # Centred features: a row of A A' sums to zero, so without the diagonal to minus its entry.
    products = -(diagonals @ diagonals.T)
    for a, A in enumerate(features):
        for b in range(a + 1):
            C = A.T @ features[b]
            products[a, b] += np.vdot(C, C)
            products[b, a] = products[a, b]
    return GramSums(products, -diagonals, diagonals)
