"""The edit distance as a loss: costs, moves and medians against plain references."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from isthmus.losses import EditDistance, as_task_loss
from isthmus.losses.edits.loops import score_moves, surprise
from isthmus.losses.edits.prior import triple_log_probabilities
from isthmus.losses.edits.symbols import Alphabet

WORDS = st.lists(st.text("abc", max_size=6), min_size=2, max_size=6, unique=True)
LOSSES = [
    EditDistance(),
    EditDistance(0.6, substitution=0.9),
    EditDistance(substitution={("a", "b"): 0.3, ("b", "a"): 0.7}),
]


def plain_distance(loss, s, t):
    def swap(a, b):
        if a == b:
            return 0.0
        costs = loss.substitution
        return costs.get((a, b), 1.0) if isinstance(costs, dict) else costs

    @cache
    def d(i, j):
        if i == 0 or j == 0:
            return loss.gap * (i + j)
        return min(
            d(i - 1, j - 1) + swap(s[i - 1], t[j - 1]),
            d(i - 1, j) + loss.gap,
            d(i, j - 1) + loss.gap,
        )

    return d(len(s), len(t))


def neighbours(word, letters):
    for a in range(len(word) + 1):
        for c in letters:
            yield "insert", a, c, word[:a] + c + word[a:]
            if a < len(word):
                yield "substitute", a, c, word[:a] + c + word[a + 1 :]
        if a < len(word):
            yield "delete", a, None, word[:a] + word[a + 1 :]


@pytest.mark.parametrize("loss", LOSSES, ids=range(3))
@given(words=WORDS)
@settings(max_examples=25, deadline=None)
def test_costs_are_those_of_the_recursion(loss, words):
    expected = [[plain_distance(loss, s, t) for t in words] for s in words]
    assert_allclose(loss.cost(words, words), expected, atol=1e-12)
    assert_allclose(loss.paired(words, words[::-1]), np.array(expected)[:, ::-1].diagonal())


@pytest.mark.parametrize("loss", LOSSES, ids=range(3))
@given(words=WORDS, seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_every_move_is_scored_as_if_it_had_been_made(loss, words, seed):
    w = np.random.default_rng(seed).normal(size=len(words))
    alphabet = Alphabet("test")
    flat, starts = alphabet.encode([*words, "abc"])
    letters = list(alphabet.numbers)
    y = flat[: starts[1]]
    S, A, L = loss._costs(alphabet), len(alphabet), len(y)
    F, B = np.empty((L + 3, 9)), np.empty((L + 3, 9))
    delete, best = np.empty(L + 1), np.empty(A)
    substitute, insert = np.empty((L + 1, A + 1)), np.empty((L + 1, A + 1))
    ids = np.arange(len(words))
    unit = loss._is_unit
    score_moves(y, flat, starts, ids, w, S, loss.gap, unit, F, B, best, delete, substitute, insert)
    found = {"insert": insert, "substitute": substitute}
    for kind, place, letter, moved in neighbours(words[0], letters):
        risk = sum(u * plain_distance(loss, moved, t) for u, t in zip(w, words, strict=True))
        value = delete[place] if letter is None else found[kind][place, alphabet.numbers[letter]]
        assert_allclose(value, risk, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=range(3))
@given(words=WORDS, seed=st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_no_single_edit_and_no_candidate_is_better(loss, words, seed):
    w = np.random.default_rng(seed).normal(size=len(words)) + 0.4
    w = w if w.sum() > 0 else np.abs(w)
    decoded = loss.decode(w[None], loss.prepare(words))
    (answer,) = decoded.outputs
    letters = sorted({c for word in words for c in word})
    others = [moved for *_, moved in neighbours(answer, letters)]
    others += [word for word, weight in zip(words, w, strict=True) if weight > 0]
    assert_allclose(decoded.risk, loss.cost([answer], words) @ w, atol=1e-9)
    assert decoded.risk[0] <= (loss.cost(others, words) @ w).min() + 1e-8


def test_the_median_need_not_be_a_candidate():
    loss = EditDistance()
    prepared = loss.prepare([list("abcx"), list("abyd"), list("zbcd")])
    assert loss.decode(np.full((1, 3), 1 / 3), prepared).outputs[0] == list("abcd")
    only = EditDistance(search=False)
    assert only.decode(np.full((1, 3), 1 / 3), prepared).outputs[0] == list("abcx")


@given(words=WORDS)
@settings(max_examples=20, deadline=None)
def test_a_proved_answer_is_the_best_of_all_short_strings(words):
    w = np.full(len(words), -0.1)
    w[0] = 0.1 * len(words)
    loss = EditDistance()
    decoded = loss.decode(w[None], loss.prepare(words))
    assert decoded.exact[0]
    every = [""]
    for _ in range(4):
        every += [word + c for word in every if len(word) == len(every[-1]) for c in "abc"]
    assert decoded.risk[0] <= (loss.cost(every, words) @ w).min() + 1e-9


def test_weights_that_sum_to_nothing_answer_with_a_candidate():
    loss, words = EditDistance(), ["ab", "abab", "bb"]
    for w in ([-1.0, -1.0, -1.0], [0.5, -1.0, 0.2], [0.0, 0.0, 0.0]):
        assert loss.decode(np.array([w]), loss.prepare(words)).outputs[0] in words


@pytest.mark.parametrize(
    "example",
    ["ab", b"ab", ["a", "b"], ("a", "b"), np.array([1, 2])],
    ids=lambda e: type(e).__name__,
)
def test_answers_have_the_type_of_the_outputs(example):
    loss = EditDistance()
    (found,) = loss.decode(np.ones((1, 2)), loss.prepare([example, example[:1]])).outputs
    assert type(found) is type(example)


def test_sparse_weights_are_the_same():
    loss, words = EditDistance(), ["abc", "abd", "xbc", "q"]
    W = np.array([[0.4, 0.3, 0.3, 0.0], [0.0, 0.0, 0.2, 0.8]])
    dense, thin = (loss.decode(w, loss.prepare(words)) for w in (W, sparse.csr_array(W)))
    assert_array_equal(dense.outputs, thin.outputs)
    assert_array_equal(dense.exact, [False, True])


def test_the_prior_prefers_what_is_usual():
    words = ["abab"] * 20 + ["abax", "abay"]
    w = np.zeros(22)
    w[-2:] = 0.5
    flat, starts = Alphabet("test").encode(words)
    table = triple_log_probabilities(flat, starts, 4)
    assert_allclose(np.exp(table).sum(axis=-1), 1.0)
    likely, rare = (surprise(np.array(y), 4, table) for y in ([0, 1, 0, 1], [0, 1, 0, 2]))
    assert likely < rare
    loss = EditDistance(prior=0.3)
    assert loss.decode(w[None], loss.prepare(words)).outputs[0] == "abab"


def test_it_is_found_by_name_and_cloned():
    assert as_task_loss("edit") == EditDistance()
    assert clone(EditDistance(0.5, prior=0.1)) == EditDistance(0.5, prior=0.1)


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (EditDistance(0.0), "gap"),
        (EditDistance(substitution={("a", "b"): -1.0}), "substitution"),
        (EditDistance(substitution={"ab": 1.0}), "substitution"),
        (EditDistance(prior=-1.0), "prior"),
        (EditDistance(n_init=0), "n_init"),
        (EditDistance(max_outputs=2.5), "max_outputs"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_bad_parameters_are_named(loss, name):
    with pytest.raises(ValueError, match=f"'{name}' parameter of EditDistance"):
        loss.cost(["a"], ["b"])


def test_what_is_no_sequence_is_named():
    with pytest.raises(TypeError, match=r"Got 3 of type int at position 1"):
        EditDistance().cost(["a"], ["b", 3])
    with pytest.raises(TypeError, match="hashable symbols"):
        EditDistance().check([[["a"]]])
    with pytest.raises(TypeError, match="collections of sequences"):
        EditDistance().check("abc")


def test_long_tables_are_filled_in_parts(monkeypatch):
    words = ["".join(word) for word in np.random.default_rng(0).choice(list("abc"), size=(30, 8))]
    whole = EditDistance().cost(words, words)
    monkeypatch.setattr("isthmus.losses.edits.symbols.CELLS_PER_CALL", 5000)
    assert_array_equal(EditDistance().cost(words, words), whole)
