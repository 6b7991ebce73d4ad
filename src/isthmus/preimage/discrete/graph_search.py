"""Graphs as tables: kernel products, rules for answers, and neighbours."""

from typing import Any

import numpy as np

from isthmus.kernels.algebra.normalized import Normalized
from isthmus.kernels.base import Kernel
from isthmus.kernels.graphs.labelled import LabelledGraph
from isthmus.kernels.graphs.marginalized import MarginalizedGraph, fill_gram
from isthmus.typing import Array, BoolArray, IntArray

# Candidates of one size: node labels (n, m), and tables (n, m, m) of edges, 0 for no edge.
Tables = tuple[IntArray, IntArray]

# Maximum size of a tree of walks, and the share of walks below which it is cut.
N_WALKS = 4000
SMALLEST_SHARE = 1e-7


class GraphCodes:
    """Labels of nodes and edges as integers, and the rules that training graphs follow."""

    def __init__(self, graphs: list[LabelledGraph], *, constraints: str | None):
        self.labels = _index_labels(v for g in graphs for v in g.labels)
        self.names = _index_labels(v for g in graphs for v in g.edge_labels or ())
        if not self.names:
            self.names = {None: 0}
        n_labels, n_names = len(self.labels), len(self.names)
        free = constraints is None
        self.bonds = np.full((n_labels, n_labels, n_names), free)
        self.max_degree = np.full(n_labels, np.iinfo(np.int64).max if free else 0)
        self.connected = not free and all(g.is_connected for g in graphs)
        self.sizes = np.array([g.n_nodes for g in graphs])
        for graph in graphs:
            codes = self.label_codes(graph)
            np.maximum.at(self.max_degree, codes, graph.degrees)
            for (i, j), name in zip(graph.edges, graph.edge_labels or (), strict=True):
                ends = [codes[i], codes[j]]
                self.bonds[ends, ends[::-1], self.names[name]] = True

    # A model file has no dictionaries by None or by tuples; labels lie in the order of their codes.

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "labels": list(self.labels), "names": list(self.names)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        numbered = {
            key: {label: i for i, label in enumerate(state[key])} for key in ("labels", "names")
        }
        self.__dict__.update(state, **numbered)

    def label_codes(self, graph: LabelledGraph) -> IntArray:
        """Codes of the labels of all nodes."""
        return np.array([self.labels[v] for v in graph.labels], dtype=np.int64)

    def encode(self, graph: LabelledGraph) -> Tables:
        """One candidate."""
        m = graph.n_nodes
        state = np.zeros((m, m), dtype=np.int64)
        names = np.array([self.names[v] for v in graph.edge_labels or ()], dtype=np.int64)
        i, j = graph.edges.T
        state[i, j] = state[j, i] = names + 1
        return self.label_codes(graph)[None], state[None]

    def decode(self, label: IntArray, state: IntArray) -> LabelledGraph:
        """The graph of one candidate."""
        edges = np.argwhere(np.triu(state))
        labels, names = list(self.labels), list(self.names)
        return LabelledGraph(
            [labels[c] for c in label.tolist()],
            edges,
            edge_labels=[names[state[i, j] - 1] for i, j in edges.tolist()],
        )

    def allowed(self, tables: Tables) -> BoolArray:
        """Which candidates follow the rules."""
        from isthmus.preimage.discrete.graph_loops import allowed_graphs

        return allowed_graphs(*tables, self.max_degree, self.bonds, self.connected)


