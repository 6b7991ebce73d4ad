"""Delay embeddings and what belongs to them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.series import (
    TimeWindows,
    decorrelation_lag,
    functional_distance,
    sliding_window_check,
)
from isthmus.series.window_check import _distinct


@pytest.mark.parametrize("pad", ["edge", None])
@pytest.mark.parametrize(("stride", "lag"), [(1, 1), (2, 1), (1, 3)])
def test_windows_come_back_as_the_signal(pad, stride, lag, rng):
    X = rng.normal(size=(31, 2))
    windows = TimeWindows(4, stride=stride, lag=lag, pad=pad).fit(X)
    back = windows.inverse_transform(windows.transform(X))
    assert_allclose(back, X[: len(back)])
    assert len(X) - len(back) < stride  # steps after the last window are in none


def test_whole_windows_are_slices(rng):
    X = rng.normal(size=(20, 2))
    W = TimeWindows(3, lag=2, stride=3, pad=None).fit_transform(X)
    assert_array_equal(W[1].reshape(3, 2), X[[3, 5, 7]])
    assert len(W) == 6


def test_padding_keeps_a_row_a_step(rng):
    X = rng.normal(size=(6, 1))
    W = TimeWindows(3).fit_transform(X)
    assert_array_equal(W[0], X[[0, 0, 0], 0])
    assert_array_equal(W[4], X[[2, 3, 4], 0])
    assert len(W) == 6


def test_the_inverse_is_the_least_squares_signal(rng):
    W = rng.normal(size=(8, 3))
    windows = TimeWindows(3, pad=None).fit(np.zeros((10, 1)))
    signal = windows.inverse_transform(W)
    A = np.array([windows.transform(e[:, None]).ravel() for e in np.eye(10)]).T
    assert_allclose(signal[:, 0], np.linalg.lstsq(A, W.ravel(), rcond=None)[0])


def test_gaps_cannot_be_inverted(rng):
    windows = TimeWindows(2, stride=3, pad=None).fit(rng.normal(size=(20, 1)))
    with pytest.raises(ValueError, match=r"step 2 is in none of them\. Expected a smaller stride"):
        windows.inverse_transform(windows.transform(rng.normal(size=(20, 1))))


def test_automatic_lag_is_a_quarter_of_the_period():
    X = np.sin(2 * np.pi * np.arange(1000) / 48)[:, None]
    assert abs(TimeWindows(3, lag="auto").fit(X).lag_ - 12) <= 1
    assert decorrelation_lag(np.exp(-np.arange(50) / 10)) > 1
    assert decorrelation_lag([1.0, 2.0]) == 1
    assert decorrelation_lag(np.ones(30)) == 1


def test_the_mean_of_all_windows_is_nearly_constant(rng):
    # |mean of column i - mean of column j| <= (w - 1) / M (max - min), M windows.
    x = rng.normal(size=300).cumsum()
    W = TimeWindows(20, pad=None).fit_transform(x[:, None])
    means = W.mean(axis=0)
    assert np.ptp(means) <= 19 / len(W) * np.ptp(x)


def test_functional_distance_without_sign_changes_is_the_norm(rng):
    x, y = rng.uniform(1, 2, 9), rng.uniform(-2, -1, 9)
    for p in (1.0, 2.0, 3.0):
        expected = 0.5 * np.linalg.norm(x - y, p)
        assert functional_distance(x, y, order=p, period=0.5) == pytest.approx(expected)


def test_functional_distance_of_order_one_is_the_area_between():
    # v = (1, -1): two triangles of area 1/4 between the samples, and two halves outside.
    assert functional_distance([1.0, 0.0], [0.0, 1.0], order=1.0) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X: TimeWindows(0).fit(X), ValueError, "'length' parameter of TimeWindows"),
        (lambda X: TimeWindows(2, stride=0).fit(X), ValueError, "'stride' parameter"),
        (lambda X: TimeWindows(2, lag="best").fit(X), ValueError, "'lag' parameter"),
        (lambda X: TimeWindows(2, pad="zero").fit(X), ValueError, "'pad' parameter"),
        (
            lambda X: TimeWindows(9, pad=None).fit_transform(X),
            ValueError,
            "at least 9 time steps for one window of length 9 and lag 1. Got 5",
        ),
        (
            lambda X: TimeWindows(2).fit(X).inverse_transform(X),
            ValueError,
            "windows of 4 numbers",
        ),
        (lambda X: functional_distance([1.0], [1.0, 2.0]), ValueError, "equal length"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call(np.zeros((5, 2)))


def test_a_failed_fit_leaves_nothing_behind():
    windows = TimeWindows(2, lag="best")
    with pytest.raises(ValueError, match="'lag' parameter"):
        windows.fit(np.zeros((5, 2)))
    assert not hasattr(windows, "lag_")


@pytest.mark.parametrize("length", [4, 7, 30])
def test_the_mean_window_stays_within_its_bound(length, rng):
    x = rng.normal(size=80).cumsum()
    found = sliding_window_check(x, length=length, n_clusters=1, random_state=0)
    W = np.lib.stride_tricks.sliding_window_view(x, length)
    assert_allclose(found.mean_range, np.ptp(W.mean(axis=0)))
    assert found.mean_range <= found.bound
    assert_allclose(found.bound, (length - 1) / len(W) * np.ptp(x))
    assert found.centers.shape == (1, length)


def test_clusters_of_unlike_signals_differ_and_those_of_noise_are_warned_of(rng):
    saw = np.tile(np.r_[np.zeros(12), 1.0, 0.0, 1.0, 0.0], 40) + 0.01 * rng.normal(size=640)
    assert sliding_window_check(saw, length=16, n_clusters=1, random_state=0).ratio < 1e-6
    walks = rng.normal(size=(2, 600)).cumsum(axis=1)
    with pytest.warns(UserWarning, match="mean little here"):
        sliding_window_check(*walks, length=20, n_clusters=5, random_state=0)


@pytest.mark.parametrize("n_values", [None, 3])  # first elements that differ, and ties
def test_windows_that_differ_are_those_of_numpy(n_values, rng):
    table = rng.normal(size=(60, 4)) if n_values is None else rng.integers(n_values, size=(60, 4))
    table = np.vstack([table, table[:5] + 1e-12]) if n_values else table
    assert_array_equal(_distinct(table), np.unique(table.round(9), axis=0))


@pytest.mark.parametrize(
    ("x", "settings", "words"),
    [
        (np.arange(9.0), {"length": 9}, "more than length=9 steps"),
        (np.ones((30, 2)), {"length": 4}, "one channel"),
        (np.ones(30), {"length": 4}, "not constant"),
        (np.arange(9.0), {"length": 1}, "'length'"),
        (np.arange(9.0), {"length": 4, "n_init": 1}, "'n_init'"),
        (np.arange(9.0), {"length": 4, "n_clusters": 7}, "'n_clusters'"),
    ],
)
def test_the_check_refuses_by_name(x, settings, words):
    with pytest.raises(ValueError, match=words):
        sliding_window_check(x, random_state=0, **settings)
