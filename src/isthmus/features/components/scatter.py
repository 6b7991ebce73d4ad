"""Products of rows of few columns: by compiled loops, where these are faster than BLAS."""

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.lanes import LANES, aligned
from isthmus.linalg.thin import has_long_registers
from isthmus.linalg.threads import rest_in_threads
from isthmus.typing import Array

# Columns with which it pays, and numbers that are worth looking at compiled code.
FEWEST, MOST, LEAST_NUMBERS = LANES, 96, 2**14
# Numbers in a part of the rows, at least, and parts, at most, each with sums of its own.
PART, MOST_PARTS = 2**17, 8


def fits_registers(rows: Array) -> bool:
    """Whether the functions below take these rows, and are the faster way to their products."""
    return (
        FEWEST <= rows.shape[1] <= MOST
        and rows.size >= LEAST_NUMBERS
        and rows.dtype == np.float64
        and rows.flags.c_contiguous
        and has_long_registers()
    )


def scatter_about(center: Array, rows: Array) -> tuple[Array, Array]:
    """Products of the rows about a center, of which the upper half counts, and their sums.

    The same on any number of threads.

    >>> rows = np.arange(16.0).reshape(2, 8)
    >>> np.triu(scatter_about(rows[0], rows)[0])[0]
    array([64., 64., 64., 64., 64., 64., 64., 64.])
    """
    from isthmus.features.components.scatter_loops import add_scatter

    n, k = rows.shape
    if n * k <= PART:
        block, products, total = _room(k)
        add_scatter(rows, center, block, products, total)
        return products[:k, :k], total[:k]
    parts = list(block_slices(n, k, block_size=max(PART // k, -(-n // MOST_PARTS))))
    found = np.empty((len(parts), k + 1, k))

    def add(i: int) -> None:
        block, products, total = _room(k)
        add_scatter(rows[parts[i]], center, block, products, total)
        found[i, :k], found[i, k] = products[:k, :k], total[:k]

    rest_in_threads(add, range(len(parts)))
    whole = found.sum(axis=0)
    return whole[:k], whole[k]


def scatter_of_changes(rows: Array, tail: Array, lag: int) -> Array:
    """Products of the differences over ``lag`` rows, of which the upper half counts.

    The rows follow those of the tail; of both there are at least ``lag``.

    >>> rows = np.arange(16.0).reshape(2, 8)
    >>> np.triu(scatter_of_changes(rows[1:], rows[:1], 1))[0]
    array([64., 64., 64., 64., 64., 64., 64., 64.])
    """
    from isthmus.features.components.scatter_loops import add_changes

    n, k = rows.shape
    block, products, _ = _room(k)
    add_changes(rows[:lag], tail[len(tail) - lag :], block, products)
    add_changes(rows[lag:], rows[: n - lag], block, products)
    return products[:k, :k]


def _room(k: int) -> tuple[Array, Array, Array]:
    """Zeros for a block of rows, their products and sums, as wide as whole registers."""
    from isthmus.features.components.scatter_loops import ROWS

    width = k + -k % LANES
    zeros = aligned(ROWS + width + 1, width)
    zeros.fill(0.0)
    return zeros[:ROWS], zeros[ROWS:-1], zeros[-1]
