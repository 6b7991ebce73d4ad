"""Lines by arc length: exact projections against plain formulas, and their parts."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad

from isthmus.manifold.curves.joining import greedy_path, joint_costs, path_cost
from isthmus.manifold.curves.joining_loops import untangle
from isthmus.manifold.curves.loops import nearest
from isthmus.manifold.curves.polygonal import (
    hat_leverages,
    polygon_objective,
    settle,
    with_midpoint,
)
from isthmus.manifold.curves.polyline import (
    all_feet,
    feet,
    feet_from,
    points_at,
    polyline,
    resample,
    tangents_at,
    with_tails,
)
from isthmus.manifold.curves.segments import (
    Segments,
    axis_segment,
    one_more,
    segment_leverages,
    settle_segments,
)


@pytest.fixture(params=[False, True], ids=["open", "closed"])
def line(request):
    return polyline(np.random.default_rng(0).normal(size=(7, 3)), closed=request.param)


def dense(line, n=40_001):
    x = np.union1d(np.linspace(0, line.lengths[-1], n), line.lengths)
    return x, points_at(line, x)


def test_arc_lengths_are_distances_along_the_line(line):
    x, P = dense(line)
    assert_allclose(np.linalg.norm(np.diff(P, axis=0), axis=1).sum(), line.lengths[-1], rtol=1e-6)
    assert_allclose(np.linalg.norm(tangents_at(line, x[::97]), axis=1), 1.0)
    assert_allclose(points_at(line, line.lengths), line.corners)


def test_repeated_corners_count_once():
    line = polyline(np.array([[0.0, 0], [0, 0], [1, 0], [1, 0], [1, 2]]))
    assert_array_equal(line.lengths, [0, 1, 3])


@pytest.mark.parametrize("weighted", [False, True])
def test_projection_is_the_nearest_of_many_points(line, weighted):
    rng = np.random.default_rng(1)
    Y = 2 * rng.normal(size=(40, 3))
    W = rng.uniform(size=Y.shape) * (rng.uniform(size=Y.shape) < 0.7) if weighted else None
    if weighted:
        W[~W.any(axis=1)] = 1.0
    _, P = dense(line)
    weights = np.ones_like(Y) if W is None else W
    slow = np.array([(w * (y - P) ** 2).sum(axis=1).min() for y, w in zip(Y, weights, strict=True)])
    found = feet(line, Y, W)
    assert np.all(found.error <= slow + 1e-12)
    assert_allclose(found.error, slow, atol=1e-5)
    assert_allclose(
        (weights * (points_at(line, found.x) - Y) ** 2).sum(axis=1), found.error, atol=1e-25
    )


def test_all_minima_are_those_of_the_distance_along_the_line(line):
    rng = np.random.default_rng(2)
    x, P = dense(line)
    for y in 1.5 * rng.normal(size=(20, 3)):
        distance = np.sum((y - P) ** 2, axis=1)
        if line.closed:
            around = np.concatenate([[distance[-2]], distance, [distance[1]]])
        else:
            around = np.concatenate([[np.inf], distance, [np.inf]])
        low = np.flatnonzero((around[1:-1] < around[:-2]) & (around[1:-1] <= around[2:]))
        low = low[x[low] < line.lengths[-1]] if line.closed else low
        found = all_feet(line, y[None], None, 8)
        known = np.isfinite(found.error[0])
        assert known.sum() == len(low)
        assert_allclose(np.sort(found.x[0][known]), x[low], atol=1e-3)
        assert np.all(np.diff(found.error[0][known]) >= 0)
        assert_allclose(found.error[0, 0], feet(line, y[None]).error[0])


def test_descent_from_a_minimum_stays_and_never_rises(line):
    rng = np.random.default_rng(3)
    Y = 1.5 * rng.normal(size=(30, 3))
    best = feet(line, Y)
    assert_allclose(feet_from(line, Y, None, best.x).error, best.error)
    start = rng.uniform(0, line.lengths[-1], size=30)
    ends = feet_from(line, Y, None, start)
    assert np.all(ends.error <= np.sum((points_at(line, start) - Y) ** 2, axis=1) + 1e-12)
    minima = all_feet(line, Y, None, 8).x
    gap = np.abs(minima - ends.x[:, None])
    gap = np.minimum(gap, line.lengths[-1] - gap) if line.closed else gap
    assert_allclose(gap.min(axis=1), 0.0, atol=1e-9)


def test_ties_go_to_the_end_of_the_line():
    line = polyline(np.array([[-1.0, 1], [-1, -1], [1, -1], [1, 1]]))
    assert feet(line, np.array([[0.0, 0.0]])).x[0] == pytest.approx(5.0)


def test_tails_go_straight_on():
    line = with_tails(polyline(np.array([[0.0, 0], [1, 0], [1, 1]])), 2.0)
    assert_allclose(line.corners[[0, -1]], [[-2, 0], [1, 3]])


def test_resampled_corners_are_equidistant(line):
    steps = np.diff(resample(line, 200).lengths)
    # Shorter only where a corner is cut.
    assert np.sum(steps < 0.999 * steps.max()) <= len(line.corners)


# Polygonal lines ----------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [False, True])
def test_gradient_of_the_polygon(closed):
    rng = np.random.default_rng(4)
    V, Y = rng.normal(size=(6, 3)), rng.normal(size=(50, 3))
    error = check_grad(
        lambda v: polygon_objective(v.reshape(V.shape), Y, 0.3, closed=closed)[0],
        lambda v: polygon_objective(v.reshape(V.shape), Y, 0.3, closed=closed)[1].ravel(),
        V.ravel(),
    )
    assert error < 1e-5


def test_one_segment_without_penalty_lies_on_the_principal_axis():
    rng = np.random.default_rng(5)
    Y = rng.normal(size=(200, 3)) * [3.0, 1.0, 0.5]
    Y -= Y.mean(axis=0)
    first = np.array([[-9.0, 1.0, 0.0], [9.0, 0.0, 1.0]])
    V = settle(first, Y, alpha=0.0, closed=False, max_iter=500, tol=1e-9)
    axis = np.linalg.svd(Y)[2][0]
    along = (V[1] - V[0]) / np.linalg.norm(V[1] - V[0])
    assert abs(along @ axis) > 1 - 1e-5


def test_a_corner_is_added_where_most_rows_are():
    line = polyline(np.array([[0.0, 0], [1, 0], [3, 0]]))
    corners = with_midpoint(line, np.array([[0.2, 0], [0.4, 0], [0.6, 0], [2.0, 0]]))
    assert_allclose(corners, [[0, 0], [0.5, 0], [1, 0], [3, 0]])


def test_leverages_are_those_of_the_regression_on_places(line):
    rng = np.random.default_rng(6)
    Y = points_at(line, rng.uniform(0, line.lengths[-1], 60)) + 0.01 * rng.normal(size=(60, 3))
    h = hat_leverages(line, Y)
    assert np.all((h > 0) & (h < 1))
    m = len(line.corners) - line.closed
    assert 0.9 * m < h.sum() <= m  # a little below by the ridge


# Segments -----------------------------------------------------------------------------------


def test_a_segment_reaches_one_and_a_half_deviations():
    t = np.linspace(-1, 1, 501)
    a, b = axis_segment(np.column_stack([t, 2 * t]))
    assert_allclose(np.linalg.norm(b - a), 3 * np.sqrt(5 / 3), rtol=1e-2)


def test_two_lines_are_found_as_two_segments():
    rng = np.random.default_rng(7)
    t = rng.uniform(-1, 1, size=100)
    Y = np.vstack([np.column_stack([t, 0 * t]), np.column_stack([0 * t + 4, t])])
    a, b = axis_segment(Y)
    more = one_more(Segments(a[None], b[None]), Y, Y)
    found = settle_segments(more, Y, 50)
    step = np.abs(found.B - found.A)
    assert sorted(np.argmax(step, axis=1)) == [0, 1]
    h = segment_leverages(found, Y)
    assert_allclose(h.sum(), 4.0, rtol=1e-6)  # a mean and a slope each


@pytest.mark.parametrize("closed", [False, True])
def test_joining_is_near_the_best_of_all_orders(closed):
    rng = np.random.default_rng(8)
    for _ in range(4):
        A = rng.normal(size=(4, 2))
        costs = joint_costs(A, A + 0.3 * rng.normal(size=(4, 2)), 0.2)
        best = min(
            path_cost(
                np.array(
                    [2 * k + e for k, f in zip(order, flips, strict=True) for e in (f, 1 - f)]
                ),
                costs,
                closed=closed,
            )
            for order in permutations(range(4))
            for flips in product((0, 1), repeat=4)
        )
        path = greedy_path(costs)
        greedy = path_cost(path, costs, closed=closed)
        refined = untangle(path.copy(), np.where(np.isfinite(costs), costs, 1e100), closed)
        assert sorted(refined) == list(range(8))
        after = path_cost(refined, costs, closed=closed)
        assert best <= after + 1e-12
        assert after <= greedy + 1e-12
        assert after <= 1.3 * best


@pytest.mark.parametrize(("n", "K", "d"), [(1, 1, 1), (60, 17, 3)])
def test_the_nearest_segment_is_that_of_the_plain_loop(rng, n, K, d):
    corners = np.cumsum(rng.normal(size=(K + 1, d)), axis=0)
    corners[K // 2] = corners[K // 2 - 1]  # a segment without length
    Y = np.vstack([rng.normal(size=(n, d)), corners])  # at corners two segments are as near
    ends = corners[:-1], corners[1:]
    fast = nearest(Y, np.empty((0, d)), *ends)
    for one, other in zip(fast, nearest(Y, np.ones_like(Y), *ends), strict=True):
        assert_array_equal(one, other)
