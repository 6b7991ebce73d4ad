"""Averages of series: rounds, starts and weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.series import Itakura, barycenter, dtw, dtw_path
from isthmus.series.averages import average_once
from isthmus.series.bands import window_code
from isthmus.series.collection import pack
from isthmus.series.warping import step_weights


def humps(seed, n=8, length=40):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, length)
    places, widths = rng.uniform(0.3, 0.7, n), rng.uniform(0.05, 0.2, n)
    noise = 0.1 * rng.normal(size=(n, length))
    return np.exp(-((t - places[:, None]) ** 2) / (2 * widths[:, None] ** 2)) + noise


def summed(X, center):
    return sum(dtw(x, center) for x in X)


def plain_average(series, shares, center, window, step):
    """A round along the paths of :func:`dtw_path`."""
    weights = np.array(step_weights(step, "barycenter"))
    total, mass, summed = np.zeros_like(center), np.zeros(len(center)), 0.0
    for x, share in zip(series, shares, strict=True):
        distance, path = dtw_path(x, center, window=window, step=step)
        summed += share * distance
        moves = np.vstack([[1, 1], np.diff(path, axis=0)])
        taken = weights[np.where(moves.all(axis=1), 0, np.where(moves[:, 0] == 1, 1, 2))]
        np.add.at(total, path[:, 1], share * taken[:, None] * x[path[:, 0]])
        np.add.at(mass, path[:, 1], share * taken)
    met = mass > 0
    return np.where(met[:, None], total / np.where(met, mass, 1.0)[:, None], center), summed


@pytest.mark.parametrize("window", [None, 3, 0.3, Itakura(3.0)])
@pytest.mark.parametrize("step", ["symmetric1", "symmetric2", (1.0, 2.0, 0.5)])
@pytest.mark.parametrize("channels", [1, 2])
def test_a_compiled_round_goes_along_the_paths(rng, window, step, channels):
    # Whole numbers have many ties.
    series = [rng.integers(-2, 3, size=(n, channels)).astype(float) for n in (9, 14, 11, 12)]
    series[1] += 0.1 * rng.normal(size=series[1].shape)
    shares, center = np.array([1.0, 2.0, 0.5, 1.0]), series[2][:10].copy()
    code, weights = window_code(window), step_weights(step, "barycenter")
    for _ in range(3):
        fast = average_once(pack(series, owner="barycenter"), shares, center, code, weights)
        slow = plain_average(series, shares, center, window, step)
        assert_allclose(fast[0], slow[0], rtol=1e-12, atol=1e-12)
        assert fast[1] == pytest.approx(slow[1])
        center = fast[0]


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
