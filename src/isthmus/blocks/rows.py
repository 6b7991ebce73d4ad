"""Rows in blocks, whatever holds them, with what goes along with each row."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from isthmus._checks import name_of
from isthmus.blocks import cluster
from isthmus.blocks.checks import BlockCheck, join_blocks, last_rows, n_rows_of
from isthmus.blocks.containers import DASK, STREAM, is_endless, kind_of
from isthmus.blocks.fusing import ChunkTasks
from isthmus.blocks.slices import block_slices
from isthmus.blocks.streams import read, together
from isthmus.blocks.tree import TreeMerge

NAMES = ("X", "y", "sample_weight")
Parts = tuple[Any, ...]


@dataclass(frozen=True)
class Leaf:
    """What is done with one block: its parts are checked and mapped."""

    map_block: Callable[..., Any]
    checks: tuple[BlockCheck, ...]
    owner: str
    overlap: int = 0
    numbered: bool = False

    def __call__(
        self, index: int, start: int, parts: Parts, before: Sequence[Any] | None, state: Any
    ) -> Any:
        where = f"chunk {index}"
        lengths = [n_rows_of(part) for part in parts]
        if len(set(lengths)) > 1:
            names = [check.what for check in self.checks]
            counts = ", ".join(f"{n} in {name}" for n, name in zip(lengths, names, strict=True))
            raise ValueError(
                f"{self.owner} needs inputs that go together row by row. Got rows in {where}: "
                f"{counts}."
            )
        if not lengths[0]:
            return None
        blocks = [check(part, where) for check, part in zip(self.checks, parts, strict=True)]
        options: dict[str, Any] = {} if state is None else {"state": state}
        if self.numbered:
            options["start"] = start
        if self.overlap:
            options["overlap"] = 0 if before is None else n_rows_of(before[0])
        if before is not None:
            ready = [
                check(rows, f"chunk {index - 1}")
                for check, rows in zip(self.checks, before, strict=True)
            ]
            blocks = [join_blocks([a, b]) for a, b in zip(ready, blocks, strict=True)]
        try:
            return self.map_block(*blocks, **options)
        except Exception as error:
            error.add_note(f"{self.owner} was at {where}.")
            raise


@dataclass(frozen=True)
class After:
    """A function of what another one makes of the parts of a block."""

    first: Callable[..., Parts]
    map_block: Callable[..., Any]

    def __call__(self, *parts: Any, **options: Any) -> Any:
        return self.map_block(*self.first(*parts), **options)


class Rows(ABC):
    """Containers whose rows go together, ready to be read block by block.

    Made by :func:`open_rows`.

    Attributes
    ----------
    n_rows : int or None
        None where it is not known beforehand.
    once : bool
        Whether the rows can be read a single time.
    example : object
        A row or some of the first container, of the type of its blocks.
    checks : tuple of BlockCheck
        Of each container: ``width``, ``dtype`` and ``ndim`` of its blocks.
    """

    __module__ = "isthmus.blocks"

    def __init__(self, owner: str, checks: tuple[BlockCheck, ...], example: Any, *, once: bool):
        self.owner = owner
        self.checks = checks
        listed = checks[0].numbers and isinstance(example, list)
        self.example = checks[0].convert(example, "the first block") if listed else example
        self.once = once
        self.n_rows: int | None = None
        self._was_read = False
        self.before: Callable[..., Parts] | None = None

    def mapped(self, function: Callable[..., Parts]) -> "Rows":
        """The same rows, of whose blocks every fold sees ``function(*parts)``, a tuple."""
        other = copy(self)
        other.before = function
        return other

    def fold(
        self,
        map_block: Callable[..., Any],
        merge: Callable[[Any, Any], Any],
        finish: Callable[[Any], Any] | None = None,
        *,
        state: Any = None,
        overlap: int = 0,
        numbered: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """``finish`` of what ``merge`` makes of ``map_block`` of each block, see :func:`fold`.

        With ``numbered``, ``map_block`` has a keyword ``start``, the number of the block's first
        row among all.
        """
        self._begin_pass()
        map_block = map_block if self.before is None else After(self.before, map_block)
        leaf = Leaf(map_block, self.checks, self.owner, overlap, numbered)
        total = self._reduce(leaf, merge, state, n_jobs)
        if total is None:
            raise ValueError(f"{self.owner} needs at least one block of rows. Got none.")
        return total if finish is None else finish(total)

    def _begin_pass(self) -> None:
        if self._was_read:
            self.require_passes()
        self._was_read = True

    def require_passes(self, why: str | None = None) -> None:
        """Refuse rows that can be read only once; ``why`` says what several passes are for."""
        if self.once:
            reason = "" if why is None else f" ({why})"
            raise ValueError(
                f"{self.owner} reads the rows several times{reason}, but got an iterator, which "
                "can be read once. Give a function that returns a new iterator of blocks, a "
                "memmap, a zarr or h5py array, a pyarrow data set or a Dask collection."
            )

    @abstractmethod
    def _reduce(
        self, leaf: Leaf, merge: Callable[[Any, Any], Any], state: Any, n_jobs: int | None
    ) -> Any:
        """What the blocks' statistics merge to; None where no block has a row."""

    def first(self) -> Any:
        """The first row of the first container, which is computed where it is not there yet."""
        return self.checks[0](self.example, "the first row")

    def count(self) -> int:
        """The number of rows, by a pass over them where it is not known."""
        if self.n_rows is None:
            self.n_rows = int(self.fold(_count, lambda a, b: a + b))
        return self.n_rows


