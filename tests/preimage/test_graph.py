"""Pre-images that are labelled graphs."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isthmus.features import KernelPCA
from isthmus.kernels import LabelledGraph, MarginalizedGraph, Normalized
from isthmus.preimage import CandidatePreimage, GraphPreimage
from isthmus.preimage.discrete.graph_loops import repair_graphs
from isthmus.preimage.discrete.graph_search import (
    GraphCodes,
    GraphProducts,
    match_start,
    neighbours,
)
from isthmus.structured import DependencyEstimator


def same(a, b):
    """Whether one graph is a renumbering of the other."""
    return nx.is_isomorphic(
        a.to_networkx(),
        b.to_networkx(),
        node_match=lambda x, y: x["label"] == y["label"],
        edge_match=lambda x, y: x["label"] == y["label"],
    )


def random_tree(rng, labels, names=(1, 2)):
    n = len(labels)
    edges = [(i, int(rng.integers(i))) for i in range(1, n)]
    return LabelledGraph(labels, edges, edge_labels=rng.choice(names, n - 1).tolist())


def molecules(seed, n=30):
    rng = np.random.default_rng(seed)
    return [
        random_tree(rng, rng.choice(list("CNO"), rng.integers(3, 7)).tolist()) for _ in range(n)
    ]


@pytest.fixture(scope="module")
def graphs():
    return molecules(0)


@pytest.fixture(scope="module")
def features(graphs):
    return KernelPCA(10, kernel=MarginalizedGraph(0.3)).fit(graphs)


@pytest.fixture(scope="module")
def between(graphs, features):
    C = features.transform(graphs)
    return 0.5 * (C[:4] + C[4:8])


def test_images_of_trees_with_distinct_labels_come_back():
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, list("ABCDE"), names=(1,)) for _ in range(45)]
    pca = KernelPCA(kernel=MarginalizedGraph(0.3)).fit(trees[:40])
    solver = GraphPreimage().fit(trees[:40], pca)
    found = solver.solve(pca.transform(trees[40:]))
    assert all(same(f, t) for f, t in zip(found, trees[40:], strict=True))


def test_the_cross_entropy_method_alone_finds_small_trees():
    rng = np.random.default_rng(1)
    trees = [random_tree(rng, list("ABCD"), names=(1,)) for _ in range(12)]
    pca = KernelPCA(kernel=MarginalizedGraph(0.3)).fit(trees)
    solver = GraphPreimage(refine=False, n_samples=80).fit(trees[:2], pca)
    found = solver.solve(pca.transform(trees[2:]))
    assert sum(same(f, t) for f, t in zip(found, trees[2:], strict=True)) >= 8


@pytest.mark.parametrize(
    "solver",
    [
        GraphPreimage(),
        GraphPreimage(refine=False, n_samples=10),
        GraphPreimage("full", n_samples=10),
        GraphPreimage(constraints=None, refine=False),
        GraphPreimage(size=4, n_samples=10),
    ],
    ids=repr,
)
def test_never_worse_than_the_nearest_training_graph(solver, graphs, features, between):
    solver = clone(solver).fit(graphs, features)
    found = solver.objective(between, solver.solve(between))
    nearest = CandidatePreimage(criterion=solver.criterion).fit(graphs, features).solve(between)
    assert (found <= solver.objective(between, nearest) * (1 + 1e-9)).all()


def test_new_graphs_are_nearer_than_training_graphs(graphs, features, between):
    solver = GraphPreimage().fit(graphs, features)
    nearest = CandidatePreimage().fit(graphs, features).solve(between)
    found = solver.objective(between, solver.solve(between))
    assert found.sum() < 0.5 * solver.objective(between, nearest).sum()


def test_answers_keep_the_rules_of_the_training_graphs(graphs, features, between):
    solver = GraphPreimage().fit(graphs, features)
    for graph in solver.solve(between):
        assert graph.is_connected
        codes = solver._codes
        assert (graph.degrees <= codes.max_degree[codes.label_codes(graph)]).all()


def test_answers_do_not_depend_on_the_other_points(graphs, features, between):
    solver = GraphPreimage(n_samples=20).fit(graphs, features)
    alone = [solver.solve(point[None])[0] for point in between]
    assert list(solver.solve(between)) == alone


@pytest.mark.parametrize("kernel", [MarginalizedGraph(0.4), Normalized(MarginalizedGraph(0.4))])
def test_the_tree_of_walks_gives_the_kernel_rows(kernel, graphs, rng):
    columns = rng.normal(size=(len(graphs), 3))
    codes = GraphCodes(graphs, constraints="training")
    fast = GraphProducts(kernel, graphs, columns, codes)
    for graph in [*molecules(5, 4), LabelledGraph("C")]:
        products, norms = fast(codes.encode(graph), norms=True)
        # Rare long walks are left out, so it is near and not equal.
        assert_allclose(products, kernel([graph], graphs) @ columns, rtol=1e-3, atol=1e-6)
        assert_allclose(norms, kernel.diag([graph]), rtol=1e-7)


def test_tables_come_back_as_graphs(graphs):
    codes = GraphCodes(graphs, constraints="training")
    for graph in graphs[:5]:
        labels, states = codes.encode(graph)
        assert codes.decode(labels[0], states[0]) == graph
        assert codes.allowed((labels, states))[0]


def test_neighbours_keep_the_rules_and_differ(graphs):
    codes = GraphCodes(graphs, constraints="training")
    labels, states = codes.encode(graphs[0])
    tables = neighbours(labels[0], states[0], codes)
    assert {t[0].shape[1] - graphs[0].n_nodes for t in tables} <= {-1, 0, 1}
    for table in tables:
        assert codes.allowed(table).all()
        for one in zip(*table, strict=True):
            assert codes.decode(*one) != graphs[0]


def test_repaired_draws_keep_the_rules(graphs, rng):
    codes = GraphCodes(graphs, constraints="training")
    m = 5
    label = np.sort(rng.integers(3, size=m))
    first, second = np.triu_indices(m, 1)
    draws = rng.integers(3, size=(40, 10))
    order, likely = np.arange(10), np.ones(10, dtype=np.int64)
    rules = (codes.max_degree, codes.bonds, codes.connected)
    repair_graphs(draws, first, second, label, order, likely, *rules)
    states = np.zeros((40, m, m), dtype=np.int64)
    states[:, first, second] = states[:, second, first] = draws
    assert codes.allowed((np.tile(label, (40, 1)), states)).all()


def test_the_search_starts_at_the_nearest_graph(graphs):
    codes = GraphCodes(graphs, constraints="training")
    tables = codes.encode(graphs[0])
    order = np.argsort(tables[0][0], kind="stable")
    v = match_start(tables[0][0][order], tables, len(codes.names))
    assert (v.max(axis=1) >= 0.5).sum() >= len(graphs[0].edges)
    assert (np.sum(v == 0.8, axis=1) > 0).sum() == len(graphs[0].edges)
    assert_allclose(v.sum(axis=1), 1)


def test_edges_become_fewer_with_the_price_of_sparsity(graphs, features, between):
    def n_edges(sparsity):
        solver = GraphPreimage(
            refine=False, constraints=None, sparsity=sparsity, size=6, n_samples=40, patience=2
        ).fit(graphs, features)
        v = []
        for beta, a in zip(between, features.expand(between), strict=True):
            start = solver._codes.encode(graphs[0])
            rng = np.random.default_rng(0)
            line = type("Silent", (), {"update": lambda self, **_: None})()
            v.append(np.count_nonzero(solver._draw(beta, a, start, rng, line)[1]) / 2)
        return np.mean(v)

    assert n_edges(1.0) < n_edges(0.0)


def test_networkx_graphs_are_taken(graphs):
    theirs = [g.to_networkx() for g in graphs]
    pca = KernelPCA(5, kernel=MarginalizedGraph(0.3)).fit(theirs)
    found = GraphPreimage(n_samples=10).fit(theirs, pca).solve(pca.transform(theirs[:1]))
    assert isinstance(found[0], LabelledGraph)


def test_what_is_wrong_is_named(graphs, features):
    empty = LabelledGraph("")
    with pytest.raises(ValueError, match="graph 1 is empty"):
        GraphPreimage().fit([graphs[0], empty], features, np.zeros((2, 10)))
    directed = LabelledGraph("CN", [(0, 1)], directed=True)
    with pytest.raises(ValueError, match="Graph 1 is directed"):
        GraphPreimage().fit([graphs[0], directed], features, np.zeros((2, 10)))
    with pytest.raises(ValueError, match="Graph 0 has a loop"):
        GraphPreimage().fit([LabelledGraph("C", [(0, 0)])], features, np.zeros((1, 10)))
    with pytest.raises(TypeError, match="Got 'CCO' of type str at position 0"):
        GraphPreimage().fit(["CCO"], features, np.zeros((1, 10)))
    for bad in (
        {"size": 0},
        {"size": "big"},
        {"constraints": "none"},
        {"elite": 0.0},
        {"floor": 0.9},
        {"sparsity": -1.0},
        {"patience": 0},
        {"n_samples": 1},
        {"smoothing": 0.0},
    ):
        solver = GraphPreimage(**bad)
        with pytest.raises(ValueError, match=f"'{next(iter(bad))}' parameter of GraphPreimage"):
            solver.fit(graphs, features)
        with pytest.raises(NotFittedError):
            solver.solve(np.zeros((1, 10)))


def test_disconnected_training_graphs_allow_disconnected_answers(graphs):
    pieces = LabelledGraph("CN")
    assert GraphCodes(graphs, constraints="training").connected
    assert not GraphCodes([*graphs, pieces], constraints="training").connected


def test_graphs_to_vectors():
    graphs = molecules(2, 120)
    # Share of nitrogen, and of edges of the second kind.
    Y = np.array(
        [[g.labels.count("N") / g.n_nodes, g.edge_labels.count(2) / len(g.edges)] for g in graphs]
    )
    model = DependencyEstimator(x_features=MarginalizedGraph(0.3)).fit(graphs[:90], Y[:90])
    assert model.score(graphs[90:], Y[90:]) > 0.95


def test_vectors_to_graphs():
    # A chain of carbon with as many oxygens at its end as the number says.
    def chain(n_oxygen):
        return LabelledGraph("C" * (7 - n_oxygen) + "O" * n_oxygen, [(i, i + 1) for i in range(6)])

    counts = np.arange(1, 7)
    X = np.repeat(counts, 4)[:, None] + np.tile([-0.1, 0.0, 0.1, 0.05], 6)[:, None]
    graphs = [chain(round(x)) for x in X[:, 0]]
    seen = X[:, 0].round() != 4  # this one must be built
    model = DependencyEstimator(y_features=MarginalizedGraph(0.3), preimage=GraphPreimage())
    model.fit(X[seen], [g for g, s in zip(graphs, seen, strict=True) if s])
    found = model.predict([[4.0], [2.0]])
    assert same(found[1], chain(2))
    assert same(found[0], chain(4))
