"""Alignments with gaps: metrics, and scores of pieces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from isthmus.series import (
    Itakura,
    SakoeChiba,
    alignment_matrix,
    edit_matrix,
    local_alignment_matrix,
)

WORDS = st.lists(st.text("abc", min_size=1, max_size=7), min_size=3, max_size=3)


def edits(s, t):
    """Edit distance by its definition."""
    if not s or not t:
        return len(s) + len(t)
    return min(edits(s[:-1], t[:-1]) + (s[-1] != t[-1]), edits(s[:-1], t) + 1, edits(s, t[:-1]) + 1)


@given(words=WORDS)
@settings(max_examples=30, deadline=None)
def test_edit_distance_is_its_definition_and_a_metric(words):
    D = edit_matrix(words)
    assert D[0, 1] == edits(words[0][:5], words[1][:5]) or len(max(words, key=len)) > 5
    assert_array_equal(D, D.T)
    assert D[0, 2] <= D[0, 1] + D[1, 2]
    assert (D[0, 1] == 0) == (words[0] == words[1])


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_alignment_of_series_is_a_metric(seed):
    rng = np.random.default_rng(seed)
    D = alignment_matrix([rng.normal(size=(n, 2)) for n in rng.integers(1, 7, 3)])
    assert D[0, 2] <= D[0, 1] + D[1, 2] + 1e-12
    assert_array_equal(np.diag(D), 0)


def test_a_gap_costs_the_distance_from_its_value():
    assert alignment_matrix([[1.0, 5.0, 2.0]], [[1.0, 2.0]], gap=4.0)[0, 0] == 1.0
    assert alignment_matrix([[[1.0, 0.0]]], [[[1.0, 0.0], [3.0, 4.0]]])[0, 0] == 5.0


def test_edit_weights():
    assert edit_matrix(["ab"], ["ac"], mismatch=3.0, gap=1.0)[0, 0] == 2.0
    assert edit_matrix(["ab"], ["ac"], mismatch=1.5, gap=1.0)[0, 0] == 1.5


def test_kinds_of_sequences_are_equivalent():
    expected = edit_matrix(["abca", "bb"])
    assert_array_equal(edit_matrix([list("abca"), list("bb")]), expected)
    assert_array_equal(edit_matrix([np.array([0, 1, 2, 0]), np.array([1, 1])]), expected)


def test_local_scores_see_the_common_piece():
    S = local_alignment_matrix(["xxabcxx", "yyabcyy", "zz"])
    assert S[0, 1] == 6
    assert S[0, 2] == 0
    assert S[0, 0] == 14


def test_threads_change_nothing(rng):
    words = ["".join(rng.choice(list("abcd"), size=n)) for n in rng.integers(2, 20, 70)]
    assert_array_equal(edit_matrix(words, n_jobs=1), edit_matrix(words, n_jobs=2))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: edit_matrix(["a", ""]), ValueError, "sequence 1 of X. Got an empty sequence"),
        (lambda: edit_matrix("word"), TypeError, "collection of sequences"),
        (lambda: edit_matrix([]), ValueError, "at least one sequence in X"),
        (lambda: edit_matrix([1.5]), TypeError, "sequence 0 of X to be a string"),
        (lambda: edit_matrix([np.zeros(3)]), TypeError, "integers of shape"),
        (lambda: edit_matrix(["a"], gap=0.0), ValueError, "'gap' parameter of edit_matrix"),
        (
            lambda: edit_matrix(["ab"], ["abd"], alphabet="abc"),
            ValueError,
            "sequence 0 of Z. Got 'd' at position 2",
        ),
        (lambda: alignment_matrix([[1.0]], gap=np.nan), ValueError, "'gap' parameter of alignment"),
        (lambda: local_alignment_matrix(["a"], match=-1.0), ValueError, "'match' parameter"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def gapped(x, y, allowed):
    """Edit distance with real penalty by its definition, on the cells of a window."""
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(n + 1):
        for j in range(m + 1):
            if (i or j) and allowed(max(i - 1, 0), max(j - 1, 0)):
                steps = [D[i - 1, j - 1] + abs(x[i - 1] - y[j - 1])] if i and j else []
                steps += [D[i - 1, j] + abs(x[i - 1])] if i else []
                steps += [D[i, j - 1] + abs(y[j - 1])] if j else []
                D[i, j] = min(steps)
    return D[n, m]


@pytest.mark.parametrize("n", [1, 5, 8])
@pytest.mark.parametrize("radius", [0, 1, 3])
def test_a_window_leaves_out_cells(n, radius, rng):
    x, y = rng.normal(size=n), rng.normal(size=6)
    low, high = -radius - max(0, n - 6), radius + max(0, 6 - n)
    expected = gapped(x, y, lambda i, j: low <= j - i <= high)
    found = alignment_matrix([x], [y], window=radius)[0, 0]
    np.testing.assert_allclose(found, expected)
    assert found >= alignment_matrix([x], [y])[0, 0]


def test_a_wide_window_is_none_and_a_strict_one_may_be_refused(rng):
    X = [rng.normal(size=k) for k in (4, 7, 9)]
    np.testing.assert_allclose(alignment_matrix(X, window=9), alignment_matrix(X))
    with pytest.raises(ValueError, match="leaves no path"):
        alignment_matrix(X, window=SakoeChiba(1, strict=True))
    assert np.isfinite(alignment_matrix(X, window=Itakura(4.0))).all()
