"""James and Stein's shrinkage: the batters, the risk, the misprint."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.regression import james_stein

HITS = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7])
SEASON = np.array(
    [0.346, 0.298, 0.276, 0.222, 0.273, 0.270, 0.263, 0.210, 0.269]
    + [0.230, 0.264, 0.256, 0.303, 0.264, 0.226, 0.286, 0.316, 0.200]
)


def test_batters_of_efron_and_morris():
    first = HITS / 45
    mean = first.mean()
    shrunk, factor = james_stein(first, sigma2=mean * (1 - mean) / 45, return_factor=True)
    assert_allclose(mean, 0.265, atol=5e-4)
    assert_allclose(factor, 0.212, atol=5e-4)
    assert_allclose(np.sum((first - SEASON) ** 2), 0.0755, atol=5e-5)
    assert_allclose(np.sum((shrunk - SEASON) ** 2), 0.0214, atol=5e-5)
    assert np.sum(np.abs(shrunk - SEASON) < np.abs(first - SEASON)) == 16


def risk(theta, estimate, n_draws=8000):
    draws = theta + np.random.default_rng(0).normal(size=(n_draws, len(theta)))
    return np.mean([np.sum((estimate(y) - theta) ** 2) for y in draws])


@pytest.mark.parametrize("m", [4, 6, 10])
def test_total_error_is_smaller_from_four_observations_on(m):
    assert risk(np.linspace(0, 3, m), lambda y: james_stein(y, sigma2=1.0), 4000) < m


def test_a_fixed_target_needs_three():
    assert risk(np.array([0.5, 1.0, -1.0]), lambda y: james_stein(y, sigma2=1, target=0.0)) < 3


def test_the_printed_formula_makes_three_observations_worse():
    # m - 2 towards the mean, without the positive part. The expectation is infinite, so the mean
    # over draws has no limit; it is above 3 with any number of them.
    def printed(y):
        away = y - y.mean()
        return y.mean() + (1 - 1 / (away @ away)) * away

    assert risk(np.linspace(0, 3, 3), printed) > 3.3


def test_positive_part_stops_at_the_target():
    y = np.array([0.1, -0.1, 0.05, -0.05])
    assert_allclose(james_stein(y, sigma2=1.0), 0, atol=1e-15)
    assert james_stein(y, sigma2=1.0, positive_part=False)[0] < 0
    assert_allclose(
        james_stein(y, sigma2=1.0, target=2.0, return_factor=True)[1], 1 - 2 / 15.6, atol=0.02
    )


def test_limits():
    y = np.arange(5.0)
    assert_allclose(james_stein(y, sigma2=0.0), y)
    assert_allclose(james_stein(np.ones(5), sigma2=1.0), 1)
    assert_allclose(james_stein(y + 7, sigma2=0.5), james_stein(y, sigma2=0.5) + 7)
    assert_allclose(james_stein(3 * y, sigma2=4.5), 3 * james_stein(y, sigma2=0.5))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [1.0, 2, 3], "sigma2": 1.0}, "at least 4 observations"),
        ({"y": [1.0, 2], "sigma2": 1.0, "target": 0.0}, "at least 3 observations"),
        ({"y": [1.0, 2, 3, np.nan], "sigma2": 1.0}, "finite observations"),
        ({"y": [1.0, 2, 3, 4], "sigma2": -1.0}, r"'sigma2' of james_stein.*Got -1\.0"),
        ({"y": [1.0, 2, 3, 4], "sigma2": 1.0, "target": "median"}, "float or 'mean'. Got 'median'"),
    ],
)
def test_refusals_say_what_was_expected(arguments, message):
    with pytest.raises(ValueError, match=message):
        james_stein(**arguments)
