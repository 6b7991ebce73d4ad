r"""Inner products of centred matrices :math:`HKH=AA^\top` of low rank, as sums over objects.

With centred features :math:`A` and :math:`B` of two sides :math:`\langle HKH,HLH\rangle
=\|A^\top B\|_F^2`, and the diagonals :math:`a_i=\|A_i\|^2` are all that U-statistics ask besides.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from isthmus._memory import require_memory
from isthmus.blocks import moments
from isthmus.blocks.containers import in_blocks
from isthmus.blocks.drawing import take_rows
from isthmus.blocks.moments import Moments
from isthmus.blocks.rows import Rows, open_rows
from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.dependence.approximation import LowRank
from isthmus.dependence.sides import Side, check_for, feature_side
from isthmus.kernels.base import Kernel
from isthmus.kernels.drawn import checked_block
from isthmus.kernels.objects import n_objects, take
from isthmus.kernels.vectors.width import MAX_ROWS
from isthmus.typing import Array, IntArray, Objects


class FeatureMap(NamedTuple):
    """How a block of one side becomes features."""

    kernel: Kernel
    features: Callable[[Any], Array]
    width: int

    def __call__(self, X: Objects) -> Array:
        return self.features(block_objects(self.kernel, X))


class Products(NamedTuple):
    """What measures of g sides of low rank are made of."""

    n: int
    squares: Array  # (g, g), ‖A'B‖²
    traces: Array  # (g,), Σ a_i
    diagonals: Array  # (g, g), Σ a_i b_i

    def centered(self, *, unbiased: bool) -> Array:
        """Inner products of the matrices, centred either way, see ``gram_sums.finish``."""
        if not unbiased:
            return self.squares
        n, t = self.n, self.traces
        # Off the diagonal, rows of HKH sum to minus their diagonal entries.
        inner = self.squares - self.diagonals
        return inner - self.diagonals * (2 / (n - 2)) + t[:, None] * t / ((n - 1) * (n - 2))


def as_rows(X: Any) -> Array:
    """A block of vectors in double precision; numbers are one column."""
    X = np.asarray(X, dtype=np.float64)
    return X[:, None] if X.ndim == 1 else X


def low_rank_products(
    tables: Sequence[Any], kernels: Sequence[Kernel], approximation: LowRank, *, owner: str
) -> Products:
    """Products of all sides, which are in memory or read block by block.

    Three passes: objects are drawn, moments of the features summed, then products of the diagonals.
    """
    source = open_tables(tables, kernels, owner)
    maps = feature_maps(source, kernels, approximation, owner)
    total = source.fold(FeatureMoments(maps), moments.merge)
    parts, S = _sides_of(maps), total.scatter
    squares = np.array([[np.vdot(S[a, b], S[a, b]) for b in parts] for a in parts])
    means = [total.mean[part] for part in parts]
    diagonals = source.fold(DiagonalProducts(maps, means), np.add)
    traces = np.array([np.trace(S[part, part]) for part in parts])
    return Products(int(total.count), squares, traces, diagonals)


def low_rank_covariance(
    tables: Sequence[Any], kernels: Sequence[Kernel], approximation: LowRank, *, owner: str
) -> tuple[int, Array]:
    """Number of objects, and the covariance between the features of two sides; two passes."""
    source = open_tables(tables, kernels, owner)
    maps = feature_maps(source, kernels, approximation, owner)
    total = source.fold(FeatureMoments(maps), moments.merge)
    first, second = _sides_of(maps)
    return int(total.count), total.scatter[first, second] / total.count


def _sides_of(maps: Sequence[FeatureMap]) -> list[slice]:
    """Where the features of each side stand among all."""
    cuts = np.cumsum([0, *(feature_map.width for feature_map in maps)])
    return [slice(a, b) for a, b in pairwise(cuts)]


def feature_maps(
    source: "Tables", kernels: Sequence[Kernel], approximation: LowRank, owner: str
) -> list[FeatureMap]:
    """The maps of all sides, from objects drawn in one pass."""
    at, for_width = approximation.landmarks(source.n), sample_rows(source.n, MAX_ROWS, sort=False)
    numbers = np.unique(np.concatenate([at, for_width]))
    drawn = source.take(numbers)
    maps = []
    for kernel, objects in zip(kernels, drawn, strict=True):
        resolved = kernel.resolve(take(objects, np.searchsorted(numbers, for_width)))
        some = take(objects, np.searchsorted(numbers, at))
        if "linear" in kernel.provides:
            maps.append(FeatureMap(resolved, as_rows, some.shape[1]))
            continue
        features = approximation.features(resolved, some, owner)
        maps.append(FeatureMap(resolved, features, features(some[:1]).shape[1]))
    return maps


@dataclass(frozen=True)
class FeatureMoments:
    """Moments of the features of all sides in a block."""

    maps: Sequence[FeatureMap]

    def __call__(self, *blocks: Any) -> Moments:
        return reduce(
            moments.merge, (moments.map_block(np.hstack(F)) for F in self._pieces(blocks))
        )

    def _pieces(self, blocks: Sequence[Any]) -> Iterator[list[Array]]:
        width = 2 * sum(feature_map.width for feature_map in self.maps)
        for rows in block_slices(n_objects(blocks[0]), width):
            yield [f(take(X, rows)) for f, X in zip(self.maps, blocks, strict=True)]


@dataclass(frozen=True)
class DiagonalProducts(FeatureMoments):
    """Sums of products of the diagonals of the centred matrices over a block."""

    means: Sequence[Array]

    def __call__(self, *blocks: Any) -> Any:
        total = np.zeros((len(self.maps), len(self.maps)))
        for features in self._pieces(blocks):
            centred = [F - mean for F, mean in zip(features, self.means, strict=True)]
            a = np.array([np.einsum("ij,ij->i", A, A) for A in centred])
            total += a @ a.T
        return total


class Tables(Protocol):
    """Sides that go together row by row."""

    @property
    def n(self) -> int:
        """Number of rows."""

    def take(self, numbers: IntArray) -> Sequence[Objects]:
        """Objects of these numbers, of each side."""

    def fold(self, map_block: Callable[..., Any], merge: Callable[[Any, Any], Any]) -> Any:
        """A sum over blocks of rows."""


@dataclass(frozen=True)
class TablesInMemory:
    """Sides in memory, checked."""

    sides: Sequence[Objects]

    @property
    def n(self) -> int:
        return n_objects(self.sides[0])

    def take(self, numbers: IntArray) -> Sequence[Objects]:
        return [take(X, numbers) for X in self.sides]

    def fold(self, map_block: Callable[..., Any], merge: Callable[[Any, Any], Any]) -> Any:
        return map_block(*self.sides)


class TablesInBlocks:
    """Sides that are read block by block."""

    def __init__(self, rows: Rows, kernels: Sequence[Kernel]):
        rows.require_passes("some objects are drawn first")
        self.rows, self.kernels, self.n = rows, kernels, rows.count()

    def take(self, numbers: IntArray) -> Sequence[Objects]:
        drawn = take_rows(self.rows, numbers)
        return [block_objects(k, X) for k, X in zip(self.kernels, drawn, strict=True)]

    def fold(self, map_block: Callable[..., Any], merge: Callable[[Any, Any], Any]) -> Any:
        return self.rows.fold(map_block, merge)


def block_objects(kernel: Kernel, X: Any) -> Objects:
    """A block in the form that the kernel compares."""
    return as_rows(X) if kernel.vectors else checked_block(kernel, X)


def open_tables(tables: Sequence[Any], kernels: Sequence[Kernel], owner: str) -> Tables:
    """The sides as they are held; lengths must agree."""
    if any(in_blocks(X) and not isinstance(X, np.memmap) for X in tables):
        return TablesInBlocks(open_rows(owner, *tables, names=("X", "Y", "Z")), kernels)
    names = ("X", "Y", "Z")
    sides = [check_for(k, X, name=name) for k, X, name in zip(kernels, tables, names, strict=False)]
    counts = [n_objects(X) for X in sides]
    if len(set(counts)) > 1:
        raise ValueError(
            f"{owner} compares collections of equal length: pair i is one observation. "
            f"Got {', '.join(map(str, counts))} objects."
        )
    return TablesInMemory(sides)


def low_rank_side(X: Objects, kernel: Kernel, approximation: LowRank, *, owner: str) -> Side:
    """A side whose features are kept: what permutations need, n × r numbers."""
    source = TablesInMemory([check_for(kernel, X, name="X")])
    (feature_map,) = feature_maps(source, [kernel], approximation, owner)
    require_memory(
        owner,
        3 * 8.0 * source.n * feature_map.width,
        what=f"{feature_map.width} features of {source.n} objects",
        avoid="Take fewer features, or a method without permutations.",
    )
    return feature_side(feature_map(source.sides[0]))
