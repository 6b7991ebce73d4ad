"""Passes over rows, whatever holds them, as sums of what the blocks say."""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from isthmus.blocks.checks import n_rows_of
from isthmus.blocks.containers import DASK, STREAM, kind_of
from isthmus.blocks.rows import Rows, block_rows, open_rows
from isthmus.blocks.slices import block_slices
from isthmus.blocks.streams import read, stream
from isthmus.typing import Array


def row_blocks(X: Any, *, block_size: int | None = None) -> Iterator[Any]:
    """Yield the rows of ``X`` in blocks that fit in memory.

    ``X`` is an array, a ``np.memmap``, anything with a shape that can be sliced by rows (as zarr
    and h5py can), a list of objects, an iterator that yields blocks already or a function that
    returns one, a pyarrow data set, or a Dask collection, whose chunks are computed one by one.

    >>> import numpy as np
    >>> [len(block) for block in row_blocks(np.zeros((5, 2)), block_size=2)]
    [2, 2, 1]
    """
    kind = kind_of(X)
    if kind == STREAM:
        yield from stream(X)
    elif kind == DASK:
        from isthmus.blocks.cluster import compute, row_chunks, unpack

        for node in row_chunks(X, "row_blocks")[0]:
            yield unpack(compute(node, "row_blocks"))
    else:
        for rows in block_slices(n_rows_of(X), 1, block_size=block_rows((X,), block_size)):
            yield read(X, rows)


def fold(
    X: Any,
    map_block: Callable[..., Any],
    merge: Callable[[Any, Any], Any],
    finish: Callable[[Any], Any] | None = None,
    *,
    state: Any = None,
    overlap: int = 0,
    block_size: int | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return ``finish(merge(map_block(first), map_block(second), ...))`` over blocks of rows.

    The statistics are merged as a tree whose shape depends on the number of blocks alone: the same
    blocks give bitwise the same result here, in several threads and on any Dask cluster. Blocks
    without rows are skipped.

    Parameters
    ----------
    X : rows, or a tuple of containers whose rows go together
        See :func:`open_rows`. Dask collections are reduced on the active Dask scheduler.
    map_block : callable
        Statistics of one block, which is given as one argument for each container.
    merge : callable
        Statistics of two disjoint sets of rows from those of each; the first set's rows come
        before those of the second.
    finish : callable or None
        Turns the merged statistics into the result; None returns them as they are. It is called
        here, not on a worker.
    state : object or None
        What ``map_block`` is given as its keyword ``state``. On a cluster it is sent once to
        each worker that needs it, so that large arrays belong here.
    overlap : int, default=0
        Rows before each block that are given with it, for differences in time: ``map_block`` has a
        keyword ``overlap``, the number of its first rows that belong to the blocks before.
    block_size : int or None
        Rows in a block where ``X`` has no blocks of its own; None takes what fills 16 MB.
    n_jobs : int or None
        Threads that map blocks; matrix products and compiled loops let others run. None is one,
        or what an enclosing ``joblib.parallel_config`` says.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.blocks import fold, map_block, merge
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> fold(X, map_block, merge, lambda moments: moments.mean, block_size=3)
    array([ 9., 10.])

    Two containers side by side:

    >>> y = np.ones(10)
    >>> fold((X, y), lambda X, y: X.T @ y, np.add, block_size=4)
    array([ 90., 100.])
    """
    rows = open_fold(X, block_size)
    return rows.fold(map_block, merge, finish, state=state, overlap=overlap, n_jobs=n_jobs)


def iterate(
    X: Any,
    state: Any,
    map_block: Callable[..., Any],
    merge: Callable[[Any, Any], Any],
    update: Callable[[Any, Any], tuple[Any, bool]],
    *,
    max_iter: int,
    block_size: int | None = None,
    n_jobs: int | None = None,
) -> tuple[Any, int]:
    """Passes over all rows, each with the state that the last one left.

    A pass is a :func:`fold` of ``map_block(block, state=state)``; then
    ``update(statistics, state)`` returns the next state and whether to end.

    Returns
    -------
    state : object
        The last one.
    n_iter : int
        Number of passes.

    Examples
    --------
    The median, as the centre of smallest absolute distances:

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [30.0], [40.0]])
    >>> def above_and_below(X, state):
    ...     return np.sign(X - state).sum()
    >>> def move(total, state):
    ...     return state + 0.5 * total, total == 0
    >>> iterate(X, 0.0, above_and_below, np.add, move, max_iter=100)
    (np.float64(2.0), 2)
    """
    rows = open_fold(X, block_size)
    if max_iter > 1:
        rows.require_passes("one pass follows another")
    done, n_iter = False, 0
    while not done and n_iter < max_iter:
        total = rows.fold(map_block, merge, state=state, n_jobs=n_jobs)
        state, done = update(total, state)
        n_iter += 1
    return state, n_iter


def gather(
    rows: Rows, map_block: Callable[..., Array], *, state: Any = None, n_jobs: int | None = None
) -> Array:
    """Return what ``map_block`` says of every row, as one array.

    Its answers to the blocks stay apart until all are here: merged two by two, each would be
    copied at every level of the tree.

    >>> import numpy as np
    >>> gather(open_fold(np.arange(6.0).reshape(3, 2), 2), lambda X: X.sum(axis=1))
    array([1., 5., 9.])
    """
    found: list[Array] = rows.fold(_Listed(map_block), operator.add, state=state, n_jobs=n_jobs)
    return np.concatenate(found)


class _Listed:
    """A function whose answer to a block is the only member of a list."""

    def __init__(self, function: Callable[..., Array]):
        self.function = function

    def __call__(self, *parts: Any, **options: Any) -> list[Array]:
        return [self.function(*parts, **options)]


def open_fold(X: Any, block_size: int | None = None, owner: str = "fold") -> Rows:
    """``X`` as :class:`Rows`: one container, or a tuple of them."""
    if isinstance(X, Rows):
        return X
    containers = X if isinstance(X, tuple) else (X,)
    return open_rows(owner, *containers, block_size=block_size, missing=True)
