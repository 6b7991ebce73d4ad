"""One pass over rows, whatever holds them, as a sum of what the blocks say."""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from isthmus.blocks.slices import block_slices

Statistics = TypeVar("Statistics")


def row_blocks(X: Any, *, block_size: int | None = None) -> Iterator[Any]:
    """Yield the rows of ``X`` in blocks that fit in memory.

    ``X`` is an array, a ``np.memmap``, anything with a shape that can be sliced by rows (as zarr
    and h5py can), a list of objects, or an iterator that yields blocks already.

    >>> import numpy as np
    >>> [len(block) for block in row_blocks(np.zeros((5, 2)), block_size=2)]
    [2, 2, 1]
    """
    if not hasattr(X, "__len__"):
        yield from X
        return
    width = int(np.prod(X.shape[1:])) if hasattr(X, "shape") else 1
    for rows in block_slices(len(X), width, block_size=block_size):
        yield X[rows]


def fold(
    X: Any,
    map_block: Callable[[Any], Statistics],
    merge: Callable[[Statistics, Statistics], Statistics],
    finish: Callable[[Statistics], Any] | None = None,
    *,
    block_size: int | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return ``finish(merge(map_block(first), map_block(second), ...))`` over blocks of rows.

    Blocks are merged in their order, so the same blocks give bitwise the same result
    however many threads have mapped them.

    Parameters
    ----------
    X : rows, see :func:`row_blocks`
    map_block : callable
        Statistics of one block.
    merge : callable
        Statistics of two disjoint sets of rows from those of each.
    finish : callable or None
        What the statistics are good for; None returns them.
    block_size : int or None
        Rows in a block; None takes what fills 16 MB.
    n_jobs : int or None
        Threads that map blocks; matrix products and compiled loops let others run.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.blocks import fold, map_block, merge
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> fold(X, map_block, merge, lambda moments: moments.mean, block_size=3)
    array([ 9., 10.])
    """
    blocks: Iterable[Any] = row_blocks(X, block_size=block_size)
    # One by one: statistics of all blocks together may take more memory than the rows.
    if n_jobs in (None, 1):
        found: Iterator[Statistics] = map(map_block, blocks)
    else:
        threads = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
        found = threads(delayed(map_block)(block) for block in blocks)
    for first in found:
        total = merge_all(chain([first], found), merge)
        return total if finish is None else finish(total)
    raise ValueError("fold needs at least one block of rows. Got none.")


def merge_all(
    found: Iterable[Statistics], merge: Callable[[Statistics, Statistics], Statistics]
) -> Statistics:
    """Merge statistics from left to right."""
    return reduce(merge, found)
