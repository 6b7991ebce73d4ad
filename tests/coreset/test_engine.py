"""The engine: the quadratic program, the ball, and what the bounds promise."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from isthmus.coreset import (
    CoreSetSolver,
    CoreVectorClassifier,
    MinimumEnclosingBall,
    engine,
    solve_simplex,
)
from isthmus.kernels import Delta, Expansion, Gaussian


@pytest.fixture
def cloud(rng):
    return rng.normal(size=(400, 3))


def test_the_program_over_the_simplex_is_solved(rng):
    A = rng.normal(size=(15, 6))
    M, v = A @ A.T, rng.normal(size=15)
    alpha, gap = solve_simplex(M, v, tol=1e-12)
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1)
    assert gap < 1e-11
    reference = minimize(
        lambda a: a @ M @ a + v @ a,
        np.full(15, 1 / 15),
        jac=lambda a: 2 * M @ a + v,
        bounds=[(0, 1)] * 15,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert alpha @ M @ alpha + v @ alpha == pytest.approx(reference.fun, abs=1e-7)


def test_a_warm_start_ends_in_the_same_place(rng):
    A = rng.normal(size=(20, 20))
    M, v = A @ A.T, np.zeros(20)
    cold, _ = solve_simplex(M, v, tol=1e-13)
    warm, _ = solve_simplex(M, v, cold, tol=1e-13)
    np.testing.assert_allclose(warm, cold, atol=1e-6)


def test_the_exact_ball_of_simple_shapes():
    square = np.array([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1], [0.3, 0.4]], dtype=float)
    ball = MinimumEnclosingBall(epsilon=0.0).fit(square)
    assert ball.radius_ == pytest.approx(np.sqrt(2))
    np.testing.assert_allclose(ball.center_, [1, 1], atol=1e-7)
    line = MinimumEnclosingBall(epsilon=0.0).fit(np.linspace(0, 1, 11)[:, None])
    assert line.radius_ == pytest.approx(0.5)
    assert len(line.core_indices_) == 2


@pytest.mark.parametrize("epsilon", [0.3, 0.1, 0.01])
@pytest.mark.parametrize("search", ["exact", "sample"])
def test_the_core_set_is_small_and_its_ball_nearly_the_smallest(cloud, epsilon, search):
    exact = MinimumEnclosingBall(epsilon=0.0, solver=CoreSetSolver(search="exact")).fit(cloud)
    solver = CoreSetSolver(search=search)
    near = MinimumEnclosingBall(epsilon=epsilon, solver=solver, random_state=0).fit(cloud)
    assert near.n_core_ <= 2 + 2 / epsilon
    assert near.radius_ <= exact.radius_ * (1 + 1e-9)
    assert exact.radius_ <= (1 + epsilon) * near.radius_ * (1 + 1e-9)
    assert near.contains(cloud).all()
    assert np.all(np.diff(near.radii_) > -1e-6)
    assert exact.radius_**2 - near.radius_**2 <= near.gap_ + 1e-12


def test_points_with_weight_lie_on_the_sphere(cloud):
    ball = MinimumEnclosingBall(epsilon=0.0).fit(cloud)
    np.testing.assert_allclose(ball.distances(cloud[ball.core_indices_]), ball.radius_, rtol=1e-5)
    np.testing.assert_allclose(
        ball.distances(cloud), np.linalg.norm(cloud - ball.center_, axis=1), rtol=1e-7
    )


def test_the_size_of_the_core_set_does_not_grow_with_the_dimension_or_the_number(rng):
    sizes = [
        MinimumEnclosingBall(epsilon=0.1, random_state=0).fit(rng.normal(size=shape)).n_core_
        for shape in [(500, 2), (5000, 20), (2000, 200)]
    ]
    assert max(sizes) <= 22


def test_a_ball_in_the_feature_space_of_a_kernel(cloud):
    ball = MinimumEnclosingBall(epsilon=1e-4, kernel=Gaussian(0.5)).fit(cloud)
    assert 0 < ball.radius_ < 1
    assert ball.contains(cloud).all()
    words = MinimumEnclosingBall(epsilon=0.0, kernel=Delta()).fit(["a", "b", "c", "a"])
    assert words.radius_ == pytest.approx(np.sqrt(2 / 3))


def test_identical_points_have_a_ball_without_extent():
    ball = MinimumEnclosingBall().fit(np.ones((5, 2)))
    assert ball.radius_ == pytest.approx(0, abs=1e-7)
    assert ball.contains(np.ones((1, 2))).all()


def test_a_limit_on_the_core_set_warns_of_the_gap(rng):
    X = rng.normal(size=(500, 50))
    with pytest.warns(ConvergenceWarning, match="max_core=5 points with a gap of"):
        ball = MinimumEnclosingBall(epsilon=1e-6, solver=CoreSetSolver(max_core=5)).fit(X)
    assert ball.n_core_ == 5
    exact = MinimumEnclosingBall(epsilon=1e-6).fit(X)
    assert exact.radius_**2 - ball.radius_**2 <= ball.gap_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": -0.1}, "'epsilon' parameter of MinimumEnclosingBall"),
        ({"solver": "exact"}, "'solver' parameter of MinimumEnclosingBall"),
        ({"solver": CoreSetSolver(epsilon=-0.1)}, "'epsilon' parameter of CoreSetSolver"),
        ({"solver": CoreSetSolver(search="all")}, "'search' parameter of CoreSetSolver"),
        ({"solver": CoreSetSolver(batch_size=0)}, "'batch_size' parameter of CoreSetSolver"),
        ({"solver": CoreSetSolver(max_core=1)}, "'max_core' parameter of CoreSetSolver"),
        ({"solver": CoreSetSolver(stop="relative")}, "MinimumEnclosingBall stops by the radius"),
    ],
)
def test_refuses_parameters_by_name(cloud, parameters, message):
    with pytest.raises(ValueError, match=message):
        MinimumEnclosingBall(**parameters).fit(cloud)


def test_the_accuracy_of_the_solver_takes_precedence(cloud):
    short = MinimumEnclosingBall(epsilon=0.1, random_state=0).fit(cloud)
    long = MinimumEnclosingBall(solver=CoreSetSolver(epsilon=0.1), random_state=0).fit(cloud)
    assert long.epsilon_ == short.epsilon_ == 0.1
    assert long.radius_ == short.radius_
    assert long.contains(cloud).all()


def test_a_ball_around_another_centre_measures_from_there(cloud):
    ball = MinimumEnclosingBall(epsilon=0.01, random_state=0).fit(cloud)
    there = ball.with_expansion(Expansion(ball.kernel_, cloud[:1], np.ones((1, 1))))
    np.testing.assert_allclose(
        there.distances(cloud), np.linalg.norm(cloud - cloud[0], axis=1), atol=1e-7
    )
    np.testing.assert_array_equal(there.center_, cloud[0])
    with pytest.raises(AttributeError, match="with the linear kernel only"):
        MinimumEnclosingBall(kernel=Gaussian(0.5)).fit(cloud).center_  # noqa: B018


def test_rounds_that_are_solved_less_exactly_end_as_accurately(rng, monkeypatch):
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, 1, -1)
    machine = CoreVectorClassifier(
        Gaussian(0.5), C=1.0, solver=CoreSetSolver(epsilon=1e-3), random_state=0
    )
    loose, gap = machine.fit(X, y).objective_[0], machine.gap_[0]
    monkeypatch.setattr(engine, "SMALL", 10**6)
    exact = machine.fit(X, y).objective_[0]
    assert len(machine.support_) > 100
    assert 0 <= gap <= 1e-3 * loose
    assert loose == pytest.approx(exact, abs=gap + machine.gap_[0])


@pytest.mark.parametrize("megabytes", [200.0, 0.05, 0.005])  # for all rows, for some, for none
@pytest.mark.parametrize("most", [None, 9])
@pytest.mark.parametrize("kernel", ["linear", Gaussian(0.5), Delta()])
@pytest.mark.filterwarnings("ignore:The core set has reached")
def test_a_compiled_growth_takes_in_the_same_points(cloud, monkeypatch, kernel, most, megabytes):
    objects = ["abcdefgh"[k % 8] for k in range(400)] if isinstance(kernel, Delta) else cloud
    solver = CoreSetSolver(search="exact", max_core=most, cache_size=megabytes)
    ball = MinimumEnclosingBall(epsilon=1e-3, kernel=kernel, solver=solver, random_state=0)
    fast = clone(ball).fit(objects)
    monkeypatch.setattr(engine, "KernelProblem", type(None))
    slow = ball.fit(objects)
    assert fast.n_core_ == slow.n_core_
    np.testing.assert_array_equal(fast.core_indices_, slow.core_indices_)
    np.testing.assert_allclose(fast.radii_, slow.radii_, rtol=1e-8)
    np.testing.assert_allclose(fast.dual_coef_, slow.dual_coef_, atol=1e-6)
    assert fast.gap_ == pytest.approx(slow.gap_, abs=1e-8)


def test_a_compiled_growth_of_a_machine_with_signs_and_shifts(rng, monkeypatch):
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1, -1)
    solver = CoreSetSolver(epsilon=1e-2, batch_size=1)
    machine = CoreVectorClassifier(Gaussian(0.5), C=1.0, solver=solver, random_state=0)
    fast = clone(machine).fit(X, y)
    monkeypatch.setattr(engine, "KernelProblem", type(None))
    slow = machine.fit(X, y)
    assert len(fast.support_) > engine.SMALL  # where rounds are solved less exactly
    assert max(fast.gap_[0], slow.gap_[0]) <= 1e-2 * slow.objective_[0]
    assert fast.objective_[0] == pytest.approx(slow.objective_[0], abs=fast.gap_[0] + slow.gap_[0])
    np.testing.assert_allclose(fast.decision_function(X), slow.decision_function(X), atol=0.05)


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("scale", [1e-60, 1e-8, 1.0, 1e8, 1e60])
def test_a_ball_follows_a_shift_and_a_change_of_units(cloud, scale, shift):
    here = MinimumEnclosingBall(epsilon=1e-3, random_state=0).fit(cloud)
    there = MinimumEnclosingBall(epsilon=1e-3, random_state=0).fit(scale * (cloud + shift))
    rtol = 1e-6 if shift else 1e-9
    assert there.radius_ == pytest.approx(scale * here.radius_, rel=rtol)
    assert there.contains(scale * (cloud + shift)).all()
    far = cloud.copy()
    far[:, 0] += 10 * here.radius_
    assert not there.contains(scale * (far + shift)).any()


@pytest.mark.parametrize(
    ("M", "v", "start", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], [0, 0], None, "NaN or infinity in M"),
        (np.eye(2), [0, np.inf], None, "NaN or infinity in v"),
        (np.eye(2), [0, 0, 0], None, r"v of shape \(2,\)"),
        (np.ones((2, 3)), [0, 0], None, "a square matrix"),
        (np.eye(2), [0, 0], [1.0], r"start of shape \(2,\)"),
        (np.eye(2), [0, 0], [2.0, -1.0], "at least 0 that sum to 1"),
    ],
)
def test_a_program_without_a_meaning_is_refused(M, v, start, message):
    with pytest.raises(ValueError, match=message):
        solve_simplex(M, v, start)


def test_a_descent_in_parts_ends_where_one_does(rng, monkeypatch):
    A = rng.normal(size=(40, 60))
    v = rng.normal(size=40)
    whole = solve_simplex(A @ A.T, v)
    monkeypatch.setattr("isthmus.coreset.simplex.NUMBERS", 200)  # four steps at a time
    parts = solve_simplex(A @ A.T, v)
    np.testing.assert_array_equal(parts[0], whole[0])
    assert parts[1] == whole[1]
