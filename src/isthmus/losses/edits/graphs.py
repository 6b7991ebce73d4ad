"""The edit distance of labelled graphs as a loss."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from isthmus._parameters import Constraint, boolean, check_parameters, integer, real
from isthmus.losses.edits.graph_moves import (
    N_HOPED,
    N_TRIED,
    CodedAnswer,
    MatchedOutput,
    coded_answer,
    edits,
    hoped_edits,
    ordered,
    voted,
    weights_that_matter,
)
from isthmus.losses.tasks.base import Candidates, Decoded, TaskLoss, best_candidates
from isthmus.losses.tasks.collections import n_outputs, take_outputs
from isthmus.typing import Array, IntArray, Objects

# Matches that are not allowed.
NEVER = 1e9
# A share of a cost that decides between equal ones, and how far nodes look.
TIE, ROUNDS = 1e-3, 4
# Edits of an answer that a set of answers grows by.
N_NEIGHBOURS = 20


@dataclass
class GraphEditDistance(TaskLoss):
    r"""Cost of turning one labelled graph into another, node by node and edge by edge.

    The exact distance is too expensive beyond a dozen nodes. As usual, nodes are matched by one
    assignment problem whose costs compare labels and the edges around a node [Riesen2009]_; then
    partners are exchanged as long as that lowers the number of edits that the match implies. The
    result is an upper bound of the distance, the smaller one of both directions, and zero only
    for graphs that differ in the numbers of their nodes alone.

    The answer starts at the training graph of least risk and is edited as long as that lowers
    :math:`\sum_iw_i\,d(y,y_i)`: labels and edges by the weighted votes of the nodes that they are
    matched with, nodes that are inserted with an edge, and nodes that are deleted.

    Parameters
    ----------
    node : float, default=1.0
        Cost of a node that is inserted, deleted or has the wrong label.
    edge : float, default=1.0
        The same of an edge.
    search : bool, default=True
        False answers with the best training graph.
    max_outputs : int, default=40
        The search looks at this many training graphs with the largest absolute weights; its end
        is compared with its start over all of them.
    max_iter : int, default=30
        Maximum number of edits.

    Examples
    --------
    >>> from isthmus.kernels import LabelledGraph
    >>> from isthmus.losses import GraphEditDistance
    >>> water = LabelledGraph("HOH", [(0, 1), (1, 2)])
    >>> peroxide = LabelledGraph("HOOH", [(0, 1), (1, 2), (2, 3)])
    >>> GraphEditDistance().cost([water], [water, peroxide])
    array([[0., 3.]])
    """

    __module__ = "isthmus.losses"

    node: float = 1.0
    edge: float = field(default=1.0, kw_only=True)
    search: bool = field(default=True, kw_only=True)
    max_outputs: int = field(default=40, kw_only=True)
    max_iter: int = field(default=30, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "node": real(0, include_low=False),
        "edge": real(0, include_low=False),
        "search": boolean,
        "max_outputs": integer(1),
        "max_iter": integer(1),
    }

    def for_choice(self) -> "GraphEditDistance":
        """The best training graph: which kernel is best it tells as well."""
        return replace(self, search=False)

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
        codes: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
        left = [CodedGraph(Y[i], codes) for i in range(n_outputs(Y))]
        same = Z is Y
        right = left if same else [CodedGraph(Z[j], codes) for j in range(n_outputs(Z))]
        found = np.zeros((len(left), len(right)))
        for i, a in enumerate(left):
            for j in range(i + 1 if same else 0, len(right)):
                found[i, j] = self._match(a, right[j])[0]
                if same:
                    found[j, i] = found[i, j]
        return found

    def prepare(self, outputs: Objects) -> "CodedOutputs":
        candidates = Candidates(outputs, self)
        codes: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
        known = candidates.outputs
        coded = [CodedGraph(known[i], codes) for i in range(n_outputs(known))]
        return CodedOutputs(candidates, coded, codes)

    def decode(self, weights: Any, prepared: "CodedOutputs") -> Decoded:
        start = best_candidates(self, weights, prepared.candidates)
        if not self.search:
            return start
        masses, found = prepared.candidates.masses(weights), list(start.outputs)
        risk = start.risk.copy()
        for i, row in enumerate(masses):
            found[i], risk[i] = self._edited(found[i], float(risk[i]), row, prepared)
        answers = take_outputs(found, range(len(found)))
        return Decoded(answers, risk, np.zeros(len(found), dtype=bool))

    def neighbours(
        self, answer: Any, weights: Array, prepared: "CodedOutputs"
    ) -> tuple[list[Any], Array]:
        masses = prepared.candidates.masses(np.asarray(weights, dtype=float)[None])[0]
        few = weights_that_matter(masses, self.max_outputs)
        coded = CodedGraph(answer, prepared.codes)
        names = prepared.names()
        outputs = self._ordered(coded, masses, few, prepared)
        moved = edits(coded_answer(coded), outputs, float(self.node), float(self.edge))
        moved = moved[:N_NEIGHBOURS]
        graphs = [one.graph(names) for _, one in moved]
        every = np.flatnonzero(masses)
        return graphs, np.array([self._risk(g, masses, every, prepared) for g in graphs])

    def _edited(
        self, start: Any, risk: float, masses: Array, prepared: "CodedOutputs"
    ) -> tuple[Any, float]:
        """The graph at which no edit that was tried lowers the risk, and its risk over all."""
        few = weights_that_matter(masses, self.max_outputs)
        if not masses[few].sum() > 0:
            return start, risk
        names, now = prepared.names(), start
        least = self._risk(now, masses, few, prepared)
        for _ in range(self.max_iter):
            coded = CodedGraph(now, prepared.codes)
            better = None
            for _, one in self._edits(coded, masses, few, prepared):
                other = one.graph(names)
                value = self._risk(other, masses, few, prepared)
                if value < least - 1e-9 * (1 + abs(least)):
                    better, least = other, value
                    break
            if better is None:
                break
            now = better
        whole = self._risk(now, masses, np.flatnonzero(masses), prepared)
        return (now, whole) if whole < risk else (start, risk)

    def _edits(
        self, coded: "CodedGraph", masses: Array, few: IntArray, prepared: "CodedOutputs"
    ) -> list[tuple[float, CodedAnswer]]:
        outputs, answer = self._ordered(coded, masses, few, prepared), coded_answer(coded)
        costs = float(self.node), float(self.edge)
        every = [one for one in edits(answer, outputs, *costs) if one[0] > 0][:N_TRIED]
        at_once = voted(answer, outputs)
        if every and not at_once.same(answer):
            every = [(np.inf, at_once), *every]
        return every + [one for one in hoped_edits(answer, outputs, *costs) if one[0] > 0][:N_HOPED]

    def _ordered(
        self, coded: "CodedGraph", masses: Array, few: IntArray, prepared: "CodedOutputs"
    ) -> list[MatchedOutput]:
        n, known = len(coded.labels), prepared.coded
        return [ordered(known[j], self._match(coded, known[j])[1], n, masses[j]) for j in few]

    def _risk(self, graph: Any, masses: Array, few: IntArray, prepared: "CodedOutputs") -> float:
        coded = CodedGraph(graph, prepared.codes)
        costs = np.array([self._match(coded, prepared.coded[j])[0] for j in few])
        return float(masses[few] @ costs)

    def _match(self, a: "CodedGraph", b: "CodedGraph") -> tuple[float, IntArray]:
        """The smaller cost of both directions, and which padded node of b stands for one of a."""
        there, match = self._one_way(a, b)
        back, other = self._one_way(b, a)
        if there <= back:
            return there, match
        inverse = np.empty_like(other)
        inverse[other] = np.arange(len(other))
        return back, inverse

    def _one_way(self, a: "CodedGraph", b: "CodedGraph") -> tuple[float, IntArray]:
        from isthmus.losses.edits.graph_loops import improve_match

        n, m = len(a.labels), len(b.labels)
        costs = np.full((n + m, n + m), NEVER)
        # Each edge has two ends, so half of it counts at either.
        width = max(a.around.shape[1], b.around.shape[1])
        around = [np.pad(g.around, ((0, 0), (0, width - g.around.shape[1]))) for g in (a, b)]
        common = np.minimum(around[0][:, None], around[1][None]).sum(axis=2)
        degrees = [part.sum(axis=1) for part in around]
        costs[:n, :m] = self.node * (a.labels[:, None] != b.labels)
        costs[:n, :m] += 0.5 * self.edge * (np.maximum.outer(*degrees) - common)
        # Among equal ones, nodes that see the same further away belong together.
        costs[:n, :m] += TIE * (a.colours[:, None] != b.colours).sum(axis=2)
        costs[np.arange(n), m + np.arange(n)] = self.node + 0.5 * self.edge * degrees[0]
        costs[n + np.arange(m), np.arange(m)] = self.node + 0.5 * self.edge * degrees[1]
        costs[n:, m:] = 0.0
        match = linear_sum_assignment(costs)[1]
        # An edge without a direction stands in both halves of its table.
        pair = float(self.edge if a.directed or b.directed else self.edge / 2)
        first, second = a.padded(m), b.padded(n)
        cost = float(
            improve_match(
                first[0],
                second[0],
                first[1],
                second[1],
                match,
                float(self.node),
                pair,
                float(self.edge),
            )
        )
        return cost, match


class CodedOutputs(NamedTuple):
    """The distinct training graphs, as numbers, and what the numbers stand for."""

    candidates: Candidates
    coded: list["CodedGraph"]
    codes: tuple[dict[Any, int], dict[Any, int]]

    def names(self) -> tuple[list[Any], dict[int, Any], Any]:
        """Labels of nodes in order of their numbers, of edges by number, the class of graphs."""
        of_nodes, of_edges = self.codes
        kinds = {i: key[1] for key, i in of_edges.items() if key[0] == "edge"}
        return list(of_nodes), kinds, type(self.candidates.outputs[0])


class CodedGraph:
    """A graph as numbers: labels, a table of edges, and what surrounds each node.

    ``colours`` number what a node sees within 1, 2, ... steps: equal where two nodes see the same.
    """

    def __init__(self, graph: Any, codes: tuple[dict[Any, int], dict[Any, int]]):
        of_nodes, of_edges = codes
        self.labels = np.array(
            [of_nodes.setdefault(label, len(of_nodes) + 1) for label in graph.labels],
            dtype=np.int64,
        )
        self.directed = bool(getattr(graph, "directed", False))
        n = len(self.labels)
        self.edges = np.zeros((n, n), dtype=np.int64)
        kinds: list[tuple[int, int]] = []
        for (i, j), name in zip(np.asarray(graph.edges).tolist(), graph.edge_labels, strict=True):
            number = of_edges.setdefault(("edge", name), len(of_edges) + 1)
            self.edges[i, j] = number
            ends = [(i, j)] if i == j else [(i, j), (j, i)]
            if not self.directed:
                self.edges[j, i] = number
            for end, other in ends:
                around = ("around", number, int(self.labels[other]))
                kinds.append((end, of_edges.setdefault(around, len(of_edges) + 1)))
        width = 1 + max((kind for _, kind in kinds), default=0)
        self.around = np.zeros((n, width), dtype=np.int64)
        for end, kind in kinds:
            self.around[end, kind] += 1
        self.colours = self._colours(of_edges)

    def _colours(self, codes: dict[Any, int]) -> IntArray:
        now, found = self.labels.tolist(), []
        tied = self.edges + self.edges.T  # either end sees a directed edge
        seen = [np.flatnonzero(row) for row in tied]
        for _ in range(ROUNDS):
            views = [
                ("colour", now[i], tuple(sorted((int(tied[i, j]), now[j]) for j in seen[i])))
                for i in range(len(now))
            ]
            now = [codes.setdefault(view, len(codes) + 1) for view in views]
            found.append(now)
        return np.array(found, dtype=np.int64).T.reshape(len(self.labels), ROUNDS)

    def padded(self, more: int) -> tuple[IntArray, IntArray]:
        """Labels and edges with room for nodes that the other graph has."""
        return np.pad(self.labels, (0, more)), np.pad(self.edges, (0, more))
