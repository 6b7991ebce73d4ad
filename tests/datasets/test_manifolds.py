"""Noisy curves and surfaces, and distances to their shapes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from isthmus.datasets import (
    distance_to_manifold,
    make_fish_bowl,
    make_half_circle,
    make_noisy_spiral,
    make_noisy_swiss_roll,
    make_s_triangle,
)

MAKERS = [
    make_noisy_spiral,
    make_half_circle,
    make_s_triangle,
    make_fish_bowl,
    make_noisy_swiss_roll,
]
SHAPES = {
    "spiral": make_noisy_spiral,
    "half_circle": make_half_circle,
    "fish_bowl": make_fish_bowl,
    "swiss_roll": make_noisy_swiss_roll,
}


@pytest.mark.parametrize("make", MAKERS)
def test_a_seed_fixes_the_data(make):
    for first, second in zip(make(30, random_state=3), make(30, random_state=3), strict=True):
        assert_allclose(first, second, rtol=0)
    assert len(make(30, random_state=3)[0]) == 30
    assert not np.allclose(make(30, random_state=3)[0], make(30, random_state=4)[0])


@pytest.mark.parametrize("name", SHAPES)
def test_without_noise_points_lie_on_the_shape(name):
    Y, _ = SHAPES[name](200, noise=0.0, random_state=0)
    assert distance_to_manifold(Y, name).max() < 1e-5


@pytest.mark.parametrize("law", ["gaussian", "laplacian", "uniform"])
def test_noise_has_the_size_that_is_asked_for(law):
    Y, t = make_half_circle(20_000, noise=0.5, law=law, random_state=0)
    residual = Y - 10 * np.column_stack([np.cos(t), np.sin(t)])
    expected = 0.5 / np.sqrt(3) if law == "uniform" else 0.5
    assert_allclose(residual.std(axis=0), expected, rtol=0.03)


def test_distance_to_the_spiral_is_the_smallest_over_its_parameter():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.3, 1.3, size=(20, 2))

    def gap(t, p):
        return np.hypot(*((t + 0.2) * np.array([np.sin(4 * np.pi * t), np.cos(4 * np.pi * t)]) - p))

    grid = np.linspace(0, 1, 400)
    for p, found in zip(points, distance_to_manifold(points, "spiral"), strict=True):
        near = grid[np.argmin([gap(t, p) for t in grid])]
        bounds = max(near - 0.01, 0), min(near + 0.01, 1)
        best = minimize_scalar(
            gap, args=(p,), bounds=bounds, method="bounded", options={"xatol": 1e-10}
        )
        assert_allclose(found, min(best.fun, gap(0, p), gap(1, p)), atol=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_sign_is_negative_towards_the_centre_of_curvature(name):
    Y = SHAPES[name](300, noise=0.0, random_state=0)[0]
    flat = [1, 0, 1] if name == "swiss_roll" else 1
    inner = distance_to_manifold(Y - 0.01 * Y * flat, name, signed=True)
    outer = distance_to_manifold(Y + 0.01 * Y * flat, name, signed=True)
    # Past the ends of a spiral, which is not normal to its rays, sides mean little.
    assert np.mean(inner < 0) > 0.97
    assert np.mean(outer > 0) > 0.97


def test_ends_and_rims_count():
    assert_allclose(distance_to_manifold([[10.0, -3.0]], "half_circle"), 3.0, atol=1e-6)
    assert_allclose(distance_to_manifold([[0.0, 0.0, -10.0]], "fish_bowl"),
                    np.hypot(10 * np.sqrt(0.51), 3.0))  # fmt: skip
    Y = make_noisy_swiss_roll(5, noise=0.0, random_state=0)[0] * [1, 0, 1] + [0, 34.0, 0]
    assert_allclose(distance_to_manifold(Y, "swiss_roll"), 4.0, atol=1e-6)
    assert_allclose(distance_to_manifold(Y, "swiss_roll", height=34.0), 0.0, atol=1e-4)


def test_points_by_arc_are_spread_evenly_over_the_length_of_the_spiral():
    Y, t = make_noisy_spiral(20_000, noise=0.0, spacing="arc", random_state=0)
    assert distance_to_manifold(Y, "spiral").max() < 1e-6
    gone = np.linalg.norm(np.diff(Y[np.argsort(t)], axis=0), axis=1).cumsum()
    # The law of shares gone is uniform: the bound of Kolmogorov and Smirnov at 1e-6.
    assert np.abs(gone / gone[-1] - np.linspace(0, 1, len(gone))).max() < 2.7 / np.sqrt(len(gone))
    assert np.mean(t < 0.5) < 0.35  # the inner winding is the shorter one


def test_outliers_are_moved_along_their_ray():
    Y, _ = make_half_circle(100, noise=0.0, n_outliers=10, random_state=0)
    radius = np.linalg.norm(Y, axis=1)
    assert np.sum(~np.isclose(radius, 10)) == 10
    assert radius.min() > 5
    assert radius.max() < 15


def test_published_distances_of_the_raw_data_are_met():
    # Table 5.1 of the thesis, Laplacian noise of standard deviation 0.25: 0.184 +- 0.019.
    distances = [
        distance_to_manifold(make_half_circle(law="laplacian", random_state=s)[0], "half_circle")
        for s in range(40)
    ]
    assert_allclose(np.mean(distances), 0.184, atol=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_noisy_spiral(law="cauchy"), "Got 'cauchy'"),
        (lambda: make_noisy_spiral(spacing="even"), "Got 'even'"),
        (lambda: distance_to_manifold(np.ones((1, 2)), "torus"), "one of 'spiral'.*Got 'torus'"),
    ],
)
def test_unknown_names_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
