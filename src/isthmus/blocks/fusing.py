"""One task for a block: what reads it, what is made of it on the way, and what it says."""

from collections.abc import Mapping, Sequence
from typing import Any


def fused(root: Any, leaves: Sequence[Any], n_parts: int) -> Any:
    """The same Dask node, with a single task for each leaf and what only that leaf needs.

    A task costs about a millisecond, and a block that is read by one task and used by another is
    held in between. A leaf that gathers more than ``n_parts`` sources is left as it is: they can be
    computed side by side.
    """
    from dask._task_spec import Task, convert_legacy_graph
    from dask.delayed import Delayed

    graph = convert_legacy_graph(dict(root.__dask_graph__()))
    users: dict[Any, set[Any]] = {key: set() for key in graph}
    for key, task in graph.items():
        for needed in task.dependencies:
            users.setdefault(needed, set()).add(key)
    for leaf in leaves:
        own = _own(leaf.key, graph, users)
        if len(own) > 1 and _n_sources(own, graph) <= n_parts:
            tasks = [graph.pop(key) for key in own]
            graph[leaf.key] = Task.fuse(*tasks, key=leaf.key)
    node: Any = Delayed
    return node(root.key, graph)


def _own(leaf: Any, graph: Mapping[Any, Any], users: Mapping[Any, set[Any]]) -> set[Any]:
    """The leaf and all tasks whose results nobody else uses."""
    own, waiting = {leaf}, [leaf]
    while waiting:
        for key in graph[waiting.pop()].dependencies:
            if key in graph and key not in own and users[key] <= own:
                own.add(key)
                waiting.append(key)
    return own


def _n_sources(own: set[Any], graph: Mapping[Any, Any]) -> int:
    """How many of the tasks need no result of another; data are there already."""
    from dask._task_spec import DataNode

    computed = {key for key in own if not isinstance(graph[key], DataNode)}
    return sum(not (computed & graph[key].dependencies) for key in computed)
