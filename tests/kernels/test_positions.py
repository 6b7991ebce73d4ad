"""Kernels of sequences that know where a piece stands, against their formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from isthmus.kernels import (
    LabelledGraph,
    MarginalizedGraph,
    MarginalizedSequence,
    NGrams,
    Spectrum,
    Subsequence,
    WeightedDegree,
)

WORDS = st.lists(st.text("abc", min_size=1, max_size=8), min_size=2, max_size=5)


def pieces(word, length):
    return [word[p : p + length] for p in range(len(word) - length + 1)]


def plain_ngrams(s, t, length, position, growth, ends):
    if ends:
        s, t = f"^{s}$", f"^{t}$"
    total = 0.0
    for d in range(1, length + 1):
        a, b = pieces(s, d), pieces(t, d)
        anywhere = sum(u == v for u in a for v in b)
        start = sum(u == v for u, v in zip(a, b, strict=False))
        end = sum(u == v for u, v in zip(a[::-1], b[::-1], strict=False))
        total += (1 + growth * d) ** 2 * (anywhere + position**2 * (start + end))
    return total


def plain_weighted_degree(s, t, length, shift):
    total = 0.0
    for d in range(1, length + 1):
        beta = 2 * (length - d + 1) / (length * (length + 1))
        for p, u in enumerate(pieces(s, d)):
            for q, v in enumerate(pieces(t, d)):
                if u == v and abs(p - q) <= shift:
                    total += beta * (1.0 if p == q else 0.5 / (abs(p - q) + 1))
    return total


def plain_subsequences(s, t, length, decay, position_decay):
    from itertools import combinations

    total = 0.0
    for i in combinations(range(len(s)), length):
        for j in combinations(range(len(t)), length):
            if all(s[a] == t[b] for a, b in zip(i, j, strict=True)):
                apart = sum(abs(a - b) for a, b in zip(i, j, strict=True))
                total += decay ** (i[-1] - i[0] + j[-1] - j[0] + 2) * position_decay**apart
    return total


def plain_walks(s, t, stop, position_decay):
    total = 0.0
    for i in range(len(s)):
        for j in range(len(t)):
            weight = position_decay ** abs(i - j)
            for k in range(min(len(s) - i, len(t) - j)):
                if s[i + k] != t[j + k]:
                    break
                total += weight * stop**2 * (1 - stop) ** (2 * k)
    return total / (len(s) * len(t))


def assert_kernel(kernel, words, plain):
    expected = np.array([[plain(s, t) for t in words] for s in words])
    assert_allclose(kernel(words), expected, atol=1e-12)
    assert_allclose(kernel(words[:1], words[1:]), expected[:1, 1:], atol=1e-12)
    assert_allclose(kernel.diag(words), np.diag(expected), atol=1e-12)


@given(
    words=WORDS, length=st.integers(1, 4), position=st.sampled_from([0.0, 0.7]), ends=st.booleans()
)
@settings(max_examples=30, deadline=None)
def test_ngrams_are_counted_anywhere_and_from_both_ends(words, length, position, ends):
    kernel = NGrams(length, position=position, growth=0.3, ends=ends)
    assert_kernel(kernel, words, lambda s, t: plain_ngrams(s, t, length, position, 0.3, ends))


@given(words=WORDS, length=st.integers(1, 3), shift=st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_weighted_degree_is_its_double_sum(words, length, shift):
    kernel = WeightedDegree(length, shift=shift)
    assert_kernel(kernel, words, lambda s, t: plain_weighted_degree(s, t, length, shift))


@given(words=WORDS, length=st.integers(1, 3), decay=st.sampled_from([0.4, 1.0]))
@settings(max_examples=30, deadline=None)
def test_subsequences_are_aligned(words, length, decay):
    kernel = Subsequence(length, decay=decay, position_decay=0.6)
    assert_kernel(kernel, words, lambda s, t: plain_subsequences(s, t, length, decay, 0.6))


@given(words=WORDS)
@settings(max_examples=30, deadline=None)
def test_walks_count_less_where_they_start_apart(words):
    kernel = MarginalizedSequence(0.3, position_decay=0.5)
    assert_kernel(kernel, words, lambda s, t: plain_walks(s, t, 0.3, 0.5))


@pytest.mark.parametrize(
    "kernel",
    [NGrams(3), WeightedDegree(3, shift=9), Subsequence(2, position_decay=0.3)],
    ids=lambda k: type(k).__name__,
)
def test_kernels_with_positions_are_positive(kernel):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ab"), size=n)) for n in rng.integers(1, 12, size=60)]
    values = np.linalg.eigvalsh(kernel(words))
    assert values[0] > -1e-10 * values[-1]


def test_without_positions_and_ends_only_spectra_are_left():
    words = ["banana", "ananas", "x"]
    expected = 1.3**2 * Spectrum(1)(words) + 1.6**2 * Spectrum(2)(words)
    assert_allclose(NGrams(2, position=0.0, growth=0.3, ends=False)(words), expected)


def test_lists_of_symbols_and_unknown_symbols():
    assert NGrams(2)([["AH", "N"]], [["AH", "N"], ["T"]]).shape == (1, 2)
    with pytest.raises(ValueError, match="Got 'z' at position 1"):
        NGrams(2, alphabet="ab")(["az"])


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (NGrams(0), "length"),
        (NGrams(2, position=-1.0), "position"),
        (NGrams(2, growth=float("nan")), "growth"),
        (NGrams(2, ends="no"), "ends"),
        (NGrams(2, alphabet=3), "alphabet"),
        (WeightedDegree(2, shift=-1), "shift"),
        (Subsequence(2, position_decay=0.0), "position_decay"),
        (MarginalizedSequence(0.3, position_decay=2.0), "position_decay"),
        (MarginalizedSequence(0.3, alphabet=[[1]]), "alphabet"),
        (Spectrum(True), "length"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(kernel, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {type(kernel).__name__}"):
        kernel(["ab", "b"])


def test_a_long_gram_matrix_returns_to_python_now_and_then(monkeypatch):
    # Between two calls of compiled code an interrupt is answered.
    from isthmus.kernels import walk_loops

    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), size=900)) for _ in range(40)]
    calls = []
    compiled = walk_loops.sequence_gram

    def counted(*arguments):
        calls.append(len(arguments[-3]))
        compiled(*arguments)

    whole = MarginalizedSequence(0.2)(words)
    monkeypatch.setattr("isthmus.kernels.sequences.marginalized.OPERATIONS_PER_CALL", 1e8)
    monkeypatch.setattr(walk_loops, "sequence_gram", counted)
    assert_allclose(MarginalizedSequence(0.2)(words), whole)
    assert len(calls) > 5
    assert sum(calls) == 40


def test_long_subsequences_are_compared_in_parts(monkeypatch):
    words = ["banana", "ananas", "bandana", "cabana"]
    whole = Subsequence(3)(words)
    monkeypatch.setattr("isthmus.kernels.sequences.strings.OPERATIONS_PER_CALL", 1.0)
    assert_allclose(Subsequence(3)(words), whole)


class TestLabelledGraph:
    @pytest.mark.parametrize(
        "edges", [[(0.5, 1)], [("0", "1")], [(True, False)], [(0, float("nan"))], [(0, 1e300)]]
    )
    def test_edges_join_whole_numbers(self, edges):
        with pytest.raises((TypeError, ValueError), match="edges of a LabelledGraph"):
            LabelledGraph("ab", edges)

    def test_whole_floats_are_numbers_of_nodes(self):
        assert LabelledGraph("ab", np.array([[0.0, 1.0]])) == LabelledGraph("ab", [(0, 1)])

    def test_labels_must_be_hashable(self):
        with pytest.raises(TypeError, match=r"labels .* must be hashable. Got \[1\] .* position 1"):
            LabelledGraph(["a", [1]])
        with pytest.raises(TypeError, match=r"edge_labels .* must be hashable. Got \{\}"):
            LabelledGraph("ab", [(0, 1)], edge_labels=[{}])
        with pytest.raises(TypeError, match=r"must be a sequence\. Got 3"):
            LabelledGraph(3)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=2),
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SCALARS, inner, max_size=2)
)


def answer(function, *arguments, **options):
    """What it returns, or None and its refusal; any other error fails the test."""
    try:
        return function(*arguments, **options), ""
    except (TypeError, ValueError) as error:
        return None, str(error)


@given(labels=ANYTHING, edges=ANYTHING, names=ANYTHING)
@settings(max_examples=150, deadline=None)
def test_any_graph_is_made_or_refused_plainly(labels, edges, names):
    graph, refusal = answer(LabelledGraph, labels, edges, edge_labels=names)
    if graph is None:
        assert "LabelledGraph" in refusal
        return
    assert hash(graph) == hash(
        LabelledGraph(graph.labels, graph.edges, edge_labels=graph.edge_labels)
    )
    if graph.n_nodes:
        assert np.isfinite(MarginalizedGraph(0.3)([graph])).all()


@given(items=st.lists(ANYTHING, max_size=4))
@settings(max_examples=100, deadline=None)
@pytest.mark.parametrize(
    "kernel",
    [NGrams(2), WeightedDegree(2), Subsequence(2), Spectrum(2), MarginalizedSequence(0.3)],
    ids=lambda k: type(k).__name__,
)
def test_any_collection_is_compared_or_refused_plainly(kernel, items):
    K, refusal = answer(kernel, items)
    if K is None:
        assert type(kernel).__name__ in refusal or "hashable" in refusal
        return
    assert K.shape == (len(items), len(items))
    assert np.isfinite(K).all()
