import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from isthmus.robotics import KinematicChain, inverse_kinematics, pa10

ARM = pa10()


@pytest.fixture(scope="module")
def postures():
    return np.random.default_rng(1).uniform(ARM.lower, ARM.upper, (200, 7))


@pytest.mark.parametrize("whole", [True, False], ids=["pose", "position"])
@pytest.mark.parametrize("preferred", [None, np.full(7, 0.3)], ids=["any", "preferred"])
def test_every_reachable_target_is_reached_within_the_limits(postures, whole, preferred):
    poses = ARM.forward(postures)
    found = inverse_kinematics(ARM, poses if whole else poses[:, :3, 3], preferred=preferred)
    assert found.reached.all()
    assert ARM.within_limits(found.q, tol=0.0).all()
    there = ARM.forward(found.q)
    assert_allclose(there[:, :3, 3], poses[:, :3, 3], atol=2e-6)  # 1e-9 of the reach
    assert found.position_error.max() <= 1e-9 * ARM.reach
    if whole:
        assert_allclose(there[:, :3, :3], poses[:, :3, :3], atol=1e-8)


def test_other_chains_and_conventions_are_solved(chain, rng):
    Q = rng.uniform(-2, 2, (50, chain.n_joints)).clip(chain.lower, chain.upper)
    found = inverse_kinematics(chain, chain.forward(Q))
    assert found.reached.all()
    assert_allclose(chain.forward(found.q), chain.forward(Q), atol=1e-8 * chain.reach)


def test_from_a_solution_nothing_moves(postures):
    found = inverse_kinematics(ARM, ARM.forward(postures), start=postures)
    assert_array_equal(found.q, postures)
    assert_array_equal(found.n_iter, 0)


def test_out_of_reach_gives_the_nearest_posture_a_residual_and_no_flag():
    directions = np.random.default_rng(0).normal(size=(20, 3))
    directions[:, 2] = np.abs(directions[:, 2])  # the shoulder does not turn below the horizon
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found = inverse_kinematics(ARM, 2000 * directions)
    assert not found.reached.any()
    assert_allclose(found.position_error, 2000 - 1030, rtol=1e-6)
    assert_allclose(ARM.forward(found.q)[:, :3, 3], 1030 * directions, atol=0.5)


def test_a_search_without_success_ends_where_nothing_moves(rng):
    arm = pa10()
    poses = arm.forward(rng.uniform(arm.lower, arm.upper, (20, 7)))
    poses[:, :3, 3] *= 1.5  # many are out of reach
    found = inverse_kinematics(arm, poses, n_init=1)
    lost = np.flatnonzero(~found.reached)
    assert len(lost) > 5
    assert np.median(found.n_iter[lost]) < 500  # of 1200 that there may be
    again = inverse_kinematics(arm, poses[lost], start=found.q[lost], n_init=1, max_iter=300)

    def error(of, rows):
        return (of.position_error[rows] / arm.reach) ** 2 + of.angle_error[rows] ** 2

    stayed = np.abs(again.q - found.q[lost]).max(axis=1) < 1e-3
    assert stayed.sum() > 5
    assert_allclose(error(again, stayed), error(found, lost[stayed]), rtol=1e-7)


def test_limits_bind_where_they_must():
    tight = pa10(limits=np.radians([30, 30, 30, 30, 30, 30, 30]))
    point = np.array([-700.0, 0.0, 300.0])
    assert inverse_kinematics(ARM, point).reached
    found = inverse_kinematics(tight, point)
    assert not found.reached
    assert tight.within_limits(found.q, tol=0.0)
    away = np.linalg.norm(tight.forward(found.q)[:3, 3] - point)
    assert_allclose(found.position_error, away)
    # No posture of a fine random search is nearer.
    Q = np.random.default_rng(0).uniform(tight.lower, tight.upper, (20000, 7))
    others = np.linalg.norm(tight.forward(Q)[:, :3, 3] - point, axis=1)
    assert away <= others.min()


def test_a_singular_start_is_left():
    # Straight up, no joint can shorten the arm.
    found = inverse_kinematics(ARM, [0.0, 0.0, 600.0], start=np.zeros(7))
    assert found.reached
    assert_allclose(ARM.forward(found.q)[:3, 3], [0, 0, 600], atol=2e-6)


def test_a_singular_target_is_reached():
    assert inverse_kinematics(
        ARM, ARM.forward(np.zeros(7)), start=np.full(7, 0.3), tol=1e-6
    ).reached


