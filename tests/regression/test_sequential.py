"""Regression of limited rank on streams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus.regression import ReducedRankRegression, SequentialStiefelRegression


@parametrize_with_checks(
    [
        SequentialStiefelRegression(),
        SequentialStiefelRegression(alpha=0.1, fit_intercept=False),
        SequentialStiefelRegression(mode="proximal"),
    ]
)
def test_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def planted(seed=0, n=120, d=6, o=5, rank=2, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    F = rng.normal(size=(o, rank)) @ rng.normal(size=(rank, d))
    return X, X @ F.T + noise * rng.normal(size=(n, o)) - 2, F


def streamed(model, X, Y, cuts, weights=None, order=None):
    blocks = np.split(np.arange(len(X)), cuts)
    for rows in blocks if order is None else [blocks[i] for i in order]:
        model.partial_fit(X[rows], Y[rows], None if weights is None else weights[rows])
    return model


@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.sets(st.integers(1, 119), min_size=1, max_size=6),
    alpha=st.sampled_from([0.0, 0.5]),
    fit_intercept=st.booleans(),
)
@settings(deadline=None, max_examples=40)
def test_moments_are_the_batch_solution_whatever_the_blocks_and_their_order(
    seed, cuts, alpha, fit_intercept
):
    X, Y, _ = planted(seed=seed % 7)
    order = np.random.default_rng(seed).permutation(len(cuts) + 1)
    parameters = {"alpha": alpha, "fit_intercept": fit_intercept}
    stream = SequentialStiefelRegression(2, **parameters)
    streamed(stream, X, Y, sorted(cuts), order=order)
    batch = ReducedRankRegression(2, **parameters).fit(X, Y)
    assert_allclose(stream.coef_, batch.coef_, atol=1e-8)
    assert_allclose(stream.intercept_, batch.intercept_, atol=1e-8)


@given(cuts=st.sets(st.integers(1, 119), max_size=6))
@settings(deadline=None, max_examples=30)
def test_forgetting_weighs_rows_by_age_however_they_are_cut(cuts):
    X, Y, _ = planted()
    stream = streamed(
        SequentialStiefelRegression(2, alpha=0.0, forgetting=0.95), X, Y, sorted(cuts)
    )
    weights = 0.95 ** np.arange(119, -1, -1.0)
    batch = ReducedRankRegression(2, alpha=0.0).fit(X, Y, sample_weight=weights)
    assert_allclose(stream.coef_, batch.coef_, atol=1e-8)
    assert_allclose(stream.intercept_, batch.intercept_, atol=1e-8)


def test_weights_are_those_of_the_batch():
    X, Y, _ = planted()
    weights = np.random.default_rng(0).integers(0, 3, 120).astype(float)
    stream = streamed(SequentialStiefelRegression(2, alpha=0.0), X, Y, [20, 70], weights)
    batch = ReducedRankRegression(2, alpha=0.0).fit(X, Y, sample_weight=weights)
    assert_allclose(stream.coef_, batch.coef_, atol=1e-8)


def test_forgetting_follows_a_drift():
    X, Y_old, _ = planted(n=400, noise=0.1)
    _, _, F_new = planted(seed=5)
    Y_new = X @ F_new.T
    errors = {}
    for forgetting in (1.0, 0.97):
        model = SequentialStiefelRegression(2, forgetting=forgetting)
        model.partial_fit(X, Y_old).partial_fit(X, Y_new)
        errors[forgetting] = np.linalg.norm(model.coef_ - F_new)
    assert errors[0.97] < 0.01 * errors[1.0]


def test_fit_forgets_what_was_learned_before():
    X, Y, _ = planted()
    model = SequentialStiefelRegression(2, alpha=0.0).partial_fit(X, -5 * Y).fit(X, Y)
    assert_allclose(model.coef_, ReducedRankRegression(2, alpha=0.0).fit(X, Y).coef_, atol=1e-9)
    assert model.n_blocks_ == 1


# The published mode ---------------------------------------------------------------------------


def proximal(**parameters):
    return SequentialStiefelRegression(2, mode="proximal", **parameters)


def test_proximal_step_is_the_minimum_of_its_objective():
    X, Y, _ = planted(n=200)
    model = proximal(gamma=3.0, growing=False).partial_fit(X[:100], Y[:100])
    before = model.coef_.copy()
    model.partial_fit(X[100:], Y[100:])
    Xc, Yc = X[100:] - X.mean(axis=0), Y[100:] - Y.mean(axis=0)
    # With F₀ of rank two, an augmented regression: rows √γ I with outputs √γ F₀'.
    root = np.sqrt(3.0)
    augmented = ReducedRankRegression(2, alpha=0.0, fit_intercept=False).fit(
        np.vstack([Xc, root * np.eye(6)]), np.vstack([Yc, root * before.T])
    )
    assert_allclose(model.coef_, augmented.coef_, atol=1e-8)
    assert_allclose(model.intercept_, Y.mean(axis=0) - model.coef_ @ X.mean(axis=0), atol=1e-10)


def test_an_infinite_hold_keeps_the_map_and_none_forgets_it():
    X, Y, _ = planted(n=200)
    held = proximal(gamma=1e12).partial_fit(X, Y)
    assert_allclose(held.coef_, np.eye(5, 2) @ np.eye(2, 6), atol=1e-6)
    free = proximal(gamma=0.0).partial_fit(X[:100], Y[:100])
    assert_allclose(free.coef_, ReducedRankRegression(2).fit(X[:100], Y[:100]).coef_, atol=1e-8)


def test_a_growing_hold_averages_over_the_stream():
    X, Y, F = planted(n=3000, noise=2)
    X = X - X.mean(axis=0)
    error = {
        growing: np.linalg.norm(proximal(gamma=20.0, growing=growing).fit(X, Y).coef_ - F)
        for growing in (True, False)
    }
    assert error[True] < 0.5 * error[False]
    exact = np.linalg.norm(SequentialStiefelRegression(2).fit(X, Y).coef_ - F)
    assert exact <= error[True]


def test_fit_is_the_stream_of_its_batches():
    X, Y, _ = planted()
    whole = proximal(batch_size=50).fit(X, Y)
    parts = streamed(proximal(), X, Y, [50, 100])
    assert_allclose(whole.coef_, parts.coef_)
    assert whole.n_blocks_ == 3


@pytest.mark.parametrize("mode", ["moments", "proximal"])
def test_memory_does_not_grow_with_the_stream(mode):
    rng = np.random.default_rng(0)
    model = SequentialStiefelRegression(2, mode=mode)
    sizes = []
    for _ in range(30):
        X = rng.normal(size=(100, 6))
        model.partial_fit(X, X[:, :4])
        sizes.append(
            sum(v.nbytes for v in [*vars(model).values(), *model.moments_] if hasattr(v, "nbytes"))
        )
    assert len(set(sizes)) == 1


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mode": "magic"}, "one of 'moments', 'proximal'. Got 'magic'"),
        ({"forgetting": 0.0}, r"a float in \(0, 1\]. Got 0.0"),
        ({"gamma": -1.0}, "'gamma' parameter"),
        ({"alpha": -1.0}, "'alpha' parameter"),
        ({"rank": 6}, r"int in \[1, 5\]"),
        ({"mode": "proximal", "batch_size": 0}, "'batch_size' parameter"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    X, Y, _ = planted()
    with pytest.raises(ValueError, match=message):
        SequentialStiefelRegression(**parameters).fit(X, Y)


def test_another_number_of_outputs_is_named_and_nothing_learned_is_nothing_fitted():
    X, Y, _ = planted()
    model = SequentialStiefelRegression(2).partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"has learned 5 outputs. Got a block with 4"):
        model.partial_fit(X, Y[:, 1:])
    with pytest.raises(NotFittedError):
        SequentialStiefelRegression(2).predict(X)


def test_the_rank_of_a_stream_is_chosen_as_that_of_all_rows(rng):
    X = rng.normal(size=(400, 12))
    planted = rng.normal(size=(6, 3)) @ rng.normal(size=(3, 12))
    Y = X @ planted.T + rng.normal(size=(400, 6))
    stream = streamed(SequentialStiefelRegression(), X, Y, [20, 90, 250])
    assert stream.rank_ == ReducedRankRegression().fit(X, Y).rank_ == 3
    whole = ReducedRankRegression(3, alpha=stream.alpha_).fit(X, Y)
    assert_allclose(stream.coef_, whole.coef_, atol=1e-10)
