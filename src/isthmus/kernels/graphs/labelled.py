"""Labelled graphs: a light class, and conversion from and to networkx."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isthmus.typing import IntArray, Objects


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph whose nodes and edges carry labels.

    Parameters
    ----------
    labels : sequence of hashable objects
        One label per node; nodes are numbered from 0.
    edges : array of int, shape (n_edges, 2), default=()
        Pairs of nodes, each edge once. An edge from a node to itself is allowed.
    edge_labels : sequence of hashable objects or None, default=None
        One label per edge; None gives all edges the label None.
    directed : bool, default=False
        Whether an edge leads from its first node to its second only.

    Notes
    -----
    Two graphs are equal if they agree node by node; whether one is a renumbering of the other is
    not checked. A graph is immutable, so it can be shared.

    Examples
    --------
    >>> from isthmus.kernels import LabelledGraph
    >>> water = LabelledGraph("HOH", [(0, 1), (1, 2)])
    >>> water.n_nodes, water.degrees.tolist(), water.is_connected
    (3, [1, 2, 1], True)
    >>> water
    LabelledGraph(3 nodes, 2 edges)
    """

    __module__ = "isthmus.kernels"

    labels: Sequence[Hashable]
    edges: Any = ()
    edge_labels: Sequence[Hashable] | None = field(default=None, kw_only=True)
    directed: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        labels = _hashable(self.labels, "labels")
        edges = _whole_numbers(self.edges)
        edges = edges.reshape(0, 2) if edges.size == 0 else edges
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise ValueError(
                "The edges of a LabelledGraph must be pairs of nodes, shape (n_edges, 2). "
                f"Got shape {edges.shape} instead."
            )
        if edges.size and not 0 <= edges.min() <= edges.max() < len(labels):
            raise ValueError(
                f"The edges of a LabelledGraph with {len(labels)} nodes must join nodes 0 to "
                f"{len(labels) - 1}. Got node {edges.min() if edges.min() < 0 else edges.max()}."
            )
        if not self.directed:
            edges.sort(axis=1)
        pairs = list(map(tuple, edges.tolist()))
        if len(set(pairs)) < len(pairs):
            again = next(pair for i, pair in enumerate(pairs) if pair in pairs[:i])
            raise ValueError(f"A LabelledGraph has each edge once. Got {again} again.")
        names = (
            (None,) * len(edges)
            if self.edge_labels is None
            else _hashable(self.edge_labels, "edge_labels")
        )
        if len(names) != len(edges):
            raise ValueError(
                f"A LabelledGraph needs as many edge_labels as edges: expected {len(edges)}, "
                f"got {len(names)}."
            )
        edges.flags.writeable = False
        for name, value in (("labels", labels), ("edges", edges), ("edge_labels", names)):
            object.__setattr__(self, name, value)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @cached_property
    def arcs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Steps that a walk can take: from, to, and the number of the edge."""
        a, b = self.edges.T
        number = np.arange(len(self.edges))
        if self.directed:
            return a, b, number
        back = a != b  # a loop is one step, not two
        return (
            np.concatenate([a, b[back]]),
            np.concatenate([b, a[back]]),
            np.concatenate([number, number[back]]),
        )

    @cached_property
    def degrees(self) -> IntArray:
        """Number of steps that lead away from each node."""
        return np.bincount(self.arcs[0], minlength=self.n_nodes)

    @cached_property
    def is_connected(self) -> bool:
        """Whether every node can be reached from every other, ignoring directions."""
        n = self.n_nodes
        pairs = coo_array((np.ones(len(self.edges)), tuple(self.edges.T)), shape=(n, n))
        return n > 0 and int(connected_components(pairs, directed=False)[0]) == 1

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Everything that makes two graphs equal, hashable."""
        pairs = map(tuple, self.edges.tolist())
        edges = frozenset(zip(pairs, self.edge_labels or (), strict=True))
        return self.labels, edges, self.directed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelledGraph) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        kind = ", directed" if self.directed else ""
        return f"LabelledGraph({self.n_nodes} nodes, {len(self.edges)} edges{kind})"

    @classmethod
    def from_networkx(cls, graph: Any) -> "LabelledGraph":
        """The same graph, from networkx; labels are the ``label`` attributes.

        If no node (or no edge) has the attribute, all have the same label; if only some have it,
        that is an error. Nodes are numbered in the order of ``graph.nodes``.
        """
        if graph.is_multigraph():
            raise ValueError("has parallel edges, which a walk cannot tell apart: use a Graph")
        number = {node: i for i, node in enumerate(graph.nodes)}
        labels = _all_or_none(graph.nodes(data=True), "node")
        names = _all_or_none(
            [((a, b), attributes) for a, b, attributes in graph.edges(data=True)], "edge"
        )
        edges = [(number[a], number[b]) for a, b in graph.edges]
        return cls(labels, edges, edge_labels=names, directed=graph.is_directed())

    def to_networkx(self) -> Any:
        """The same graph as a ``networkx.Graph`` (or ``DiGraph``), labels as attributes."""
        import networkx as nx

        graph = nx.DiGraph() if self.directed else nx.Graph()
        graph.add_nodes_from((i, {"label": label}) for i, label in enumerate(self.labels))
        pairs = zip(self.edges.tolist(), self.edge_labels or (), strict=True)
        graph.add_edges_from((a, b, {"label": name}) for (a, b), name in pairs)
        return graph


