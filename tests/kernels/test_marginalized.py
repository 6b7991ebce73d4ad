"""Marginalised kernels of sequences and graphs, against slow and plain forms."""

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.svm import SVC

from isthmus.features import KernelPCA
from isthmus.kernels import LabelledGraph, MarginalizedGraph, MarginalizedSequence, Normalized
from isthmus.kernels.sequences.marginalized import balanced_rows

WORDS = ["kernels", "kennel", "colonel", "shell", "eel", "keel", "l"]


def path(word, directed=False):
    chain = [(i, i + 1) for i in range(len(word) - 1)]
    return LabelledGraph(word, chain, directed=directed)


def random_graph(rng, n=None, labels="ab", names=(1, 2), share=0.4, directed=False):
    n = int(rng.integers(2, 7)) if n is None else n
    pairs = [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j)]
    edges = [pair for pair in pairs if rng.random() < share]
    return LabelledGraph(
        rng.choice(list(labels), n).tolist(),
        edges,
        edge_labels=rng.choice(names, len(edges)).tolist(),
        directed=directed,
    )


def by_product_graph(a, b, stop):
    """The definition: s' (I - T)^-1 q on the product graph, written out."""
    n, m = a.n_nodes, b.n_nodes
    match = np.array([[x == y for y in b.labels] for x in a.labels], dtype=float).ravel()
    T = np.zeros((n * m, n * m))
    for i, j, e in zip(*a.arcs, strict=True):
        for k, to, f in zip(*b.arcs, strict=True):
            if a.edge_labels[e] == b.edge_labels[f]:
                T[i * m + k, j * m + to] = (1 - stop) ** 2 / (a.degrees[i] * b.degrees[k])
    R = np.linalg.solve(np.eye(n * m) - T * match, np.full(n * m, stop**2))
    return float(match @ R / (n * m))


def by_all_walks(a, b, stop):
    """The definition again: every pair of substrings that agree."""
    total = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            for length in range(1, min(len(a) - i, len(b) - j) + 1):
                if a[i : i + length] == b[j : j + length]:
                    total += stop**2 * (1 - stop) ** (2 * (length - 1))
    return total / (len(a) * len(b))


class TestSequence:
    @pytest.mark.parametrize(
        ("stop", "value"), [(0.1, 0.00263954761904762), (0.3, 0.0208073571428571)]
    )
    def test_known_values(self, stop, value):
        found = MarginalizedSequence(stop)(["KERNELS"], ["KENNEL"])
        assert_allclose(found, value, rtol=1e-13)

    @pytest.mark.parametrize("stop", [0.05, 0.5, 1.0])
    def test_it_is_the_sum_over_all_walks(self, stop):
        slow = [[by_all_walks(a, b, stop) for b in WORDS] for a in WORDS]
        assert_allclose(MarginalizedSequence(stop)(WORDS), slow, rtol=1e-12)

    def test_it_is_the_graph_kernel_of_directed_paths(self):
        paths = [path(word, directed=True) for word in WORDS]
        assert_allclose(MarginalizedSequence(0.2)(WORDS), MarginalizedGraph(0.2)(paths), rtol=1e-9)

    def test_one_symbol_counts_its_share(self):
        # k(c, z) = stop^2 m_c / m: what the counts of a pre-image follow from.
        K = MarginalizedSequence(0.3)(["e", "l"], WORDS)
        shares = [[word.count(c) / len(word) for word in WORDS] for c in "el"]
        assert_allclose(K, 0.09 * np.array(shares))

    def test_strings_lists_and_arrays_of_symbols_are_the_same(self):
        codes = [np.array([ord(c) for c in word]) for word in WORDS]
        expected = MarginalizedSequence(0.3)(WORDS)
        for objects in (codes, [list(word) for word in WORDS], [tuple(c.tolist()) for c in codes]):
            assert_allclose(MarginalizedSequence(0.3)(objects), expected)
        assert_allclose(MarginalizedSequence(0.3)(np.array(WORDS)), expected)
        assert_allclose(MarginalizedSequence(0.3)([WORDS[0], codes[1].tolist()])[0, 1], 0)

    def test_rows_of_an_integer_table_are_sequences(self, rng):
        table = rng.integers(3, size=(5, 8))
        assert_allclose(
            MarginalizedSequence(0.3)(table), MarginalizedSequence(0.3)([list(r) for r in table])
        )

    @pytest.mark.parametrize("stop", [0.04, 0.3, "length"])
    def test_gram_is_positive(self, stop, rng):
        words = ["".join(rng.choice(list("abc"), rng.integers(1, 12))) for _ in range(40)]
        spectrum = np.linalg.eigvalsh(MarginalizedSequence(stop)(words))
        assert spectrum[0] > -1e-12 * spectrum[-1]

    def test_stop_by_length_is_one_stop_for_each_sequence(self):
        equal = ["abba", "baab", "aaaa"]
        assert_allclose(MarginalizedSequence("length")(equal), MarginalizedSequence(0.25)(equal))
        assert_allclose(MarginalizedSequence("length").diag(["a"]), 1)

    @given(st.text("abc", min_size=1, max_size=9), st.text("abc", min_size=1, max_size=9))
    @settings(max_examples=40, deadline=None)
    def test_reversal_changes_nothing(self, a, b):
        # Common substrings of reversed sequences are reversed common substrings.
        k = MarginalizedSequence(0.3)
        assert_allclose(k([a], [b]), k([a[::-1]], [b[::-1]]), rtol=1e-10)

    def test_what_is_wrong_is_named_with_its_position(self):
        k = MarginalizedSequence(0.3)
        with pytest.raises(ValueError, match="sequence 1 is empty"):
            k(["a", ""])
        with pytest.raises(TypeError, match="Got 3 of type int at position 0"):
            k([3, 4])
        with pytest.raises(TypeError, match=r"shape \(2,\) of float64 at position 1"):
            k([[1, 2], np.array([0.5, 1.5])])
        with pytest.raises(TypeError, match=r"hashable. Sequence 0 holds \[1\]"):
            k([[[1], [2]]])
        with pytest.raises(ValueError, match=r"'stop' parameter .* must be a float in \(0, 1\]"):
            MarginalizedSequence(0.0)(["a"])
        with pytest.raises(ValueError, match="'stop' parameter"):
            MarginalizedSequence(1.5).diag(["a"])

    def test_unknown_symbols_are_named_where_the_alphabet_is_fixed(self):
        with pytest.raises(ValueError, match="sequence 1 has the symbol 'x' at position 2"):
            MarginalizedSequence(0.3, alphabet="ab")(["ab", "abx"])
        pca = KernelPCA(2, kernel=MarginalizedSequence(0.3, alphabet="training")).fit(WORDS)
        assert pca.kernel_.alphabet == tuple(sorted(set("".join(WORDS))))
        with pytest.raises(ValueError, match="sequence 0 has the symbol 'z' at position 1"):
            pca.transform(["ezel"])

    def test_a_symbol_never_seen_is_like_no_other(self):
        assert_allclose(MarginalizedSequence(0.3)(["zz"], WORDS), 0)


