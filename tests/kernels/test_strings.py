"""Kernels of sequences, of models of them, and of objects with parts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.kernels import (
    Convolution,
    Delta,
    DirectSum,
    FisherKernel,
    Gaussian,
    Linear,
    Normalized,
    Spectrum,
    Subsequence,
    Tensor,
)
from isthmus.series import HiddenMarkovModel

WORDS = st.lists(st.text("abc", min_size=1, max_size=9), min_size=2, max_size=5)


def subsequence_features(word, length, decay):
    found = {}
    for places in combinations(range(len(word)), length):
        u = tuple(word[i] for i in places)
        found[u] = found.get(u, 0.0) + decay ** (places[-1] - places[0] + 1)
    return found


def inner(a, b):
    return sum(value * b.get(u, 0.0) for u, value in a.items())


@given(words=WORDS, length=st.integers(1, 4), decay=st.sampled_from([0.3, 0.5, 1.0]))
@settings(max_examples=40, deadline=None)
def test_subsequences_are_enumerated(words, length, decay):
    features = [subsequence_features(w, length, decay) for w in words]
    expected = [[inner(a, b) for b in features] for a in features]
    assert_allclose(Subsequence(length, decay=decay)(words), expected, atol=1e-12)


@given(words=WORDS, length=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_spectra_count_equal_pieces(words, length):
    def common(s, t):
        pieces = [[w[i : i + length] for i in range(len(w) - length + 1)] for w in (s, t)]
        return sum(a == b for a in pieces[0] for b in pieces[1])

    expected = [[common(s, t) for t in words] for s in words]
    assert_array_equal(Spectrum(length)(words), expected)
    assert_array_equal(Spectrum(length)(words[:1], words[1:]), np.array(expected)[:1, 1:])
    assert_array_equal(Spectrum(length).diag(words), np.diag(expected))


@pytest.mark.parametrize("decay", [0.2, 0.5, 0.9])
def test_published_values_of_car_and_cat(decay):
    k = Subsequence(2, decay=decay)
    assert k(["car"], ["cat"])[0, 0] == pytest.approx(decay**4)
    assert k(["car"])[0, 0] == pytest.approx(2 * decay**4 + decay**6)
    assert Normalized(k)(["car"], ["cat"])[0, 0] == pytest.approx(1 / (2 + decay**2))


def test_without_gaps_to_pay_for_subsequences_are_counted():
    assert Subsequence(2, decay=1.0)(["aaaa"])[0, 0] == 36  # (4 choose 2)²


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2)], ids=repr)
def test_kinds_of_sequences_are_equivalent(kernel):
    expected = kernel(["abcab", "bca"])
    assert_array_equal(kernel([list("abcab"), list("bca")]), expected)
    assert_array_equal(kernel([np.array([0, 1, 2, 0, 1]), np.array([1, 2, 0])]), expected)


def test_threads_change_nothing(rng):
    words = ["".join(rng.choice(list("abcd"), size=n)) for n in rng.integers(2, 20, 70)]
    assert_array_equal(Subsequence(3, n_jobs=1)(words), Subsequence(3, n_jobs=2)(words))


def test_words_shorter_than_the_length_are_like_nothing():
    assert_array_equal(Normalized(Spectrum(4))(["ab", "abcd"]), [[0, 0], [0, 1]])
    assert_array_equal(Subsequence(4)(["ab", "abcd"], ["ab"]), 0)


@pytest.mark.parametrize("kernel", [Spectrum(2, alphabet="ab"), Subsequence(2, alphabet="ab")])
def test_unknown_symbols_at_predict_time_are_named(kernel):
    from isthmus.regression import KernelRidgeCV

    model = KernelRidgeCV(kernel).fit(["ab", "ba", "aab", "bba"], [0.0, 1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match=r"\('a', 'b'\) in sequence 1 of X. Got 'c' at position 2"):
        model.predict(["ab", "abc"])


def test_unknown_symbols_without_an_alphabet_are_like_nothing():
    assert_array_equal(Spectrum(1)(["xyz"], ["abc"]), 0)


@pytest.mark.parametrize("information", ["empirical", "identity"])
def test_the_fisher_kernel_is_positive_and_fits_its_model(information, rng):
    X = [rng.normal(size=n) for n in rng.integers(5, 9, 12)]
    kernel = FisherKernel(HiddenMarkovModel(2, max_iter=5), information=information).resolve(X)
    K = kernel(X)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * np.linalg.eigvalsh(K).max()
    assert_allclose(kernel(X[:3], X), K[:3])
    assert_allclose(kernel.diag(X), np.diag(K))


def test_a_fitted_model_is_taken_as_it_is(rng):
    model = HiddenMarkovModel(1, alphabet="ab").fit(["aab", "ab"])
    U = model.scores(["b", "abb"]) / np.array([[1], [3]])
    K = FisherKernel(model, information="identity")(["b", "abb"])
    assert_allclose(K, U @ U.T)


def test_tensor_and_sum_of_parts(rng):
    X = [(rng.normal(size=2), label) for label in "aabbc"]
    A = Gaussian(0.5)(np.array([x[0] for x in X]))
    B = Delta()([x[1] for x in X])
    assert_allclose(Tensor((Gaussian(0.5), Delta()))(X), A * B)
    assert_allclose(DirectSum((Gaussian(0.5), Delta()))(X), A + B)
    assert_allclose(Tensor((Gaussian(), Delta()))(X[:2], X), Tensor((Gaussian(), Delta()))(X)[:2])
    assert_allclose(Tensor((Gaussian(0.5), Delta())).diag(X), 1)
    assert_allclose(DirectSum((Gaussian(0.5), Delta())).diag(X), 2)


def test_a_spectrum_is_a_convolution(rng):
    words = ["banana", "ananas", "x"]
    kernel = Convolution(Delta(), decompose=lambda w: [w[i : i + 2] for i in range(len(w) - 1)])
    assert_array_equal(kernel(words), Spectrum(2)(words))
    assert_array_equal(kernel(words[:1], words[1:]), Spectrum(2)(words)[:1, 1:])
    assert_array_equal(kernel.diag(words), Spectrum(2).diag(words))


def test_a_convolution_of_vectors_is_positive(rng):
    bags = [rng.normal(size=(n, 2)) for n in (3, 5, 1, 4)]
    K = Convolution(Gaussian(), decompose=list)(bags)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    assert_allclose(
        Convolution(Linear(), decompose=list)(bags)[0, 1], bags[0].sum(0) @ bags[1].sum(0)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Spectrum(0)(["a"]), "'length' parameter of Spectrum"),
        (lambda: Subsequence(2, decay=1.5)(["a"]), "'decay' parameter of Subsequence"),
        (lambda: Subsequence(2)(["a", ""]), "sequence 1 of X. Got an empty sequence"),
        (lambda: Tensor((Delta(), Delta()))([("a",)]), "objects of 2 parts, one per kernel"),
        (
            lambda: FisherKernel(HiddenMarkovModel(1), information="none")([[1.0]]),
            "'information' parameter of FisherKernel",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
