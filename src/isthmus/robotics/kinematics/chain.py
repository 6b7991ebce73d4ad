"""Kinematic chains of joints that turn or slide, many postures at once."""

from typing import Any

import numpy as np

from isthmus._checks import check_choice
from isthmus._warnings import warn
from isthmus.blocks.slices import block_slices
from isthmus.typing import Array, BoolArray

CONVENTIONS = ("modified", "standard")
ANGLES = ("rpy", "zyz", "rotation_vector")
MOST_TURNS = 3  # beyond which a joint limit looks like degrees
BLOCK = 1024  # postures whose frames stay in the cache until their Jacobians are computed


class KinematicChain:
    r"""A chain of joints that turn or slide, given by its Denavit-Hartenberg table.

    Joint i moves frame i relative to frame i - 1 by

    .. math::
        A_i = R_x(\alpha)\, T_x(a)\, R_z(q_i + \theta)\, T_z(d)
        \quad\text{or}\quad
        A_i = R_z(q_i + \theta)\, T_z(d)\, T_x(a)\, R_x(\alpha),

    the first in the modified (proximal) convention, the second in the standard (distal) one.
    :math:`A_i` maps coordinates of frame i to frame i - 1, so :math:`A_1 \cdots A_k` is the
    pose of frame k in the base [DenavitHartenberg1955]_. The twist columns of the same arm differ
    between the two conventions. The value of a joint that slides is added to d instead of the
    angle.

    Parameters
    ----------
    dh : array-like of shape (n_joints, 3) or (n_joints, 4)
        Rows of twist :math:`\alpha` (radians), length a, offset d, and optionally a constant angle
        :math:`\theta` that is added to the joint value.
    convention : {"modified", "standard"}, default="modified"
        The convention of the rows.
    joints : str, default=None
        A letter per joint, "R" (turns) or "P" (slides), such as ``"RRPR"``. None: all turn.
    flip : array-like of bool of shape (n_joints,), default=None
        Joints whose values count the other way. None: none.
    lower, upper : array-like of shape (n_joints,), default=None
        Joint limits, in radians or, of joints that slide, in units of length; those need both.
        None: no limits.
    limits : array-like of shape (n_joints, 2) or (n_joints,), default=None
        The same in one table: rows of lower and upper limit, or one number per joint that keeps
        to [-limit, limit].
    base : array-like of shape (4, 4), default=None
        Pose of the foot of the chain. None: the identity.
    tool : array-like of shape (4, 4), default=None
        Pose of the tool in the last frame: ``forward``, ``jacobian`` and targets mean the tool.
        None: the last frame itself.

    Attributes
    ----------
    n_joints : int
        Number of joints.
    lower, upper : ndarray of shape (n_joints,)
        Joint limits, infinite where there is none.
    slides : ndarray of shape (n_joints,), bool
        Which joints slide.

    Notes
    -----
    All methods take joint values of shape (n, n_joints), or (n_joints,) for one posture; the
    results then come without the first axis. The chain itself does not enforce its limits:
    :func:`inverse_kinematics` does, and ``within_limits`` checks them.

    Examples
    --------
    Two links in the plane:

    >>> import numpy as np
    >>> from isthmus.robotics import KinematicChain
    >>> chain = KinematicChain([[0, 1, 0], [0, 1, 0]], convention="standard")
    >>> chain.forward([0.0, np.pi / 2])[:3, 3]
    array([1., 1., 0.])
    >>> chain.jacobian([0.0, np.pi / 2])[:2]
    array([[-1., -1.],
           [ 1.,  0.]])

    The second slides along its axis, and a tool is a hand's breadth long:

    >>> tool = np.eye(4)
    >>> tool[2, 3] = 0.1
    >>> lift = KinematicChain(
    ...     [[0, 1, 0], [0, 0, 0]], joints="RP", limits=[[-3, 3], [0, 2]], tool=tool
    ... )
    >>> lift.forward([0.0, 0.5])[:3, 3]
    array([1. , 0. , 0.6])
    """

    __module__ = "isthmus.robotics"

    def __init__(
        self,
        dh: Any,
        convention: str = "modified",
        *,
        joints: str | None = None,
        flip: Any = None,
        lower: Any = None,
        upper: Any = None,
        limits: Any = None,
        base: Any = None,
        tool: Any = None,
    ) -> None:
        check_choice(convention, "convention", self, CONVENTIONS)
        rows = np.array(dh, dtype=float)
        if rows.ndim != 2 or rows.shape[1] not in (3, 4) or not len(rows):
            raise ValueError(
                "The 'dh' parameter of KinematicChain must be a table of rows (twist, length, "
                f"offset) or (twist, length, offset, angle). Got shape {rows.shape} instead."
            )
        _refuse_not_finite("dh", rows)
        _refuse_degrees(rows)
        self.dh = rows
        self.convention = convention
        self.n_joints = len(rows)
        self.slides, signs = self._check_joints(joints, flip)
        # How far each joint turns, and how far it slides, for one unit of its value.
        self._motions = np.column_stack([np.where(self.slides, 0.0, signs), self.slides * signs])
        lower, upper = self._both_limits(lower, upper, limits)
        self.lower = self._limits("lower", lower, -np.inf)
        self.upper = self._limits("upper", upper, np.inf)
        inverted = np.flatnonzero(~(self.lower < self.upper))
        if len(inverted):
            j = int(inverted[0])
            raise ValueError(
                "KinematicChain needs lower < upper for every joint. Got "
                f"lower[{j}] = {self.lower[j]:g} and upper[{j}] = {self.upper[j]:g}."
            )
        if not np.isfinite(np.concatenate([self.lower, self.upper])[np.tile(self.slides, 2)]).all():
            raise ValueError(
                "KinematicChain needs lower and upper limits of joints that slide: without them "
                "the chain has no reach."
            )
        self.base, self.tool = _rigid_motion("base", base), _rigid_motion("tool", tool)
        # cos(twist), sin(twist), length, offset; a right angle is taken exactly.
        exact = np.abs(np.cos(rows[:, 0])) < 1e-15
        cosine = np.where(exact, 0.0, np.cos(rows[:, 0]))
        self._table = np.column_stack([cosine, np.sin(rows[:, 0]), rows[:, 1], rows[:, 2]])
        self._angles = rows[:, 3].copy() if rows.shape[1] == 4 else np.zeros(len(rows))

    def __repr__(self) -> str:
        kinds = "".join(np.where(self.slides, "P", "R"))
        shown = f", joints={kinds!r}" if self.slides.any() else ""
        return f"KinematicChain(n_joints={self.n_joints}{shown}, convention={self.convention!r})"

    @property
    def center(self) -> Array:
        """The middle of the joint ranges, 0 for a joint without both limits."""
        bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        low, high = np.where(bounded, self.lower, 0.0), np.where(bounded, self.upper, 0.0)
        middle: Array = (low + high) / 2
        return middle

    @property
    def reach(self) -> float:
        """The largest possible distance of a point of the chain from its foot."""
        ends = np.where(self.slides, [self.lower, self.upper], 0.0) * self._motions[:, 1]
        offsets = np.abs(self.dh[:, 2] + ends).max(axis=0)
        links = float(np.hypot(self.dh[:, 1], offsets).sum())
        return links + float(np.linalg.norm(self.tool[:3, 3]))

    @property
    def length_unit(self) -> float:
        """The reach as a unit of lengths: 1 for a wrist, whose lengths are all zero."""
        return self.reach or 1.0

    def tables(self, units: Any = 1.0) -> tuple[Array, Array, bool, Array, float, Array, Array]:
        """What compiled loops need, for joint values in ``units``.

        Rows, constant angles, convention, base, reach, motions of the joints, tool.
        """
        motions = self._motions * np.reshape(np.broadcast_to(units, self.n_joints), (-1, 1))
        modified = self.convention == "modified"
        return self._table, self._angles, modified, self.base, self.reach, motions, self.tool

    def within_limits(self, q: Any, *, tol: float = 1e-9) -> BoolArray:
        """Whether each posture is within the joint limits, up to ``tol`` radians."""
        Q, one = self._postures(q)
        inside = (self.lower - tol <= Q) & (self.upper + tol >= Q)
        return np.asarray(inside[0].all() if one else inside.all(axis=1))

    def frames(self, q: Any) -> Array:
        """Poses of all joint frames in the base, shape (n, n_joints, 4, 4)."""
        Q, one = self._postures(q)
        return self._frames(Q)[0] if one else self._frames(Q)

    def forward(self, q: Any) -> Array:
        """Pose of the tool, or of the last frame if there is none, shape (n, 4, 4)."""
        Q, one = self._postures(q)
        poses = self._frames(Q, last_only=True)[:, 0]
        if not np.array_equal(self.tool, np.eye(4)):
            poses = poses @ self.tool
        return poses[0] if one else poses

    def positions(self, q: Any) -> Array:
        """Origins of all joint frames, shape (n, n_joints, 3)."""
        return self.frames(q)[..., :3, 3]

    def jacobian(self, q: Any, *, frame: str = "base") -> Array:
        r"""Geometric Jacobian of the tool, or of the last frame, shape (n, 6, n_joints).

        The upper three rows map joint speeds to the velocity of its origin, the lower three to its
        angular velocity: column j is :math:`(z_j \times (p - o_j),\ z_j)` with axis :math:`z_j`
        through :math:`o_j` for a joint that turns, and :math:`(z_j, 0)` for one that slides. Both
        are in coordinates of the base, or of the tool with ``frame="tool"``.
        """
        from isthmus.robotics.kinematics.chain_loops import fill_jacobians

        check_choice(frame, "frame", "jacobian", ("base", "tool"))
        Q, one = self._postures(q)
        J = np.empty((len(Q), 6, self.n_joints))
        for part in block_slices(len(Q), 1, block_size=BLOCK):
            frames = self._frames(Q[part])
            fill_jacobians(
                frames, self.convention == "modified", self.base, self._motions, self.tool, J[part]
            )
        if frame == "tool":
            turned = np.swapaxes(self.forward(Q)[:, :3, :3], 1, 2)
            J = np.concatenate([turned @ J[:, :3], turned @ J[:, 3:]], axis=1)
        return J[0] if one else J

    def position_jacobians(self, q: Any) -> Array:
        """Jacobians of the origins of all frames, shape (n, n_joints, 3, n_joints)."""
        return self.positions_and_jacobians(q)[1]

    def positions_and_jacobians(self, q: Any) -> tuple[Array, Array]:
        """Both :meth:`positions` and :meth:`position_jacobians`, from the same frames."""
        from isthmus.robotics.kinematics.chain_loops import fill_position_jacobians

        Q, one = self._postures(q)
        P = np.empty((len(Q), self.n_joints, 3))
        J = np.empty((*P.shape, self.n_joints))
        for part in block_slices(len(Q), 1, block_size=BLOCK):
            frames = self._frames(Q[part])
            P[part] = frames[..., :3, 3]
            fill_position_jacobians(
                frames, self.convention == "modified", self.base, self._motions, J[part]
            )
        return (P[0], J[0]) if one else (P, J)

    def analytic_jacobian(self, q: Any, *, angles: str = "rpy") -> Array:
        r"""Jacobian of position and orientation coordinates, shape (n, 6, n_joints).

        The lower rows are derivatives of three numbers instead of an angular velocity: with
        ``angles="rpy"`` of :math:`(\phi, \theta, \psi)` in
        :math:`R = R_z(\psi) R_y(\theta) R_x(\phi)`, with ``"zyz"`` in
        :math:`R = R_z(\phi) R_y(\theta) R_z(\psi)`, with ``"rotation_vector"`` of axis times angle.
        Each choice has orientations at which the derivative does not exist; they are refused.
        """
        from isthmus.robotics.kinematics.rotations import angular_velocity_map

        check_choice(angles, "angles", "analytic_jacobian", ANGLES)
        Q, one = self._postures(q)
        J = self.jacobian(Q)
        E = angular_velocity_map(self.forward(Q)[:, :3, :3], angles)
        singular = np.flatnonzero(np.abs(np.linalg.det(E)) < 1e-9)
        if len(singular):
            raise ValueError(
                f"The coordinates {angles!r} have no derivative at the orientation of posture "
                f"{singular[0]}: choose other 'angles', or use jacobian."
            )
        J[:, 3:] = np.linalg.solve(E, J[:, 3:])
        return J[0] if one else J

    def _frames(self, Q: Array, *, last_only: bool = False) -> Array:
        from isthmus.robotics.kinematics.chain_loops import fill_frames

        angles = Q * self._motions[:, 0] + self._angles
        offsets = Q * self._motions[:, 1] + self._table[:, 3]
        frames = np.empty((len(Q), 1 if last_only else self.n_joints, 4, 4))
        modified = self.convention == "modified"
        turns = np.cos(angles), np.sin(angles)
        fill_frames(*turns, offsets, self._table, modified, self.base, last_only, frames)
        return frames

    def _postures(self, q: Any) -> tuple[Array, bool]:
        Q = np.asarray(q, dtype=float)
        if Q.ndim not in (1, 2) or Q.shape[-1] != self.n_joints:
            raise ValueError(
                f"KinematicChain expects joint values of shape (n, {self.n_joints}) or "
                f"({self.n_joints},). Got shape {Q.shape} instead."
            )
        _refuse_not_finite("q", Q)
        return np.atleast_2d(Q), Q.ndim == 1

    def _check_joints(self, joints: str | None, flip: Any) -> tuple[BoolArray, Array]:
        """Which joints slide, and the sign of each."""
        n = self.n_joints
        letters = "R" * n if joints is None else joints
        if not isinstance(letters, str) or len(letters) != n or set(letters) - {"R", "P"}:
            raise ValueError(
                f"The 'joints' parameter of KinematicChain must hold {n} letters 'R' (turns) or "
                f"'P' (slides), one per joint. Got {joints!r} instead."
            )
        flipped = np.zeros(n, dtype=bool) if flip is None else np.array(flip)
        if flipped.shape != (n,) or flipped.dtype != bool:
            raise ValueError(
                f"The 'flip' parameter of KinematicChain must hold {n} values True or False, one "
                f"per joint. Got {flip!r} instead."
            )
        return np.array([letter == "P" for letter in letters]), np.where(flipped, -1.0, 1.0)

    def _both_limits(self, lower: Any, upper: Any, limits: Any) -> tuple[Any, Any]:
        """Lower and upper limits, however they were given."""
        if limits is None:
            return lower, upper
        if lower is not None or upper is not None:
            raise ValueError(
                "KinematicChain takes its limits once: give 'limits', or 'lower' and 'upper'."
            )
        table = np.array(limits, dtype=float)
        if table.shape == (self.n_joints,):
            return -table, table
        if table.shape != (self.n_joints, 2):
            raise ValueError(
                f"The 'limits' parameter of KinematicChain must have shape ({self.n_joints}, 2), "
                f"rows of lower and upper limit, or ({self.n_joints},). Got shape {table.shape} "
                "instead."
            )
        return table[:, 0], table[:, 1]

    def _limits(self, name: str, values: Any, missing: float) -> Array:
        if values is None:
            return np.full(self.n_joints, missing)
        limits = np.array(values, dtype=float)
        if limits.shape != (self.n_joints,):
            raise ValueError(
                f"The {name!r} parameter of KinematicChain must hold one limit for each of the "
                f"{self.n_joints} joints. Got shape {limits.shape} instead."
            )
        large = np.abs(limits[np.isfinite(limits) & ~self.slides])
        if len(large) and large.max() > MOST_TURNS * 2 * np.pi:
            warn(
                f"KinematicChain: a {name} limit of {large.max():g} radians is "
                f"{large.max() / (2 * np.pi):.0f} turns. If the limits are in degrees, use "
                "np.radians.",
                UserWarning,
            )
        return limits


