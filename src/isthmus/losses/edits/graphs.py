"""The edit distance of labelled graphs as a loss."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from isthmus._parameters import Constraint, check_parameters, real
from isthmus.losses.tasks.base import TaskLoss
from isthmus.losses.tasks.collections import n_outputs
from isthmus.typing import Array, Objects


@dataclass
class GraphEditDistance(TaskLoss):
    r"""Cost of turning one labelled graph into another, node by node and edge by edge.

    The exact distance is too expensive beyond a dozen nodes. As usual, nodes are matched by one
    assignment problem whose costs compare labels and the edges around a node [Riesen2009]_; the
    edits that the match implies are then counted exactly. The result is an upper bound of the
    distance, the smaller one of both directions, and zero only for equal graphs.

    The answer is the training graph of least risk.

    Parameters
    ----------
    node : float, default=1.0
        Cost of a node that is inserted, deleted or has the wrong label.
    edge : float, default=1.0
        The same of an edge.

    Examples
    --------
    >>> from isthmus.kernels import LabelledGraph
    >>> from isthmus.losses import GraphEditDistance
    >>> water = LabelledGraph("HOH", [(0, 1), (1, 2)])
    >>> peroxide = LabelledGraph("HOOH", [(0, 1), (1, 2), (2, 3)])
    >>> GraphEditDistance().cost([water], [water, peroxide])
    array([[0., 2.]])
    """

    __module__ = "isthmus.losses"

    node: float = 1.0
    edge: float = field(default=1.0, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "node": real(0, include_low=False),
        "edge": real(0, include_low=False),
    }

    def check(self, outputs: Objects) -> Objects:
        check_parameters(self)
        for position in range(n_outputs(outputs)):
            graph = outputs[position]
            if not all(hasattr(graph, name) for name in ("labels", "edges", "edge_labels")):
                raise TypeError(
                    "GraphEditDistance compares LabelledGraph objects. "
                    f"Got {graph!r:.60} of type {type(graph).__name__} at position {position}."
                )
        return outputs

    def cost(self, Y: Objects, Z: Objects) -> Array:
        self.check(Y)
        self.check(Z)
        left = [_Around(Y[i]) for i in range(n_outputs(Y))]
        same = Z is Y
        right = left if same else [_Around(Z[j]) for j in range(n_outputs(Z))]
        found = np.zeros((len(left), len(right)))
        for i, a in enumerate(left):
            for j in range(i + 1 if same else 0, len(right)):
                found[i, j] = self._distance(a, right[j])
                if same:
                    found[j, i] = found[i, j]
        return found

    def _distance(self, a: "_Around", b: "_Around") -> float:
        if a.key == b.key:
            return 0.0
        return min(self._one_way(a, b), self._one_way(b, a))

    def _one_way(self, a: "_Around", b: "_Around") -> float:
        n, m = len(a.labels), len(b.labels)
        big = 1e9
        costs = np.zeros((n + m, n + m))
        for i in range(n):
            for j in range(m):
                costs[i, j] = self.node * (a.labels[i] != b.labels[j])
                costs[i, j] += 0.5 * self.edge * _difference(a.around[i], b.around[j])
        costs[:n, m:] = big
        costs[n:, :m] = big
        for i in range(n):
            costs[i, m + i] = self.node + 0.5 * self.edge * a.around[i].total()
        for j in range(m):
            costs[n + j, j] = self.node + 0.5 * self.edge * b.around[j].total()
        rows, columns = linear_sum_assignment(costs)
        match = {int(i): int(j) for i, j in zip(rows, columns, strict=True) if i < n and j < m}
        return self._implied(a, b, match)

    def _implied(self, a: "_Around", b: "_Around", match: dict[int, int]) -> float:
        """What the match of nodes costs, edges included."""
        wrong = sum(a.labels[i] != b.labels[j] for i, j in match.items())
        nodes = len(a.labels) + len(b.labels) - 2 * len(match) + wrong
        kept = edges = 0
        for (i, j), label in a.edges.items():
            other = b.between(match.get(i), match.get(j))
            if other is not None:
                kept += 1
                edges += other[0] != label
        edges += len(a.edges) + len(b.edges) - 2 * kept
        return float(self.node * nodes + self.edge * edges)


class _Around:
    """A graph as the distance reads it: edges by their ends, and what surrounds each node."""

    def __init__(self, graph: Any):
        self.labels = list(graph.labels)
        self.directed = bool(getattr(graph, "directed", False))
        pairs = [tuple(pair) for pair in np.asarray(graph.edges).tolist()]
        self.edges = dict(zip(pairs, graph.edge_labels, strict=True))
        self.around: list[Counter[Any]] = [Counter() for _ in self.labels]
        for (i, j), label in self.edges.items():
            self.around[i][label, self.labels[j]] += 1
            if i != j:
                self.around[j][label, self.labels[i]] += 1
        self.key = (tuple(self.labels), frozenset(self.edges.items()), self.directed)

    def between(self, i: int | None, j: int | None) -> tuple[Any] | None:
        """The label of the edge that joins two nodes, in a tuple; None where there is none."""
        if i is None or j is None:
            return None
        if (i, j) in self.edges:
            return (self.edges[i, j],)
        if not self.directed and (j, i) in self.edges:
            return (self.edges[j, i],)
        return None


def _difference(a: "Counter[Any]", b: "Counter[Any]") -> int:
    """Edges to insert, delete or change around a node."""
    return max(a.total(), b.total()) - (a & b).total()
