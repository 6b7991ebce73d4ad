"""The graph of a fold: one task for each block, which reads it and says what is to be summed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from isthmus.blocks.tree import levels

Keys = tuple[Any, ...]


class ChunkTasks:
    """Tasks that make the blocks of Dask collections, looked through once for all passes.

    A task costs about a millisecond, and a block that one task reads and another uses is held in
    between. What only one block needs therefore becomes part of the task that sums over it, unless
    it has more sources than there are collections: those can be computed side by side.

    Parameters
    ----------
    nodes : list of tuples of Delayed
        The blocks, one of each collection side by side.
    """

    def __init__(self, nodes: Sequence[tuple[Any, ...]]):
        from dask._task_spec import convert_legacy_graph

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
        self.own = [self._own(index, users) for index in range(len(self.keys))]

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

    def reduction(
        self,
        leaf: Callable[..., Any],
        merge: Callable[..., Any],
        arguments: Iterable[tuple[Any, ...]],
        *,
        shared: Any,
        merging: Any,
        tail: tuple[Callable[..., Any], bool] | None = None,
    ) -> Any:
        """A node: ``merge(merging, ...)`` as a tree over ``leaf(shared, *arguments, *parts)``.

        With ``tail``, a function and whether it needs the one before, each leaf is given after
        its arguments what ``function(that of the block before, *parts of it)`` says; else None.
        """
        from dask._task_spec import DataNode, Task, TaskRef
        from dask.delayed import Delayed

        name = uuid4().hex
        state, joining = f"fold-state-{name}", f"fold-merge-{name}"
        graph: dict[Any, Any] = {
            state: DataNode(state, shared),
            joining: DataNode(joining, merging),
        }
        graph.update(self.tasks)
        before: Any = None
        leaves = []
        for index, (keys, given) in enumerate(zip(self.keys, arguments, strict=True)):
            key, parts = (f"fold-{name}", index), [TaskRef(k) for k in keys]
            task = Task(key, leaf, TaskRef(state), *given, before, *parts)
            own = set() if tail is not None else self.own[index]
            graph[key] = Task.fuse(*(graph.pop(k) for k in own), task, key=key)
            leaves.append(key)
            if tail is not None:
                function, chained = tail
                key = (f"fold-tail-{name}", index)
                graph[key] = Task(key, function, before if chained else None, *parts)
                before = TaskRef(key)

        def join(group: Sequence[Any]) -> Any:
            key = (f"fold-join-{name}", len(graph))
            graph[key] = Task(key, merge, TaskRef(joining), *map(TaskRef, group))
            return key

        node: Any = Delayed
        return node(levels(leaves, join), graph)


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
