"""The regression inside a supervised reduction: which columns, which kernel, which rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.dependence import distance_correlation, independence_test
from isthmus.features.distance_correlation import candidates, relevance
from isthmus.features.distance_correlation.candidates import (
    Candidate,
    Scale,
    choose,
    judged,
    resolved,
)
from isthmus.features.distance_correlation.relevance import (
    GAUSSIANS,
    RelevanceRidge,
    RidgeOnLandmarks,
    column_weights,
    spanning_rows,
)
from isthmus.features.distance_correlation.short import short_factor, short_left_out_errors
from isthmus.kernels import Gaussian, Laplacian
from isthmus.regression import KernelRidgeCV
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS
from isthmus.regression.ridge.left_out import left_out_errors
from isthmus.regression.selection import Selection

ALPHAS = [1e-3, 1e-2, 1e-1]


def planted(rng, n, p=12, noise=0.1):
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n)


def all_columns(X):
    return Scale(0.0, False, np.ones(X.shape[1]))


def test_judgement_is_the_error_of_refits_without_each_row(rng):
    X, y = planted(rng, 25, p=3)
    kernel = Gaussian(0.3)
    found = next(judged(X, y[:, None], [Candidate(all_columns(X), kernel)], ALPHAS))
    errors = []
    for alpha in ALPHAS:
        model, every = KernelRidgeCV(kernel, alpha=alpha), np.arange(25)
        left = [model.fit(X[every != i], y[every != i]).predict(X[[i]])[0] for i in every]
        errors.append(np.mean((y - left) ** 2))
    assert_allclose(found.error, min(errors))
    assert found.alpha == ALPHAS[int(np.argmin(errors))]


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_short_factor_gives_the_errors_of_the_whole_matrix(rng, outputs):
    X, Y = rng.normal(size=(300, 2)), rng.normal(size=(300, outputs))
    Y[:, 0] += 3 + np.sin(2 * X[:, 0])
    K = Gaussian(0.2)(X)
    L, rows = short_factor(K, ALPHAS)
    assert L.shape[1] < 150
    assert_array_equal(np.sort(rows), np.arange(300))
    assert_allclose(L @ L.T, K[np.ix_(rows, rows)], atol=1e-6 * ALPHAS[0])
    short = short_left_out_errors(L, Y[rows], ALPHAS)
    plain = list(left_out_errors(K, Y, ALPHAS, Selection(), fit_intercept=True))
    assert_allclose(short, plain, rtol=1e-6)


def test_no_short_factor_of_a_long_matrix_or_under_a_tiny_penalty(rng):
    X = rng.normal(size=(60, 2))
    assert short_factor(Gaussian(100.0)(X), ALPHAS) is None
    assert short_factor(Gaussian(0.01)(X), ALPHAS) is not None
    assert short_factor(Gaussian(0.01)(X), [1e-10, 1.0]) is None


def test_judgements_by_short_factors_are_those_without(rng, monkeypatch):
    X, y = planted(rng, 300)
    scale = Scale(0.0, True, np.arange(12) < 2)
    pairs = [Candidate(scale, kernel) for kernel in GAUSSIANS]
    quick = list(judged(X, y[:, None], pairs, ALPHAS))
    monkeypatch.setattr(candidates, "short_factor", lambda K, alphas: None)
    slow = list(judged(X, y[:, None], pairs, ALPHAS))
    assert [found.alpha for found in quick] == [found.alpha for found in slow]
    assert_allclose([found.error for found in quick], [found.error for found in slow], rtol=1e-6)


def test_stages_find_what_all_rows_find(rng, monkeypatch):
    X, y = planted(rng, 300)
    scales = [Scale(g, False, np.linspace(1, 0.1, 12) ** g) for g in (0.0, 1.0, 3.0)]
    quick = choose(X, y[:, None], scales, GAUSSIANS, ALPHAS)
    monkeypatch.setattr(candidates, "STAGES", (300, 300, 300))
    slow = choose(X, y[:, None], scales, GAUSSIANS, ALPHAS)
    assert quick.candidate.scale is slow.candidate.scale
    assert quick.candidate.kernel is slow.candidate.kernel


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_who_is_far_behind_on_few_rows_is_not_taken_on_more(rng, monkeypatch, share):
    # What two columns add together is seen by no column alone, and by few rows hardly at all.
    X = rng.normal(size=(700, 10))
    y = X[:, :1] + share * X[:, 1:2] * X[:, 2:3] + 0.05 * rng.normal(size=(700, 1))
    scales = RelevanceRidge()._scales(X, y[:, 0])
    quick = choose(X, y, scales, GAUSSIANS, DEFAULT_ALPHAS)
    monkeypatch.setattr(candidates, "FAR", np.inf)
    monkeypatch.setattr(candidates, "LEFT", len(scales) * len(GAUSSIANS))
    assert choose(X, y, scales, GAUSSIANS, DEFAULT_ALPHAS) == quick


def test_order_of_the_rows_hardly_matters(rng):
    X, y = planted(rng, 600)
    order = np.argsort(y)
    sorted_rows = RelevanceRidge().fit(X[order], y[order])
    new, truth = planted(rng, 200, noise=0.0)
    assert sorted_rows.score(new, truth) > 0.95


def test_one_candidate_and_one_penalty_are_not_judged(rng, monkeypatch):
    X, y = planted(rng, 40)
    monkeypatch.setattr(candidates, "left_out_errors", None)
    assert choose(X, y[:, None], [all_columns(X)], [Gaussian(1.0)], [0.5]).alpha == 0.5


def test_of_kernels_that_are_as_good_the_narrowest_is_taken(rng, monkeypatch):
    X, y = planted(rng, 60)
    monkeypatch.setattr(candidates, "AS_GOOD", np.inf)
    assert (
        choose(X, y[:, None], [all_columns(X)], GAUSSIANS, ALPHAS).candidate.kernel
        is (GAUSSIANS[-1])
    )


def test_medians_are_shared_and_the_same(rng):
    Z = rng.normal(size=(80, 3))
    kernels = [*GAUSSIANS, Gaussian(0.7), Laplacian()]
    assert list(resolved(kernels, Z)) == [kernel.resolve(Z) for kernel in kernels]


def test_columns_are_weighted_and_tested_one_by_one(rng):
    X, y = planted(rng, 200, p=6)
    weights, tied = column_weights(X, y)
    squares = [distance_correlation(x, y, unbiased=True, squared=True) for x in X.T]
    tests = [independence_test(x, y, statistic="dcor", method="chi2") for x in X.T]
    assert_array_equal(tied, [test.pvalue < 0.05 / 6 for test in tests])
    assert_allclose(weights[:2] * np.sqrt(max(squares)), np.sqrt(squares[:2]))


def test_columns_without_a_tie_are_left_out_where_that_helps(rng):
    X, y = planted(rng, 400, p=40)
    ours = RelevanceRidge().fit(X, y)
    never = RelevanceRidge(gate=False).fit(X, y)
    new, truth = planted(rng, 300, p=40, noise=0.0)
    assert_array_equal(np.flatnonzero(ours.scale_), [0, 1])
    assert ours.gated_
    assert ours.alpha_ >= candidates.LEAST_PENALTY
    assert 1 - ours.score(new, truth) < 0.3 * (1 - never.score(new, truth))


def test_columns_are_kept_where_they_help_together_only(rng):
    X = rng.normal(size=(300, 2))
    y = np.sign(X[:, 0]) * np.sign(X[:, 1]) + X[:, 0]
    assert RelevanceRidge().fit(X, y).scale_.min() > 0


@pytest.mark.parametrize("gate", [False, True])
def test_settled_copy_fits_the_same(rng, gate):
    X, y = planted(rng, 120)
    model = RelevanceRidge(gate=gate).fit(X, y)
    assert_allclose(model.settled().fit(X, y).predict(X), model.predict(X))


def test_spanning_rows_leave_no_more_than_allowed(rng):
    Z, kernel = rng.normal(size=(150, 2)), Gaussian(0.2)
    rows = spanning_rows(kernel, Z, 1e-4)
    K, L = kernel.gram(Z, Z), kernel.gram(Z, Z[rows])
    rest = np.diag(K - L @ np.linalg.pinv(kernel.gram(Z[rows], Z[rows])) @ L.T)
    assert len(rows) < 100
    assert rest.max() < 1.1e-4


def test_landmarks_that_span_all_rows_give_what_all_rows_give(rng, monkeypatch):
    X, y = planted(rng, 500, p=2)
    monkeypatch.setattr(relevance, "N_SELECTION", 300)
    short = RelevanceRidge(powers=(0.0,), kernel=Gaussian(0.2), alpha=0.01).fit(X, y)
    whole = KernelRidgeCV(Gaussian(0.2), alpha=0.01).fit(X, y)
    assert isinstance(short.model_, RidgeOnLandmarks)
    assert len(short.model_.objects_) <= 125
    # A fiftieth of the noise, at rows of which two fifths were never looked at.
    gap = short.predict(X) - whole.predict(X)
    assert np.sqrt(np.mean(gap**2)) < 2e-3


def test_rows_that_no_few_span_are_all_taken(rng, monkeypatch):
    X, y = planted(rng, 300, p=12)
    monkeypatch.setattr(relevance, "N_SELECTION", 200)
    model = RelevanceRidge(powers=(0.0,), kernel=Gaussian(2.0), alpha=0.1).fit(X, y)
    assert_allclose(model.predict(X), KernelRidgeCV(Gaussian(2.0), alpha=0.1).fit(X, y).predict(X))
