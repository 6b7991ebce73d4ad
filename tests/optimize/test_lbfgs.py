"""L-BFGS-B whose own steps have one thread, and whose function has those of outside."""

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der
from threadpoolctl import threadpool_info, threadpool_limits

from isthmus.linalg.threads import threads_for
from isthmus.optimize.lbfgs import minimize_lbfgs


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_steps_are_those_of_scipy():
    def valley(x):
        return rosen(x), rosen_der(x)

    start, bounds = np.linspace(-1, 1, 6), [(-2.0, 0.9)] * 6
    ours = minimize_lbfgs(valley, start, bounds=bounds, maxiter=40, maxcor=5)
    theirs = minimize(
        valley,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": 40, "maxcor": 5},
    )
    np.testing.assert_array_equal(ours.x, theirs.x)
    assert ours.nit == theirs.nit


def test_the_function_has_the_threads_of_outside_and_the_steps_one():
    seen, between = [], []

    def square(x):
        seen.append(blas_threads())
        return float(x @ x), 2 * x

    def callback(intermediate_result):
        between.append(blas_threads())

    with threadpool_limits(limits=2, user_api="blas"):
        minimize_lbfgs(square, np.ones(3), callback=callback)
        assert blas_threads() == {2}
    assert seen
    assert all(threads == {2} for threads in seen)
    assert between
    assert all(threads == {1} for threads in between)


def test_a_section_around_it_counts_for_the_function_too():
    seen = []

    def square(x):
        seen.append(blas_threads())
        return float(x @ x), 2 * x

    with threadpool_limits(limits=2, user_api="blas"), threads_for(0):
        minimize_lbfgs(square, np.ones(3))
    assert all(threads == {1} for threads in seen)


def test_an_error_of_the_function_gives_the_threads_back():
    def broken(x):
        raise ZeroDivisionError

    with threadpool_limits(limits=2, user_api="blas"):
        with pytest.raises(ZeroDivisionError):
            minimize_lbfgs(broken, np.ones(3))
        assert blas_threads() == {2}