def _count(block: Any, *others: Any) -> int:
    return n_rows_of(block)


class LocalRows(Rows):
    """Rows that this process reads."""

    def __init__(
        self,
        owner: str,
        make_checks: Callable[[int], tuple[BlockCheck, ...]],
        start: Callable[[], Iterator[Parts]],
        *,
        once: bool,
        n_rows: int | None,
    ):
        first: Parts | None = None
        if once:
            reading = start()
            read_already: list[Parts] = []
            for first in reading:
                read_already.append(first)
                if n_rows_of(first[0]):
                    break
            rest = chain(read_already, reading)
            start = lambda: rest  # noqa: E731
        else:
            first = next((parts for parts in start() if n_rows_of(parts[0])), None)
        if first is None or not n_rows_of(first[0]):
            raise ValueError(f"{owner} needs at least one block of rows. Got none.")
        checks = make_checks(len(first))
        learned = tuple(c.learn_from(part) for c, part in zip(checks, first, strict=True))
        example = first[0].iloc[:1] if hasattr(first[0], "iloc") else first[0][:1]
        super().__init__(owner, learned, example, once=once)
        self.n_rows = n_rows
        self._start = start

    def _tasks(self, overlap: int) -> Iterator[tuple[int, int, Parts, Sequence[Any] | None]]:
        before: list[Any] | None = None
        start = 0
        for index, parts in enumerate(self._start()):
            yield index, start, parts, before
            start += n_rows_of(parts[0])
            if overlap:
                rows = list(parts)
                if before is not None:
                    rows = [join_blocks([a, b]) for a, b in zip(before, rows, strict=True)]
                before = [last_rows(part, overlap) for part in rows]

    def _reduce(
        self, leaf: Leaf, merge: Callable[[Any, Any], Any], state: Any, n_jobs: int | None
    ) -> Any:
        tasks = self._tasks(leaf.overlap)
        if effective_n_jobs(n_jobs) == 1:
            found: Iterator[Any] = (leaf(*task, state) for task in tasks)
        else:
            pool = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
            found = pool(delayed(leaf)(*task, state) for task in tasks)
        tree = TreeMerge(merge)
        for statistics in found:
            tree.push(statistics)
        return tree.total()


class DaskRows(Rows):
    """Rows of Dask collections, which the active scheduler reads."""

    def __init__(self, owner: str, checks: tuple[BlockCheck, ...], containers: Parts):
        self._nodes, self._sizes = cluster.align(containers, owner)
        examples = [
            cluster.example_of(X, owner) if kind_of(X) == DASK else X[:1] for X in containers
        ]
        learned = tuple(c.learn_from(e) for c, e in zip(checks, examples, strict=True))
        super().__init__(owner, learned, examples[0], once=False)
        self._chunks = ChunkTasks(self._nodes)
        if not any(np.isnan(self._sizes)):
            self.n_rows = int(sum(self._sizes))

    def _reduce(
        self, leaf: Leaf, merge: Callable[[Any, Any], Any], state: Any, n_jobs: int | None
    ) -> Any:
        starts = self._offsets() if leaf.numbered else [0] * len(self._nodes)
        return cluster.reduce_blocks(
            leaf,
            merge,
            self._chunks,
            self._sizes,
            starts=starts,
            state=state,
            overlap=leaf.overlap,
            owner=self.owner,
        )

    def first(self) -> Any:
        return self.checks[0](
            cluster.head([node[0] for node in self._nodes], self.owner), "chunk 0"
        )

    def _offsets(self) -> list[int]:
        nodes = [node[0] for node in self._nodes]
        self._sizes = cluster.known_sizes(nodes, self._sizes, self.owner)
        self.n_rows = int(sum(self._sizes))
        return [int(n) for n in np.cumsum([0, *self._sizes[:-1]])]


