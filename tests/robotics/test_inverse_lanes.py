"""Eight postures side by side move as one alone does by NumPy, in whatever order they come."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.transform import Rotation

from isthmus._compiled import njit
from isthmus.linalg.lanes import load_row, store_row
from isthmus.robotics import KinematicChain, inverse_kinematics, pa10
from isthmus.robotics.kinematics import inverse, starts
from isthmus.robotics.kinematics.angle_loops import angles, sines
from isthmus.robotics.kinematics.damped_loops import (
    AXES,
    COLUMN,
    ERROR,
    FIRST_JOINT,
    PER_JOINT,
    TARGET,
    TRIAL,
    look,
    rotations,
    workspace,
)
from isthmus.robotics.kinematics.inverse_loops import HARDLY, STANDSTILL
from isthmus.robotics.kinematics.starts import PATIENCE, Arm, Search


@njit
def sines_of_rows(W):
    for row in range(len(W) - 2):
        if row % 3 == 0:
            cosine, sine = sines(load_row(W, row, 0))
            store_row(W, row + 1, 0, cosine)
            store_row(W, row + 2, 0, sine)


@pytest.mark.parametrize("size", [1.0, 10.0, 1e4])
def test_sines_are_those_of_numpy(size, rng):
    angles = rng.uniform(-size, size, (40, 8))
    angles[0] = np.arange(8) * np.pi / 4
    angles[1] = -angles[0]
    W = np.zeros((120, 8))
    W[::3] = angles
    sines_of_rows(W)
    assert_allclose(W[1::3], np.cos(angles), rtol=0, atol=4e-16)
    assert_allclose(W[2::3], np.sin(angles), rtol=0, atol=4e-16)


@njit
def angles_of_rows(W):
    for row in range(0, len(W), 3):
        store_row(W, row + 2, 0, angles(load_row(W, row, 0), load_row(W, row + 1, 0)))


def test_angles_are_those_of_numpy(rng):
    expected = rng.uniform(0, np.pi, (60, 8))
    expected[:4] = np.arange(32).reshape(4, 8) * np.pi / 31
    expected[4] = np.pi * np.array([0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875])
    expected[5:10] = 10.0 ** rng.uniform(-12, -1, (5, 8))
    length = 10.0 ** rng.uniform(-3, 3, (60, 8))
    W = np.zeros((180, 8))
    W[::3], W[1::3] = length * np.cos(expected), length * np.sin(expected)
    angles_of_rows(W)
    assert_allclose(W[2::3], np.arctan2(W[1::3], W[::3]), rtol=5e-16)


def arm_of(chain):
    """The arm as the search has it, and units of its joints."""
    units = np.where(chain.slides, chain.reach, 1.0)
    return Arm(inverse._walk(chain, units), chain.lower / units, chain.upper / units), units


def error_and_jacobian(chain, pose, q, conditions):
    """By the methods of the chain, for joint values in units."""
    units = np.where(chain.slides, chain.reach, 1.0)
    here, J = chain.forward(q * units), chain.jacobian(q * units) * units
    turn = Rotation.from_matrix(pose[:3, :3] @ here[:3, :3].T).as_rotvec()
    J[:3] /= chain.reach
    e = np.concatenate([(pose[:3, 3] - here[:3, 3]) / chain.reach, turn])
    return e[:conditions], J[:conditions]


def postures(chain, rng, n):
    _, units = arm_of(chain)
    low, high = np.maximum(chain.lower / units, -2), np.minimum(chain.upper / units, 2)
    return rng.uniform(low, high, (n, chain.n_joints))


@pytest.mark.parametrize("conditions", [3, 6])
def test_errors_and_jacobians_are_those_of_the_chain(chain, conditions, rng):
    arm, units = arm_of(chain)
    Q, poses = postures(chain, rng, 8), chain.forward(postures(chain, rng, 8) * units)
    W = workspace(chain.n_joints)
    W[TARGET : TARGET + 12] = poses[:, :3].reshape(8, 12).T
    at = FIRST_JOINT + PER_JOINT * np.arange(chain.n_joints)
    W[at + TRIAL] = Q.T
    look(W, conditions, chain.n_joints, arm.chain)
    for lane in range(8):
        e, J = error_and_jacobian(chain, poses[lane], Q[lane], conditions)
        assert_allclose(W[ERROR : ERROR + conditions, lane], e, atol=1e-13)
        columns = [W[start + COLUMN : start + COLUMN + conditions, lane] for start in at]
        assert_allclose(np.transpose(columns), J, atol=1e-13)


def held_step(q, e, J, damping, low, high):
    """The damped step of the joints that do not leave their limits."""
    free = np.ones(len(q), dtype=bool)
    while True:
        F = J[:, free]
        step = np.zeros(len(q))
        step[free] = F.T @ np.linalg.solve(F @ F.T + damping * np.eye(len(e)), e)
        leaves = ((q <= low) & (step < 0)) | ((q >= high) & (step > 0))
        if not leaves.any():
            return step
        free &= ~leaves


def approached(chain, pose, q, conditions, tol, max_iter, anywhere):
    """One posture's way to its target, as the formulas say it."""
    arm, _ = arm_of(chain)
    low, high = (-np.inf, np.inf) if anywhere else (arm.lower, arm.upper)
    trial, error, factor, dull, count = q, np.inf, 0.03, -1, -1
    while count < max_iter:
        count += 1
        e, J = error_and_jacobian(chain, pose, trial, conditions)
        if e @ e < error or anywhere:
            dull = dull + 1 if e @ e > (1 - HARDLY) * error else 0
            q, error, kept, factor = trial, e @ e, (e, J), max(0.3 * factor, 1e-6)
            if np.linalg.norm(e[:3]) <= tol and np.linalg.norm(e[3:]) <= tol:
                return q, count, True
        else:
            dull, factor = dull + 1, 6 * factor
        if anywhere:
            factor, dull = 0.5, -1
        if dull >= PATIENCE:
            break
        trial = np.clip(q + held_step(q, *kept, factor * error, low, high), low, high)
        if np.sum((trial - q) ** 2) < STANDSTILL and not anywhere:
            break
    return q, count, False