class GraphProducts:
    r"""Products :math:`\sum_jk(z,x_j)C_{j\cdot}` of candidates with columns, and :math:`k(z,z)`.

    For the marginalised kernel they are sums over the label sequences of walks on :math:`z`. A tree
    holds the contributions of the training graphs to the most common of them, so the search uses an
    approximate kernel, and its results are compared by the true one.
    """

    def __init__(self, kernel: Kernel, reference: Any, columns: Array, codes: GraphCodes):
        self.kernel, self.reference, self.columns, self.codes = kernel, reference, columns, codes
        self.normalized = isinstance(kernel, Normalized)
        base = kernel.base if isinstance(kernel, Normalized) else kernel
        self.tree = None
        if type(base) is MarginalizedGraph:
            self.stop = float(base.stop)
            if self.normalized:
                columns = columns / np.sqrt(base.diag(reference))[:, None]
            self.tree = _grow_tree(reference, columns, codes, self.stop)

    def exact(self, graphs: list[LabelledGraph]) -> tuple[Array, Array]:
        """Products (n, r) and squared norms (n,) by the kernel itself."""
        blocks = self.kernel.blocks(graphs, self.reference)
        return np.concatenate([K @ self.columns for _, K in blocks]), self.kernel.diag(graphs)

    def __call__(self, tables: Tables, *, norms: bool) -> tuple[Array, Array]:
        """The same for candidates, by the tree if there is one."""
        if self.tree is None:
            return self.exact([self.codes.decode(*one) for one in zip(*tables, strict=True)])
        from isthmus.preimage.discrete.graph_loops import walk_products

        tree, values = self.tree
        n, m = tables[0].shape
        n_labels, n_names = len(self.codes.labels), len(self.codes.names)
        found = np.zeros((n, values.shape[1]))
        p, arcs = np.zeros((tree[0].max() + 2, m)), np.empty((2, m * m), dtype=np.int64)
        first = np.empty(n_labels * n_names + 1, dtype=np.int64)
        walk_products(*tables, tree, values, self.stop, n_labels, p, arcs, first, found)
        if not (norms or self.normalized):
            return found, np.zeros(len(found))
        squared = _squared_norms(tables, self.stop)
        if not self.normalized:
            return found, squared
        return found / np.sqrt(squared)[:, None], np.ones(len(found))


def _squared_norms(tables: Tables, stop: float) -> Array:
    """The marginalised kernel of each candidate with itself."""
    from isthmus.kernels.walk_loops import OWN

    labels, states = tables
    n, m = labels.shape
    graph, source, target = np.nonzero(states)
    name = states[graph, source, target]
    degree = np.maximum(np.count_nonzero(states, axis=2), 1).astype(float)
    order = np.lexsort((target, source, name, graph))
    weight = (1 - stop) / np.sqrt(degree[graph, source] * degree[graph, target])
    arcs = np.searchsorted(graph, np.arange(n + 1))
    ends = (source[order].astype(np.uintp), target[order].astype(np.uintp))
    flat = (np.arange(n + 1) * m, arcs, labels.ravel(), np.sqrt(degree).ravel())
    packed = (*flat, *ends, name[order], weight[order])
    squared = np.empty((n, 1))
    fill_gram(packed, packed, (stop**2, True, 1e-8, 1000), [np.arange(n)], OWN, squared)
    return squared[:, 0]


def _index_labels(items: Any) -> dict[Any, int]:
    found = dict.fromkeys(items)
    try:
        return {item: i for i, item in enumerate(sorted(found))}
    except TypeError:
        return {item: i for i, item in enumerate(found)}


def _grow_tree(graphs: Any, columns: Array, codes: GraphCodes, stop: float) -> Any:
    from isthmus.preimage.discrete.graph_loops import walk_tree

    sizes = [g.n_nodes for g in graphs]
    label = np.concatenate([codes.label_codes(g) for g in graphs])
    owner = np.repeat(np.arange(len(graphs)), sizes)
    offsets = np.cumsum([0, *sizes])
    arcs = [
        (
            a + offset,
            b + offset,
            np.array([codes.names[g.edge_labels[e]] for e in number], dtype=int),
        )
        for g, offset in zip(graphs, offsets, strict=False)
        for a, b, number in [g.arcs]
    ]
    source, target, name = (np.concatenate([arc[k] for arc in arcs]) for k in range(3))
    weight = (1 - stop) / np.concatenate([np.maximum(g.degrees, 1) for g in graphs])[source]
    order = np.lexsort((source, label[target], name))
    source, target, name, weight = source[order], target[order], name[order], weight[order]
    kind = name * len(codes.labels) + label[target]
    groups = np.flatnonzero(np.diff(kind, prepend=-1))
    least = SMALLEST_SHARE
    while True:
        longest = 2 + int(np.log(least) / np.log(1.0 - stop)) if stop < 1.0 else 2
        p = np.zeros((longest + 1, len(label)))
        tree = np.zeros((6, max(N_WALKS, longest + 1)), dtype=np.int64)
        values = np.zeros((N_WALKS, columns.shape[1]))
        count = walk_tree(
            np.append(groups, len(kind)),
            name[groups],
            label[target[groups]],
            source,
            target,
            weight,
            label,
            owner,
            np.repeat(1 / np.array(sizes), sizes),
            np.ascontiguousarray(columns, dtype=np.float64),
            stop,
            least,
            label.max() + 1,
            p,
            np.zeros(len(graphs)),
            tree,
            values,
        )
        if count:
            return np.ascontiguousarray(tree[:4, :count]), values[:count].copy()
        least *= 4  # there is no room for rarer walks