def open_rows(
    owner: Any,
    *containers: Any,
    names: Sequence[str] = NAMES,
    block_size: int | None = None,
    missing: bool | Sequence[str] = False,
    raw: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> Rows:
    """Open containers whose rows go together; only the first block is read.

    Parameters
    ----------
    owner : object or str
        Who asks, as messages name it.
    *containers : objects
        Each is an array, a ``np.memmap``, anything with a shape that can be sliced by rows (zarr,
        h5py), a list of objects, a table of pandas, an iterator or iterable of blocks, a function
        that returns such, a pyarrow data set, or a Dask array, dataframe or bag. Of a single
        stream the blocks may be tuples, whose members go together.
    names : sequence of str
        What messages call them.
    block_size : int or None
        Rows in a block where the container has no blocks of its own; None takes what fills 16 MB.
    missing : bool or sequence of str
        Let NaN pass, in all containers or in those of these names.
    raw : sequence of str
        Names of the containers whose blocks are not looked at.
    numbers : sequence of str
        Names of the containers that hold rows of numbers even where their blocks are lists, as
        those of a Dask bag are. Other lists hold objects.

    Returns
    -------
    Rows

    Examples
    --------
    >>> import numpy as np
    >>> rows = open_rows("doubling", np.ones((5, 2)), np.arange(5.0), block_size=2)
    >>> rows.fold(lambda X, y: y.sum(), lambda a, b: a + b)
    np.float64(10.0)
    """
    owner = name_of(owner)
    if len(containers) == 1 and isinstance(containers[0], Rows):
        return containers[0]
    for X in containers:
        if is_endless(X):
            raise ValueError(
                f"{owner} needs rows that come to an end. Got {X!r}, which never does."
            )

    def checks(n: int) -> tuple[BlockCheck, ...]:
        return _checks(owner, n, missing, names, raw, numbers)

    kinds = [kind_of(X) for X in containers]
    if DASK in kinds:
        if STREAM in kinds:
            raise ValueError(
                f"{owner} cannot read a Dask collection and a stream side by side. Make both of "
                "one kind."
            )
        return DaskRows(owner, checks(len(containers)), containers)
    if STREAM in kinds:
        once = any(isinstance(X, Iterator) for X in containers)
        return LocalRows(
            owner, checks, lambda: together(owner, containers, names), once=once, n_rows=None
        )
    lengths = [n_rows_of(X) for X in containers]
    if len(set(lengths)) > 1:
        counts = ", ".join(f"{n} in {name}" for n, name in zip(lengths, names, strict=False))
        raise ValueError(f"{owner} needs inputs that go together row by row. Got rows: {counts}.")
    size = block_rows(containers, block_size)
    return LocalRows(
        owner,
        checks,
        lambda: (
            tuple(read(X, rows) for X in containers)
            for rows in block_slices(lengths[0], 1, block_size=size)
        ),
        once=False,
        n_rows=lengths[0],
    )


def _checks(
    owner: str,
    n: int,
    missing: bool | Sequence[str],
    names: Sequence[str] = NAMES,
    raw: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> tuple[BlockCheck, ...]:
    known = [*names, *(f"part {i}" for i in range(len(names), n))]
    holes = known if missing is True else missing or ()
    return tuple(
        BlockCheck(owner, s, missing=s in holes, raw=s in raw, numbers=s in numbers)
        for s in known[:n]
    )


def block_rows(containers: Parts, block_size: int | None) -> int | None:
    """Rows in a block: what fills 16 MB, in whole chunks of what is stored in chunks."""
    if block_size is not None:
        return block_size
    width = sum(int(np.prod(X.shape[1:])) if hasattr(X, "shape") else 1 for X in containers)
    n_rows = next(block_slices(10**12, width)).stop
    chunks = getattr(containers[0], "chunks", None)
    if chunks and isinstance(chunks[0], int):
        n_rows = max(n_rows // chunks[0], 1) * chunks[0]
    return n_rows
