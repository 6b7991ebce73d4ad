"""Partial distance covariance, and a test that keeps its level."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.dependence import (
    distance_covariance,
    partial_distance_correlation,
    partial_distance_covariance,
    partial_independence_test,
)
from isthmus.dependence.partial import ConditionalMean, u_centred


def three(rng, n=40):
    z = rng.normal(size=(n, 2))
    return z[:, :1] + rng.normal(size=(n, 3)), z.sum(axis=1) + rng.normal(size=n), z


@pytest.mark.parametrize("exponent", [0.7, 1.0, 2.0])
def test_covariance_is_the_product_of_what_is_orthogonal_to_z(exponent, rng):
    X, y, Z = three(rng)
    A, B, C = (u_centred(np.reshape(s, (40, -1)), exponent) for s in (X, y, Z))
    scale = 40 * 37
    left, right = (M - np.vdot(M, C) / np.vdot(C, C) * C for M in (A, B))
    found = partial_distance_covariance(X, y, Z, exponent=exponent)
    assert_allclose(found, np.vdot(left, right) / scale)
    correlation = partial_distance_correlation(X, y, Z, exponent=exponent)
    lengths = np.linalg.norm(left) * np.linalg.norm(right) / scale
    assert_allclose(found / lengths, correlation, rtol=1e-8)


def test_nothing_to_remove_leaves_the_covariance(rng):
    X, y, _ = three(rng)
    plain = distance_covariance(X, y, unbiased=True, squared=True)
    assert_allclose(partial_distance_covariance(X, y, np.ones(40)), plain)


def test_a_side_that_is_z_leaves_nothing(rng):
    X, _, Z = three(rng)
    assert_allclose(partial_distance_covariance(X, Z, Z), 0, atol=1e-12)


def test_residuals_are_those_of_the_maker_and_have_the_size_of_the_noise(rng):
    z = rng.uniform(-2, 2, size=(300, 1))
    y = np.sin(2 * z) + 0.3 * rng.normal(size=(300, 1))
    mean = ConditionalMean.of(z, y)
    assert_allclose(mean.fitted + mean.maker @ y, y)
    assert np.abs(mean.fitted - np.sin(2 * z)).mean() < 0.1
    assert_allclose(mean.residuals.std(), 0.3, rtol=0.1)
    assert_allclose(mean.maker @ np.ones((300, 1)), 0, atol=1e-8)


def test_spread_of_residuals_is_found_where_it_depends_on_z(rng):
    z = rng.uniform(-2, 2, size=(300, 1))
    true = 0.1 + np.abs(z)
    mean = ConditionalMean.of(z, z + true * rng.normal(size=(300, 1)))
    assert np.corrcoef(mean.spread[:, 0], true[:, 0])[0, 1] > 0.8
    assert_allclose(np.mean(mean.spread**2), 1)
    # In units of its spread a residual is as large near the middle as at the ends.
    inner = np.abs(z[:, 0]) < 1
    assert 0.7 < mean.residuals[inner].std() / mean.residuals[~inner].std() < 1.4


def test_a_spread_that_both_sides_share_is_not_a_tie_given_z():
    rejected = 0
    for seed in range(12):
        z, e, f = np.random.default_rng(seed).normal(size=(3, 120))
        spread = 0.1 + z**2
        found = partial_independence_test(
            spread * e, spread * f, z, n_permutations=39, random_state=seed
        )
        rejected += found.pvalue <= 0.05
    assert rejected <= 2


def test_the_published_test_rejects_what_is_independent_given_z_and_ours_does_not():
    rejected = {"residuals": 0, "bootstrap": 0, "permutation": 0}
    for seed in range(10):
        z, e, f = np.random.default_rng(seed).normal(size=(3, 60))
        for method in rejected:
            found = partial_independence_test(
                z + 0.5 * e, z + 0.5 * f, z, method=method, n_permutations=39, random_state=seed
            )
            rejected[method] += found.pvalue <= 0.05
    assert rejected["residuals"] <= 2
    assert rejected["bootstrap"] <= 2
    assert rejected["permutation"] >= 4


def test_a_tie_beside_z_is_seen(rng):
    z, e, f = rng.normal(size=(3, 80))
    x, y = np.sin(2 * z) + 0.3 * e, z**2 + 0.3 * f + 0.3 * e**2
    found = partial_independence_test(x, y, z, n_permutations=59, random_state=0)
    assert found.pvalue <= 0.05
    assert len(found.null_distribution) == 59
    assert found.method == "residuals"


@pytest.mark.parametrize("method", ["residuals", "bootstrap", "permutation"])
def test_results_do_not_depend_on_units(method, rng):
    X, y, Z = three(rng)
    plain, other = (
        partial_independence_test(
            f * X, y / f, f * Z + 3, method=method, n_permutations=19, random_state=0
        )
        for f in (1.0, 1e4)
    )
    assert plain.pvalue == other.pvalue
    assert_allclose(plain.statistic, other.statistic, rtol=1e-5)


def test_constant_sides_are_not_dependent(rng):
    X, y, Z = three(rng)
    for arguments in ((np.ones(40), y, Z), (X, y, np.ones(40))):
        found = partial_independence_test(*arguments, n_permutations=9, random_state=0)
        assert 0 < found.pvalue <= 1


@pytest.mark.parametrize(
    ("arguments", "settings", "words"),
    [
        ((np.ones(5), np.ones(5), np.ones(4)), {}, "same number of rows"),
        ((np.ones(3),) * 3, {}, "at least 4"),
        ((np.ones(5),) * 3, {"exponent": 3.0}, "'exponent'"),
        ((np.ones(5),) * 3, {"method": "x"}, "'method'"),
        ((np.ones(5),) * 3, {"n_permutations": 0}, "'n_permutations'"),
    ],
)
def test_refusals(arguments, settings, words):
    with pytest.raises(ValueError, match=words):
        partial_independence_test(*arguments, **settings)