@pytest.mark.parametrize("conditions", [3, 6])
@pytest.mark.parametrize("anywhere", [False, True])
def test_eight_postures_go_the_way_of_one(chain, conditions, anywhere, rng):
    arm, units = arm_of(chain)
    goals, Q = postures(chain, rng, 20), postures(chain, rng, 20)
    Q[10:] = np.clip(goals[10:] + rng.uniform(-0.2, 0.2, Q[10:].shape), arm.lower, arm.upper)
    poses = chain.forward(goals * units)
    # Five steps from afar, before roundings grow, and the whole way from nearby.
    for rows, max_iter in ((np.arange(10), 5), (np.arange(10, 20), 100)):
        search = Search(arm, poses, conditions, 1e-9, max_iter)
        found = search._approach(rows, Q[rows], anywhere=anywhere)
        for k, i in enumerate(rows):
            q, count, reached = approached(
                chain, poses[i], Q[i], conditions, 1e-9, max_iter, anywhere
            )
            assert (found.steps[k], found.reached[k]) == (count, reached)
            assert_allclose(found.Q[k], q, atol=1e-9)
            e, _ = error_and_jacobian(chain, poses[i], found.Q[k], conditions)
            assert_allclose(found.errors[k, :conditions], e, atol=1e-13)
            assert_array_equal(found.errors[k, conditions:], 0)
    assert found.reached.any()


def hard_poses(arm, n, seed):
    """Some within reach and some out of it."""
    rng = np.random.default_rng(seed)
    poses = arm.forward(rng.uniform(arm.lower, arm.upper, (n, arm.n_joints)))
    poses[::3, :3, 3] *= 1.4
    return poses


@pytest.mark.parametrize("preferred", [None, np.full(7, 0.2)], ids=["any", "preferred"])
@pytest.mark.parametrize("whole", [True, False], ids=["pose", "position"])
def test_answers_depend_neither_on_order_nor_on_company(monkeypatch, preferred, whole):
    arm, settings = pa10(), {"preferred": preferred, "n_init": 12}
    poses = hard_poses(arm, 30, seed=5)
    targets = poses if whole else poses[:, :3, 3]
    found = inverse_kinematics(arm, targets, **settings)
    assert 5 < found.reached.sum() < 30
    order = np.random.default_rng(0).permutation(30)
    mixed = inverse_kinematics(arm, targets[order], **settings)
    alone = [inverse_kinematics(arm, target, **settings) for target in targets]
    monkeypatch.setattr(inverse, "BATCH", 4)
    batches = inverse_kinematics(arm, targets, **settings)
    for name in ("q", "reached", "n_iter", "position_error", "angle_error"):
        expected = getattr(found, name)
        assert_array_equal(getattr(mixed, name), expected[order])
        assert_array_equal(getattr(batches, name), expected)
        assert_array_equal([getattr(one, name) for one in alone], expected)


