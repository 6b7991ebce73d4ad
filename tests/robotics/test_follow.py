import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from isthmus.robotics import (
    KinematicChain,
    Manipulability,
    PlaneNormal,
    dexterity,
    follow,
    initial_posture,
    inverse_kinematics,
    pa10,
    plane_normals,
)

ARM = pa10()
SHOULDER, BOARD = np.array([0.0, 300.0, 0.0]), np.array([600.0, 0.0, 300.0])
ELBOW = PlaneNormal(ARM, joint=2, point=SHOULDER, reference=BOARD)
WRIST = KinematicChain([[np.pi / 2, 0, 0], [-np.pi / 2, 0, 0], [0, 0, 0]])


@pytest.fixture(scope="module")
def circle():
    """An 8 cm circle on a board and a normal of the elbow's plane that sways."""
    t = np.linspace(0, 2 * np.pi, 60)
    points = BOARD + 80 * np.c_[0 * t, np.cos(t), np.sin(t)]
    held = ELBOW(inverse_kinematics(ARM, points[:1]).q)[0]
    sway = held + 0.2 * np.c_[np.sin(t), np.cos(2 * t), 0 * t]
    return points, sway / np.linalg.norm(sway, axis=1, keepdims=True)


@pytest.mark.parametrize(
    "term", [ELBOW, Manipulability(ARM), Manipulability(pa10(unit=1000.0))], ids=["e", "w", "w m"]
)
def test_derivative_of_a_posture_term(term, rng):
    q, direction = rng.uniform(-1.5, 1.5, (2, 7))
    (value,), (slope,) = term(q[None])
    steps = np.logspace(-1, -4, 7)
    remainder = [
        np.linalg.norm(term((q + s * direction)[None])[0][0] - value - s * slope @ direction)
        for s in steps
    ]
    assert np.polyfit(np.log(steps), np.log(remainder), 1)[0] > 1.9


def test_elbow_normal_depends_on_the_first_two_joints_only(rng):
    q = rng.uniform(-1.5, 1.5, (1, 7))
    assert_allclose(ELBOW(q)[1][0, :, 2:], 0.0, atol=1e-15)
    elbow = ARM.positions(q)[:, 2]
    assert_allclose(ELBOW(q)[0], plane_normals(SHOULDER, elbow, BOARD))


def test_manipulability_is_the_volume_of_singular_values(rng):
    q = rng.uniform(-1.5, 1.5, (5, 7))
    sigma = np.linalg.svd(ARM.jacobian(q)[:, :3] / ARM.reach, compute_uv=False)
    assert_allclose(Manipulability(ARM)(q)[0][:, 0], sigma.prod(axis=1))


def test_points_on_a_line_have_no_plane():
    with pytest.raises(ValueError, match="row 1 lie on one line"):
        plane_normals([[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [2, 0, 0]], [0, 0, 0])


@pytest.mark.parametrize("solver", ["steps", "whole"])
def test_hand_is_exactly_where_it_should_be(circle, solver):
    points, normals = circle
    moved = follow(ARM, points, posture=ELBOW, wanted=normals, solver=solver)
    assert moved.reached.all()
    away = np.linalg.norm(ARM.forward(moved.q)[:, :3, 3] - points, axis=1)
    assert away.max() < 1e-6  # a nanometre, the unit being a millimetre
    assert_allclose(moved.position_error, away, atol=1e-9)
    assert_allclose(
        moved.posture_error, np.linalg.norm(ELBOW(moved.q)[0] - normals, axis=1), atol=1e-12
    )


def test_less_smoothness_imitates_better_and_moves_faster(circle):
    points, normals = circle
    start = follow(ARM, points[:1], posture=ELBOW, wanted=normals[0], smoothness=0.01).q[0]
    errors, moves = [], []
    for a in (0.1, 0.01, 0.001):
        moved = follow(ARM, points, posture=ELBOW, wanted=normals, smoothness=a, start=start)
        errors.append(moved.posture_error.mean())
        moves.append(np.abs(np.diff(moved.q, axis=0)).max())
    assert errors[0] > errors[1] > errors[2]
    assert moves[0] < moves[1]  # the two published weights


def test_great_smoothness_leaves_the_smallest_steps(circle):
    points, normals = circle
    stiff = follow(ARM, points, posture=ELBOW, wanted=normals, smoothness=1e6)
    plain = follow(ARM, points)
    assert_allclose(stiff.q, plain.q, atol=1e-5)


def test_the_whole_path_is_no_worse_than_step_by_step(circle):
    points, normals = circle
    steps, whole = (
        follow(ARM, points, posture=ELBOW, wanted=normals, solver=s) for s in ("steps", "whole")
    )
    assert whole.objective < steps.objective
    assert np.square(np.diff(whole.q, axis=0)).sum() < np.square(np.diff(steps.q, axis=0)).sum()


def test_one_step_is_the_constrained_minimum_of_slsqp(circle):
    points, normals = circle
    before = inverse_kinematics(ARM, points[0], preferred=np.full(7, 0.3)).q
    moved = follow(ARM, points[3:4], posture=ELBOW, wanted=normals[3], start=before)

    def objective(q):
        return np.sum((ELBOW(q[None])[0] - normals[3]) ** 2) + 0.1 * np.sum((q - before) ** 2)

    best = minimize(
        objective,
        before,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda q: (ARM.forward(q)[:3, 3] - points[3]) / 1000},
        options={"ftol": 1e-14, "maxiter": 300},
    )
    assert_allclose(moved.objective, best.fun, rtol=1e-6)
    assert_allclose(moved.q[0], best.x, atol=1e-4)


