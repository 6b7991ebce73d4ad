"""Weighted means among places that are points and centres at once, for kernels of compact support.

Every pair is found once and serves both its places, which lie sorted by cells: a step of a descent
then reads memory in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.lanes import LANES
from isthmus.linalg.scratch import from_a_line, scratch
from isthmus.smoothers.density_kernels import DensityKernel
from isthmus.smoothers.kernel_rows import pair_weights, reciprocal
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.smoothers.pairs import FEW, Cells, Pairs, cells_of, expected_pairs, in_turn, most_pairs
from isthmus.typing import Array, IntArray

# Slopes of a loss are asked for so many numbers at a time: fresh memory for more is slow.
FRESH = 2**14


class MutualPairs(NamedTuple):
    """Sorted places (q, n), which row each of them is, and the pairs j < i among them."""

    places: Array
    order: IntArray
    pairs: Pairs


class MutualMeans(NamedTuple):
    """Means at all places, the gradient of a loss of them, and how many places nothing reaches."""

    values: Array
    gradient: Array
    n_alone: int


def are_mutual(smoother: LocalSmoother, excluded: IntArray | None, n: int) -> bool:
    """Whether a pair of n places weighs the same for both, and counts only where it is near."""
    if not smoother.plain_means or not smoother.kernel.compact:
        return False
    if excluded is None:
        return True
    return excluded.shape == (n, 1) and np.array_equal(excluded[:, 0], np.arange(n))


@contextmanager
def lent_mutual(X: Array, support: float) -> Iterator[MutualPairs | None]:
    """Near pairs among places, in memory that is lent; None where they are few or too many."""
    n = len(X)
    if n * n < FEW or not np.isfinite(support) or not np.all(np.isfinite(X)):
        yield None
        return
    cells, room = _cells_and_room(X, support)
    if not room:
        yield None
        return
    with scratch(room + (room + 1) // 2) as memory:
        yield _listed(cells, memory[room:].view(np.int32)[:room], memory[:room], X.shape[1])


def list_mutual(X: Array, support: float) -> MutualPairs | None:
    """The same in memory of its own, for finite places."""
    cells, room = _cells_and_room(X, support)
    if not room:
        return None
    return _listed(cells, np.empty(room, np.int32), np.empty(room), X.shape[1])


def _cells_and_room(X: Array, support: float) -> tuple[Cells, int]:
    """Places sorted into cells, and room for their pairs; none where they are clearly crowded."""
    n, cells = len(X), cells_of(X, support)
    room = expected_pairs(np.ascontiguousarray(X), cells)
    return cells, 0 if room > 1.5 * most_pairs(n * n) + n else room // 2 + n


def _listed(cells: Cells, indices: IntArray, squared: Array, q: int) -> MutualPairs | None:
    from isthmus.smoothers.pair_loops import pairs_within

    n, places = len(cells.order), cells.lines[:q]
    points, most = np.array(places.T, order="C"), 0.5 * most_pairs(n * n)
    among = cells._replace(order=np.arange(n, dtype=np.int32))

    def some(*state: Any) -> tuple[int, int]:
        return pairs_within(points, *among, True, most, *state)

    found = in_turn(some, n, n, most, indices, squared)
    return None if found is None else MutualPairs(places, cells.order, found)


def mutual_means(
    near: MutualPairs,
    kernel: DensityKernel,
    outputs: Array,
    slope_of: Callable[[Array, slice], Array | None],
    *,
    with_itself: bool,
    background: float,
) -> MutualMeans:
    """Means at all places, and the gradient of a loss of them by the places."""
    from isthmus.smoothers.mutual_loops import (
        means_of,
        mutual_pulls,
        mutual_slopes,
        mutual_sums,
        sort_rows,
        sort_slopes,
    )

    places, order, pairs = near
    (n, d), wide = outputs.shape, outputs.shape[1] + -outputs.shape[1] % LANES
    values, S = np.empty((n, d)), np.empty(n)
    own = float(kernel.profile(np.zeros(1))[0]) if with_itself else 0.0
    with scratch(2, len(pairs.indices)) as memory, scratch(2 * n * wide + LANES) as memory_of_rows:
        Y, F = from_a_line(memory_of_rows, 2 * n * wide).reshape(2, n, wide)
        K, H = pair_weights(pairs, kernel, None, memory)
        sort_rows(np.asarray(outputs, dtype=np.float64), order, Y)
        mutual_sums(pairs.indptr, pairs.indices, K, own, Y, S, F)
        inverse = reciprocal(S + background)
        gradient, n_alone = np.zeros((n, len(places))), int(np.count_nonzero(S <= 0))
        sorted_slopes, offsets = F, S  # whose place they take, row by row
        place_of = np.empty_like(order)
        place_of[order] = np.arange(n, dtype=order.dtype)
        for rows in block_slices(n, d, block_size=max(16, FRESH // d)):
            here = values[rows]
            means_of(rows.start, place_of, inverse, F, here)
            D = slope_of(here, rows)
            if D is not None:
                sort_slopes(rows.start, place_of, inverse, D, here, sorted_slopes, offsets)
        if D is None:
            return MutualMeans(values, gradient, n_alone)
        mutual_pulls(pairs.indptr, pairs.indices, sorted_slopes, offsets, Y, H)
        sorted_gradient = np.empty(places.shape)
        mutual_slopes(pairs.indptr, pairs.indices, H, places, sorted_gradient)
        gradient[order] = sorted_gradient.T
    return MutualMeans(values, gradient, n_alone)
