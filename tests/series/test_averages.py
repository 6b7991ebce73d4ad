"""Averages of series: starts and weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.series import barycenter, dtw


def humps(seed, n=8, length=40):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, length)
    places, widths = rng.uniform(0.3, 0.7, n), rng.uniform(0.05, 0.2, n)
    noise = 0.1 * rng.normal(size=(n, length))
    return np.exp(-((t - places[:, None]) ** 2) / (2 * widths[:, None] ** 2)) + noise


def summed(X, center):
    return sum(dtw(x, center) for x in X)


@pytest.mark.parametrize("seed", range(6))
def test_average_is_no_worse_than_from_the_mean_or_from_a_member(seed):
    X = humps(seed)
    found = summed(X, barycenter(X))
    assert found <= summed(X, barycenter(X, init=X.mean(axis=0))) * (1 + 1e-9)
    medoid = X[np.argmin([summed(X, x) for x in X])]
    assert found <= summed(X, barycenter(X, init=medoid)) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_average_of_unequal_lengths_is_no_worse_than_from_a_mean_of_any_of_them(seed):
    rng = np.random.default_rng(seed)
    X = [x[: rng.integers(15, 40)] for x in humps(seed, n=6)]
    lengths = [len(x) for x in X]
    found = summed(X, barycenter(X))
    for length in (min(lengths), round(np.mean(lengths)), max(lengths)):
        grid = np.linspace(0, 1, length)
        start = np.mean([np.interp(grid, np.linspace(0, 1, len(x)), x) for x in X], axis=0)
        assert found <= summed(X, barycenter(X, init=start)) * (1 + 1e-9)


def test_a_weight_of_two_is_a_series_twice():
    X = humps(0, n=4)
    twice = barycenter([*X, X[0]], init=X[1])
    assert_allclose(barycenter(X, weights=[2, 1, 1, 1], init=X[1]), twice, atol=1e-12)
    assert_allclose(barycenter(X, weights=[1, 0, 0, 0]).ravel(), X[0], atol=1e-12)


@pytest.mark.parametrize(
    "weights", [[1, 2], [0, 0, 0, 0], [1, 1, 1, -1], "heavy", [1, 1, 1, np.nan]]
)
def test_weights_that_cannot_be_used_are_named(weights):
    with pytest.raises((TypeError, ValueError), match="'weights' parameter of barycenter"):
        barycenter(humps(0, n=4), weights=weights)
