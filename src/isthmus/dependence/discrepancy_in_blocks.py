"""Maximum mean discrepancy of samples that are read block by block.

Exactly by strips of objects that are held against all blocks, O((m+n)²) time; or of low rank, where
the means and scatters of the features of each sample are all that it takes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks import moments
from isthmus.blocks.drawing import take_rows
from isthmus.blocks.rows import Rows, open_rows
from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.dependence.approximation import LowRank
from isthmus.dependence.block_pairs import STRIP, KernelValues
from isthmus.dependence.low_rank import FeatureMoments, block_objects, feature_maps
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import concatenate, n_objects, take
from isthmus.kernels.vectors.width import MAX_ROWS
from isthmus.typing import Array, IntArray, Objects


@dataclass(frozen=True)
class Samples:
    """Two samples in blocks, numbered one after the other."""

    samples: Sequence[Rows]
    kernel: Kernel

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of objects."""
        first, second = self.samples
        return first.count(), second.count()

    @property
    def n(self) -> int:
        """Number of objects of both."""
        return sum(self.sizes)

    def take(self, numbers: IntArray) -> Sequence[Objects]:
        """Objects of these numbers, in this order, as the one side there is."""
        m = self.sizes[0]
        first = numbers < m
        wanted = (numbers[first], numbers[~first] - m)
        parts = [self.part(i, some) for i, some in enumerate(wanted) if len(some)]
        order = np.argsort(np.r_[np.flatnonzero(first), np.flatnonzero(~first)])
        return [take(concatenate(*parts) if len(parts) > 1 else parts[0], order)]

    def part(self, which: int, numbers: IntArray) -> Objects:
        """Objects of one sample."""
        return block_objects(self.kernel, take_rows(self.samples[which], numbers)[0])

    def fold(self, map_block: Any, merge: Any) -> Any:
        """A sum over both."""
        return merge(*(rows.fold(map_block, merge) for rows in self.samples))


def open_samples(X: Any, Z: Any, kernel: Kernel, owner: str) -> Samples:
    """Two samples, of which one at least is read block by block."""
    numbers = ("X", "Z") if kernel.vectors else ()
    samples = [
        open_rows(owner, A, names=(name,), numbers=numbers)
        for A, name in zip((X, Z), "XZ", strict=True)
    ]
    for rows in samples:
        rows.require_passes("some objects are drawn first")
    widths = [rows.checks[0].width for rows in samples]
    if kernel.vectors and len(set(widths)) > 1:
        raise ValueError(f"{owner} compares rows of one width. Got {widths[0]} and {widths[1]}.")
    return Samples(samples, kernel)


def low_rank_discrepancy(
    source: Samples, approximation: LowRank, *, owner: str, unbiased: bool
) -> float:
    """The squared discrepancy of the approximate kernel."""
    maps = feature_maps(source, [source.kernel], approximation, owner)
    x, z = (rows.fold(FeatureMoments(maps), moments.merge) for rows in source.samples)
    value = float(np.square(x.mean - z.mean).sum())
    if unbiased:  # without the pairs of an object with itself
        value -= sum(float(np.trace(s.scatter)) / (s.count * (s.count - 1)) for s in (x, z))
    return value


class Strip(NamedTuple):
    """Objects that every block is held against, and the object that all are seen from."""

    values: KernelValues
    objects: Objects
    origin: Objects


def strip_sum(block: Any, *, state: Strip) -> float:
    """Kernels about the origin, summed over the strip and a block."""
    X, total = state.values.objects(block), 0.0
    u = _offsets(state.values, state.objects, state.origin)
    for part in block_slices(n_objects(X), n_objects(state.objects)):
        some = take(X, part)
        K = state.values(state.objects, some) - u[:, None]
        total += float((K - _offsets(state.values, some, state.origin)).sum())
    return total


def exact_discrepancy(source: Samples, *, unbiased: bool) -> float:
    """The squared discrepancy, from all pairs of blocks."""
    (drawn,) = source.take(sample_rows(source.n, MAX_ROWS, sort=False))
    values, origin = KernelValues(source.kernel).resolve(drawn), take(drawn, slice(0, 1))
    sums, own = np.zeros((2, 2)), np.zeros(2)
    for i, size in enumerate(source.sizes):
        for numbers in block_slices(size, 1, block_size=STRIP):
            objects = source.part(i, np.arange(numbers.start, numbers.stop))
            state = Strip(values, objects, origin)
            u = _offsets(values, objects, origin)
            own[i] += float((values.diagonal(objects) - 2 * u).sum())
            for j in range(i, 2):
                sums[i, j] += source.samples[j].fold(strip_sum, float.__add__, state=state)
    counts = np.array(source.sizes, dtype=float)
    within = np.diag(sums) / counts**2
    if unbiased:
        within = (np.diag(sums) - own) / (counts * (counts - 1))
    return float(within.sum() - 2 * sums[0, 1] / counts.prod())


def _offsets(values: KernelValues, X: Objects, origin: Objects) -> Array:
    """What a kernel about an origin lacks: nothing of a discrepancy, but digits."""
    return values(X, origin)[:, 0] - values(origin, origin)[0, 0] / 2
