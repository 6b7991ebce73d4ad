from dataclasses import FrozenInstanceError
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from isthmus.dependence import (
    coco,
    distance_correlation,
    hsic,
    independence_test,
    mmd,
    two_sample_test,
)
from isthmus.dependence.gram_sums import gram_sums
from isthmus.dependence.null import permutation_moments
from isthmus.dependence.permutation import random_permutations
from isthmus.dependence.sides import distance_side, kernel_side
from isthmus.kernels import Delta, Gaussian

MEASURES = {
    "hsic": lambda X, Y, **u: hsic(X, Y, **u),
    "dcor": lambda X, Y, **u: distance_correlation(X, Y, **u),
    "coco": lambda X, Y: coco(X, Y),
}


@pytest.fixture
def tied(rng):
    x = rng.normal(size=60)
    return x, x**2 + 0.3 * rng.normal(size=60)


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("statistic", ["hsic", "dcor", "coco"])
@pytest.mark.parametrize("columns", [1, 2])
def test_null_distribution_is_the_measure_of_permuted_data(rng, statistic, unbiased, columns):
    if statistic == "coco" and unbiased:
        pytest.skip("coco has one estimator")
    X, Y = rng.normal(size=(2, 30, columns))
    options = {"unbiased": True} if unbiased else {}
    result = independence_test(
        X, Y, statistic=statistic, n_permutations=12, random_state=3, **options
    )
    assert_allclose(result.statistic, MEASURES[statistic](X, Y, **options), rtol=1e-7)
    orders = next(iter(random_permutations(30, 12, 3)))[1:]
    expected = [MEASURES[statistic](X, Y[order], **options) for order in orders]
    assert_allclose(result.null_distribution, expected, rtol=1e-6, atol=1e-9)
    rank = 1 + np.sum(np.array(expected) >= result.statistic)
    assert result.pvalue == pytest.approx(rank / 13)


def test_linear_kernels_permute_their_features(rng):
    X, Y = rng.normal(size=(2, 40, 3))
    linear = {"x_kernel": "linear", "y_kernel": "linear"}
    for unbiased in (False, True):
        result = independence_test(
            X, Y, **linear, unbiased=unbiased, n_permutations=5, random_state=0
        )
        orders = next(iter(random_permutations(40, 5, 0)))[1:]
        expected = [hsic(X, Y[order], **linear, unbiased=unbiased) for order in orders]
        assert_allclose(result.null_distribution, expected, rtol=1e-9, atol=1e-14)


def test_mmd_permutations_part_the_pooled_objects(rng):
    X, Z = rng.normal(size=(20, 2)), rng.normal(size=(30, 2))
    pooled = np.concatenate([X, Z])
    for unbiased in (False, True):
        result = two_sample_test(
            X, Z, kernel=Gaussian(0.5), unbiased=unbiased, n_permutations=5, random_state=1
        )
        orders = next(iter(random_permutations(50, 5, 1)))
        first = np.arange(50) < 20
        expected = [
            mmd(
                pooled[first[order]], pooled[~first[order]], kernel=Gaussian(0.5), unbiased=unbiased
            )
            for order in orders
        ]
        assert_allclose([result.statistic, *result.null_distribution], expected, rtol=1e-9)


def test_energy_is_the_difference_of_mean_distances(oracles, rng):
    X, Z = rng.normal(size=(20, 2)), 1 + rng.normal(size=(30, 2))
    E = oracles.distances(np.concatenate([X, Z]))
    expected = 2 * E[:20, 20:].mean() - E[:20, :20].mean() - E[20:, 20:].mean()
    for method in ("permutation", "gamma"):
        result = two_sample_test(X, Z, statistic="energy", method=method, random_state=0)
        assert_allclose(result.statistic, expected)
        assert result.pvalue < 0.01
    means = two_sample_test(X, Z, statistic="energy", exponent=2, n_permutations=9)
    assert_allclose(means.statistic, 2 * np.square(X.mean(axis=0) - Z.mean(axis=0)).sum())


@pytest.mark.parametrize("distance", [False, True])
def test_moments_are_those_of_all_permutations(oracles, rng, distance):
    X, Y = rng.normal(size=(2, 6, 2))
    if distance:
        sides = [distance_side(D, 1, name="X") for D in (X, Y)]
        K, L = map(oracles.distances, (X, Y))
    else:
        sides = [kernel_side(D, Gaussian(0.5), name="X") for D in (X, Y)]
        K, L = Gaussian(0.5)(X), Gaussian(0.5)(Y)
    A, B = oracles.v_centered(K), oracles.v_centered(L)
    T = [(A * B[np.ix_(p, p)]).sum() for p in map(list, permutations(range(6)))]
    assert_allclose(permutation_moments(gram_sums(sides)), (np.mean(T), np.var(T)))


