r"""Labelled graphs of least weighted edit distance, by edits that are scored from kept matches.

A match says which node of a training graph stands for which node of the answer. As long as the
matches stay, the risk of the answer is a sum over its nodes and pairs of nodes, so what each edit
gains is a weighted count: of the labels that matched nodes have, of the edges that join them, and
of the nodes that the answer has none for. The most promising edits are then tried in earnest, with
new matches, and the first that lowers the risk is taken.
"""

from typing import Any, NamedTuple

import numpy as np

from isthmus.typing import Array, IntArray

# Edits that are tried in earnest before the search ends.
N_TRIED = 8
# The same of those whose gain is but hoped for.
N_HOPED = 4


class CodedAnswer(NamedTuple):
    """A graph as numbers: labels (n,), and edges (n, n) with 0 where there is none."""

    labels: IntArray
    edges: IntArray
    directed: bool

    def same(self, other: "CodedAnswer") -> bool:
        """Whether both are the same, node by node."""
        return np.array_equal(self.labels, other.labels) and np.array_equal(self.edges, other.edges)

    def graph(self, names: tuple[list[Any], dict[int, Any], Any]) -> Any:
        """The graph with its labels, whose names stand in ``names`` with the class of graphs."""
        nodes, edges, kind = names
        upper = self.edges if self.directed else np.triu(self.edges)
        ends = np.argwhere(upper > 0)
        return kind(
            [nodes[label - 1] for label in self.labels],
            ends.reshape(-1, 2),
            edge_labels=[edges[int(upper[i, j])] for i, j in ends],
            directed=self.directed,
        )


class MatchedOutput(NamedTuple):
    """A training graph in the order of the answer's nodes; nodes behind them have no partner."""

    weight: float
    labels: IntArray  # (n + more,), 0 where the answer's node has no partner
    edges: IntArray  # (n + more, n + more)


def ordered(coded: Any, match: IntArray, n: int, weight: float) -> MatchedOutput:
    """A coded graph in the order that a match of padded graphs gives its nodes."""
    labels, edges = coded.padded(n)
    labels, edges = labels[match], edges[np.ix_(match, match)]
    kept = np.concatenate([np.arange(n), n + np.flatnonzero(labels[n:])])
    return MatchedOutput(weight, labels[kept], edges[np.ix_(kept, kept)])


def edits(
    answer: CodedAnswer, outputs: list[MatchedOutput], node: float, edge: float
) -> list[tuple[float, CodedAnswer]]:
    """What single edits of an answer gain under the matches, the largest gain first."""
    found = [
        *label_edits(answer, outputs, node),
        *edge_edits(answer, outputs, edge),
        *deletions(answer, outputs, node, edge),
        *insertions(answer, outputs, node, edge, hoped=False),
    ]
    return sorted(found, key=lambda one: -one[0])


def hoped_edits(
    answer: CodedAnswer, outputs: list[MatchedOutput], node: float, edge: float
) -> list[tuple[float, CodedAnswer]]:
    """What insertions would gain if other matches were as good, the largest gain first.

    A match may have used a partner for want of a better one, and so hide a node that the answer
    lacks.
    """
    found = insertions(answer, outputs, node, edge, hoped=True)
    return sorted(found, key=lambda one: -one[0])


def voted(answer: CodedAnswer, outputs: list[MatchedOutput]) -> CodedAnswer:
    """All labels and edges by the largest weight at once; no node comes or goes."""
    n = len(answer.labels)
    labels, edges = answer.labels.copy(), answer.edges.copy()
    for u in range(n):
        votes = _votes(outputs, lambda o, u=u: o.labels[u])
        votes.pop(0, None)
        if votes:
            labels[u] = max(votes, key=lambda a: (votes[a], a == labels[u]))
    for u, v in _pairs(answer):
        votes = _votes(outputs, lambda o, u=u, v=v: o.edges[u, v])
        edges[u, v] = max(votes, key=lambda e: (votes[e], e == edges[u, v]))
        if not answer.directed:
            edges[v, u] = edges[u, v]
    return CodedAnswer(labels, edges, answer.directed)


def _votes(outputs: list[MatchedOutput], of: Any) -> dict[int, float]:
    votes: dict[int, float] = {}
    for output in outputs:
        value = int(of(output))
        votes[value] = votes.get(value, 0.0) + output.weight
    return votes


