"""Functions of rows, applied block by block and only when somebody asks for the result."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from isthmus._checks import name_of
from isthmus.blocks import cluster
from isthmus.blocks.checks import n_rows_of
from isthmus.blocks.containers import DASK, is_dask, kind_of
from isthmus.blocks.folding import row_blocks
from isthmus.typing import Array


class Blocks:
    """The answers to blocks of rows, computed while they are iterated over.

    It can be iterated over as often as its source, and can be passed to any function that takes a
    stream of blocks.
    """

    __module__ = "isthmus.blocks"

    def __init__(self, X: Any, function: Callable[[Any], Any], block_size: int | None = None):
        self._X, self._function, self._block_size = X, function, block_size

    def __iter__(self) -> Iterator[Any]:
        for index, block in enumerate(row_blocks(self._X, block_size=self._block_size)):
            if n_rows_of(block):
                yield _apply(self._function, index, block)


def each(X: Any, function: Callable[[Any], Any], *, block_size: int | None = None) -> Any:
    """Apply ``function`` to every block of rows, lazily, keeping the chunks.

    Parameters
    ----------
    X : rows, see :func:`open_rows`
    function : callable
        Takes a block of rows and returns as many rows, or a tuple of such.
    block_size : int or None
        Rows in a block where ``X`` has no blocks of its own.

    Returns
    -------
    dask.array.Array, dask.bag.Bag, tuple or Blocks
        For a Dask collection, a Dask array with its chunks, or a bag if ``function`` returns a list
        of objects; a tuple of these if it returns a tuple. For anything else an iterable of
        results.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> [block.tolist() for block in each(X, lambda X: X.sum(axis=1), block_size=2)]
    [[1.0, 5.0], [9.0]]
    """
    if not is_dask(X):
        return Blocks(X, function, block_size)
    owner = name_of(getattr(function, "__name__", type(function).__name__))
    nodes, sizes = cluster.row_chunks(X, owner)
    example = _example_answer(X, function, owner)
    shared = cluster.delayed(cluster.Held((function, _empty(example))), traverse=False)
    run = cluster.delayed(_run)
    answers = [run(shared, index, node) for index, node in enumerate(nodes)]
    if isinstance(example, tuple):
        take = cluster.delayed(_take)
        return tuple(
            _collection([take(answer, i) for answer in answers], part, sizes, owner)
            for i, part in enumerate(example)
        )
    return _collection(answers, example, sizes, owner)


def each_pair(X: Any, Z: Any, function: Callable[[Any, Any], Array]) -> Any:
    """A matrix of ``function(x block, z block)``, lazily, where one side is a Dask collection.

    An example is a Gram matrix, each chunk of which is one call. A side that is not a Dask
    collection is not divided.

    Returns
    -------
    dask.array.Array of shape (n_rows of X, n_rows of Z)
    """
    sides = []
    for A in (X, Z):
        if is_dask(A):
            sides.append(cluster.row_chunks(A, "each_pair"))
        else:
            whole = cluster.delayed(cluster.Held(A), traverse=False)
            sides.append(([whole], [float(n_rows_of(A))]))
    examples = [cluster.example_of(A, "each_pair") if is_dask(A) else A[:1] for A in (X, Z)]
    dtype = _quietly(lambda: function(*examples)).dtype
    shared = cluster.delayed(cluster.Held(function), traverse=False)
    run = cluster.delayed(_run_pair)
    (x_nodes, x_sizes), (z_nodes, z_sizes) = sides
    da = _dask_array()
    return da.block(
        [
            [
                da.from_delayed(run(shared, x, z), shape=(n, m), dtype=dtype)
                for z, m in zip(z_nodes, map(_size, z_sizes), strict=True)
            ]
            for x, n in zip(x_nodes, map(_size, x_sizes), strict=True)
        ],
        allow_unknown_chunksizes=True,
    )


def answer(owner: Any, function: Callable[..., Any], X: Any, args: Any, kwargs: Any) -> Any:
    """What a method answers to rows in blocks.

    Lazily for Dask collections and streams; at once, block by block, for what is sliced.
    """
    others = [*args, *kwargs.values()]
    if any(is_dask(A) for A in others):
        return _answer_together(owner, function, X, args, kwargs)

    def call(block: Any) -> Any:
        return function(block, *args, **kwargs)

    call.__name__ = f"{name_of(owner)}.{getattr(function, '__name__', 'answer')}"
    result = each(X, call)
    if kind_of(X) == DASK or not hasattr(X, "shape"):
        return result
    return _joined(list(result))


def _answer_together(
    owner: Any, function: Callable[..., Any], X: Any, args: Any, kwargs: Any
) -> Any:
    """The same where other arguments are Dask collections too, whose rows go with those of X."""
    name = name_of(owner)
    given = [X, *args, *kwargs.values()]
    along = [A for A in given if is_dask(A)]
    if not is_dask(X):
        raise ValueError(f"{name} needs its first argument as a Dask collection where others are.")
    nodes, sizes = cluster.align(along, name)
    places = [i for i, A in enumerate(given) if is_dask(A)]
    n_args, keys = 1 + len(args), list(kwargs)

    def call(*parts: Any) -> Any:
        values = list(given)
        for place, part in zip(places, parts, strict=True):
            values[place] = part
        options = dict(zip(keys, values[n_args:], strict=True))
        return function(*values[:n_args], **options)

    for place in places:  # collections are sent as their blocks
        given[place] = None
    example = _quietly(lambda: call(*(cluster.example_of(A, name) for A in along)))
    shared = cluster.delayed(cluster.Held((call, _empty(example))), traverse=False)
    run = cluster.delayed(_run)
    answers = [run(shared, index, *parts) for index, parts in enumerate(nodes)]
    return _collection(answers, example, sizes, name)


def _run(shared: cluster.Held, index: int, *blocks: Any) -> Any:
    function, empty = shared.value
    parts = [cluster.unpack(block) for block in blocks]
    return _apply(function, index, *parts) if n_rows_of(parts[0]) else empty


def _run_pair(shared: cluster.Held, x: Any, z: Any) -> Array:
    x, z = cluster.unpack(x), cluster.unpack(z)
    if not n_rows_of(x) or not n_rows_of(z):
        return np.empty((n_rows_of(x), n_rows_of(z)))
    return np.asarray(shared.value(x, z))


def _apply(function: Callable[..., Any], index: int, *parts: Any) -> Any:
    try:
        found = function(*parts)
    except Exception as error:
        error.add_note(f"This came from chunk {index}.")
        raise
    for part in found if isinstance(found, tuple) else (found,):
        if n_rows_of(part) != n_rows_of(parts[0]):
            raise ValueError(
                "each needs a function that answers every row: expected "
                f"{n_rows_of(parts[0])} rows for chunk {index}. Got {n_rows_of(part)}."
            )
    return found


def _take(answers: tuple[Any, ...], i: int) -> Any:
    return answers[i]


def _example_answer(X: Any, function: Callable[[Any], Any], owner: str) -> Any:
    """What the function says to one row: to a made-up one, or where it refuses that, a true one."""
    try:
        return _quietly(lambda: function(cluster.example_of(X, owner)))
    except (TypeError, ValueError, ArithmeticError, np.linalg.LinAlgError):
        return _quietly(lambda: function(cluster.first_rows(X, owner)))


def _quietly(function: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function()


def _empty(example: Any) -> Any:
    return tuple(part[:0] for part in example) if isinstance(example, tuple) else example[:0]


def _collection(nodes: list[Any], example: Any, sizes: list[float], owner: str) -> Any:
    """A Dask collection of blocks that are like ``example`` but for their number of rows."""
    if isinstance(example, list):
        import dask.bag

        make: Any = dask.bag.from_delayed
        return make(nodes)
    if hasattr(example, "to_numpy"):
        example = example.to_numpy()
        to_array = cluster.delayed(np.asarray)
        nodes = [to_array(node) for node in nodes]
    if issparse(example) or not isinstance(example, np.ndarray) or example.ndim == 0:
        raise TypeError(
            f"{owner} has no answer for each row that a Dask collection could hold. Got "
            f"{type(example).__name__}; call it with rows in memory."
        )
    da = _dask_array()
    tail, dtype = example.shape[1:], example.dtype
    parts = [
        da.from_delayed(node, shape=(_size(n), *tail), dtype=dtype)
        for node, n in zip(nodes, sizes, strict=True)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


def _size(n: float) -> float | int:
    return n if np.isnan(n) else int(n)


def _dask_array() -> Any:
    import dask.array

    return dask.array


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return [item for part in parts for item in part]
