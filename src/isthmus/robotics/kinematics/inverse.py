"""Joint values that bring the end of a chain to a target."""

from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from isthmus._checks import check_float, check_int
from isthmus.linalg.threads import rest_in_threads
from isthmus.robotics.kinematics.chain import KinematicChain
from isthmus.typing import Array, BoolArray, IntArray

BATCH = 256  # targets that are solved without a look at the keyboard


@dataclass(frozen=True)
class InverseKinematics:
    """Postures found for targets; a single target gives fields without the first axis.

    Attributes
    ----------
    q : ndarray of shape (n, n_joints)
        Joint values within the limits; if the target was not reached, the closest that were found.
    reached : ndarray of shape (n,), bool
        Whether the target is met within the tolerance.
    position_error : ndarray of shape (n,)
        Remaining distance to the target, in units of the chain.
    angle_error : ndarray of shape (n,)
        Remaining angle to the wanted orientation in radians; 0 for a target without one.
    n_iter : ndarray of shape (n,), int
        Number of iterations, over all starts.
    """

    __module__ = "isthmus.robotics"

    q: Array
    reached: BoolArray
    position_error: Array
    angle_error: Array
    n_iter: IntArray


def inverse_kinematics(
    chain: KinematicChain,
    target: Any,
    *,
    start: Any = None,
    preferred: Any = None,
    n_init: int = 31,
    max_iter: int = 100,
    tol: float = 1e-9,
    random_state: Any = 0,
) -> InverseKinematics:
    r"""Find joint values within the limits that bring the last frame to each target.

    Damped least squares [Sugihara2011]_: with the error e of position (in units of the reach of the
    chain) and orientation (a rotation vector), the step is

    .. math:: \Delta q = J^\top (J J^\top + \mu \|e\|^2 I)^{-1} e,

    taken if the error falls. The damping vanishes at the target, where the iteration becomes
    Newton's, and keeps steps short near singular postures. A joint at its limit whose step would
    leave it is held. If that does not lead to the target, the same start is followed once more,
    with every step taken and without limits, and what it finds is brought back within them; then
    other starts are tried, first near it, then anywhere. A joint whose limits are a full turn apart
    or more has none on the way: whole turns are taken off its value at the end.

    If the chain has more joints than the target has conditions, many postures reach it. With
    ``preferred`` the posture moves along the solutions to the one closest to it,

    .. math:: \min_q \|q - q_\mathrm{pref}\|^2 \quad\text{such that}\quad
              x(q) = x_\mathrm{target},\ q_\min \le q \le q_\max,

    by :math:`\Delta q = J^+ e + (I - J^+ J)(q_\mathrm{pref} - q)` with a line search: a local
    minimum.

    Parameters
    ----------
    chain : KinematicChain
        The arm.
    target : array-like of shape (n, 3), (n, 4, 4), (3,) or (4, 4)
        Positions of the origin of the last frame, or whole poses.
    start : array-like of shape (n_joints,) or (n, n_joints), default=None
        Where to start. None: ``preferred``, or the middle of the joint ranges.
    preferred : array-like of shape (n_joints,) or (n, n_joints), default=None
        Posture to stay close to. None: any that reaches the target.
    n_init : int, default=31
        Maximum number of starts; the first that leads to the target is taken.
    max_iter : int, default=100
        Maximum number of iterations from each start.
    tol : float, default=1e-9
        A target is reached when the remaining distance is below ``tol`` times the reach of the
        chain and the remaining angle below ``tol`` radians.
    random_state : int, RandomState instance or None, default=0
        Draws the starts after the first. They are the same for all targets, so that the answer for
        a target does not depend on the other targets.

    Returns
    -------
    InverseKinematics
        Postures, whether each target is ``reached``, and the remaining errors.

    See Also
    --------
    follow : Joint paths for a whole trajectory, with a wanted posture.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import inverse_kinematics, pa10
    >>> arm = pa10()
    >>> found = inverse_kinematics(arm, [[400.0, 200.0, 600.0], [2000.0, 0.0, 0.0]])
    >>> found.reached
    array([ True, False])
    >>> arm.forward(found.q)[0, :3, 3].round(3)
    array([400., 200., 600.])
    >>> found.position_error[1].round(6)  # 2000 away, 1030 long
    np.float64(970.0)
    """
    from isthmus.robotics.kinematics.starts import Arm, Search

    poses, with_rotation, one = _targets(target)
    n = len(poses)
    n_init = check_int(n_init, "n_init", "inverse_kinematics", low=1)
    max_iter = check_int(max_iter, "max_iter", "inverse_kinematics", low=1)
    tol = check_float(tol, "tol", "inverse_kinematics", include_low=False)
    wanted = _postures(chain, "preferred", preferred, n, chain.center)
    starts = _postures(chain, "start", start, n, wanted)
    # Joints that slide count in units of the reach, so that a step has none.
    reach = chain.length_unit
    units = np.where(chain.slides, reach, 1.0)
    lower, upper = chain.lower / units, chain.upper / units
    wanted, starts = wanted / units, starts / units
    # A joint without limits may as well start within one turn.
    low, high = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
    others = _random(random_state, n_init - 1, chain.n_joints)
    others = np.minimum(low, high) + np.abs(high - low) * others
    Q, errors = np.empty((n, chain.n_joints)), np.empty((n, 6))
    reached, steps = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
    turns = ~chain.slides & (upper - lower >= 2 * np.pi * (1 - 1e-9))
    walk = _walk(chain, units)
    arm = Arm(walk, np.where(turns, -np.inf, lower), np.where(turns, np.inf, upper))
    settles, conditions = preferred is not None, 6 if with_rotation else 3

    def solve(rows: slice) -> None:
        search = Search(arm, poses[rows], conditions, tol, max_iter)
        found = search.run(starts[rows], others, wanted[rows], settles=settles)
        Q[rows], errors[rows] = found.Q, found.errors
        reached[rows], steps[rows] = found.reached, found.steps

    # Between two batches an interrupt is answered.
    rest_in_threads(solve, [slice(first, first + BATCH) for first in range(0, n, BATCH)])
    _take_off_turns(Q, starts if preferred is None else wanted, chain, turns)
    # Within the limits to the last digit.
    Q = np.clip(Q * units, chain.lower, chain.upper)
    at: Any = 0 if one else slice(None)
    away, turned = np.sqrt((errors.T**2).reshape(2, 3, n).sum(axis=1))
    return InverseKinematics(Q[at], reached[at], away[at] * reach, turned[at], steps[at])


