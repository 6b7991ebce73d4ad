"""Hidden Markov models: likelihood, scores and fit."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.series import HiddenMarkovModel

WORDS = ["aabba", "abbb", "bab", "aaab"]


def brute_likelihood(model, word):
    total = 0.0
    for states in product(range(model.n_states), repeat=len(word)):
        p = model.start_[states[0]]
        for a, b in pairwise(states):
            p *= model.transition_[a, b]
        for state, symbol in zip(states, word, strict=True):
            p *= model.emission_[state, "ab".index(symbol)]
        total += p
    return total


def softmax_shift(P, index, t):
    logits = np.log(P)
    logits[index] += t
    E = np.exp(logits)
    return E / E.sum(axis=-1, keepdims=True)


def parameters(model):
    """Name, index and how to move one parameter, in the order of the scores."""
    for i in range(model.n_states):
        yield "start_", i, softmax_shift
    for index in np.ndindex(*model.transition_.shape):
        yield "transition_", index, softmax_shift
    if model.alphabet is not None:
        for index in np.ndindex(*model.emission_.shape):
            yield "emission_", index, softmax_shift
        return
    for index in np.ndindex(*model.means_.shape):
        yield "means_", index, lambda A, i, t: A + t * unit(A, i)
    for index in np.ndindex(*model.scales_.shape):
        yield "scales_", index, lambda A, i, t: A * np.exp(t * unit(A, i))


def unit(A, index):
    E = np.zeros_like(A)
    E[index] = 1.0
    return E


def numeric_scores(model, x, h=1e-5):
    found = []
    for name, index, move in parameters(model):
        kept = getattr(model, name)
        values = []
        for t in (h, -h):
            setattr(model, name, move(kept.copy(), index, t))
            values.append(model.log_likelihood([x])[0])
        setattr(model, name, kept)
        found.append((values[0] - values[1]) / (2 * h))
    return np.array(found)


def test_likelihood_is_the_sum_over_all_chains():
    model = HiddenMarkovModel(3, alphabet="ab", max_iter=3).fit(WORDS)
    expected = [np.log(brute_likelihood(model, w)) for w in WORDS]
    assert_allclose(model.log_likelihood(WORDS), expected)


def test_scores_are_gradients_for_symbols():
    model = HiddenMarkovModel(2, alphabet="ab", max_iter=2).fit(WORDS)
    assert_allclose(model.scores(["abba"])[0], numeric_scores(model, "abba"), atol=1e-8)


def test_scores_are_gradients_for_series(rng):
    X = [rng.normal(size=(n, 2)).cumsum(axis=0) for n in (6, 8, 5)]
    model = HiddenMarkovModel(2, max_iter=2).fit(X)
    assert_allclose(model.scores(X[:1])[0], numeric_scores(model, X[0]), atol=1e-7)


def test_one_state_has_the_scores_of_a_normal_distribution(rng):
    x = rng.normal(size=20)
    model = HiddenMarkovModel(1).fit([rng.normal(size=50)])
    z = (x - model.means_[0, 0]) / model.scales_[0, 0]
    expected = [0, 0, (z / model.scales_[0, 0]).sum(), (z**2 - 1).sum()]
    assert_allclose(model.scores([x])[0], expected, atol=1e-10)


def test_fitting_never_lowers_the_likelihood(rng):
    # The floor of probabilities may cost a rounding's worth.
    X = [np.r_[rng.normal(size=9), rng.normal(5, 1, size=12)] for _ in range(5)]
    model = HiddenMarkovModel(2, max_iter=15).fit(X)
    assert (np.diff(model.log_likelihoods_) > -1e-3).all()
    assert_allclose(np.sort(model.means_[:, 0]), [0, 5], atol=0.8)


def test_long_sequences_do_not_underflow(rng):
    word = "".join(rng.choice(list("ab"), size=5000))
    model = HiddenMarkovModel(2, alphabet="ab", max_iter=1).fit([word])
    assert np.isfinite(model.log_likelihood([word])).all()
    assert np.isfinite(model.scores([word])).all()


def test_unknown_symbols_are_named():
    model = HiddenMarkovModel(2, alphabet="ab").fit(WORDS)
    with pytest.raises(ValueError, match=r"sequence 1 of X\. Got 'c' at position 2"):
        model.scores(["ab", "abc"])
    with pytest.raises(ValueError, match="'n_states' parameter of HiddenMarkovModel"):
        HiddenMarkovModel(0).fit([[1.0]])


def switching_series(seed, n=600, means=(0.0, 3.0, 6.0)):
    """A chain that changes its state often, so that all parts of the series look alike."""
    rng = np.random.default_rng(seed)
    move = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    states = [0]
    for _ in range(n - 1):
        states.append(int(rng.choice(3, p=move[states[-1]])))
    return np.array(means)[states] + 0.5 * rng.normal(size=n), np.array(states)


@pytest.mark.parametrize("seed", range(4))
def test_a_bad_first_guess_is_made_good_by_others(seed):
    x, states = switching_series(seed)
    truth = HiddenMarkovModel(3, max_iter=0).fit([x])
    truth.means_, truth.scales_ = np.array([[0.0], [3.0], [6.0]]), np.full((3, 1), 0.5)
    truth.start_ = np.array([0.98, 0.01, 0.01])
    truth.transition_ = 0.1 + 0.7 * np.eye(3)
    model = HiddenMarkovModel(3).fit([x])
    assert model.log_likelihood([x])[0] > truth.log_likelihood([x])[0]
    # States have no order of their own; their means have.
    found = np.argsort(np.argsort(model.means_[:, 0]))[model.decode([x])[0]]
    assert np.mean(found == states) > 0.98


def test_scales_are_bounded_in_the_units_of_the_data():
    x, _ = switching_series(0, n=150)
    plain = HiddenMarkovModel(3).fit([x])
    small = HiddenMarkovModel(3).fit([1e-8 * x])
    assert_allclose(1e8 * small.means_, plain.means_, rtol=1e-4)
    assert_allclose(1e8 * small.scales_, plain.scales_, rtol=1e-3)


def test_decoded_states_are_the_most_probable_ones():
    model = HiddenMarkovModel(3, alphabet="ab", max_iter=5).fit(WORDS)
    for word, found in zip(WORDS, model.decode(WORDS), strict=True):
        codes = ["ab".index(symbol) for symbol in word]

        def probability(states, codes=codes):
            p = model.start_[states[0]] * model.emission_[states[0], codes[0]]
            for t in range(1, len(codes)):
                p *= model.transition_[states[t - 1], states[t]]
                p *= model.emission_[states[t], codes[t]]
            return p

        best = max(product(range(3), repeat=len(word)), key=probability)
        assert_allclose(probability(tuple(found)), probability(best))


def test_samples_follow_the_model():
    x, _ = switching_series(0)
    model = HiddenMarkovModel(3).fit([x])
    (drawn,) = model.sample(1, 4000, random_state=0)
    assert drawn.shape == (4000, 1)
    assert_allclose(drawn.mean(), x.mean(), atol=0.5)
    assert_allclose(drawn.std(), x.std(), rtol=0.1)
    words = HiddenMarkovModel(2, alphabet="ab").fit(WORDS).sample(3, 7, random_state=0)
    assert [len(word) for word in words] == [7, 7, 7]
    assert set("".join(words)) <= {"a", "b"}
    pairs = HiddenMarkovModel(2, alphabet=[0, 1]).fit([[0, 1, 1], [1, 0]]).sample(1, 5)
    assert isinstance(pairs[0], tuple)
