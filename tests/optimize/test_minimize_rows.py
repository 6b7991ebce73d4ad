"""Many problems at once come to the same end as one by one."""

import numpy as np
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
