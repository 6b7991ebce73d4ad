"""Sums over the distances of tables, all in one compiled pass over pairs."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.dependence.threads import PARTS, map_in_threads
from isthmus.typing import Array, IntArray

# Rows of a strip, and of a part at least.
STRIP, PART_ROWS = 64, 256


def distance_sums(
    tables: Sequence[Array], offsets: Sequence[Array], *, n_jobs: int | None = None
) -> tuple[Array, Array]:
    r"""Sums of products (g, g) and of rows (g, n) of distances minus their offsets.

    Over all :math:`i\ne j`, of :math:`\|x^a_i-x^a_j\|-u^a_i-u^a_j` for each table a; O(n) memory.

    >>> import numpy as np
    >>> distance_sums([np.array([[0.0], [2.0]])], [np.zeros(2)])[1]
    array([[2., 2.]])
    """
    from isthmus.linalg.lanes import LANES

    n = len(tables[0])
    # Powers of two, so that no digit changes, for single precision to hold all squares.
    scales = np.array([2.0 ** np.frexp(np.abs(X - X[0]).max())[1] for X in tables])
    ends = np.cumsum([X.shape[1] for X in tables])
    points = np.zeros((ends[-1], -(-n // LANES) * LANES))
    units = np.zeros((len(tables), points.shape[1]))
    np.concatenate(
        [X.T / scale for X, scale in zip(tables, scales, strict=True)], out=points[:, :n]
    )
    np.divide(offsets, scales[:, None], out=units[:, :n])
    strips = list(block_slices(n, 1, block_size=STRIP))
    # Early strips are short and late ones long: every part gets some of all.
    n_parts = min(PARTS, -(-n // PART_ROWS))
    parts = [strips[i::n_parts] for i in range(n_parts)]
    found = list(
        map_in_threads(partial(_sums_of_strips, points, ends, units, n), parts, n_jobs, ours=True)
    )
    lower, rows = (np.sum(parts, axis=0) for parts in zip(*found, strict=True))
    with np.errstate(over="ignore"):  # what is too large to be squared is refused by the caller
        sums = 2 * (lower + np.tril(lower, -1).T) * scales * scales[:, None]
    return sums, rows[:, :n] * scales[:, None]


def _sums_of_strips(
    points: Array, ends: IntArray, offsets: Array, n: int, strips: Sequence[slice]
) -> tuple[Array, Array]:
    from isthmus.dependence.distance_loops import ROWS, WIDTH, add_distance_sums
    from isthmus.linalg.lanes import aligned

    g = len(ends)
    room, sums, row_sums = aligned(g, ROWS * WIDTH), np.zeros((g, g)), np.zeros_like(offsets)
    for rows in strips:
        add_distance_sums(points, ends, offsets, n, rows.start, rows.stop, room, sums, row_sums)
    return sums, row_sums
