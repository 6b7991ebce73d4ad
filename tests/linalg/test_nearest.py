"""The nearest points are the same by plain distances and by products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.linalg import nearest, nearest_loops
from isthmus.linalg.nearest import nearest_points
from isthmus.linalg.nearest_loops import unlike_points


@pytest.mark.parametrize("n_neighbors", [1, 3, 20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("block", [1, 100, 2**17])
@pytest.mark.parametrize("away", [0.0, 1e4])
def test_both_ways_find_the_same(monkeypatch, n_neighbors, dtype, block, away):
    rng = np.random.default_rng(0)
    queries, points = (away + rng.normal(size=(n, 4)).astype(dtype) for n in (30, 20))
    plain = nearest_points(queries, points, n_neighbors)
    monkeypatch.setattr(nearest, "FEW_OPERATIONS", 0)
    monkeypatch.setattr(nearest, "BLOCK", block)
    searched = nearest_points(queries, points, n_neighbors)
    assert_array_equal(plain[1], searched[1])
    assert_allclose(plain[0], searched[0], rtol=1e-5)


@pytest.mark.parametrize("few", [0, nearest.FEW_OPERATIONS])
@pytest.mark.parametrize("n_neighbors", [1, 3])
def test_of_equal_points_the_first_is_taken(monkeypatch, few, n_neighbors):
    monkeypatch.setattr(nearest, "FEW_OPERATIONS", few)
    points = np.array([[2.0], [1.0], [1.0], [1.0]])
    found = nearest_points(np.zeros((1, 1)), points, n_neighbors)[1]
    assert_array_equal(found, [[1, 2, 3][:n_neighbors]])


def far_clusters(rng):
    points = np.vstack([rng.normal(size=(60, 3)), 1e6 + 1e-3 * rng.normal(size=(60, 3))])
    return points[60:] + 1e-4 * rng.normal(size=(60, 3)), points


def one_far_away(rng):
    points = np.vstack([rng.normal(size=(300, 3)), np.full((1, 3), 1e9)])
    return points[:300] + 1e-4, points


def grid(rng):
    return rng.integers(4, size=(40, 2)), rng.integers(4, size=(90, 2))  # ties, and whole numbers


def nearly_all_equal(rng):
    points = np.full((300, 3), 0.7)
    points[::60] = rng.normal(size=(5, 3))
    points[::7, 1] = np.where(np.arange(43) % 2, 0.0, -0.0)
    return rng.normal(size=(40, 3)), points


def equal_but_for_rounding(rng):
    points = 0.7 + 1e-14 * rng.normal(size=(700, 3))
    points[::60] = rng.normal(size=(12, 3))
    points[5::7] = points[3]
    return rng.normal(size=(40, 3)), points


@pytest.mark.parametrize(
    "drawn", [far_clusters, one_far_away, grid, nearly_all_equal, equal_but_for_rounding]
)
@pytest.mark.parametrize("scale", [1, 1e140])
def test_rounding_of_products_decides_nothing(monkeypatch, rng, drawn, scale):
    queries, points = drawn(rng)
    if scale > 1:
        queries, points = scale * queries, scale * points
    plain = nearest_points(queries, points, 3)
    monkeypatch.setattr(nearest, "FEW_OPERATIONS", 0)
    searched = nearest_points(np.asfortranarray(queries), points, 3)
    assert_array_equal(plain[1], searched[1])
    assert_allclose(plain[0], searched[0], rtol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 400])
def test_of_equal_points_as_many_are_kept_as_can_be_nearest(rng, k):
    points = rng.integers(2, size=(300, 3)).astype(float)
    kept = [i for i in range(300) if np.all(points[:i] == points[i], axis=1).sum() < k]
    assert_array_equal(unlike_points(points.view(np.uint64), k), kept)


def test_points_that_are_nearly_all_equal_are_not_all_looked_at(monkeypatch, rng):
    queries, points = nearly_all_equal(rng)
    plain, looked, searched = nearest_points(queries, points, 3), [], nearest_loops.nearest_of_close

    def search(crowded, queries, columns, unlike, *found):
        looked.append(len(unlike))
        searched(crowded, queries, columns, unlike, *found)

    monkeypatch.setattr(nearest, "FEW_OPERATIONS", 0)
    monkeypatch.setattr(nearest_loops, "nearest_of_close", search)
    assert_array_equal(nearest_points(queries, points, 3)[1], plain[1])
    assert looked == [5 + 3 + 2 * 3]  # all different; equal; with a zero of either sign