def _pairs(answer: CodedAnswer) -> list[tuple[int, int]]:
    n = len(answer.labels)
    every = [(u, v) for u in range(n) for v in range(n) if u != v]
    return every if answer.directed else [(u, v) for u, v in every if u < v]


def label_edits(
    answer: CodedAnswer, outputs: list[MatchedOutput], node: float
) -> list[tuple[float, CodedAnswer]]:
    """Nodes with another label."""
    found = []
    for u, own in enumerate(answer.labels.tolist()):
        votes = _votes(outputs, lambda o, u=u: o.labels[u])
        for label, weight in votes.items():
            if label not in (0, own):
                labels = answer.labels.copy()
                labels[u] = label
                gain = node * (weight - votes.get(own, 0.0))
                found.append((gain, answer._replace(labels=labels)))
    return found


def edge_edits(
    answer: CodedAnswer, outputs: list[MatchedOutput], edge: float
) -> list[tuple[float, CodedAnswer]]:
    """Pairs of nodes with another edge, or none."""
    found = []
    for u, v in _pairs(answer):
        votes = _votes(outputs, lambda o, u=u, v=v: o.edges[u, v])
        own = int(answer.edges[u, v])
        for kind in votes.keys() | {0}:
            if kind != own:
                edges = answer.edges.copy()
                edges[u, v] = kind
                if not answer.directed:
                    edges[v, u] = kind
                gain = edge * (votes.get(kind, 0.0) - votes.get(own, 0.0))
                found.append((gain, answer._replace(edges=edges)))
    return found


def deletions(
    answer: CodedAnswer, outputs: list[MatchedOutput], node: float, edge: float
) -> list[tuple[float, CodedAnswer]]:
    """The answer without each of its nodes, in their order."""
    n = len(answer.labels)
    if n < 2:
        return []
    found = []
    for u in range(n):
        gain = 0.0
        for weight, labels, edges in outputs:
            # Without the node, a partner that it had is one that the answer lacks.
            gain += weight * node * (float(labels[u] != answer.labels[u]) - float(labels[u] != 0))
            same = (edges[u, :n] != answer.edges[u]).sum() - (edges[u, :n] != 0).sum()
            if answer.directed:
                same += (edges[:n, u] != answer.edges[:, u]).sum() - (edges[:n, u] != 0).sum()
            gain += weight * edge * float(same)
        rest = np.delete(np.arange(n), u)
        found.append(
            (
                gain,
                CodedAnswer(answer.labels[rest], answer.edges[np.ix_(rest, rest)], answer.directed),
            )
        )
    return found


def insertions(
    answer: CodedAnswer, outputs: list[MatchedOutput], node: float, edge: float, *, hoped: bool
) -> list[tuple[float, CodedAnswer]]:
    """A node with one edge, such as training graphs have and the answer does not.

    Nodes without a partner count, and with ``hoped`` also those whose partner is tied elsewhere.
    """
    n = len(answer.labels)
    votes: dict[tuple[int, int, int], float] = {}
    for weight, labels, edges in outputs:
        seen = set()
        for u, other in np.argwhere(edges[:n] > 0).tolist():
            free = other >= n or (hoped and not answer.edges[u, other])
            if labels[other] and free:
                seen.add((int(labels[other]), u, int(edges[u, other])))
        for one in seen:
            votes[one] = votes.get(one, 0.0) + weight
    total = sum(output.weight for output in outputs)
    found = []
    for (label, u, kind), weight in votes.items():
        labels = np.append(answer.labels, label)
        edges = np.pad(answer.edges, (0, 1))
        edges[n, u] = kind
        if not answer.directed:
            edges[u, n] = kind
        gain = (node + edge) * (2 * weight - total)
        found.append((gain, CodedAnswer(labels, edges, answer.directed)))
    return found


def coded_answer(coded: Any) -> CodedAnswer:
    """The numbers of a coded graph as an answer to be edited."""
    return CodedAnswer(coded.labels.copy(), coded.edges.copy(), coded.directed)


def weights_that_matter(masses: Array, most: int) -> IntArray:
    """The outputs of largest absolute weight."""
    order = np.argsort(-np.abs(masses), kind="stable")[:most]
    return np.asarray(order[masses[order] != 0])
