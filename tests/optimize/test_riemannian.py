"""Descent over matrices of fixed rank."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from isthmus.optimize import FixedRank, Slope, haar_sample, minimize_fixed_rank, riemannian_gradient
from isthmus.optimize.riemannian import _project, _retract, _transport, _two_loop

SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 7)).flatmap(
    lambda od: st.tuples(st.just(od[0]), st.just(od[1]), st.integers(1, min(od)))
)
SEEDS = st.integers(0, 2**32 - 1)


def random_point(shape, rng):
    o, d, r = shape
    s = np.sort(rng.uniform(0.5, 3, r))[::-1]
    return FixedRank(haar_sample(o, r, rng), s, haar_sample(d, r, rng), rng.normal(size=o))


def matrix(point):
    return (point.V * point.s) @ point.W.T


def tangent(point, G, gb):
    return _project(point, G @ point.W, G.T @ point.V, gb)


def dense(point, xi):
    """The tangent vector as a matrix."""
    o, r = point.V.shape
    d = len(point.W)
    M = xi[: r * r].reshape(r, r)
    Up = xi[r * r : r * r + o * r].reshape(o, r)
    Vp = xi[r * r + o * r : r * r + (o + d) * r].reshape(d, r)
    return (point.V @ M + Up) @ point.W.T + point.V @ Vp.T


def distance_to(target, b):
    """Half the squared distance of ``(F, b)`` to a matrix and a vector."""

    def fun(point):
        G = matrix(point) - target
        value = 0.5 * np.sum(G**2) + 0.5 * np.sum((point.b - b) ** 2)
        return Slope(float(value), G @ point.W, G.T @ point.V, point.b - b)

    return fun


def truncation(A, rank):
    u, s, vt = np.linalg.svd(A)
    return (u[:, :rank] * s[:rank]) @ vt[:rank]


@given(shape=SHAPES, seed=SEEDS)
@settings(deadline=None)
def test_projection_is_the_nearest_tangent_vector_and_keeps_lengths(shape, seed):
    rng = np.random.default_rng(seed)
    point = random_point(shape, rng)
    G, D = rng.normal(size=(2, *shape[:2]))
    zero = np.zeros(shape[0])
    xi, eta = tangent(point, G, zero), tangent(point, D, zero)
    assert_allclose(np.linalg.norm(dense(point, xi)), np.linalg.norm(xi), atol=1e-10)
    assert_allclose(np.vdot(G - dense(point, xi), dense(point, eta)), 0, atol=1e-10)


@given(shape=SHAPES, seed=SEEDS, step=st.sampled_from([0.0, 0.3, 3.0]))
@settings(deadline=None)
def test_retraction_is_the_best_approximation_with_orthonormal_factors(shape, seed, step):
    rng = np.random.default_rng(seed)
    point = random_point(shape, rng)
    xi = step * tangent(point, rng.normal(size=shape[:2]), np.ones(shape[0]))
    moved = _retract(point, xi)
    r = shape[2]
    assert_allclose(matrix(moved), truncation(matrix(point) + dense(point, xi), r), atol=1e-8)
    assert_allclose(moved.V.T @ moved.V, np.eye(r), atol=1e-12)
    assert_allclose(moved.W.T @ moved.W, np.eye(r), atol=1e-12)
    assert_allclose(moved.b, point.b + step)


@given(shape=SHAPES, seed=SEEDS)
@settings(deadline=None)
def test_transport_projects_on_the_new_tangent_space(shape, seed):
    rng = np.random.default_rng(seed)
    old, new = random_point(shape, rng), random_point(shape, rng)
    b = rng.normal(size=shape[0])
    xi = tangent(old, rng.normal(size=shape[:2]), b)
    expected = tangent(new, dense(old, xi), b)
    assert_allclose(_transport(old, new, xi[None])[0], expected, atol=1e-10)


def test_gradient_predicts_the_change_to_second_order():
    rng = np.random.default_rng(0)
    point = random_point((6, 5, 2), rng)
    fun = distance_to(rng.normal(size=(6, 5)), rng.normal(size=6))
    g = riemannian_gradient(point, fun(point))
    xi = tangent(point, rng.normal(size=(6, 5)), rng.normal(size=6))
    t = np.logspace(-1, -4, 7)
    base = fun(point).value
    remainder = [abs(fun(_retract(point, s * xi)).value - base - s * (g @ xi)) for s in t]
    assert np.polyfit(np.log(t), np.log(remainder), 1)[0] > 1.9


@pytest.mark.parametrize("sphere", [False, True])
@given(shape=SHAPES, seed=SEEDS)
@settings(deadline=None, max_examples=25)
def test_nearest_matrix_of_a_rank_is_found_from_anywhere(sphere, shape, seed):
    rng = np.random.default_rng(seed)
    o, d, r = shape
    k = min(o, d)
    # Distinct singular values: the truncation is then the only minimum.
    target = (haar_sample(o, k, rng) * 2.0 ** -np.arange(k)) @ haar_sample(d, k, rng).T
    b = rng.normal(size=o)
    known = {"curvature": 1.0, "sphere": True} if sphere else {}
    start = random_point(shape, rng)
    result = minimize_fixed_rank(distance_to(target, b), start, tol=1e-9, **known)
    assert result.converged
    assert_allclose(matrix(result.point), truncation(target, r), atol=1e-5)
    assert_allclose(result.point.b, b, atol=1e-5)
    assert (np.diff(result.path) <= 1e-12 * result.path[0]).all()


@pytest.mark.parametrize("n_pairs", [1, 2, 7])
def test_two_triangular_systems_are_the_recursion_over_the_pairs(n_pairs, rng):
    A = rng.normal(size=(20, 20))
    steps = rng.normal(size=(n_pairs, 20))
    changes, g = steps @ (A @ A.T + np.eye(20)), rng.normal(size=20)
    q, a = g.copy(), np.empty(n_pairs)
    for i in reversed(range(n_pairs)):
        a[i] = steps[i] @ q / (steps[i] @ changes[i])
        q -= a[i] * changes[i]
    q *= steps[-1] @ changes[-1] / (changes[-1] @ changes[-1])
    for i in range(n_pairs):
        q += (a[i] - changes[i] @ q / (steps[i] @ changes[i])) * steps[i]
    assert_allclose(_two_loop(g, steps, changes), q, rtol=1e-9)


@pytest.mark.parametrize("gap", [0.1, 0.95])
def test_steps_down_a_sphere_are_as_few_as_its_singular_values_allow(gap):
    rng = np.random.default_rng(0)
    values = np.r_[np.ones(3), np.full(17, gap)]
    target = (haar_sample(30, 20, rng) * values) @ haar_sample(40, 20, rng).T
    start = random_point((30, 40, 3), rng)
    plain = minimize_fixed_rank(distance_to(target, start.b), start)
    known = minimize_fixed_rank(distance_to(target, start.b), start, curvature=1.0, sphere=True)
    assert plain.converged
    assert known.converged
    assert known.value <= plain.value * (1 + 1e-9)
    # Where the gap is narrow the gradient alone would take far longer: the memory comes in.
    assert known.n_iter <= (0.8 if gap < 0.5 else 1.2) * plain.n_iter


def test_an_optimal_start_stays_and_too_few_steps_are_admitted():
    rng = np.random.default_rng(0)
    start = random_point((4, 4, 2), rng)
    at_home = minimize_fixed_rank(distance_to(matrix(start), start.b), start, scale=1.0)
    assert at_home.n_iter == 0
    assert at_home.converged
    fun = distance_to(rng.normal(size=(4, 4)), start.b)
    assert not minimize_fixed_rank(fun, start, max_iter=1, tol=1e-12).converged


def test_callback_sees_the_optimality_that_is_reported():
    rng = np.random.default_rng(0)
    seen = []
    result = minimize_fixed_rank(
        distance_to(rng.normal(size=(5, 4)), np.zeros(5)),
        random_point((5, 4, 2), rng),
        callback=lambda *state: seen.append(state),
    )
    assert seen[-1] == (result.n_iter, result.value, pytest.approx(result.optimality))