class TestGraph:
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("stop", [0.05, 0.4, 1.0])
    def test_it_solves_the_equation_of_the_product_graph(self, directed, stop, rng):
        graphs = [random_graph(rng, directed=directed) for _ in range(6)]
        slow = [[by_product_graph(a, b, stop) for b in graphs] for a in graphs]
        assert_allclose(MarginalizedGraph(stop)(graphs), slow, rtol=1e-7)
        others = [random_graph(rng, directed=directed) for _ in range(3)]
        slow = [[by_product_graph(a, b, stop) for b in others] for a in graphs]
        assert_allclose(MarginalizedGraph(stop)(graphs, others), slow, rtol=1e-7)

    def test_both_solvers_agree(self, rng):
        graphs = [random_graph(rng) for _ in range(8)]
        found = [
            MarginalizedGraph(0.1, solver=solver, tol=1e-13)(graphs)
            for solver in ("conjugate_gradients", "fixed_point")
        ]
        assert_allclose(found[0], found[1], rtol=1e-10)

    def test_directed_and_undirected_graphs_meet(self, rng):
        graphs = [random_graph(rng), random_graph(rng, directed=True)]
        assert_allclose(
            MarginalizedGraph(0.3)(graphs)[0, 1], by_product_graph(*graphs, 0.3), rtol=1e-8
        )

    @pytest.mark.parametrize("seed", range(5))
    def test_renumbering_changes_nothing(self, seed):
        rng = np.random.default_rng(seed)
        graph, other = random_graph(rng, 6), random_graph(rng, 5)
        order = rng.permutation(6)
        labels = [None] * 6
        for i, place in enumerate(order):
            labels[place] = graph.labels[i]
        moved = LabelledGraph(labels, order[graph.edges], edge_labels=graph.edge_labels)
        k = MarginalizedGraph(0.2)
        assert_allclose(k([moved], [other]), k([graph], [other]), rtol=1e-9)
        assert_allclose(k.diag([moved]), k.diag([graph]), rtol=1e-9)

    def test_two_disjoint_copies_are_as_one(self, rng):
        graph, other = random_graph(rng, 5), random_graph(rng, 4)
        twice = LabelledGraph(
            graph.labels * 2,
            np.concatenate([graph.edges, graph.edges + 5]),
            edge_labels=graph.edge_labels * 2,
        )
        k = MarginalizedGraph(0.2)
        assert_allclose(k([twice], [other]), k([graph], [other]), rtol=1e-9)

    def test_gram_is_positive(self, rng):
        graphs = [random_graph(rng) for _ in range(40)]
        spectrum = np.linalg.eigvalsh(MarginalizedGraph(0.2, tol=1e-14)(graphs))
        assert spectrum[0] > -1e-12 * spectrum[-1]

    def test_nodes_without_edges_read_one_label(self):
        k = MarginalizedGraph(0.3)
        alone, pair = LabelledGraph("a"), LabelledGraph("ab", [(0, 1)])
        assert_allclose(k([alone], [alone, pair]), [[0.09, 0.045]])

    def test_networkx_graphs_are_the_same(self, rng):
        graphs = [random_graph(rng) for _ in range(4)]
        theirs = [g.to_networkx() for g in graphs]
        assert_allclose(MarginalizedGraph(0.2)(theirs), MarginalizedGraph(0.2)(graphs))
        assert [LabelledGraph.from_networkx(g) for g in theirs] == graphs

    def test_networkx_graphs_without_labels_are_all_alike(self):
        theirs = nx.path_graph(3)
        ours = LabelledGraph([None] * 3, [(0, 1), (1, 2)])
        assert LabelledGraph.from_networkx(theirs) == ours

    def test_what_is_wrong_is_named_with_its_position(self):
        k = MarginalizedGraph(0.3)
        fine = nx.path_graph(2)
        with pytest.raises(ValueError, match="graph 1 is empty"):
            k([fine, nx.Graph()])
        with pytest.raises(TypeError, match="Got 'no' of type str at position 0"):
            k(["no"])
        partly = nx.path_graph(3)
        partly.nodes[0]["label"] = "a"
        with pytest.raises(ValueError, match="graph 1 has no attribute 'label' on node 1"):
            k([fine, partly])
        bonds = nx.path_graph(3)
        bonds.edges[0, 1]["label"] = "single"
        with pytest.raises(ValueError, match=r"graph 0 has no attribute 'label' on edge \(1, 2\)"):
            k([bonds])
        with pytest.raises(ValueError, match="graph 0 has parallel edges"):
            k([nx.MultiGraph([(0, 1), (0, 1)])])
        with pytest.raises(ValueError, match="Graph 0 is directed: use 'auto'"):
            MarginalizedGraph(0.3, solver="conjugate_gradients")([path("ab", directed=True)])
        with pytest.raises(ValueError, match="'solver' parameter of MarginalizedGraph"):
            MarginalizedGraph(0.3, solver="lu")([fine])


