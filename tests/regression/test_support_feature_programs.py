"""Linear programs by HiGHS and by SciPy: the same points, multipliers and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from isthmus.regression import SupportFeatureMachine
from isthmus.regression.support_features import programs
from isthmus.regression.support_features.programs import Infeasible, Program, by_scipy, optimum


def random_program(seed, *, equal=True, slack=False):
    """Weights of many columns, a constant, and slacks of the rows if asked for."""
    rng = np.random.default_rng(seed)
    m, n = 20, 31
    A, cost = rng.normal(size=(m, n)), np.r_[rng.uniform(0.5, 2.0, n - 1), 0.0]
    if slack:
        A = sparse.hstack([sparse.csc_array(A), -sparse.eye_array(m)], format="csc")
        cost = np.r_[cost, np.ones(m)]
    E = np.r_[rng.normal(size=n - 1), np.zeros(len(cost) - n + 1)][None] if equal else None
    E = np.zeros((0, len(cost))) if E is None else E
    free = np.arange(len(cost)) == n - 1
    return Program(cost, A, -np.ones(m), E, np.ones(len(E)), free, slack)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("slack", [False, True])
def test_both_ways_find_the_same_point_and_multipliers(seed, equal, slack):
    program = random_program(seed, equal=equal, slack=slack)
    quick, slow = programs._by_highs(program), by_scipy(program)
    assert quick is not None
    for ours, theirs in zip(quick, slow, strict=True):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_multipliers_prove_the_optimum():
    program = random_program(0)
    found = optimum(program)
    price = program.A.T @ found.rows + program.equal.T @ found.equal
    assert_allclose(program.b @ found.rows + program.d @ found.equal, program.cost @ found.x)
    assert np.all(price <= program.cost + 1e-9)
    assert_allclose(price[program.free], 0, atol=1e-9)


@pytest.mark.parametrize("solve", [optimum, by_scipy])
def test_a_program_without_points_is_refused(solve):
    A = np.array([[1.0], [-1.0]])
    none = np.zeros((0, 1))
    program = Program(
        np.ones(1), A, np.array([1.0, -2.0]), none, np.zeros(0), np.array([True]), False
    )
    with pytest.raises(Infeasible):
        solve(program)


def test_a_program_without_an_end_is_an_error():
    none = np.zeros((0, 1))
    program = Program(
        -np.ones(1), -np.eye(1), np.zeros(1), none, np.zeros(0), np.array([False]), False
    )
    with pytest.raises(RuntimeError, match="not solved"):
        optimum(program)


@pytest.mark.parametrize("error", [ImportError, AttributeError, TypeError])
def test_without_the_binding_scipy_is_asked(monkeypatch, error):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 120))
    y = X[:, :3].sum(axis=1) > 0
    quick = SupportFeatureMachine().fit(X, y)

    def missing(program):
        raise error("another binding")

    monkeypatch.setattr(programs, "_by_highs", missing)
    slow = SupportFeatureMachine().fit(X, y)
    assert_array_equal(quick.support_, slow.support_)
    assert_allclose(quick.coef_, slow.coef_, rtol=1e-8)