def neighbours(label: IntArray, state: IntArray, codes: GraphCodes) -> list[Tables]:
    """Allowed candidates one move away, one table per size.

    Moves: change the state of a pair of nodes, move one end of an edge to another node, change the
    label of a node, exchange the labels of two nodes; within the range of sizes also add a node
    with one edge, or remove a node with at most one edge.
    """
    m = len(label)
    n_labels, n_names = len(codes.labels), len(codes.names)
    same: list[tuple[IntArray, IntArray]] = []
    for i in range(m):
        for j in range(i):
            same += [
                (label, _with(state, [(i, j, s)])) for s in range(n_names + 1) if s != state[i, j]
            ]
        for j in np.flatnonzero(state[i]).tolist():
            same += [
                (label, _with(state, [(i, j, 0), (i, k, state[i, j])]))
                for k in range(m)
                if k != i and state[i, k] == 0
            ]
        for c in range(n_labels):
            if c != label[i]:
                new = label.copy()
                new[i] = c
                same.append((new, state))
        for j in range(i):
            if label[i] != label[j]:
                new = label.copy()
                new[[i, j]] = label[[j, i]]
                same.append((new, state))
    more, fewer = [], []
    if m < codes.sizes.max():
        for i in range(m):
            for c, s in np.argwhere(codes.bonds[label[i]]):
                wide = np.zeros((m + 1, m + 1), dtype=np.int64)
                wide[:m, :m] = state
                more.append((np.append(label, c), _with(wide, [(i, m, s + 1)])))
    if m > max(codes.sizes.min(), 1):
        for i in np.flatnonzero(np.count_nonzero(state, axis=1) <= 1).tolist():
            rest = np.delete(np.arange(m), i)
            fewer.append((label[rest], state[np.ix_(rest, rest)]))
    tables = []
    for moves in (same, more, fewer):
        if moves:
            labels, states = (np.stack(part) for part in zip(*moves, strict=True))
            keep = codes.allowed((labels, states))
            if keep.any():
                tables.append((labels[keep], states[keep]))
    return tables


def _with(state: IntArray, changes: list[Any]) -> IntArray:
    new = state.copy()
    for i, j, s in changes:
        new[i, j] = new[j, i] = s
    return new


def match_start(label: IntArray, like: Tables, n_names: int) -> Array:
    """Probabilities (n_pairs, states) of edges between nodes labelled ``label``.

    Nodes are matched with nodes of the graph ``like`` of the same label, those with many edges
    first; edges between matched nodes are copied with probability 0.8, others are as dense as in
    ``like``.
    """
    like_label, state = like[0][0], like[1][0]
    m = len(label)
    by_degree = np.argsort(-np.count_nonzero(state, axis=1), kind="stable")
    partner = np.full(m, -1)
    for c in np.unique(label):
        mine = np.flatnonzero(label == c)
        theirs = by_degree[like_label[by_degree] == c][: len(mine)]
        partner[mine[: len(theirs)]] = theirs
    first, second = np.triu_indices(m, 1)
    n = len(like_label)
    density = np.bincount(state[np.triu_indices(n, 1)], minlength=n_names + 1)
    v = np.tile(density / max(1, density.sum()), (len(first), 1))
    both = (partner[first] >= 0) & (partner[second] >= 0)
    there = np.where(both, state[partner[first], partner[second]], 0)
    copied = there > 0
    v[copied] = 0.2 / n_names
    v[copied, there[copied]] = 0.8
    return v
