"""Kinematic chains of revolute joints, many postures at once."""

from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from isthmus._checks import check_choice
from isthmus._warnings import warn
from isthmus.typing import Array, BoolArray

CONVENTIONS = ("modified", "standard")
ANGLES = ("rpy", "zyz", "rotation_vector")
MOST_TURNS = 3  # beyond which a joint limit looks like degrees
BLOCK = 1024  # postures whose frames stay in the cache until their Jacobians are computed


class KinematicChain:
    r"""A chain of revolute joints, given by its Denavit-Hartenberg table.

    Joint i rotates frame i relative to frame i - 1 by

    .. math::
        A_i = R_x(\alpha)\, T_x(a)\, R_z(q_i + \theta)\, T_z(d)
        \quad\text{or}\quad
        A_i = R_z(q_i + \theta)\, T_z(d)\, T_x(a)\, R_x(\alpha),

    the first in the modified (proximal) convention, the second in the standard (distal) one.
    :math:`A_i` maps coordinates of frame i to frame i - 1, so :math:`A_1 \cdots A_k` is the
    pose of frame k in the base [DenavitHartenberg1955]_. The twist columns of the same arm differ
    between the two conventions.

    Parameters
    ----------
    dh : array-like of shape (n_joints, 3) or (n_joints, 4)
        Rows of twist :math:`\alpha` (radians), length a, offset d, and optionally a constant angle
        :math:`\theta` that is added to the joint value.
    convention : {"modified", "standard"}, default="modified"
        The convention of the rows.
    lower, upper : array-like of shape (n_joints,), default=None
        Joint limits in radians. None: no limits.
    limits : array-like of shape (n_joints, 2) or (n_joints,), default=None
        The same in one table: rows of lower and upper limit, or one number per joint that keeps
        to [-limit, limit].
    base : array-like of shape (4, 4), default=None
        Pose of the foot of the chain. None: the identity.

    Attributes
    ----------
    n_joints : int
        Number of joints.
    lower, upper : ndarray of shape (n_joints,)
        Joint limits, infinite where there is none.

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
    """

    __module__ = "isthmus.robotics"

    def __init__(
        self,
        dh: Any,
        convention: str = "modified",
        *,
        lower: Any = None,
        upper: Any = None,
        limits: Any = None,
        base: Any = None,
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
        self.base = np.eye(4) if base is None else np.array(base, dtype=float, order="C")
        if self.base.shape != (4, 4):
            raise ValueError(
                "The 'base' parameter of KinematicChain must be a pose of shape (4, 4). "
                f"Got shape {self.base.shape} instead."
            )
        _refuse_not_finite("base", self.base)
        turn = self.base[:3, :3]
        if not np.allclose(turn @ turn.T, np.eye(3), atol=1e-8) or np.linalg.det(turn) < 0:
            raise ValueError(
                "The 'base' parameter of KinematicChain must be a rigid motion: its upper left "
                "3 x 3 block is not a rotation."
            )
        # cos(twist), sin(twist), length, offset; a right angle is taken exactly.
        exact = np.abs(np.cos(rows[:, 0])) < 1e-15
        cosine = np.where(exact, 0.0, np.cos(rows[:, 0]))
        self._table = np.column_stack([cosine, np.sin(rows[:, 0]), rows[:, 1], rows[:, 2]])
        self._angles = rows[:, 3].copy() if rows.shape[1] == 4 else np.zeros(len(rows))

    def __repr__(self) -> str:
        return f"KinematicChain(n_joints={self.n_joints}, convention={self.convention!r})"

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
        return float(np.hypot(self.dh[:, 1], self.dh[:, 2]).sum())

    @property
    def tables(self) -> tuple[Array, Array, bool, Array, float]:
        """What compiled loops need: rows, constant angles, convention, base, reach."""
        return self._table, self._angles, self.convention == "modified", self.base, self.reach

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
        """Pose of the last frame, shape (n, 4, 4)."""
        Q, one = self._postures(q)
        poses = self._frames(Q, last_only=True)[:, 0]
        return poses[0] if one else poses

    def positions(self, q: Any) -> Array:
        """Origins of all joint frames, shape (n, n_joints, 3)."""
        return self.frames(q)[..., :3, 3]

    def jacobian(self, q: Any) -> Array:
        r"""Geometric Jacobian of the last frame, shape (n, 6, n_joints).

        The upper three rows map joint speeds to the velocity of the origin of the frame, the
        lower three to its angular velocity, both in base coordinates: column j is
        :math:`(z_j \times (p - o_j),\ z_j)` with axis :math:`z_j` through :math:`o_j`.
        """
        from isthmus.robotics.kinematics.chain_loops import fill_jacobians

        Q, one = self._postures(q)
        J = np.empty((len(Q), 6, self.n_joints))
        for part in gen_batches(len(Q), BLOCK):
            frames = self._frames(Q[part])
            fill_jacobians(frames, self.convention == "modified", self.base, J[part])
        return J[0] if one else J

    def position_jacobians(self, q: Any) -> Array:
        """Jacobians of the origins of all frames, shape (n, n_joints, 3, n_joints)."""
        from isthmus.robotics.kinematics.chain_loops import fill_position_jacobians

        Q, one = self._postures(q)
        J = np.empty((len(Q), self.n_joints, 3, self.n_joints))
        for part in gen_batches(len(Q), BLOCK):
            frames = self._frames(Q[part])
            fill_position_jacobians(frames, self.convention == "modified", self.base, J[part])
        return J[0] if one else J

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

        angles = Q + self._angles
        frames = np.empty((len(Q), 1 if last_only else self.n_joints, 4, 4))
        modified = self.convention == "modified"
        fill_frames(
            np.cos(angles), np.sin(angles), self._table, modified, self.base, last_only, frames
        )
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
        large = np.abs(limits[np.isfinite(limits)])
        if len(large) and large.max() > MOST_TURNS * 2 * np.pi:
            warn(
                f"KinematicChain: a {name} limit of {large.max():g} radians is "
                f"{large.max() / (2 * np.pi):.0f} turns. If the limits are in degrees, use "
                "np.radians.",
                UserWarning,
            )
        return limits


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