def _hashable(labels: Any, name: str) -> tuple[Hashable, ...]:
    """Labels as a tuple, or an error that names the first that cannot be compared."""
    try:
        found = tuple(labels)
    except TypeError as error:
        raise TypeError(
            f"The {name} of a LabelledGraph must be a sequence. "
            f"Got {labels!r:.60} of type {type(labels).__name__} instead."
        ) from error
    for position, label in enumerate(found):
        try:
            hash(label)
        except TypeError as error:
            raise TypeError(
                f"The {name} of a LabelledGraph must be hashable. Got {label!r:.60} of type "
                f"{type(label).__name__} at position {position}."
            ) from error
    return found


def _whole_numbers(edges: Any) -> IntArray:
    """Edges as a new array of integers; 1.0 is one, 0.5, True and "1" are none."""
    try:
        array = np.asarray(edges)
        whole = array.size == 0 or array.dtype.kind in "iu"
        if not whole and array.dtype.kind == "f":
            whole = bool((np.abs(array) < 2**53).all() and (array == np.rint(array)).all())
        if whole:
            return np.array(array, dtype=np.intp)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            "The edges of a LabelledGraph must be pairs of nodes, shape (n_edges, 2). "
            f"Got {edges!r:.60} instead."
        ) from error
    raise TypeError(
        "The edges of a LabelledGraph must be pairs of node numbers. "
        f"Got {edges!r:.60} of {array.dtype} instead."
    )


def _all_or_none(items: Any, kind: str) -> list[Hashable]:
    """The labels of nodes or edges; either all of them have one or none has."""
    found = [(item, "label" in attributes, attributes.get("label")) for item, attributes in items]
    if any(has for _, has, _ in found):
        for item, has, _ in found:
            if not has:
                raise ValueError(f"has no attribute 'label' on {kind} {item!r}, but on others")
    return [label for _, _, label in found]


def split_graphs(
    node_graph: Any, node_labels: Any, edges: Any, edge_labels: Any = None
) -> list[LabelledGraph]:
    """Cut one table of nodes and one of edges into graphs, as graph collections store them.

    Parameters
    ----------
    node_graph : array of int, shape (n_nodes,)
        The graph of each node, from 0; the nodes of a graph are contiguous.
    node_labels : array of shape (n_nodes,)
    edges : array of int, shape (n_edges, 2)
        Pairs of rows of the node table, each edge once.
    edge_labels : array of shape (n_edges,), optional

    Examples
    --------
    >>> from isthmus.kernels import split_graphs
    >>> split_graphs([0, 0, 1, 1, 1], [6, 8, 6, 6, 7], [(0, 1), (2, 3), (3, 4)])
    [LabelledGraph(2 nodes, 1 edges), LabelledGraph(3 nodes, 2 edges)]
    """
    node_graph, edges = np.asarray(node_graph), np.asarray(edges)
    node_labels = np.asarray(node_labels)
    of_edge = node_graph[edges[:, 0]]
    if (of_edge != node_graph[edges[:, 1]]).any() or (np.diff(node_graph) < 0).any():
        raise ValueError(
            "split_graphs: the nodes of a graph must be contiguous, and edges join nodes of one "
            "graph."
        )
    graphs = []
    for g in range(int(node_graph.max()) + 1):
        nodes, own = np.flatnonzero(node_graph == g), of_edge == g
        names = None if edge_labels is None else np.asarray(edge_labels)[own].tolist()
        first = nodes[0] if len(nodes) else 0
        graphs.append(
            LabelledGraph(node_labels[nodes].tolist(), edges[own] - first, edge_labels=names)
        )
    return graphs


def as_graphs(X: Objects, owner: str) -> list[LabelledGraph]:
    """Every object as a :class:`LabelledGraph`; an error names the first that is not a graph."""
    graphs = []
    for position, item in enumerate(X):
        if not isinstance(item, LabelledGraph):
            if not all(hasattr(item, name) for name in ("nodes", "edges", "is_directed")):
                raise TypeError(
                    f"{owner} compares graphs (LabelledGraph or networkx). "
                    f"Got {item!r:.60} of type {type(item).__name__} at position {position}."
                )
            try:
                item = LabelledGraph.from_networkx(item)
            except ValueError as error:
                raise ValueError(f"{owner}: graph {position} {error}.") from error
        if item.n_nodes == 0:
            raise ValueError(f"{owner}: graph {position} is empty; a walk needs a node to start.")
        graphs.append(item)
    return graphs
