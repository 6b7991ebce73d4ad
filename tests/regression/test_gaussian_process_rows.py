"""Gaussian processes of many rows: more of them, inducing objects, committees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg
from sklearn.base import clone

from isthmus.kernels import (
    Gaussian,
    Matern,
    Normalized,
    Spectrum,
)
from isthmus.regression import Committee, GaussianProcess, Inducing
from isthmus.regression.gaussian_process.inducing import (
    RowsInMemory,
    inducing_factor,
    inducing_score,
    inducing_sums,
    spread_pivots,
)
from isthmus.regression.gaussian_process.search import ProcessParameters
from tests.regression.test_gaussian_process import fixed, waves

# More rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("amplitude", [1.5, None])
def test_more_rows_give_what_all_rows_give(amplitude, rng):
    X, y = waves(rng)
    noise = 0.2 if amplitude else 0.0
    kernel = Matern(0.5, length_scale=1.0)
    whole = fixed(kernel, amplitude=amplitude, noise=noise).fit(X, y)
    grown = fixed(kernel, amplitude=amplitude, noise=noise).partial_fit(X[:20], y[:20])
    for i in (slice(20, 21), slice(21, 40)):
        grown.partial_fit(X[i], y[i])
    T = rng.uniform(-2, 2, size=(9, 2))
    assert_allclose(grown.predict(T, return_std=True), whole.predict(T, return_std=True), rtol=1e-8)
    assert grown.log_marginal_likelihood_ == pytest.approx(whole.log_marginal_likelihood_)
    assert_allclose(grown.amplitude_, whole.amplitude_)


def test_more_words_too():
    words, y = ["aab", "aba", "bbb", "abb", "aaa", "bab"], np.arange(6.0)
    model = fixed(Normalized(Spectrum(2)))
    expected = clone(model).fit(words, y).predict(["abab"])
    got = model.fit(words[:3], y[:3]).partial_fit(words[3:], y[3:]).predict(["abab"])
    assert_allclose(got, expected)


def test_more_rows_through_the_same_inducing_objects(rng):
    X, y = waves(rng, 60)
    model = fixed(approximation=Inducing(40), center=False, random_state=0)
    model.fit(X, y)
    Z = model.objects_
    grown = clone(model).fit(X[:50], y[:50])
    grown.partial_fit(X[50:], y[50:])
    assert_allclose(grown.predict(X), model.predict(X), atol=0.05)
    assert len(Z) == len(grown.objects_) == 40
    full = fixed(approximation=Inducing(60), center=False)
    all_at_once = clone(full).fit(X, y).log_marginal_likelihood_
    assert grown.log_marginal_likelihood_ < all_at_once
    assert grown.log_marginal_likelihood_ > all_at_once - 5


def test_a_committee_gets_a_new_member(rng):
    X, y = waves(rng, 60)
    model = fixed(approximation=Committee(2), center=False, random_state=0)
    model.fit(X[:40], y[:40])
    before = [member.dual for member in model._members]
    model.partial_fit(X[40:], y[40:])
    assert len(model._members) == 3
    for member, dual in zip(model._members, before, strict=False):
        assert_allclose(member.dual, dual)
    alone = fixed(center=False).fit(X[40:], y[40:])
    assert_allclose(model._members[2].dual[:, 0], alone.dual_coef_)


def test_means_follow_new_rows_in_a_committee_too(rng):
    X, y = waves(rng, 60)
    grown = fixed(approximation=Committee(1)).fit(X[:40], y[:40])
    grown.partial_fit(X[40:], y[40:])
    assert_allclose(grown.intercept_, y.mean())
    assert_allclose(
        grown._members[0].dual[:, 0], fixed(center=False).fit(X[:40], y[:40] - y.mean()).dual_coef_
    )


# Approximations ----------------------------------------------------------------------------


def test_all_rows_as_inducing_objects_are_exact(rng):
    X, y = waves(rng)
    exact = fixed(Matern(0.5, length_scale=1.0)).fit(X, y)
    T = rng.uniform(-3, 3, size=(20, 2))
    for name in ("inducing", "dtc"):
        model = fixed(Matern(0.5, length_scale=1.0), approximation=name).fit(X, y)
        assert_allclose(
            model.predict(T, return_cov=True)[1], exact.predict(T, return_cov=True)[1], atol=1e-5
        )
        assert_allclose(model.predict(T), exact.predict(T), atol=1e-5)
        assert model.log_marginal_likelihood_ == pytest.approx(
            exact.log_marginal_likelihood_, abs=1e-4
        )


def test_the_bound_is_one_and_rises_with_inducing_objects(rng):
    X, y = waves(rng, 100)
    exact = fixed().fit(X, y).log_marginal_likelihood_
    bounds = [
        fixed(approximation=Inducing(m)).fit(X, y).log_marginal_likelihood_ for m in (3, 10, 30)
    ]
    assert bounds[0] < bounds[1] < bounds[2] <= exact + 1e-6
    dtc = fixed(approximation=Inducing(10, bound=False)).fit(X, y).log_marginal_likelihood_
    assert dtc > bounds[1]


def test_low_rank_prediction_is_the_published_formula(rng):
    X, y = waves(rng)
    model = fixed(approximation=Inducing(12, bound=False), amplitude=1.0, center=False).fit(X, y)
    Z, k = model.objects_, Gaussian(0.7)
    T = rng.uniform(-3, 3, size=(10, 2))
    K_mm, K_mn, K_m = k(Z), k(Z, X), k(Z, T)
    Q = 0.04 * K_mm + K_mn @ K_mn.T
    mean, std = model.predict(T, return_std=True, latent=True)
    assert_allclose(mean, K_m.T @ np.linalg.solve(Q, K_mn @ y), atol=1e-5)
    variance = 1 - np.sum(K_m * np.linalg.solve(K_mm, K_m), axis=0)
    variance += 0.04 * np.sum(K_m * np.linalg.solve(Q, K_m), axis=0)
    assert_allclose(std**2, variance, atol=1e-5)


def test_a_committee_of_one_is_exact_and_of_more_is_the_published_formula(rng):
    X, y = waves(rng)
    T = rng.uniform(-2, 2, size=(5, 2))
    exact = fixed(center=False).fit(X, y)
    one = fixed(center=False, approximation=Committee(1)).fit(X, y)
    assert_allclose(one.predict(T, return_std=True), exact.predict(T, return_std=True))
    two = fixed(center=False, approximation=Committee(2)).fit(X, y)
    K = 1.5**2 * Gaussian(0.7)(T)
    parts = []
    for member in two._members:
        at = np.array([np.flatnonzero((x == X).all(axis=1))[0] for x in member.objects])
        part = fixed(center=False).fit(X[at], y[at])
        parts.append(part.predict(T, return_cov=True, latent=True))
    precision = sum(np.linalg.inv(C) for _, C in parts) - np.linalg.inv(K)
    C = np.linalg.inv(precision)
    mean, got = two.predict(T, return_cov=True, latent=True)
    assert_allclose(got, C, atol=1e-5)
    assert_allclose(mean, C @ sum(np.linalg.solve(c, m) for m, c in parts), atol=1e-4)
    alone, std = two.predict(T[:1], return_std=True, latent=True)
    assert_allclose(two.predict(T)[0], alone[0])  # whatever else is asked for
    pair = [p.predict(T[:1], return_cov=True, latent=True) for p in (two,)]
    assert_allclose((alone, std**2), (pair[0][0], pair[0][1][0]), rtol=1e-6)


def test_inducing_objects_are_learned_with_strings():
    words = ["aab", "aba", "bbb", "abb", "aaa", "bab"]
    model = fixed(Normalized(Spectrum(2)), approximation=Inducing(3))
    model.fit(words, np.arange(6.0))
    assert len(model.objects_) == 3
    assert set(model.objects_) < set(words)


@pytest.mark.parametrize("bound", [True, False])
def test_kernel_values_kept_for_the_slopes_are_those_computed_again(bound, rng, monkeypatch):
    X, y = waves(rng)
    found = ProcessParameters(Gaussian(0.5), 0.1, np.array([1.5]))
    rows = RowsInMemory(X, y[:, None])
    kept = inducing_score(found, rows, X[::4], bound=bound)
    monkeypatch.setattr(RowsInMemory, "in_one_block", lambda *_: False)
    again = inducing_score(found, rows, X[::4], bound=bound)
    for ours, theirs in zip(kept, again, strict=True):
        assert_allclose(ours, theirs, rtol=1e-12)


def test_spread_out_takes_no_object_twice(rng):
    X = np.repeat(rng.normal(size=(5, 2)), 3, axis=0)
    assert len(spread_pivots(Gaussian(0.5)(X), 10)) == 5


@pytest.mark.parametrize("gamma", [0.1, 5.0])
def test_as_many_inducing_objects_as_rows_are_exact(gamma):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, size=(120, 2))
    y = np.sin(X).sum(axis=1) + 0.02 * rng.normal(size=120)
    given = {"kernel": Gaussian(gamma), "learn_kernel": False, "noise": 0.02, "amplitude": 1.0}
    exact = GaussianProcess(**given).fit(X, y)
    inducing = GaussianProcess(**given, approximation=Inducing(120)).fit(X, y)
    assert_allclose(
        inducing.log_marginal_likelihood_, exact.log_marginal_likelihood_, rtol=0, atol=1e-5
    )
    for ours, theirs in zip(
        inducing.predict(X, return_std=True), exact.predict(X, return_std=True), strict=True
    ):
        assert_allclose(ours, theirs, atol=1e-6)


def test_a_search_on_some_rows_is_conditioned_on_all():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(400, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=400)
    some = GaussianProcess(approximation=Inducing(30, n_search=100), random_state=0).fit(X, y)
    every = GaussianProcess(approximation=Inducing(30, n_search=None), random_state=0).fit(X, y)
    # The bound of all rows is the aim of one search and not of the other.
    assert some.log_marginal_likelihood_ <= every.log_marginal_likelihood_ + 1e-3
    assert_allclose(some.predict(X), np.sin(2 * X[:, 0]), atol=0.15)
    given = GaussianProcess(
        some.kernel_,
        noise=some.noise_,
        amplitude=float(np.ravel(some.amplitude_)[0]),
        learn_kernel=False,
        approximation=Inducing(30),
        random_state=0,
    ).fit(X, y)
    deviations = [model.predict(X[:5], return_std=True)[1] for model in (some, given)]
    assert_allclose(*deviations, rtol=0.05)  # of all rows, not of those that were searched


def test_the_middle_level_ends_where_the_search_on_all_rows_does(monkeypatch):
    from isthmus.regression.gaussian_process import training

    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, size=(500, 1))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=500)
    model = GaussianProcess(approximation=Inducing(25, n_search=None), random_state=0, tol=1e-6)
    without = clone(model).fit(X, y).log_marginal_likelihood_
    monkeypatch.setattr(training, "MIDDLE_ROWS", 120)
    assert_allclose(clone(model).fit(X, y).log_marginal_likelihood_, without, atol=0.05)


def test_sums_over_rows_are_the_formula_and_leave_kernel_values_alone():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(700, 3)), rng.normal(size=(700, 2))
    kernel, Z = Gaussian(0.3), X[:40]
    values = kernel.gram(X, Z)
    L = inducing_factor(kernel, Z)
    V = linalg.solve_triangular(L, values.T, lower=True)

    class Keeping(Gaussian):
        def gram(self, X, Z):
            return values

    before = values.copy()
    sums = inducing_sums(Keeping(0.3), X, Z, Y, L)
    np.testing.assert_array_equal(values, before)
    assert_allclose(sums.P, V @ V.T, rtol=1e-10, atol=1e-9)
    assert_allclose(sums.r, V @ Y, rtol=1e-10, atol=1e-9)
