"""Which centres lie near which points, for kernels of compact support."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.linalg.scratch import scratch
from isthmus.typing import Array, IntArray

# With more than this share of all pairs within reach, matrix products over all pairs are faster.
CROWDED = 0.5
# A longer list must also stay below a seventh of all pairs: to use it takes 28 bytes for each.
LONG = 2**23
# So few pairs are all computed: that takes no compiled loops, which a first call would wait for.
FEW = 2**14
# Cells in a radius along each of three axes. Those of the last lie side by side in memory: fine
# ones cost nothing and leave less to look at.
FINENESS = (1, 1, 4)
# Points whose pairs are counted before memory for all is asked for.
SAMPLE = 64


class Pairs(NamedTuple):
    """Pairs (evaluation point, centre), by point: see :mod:`isthmus.smoothers.pair_loops`."""

    indptr: IntArray
    indices: IntArray
    squared: Array


def near_pairs(Xe: Array, Xc: Array, support: float) -> Pairs | None:
    """All pairs whose squared distance is below ``support``; None where they are too many."""
    if _all_at_once(Xe, Xc, support):
        return None
    return list_pairs(Xe, Xc, support, most_pairs(len(Xe) * len(Xc)))


@contextmanager
def lent_pairs(Xe: Array, Xc: Array, support: float) -> Iterator[Pairs | None]:
    """Near pairs in memory that is lent: for the body of a ``with`` statement alone."""
    if _all_at_once(Xe, Xc, support):
        yield None
        return
    Xe, cells = np.ascontiguousarray(Xe), cells_of(Xc, support)
    room, most = expected_pairs(Xe, cells), most_pairs(len(Xe) * len(Xc))
    if room > 1.5 * most + len(Xc):  # clearly crowded
        yield None
        return
    with scratch(room + (room + 1) // 2) as memory:
        space = memory[room:].view(np.int32)[:room], memory[:room]
        yield _listed(Xe, cells, *space, most)


def _all_at_once(Xe: Array, Xc: Array, support: float) -> bool:
    """Whether nothing is listed: few pairs, a kernel that reaches everything, or no numbers."""
    few = len(Xe) * len(Xc) < FEW
    return few or not np.isfinite(support) or not np.all(np.isfinite(Xe))


def most_pairs(n_pairs: int) -> float:
    """How many of all pairs may be listed: with more, products over all are faster."""
    return min(CROWDED * n_pairs, max(LONG, n_pairs / 7))


def list_pairs(Xe: Array, Xc: Array, support: float = np.inf, most: float = np.inf) -> Pairs | None:
    """The pairs within reach, found by looking at centres in cells nearby.

    Cells divide the coordinates in which the centres spread most, three at most. Without a
    ``support`` these are all pairs. None where they are more than ``most``. Cost O(m n q) at
    worst, and in up to three dimensions that of a few times the pairs that are found.
    """
    if len(Xe) * len(Xc) < FEW:
        return _picked(Xe, Xc, support, most)
    Xe, cells = np.ascontiguousarray(Xe), cells_of(Xc, support)
    room = expected_pairs(Xe, cells)
    if room > 1.5 * most + len(Xc):  # clearly too many
        return None
    return _listed(Xe, cells, np.empty(room, np.int32), np.empty(room), most)


def _picked(Xe: Array, Xc: Array, support: float, most: float) -> Pairs | None:
    """The same out of all distances."""
    squared = cdist(Xe, Xc, "sqeuclidean")
    near = squared < support
    if np.count_nonzero(near) > most:
        return None
    indptr = np.zeros(len(Xe) + 1, dtype=np.int32)
    np.cumsum(near.sum(axis=1), out=indptr[1:])
    return Pairs(indptr, np.nonzero(near)[1].astype(np.int32), squared[near])


class Cells(NamedTuple):
    """Centres sorted into cells: see :func:`isthmus.smoothers.pair_loops.sort_into_cells`."""

    lines: Array
    order: IntArray
    starts: IntArray
    axes: IntArray
    low: Array
    scale: Array
    shape: IntArray
    reach: float
    support: float


def cells_of(Xc: Array, support: float) -> Cells:
    """Centres sorted into cells about as large as the reach of the kernel."""
    from isthmus.smoothers.pair_loops import sort_into_cells

    n, q = Xc.shape
    columns = np.array(Xc.T, order="C")  # lines are searched faster than columns
    low = columns.min(axis=1)
    spread = columns.max(axis=1) - low
    # The widest axis last. Where there are less than three, one is named again, with one cell.
    axes = np.argsort(spread)[::-1][[1 % q, 2 % q, 0]]
    there = np.array([q > 1, q > 2, True])
    low, spread = low[axes], spread[axes]
    radius = float(np.sqrt(support))
    shape, room = np.ones(3, dtype=np.int64), 4.0 * n
    for k in np.flatnonzero(there & (spread > 0)):
        shape[k] = max(1.0, min(FINENESS[k] * spread[k] / radius, room))
        room = max(1.0, room / shape[k])
    scale = np.divide(shape, spread, out=np.zeros(3), where=spread > 0)
    order, lines = np.empty(n, np.int32), np.zeros((max(q, 3), n))
    starts = np.zeros(int(np.prod(shape)) + 2, np.int32)
    work = np.empty(n, np.int32)
    sort_into_cells(np.ascontiguousarray(Xc), axes, low, scale, shape, work, starts, order, lines)
    # A pair that rounding places at the border is looked at too.
    reach = radius + 8.0 * np.finfo(float).eps * (radius + float(np.abs(columns).max()))
    return Cells(lines, order, starts[:-1], axes, low, scale, shape, reach, float(support))


def expected_pairs(Xe: Array, cells: Cells) -> int:
    """Room for the pairs, by those of a few points."""
    if len(Xe) <= SAMPLE:
        return 16 * len(Xe) + cells.lines.shape[1]
    some = np.ascontiguousarray(Xe[:: 1 + len(Xe) // SAMPLE])
    room, n = len(some) * 16, cells.lines.shape[1]
    found = _listed(some, cells, np.empty(room, np.int32), np.empty(room), np.inf)
    share = len(found.indices) / max(len(some), 1)
    return int(1.1 * share * len(Xe)) + n


def _listed(Xe: Array, cells: Cells, indices: IntArray, squared: Array, most: float) -> Any:
    from isthmus.smoothers.pair_loops import pairs_within

    def some(*state: Any) -> tuple[int, int]:
        return pairs_within(Xe, *cells, False, float(most), *state)

    return in_turn(some, len(Xe), cells.lines.shape[1], most, indices, squared)


def in_turn(
    some: Callable[..., tuple[int, int]],
    m: int,
    n: int,
    most: float,
    indices: IntArray,
    squared: Array,
) -> Pairs | None:
    """Pairs of m points with n centres, by a loop that lists them until memory is short.

    They are written to ``indices`` and ``squared``, or to more memory where these are too short.
    None where they are more than ``most``.
    """
    indptr, done, at = np.zeros(m + 1, np.int32), 0, 0
    while True:
        done, at = some(done, at, indptr, indices, squared)
        if at > most:
            return None
        if done == m:
            return Pairs(indptr, indices[:at], squared[:at])
        room = 2 * len(indices) + n
        grown, grown_squared = np.empty(room, np.int32), np.empty(room)
        grown[:at], grown_squared[:at] = indices[:at], squared[:at]
        indices, squared = grown, grown_squared
