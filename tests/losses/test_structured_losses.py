"""Graph edit distance and alignment of series as losses."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.kernels import LabelledGraph
from isthmus.losses import AlignmentDistance, GraphEditDistance, as_task_loss
from isthmus.losses.edits.graph_moves import (
    CodedAnswer,
    MatchedOutput,
    deletions,
    edits,
)
from isthmus.series import dtw_matrix


def graphs(n, seed=0, most=4):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        size = int(rng.integers(2, most + 1))
        pairs = [(i, j) for i in range(size) for j in range(i) if rng.random() < 0.6]
        names = rng.choice(list("-="), size=len(pairs)).tolist()
        found.append(
            LabelledGraph(rng.choice(list("CNO"), size).tolist(), pairs, edge_labels=names)
        )
    return found


def exact_distance(a, b):
    """The best of all matches of nodes, with room for nodes that have no partner."""
    n, m = a.n_nodes, b.n_nodes
    ea, eb = (
        {frozenset(p): e for p, e in zip(g.edges.tolist(), g.edge_labels, strict=True)}
        for g in (a, b)
    )
    best = np.inf
    for image in permutations([*range(m), *[None] * n], n):
        cost = sum(j is None or a.labels[i] != b.labels[j] for i, j in enumerate(image))
        cost += m - sum(j is not None for j in image)
        met = 0
        for pair, label in ea.items():
            ends = [image[i] for i in pair]
            other = eb.get(frozenset(ends)) if None not in ends else None
            met += other is not None
            cost += other is None or other != label
        best = min(best, cost + len(eb) - met)
    return best


def test_the_bound_is_never_below_the_exact_distance_and_mostly_meets_it():
    some = graphs(9)
    found = GraphEditDistance().cost(some, some[:6])
    exact = np.array([[exact_distance(a, b) for b in some[:6]] for a in some])
    assert (found >= exact - 1e-12).all()
    assert (found == exact).mean() > 0.9
    assert_allclose(np.diag(found), 0)
    assert_allclose(found[:6], found[:6].T)


def test_one_collection_with_itself_is_the_same():
    some = graphs(8, seed=3, most=7)
    assert_allclose(GraphEditDistance().cost(some, some), GraphEditDistance().cost(some, some[:]))


def test_the_numbers_of_nodes_do_not_count():
    ring = LabelledGraph("CCCCCCNO", [(i, (i + 1) % 6) for i in range(6)] + [(0, 6), (3, 7)])
    order = np.random.default_rng(0).permutation(8)
    places = np.argsort(order)
    same = LabelledGraph([ring.labels[i] for i in order], places[ring.edges])
    assert GraphEditDistance().cost([ring], [same])[0, 0] == 0


def test_directions_and_loops_count():
    loss = GraphEditDistance()
    there = LabelledGraph("ab", [(0, 1)], directed=True)
    back = LabelledGraph("ab", [(1, 0)], directed=True)
    assert loss.cost([there], [back])[0, 0] == 2
    plain, loop = LabelledGraph("a"), LabelledGraph("a", [(0, 0)])
    assert loss.cost([plain], [loop])[0, 0] == 1


def test_the_answer_is_the_graph_of_least_risk():
    some, loss = graphs(12, seed=1), GraphEditDistance(search=False)
    w = np.random.default_rng(0).random((3, 12))
    decoded = loss.decode(w, loss.prepare(some))
    assert_allclose(decoded.risk, (w @ loss.cost(some, some)).min(axis=1))
    searched = GraphEditDistance()
    edited = searched.decode(w, searched.prepare(some))
    assert_allclose(searched.risk(w, edited.outputs, some), edited.risk)
    assert (edited.risk <= decoded.risk).all()
    assert edited.risk.sum() < decoded.risk.sum() - 0.5
    assert searched.for_choice() == loss


def chain(labels):
    return LabelledGraph(labels, [(i, i + 1) for i in range(len(labels) - 1)])


def with_leaves(places):
    """A chain of four with leaves of labels of their own at some of its nodes."""
    labels = "CNOP" + "".join("ABDE"[i] for i in places)
    ties = [(0, 1), (1, 2), (2, 3), *((i, 4 + k) for k, i in enumerate(places))]
    return LabelledGraph(labels, ties)


@pytest.mark.parametrize(
    ("others", "hidden"),
    [
        ([chain("CNCOX"), chain("CXCON"), chain("CNXON"), chain("CNCXN")], chain("CNCON")),
        ([with_leaves([j for j in range(4) if j != i]) for i in range(4)], with_leaves(range(4))),
    ],
    ids=["labels", "insertion"],
)
def test_the_median_of_graphs_need_not_be_one_of_them(others, hidden):
    loss, flat = GraphEditDistance(), np.full((1, 4), 0.25)
    found = loss.decode(flat, loss.prepare(others))
    assert loss.cost(found.outputs, [hidden])[0, 0] == 0
    plain = GraphEditDistance(search=False)
    assert plain.decode(flat, plain.prepare(others)).risk[0] > found.risk[0]


def test_a_node_that_few_have_goes():
    loss = GraphEditDistance()
    others = [
        chain("CNCO"),
        chain("CNCOX"),
        LabelledGraph("CNCOY", [(0, 1), (1, 2), (2, 3), (1, 4)]),
    ]
    w = np.array([[-0.2, 0.6, 0.6]])  # the graph itself counts less than nothing
    found = loss.decode(w, loss.prepare(others))
    assert found.risk[0] < (w @ loss.cost(others, others)).min()


def test_an_edge_by_the_weight_of_the_others():
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    broken = [LabelledGraph("CNOP", ring[:i] + ring[i + 1 :]) for i in range(4)]
    loss = GraphEditDistance()
    found = loss.decode(np.full((1, 4), 0.25), loss.prepare(broken)).outputs[0]
    assert loss.cost([found], [LabelledGraph("CNOP", ring)])[0, 0] == 0


def cost_under_matches(answer, outputs, node, edge):
    """Edits between an answer and outputs whose nodes stand in the order of its own."""
    total, n = 0.0, len(answer.labels)
    for weight, labels, edges in outputs:
        size = len(labels)
        own, ties = np.zeros(size, dtype=int), np.zeros((size, size), dtype=int)
        own[:n], ties[:n, :n] = answer.labels, answer.edges
        total += weight * node * (own != labels).sum()
        total += weight * edge * np.triu(ties != edges).sum()
    return total


def test_gains_of_edits_are_those_of_counting_anew():
    rng = np.random.default_rng(0)
    labels = rng.integers(1, 4, size=4)
    edges = np.triu(rng.integers(0, 3, size=(4, 4)), 1)
    answer = CodedAnswer(labels, edges + edges.T, False)
    outputs = []
    for _ in range(5):
        own = np.concatenate([rng.integers(0, 4, size=4), rng.integers(1, 4, size=1)])
        ties = np.triu(rng.integers(0, 3, size=(5, 5)), 1)
        ties[own == 0] = ties[:, own == 0] = 0
        outputs.append(MatchedOutput(float(rng.random()), own, ties + ties.T))
    before = cost_under_matches(answer, outputs, 1.0, 0.7)
    checked = 0
    for gain, other in edits(answer, outputs, 1.0, 0.7):
        if len(other.labels) == len(labels):
            assert gain == pytest.approx(before - cost_under_matches(other, outputs, 1.0, 0.7))
            checked += 1
    assert checked > 10
    for u, (gain, _) in enumerate(deletions(answer, outputs, 1.0, 0.7)):
        absent = answer.edges.copy()
        absent[u] = absent[:, u] = 0
        nothing = labels.copy()
        nothing[u] = 0
        after = cost_under_matches(CodedAnswer(nothing, absent, False), outputs, 1.0, 0.7)
        assert gain == pytest.approx(before - after)


def test_neighbours_of_graphs_have_their_risks():
    some, loss = graphs(8, seed=2), GraphEditDistance()
    w = np.random.default_rng(0).random(8)
    objects, risks = loss.neighbours(some[0], w, loss.prepare(some))
    assert len(objects) > 5
    assert_allclose(risks, loss.cost(objects, some) @ w)


def test_graphs_are_asked_for():
    with pytest.raises(TypeError, match=r"LabelledGraph objects\. Got 3"):
        GraphEditDistance().check([3])
    with pytest.raises(ValueError, match="'node' parameter of GraphEditDistance"):
        GraphEditDistance(-1.0).check(graphs(1))


def test_alignment_is_dynamic_time_warping():
    rng = np.random.default_rng(0)
    series = [rng.normal(size=n) for n in (3, 5, 7, 4)]
    assert_allclose(AlignmentDistance().cost(series, series[:2]), dtw_matrix(series, series[:2]))
    wide = [rng.normal(size=(n, 2)) for n in (3, 5)]
    assert_allclose(AlignmentDistance().cost(wide, wide), dtw_matrix(wide, wide))


@pytest.mark.parametrize("signed", [False, True])
def test_averages_lower_the_risk_of_the_best_series(signed):
    rng = np.random.default_rng(0)
    series = [
        np.sin(np.linspace(0, 6, n)) + 0.2 * rng.normal(size=n) for n in rng.integers(9, 14, 8)
    ]
    w = rng.random((3, 8)) - 0.2 * signed
    loss = AlignmentDistance()
    found = loss.decode(w, loss.prepare(series))
    candidates = (w @ loss.cost(series, series)).min(axis=1)
    assert (found.risk <= candidates + 1e-12).all()
    assert (found.risk < candidates - 1e-6).any()
    for y, row, risk in zip(found.outputs, w, found.risk, strict=True):
        assert risk == pytest.approx(loss.cost([y], series)[0] @ row)
    only = AlignmentDistance(search=False)
    assert_allclose(only.decode(w, only.prepare(series)).risk, candidates)


def test_series_are_asked_for():
    loss = AlignmentDistance()
    with pytest.raises(TypeError, match=r"series of numbers\. Got 'ab' at position 1"):
        loss.check([[1.0], "ab"])
    with pytest.raises(ValueError, match="finite numbers"):
        loss.check([[1.0, float("nan")]])
    with pytest.raises(ValueError, match="same number of channels"):
        loss.check([np.ones((3, 2)), np.ones((3, 1))])


def test_they_have_names():
    assert as_task_loss("graph_edit") == GraphEditDistance()
    assert as_task_loss("alignment") == AlignmentDistance()
