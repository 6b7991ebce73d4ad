"""Linear programs by HiGHS and by SciPy: the same points, multipliers and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.regression import SupportFeatureMachine
from isthmus.regression.support_features import programs
from isthmus.regression.support_features.formulas import _linear_program
from isthmus.regression.support_features.programs import Infeasible, Program, by_scipy, optimum


def random_program(seed, *, equal=True, slack=False):
    """Weights of many columns, a constant, and slacks of the rows if asked for."""
    rng = np.random.default_rng(seed)
    m, n = 20, 31
    A, cost = rng.normal(size=(m, n)), np.r_[rng.uniform(0.5, 2.0, n - 1), 0.0]
    E = np.r_[rng.normal(size=n - 1), 0.0][None] if equal else np.zeros((0, n))
    penalties = rng.uniform(0.02, 0.3, m) if slack else None
    return Program(cost, A, np.ones(m), E, np.ones(len(E)), penalties)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("slack", [False, True])
def test_both_ways_find_the_same_point_and_multipliers(seed, equal, slack):
    program = random_program(seed, equal=equal, slack=slack)
    quick, slow = programs._by_highs(program), by_scipy(program)
    assert quick is not None
    assert slow.slack.any() == slack
    for ours, theirs in zip(quick, slow, strict=True):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("slack", [False, True])
def test_multipliers_prove_the_optimum(slack):
    program = random_program(0, slack=slack)
    found = optimum(program)
    value = program.cost @ np.abs(found.x)
    least = program.b
    if slack:
        value += program.penalties @ found.slack
        least = least - found.slack
        assert np.all(found.rows <= program.penalties + 1e-9)
    assert np.all(program.A @ found.x >= least - 1e-9)
    assert_allclose(program.equal @ found.x, program.d)
    price = program.A.T @ found.rows + program.equal.T @ found.equal
    assert_allclose(program.b @ found.rows + program.d @ found.equal, value)
    assert np.all(found.rows >= -1e-9)
    assert np.all(np.abs(price) <= program.cost + 1e-9)


@pytest.mark.parametrize("solve", [optimum, by_scipy])
def test_a_program_without_points_is_refused(solve):
    A = np.array([[-1.0], [1.0]])
    none = np.zeros((0, 1))
    program = Program(np.zeros(1), A, np.array([-1.0, 2.0]), none, np.zeros(0), None)
    with pytest.raises(Infeasible):
        solve(program)


def test_a_program_that_nobody_solves_is_an_error():
    none = np.zeros((0, 1))
    program = Program(-np.ones(1), np.eye(1), np.zeros(1), none, np.zeros(0), None)
    with pytest.raises(RuntimeError, match="not solved"):
        optimum(program)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slack", [False, True])
def test_of_many_best_points_both_ways_find_one(seed, slack):
    # Equal rows, equal columns and whole numbers: vertices meet, and optima are not unique.
    rng = np.random.default_rng(seed)
    A = np.tile(rng.integers(-1, 2, (8, 6)).astype(float), (2, 3))
    A = np.hstack([A, A.sum(axis=1, keepdims=True)])
    A[A.sum(axis=1) < 0] *= -1
    n = A.shape[1]
    E = np.ones((1, n))
    penalties = np.full(len(A), 0.5) if slack else None
    program = Program(np.ones(n), A, np.zeros(len(A)), E, np.ones(1), penalties)
    values = []
    for found in (programs._by_highs(program), by_scipy(program)):
        assert found is not None
        spent = penalties @ found.slack if slack else 0.0
        missing = np.maximum(-A @ found.x, 0.0)
        assert_allclose(missing, found.slack if slack else 0.0, atol=1e-9)
        assert_allclose(E @ found.x, 1.0)
        assert np.all(np.abs(A.T @ found.rows + E.T @ found.equal) <= 1 + 1e-9)
        assert_allclose(found.equal.sum(), np.abs(found.x).sum() + spent)
        values.append(found.equal.sum())
    assert_allclose(*values)


SETTINGS = (
    {},
    {"formulation": "margin"},
    {"C": 0.3},
    {"C": 0.1, "formulation": "margin", "fit_intercept": False},
    {"solver": "frank-wolfe", "C": 1.0},
)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_machines_of_both_ways_are_one(monkeypatch, settings):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 90))
    y = X[:, :2].sum(axis=1) + 0.5 * rng.normal(size=30) > 0
    quick = SupportFeatureMachine(**settings).fit(X, y)
    monkeypatch.setattr(programs, "_by_highs", lambda program: None)
    slow = SupportFeatureMachine(**settings).fit(X, y)
    assert_array_equal(quick.support_, slow.support_)
    assert_allclose(quick.coef_, slow.coef_, rtol=1e-7, atol=1e-12)
    assert_allclose(quick.intercept_, slow.intercept_, rtol=1e-7, atol=1e-9)


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


@pytest.mark.parametrize("unit", [1e-12, 1e-8, 1e8, 1e12])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("formulation", ["margin", "mean"])
@pytest.mark.parametrize("C", [None, 10.0])
def test_units_of_the_features_do_not_change_a_program(unit, intercept, formulation, C):
    rng = np.random.default_rng(3)
    y = np.where(rng.random(60) > 0.5, 1.0, -1.0)
    X = rng.normal(size=(60, 8)) + np.outer(y, [3.0, 2.0, 0, 0, 0, 0, 0, 0])
    settings = {"formulation": formulation, "fit_intercept": intercept}
    found = []
    for u in (1.0, unit):
        costs = None if C is None else np.full(60, C / u)
        w, b, slack, rows, equal = _linear_program(u * X, y, np.ones(8), costs=costs, **settings)
        found.append((u * w, b, slack, u * rows, u * equal))
    for ours, theirs in zip(*found, strict=True):
        assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