@pytest.mark.parametrize(
    ("statistic", "method"), [("hsic", "permutation"), ("dcor", "permutation"), ("hsic", "gamma")]
)
def test_pvalues_are_uniform_under_independence(statistic, method):
    rng = np.random.default_rng(5)
    pvalues = [
        independence_test(
            rng.normal(size=(40, 2)),
            rng.exponential(size=40),
            statistic=statistic,
            method=method,
            n_permutations=99,
            random_state=i,
        ).pvalue
        for i in range(200)
    ]
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01
    assert 0.015 < np.mean(np.array(pvalues) <= 0.05) < 0.1


def test_a_test_that_permutes_nothing_would_be_noticed(rng):
    # The same check on dependent data must fail, or it says nothing.
    x = rng.normal(size=(100, 40))
    pvalues = [independence_test(row, row**2, method="gamma").pvalue for row in x]
    assert stats.kstest(pvalues, "uniform").pvalue < 1e-6


def test_two_samples_of_one_distribution_have_uniform_pvalues():
    rng = np.random.default_rng(2)
    samples = rng.normal(size=(200, 50))
    for method in ("permutation", "gamma"):
        pvalues = [
            two_sample_test(
                row[:20], row[20:], method=method, n_permutations=99, random_state=i
            ).pvalue
            for i, row in enumerate(samples)
        ]
        assert stats.kstest(pvalues, "uniform").pvalue > 0.01


def rejections(statistic, draws, **options):
    rng = np.random.default_rng(0)
    found = 0
    for i in range(draws):
        x = rng.normal(size=60)
        y = x**2 + 0.3 * rng.normal(size=60)
        result = independence_test(x, y, statistic=statistic, random_state=i, **options)
        found += result.pvalue <= 0.05
    return found / draws


@pytest.mark.parametrize("statistic", ["hsic", "dcor", "coco"])
def test_a_parabola_is_seen(statistic):
    assert rejections(statistic, 40, n_permutations=99) > 0.9


@pytest.mark.parametrize("method", ["gamma", "chi2"])
def test_a_parabola_is_seen_without_permutations(method):
    assert rejections("hsic", 40, method=method) > 0.9
    assert rejections("dcor", 40, method=method) > 0.9


def test_exponent_two_is_blind_to_a_symmetric_parabola():
    rng = np.random.default_rng(0)
    found = {1: 0, 2: 0}
    for i in range(100):
        x = rng.uniform(-1, 1, size=60)
        y = x**2 + 0.05 * rng.normal(size=60)
        for exponent in found:
            result = independence_test(
                x, y, statistic="dcor", exponent=exponent, n_permutations=99, random_state=i
            )
            found[exponent] += result.pvalue <= 0.05
    assert found[1] > 95
    assert found[2] < 25


def test_the_t_test_holds_its_level_with_many_columns():
    rng = np.random.default_rng(0)
    pvalues = [
        independence_test(*rng.normal(size=(2, 30, 100)), statistic="dcor", method="t").pvalue
        for _ in range(200)
    ]
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01


def test_labels_and_numbers(rng):
    labels = list("ab" * 30)
    values = np.array([0.0, 1.5] * 30) + rng.normal(size=60)
    result = independence_test(labels, values, x_kernel=Delta(), n_permutations=199, random_state=0)
    assert result.pvalue <= 0.01


@pytest.mark.parametrize("statistic", ["hsic", "dcor", "coco"])
@pytest.mark.parametrize("columns", [1, 2])
def test_threads_do_not_change_results(rng, statistic, columns):
    X, Y = rng.normal(size=(2, 40, columns))
    runs = [
        independence_test(X, Y, statistic=statistic, n_permutations=20, random_state=1, n_jobs=jobs)
        for jobs in (None, 2)
    ]
    assert_allclose(runs[0].null_distribution, runs[1].null_distribution, rtol=1e-10)


def test_blocks_of_permutations_do_not_change_results(tied, monkeypatch):
    whole = independence_test(*tied, n_permutations=20, random_state=1)
    monkeypatch.setattr("isthmus.dependence.permutation.MAX_INDICES", 7 * 60)
    parts = independence_test(*tied, n_permutations=20, random_state=1)
    assert_allclose(whole.null_distribution, parts.null_distribution)


def test_equal_values_count_as_equal():
    # Every permutation of two values gives one of few sums; rounding must not part them.
    x, y = np.array([0.0, 0, 0, 1, 1, 1]), np.array([0.0, 0, 0, 1, 1, 1])
    result = independence_test(x, y, statistic="dcor", n_permutations=2000, random_state=0)
    assert result.pvalue == pytest.approx(2 / 20, abs=0.02)


def test_a_constant_side_is_never_rejected(tied):
    for method in ("permutation", "gamma", "chi2", "t"):
        result = independence_test(
            tied[0], np.ones(60), statistic="dcor", method=method, n_permutations=19
        )
        assert result.statistic == 0
        assert result.pvalue > 0.3


def test_result_cannot_be_changed(tied):
    result = independence_test(*tied, method="gamma")
    assert result.null_distribution is None
    with pytest.raises(FrozenInstanceError):
        result.pvalue = 1.0
