"""Dask: rows of its collections as blocks, and results from whatever scheduler is active."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from math import isnan
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from isthmus import __version__
from isthmus._extras import load_extra
from isthmus.blocks.checks import join_blocks, last_rows, n_rows_of
from isthmus.blocks.containers import is_dask
from isthmus.blocks.fusing import ChunkTasks, Several
from isthmus.blocks.keeping import memory_kept
from isthmus.blocks.tree import merge_group

# Seconds to wait for a worker where the cluster has none at all.
PATIENCE = 30.0
# Workers that have been asked for their version, of each client.
_asked: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()
# Seconds between two looks at the cluster while a result is awaited.
LOOK_EVERY = 0.5


@dataclass(frozen=True)
class Held:
    """Something that Dask is to carry as it is, once, however many tasks need it."""

    value: Any


def delayed(thing: Any, **options: Any) -> Any:
    """A node of a Dask graph; functions are not compared with each other by their contents."""
    dask = load_extra("dask", "dask", "isthmus.blocks")
    return dask.delayed(thing, pure=False, **options)


def row_chunks(X: Any, owner: str) -> tuple[list[Any], list[float]]:
    """The blocks of a Dask collection as nodes, and their numbers of rows, NaN where unknown."""
    if hasattr(X, "chunks"):
        if X.ndim == 0:
            raise ValueError(f"{owner} needs rows. Got a Dask array without dimensions.")
        if X.ndim > 1:  # a block has whole rows
            X = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
        # As it stands: two collections that were optimised apart may give one name to two tasks.
        nodes = X.to_delayed(optimize_graph=False).ravel()
        return list(nodes), [float(n) for n in X.chunks[0]]
    if hasattr(X, "npartitions") and hasattr(X, "to_delayed"):
        nodes = list(X.to_delayed())
        if len(nodes) != X.npartitions:
            # Small files were put together, fewer or more by the columns that are read: columns
            # of one table would no longer go together.
            nodes = list(X.to_delayed(optimize_graph=False))
        return nodes, [float("nan")] * len(nodes)
    raise TypeError(
        f"{owner} takes a Dask array, dataframe or bag. Got {type(X).__name__}; make a collection "
        "of rows of it, as by dask.array.from_delayed."
    )


def is_bag(X: Any) -> bool:
    """Whether a Dask collection holds objects and not numbers."""
    return not hasattr(X, "chunks") and not hasattr(X, "divisions")


def example_of(X: Any, owner: str) -> Any:
    """One row such as a Dask collection holds: made up where its type tells enough."""
    if hasattr(X, "chunks"):
        if any(isnan(n) for n in X.shape[1:]):
            raise ValueError(
                f"{owner} needs to know the number of columns. Got a Dask array of shape {X.shape}."
            )
        return np.ones((1, *X.shape[1:]), dtype=X.dtype)
    if hasattr(X, "divisions"):
        return X._meta_nonempty.iloc[:1]
    return first_rows(X, owner)


def first_rows(X: Any, owner: str) -> Any:
    """One row of a Dask collection that is really there; the blocks before it are computed."""
    return head(row_chunks(X, owner)[0], owner)


def head(nodes: list[Any], owner: str) -> Any:
    """The first row of blocks of which some may be empty."""
    first = delayed(_head)
    for node in nodes:
        rows = compute(first(node), owner)
        if n_rows_of(rows):
            return rows
    raise ValueError(f"{owner} needs at least one block of rows. Got none.")


def _head(block: Any) -> Any:
    block = unpack(block)
    return block.iloc[:1] if hasattr(block, "iloc") else block[:1]


def align(containers: Sequence[Any], owner: str) -> tuple[list[tuple[Any, ...]], list[float]]:
    """The blocks of several containers, of which one at least is a Dask collection.

    Blocks that are as many and, where it is known, as long belong together as they are. Others are
    cut anew after the first collection, for which unknown lengths are computed.
    """
    leader = next(X for X in containers if is_dask(X))
    nodes, sizes = row_chunks(leader, owner)
    if all(is_dask(X) for X in containers):
        found = [row_chunks(X, owner) for X in containers]
        if all(_may_match(sizes, other) for _, other in found):
            side_by_side = zip(*(other for _, other in found), strict=True)
            known = [next((n for n in same if not isnan(n)), same[0]) for same in side_by_side]
            return list(zip(*(blocks for blocks, _ in found), strict=True)), known
    sizes = known_sizes(nodes, sizes, owner)
    total = int(sum(sizes))
    cut = [nodes if X is leader else _cut(X, sizes, total, owner) for X in containers]
    return list(zip(*cut, strict=True)), sizes


def _may_match(a: Sequence[float], b: Sequence[float]) -> bool:
    pairs = zip(a, b, strict=False)
    return len(a) == len(b) and all(isnan(n) or isnan(m) or n == m for n, m in pairs)


def known_sizes(nodes: list[Any], sizes: list[float], owner: str) -> list[float]:
    """Numbers of rows of blocks, computed where they are not known."""
    if not any(map(isnan, sizes)):
        return sizes
    counts = compute(delayed(list)([delayed(n_rows_of)(node) for node in nodes]), owner)
    return [float(n) for n in counts]


def _cut(X: Any, sizes: list[float], total: int, owner: str) -> list[Any]:
    """The rows of ``X`` in blocks of the given sizes."""
    if is_dask(X):
        if is_bag(X):
            raise ValueError(
                f"{owner} needs bags with as many partitions and objects as the collections beside "
                "them. Got others; repartition one of them."
            )
        if hasattr(X, "divisions"):
            X = X.to_dask_array(lengths=True)
        elif any(isnan(n) for n in X.chunks[0]):
            X = X.compute_chunk_sizes()
    n_rows = n_rows_of(X)
    if n_rows != total:
        raise ValueError(
            f"{owner} needs inputs that go together row by row. Got {total} rows and {n_rows}."
        )
    ends = np.cumsum([0, *sizes]).astype(int)
    if is_dask(X):
        X = X.rechunk({0: tuple(int(n) for n in sizes)})
        return row_chunks(X, owner)[0]
    take = X.iloc.__getitem__ if hasattr(X, "iloc") else X.__getitem__
    pieces = [take(slice(a, b)) for a, b in pairwise(ends)]
    return [delayed(Held(piece), traverse=False) for piece in pieces]


def unpack(part: Any) -> Any:
    """A block as it came, from what Dask made of it."""
    if isinstance(part, Held):
        return part.value
    return part if hasattr(part, "shape") or isinstance(part, list) else list(part)


def reduce_blocks(
    leaf: Any,
    merge: Any,
    chunks: ChunkTasks,
    sizes: list[float],
    *,
    starts: list[int],
    state: Any,
    overlap: int,
    owner: str,
) -> Any:
    """What the blocks merge to, as a tree on the active scheduler."""
    tail = None
    if overlap:
        # Where a block may be shorter than the overlap, that reaches back further.
        tail = partial(_tail, overlap), not all(size >= overlap for size in sizes)

    def root(n_threads: int | None) -> Any:
        return chunks.reduction(
            _run_leaf,
            _run_merge,
            list(enumerate(starts)),
            shared=Held((leaf, state)),
            merging=Held(merge),
            tail=tail,
            n_threads=n_threads,
        )

    return _computed(root, owner)


def _tail(n: int, before: list[Any] | None, *parts: Any) -> list[Any]:
    """The last ``n`` rows of a block and of those before it."""
    found = [unpack(part) for part in parts]
    if before is not None:
        found = [join_blocks([b, part]) for b, part in zip(before, found, strict=True)]
    return [last_rows(part, n) for part in found]


def _run_leaf(shared: Held, index: int, start: int, before: list[Any] | None, *parts: Any) -> Any:
    leaf, state = shared.value
    with memory_kept():
        return leaf(index, start, tuple(map(unpack, parts)), before, state)


def _run_merge(merging: Held, *group: Any) -> Any:
    apart = (part.found if isinstance(part, Several) else (part,) for part in group)
    return merge_group(merging.value, chain.from_iterable(apart))


def compute(node: Any, owner: str) -> Any:
    """The value of a node, from the scheduler that is active; a cluster's faults are explained."""
    return _computed(lambda n_threads: node, owner)