@pytest.mark.parametrize("whole", [True, False], ids=["pose", "position"])
def test_settled_posture_is_the_constrained_minimum(whole):
    q = np.array([0.4, 0.5, -0.3, 0.8, 0.2, 0.6, 0.1])
    preferred = q + 0.4 * np.sin(np.arange(7))
    pose = ARM.forward(q)
    found = inverse_kinematics(ARM, pose if whole else pose[:3, 3], start=q, preferred=preferred)
    constraints = [
        {"type": "eq", "fun": lambda x: (ARM.forward(x)[:3, 3] - pose[:3, 3]) / 1000},
    ]
    if whole:
        constraints.append(
            {
                "type": "eq",
                "fun": lambda x: Rotation.from_matrix(
                    ARM.forward(x)[:3, :3] @ pose[:3, :3].T
                ).as_rotvec(),
            }
        )
    best = minimize(
        lambda x: np.sum((x - preferred) ** 2),
        q,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert_allclose(np.sum((found.q - preferred) ** 2), best.fun, rtol=1e-6)
    # What is left of the wish has no part along the solutions.
    J = ARM.jacobian(found.q)[: 6 if whole else 3]
    left = preferred - found.q
    free = left - np.linalg.pinv(J) @ (J @ left)
    assert np.linalg.norm(free) < 1e-5


def test_preferred_brings_postures_nearer(postures):
    points = ARM.forward(postures)[:, :3, 3]
    preferred = np.array([0.0, 0.5, 0.0, 1.0, 0.0, 0.5, 0.0])
    free = inverse_kinematics(ARM, points, start=preferred)
    settled = inverse_kinematics(ARM, points, preferred=preferred)
    far, near = (np.linalg.norm(f.q - preferred, axis=1) for f in (free, settled))
    assert (near <= far + 1e-6).all()
    assert near.mean() < 0.9 * far.mean()


def test_a_target_alone_has_the_answer_it_has_in_company(postures):
    points = ARM.forward(postures[:20])
    together = inverse_kinematics(ARM, points)
    alone = inverse_kinematics(ARM, points[7])
    assert_array_equal(alone.q, together.q[7])
    assert alone.q.shape == (7,)
    assert alone.reached.shape == ()


def test_no_targets_give_no_postures():
    found = inverse_kinematics(ARM, np.empty((0, 3)))
    assert found.q.shape == (0, 7)
    assert found.reached.shape == (0,)


def test_chain_without_limits_is_solved():
    plane = KinematicChain([[0, 1, 0], [0, 1, 0]], "standard")
    found = inverse_kinematics(plane, [[1.0, 1.0, 0.0], [0.0, -1.5, 0.0], [0.0, 0.0, 1.0]])
    assert found.reached.tolist() == [True, True, False]
    assert_allclose(found.position_error[2], 1.0, atol=1e-6)  # the plane is as near as it gets


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (np.zeros(4), {}, r"shape \(n, 3\) or poses of shape \(n, 4, 4\). Got shape \(4,\)"),
        ([np.nan, 0, 0], {}, "'target' .* NaN"),
        (np.diag([2.0, 1, 1, 1]), {}, "block of target 0 is not a rotation"),
        (np.diag([-1.0, 1, 1, 1]), {}, "is not a rotation"),
        (np.zeros(3), {"start": np.zeros(6)}, r"'start' .* \(7,\) or \(1, 7\). Got shape \(6,\)"),
        (np.zeros(3), {"preferred": np.full(7, np.inf)}, "'preferred' .* infinity"),
        (np.zeros(3), {"tol": 0.0}, "'tol'"),
        (np.zeros(3), {"max_iter": 0}, r"'max_iter' .* \[1, inf\). Got 0"),
        (np.zeros(3), {"n_init": 0}, "'n_init'"),
    ],
)
def test_wrong_input_is_refused(target, options, message):
    with pytest.raises(ValueError, match=message):
        inverse_kinematics(ARM, target, **options)


def test_counts_must_be_whole():
    with pytest.raises(TypeError, match=r"'max_iter' .* int"):
        inverse_kinematics(ARM, np.zeros(3), max_iter=3.5)


UR5 = KinematicChain(
    [
        [np.pi / 2, 0.0, 0.0895],
        [0.0, -0.425, 0.0],
        [0.0, -0.3922, 0.0],
        [np.pi / 2, 0.0, 0.1092],
        [-np.pi / 2, 0.0, 0.0947],
        [0.0, 0.0, 0.0823],
    ],
    "standard",
    limits=np.full(6, np.pi),
)


def test_a_full_turn_is_no_wall(rng):
    Q = rng.uniform(UR5.lower, UR5.upper, (200, 6))
    found = inverse_kinematics(UR5, UR5.forward(Q), n_init=1)
    assert found.reached.mean() > 0.85  # 0.66 where limits of half a turn are walls
    assert UR5.within_limits(found.q).all()
    poses = UR5.forward(found.q[found.reached])
    np.testing.assert_allclose(poses, UR5.forward(Q[found.reached]), atol=1e-7)
    assert inverse_kinematics(UR5, UR5.forward(Q)).reached.all()


