"""The Stiefel manifold: tangent vectors, geodesics, retractions, uniform points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import linalg, stats

from isthmus.optimize import (
    canonical_gradient,
    geodesic,
    geodesic_flow,
    haar_sample,
    polar_retraction,
    qr_retraction,
    stiefel_dimension,
    stiefel_hessian,
    stiefel_inner,
    tangent_projection,
)

SHAPES = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n)))
SEEDS = st.integers(0, 2**32 - 1)


def point_and_velocity(shape, seed, *, null_columns=0):
    rng = np.random.default_rng(seed)
    V = haar_sample(*shape, rng)
    G = rng.normal(size=shape)
    G[:, :null_columns] = 0
    return V, tangent_projection(V, G), rng


def full_geodesic(V, D, t):
    """The n x n exponential, plainly the formula."""
    n, r = V.shape
    basis = np.c_[V, linalg.null_space(V.T)]
    A = basis.T @ D
    Z = np.zeros((n, n))
    Z[:, :r] = A
    Z[:r, r:] = -A[r:].T
    return basis @ linalg.expm(t * Z)[:, :r]


@given(shape=SHAPES, seed=SEEDS)
def test_tangent_projection_is_tangent_idempotent_and_nearest(shape, seed):
    V, D, rng = point_and_velocity(shape, seed)
    assert_allclose(V.T @ D, -(V.T @ D).T, atol=1e-12)
    assert_allclose(tangent_projection(V, D), D, atol=1e-12)
    G = rng.normal(size=shape)
    assert_allclose(np.vdot(G - tangent_projection(V, G), D), 0, atol=1e-11)


@given(shape=SHAPES, seed=SEEDS)
def test_canonical_gradient_represents_the_slope_in_the_canonical_metric(shape, seed):
    V, D, rng = point_and_velocity(shape, seed)
    G = rng.normal(size=shape)
    gradient = canonical_gradient(V, G)
    assert_allclose(V.T @ gradient, -(V.T @ gradient).T, atol=1e-12)
    inner = np.vdot(gradient, D - V @ (V.T @ D) / 2)
    assert_allclose(inner, np.vdot(G, D), atol=1e-11)


@given(shape=SHAPES, seed=SEEDS, t=st.floats(-3, 3), null_columns=st.integers(0, 2))
@settings(deadline=None)
def test_small_exponential_gives_the_path_of_the_full_one(shape, seed, t, null_columns):
    V, D, _ = point_and_velocity(shape, seed, null_columns=null_columns)
    assert_allclose(geodesic(V, D, t), full_geodesic(V, D, t), atol=1e-10)


@given(shape=SHAPES, seed=SEEDS, null_columns=st.integers(0, 2))
@settings(deadline=None)
def test_geodesic_starts_at_the_point_in_the_given_direction(shape, seed, null_columns):
    V, D, _ = point_and_velocity(shape, seed, null_columns=null_columns)
    h = 1e-5
    assert_allclose(geodesic(V, D, 0.0), V, atol=1e-13)
    assert_allclose((geodesic(V, D, h) - geodesic(V, D, -h)) / (2 * h), D, atol=1e-7)


@given(shape=SHAPES, seed=SEEDS, t=st.floats(-2, 2), s=st.floats(-2, 2))
@settings(deadline=None)
def test_moving_on_with_the_carried_velocity_stays_on_the_geodesic(shape, seed, t, s):
    V, D, _ = point_and_velocity(shape, seed)
    middle, velocity = geodesic_flow(V, D, t)
    assert_allclose(geodesic(middle, velocity, s), geodesic(V, D, t + s), atol=1e-9)


@given(seed=SEEDS, n=st.integers(1, 6), t=st.floats(-2, 2))
@settings(deadline=None)
def test_square_case_is_a_rotation_by_the_exponential(seed, n, t):
    V, D, _ = point_and_velocity((n, n), seed)
    assert_allclose(geodesic(V, D, t), V @ linalg.expm(t * (V.T @ D)), atol=1e-10)


@given(seed=SEEDS, n=st.integers(2, 8), t=st.floats(-4, 4))
@settings(deadline=None)
def test_one_column_moves_on_a_great_circle(seed, n, t):
    v, d, _ = point_and_velocity((n, 1), seed)
    speed = np.linalg.norm(d)
    assert_allclose(
        geodesic(v, d, t), v * np.cos(speed * t) + d / speed * np.sin(speed * t), atol=1e-10
    )


@pytest.mark.parametrize("step", [geodesic, qr_retraction, polar_retraction])
def test_columns_stay_orthonormal_after_ten_thousand_steps(step):
    V, _, rng = point_and_velocity((6, 2), 0)
    for _ in range(10_000):
        V = step(V, tangent_projection(V, rng.normal(size=V.shape) * 0.3))
    assert np.abs(V.T @ V - np.eye(2)).max() < 1e-10


@pytest.mark.parametrize(("step", "order"), [(qr_retraction, 2), (polar_retraction, 2)])
def test_retractions_leave_in_the_given_direction(step, order):
    V, D, _ = point_and_velocity((7, 3), 1)
    t = np.logspace(-1, -3, 5)
    error = [np.linalg.norm(step(V, s * D) - V - s * D) for s in t]
    assert np.polyfit(np.log(t), np.log(error), 1)[0] > order - 0.1


@given(shape=SHAPES, seed=SEEDS)
def test_polar_retraction_is_the_nearest_point(shape, seed):
    V, D, rng = point_and_velocity(shape, seed)
    found = np.linalg.norm(polar_retraction(V, D) - V - D)
    assert found <= np.linalg.norm(qr_retraction(V, D) - V - D) + 1e-12
    assert found <= np.linalg.norm(haar_sample(*shape, rng) - V - D) + 1e-12


def test_haar_samples_have_the_moments_and_the_law_of_the_uniform_distribution():
    rng = np.random.default_rng(0)
    draws = np.array([haar_sample(3, 2, rng) for _ in range(4000)])
    assert_allclose(draws.mean(axis=0), 0, atol=0.04)
    assert_allclose((draws**2).mean(axis=0), 1 / 3, atol=0.02)
    # A coordinate of a uniform point of the sphere in three dimensions is uniform on [-1, 1].
    assert stats.kstest(draws[:, 2, 1], "uniform", args=(-1, 2)).pvalue > 1e-3


@pytest.mark.parametrize(("n", "r"), [(4, 1), (5, 2), (4, 4)])
def test_dimension_is_the_rank_of_the_tangent_projection(n, r, rng):
    V = haar_sample(n, r, rng)
    images = [tangent_projection(V, E.reshape(n, r)).ravel() for E in np.eye(n * r)]
    assert np.linalg.matrix_rank(np.array(images)) == stiefel_dimension(n, r)
    with pytest.raises(ValueError, match="1 <= r <= n"):
        stiefel_dimension(2, 3)


def quartic(rng, n, r):
    A, B = rng.normal(size=(n, n)), rng.normal(size=(n, r))
    A = A + A.T

    def value(V):
        return 0.5 * np.vdot(V, A @ V) + np.vdot(B, V**2)

    def gradient(V):
        return A @ V + 2 * B * V

    return value, gradient, lambda V, D: A @ D + 2 * B * D


@pytest.mark.parametrize("shape", [(4, 1), (5, 2), (3, 3)])
@pytest.mark.parametrize(
    ("metric", "path"),
    [("canonical", geodesic), ("embedded", lambda V, D, t: polar_retraction(V, t * D))],
)
def test_hessian_is_the_second_derivative_along_a_geodesic(shape, metric, path, rng):
    value, gradient, along = quartic(rng, *shape)
    V = haar_sample(*shape, rng)
    D, E = (tangent_projection(V, rng.normal(size=shape)) for _ in range(2))
    H = stiefel_hessian(V, gradient(V), along(V, D), D, metric=metric)
    assert_allclose(V.T @ H, -(V.T @ H).T, atol=1e-12)
    h = 1e-3
    second = (value(path(V, D, h)) - 2 * value(V) + value(path(V, D, -h))) / h**2
    assert_allclose(stiefel_inner(V, H, D, metric=metric), second, rtol=1e-4, atol=1e-4)
    # The Hessian is symmetric in the metric.
    other = stiefel_hessian(V, gradient(V), along(V, E), E, metric=metric)
    assert_allclose(
        stiefel_inner(V, H, E, metric=metric), stiefel_inner(V, other, D, metric=metric), atol=1e-10
    )


def test_canonical_inner_product_is_that_of_the_gradient(rng):
    V = haar_sample(5, 2, rng)
    G, D = rng.normal(size=(5, 2)), tangent_projection(V, rng.normal(size=(5, 2)))
    assert_allclose(stiefel_inner(V, canonical_gradient(V, G), D), np.vdot(G, D))
    with pytest.raises(ValueError, match="'metric'"):
        stiefel_inner(V, D, D, metric="flat")