def test_joint_limits_hold_along_the_path(circle):
    points, normals = circle
    free = follow(ARM, points, posture=ELBOW, wanted=normals)
    bound = np.abs(free.q).max(axis=0) + 0.05
    bound[2] = 0.6 * np.abs(free.q[:, 2]).max()
    tight = pa10(limits=bound)
    term = PlaneNormal(tight, joint=2, point=SHOULDER, reference=BOARD)
    for solver in ("steps", "whole"):
        moved = follow(tight, points, posture=term, wanted=normals, solver=solver)
        assert tight.within_limits(moved.q).all()
        assert moved.reached.all()


def test_path_out_of_reach_is_flagged_where_it_is(circle):
    points = circle[0].copy()
    points[30] = [3000, 0, 0]
    moved = follow(ARM, points)
    assert np.flatnonzero(~moved.reached).tolist() == [30]
    assert moved.position_error[30] > 1900


def test_initial_posture_copies_the_normals_that_it_can():
    q = np.array([0.3, 0.9, 0.2, 1.1, -0.4, 0.5, 0.0])
    hand = PlaneNormal(ARM, joint=6, point=[0, 0, 0], reference=BOARD)
    terms = [(ELBOW, ELBOW(q[None])[0], [0, 1]), (hand, hand(q[None])[0], [2, 3, 4, 5, 6])]
    found = initial_posture(ARM, terms)
    for term, wanted, _ in terms:
        assert_allclose(term(found[None])[0], wanted, atol=1e-5)
    assert ARM.within_limits(found)


def test_dexterity_of_a_plane_arm_has_closed_forms():
    plane = KinematicChain([[0, 1, 0], [0, 1, 0]], "standard", lower=[-1.0, 0.0], upper=[1.0, 2.0])
    Q = np.array([[0.0, 0.0], [0.5, 1.0], [1.0, 2.0]])
    measured = dexterity(plane, Q, dt=0.5)
    assert_allclose(measured.limit_distance, [0.5, 0.25, np.hypot(0.5, 0.5)])
    assert_allclose(measured.joint_speed, np.hypot(1.0, 2.0))
    # A plane arm never leaves the plane, so the third singular value of its pose is of no use;
    # there are two joints, and the product of the two singular values is |sin q2|.
    sigma = np.linalg.svd(plane.jacobian(Q)[:, :3], compute_uv=False)
    assert_allclose(measured.singularity, sigma[:, -1], atol=1e-12)
    assert_allclose(sigma.prod(axis=1), np.abs(np.sin(Q[:, 1])), atol=1e-12)
    assert_allclose(measured.condition[1:], sigma[1:, 0] / sigma[1:, 1])


def test_dexterity_counts_orientation_in_units_of_the_reach():
    q = np.full((1, 7), 0.5)
    a = dexterity(ARM, q, orientation=True)
    b = dexterity(pa10(unit=1000.0), q, orientation=True)
    assert_allclose(a.singularity, b.singularity)
    assert_allclose(dexterity(KinematicChain(ARM.dh), q).limit_distance, 0.0)


def test_keeping_manipulability_keeps_away_from_singularity(circle):
    points = circle[0]
    start = np.array([0.0, 0.3, 0.0, 0.9, 0.0, -1.5, 0.0])  # the hand bent back
    free = Manipulability(ARM)
    plain = follow(ARM, points, start=start)
    kept = follow(ARM, points, posture=free, wanted=1.0, smoothness=0.01, start=start, max_iter=3)
    assert kept.reached.all()
    assert free(kept.q)[0].mean() > 1.05 * free(plain.q)[0].mean()


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        (np.empty((0, 3)), {}, r"at least one step. Got shape \(0, 3\)"),
        (np.zeros((4, 2)), {}, r"\(n_steps, 3\)"),
        ([[np.nan, 0, 0]], {}, "'path' parameter of follow contains NaN"),
        (np.zeros((2, 3)), {"solver": "greedy"}, "'steps', 'whole'. Got 'greedy'"),
        (np.zeros((2, 3)), {"smoothness": -1.0}, r"\[0.0, inf\). Got -1.0"),
        (np.zeros((2, 3)), {"posture": ELBOW}, "both 'posture' and 'wanted'"),
        (
            np.zeros((2, 3)),
            {"posture": ELBOW, "wanted": np.zeros((3, 3))},
            r"each of the 2 steps. Got shape \(3, 3\)",
        ),
        (np.zeros((2, 3)), {"posture": ELBOW, "wanted": [np.nan, 0, 0]}, "'wanted' .* NaN"),
    ],
)
def test_wrong_input_is_refused(path, options, message):
    with pytest.raises(ValueError, match=message):
        follow(ARM, path, **options)


def test_wrong_pieces_are_refused():
    with pytest.raises(ValueError, match=r"int in \[0, 6\]. Got 7"):
        PlaneNormal(ARM, joint=7, point=SHOULDER, reference=BOARD)
    with pytest.raises(ValueError, match="'dt' parameter"):
        dexterity(ARM, np.zeros((2, 7)), dt=0.0)


@pytest.mark.parametrize("solver", ["steps", "whole"])
def test_a_wrist_without_lengths_follows_what_stays_in_its_place(solver):
    path = np.array([[0.0, 0, 0], [0, 0, 0], [0, 3, 4]])
    moved = follow(WRIST, path, solver=solver)
    np.testing.assert_array_equal(moved.reached, [True, True, False])
    assert_allclose(moved.position_error, [0, 0, 5])


def test_a_wrist_without_lengths_has_no_manipulability():
    q = np.full((2, 3), 0.3)
    value, slope = Manipulability(WRIST)(q)
    assert not value.any()
    assert not slope.any()
    np.testing.assert_array_equal(dexterity(WRIST, q).condition, np.inf)
    whole = dexterity(WRIST, q, orientation=True)
    assert_allclose(whole.singularity, 0.0, atol=1e-15)