def _walk(chain: KinematicChain, units: Array) -> tuple[Array, Array, Array, Array, float]:
    """The chain in the one convention that the loops know: twist and length before the motion.

    Rows cos(twist), sin(twist), length, offset and constant angle, for joint values in ``units``;
    motions of the joints, base, tool, reach. In the other convention twist and length come after
    the motion: they belong to the next joint, and the last ones to the tool.
    """
    table, angles, modified, base, reach, motions, tool = chain.tables(units)
    rows = np.column_stack([table, angles])
    if not modified:
        c, s, length = table[-1, :3]
        last = np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
        rows[1:, :3], rows[0, :3] = table[:-1, :3], (1.0, 0.0, 0.0)
        tool = last @ tool
    return rows, motions, base, tool, reach or 1.0


def _random(random_state: Any, n: int, n_joints: int) -> Array:
    """Numbers between 0 and 1; those of a seed are kept, since it takes longer than a target."""
    if isinstance(random_state, Integral):
        return _seeded(int(random_state), n, n_joints)
    return check_random_state(random_state).uniform(size=(n, n_joints))


@lru_cache(maxsize=16)
def _seeded(seed: int, n: int, n_joints: int) -> Array:
    found = check_random_state(seed).uniform(size=(n, n_joints))
    found.flags.writeable = False
    return found


def _take_off_turns(Q: Array, near: Array, chain: KinematicChain, turns: BoolArray) -> None:
    """Bring joints that may turn around within their limits, by whole turns, close to ``near``."""
    joints = np.flatnonzero(turns & (np.isfinite(chain.lower) | np.isfinite(chain.upper)))
    if len(joints):
        turn, low, high = 2 * np.pi, chain.lower[joints], chain.upper[joints]
        q = Q[:, joints]
        q -= turn * np.round((q - near[:, joints]) / turn)
        q -= turn * np.ceil(np.maximum(q - high, 0) / turn)
        q += turn * np.ceil(np.maximum(low - q, 0) / turn)
        Q[:, joints] = np.clip(q, low, high)  # of rounding


def _targets(target: Any) -> tuple[Array, bool, bool]:
    """Poses (n, 4, 4), whether their orientation counts, and whether there was a single one."""
    given = np.asarray(target, dtype=float)
    position = given.shape[-1:] == (3,) and given.ndim in (1, 2)
    pose = given.shape[-2:] == (4, 4) and given.ndim in (2, 3)
    if not position and not pose:
        raise ValueError(
            "The 'target' parameter of inverse_kinematics must be positions of shape (n, 3) or "
            f"poses of shape (n, 4, 4). Got shape {given.shape} instead."
        )
    if not np.isfinite(given).all():
        raise ValueError("The 'target' parameter of inverse_kinematics contains NaN or infinity.")
    if position:
        points = np.atleast_2d(given)
        poses = np.tile(np.eye(4), (len(points), 1, 1))
        poses[:, :3, 3] = points
        return poses, False, given.ndim == 1
    poses = np.ascontiguousarray(given.reshape(-1, 4, 4))
    # Rows of length one at right angles, of which the last is the product of the others.
    turns = np.ascontiguousarray(poses[:, :3, :3].transpose(1, 2, 0))
    square = (turns[:, None] * turns).sum(axis=2)
    skew = np.abs(square - np.eye(3)[:, :, None]).max(axis=(0, 1))
    (a, b, c), (d, e, f), (g, h, i) = turns
    determinant = (a * e - b * d) * i + (b * f - c * e) * g + (c * d - a * f) * h
    wrong = np.flatnonzero((skew > 1e-6) | (determinant < 0))
    if len(wrong):
        raise ValueError(
            "The 'target' parameter of inverse_kinematics must hold rigid motions: the upper left "
            f"3 x 3 block of target {wrong[0]} is not a rotation."
        )
    return poses, True, given.ndim == 2


def _postures(chain: KinematicChain, name: str, values: Any, n: int, default: Array) -> Array:
    """One posture per target."""
    given = np.asarray(default if values is None else values, dtype=float)
    if given.shape not in ((chain.n_joints,), (n, chain.n_joints)):
        raise ValueError(
            f"The {name!r} parameter of inverse_kinematics must have shape ({chain.n_joints},) "
            f"or ({n}, {chain.n_joints}). Got shape {given.shape} instead."
        )
    if not np.isfinite(given).all():
        raise ValueError(f"The {name!r} parameter of inverse_kinematics contains NaN or infinity.")
    return np.array(np.broadcast_to(given, (n, chain.n_joints)), order="C")
