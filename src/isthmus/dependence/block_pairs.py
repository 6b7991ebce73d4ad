"""Exact sums over all pairs of objects that are read block by block.

Strips of objects are held against all blocks, one strip after the other: O(n²) time, two passes for
each strip, and memory of a strip, a tile and O(n) row sums.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.blocks.drawing import take_rows
from isthmus.blocks.rows import open_rows
from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.dependence.gram_sums import GramSums
from isthmus.dependence.low_rank import as_rows, block_objects
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.vectors.width import MAX_ROWS
from isthmus.typing import Array, Objects

# Objects in a strip.
STRIP = 4096


@dataclass(frozen=True)
class KernelValues:
    """How a side compares objects: by a kernel."""

    kernel: Kernel

    def resolve(self, X: Objects) -> "KernelValues":
        return KernelValues(self.kernel.resolve(X))

    def objects(self, X: Any) -> Objects:
        return block_objects(self.kernel, X)

    def diagonal(self, X: Objects) -> Array:
        return np.asarray(self.kernel.diag(X), dtype=np.float64)

    def __call__(self, X: Objects, Z: Objects) -> Array:
        return np.asarray(self.kernel.gram(X, Z), dtype=np.float64)


@dataclass(frozen=True)
class DistanceValues:
    """How a side compares objects: by distances."""

    exponent: float

    def resolve(self, X: Objects) -> "DistanceValues":
        return self

    def objects(self, X: Any) -> Objects:
        return as_rows(X)

    def diagonal(self, X: Objects) -> Array:
        return np.zeros(len(X))

    def __call__(self, X: Objects, Z: Objects) -> Array:
        return cdist(X, Z) ** self.exponent


class Strip(NamedTuple):
    """Objects of all sides that every block is held against."""

    values: Sequence[Any]
    objects: Sequence[Objects]


def strip_sums(*blocks: Any, state: Strip) -> tuple[Array, Array]:
    """Sums of products (g, g), and sums of the strip's rows (g, n), over one block."""
    blocks = tuple(v.objects(X) for v, X in zip(state.values, blocks, strict=True))
    g, height = len(blocks), n_objects(state.objects[0])
    products, rows = np.zeros((g, g)), np.zeros((g, height))
    for part in block_slices(n_objects(blocks[0]), g * height):
        tiles = np.array(
            [
                v(strip, take(X, part)).ravel()
                for v, strip, X in zip(state.values, state.objects, blocks, strict=True)
            ]
        )
        products += tiles @ tiles.T
        rows += tiles.reshape(g, height, -1).sum(axis=2)
    return products, rows


def add(a: tuple[Array, Array], b: tuple[Array, Array]) -> tuple[Array, Array]:
    """Sums over the blocks of both."""
    return a[0] + b[0], a[1] + b[1]


def block_pair_sums(tables: Sequence[Any], values: Sequence[Any], *, owner: str) -> GramSums:
    """What :func:`~isthmus.dependence.gram_sums.gram_sums` gives of objects in memory."""
    rows = open_rows(owner, *tables, names=("X", "Y", "Z"))
    rows.require_passes("every block is held against every other")
    n, g = rows.count(), len(values)
    drawn = take_rows(rows, sample_rows(n, MAX_ROWS, sort=False))
    values = [v.resolve(v.objects(X)) for v, X in zip(values, drawn, strict=True)]
    sums = GramSums(np.zeros((g, g)), np.zeros((g, n)), np.zeros((g, n)))
    for part in block_slices(n, 1, block_size=STRIP):
        drawn = take_rows(rows, np.arange(part.start, part.stop))
        strip = Strip(values, [v.objects(X) for v, X in zip(values, drawn, strict=True)])
        products, row_sums = rows.fold(strip_sums, add, state=strip)
        diagonals = np.array([v.diagonal(X) for v, X in zip(values, strip.objects, strict=True)])
        sums.products[:] += products - diagonals @ diagonals.T
        sums.rows[:, part] = row_sums - diagonals
        sums.diagonals[:, part] = diagonals
    return sums
