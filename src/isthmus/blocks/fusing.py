"""The graph of a fold: tasks that read blocks and say what is to be summed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count
from typing import Any
from uuid import uuid4

from isthmus.blocks.keeping import memory_kept
from isthmus.blocks.tree import levels, portions

Keys = tuple[Any, ...]
# Bytes of a state that goes with each task, and with all tasks.
SENT_ALONG, IN_ALL = 250_000, 4_000_000


@dataclass(frozen=True)
class Several:
    """Statistics of neighbours, to be merged with what comes before them."""

    found: tuple[Any, ...]


@dataclass(frozen=True)
class Portion:
    """What one worker does with neighbouring blocks, one after the other.

    A task of Dask costs about a millisecond of the scheduler and one of the worker, which others
    wait for where there are no more processors than workers.
    """

    leaf: Callable[..., Any]
    arguments: tuple[Any, ...]
    readers: bytes  # tasks that make the blocks, the same in each pass: pickled once
    needed: Keys
    merge: Callable[..., Any] | None

    def __call__(self, shared: Any, merging: Any, *values: Any) -> Any:
        known = dict(zip(self.needed, values, strict=True))
        with memory_kept():
            found = tuple(
                self.leaf(shared, *given, None, *reader(known))
                for given, reader in zip(self.arguments, _loaded(self.readers), strict=True)
            )
        return Several(found) if self.merge is None else self.merge(merging, *found)


class ChunkTasks:
    """Tasks that make the blocks of Dask collections, looked through once for all passes.

    A block that one task reads and another uses is held in between. What only one block needs
    therefore becomes part of the task that sums over it, unless it has more sources than there are
    collections: those can be computed side by side.

    Parameters
    ----------
    nodes : list of tuples of Delayed
        The blocks, one of each collection side by side.
    """

    def __init__(self, nodes: Sequence[tuple[Any, ...]]):
        from dask._task_spec import DataNode, convert_legacy_graph

        self.keys: list[Keys] = [tuple(part.key for part in parts) for parts in nodes]
        graphs = {id(part.dask): part.dask for parts in nodes for part in parts}
        merged = {key: task for graph in graphs.values() for key, task in graph.items()}
        self.tasks = _needed(convert_legacy_graph(merged), [k for keys in self.keys for k in keys])
        users: dict[Any, set[Any]] = {}
        for key, task in self.tasks.items():
            for needed in task.dependencies:
                users.setdefault(needed, set()).add(key)
        for index, keys in enumerate(self.keys):
            for key in keys:
                users.setdefault(key, set()).add(("block", index))
        self._known: dict[tuple[int, int], tuple[bytes, Keys] | None] = {}
        self.own = [self._own(index, users) for index in range(len(self.keys))]
        apart = set(self.tasks).difference(*self.own)
        self._shared = {k: self.tasks[k] for k in apart if isinstance(self.tasks[k], DataNode)}

    def _own(self, index: int, users: Mapping[Any, set[Any]]) -> set[Any]:
        """The tasks whose results nobody needs but this block; none where they are many."""
        own: set[Any] = set()
        waiting = list(self.keys[index])
        while waiting:
            key = waiting.pop()
            if key in self.tasks and key not in own and users[key] <= own | {("block", index)}:
                own.add(key)
                waiting.extend(self.tasks[key].dependencies)
        return own if _n_sources(own, self.tasks) <= len(self.keys[index]) else set()

    @cached_property
    def _small(self) -> dict[Any, Any]:
        return _sent_along(self._shared, len(self.keys))

    def _readers(self, part: slice) -> tuple[bytes, Keys] | None:
        """Tasks that make the blocks of a portion, pickled, and the keys that all of them need.

        None for a single block, and where blocks need different things of others.
        """
        from dask._task_spec import Task, TaskRef

        if part.stop - part.start == 1:
            return None
        if (part.start, part.stop) not in self._known:
            readers = []
            for index in range(part.start, part.stop):
                made = Task(("block", index), _side_by_side, *map(TaskRef, self.keys[index]))
                parts = [*(self.tasks[key] for key in self.own[index]), made]
                readers.append(_with_small(self._small, parts, made.key))
            needed = readers[0].dependencies
            alike = all(reader.dependencies == needed for reader in readers)
            found = (_dumped(readers), tuple(needed)) if alike else None
            self._known[part.start, part.stop] = found
        return self._known[part.start, part.stop]

    def reduction(
        self,
        leaf: Callable[..., Any],
        merge: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        *,
        shared: Any,
        merging: Any,
        tail: tuple[Callable[..., Any], bool] | None = None,
        n_threads: int | None = None,
    ) -> Any:
        """A node: ``merge(merging, ...)`` as a tree over ``leaf(shared, *arguments, *parts)``.

        With ``tail``, a function and whether it needs the one before, each leaf is given after
        its arguments what ``function(that of the block before, *parts of it)`` says; else None.
        With the number of threads of a cluster, neighbours that need the same are put together,
        see :func:`portions`, and what all tasks share goes with each where it is small.
        """
        from dask._task_spec import DataNode, Task, TaskRef
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

        name, numbers = uuid4().hex, count()
        state, joining = f"fold-state-{name}", f"fold-merge-{name}"
        data = {state: DataNode(state, shared), joining: DataNode(joining, merging)}
        small = self._small | _sent_along(data, len(self.keys)) if n_threads else {}
        graph = _Graph(self.tasks | data, small)

        def join(group: Sequence[Any]) -> Any:
            if len(group) == 1:
                return group[0]
            key = (f"fold-join-{name}", next(numbers))
            task = Task(key, merge, TaskRef(joining), *map(TaskRef, group))
            # The last merge below is done by the one above: the last block waits for one task.
            graph.put(task, [below for below in group[-1:] if below[0] == key[0]])
            return key

        before: Any = None

        def leaves(part: slice, merge: Any) -> list[Any]:
            nonlocal before
            readers = self._readers(part) if n_threads and tail is None else None
            keys = [(f"fold-{name}", index) for index in range(part.start, part.stop)]
            if readers is not None:
                portion = Portion(leaf, tuple(arguments[part]), *readers, merge)
                graph.put(Task(keys[0], portion, *map(TaskRef, (state, joining, *readers[1]))))
                graph.sizes[keys[0]] = len(keys)
                return keys[:1]
            for key in keys:
                given = (TaskRef(state), *arguments[key[1]])
                before = self._put_single(graph, key, leaf, given, before, tail)
                graph.sizes[key] = 1
            return keys

        groups = []
        for first, *others in portions(len(self.keys), n_threads):
            # Those that begin a group of the tree are merged at once: nothing comes before them.
            group = leaves(first, merge)
            for part in others:
                group += leaves(part, None)
            groups.append(join(group))
        root = levels(groups, join)
        tasks, priority = _needed(graph, [root]), Priority(graph.sizes)
        layer = MaterializedLayer(tasks, annotations={"priority": priority})
        node: Any = Delayed
        return node(root, HighLevelGraph({name: layer}, {name: set()}), layer=name)

    def _put_single(
        self,
        graph: "_Graph",
        key: tuple[str, int],
        leaf: Callable[..., Any],
        given: Sequence[Any],
        before: Any,
        tail: tuple[Callable[..., Any], bool] | None,
    ) -> Any:
        """Add the task of one block; returns a reference to what the next one needs of it."""
        from dask._task_spec import Task, TaskRef

        name, index = key
        parts = [TaskRef(k) for k in self.keys[index]]
        task = Task(key, leaf, *given, before, *parts)
        graph.put(task, set() if tail is not None else self.own[index])
        if tail is None:
            return None
        function, chained = tail
        last = (f"{name}-tail", index)
        graph.put(Task(last, function, before if chained else None, *parts))
        return TaskRef(last)


@dataclass(frozen=True)
class Priority:
    """Merges first, then those of many blocks: what comes last is what others wait for."""

    sizes: Mapping[Any, int]

    def __call__(self, key: Any) -> float:
        return -1.0 / self.sizes[key] if key in self.sizes else 0.0


class _Graph(dict[Any, Any]):
    """Tasks by their keys, of which some become part of others.

    ``sizes`` are the numbers of blocks of those that read them. Those that are ``small`` are done
    by each task that needs them.
    """

    def __init__(self, tasks: Mapping[Any, Any], small: Mapping[Any, Any]):
        super().__init__(tasks)
        self.sizes: dict[Any, int] = {}
        self._small = small

    def put(self, task: Any, own: Iterable[Any] = ()) -> None:
        """Add a task, which does what the ``own`` tasks do too."""
        parts = [*(self.pop(key) for key in own), task]
        self[task.key] = _with_small(self._small, parts, task.key)


def _with_small(small: Mapping[Any, Any], parts: Sequence[Any], key: Any) -> Any:
    """One task of several, with those of the small ones that they need."""
    from dask._task_spec import Task

    needed = set().union(*(part.dependencies for part in parts))
    return Task.fuse(*(small[k] for k in needed if k in small), *parts, key=key)


def _side_by_side(*parts: Any) -> tuple[Any, ...]:
    return parts


def _sent_along(data: Mapping[Any, Any], n_tasks: int) -> dict[Any, Any]:
    """Tasks that unpack those of the data that can go along with every task: they are small.

    As tasks of their own they would be waited for, and be brought from worker to worker; as they
    are, the scheduler would pickle them for each task, which takes 3 ms where there is a closure.
    """
    from dask._task_spec import Task

    most = min(SENT_ALONG, IN_ALL // n_tasks)
    small = {}
    for key, node in data.items():
        arrays: list[Any] = []
        told = _dumped(node.value, buffer_callback=arrays.append)
        if len(told) + sum(array.raw().nbytes for array in arrays) <= most:
            small[key] = Task(key, _unpacked, _dumped(node.value) if arrays else told)
    return small


def _dumped(value: Any, **options: Any) -> bytes:
    from distributed.protocol import pickle

    dump: Any = pickle.dumps
    told: bytes = dump(value, **options)
    return told


def _loaded(data: bytes) -> Any:
    from distributed.protocol import pickle

    load: Any = pickle.loads
    return load(data)


@lru_cache(maxsize=16)
def _unpacked(data: bytes) -> Any:
    """What was sent along, once for all tasks of a worker that need it."""
    return _loaded(data)


def _needed(tasks: Mapping[Any, Any], keys: Iterable[Any]) -> dict[Any, Any]:
    """Those that the given ones depend on, and themselves."""
    found: dict[Any, Any] = {}
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key in tasks and key not in found:
            found[key] = tasks[key]
            waiting.extend(tasks[key].dependencies)
    return found


def _n_sources(own: set[Any], tasks: Mapping[Any, Any]) -> int:
    """How many of the tasks need no result of another; data are there already."""
    from dask._task_spec import DataNode

    computed = {key for key in own if not isinstance(tasks[key], DataNode)}
    return sum(not (computed & tasks[key].dependencies) for key in computed)
