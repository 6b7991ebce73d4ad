"""Rows drawn from whatever holds them: landmarks, starts, rows to choose parameters on."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus.blocks.checks import join_blocks, n_rows_of
from isthmus.blocks.containers import is_table
from isthmus.blocks.folding import open_fold
from isthmus.blocks.rows import Rows
from isthmus.blocks.sampling import sample_rows
from isthmus.typing import Array, IntArray

# Keys of rows, smallest first, their numbers, and the rows of each container.
Drawn = tuple[Array, IntArray, tuple[Any, ...]]


def draw_rows(X: Any, n: int, random_state: Any = 0, *, sort: bool = True) -> tuple[Any, ...]:
    """Draw ``n`` rows without repetition: those that :func:`sample_rows` draws of an array.

    Takes one pass over the rows, and another one before it where their number is unknown.

    Parameters
    ----------
    X : rows, a tuple of containers whose rows go together, or :class:`Rows`
    n : int
        All rows are returned where there are no more.
    random_state : Generator, RandomState or seed
    sort : bool, default=True
        Keep the order of the rows.

    Returns
    -------
    tuple
        The drawn rows of each container.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.blocks import draw_rows, sample_rows
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> (drawn,) = draw_rows(X, 3, 0)
    >>> bool((drawn == X[sample_rows(10, 3, 0)]).all())
    True
    """
    rows = open_fold(X, None, "draw_rows")
    return take_rows(rows, sample_rows(rows.count(), n, random_state, sort=sort))


def fold_and_draw(
    rows: Rows,
    map_block: Callable[..., Any],
    merge: Callable[[Any, Any], Any],
    n: int,
    random_state: Any = 0,
) -> tuple[Any, tuple[Any, ...]]:
    """A fold, and ``n`` rows drawn beside it: in the same pass where that can be done.

    The rows are those of :func:`draw_rows`, or of :func:`reservoir` where the rows can be read only
    once. Returns the merged statistics and the drawn rows of each container.
    """
    if rows.n_rows is None and not rows.once:
        counted = rows.fold(_Both(map_block, _count), _MergeBoth(merge, operator.add))
        rows.n_rows = counted[1]
        return counted[0], draw_rows(rows, n, random_state)
    if rows.once:
        seed = _seed(random_state)
        total, drawn = rows.fold(
            _Both(map_block, _Reservoir(seed, n)), _MergeBoth(merge, _Smallest(n)), numbered=True
        )
        return total, _in_order(drawn)
    wanted = sample_rows(rows.count(), n, random_state)
    return rows.fold(_Both(map_block, _Taken(wanted)), _MergeBoth(merge, _append), numbered=True)


class _Both:
    """Two functions of a block in one pass; the second may ask where the block begins."""

    def __init__(self, first: Callable[..., Any], second: Callable[..., Any]):
        self.first, self.second = first, second

    def __call__(self, *parts: Any, **options: Any) -> tuple[Any, Any]:
        return self.first(*parts), self.second(*parts, **options)


class _MergeBoth:
    def __init__(self, first: Callable[[Any, Any], Any], second: Callable[[Any, Any], Any]):
        self.first, self.second = first, second

    def __call__(self, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
        return self.first(a[0], b[0]), self.second(a[1], b[1])


def _count(block: Any, *others: Any) -> int:
    return n_rows_of(block)


def take_rows(X: Any, indices: IntArray) -> tuple[Any, ...]:
    """The rows of the given numbers, in that order, of each container; one pass."""
    rows = open_fold(X, None, "take_rows")
    indices = np.asarray(indices)
    ranked = np.argsort(indices, kind="stable")
    found = rows.fold(_Taken(indices[ranked]), _append, numbered=True)
    if len(found) and n_rows_of(found[0]) < len(indices):
        raise IndexError(f"take_rows: row {indices.max()} was asked for, which is not there.")
    return tuple(_pick(part, np.argsort(ranked, kind="stable")) for part in found)


class _Taken:
    """The rows of a block whose numbers are among ``wanted``, which increase."""

    def __init__(self, wanted: IntArray):
        self.wanted = wanted

    def __call__(self, *parts: Any, start: int) -> tuple[Any, ...]:
        here = np.searchsorted(self.wanted, [start, start + n_rows_of(parts[0])])
        return tuple(_pick(part, self.wanted[slice(*here)] - start) for part in parts)


def _append(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(join_blocks([x, y]) for x, y in zip(a, b, strict=True))


def reservoir(X: Any, n: int, random_state: Any = 0) -> tuple[Any, ...]:
    """Draw ``n`` rows without repetition in a single pass, from a stream of unknown length.

    Each row gets a random number that depends on the seed and the row's number alone, and the
    ``n`` smallest stay. Neither the blocks nor the scheduler matter.

    Parameters
    ----------
    X : rows, a tuple of containers whose rows go together, or :class:`Rows`
    n : int
        All rows are returned where there are no more.
    random_state : int, Generator or RandomState
        One number is drawn of a generator.

    Returns
    -------
    tuple
        The drawn rows of each container, in the order in which they came.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.blocks import reservoir
    >>> X = np.arange(100.0)[:, None]
    >>> (one,) = reservoir(iter(np.split(X, 4)), 5)
    >>> (other,) = reservoir(iter(np.split(X, 10)), 5)
    >>> bool((one == other).all()), len(one)
    (True, 5)
    """
    rows = open_fold(X, None, "reservoir")
    drawn = rows.fold(_Reservoir(_seed(random_state), n), _Smallest(n), numbered=True)
    return _in_order(drawn)


def _in_order(drawn: Drawn) -> tuple[Any, ...]:
    _, numbers, parts = drawn
    return tuple(_pick(part, np.argsort(numbers)) for part in parts)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31 - 1))
    return int(random_state)


class _Reservoir:
    """The rows of a block with the smallest keys."""

    def __init__(self, seed: int, n: int):
        self.seed, self.n = seed, n

    def __call__(self, *parts: Any, start: int) -> Drawn:
        n_rows = n_rows_of(parts[0])
        # Four numbers come of one step of the counter: begin where this block's first row is.
        stream = np.random.Philox(key=self.seed)
        stream.advance(start // 4)
        keys = np.random.Generator(stream).random(start % 4 + n_rows)[start % 4 :]
        return _smallest(keys, np.arange(start, start + n_rows), parts, self.n)


class _Smallest:
    """The merge of a reservoir: the smallest keys of two sets of rows stay."""

    def __init__(self, n: int):
        self.n = n

    def __call__(self, a: Drawn, b: Drawn) -> Drawn:
        keys, numbers = np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]])
        return _smallest(keys, numbers, _append(a[2], b[2]), self.n)


def _smallest(keys: Array, numbers: IntArray, parts: tuple[Any, ...], n: int) -> Drawn:
    kept = np.argsort(keys, kind="stable")[:n]
    return keys[kept], numbers[kept], tuple(_pick(part, kept) for part in parts)


def _pick(part: Any, where: IntArray) -> Any:
    if is_table(part):
        return part.iloc[where]
    return part[where] if isinstance(part, np.ndarray) else [part[i] for i in where]