def _computed(make: Callable[[int | None], Any], owner: str) -> Any:
    """The same of a node made for the number of threads of a cluster, None without one."""
    import dask.base
    from dask.delayed import Delayed

    find: Any = dask.base.get_scheduler
    client = getattr(find(cls=Delayed), "__self__", None)
    if client is None or not hasattr(client, "scheduler_info"):
        return make(None).compute()
    try:
        n_threads = require_isthmus(client, owner)
        return _await(client, client.compute(make(n_threads)), owner)
    except Exception as error:
        _explain(error, owner)
        raise


def require_isthmus(client: Any, owner: str) -> int:
    """Refuse a cluster whose workers lack this version: they would die over every task.

    Returns the number of threads of all workers.
    """
    known: set[str] = _asked.setdefault(client, set())
    workers = client.scheduler_info(n_workers=-1).get("workers", {})
    n_threads = sum(worker["nthreads"] for worker in workers.values())
    new = sorted(set(workers) - known)
    if not new:
        return n_threads
    # Only what every Python has may be sent to them.
    found = client.run(eval, "__import__('isthmus').__version__", workers=new, on_error="return")
    for worker, version in found.items():
        if version != __version__:
            raise ImportError(
                f"{owner} needs isthmus {__version__} on every worker of the Dask cluster. Got "
                f"{version!r} from {worker}. Install it there, for example with "
                "distributed.PipInstall(packages=['isthmus'])."
            )
    known.update(new)
    return n_threads


def _await(client: Any, future: Any, owner: str) -> Any:
    """The result of a future; an error where the cluster has no workers for too long."""
    deserted: float | None = None
    try:
        while True:
            try:
                # What is there already may still take a while to come over.
                return future.result(timeout=PATIENCE if future.done() else LOOK_EVERY)
            except TimeoutError:
                if future.status == "error":  # the task's own
                    raise
            if client.scheduler_info(n_workers=1).get("workers"):
                deserted = None
            elif deserted is None:
                deserted = time.monotonic()
            elif time.monotonic() - deserted > PATIENCE:
                raise RuntimeError(
                    f"{owner}: the Dask cluster has had no workers for {PATIENCE:g} seconds. "
                    "Start some and fit again; nothing was changed."
                )
    finally:
        if not future.done():
            future.cancel()


def _explain(error: Exception, owner: str) -> None:
    """Raise anew what a cluster says about itself, in words that tell what to do."""
    if type(error).__name__ == "KilledWorker":
        raise RuntimeError(
            f"{owner}: the same block has ended several workers of the Dask cluster, most often by "
            f"taking more memory than one has. Make the chunks smaller. ({error})"
        ) from error
    if type(error).__name__ in ("CancelledError", "FutureCancelledError", "CommClosedError"):
        raise RuntimeError(
            f"{owner}: the connection to the Dask scheduler was lost ({error}). Nothing "
            "was changed."
        ) from error