def test_whole_turns_are_taken_off_towards_the_preferred_posture(rng):
    wide = KinematicChain(UR5.dh, "standard", limits=np.full(6, 2 * np.pi))
    Q = rng.uniform(-1, 1, (30, 6)) + 4.0
    found = inverse_kinematics(wide, wide.forward(Q), start=Q, preferred=Q)
    assert found.reached.all()
    np.testing.assert_allclose(found.q, Q, atol=1e-6)
    # From the equal posture a turn below, the answer is brought back near the preferred one.
    below = inverse_kinematics(wide, wide.forward(Q), start=Q - 2 * np.pi, preferred=Q)
    np.testing.assert_allclose(below.q, Q, atol=1e-6)


@pytest.mark.parametrize("limits", [(-np.inf, 1.0), (-1.0, np.inf)])
def test_a_joint_with_one_limit_is_brought_within_it_by_whole_turns(limits, rng):
    arm = KinematicChain([[0, 1.0, 0], [0, 1.0, 0]], limits=[limits, (-3.0, 3.0)])
    points = np.column_stack([rng.normal(size=(40, 2)), np.zeros(40)])
    found = inverse_kinematics(arm, points, n_init=4)
    away = np.linalg.norm(arm.forward(found.q)[:, :3, 3] - points, axis=1)
    assert_allclose(away, found.position_error, atol=1e-8)
    assert ((found.q >= arm.lower) & (found.q <= arm.upper)).all()


def test_a_joint_without_limits_is_turned_near_the_preferred_posture():
    arm = KinematicChain([[0, 1.0, 0]])
    target = arm.forward(np.zeros(1))
    found = inverse_kinematics(arm, target, start=[0.0], preferred=[4 * np.pi + 0.3])
    assert found.reached
    assert_allclose(found.q, 4 * np.pi)


def test_a_wrist_without_lengths_turns_to_its_target(rng):
    wrist = KinematicChain([[np.pi / 2, 0, 0], [-np.pi / 2, 0, 0], [0, 0, 0]])
    Q = rng.uniform(-1, 1, (10, 3))
    found = inverse_kinematics(wrist, wrist.forward(Q))
    assert found.reached.all()
    assert_allclose(wrist.forward(found.q), wrist.forward(Q), atol=1e-8)


def test_a_target_beyond_all_numbers_is_infinitely_far():
    points = [[400.0, 200.0, 600.0], [1e200, 0.0, 0.0]]
    found = inverse_kinematics(ARM, points, n_init=3)
    assert_array_equal(found.reached, [True, False])
    assert_array_equal(np.isinf(found.position_error), [False, True])


def test_a_joint_with_less_than_a_turn_keeps_its_walls(rng):
    tight = KinematicChain(UR5.dh, "standard", limits=np.full(6, 2.5))
    Q = rng.uniform(tight.lower, tight.upper, (100, 6))
    found = inverse_kinematics(tight, tight.forward(Q))
    assert found.reached.mean() > 0.97
    assert tight.within_limits(found.q).all()


def test_an_arm_with_a_sliding_joint_reaches_its_poses(rng):
    # A SCARA: two joints that turn in the plane, one that slides, one that turns the hand.
    table = [[0, 0, 300], [0, 250, 0], [np.pi, 200, 0], [0, 0, 0]]
    limits = [[-2.2, 2.2], [-2.5, 2.5], [0.0, 180.0], [-3.0, 3.0]]
    tool = np.eye(4)
    tool[:3, 3] = [0, 30, 50]
    arm = KinematicChain(table, joints="RRPR", limits=limits, tool=tool)
    assert "RRPR" in repr(arm)
    Q = rng.uniform(arm.lower, arm.upper, (40, 4))
    found = inverse_kinematics(arm, arm.forward(Q))
    assert found.reached.mean() >= 0.95
    assert arm.within_limits(found.q).all()
    hits = found.reached
    assert_allclose(arm.forward(found.q[hits]), arm.forward(Q[hits]), atol=1e-6 * arm.reach)
    places = inverse_kinematics(arm, arm.forward(Q)[:, :3, 3], preferred=arm.center)
    assert places.reached.all()


def test_a_flipped_joint_is_the_same_arm(rng):
    table = rng.uniform(-1, 1, (5, 4))
    plain, flipped = KinematicChain(table), KinematicChain(table, flip=[True] * 5)
    q = rng.uniform(-1, 1, 5)
    assert_allclose(plain.forward(q), flipped.forward(-q), atol=1e-12)
    assert_allclose(plain.jacobian(q), -flipped.jacobian(-q), atol=1e-12)