def test_starts_are_tried_in_their_order(monkeypatch):
    # Lanes for one target or for many: neither changes which start is the first that leads there.
    arm = pa10()
    poses = hard_poses(arm, 12, seed=2)
    found = inverse_kinematics(arm, poses)
    monkeypatch.setattr(starts, "LANES", 1)
    one_by_one = inverse_kinematics(arm, poses)
    assert_array_equal(one_by_one.q, found.q)
    assert_array_equal(one_by_one.n_iter, found.n_iter)


def test_units_of_length_do_not_matter(rng):
    table = np.array([[0, 0, 300], [0, 250, 0], [np.pi, 200, 0], [0, 0, 0]])
    limits = np.array([[-2.2, 2.2], [-2.5, 2.5], [0.0, 180.0], [-3.0, 3.0]])
    arms = []
    for unit in (1.0, 1024.0):  # a power of two, so that rounding is the same
        lengths, ends = table.copy(), limits.copy()
        lengths[:, 1:] /= unit
        ends[2] /= unit
        arms.append(KinematicChain(lengths, joints="RRPR", limits=ends))
    Q = rng.uniform(arms[0].lower, arms[0].upper, (40, 4))
    poses = arms[0].forward(Q)
    poses[::4, :3, 3] *= 3.0
    found = inverse_kinematics(arms[0], poses)
    poses[:, :3, 3] /= 1024
    small = inverse_kinematics(arms[1], poses)
    assert_array_equal(small.reached, found.reached)
    assert_array_equal(small.n_iter, found.n_iter)
    assert_array_equal(small.q * [1, 1, 1024, 1], found.q)


def test_a_seed_and_its_generator_give_the_same_starts():
    arm = pa10()
    poses = hard_poses(arm, 6, seed=3)
    expected = inverse_kinematics(arm, poses, random_state=4).q
    for state in (np.int64(4), np.random.RandomState(4)):
        assert_array_equal(inverse_kinematics(arm, poses, random_state=state).q, expected)
    assert (inverse_kinematics(arm, poses, random_state=5).q != expected).any()


def test_an_interrupt_ends_the_search_between_two_ways(monkeypatch):
    calls = []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return approach(*args)

    approach = starts.approach
    monkeypatch.setattr(starts, "approach", interrupted)
    arm = pa10()
    with pytest.raises(KeyboardInterrupt):
        inverse_kinematics(arm, hard_poses(arm, 6, seed=3))
    assert len(calls) == 2


def rotation_vectors(A, B):
    """Of the turns from eight rotations B to as many A, as the lanes find them."""
    W = workspace(1)
    for lane in range(8):
        for r in range(3):
            W[TARGET + 4 * r : TARGET + 4 * r + 3, lane] = A[lane, r]
            W[AXES + 3 * r : AXES + 3 * r + 3, lane] = B[lane, r]
    rotations(W)
    return W[ERROR + 3 : ERROR + 6].T


def test_rotation_logarithm_is_that_of_scipy():
    turns = Rotation.random(48, random_state=3)
    for i in range(0, 24, 8):
        A, B = turns[i : i + 8], turns[24 + i : 32 + i]
        found = rotation_vectors(A.as_matrix(), B.as_matrix())
        assert_allclose(found, (A * B.inv()).as_rotvec(), atol=1e-12)


def test_rotation_logarithm_of_half_turns_and_of_hardly_any():
    axes = np.array([*np.eye(3), *-np.eye(3), [0.6, 0.0, 0.8], [-0.6, 0.48, 0.64]])
    towards = Rotation.random(8, random_state=4)
    for there in (Rotation.from_matrix(np.tile(np.eye(3), (8, 1, 1))), towards):
        half = rotation_vectors(
            (Rotation.from_rotvec(np.pi * axes) * there).as_matrix(), there.as_matrix()
        )
        assert_allclose(np.abs(np.einsum("ij,ij->i", half, axes)), np.pi, atol=1e-7)
        small = rotation_vectors(
            (Rotation.from_rotvec(1e-9 * axes) * there).as_matrix(), there.as_matrix()
        )
        assert_allclose(small, 1e-9 * axes, atol=1e-15)
