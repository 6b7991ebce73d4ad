r"""First and second moments as a sum over blocks of rows.

What is a sum over rows is written as three functions: :func:`map_block` on a
block, :func:`merge` of two results, and a ``finish`` of the caller's. A list, a
stream, joblib and Dask all run the same three.
"""

from typing import NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.threads import LEAST_OPERATIONS, rest_in_threads, threads_for
from isthmus.typing import Array

# Values of rows that are centred at a time.
BLOCK_VALUES = 100_000
# Parts of a block that threads share: few, since each has products of its own.
PARTS = 8


class Moments(NamedTuple):
    r"""Count, mean and scatter :math:`\sum_i (x_i-\bar x)(x_i-\bar x)^\top` of rows."""

    count: float  # type: ignore[assignment]  # shadows tuple.count, which nobody needs
    mean: Array
    scatter: Array


Moments.__module__ = "isthmus.blocks"


def map_block(X: Array, weights: Array | None = None, *, overwrite_x: bool = False) -> Moments:
    """Moments of one block of rows; a row of weight two counts like two rows.

    With ``overwrite_x`` the rows are centred in place, which spares the memory for a few.

    >>> import numpy as np
    >>> X = np.array([[0.0], [3.0]])
    >>> map_block(X, weights=np.array([2.0, 1.0])).mean
    array([1.])
    """
    if weights is None:
        mean = X.mean(axis=0)
        return Moments(len(X), mean, _scatter(X, mean, None, overwrite_x))
    count = float(weights.sum())
    mean = weights @ X / count if count > 0 else np.zeros(X.shape[1], dtype=X.dtype)
    return Moments(count, mean, _scatter(X, mean, np.sqrt(weights), overwrite_x))


def _scatter(X: Array, mean: Array, roots: Array | None, overwrite_x: bool) -> Array:
    """Inner products of the rows about their mean, a few at a time, which stay in the cache."""
    n, width = X.shape
    size = max(BLOCK_VALUES // max(width, 1), 2 * width, 1)
    blocks = list(block_slices(n, width, block_size=size))
    operations = min(size, n) * width**2
    # Long products have threads of their own; others are shared in parts, which do not depend on
    # the number of threads.
    n_parts = 1 if operations >= LEAST_OPERATIONS else PARTS
    step = max(1, -(-len(blocks) // n_parts))
    parts = [blocks[i : i + step] for i in range(0, len(blocks), step)]
    totals = np.zeros((max(len(parts), 1), width, width), dtype=np.result_type(X, mean))

    def add(i: int) -> None:
        room = X if overwrite_x else np.empty((min(size, n), width), dtype=totals.dtype)
        for rows in parts[i]:
            out = room[rows] if overwrite_x else room[: rows.stop - rows.start]
            centred = np.subtract(X[rows], mean, out=out)
            if roots is not None:
                centred *= roots[rows, None]
            totals[i] += centred.T @ centred

    with threads_for(operations):
        rest_in_threads(add, range(len(parts)))
    return np.asarray(totals.sum(axis=0) if len(totals) > 1 else totals[0])


def merge(a: Moments, b: Moments) -> Moments:
    """Moments of the union of two disjoint sets of rows [Chan1983]_.

    The scatters are about the sets' own means, so nothing cancels.

    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2) ** 2
    >>> both = merge(map_block(X[:2]), map_block(X[2:]))
    >>> bool(np.allclose(both.scatter, map_block(X).scatter))
    True
    """
    count = a.count + b.count
    if not b.count:
        return a
    shift = b.mean - a.mean
    mean = a.mean + shift * (b.count / count)
    scatter = a.scatter + b.scatter
    scatter += shift[:, None] * shift * (a.count * b.count / count)
    return Moments(count, mean, scatter)