def _rigid_motion(name: str, given: Any) -> Array:
    """A pose (4, 4); the identity where none is given."""
    if given is None:
        return np.eye(4)
    pose = np.array(given, dtype=float, order="C")
    if pose.shape != (4, 4):
        raise ValueError(
            f"The {name!r} parameter of KinematicChain must be a pose of shape (4, 4). "
            f"Got shape {pose.shape} instead."
        )
    _refuse_not_finite(name, pose)
    turn = pose[:3, :3]
    if not np.allclose(turn @ turn.T, np.eye(3), atol=1e-8) or np.linalg.det(turn) < 0:
        raise ValueError(
            f"The {name!r} parameter of KinematicChain must be a rigid motion: its upper left "
            "3 x 3 block is not a rotation."
        )
    return pose


def _refuse_degrees(rows: Array) -> None:
    """Refuse twists and constant angles that no table in radians and in our order has."""
    for column, name in ((0, "twist"), (3, "angle"))[: rows.shape[1] - 2]:
        size = np.abs(rows[:, column])
        if size.max() > 2 * np.pi * (1 + 1e-9):
            raise ValueError(
                f"The 'dh' parameter of KinematicChain must hold rows (twist, length, offset) or "
                f"(twist, length, offset, angle), angles in radians. Got a {name} of "
                f"{rows[size.argmax(), column]:g}, which is more than a turn: are the angles in "
                "degrees (use np.radians), or the columns in another order?"
            )


def _refuse_not_finite(name: str, values: Array) -> None:
    if not np.isfinite(values).all():
        raise ValueError(f"KinematicChain: {name!r} contains NaN or infinity.")