class TestLabelledGraph:
    def test_edges_are_checked(self):
        with pytest.raises(ValueError, match=r"with 2 nodes must join nodes 0 to 1. Got node 2"):
            LabelledGraph("ab", [(0, 2)])
        with pytest.raises(ValueError, match=r"each edge once. Got \(0, 1\) again"):
            LabelledGraph("ab", [(0, 1), (1, 0)])
        with pytest.raises(ValueError, match=r"pairs of nodes, shape \(n_edges, 2\)"):
            LabelledGraph("ab", [0, 1])
        with pytest.raises(ValueError, match="as many edge_labels as edges: expected 1, got 2"):
            LabelledGraph("ab", [(0, 1)], edge_labels=[1, 2])

    def test_order_of_edges_and_of_their_ends_does_not_matter(self):
        a = LabelledGraph("abc", [(0, 1), (2, 1)], edge_labels=[1, 2])
        b = LabelledGraph("abc", [(1, 2), (1, 0)], edge_labels=[2, 1])
        assert a == b
        assert hash(a) == hash(b)
        assert a != LabelledGraph("abc", [(0, 1), (2, 1)], edge_labels=[2, 1])

    def test_it_cannot_be_changed(self):
        graph = path("ab")
        with pytest.raises(ValueError, match="read-only"):
            graph.edges[0, 0] = 1
        with pytest.raises(AttributeError):
            graph.labels = "xy"

    def test_pieces_and_loops(self):
        assert not LabelledGraph("ab").is_connected
        assert path("ab").is_connected
        loop = LabelledGraph("a", [(0, 0)])
        assert loop.degrees.tolist() == [1]
        assert_allclose(MarginalizedGraph(0.3)([loop]), by_product_graph(loop, loop, 0.3))


@pytest.mark.parametrize(
    ("kernel", "objects"),
    [
        (MarginalizedSequence(0.3), WORDS),
        (MarginalizedGraph(0.3), [path(word) for word in WORDS]),
        (Normalized(MarginalizedSequence(0.1)), WORDS),
        (Normalized(MarginalizedGraph(0.1)), [path(word) for word in WORDS]),
        (MarginalizedSequence(0.3) * 2.0 + 1.0, WORDS),
    ],
    ids=repr,
)
class TestAsEveryKernel:
    def test_gram_diagonal_blocks_copies(self, kernel, objects):
        K = kernel(objects)
        assert_allclose(K, K.T)
        assert_allclose(kernel(objects, list(objects)), K, rtol=1e-8)
        assert_allclose(kernel.diag(objects), np.diag(K), rtol=1e-8)
        blocks = [block for _, block in kernel.blocks(objects, block_size=3)]
        assert_allclose(np.vstack(blocks), K, rtol=1e-8)
        for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
            assert repr(copy) == repr(kernel)
            assert_allclose(copy(objects), K)

    def test_scikit_learn_takes_its_matrix(self, kernel, objects):
        y = [len(word) > 5 for word in WORDS]
        assert (
            SVC(kernel="precomputed", C=1e6).fit(kernel(objects), y).score(kernel(objects), y) == 1
        )


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_rows_are_dealt_from_both_ends(n):
    rows = balanced_rows(n)
    assert sorted(rows) == list(range(n))
    assert rows[:2].tolist() == [0, n - 1][:n]
