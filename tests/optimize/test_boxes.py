"""Descent within bounds."""

import numpy as np
from scipy.optimize import minimize

from isthmus.optimize import minimize_in_box
from isthmus.regression import GaussianProcess


def hill_and_valley(x):
    """The shape of a likelihood: a hill beside a valley at (3, 0), and a plateau beyond."""
    to_valley = x - np.array([3.0, 0.0])
    hill, valley = 1e4 * np.exp(-x @ x), 1e4 * np.exp(-0.5 * to_valley @ to_valley)
    return float(hill - valley), -2 * x * hill + to_valley * valley


def test_a_steep_function_does_not_end_in_a_corner():
    start, bounds = np.array([0.4, 0.0]), [(-30.0, 30.0)] * 2
    found = minimize_in_box(hill_and_valley, start, bounds, max_iter=100)
    np.testing.assert_allclose(found.x, [3, 0], atol=0.01)
    np.testing.assert_allclose(hill_and_valley(found.x)[0], found.fun)
    plain = minimize(hill_and_valley, start, jac=True, method="L-BFGS-B", bounds=bounds)
    assert abs(plain.fun) < 1  # what it is there for: SciPy alone stops on the plateau


def test_a_flat_function_is_left_as_it_is():
    def flat(x):
        return float(0.5 * x @ x), x

    start, bounds = np.array([0.4, 0.2]), [(0.1, 1.0)] * 2
    plain = minimize(flat, start, jac=True, method="L-BFGS-B", bounds=bounds)
    found = minimize_in_box(flat, start, bounds, max_iter=100)
    np.testing.assert_array_equal(found.x, plain.x)
    assert found.fun == plain.fun


def test_a_start_outside_is_brought_to_the_bounds():
    found = minimize_in_box(hill_and_valley, np.array([9.0, 0.5]), [(1.0, 2.0)] * 2, max_iter=50)
    np.testing.assert_allclose(found.x, [2.0, 1.0])


def test_a_process_needs_no_second_start_on_steep_likelihoods(rng):
    X = rng.uniform(size=(60, 4))
    Y = np.column_stack([np.sin((j + 1) * X[:, j % 4]) for j in range(16)])
    one, five = (GaussianProcess(n_init=n, random_state=0).fit(X, Y) for n in (1, 5))
    np.testing.assert_allclose(
        one.log_marginal_likelihood_, five.log_marginal_likelihood_, rtol=1e-4
    )
