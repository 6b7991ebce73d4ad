"""Many problems at once come to the same end as one by one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from isthmus.optimize import minimize_rows


def rosenbrocks(scales):
    """Row i is Rosenbrock's valley with its own steepness."""

    def fun(Z, rows):
        a, b = Z[:, 0], Z[:, 1]
        s = scales[rows]
        value = (1 - a) ** 2 + s * (b - a**2) ** 2
        gradient = np.column_stack([-2 * (1 - a) - 4 * s * a * (b - a**2), 2 * s * (b - a**2)])
        return value, gradient

    return fun


def test_rows_of_different_difficulty_all_converge(rng):
    scales = np.array([1.0, 10.0, 100.0, 1000.0])
    start = rng.uniform(-2, 2, size=(4, 2))
    result = minimize_rows(rosenbrocks(scales), start, tol=1e-9, max_iter=500)
    assert result.converged.all()
    assert_allclose(result.x, 1, atol=1e-5)


def test_start_is_not_changed_and_values_never_rise(rng):
    start = rng.uniform(-2, 2, size=(5, 2))
    start.flags.writeable = False
    fun = rosenbrocks(np.full(5, 50.0))
    result = minimize_rows(fun, start, max_iter=3)
    assert (result.value <= fun(start, np.arange(5))[0]).all()
    assert_allclose(result.value, fun(result.x, np.arange(5))[0])


def test_box_agrees_with_scipy(rng):
    centres = rng.normal(size=(6, 3))
    A = rng.normal(size=(3, 3))
    H = A @ A.T + np.eye(3)

    def fun(Z, rows):
        E = Z - centres[rows]
        return 0.5 * np.einsum("ij,jk,ik->i", E, H, E), E @ H

    result = minimize_rows(fun, np.zeros((6, 3)), bounds=(-0.3, 0.3), tol=1e-10, max_iter=500)
    assert result.converged.all()
    for i in range(6):
        reference = minimize(
            lambda z, i=i: fun(z[None], np.array([i]))[0][0],
            np.zeros(3),
            jac=lambda z, i=i: fun(z[None], np.array([i]))[1][0],
            bounds=[(-0.3, 0.3)] * 3,
            options={"ftol": 1e-15, "gtol": 1e-12},
        )
        assert_allclose(result.x[i], reference.x, atol=1e-5)


def test_too_few_iterations_are_reported():
    result = minimize_rows(rosenbrocks(np.array([100.0])), np.array([[-1.5, 2.0]]), max_iter=2)
    assert not result.converged[0]
    assert "0 of 1 problems converged in 2 iterations" in result.message


def test_a_start_at_the_minimum_stays():
    result = minimize_rows(rosenbrocks(np.array([10.0])), np.ones((1, 2)))
    assert result.converged[0]
    assert_allclose(result.x, 1)


def plain_descent(fun, z, low, high, *, tol, max_iter, memory=8):
    """The same descent of one problem, written as the two loops are in the textbooks."""
    project = lambda v: np.clip(v, low, high)  # noqa: E731
    x = project(z)
    f, g = fun(x)
    optimality = lambda: np.abs(project(x - g) - x).max()  # noqa: E731
    threshold, pairs = tol * max(optimality(), 1.0), []
    for n_steps in range(max_iter):
        if optimality() <= threshold:
            break
        free = ~(((x <= low) & (g > 0)) | ((x >= high) & (g < 0)))
        valid = [(s, y) for s, y in pairs if s @ y > 1e-12 * np.linalg.norm(s) * np.linalg.norm(y)]
        q, weights = np.where(free, g, 0), []
        for s, y in valid:
            weights.append((s @ q) / (s @ y))
            q = q - weights[-1] * y
        if valid:
            s, y = valid[0]
            q = q * (s @ y) / (y @ y)
        for (s, y), a in reversed(list(zip(valid, weights, strict=True))):
            q = q + (a - (y @ q) / (s @ y)) * s
        direction = np.where(free, -q, 0)
        if direction @ g >= 0:
            direction, valid, pairs = np.where(free, -g, 0), [], []
        step = 1.0 if valid else 1 / np.linalg.norm(direction)
        step = min(step, 1.0) if n_steps == 0 else step
        while True:
            trial = project(x + step * direction)
            value, gradient = fun(trial)
            if value <= f + 1e-4 * g @ (trial - x):
                break
            step *= 0.3
        pairs = [(trial - x, gradient - g), *pairs][:memory]
        x, f, g = trial, value, gradient
    return x


@pytest.mark.parametrize("n_columns", [2, 15])
@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-0.5, 0.7)])
def test_many_rows_go_the_ways_of_one_by_one(bounds, n_columns, rng):
    # Waves on a bowl: some steps are refused, some have negative curvature.
    centres, steep = rng.normal(size=(30, n_columns)), rng.uniform(0.5, 20, size=(30, n_columns))
    start, points = rng.normal(size=(30, n_columns)), []

    def fun(Z, rows):
        E = Z - centres[rows]
        value = (0.5 * steep[rows] * E**2 + np.sin(3 * E)).sum(axis=1)
        return value, steep[rows] * E + 3 * np.cos(3 * E)

    def alone(z, i):
        points.append(i)
        value, gradient = fun(z[None], np.array([i]))
        return value[0], gradient[0]

    asked = []

    def together(Z, rows):
        asked.extend(rows)
        return fun(Z, rows)

    found = minimize_rows(together, start, bounds=bounds, tol=1e-3, scale=1.0, max_iter=60)
    for i, z in enumerate(start):
        one = plain_descent(lambda v, i=i: alone(v, i), z, *bounds, tol=1e-3, max_iter=60)
        assert_allclose(found.x[i], one, atol=1e-9)
    assert sorted(asked) == sorted(points)  # as many evaluations, too
    assert len(asked) > 4 * len(start)


def test_single_precision_stays_single(rng):
    start = rng.normal(size=(5, 3)).astype(np.float32)
    found = minimize_rows(lambda Z, rows: (0.5 * (Z**2).sum(axis=1), Z), start)
    assert found.x.dtype == found.value.dtype == np.float32
    assert found.converged.all()
    assert_allclose(found.x, 0, atol=1e-5)
