"""L-BFGS in a metric of its own: against SciPy's, and where steps fail."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from isthmus.optimize.metric_lbfgs import minimize_in_metric


def plain(fun, slope):
    return lambda x: (float(fun(x)), slope(x), lambda: np.copy)


def test_without_a_metric_it_ends_where_scipy_ends():
    start = np.linspace(-1, 1, 6)
    found = minimize_in_metric(plain(rosen, rosen_der), start, max_iter=500, tol=1e-12)
    theirs = minimize(rosen, start, jac=rosen_der, method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found.x, theirs.x, atol=1e-5)
    assert found.value == pytest.approx(rosen(found.x))


def test_the_hessian_as_metric_needs_few_steps_where_the_plain_method_needs_many():
    A = np.random.default_rng(0).normal(size=(40, 30)) * 10.0 ** np.linspace(0, 4, 30)
    H = A.T @ A
    x = np.ones(30)

    def bowl(inverse):
        return lambda x: (0.5 * float(x @ H @ x), H @ x, lambda: inverse)

    own = minimize_in_metric(bowl(lambda v: np.linalg.solve(H, v)), x, tol=1e-14)
    none = minimize_in_metric(bowl(np.copy), x, tol=1e-14)
    assert own.n_iter <= 5 < none.n_iter
    assert own.value < 1e-12 * none.value or own.value < 1e-20


def test_it_never_goes_up_and_comes_back_from_places_without_a_value():
    def wall(x):
        inside = float(np.abs(x).max()) < 1.5
        value = float(((x - 1) ** 2).sum()) if inside else np.nan
        return value, 2 * (x - 1), lambda: lambda v: 100 * v

    start = np.full(3, -1.4)
    found = minimize_in_metric(wall, start, tol=1e-9)
    assert found.value < 1e-6
    np.testing.assert_array_equal(start, -1.4)


def test_at_a_minimum_it_stays():
    found = minimize_in_metric(plain(lambda x: x @ x, lambda x: 2 * x), np.zeros(3))
    assert (found.n_iter, found.value) == (0, 0.0)
