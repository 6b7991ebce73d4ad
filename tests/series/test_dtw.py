"""Dynamic time warping against all paths, and its windows, bounds and averages."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.series import (
    Itakura,
    SakoeChiba,
    barycenter,
    dtw,
    dtw_matrix,
    dtw_path,
    nearest_series,
)

WINDOWS = [None, 2, 0.4, SakoeChiba(6, strict=True), Itakura(3.0)]
STEPS = ["symmetric1", "symmetric2", (1.0, 2.0, 0.5)]


def all_paths(n, m):
    """Every warping path from (0, 0) to (n - 1, m - 1)."""
    if n == 1 and m == 1:
        yield ((0, 0),)
        return
    for i, j in ((n - 1, m - 1), (n - 1, m), (n, m - 1)):
        if i > 0 and j > 0:
            for path in all_paths(i, j):
                yield (*path, (n - 1, m - 1))


def cheapest(costs, weights, allowed=lambda i, j: True):
    best = np.inf
    for path in all_paths(*costs.shape):
        if not all(allowed(i, j) for i, j in path):
            continue
        total = weights[0] * costs[0, 0]
        for (i, j), (k, m) in pairwise(path):
            total += weights[0 if k > i and m > j else 1 if k > i else 2] * costs[k, m]
        best = min(best, total)
    return best


def some_series(rng, n=12, low=4, high=11, channels=2):
    return [rng.normal(size=(length, channels)) for length in rng.integers(low, high, n)]


@pytest.mark.parametrize("step", [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 2.0, 0.5)])
@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 4), (5, 3)])
def test_it_is_the_cheapest_of_all_paths(step, shape, rng):
    x, y = rng.normal(size=(shape[0], 2)), rng.normal(size=(shape[1], 2))
    costs = ((x[:, None] - y) ** 2).sum(axis=2)
    expected = cheapest(costs, step)
    assert dtw(x, y, step=step) == pytest.approx(expected)
    assert dtw_path(x, y, step=step)[0] == pytest.approx(expected)
    assert dtw(x, y, step=step, local=lambda a, b: costs) == pytest.approx(expected)


def test_a_band_is_the_cheapest_path_inside_it(rng):
    x, y = rng.normal(size=5), rng.normal(size=5)
    costs = (x[:, None] - y) ** 2
    for radius in range(5):
        inside = cheapest(costs, (1, 1, 1), lambda i, j, r=radius: abs(i - j) <= r)
        assert dtw(x, y, window=radius) == pytest.approx(inside)
    assert dtw(x, y, window=0) == pytest.approx(((x - y) ** 2).sum())


def test_a_strict_band_of_unequal_lengths(rng):
    x, y = rng.normal(size=5), rng.normal(size=3)
    costs = (x[:, None] - y) ** 2
    inside = cheapest(costs, (1, 1, 1), lambda i, j: abs(i - j) <= 2)
    assert dtw(x, y, window=SakoeChiba(2, strict=True)) == pytest.approx(inside)
    # Without it the band grows by the difference of the lengths, on the side of the longer one.
    wide = cheapest(costs, (1, 1, 1), lambda i, j: -0 <= i - j <= 2)
    assert dtw(x, y, window=0) == pytest.approx(wide)


def test_the_parallelogram_touches_its_inequalities(rng):
    n, m, s = 5, 4, 2.0
    x, y = rng.normal(size=n), rng.normal(size=m)

    def inside(i, j):
        a, b = n - 1 - i, m - 1 - j
        return all(low - 0.5 <= s * (high + 0.5) for low, high in ((j, i), (i, j), (a, b), (b, a)))

    expected = cheapest((x[:, None] - y) ** 2, (1, 1, 1), inside)
    assert dtw(x, y, window=Itakura(s)) == pytest.approx(expected)
    assert dtw(y, x, window=Itakura(s)) == pytest.approx(expected)


def test_the_triangle_inequality_fails_as_published():
    mismatch = {"local": lambda a, b: (a != b.T).astype(float)}
    x, y, z = [1, 2, 3], [1, 2, 2, 3], [1, 3, 3]
    assert dtw(x, y, **mismatch) == 0
    assert dtw(x, z, **mismatch) == 1
    assert dtw(y, z, **mismatch) == 2


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_invariants(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=7), rng.normal(size=7)
    value = dtw(x, y)
    assert value <= ((x - y) ** 2).sum() + 1e-12
    assert value >= (x[0] - y[0]) ** 2 + (x[-1] - y[-1]) ** 2 - 1e-12
    assert dtw(y, x) == pytest.approx(value)
    assert dtw(x[::-1], y[::-1]) == pytest.approx(value)
    assert dtw(np.repeat(x, 2), x) == 0
    assert dtw(np.repeat(x, 3), y) >= value - 1e-9


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("local", ["sqeuclidean", "euclidean"])
def test_the_matrix_has_the_same_numbers(window, step, local, rng):
    X = some_series(rng)
    options = {"window": window, "step": step, "local": local}
    expected = np.array([[dtw(a, b, **options) for b in X] for a in X])
    assert_array_equal(dtw_matrix(X, **options), expected)
    assert_array_equal(dtw_matrix(X[:5], X, **options), expected[:5])
    assert_allclose([[dtw_path(a, b, **options)[0] for b in X] for a in X], expected, rtol=1e-12)


def test_the_matrix_does_not_depend_on_threads(rng):
    X = rng.normal(size=(80, 30))
    assert_array_equal(dtw_matrix(X, n_jobs=1), dtw_matrix(X, n_jobs=3))


def test_a_function_as_local_cost_in_a_matrix(rng):
    X = some_series(rng, 5)
    by_hand = dtw_matrix(X, local=lambda a, b: ((a[:, None] - b) ** 2).sum(axis=2))
    assert_allclose(by_hand, dtw_matrix(X), rtol=1e-12)


def test_forms_of_a_collection(rng):
    table = rng.normal(size=(6, 9))
    expected = dtw_matrix(list(table))
    assert_array_equal(dtw_matrix(table), expected)
    assert_array_equal(dtw_matrix(table[:, :, None]), expected)
    objects = np.empty(6, dtype=object)
    objects[:] = list(table)
    assert_array_equal(dtw_matrix(objects), expected)


def test_a_path_adds_up_and_is_monotone(rng):
    x, y = rng.normal(size=9), rng.normal(size=6)
    distance, path = dtw_path(x, y)
    assert ((x[path[:, 0]] - y[path[:, 1]]) ** 2).sum() == pytest.approx(distance)
    moves = np.diff(path, axis=0)
    assert set(map(tuple, moves)) <= {(1, 1), (1, 0), (0, 1)}
    assert path[0].tolist() == [0, 0]
    assert path[-1].tolist() == [8, 5]


def test_ties_go_to_the_diagonal():
    assert dtw_path(np.zeros(4), np.zeros(4))[1].tolist() == [[i, i] for i in range(4)]


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("local", ["sqeuclidean", "euclidean"])
def test_nearest_series_is_a_sorted_row_of_the_matrix(window, step, local, rng):
    Z = some_series(rng, 25)
    X = some_series(rng, 6)
    options = {"window": window, "step": step, "local": local}
    D = dtw_matrix(X, Z, **options)
    found = nearest_series(X, Z, n_neighbors=3, **options)
    assert_array_equal(found.indices, np.argsort(D, axis=1, kind="stable")[:, :3])
    assert_array_equal(found.distances, np.sort(D, axis=1)[:, :3])


def test_bounds_spare_most_of_the_work(rng):
    Z = rng.normal(size=(100, 40)).cumsum(axis=1)
    found = nearest_series(Z + 0.1 * rng.normal(size=Z.shape), Z, window=4)
    assert_array_equal(found.indices[:, 0], np.arange(100))
    assert found.share_begun < 0.2


def test_the_first_of_equal_candidates_is_nearest():
    found = nearest_series([[0.0, 0.0]], [[1.0, 1.0]] * 4, n_neighbors=2)
    assert found.indices.tolist() == [[0, 1]]


def test_the_average_of_equal_series_is_that_series(rng):
    x = rng.normal(size=(10, 2))
    assert_allclose(barycenter([x, x, x]), x)


@pytest.mark.parametrize("step", STEPS)
def test_averaging_never_raises_the_sum(step, rng):
    X = some_series(rng, 8)
    sums = [
        sum(dtw(x, barycenter(X, step=step, init=X[0], max_iter=k, tol=0.0), step=step) for x in X)
        for k in range(6)
    ]
    assert all(b <= a + 1e-9 for a, b in pairwise(sums))
    assert sums[-1] < 0.9 * sums[0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: dtw([], [1.0]), ValueError, "at least one element in x. Got an empty"),
        (lambda: dtw([1.0], [1.0, np.nan]), ValueError, "in y. Got nan at position 1"),
        (lambda: dtw("ab", [1.0]), TypeError, "expected numbers in x"),
        (lambda: dtw([[1.0, 2.0]], [1.0]), ValueError, "channels in y as in x. Got 1 and 2"),
        (lambda: dtw([1.0], [1.0], window=-1), ValueError, "A window must be None, an int"),
        (lambda: dtw([1.0], [1.0], window=1.5), ValueError, "A window must be None"),
        (lambda: dtw([1.0], [1.0], window=Itakura(1.0)), ValueError, "'slope' parameter of Itaku"),
        (lambda: dtw([1.0], [1.0], step="slanted"), ValueError, "'step' parameter of dtw"),
        (lambda: dtw([1.0], [1.0], step=(1, 0, 1)), ValueError, "three positive weights"),
        (lambda: dtw([1.0], [1.0], local="cosine"), ValueError, "'local' parameter of dtw"),
        (
            lambda: dtw([1.0], [1.0, 2.0], local=lambda a, b: a),
            ValueError,
            r"costs of shape \(1, 2\)",
        ),
        (
            lambda: dtw(np.zeros(9), np.zeros(4), window=SakoeChiba(3, strict=True)),
            ValueError,
            "no path between series of lengths 9 and 4",
        ),
        (
            lambda: dtw_matrix([np.zeros(9), np.zeros(3)], window=Itakura(2.0)),
            ValueError,
            "no path between series of lengths 3 and 9",
        ),
        (
            lambda: dtw_matrix([[1.0], [2.0, np.inf]]),
            ValueError,
            "series 1 of X. Got inf at position 1",
        ),
        (
            lambda: dtw_matrix([[1.0]], [np.full((3, 2), np.nan)]),
            ValueError,
            "series 0 of Z. Got nan at position 0, channel 0",
        ),
        (lambda: dtw_matrix([[1.0], []]), ValueError, "series 1 of X. Got an empty series"),
        (lambda: dtw_matrix([]), ValueError, "at least one series in X"),
        (lambda: dtw_matrix(np.zeros(4)), ValueError, r"Got one array of shape \(4,\)"),
        (lambda: dtw_matrix("word"), TypeError, "expected a collection of series"),
        (
            lambda: dtw_matrix([np.zeros((3, 1)), np.zeros((3, 2))]),
            ValueError,
            "1 in series 0 and 2 in series 1",
        ),
        (lambda: dtw_matrix([[1.0]], np.zeros((1, 2, 2))), ValueError, "in Z as in X. Got 2 and 1"),
        (
            lambda: nearest_series([[1.0]], [[1.0]], n_neighbors=2),
            ValueError,
            r"an int in \[1, 1\] \(candidates\)",
        ),
        (lambda: nearest_series([[1.0]], [[1.0]], n_neighbors=1.0), TypeError, "must be an int"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
