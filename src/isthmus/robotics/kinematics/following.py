"""Joint paths along a trajectory of the hand, with a wanted posture."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_banded

from isthmus._checks import check_choice, check_float
from isthmus.robotics.kinematics.chain import KinematicChain
from isthmus.robotics.kinematics.inverse import inverse_kinematics
from isthmus.robotics.kinematics.posture import Posture
from isthmus.typing import Array, BoolArray

SOLVERS = ("steps", "whole")
TINY = 1e-12  # the search stops when less than this share of the objective can be gained


@dataclass(frozen=True)
class JointPath:
    """A movement of the joints.

    Attributes
    ----------
    q : ndarray of shape (n_steps, n_joints)
        Joint values within the limits.
    reached : ndarray of shape (n_steps,), bool
        Whether the hand is where it should be, within the tolerance.
    position_error : ndarray of shape (n_steps,)
        Remaining distance, in units of the chain.
    posture_error : ndarray of shape (n_steps,)
        Norm of the wanted minus the actual posture values; 0 without a posture term.
    objective : float
        The value that was minimised, for the whole path.
    """

    __module__ = "isthmus.robotics"

    q: Array
    reached: BoolArray
    position_error: Array
    posture_error: Array
    objective: float


class _PathProblem:
    """Objective, constraint and their derivatives for consecutive steps of a path."""

    def __init__(
        self,
        chain: KinematicChain,
        posture: Posture | None,
        smoothness: float,
    ) -> None:
        self.chain, self.posture, self.smoothness = chain, posture, smoothness

    def look(self, Q: Array, path: Array, wanted: Array) -> tuple[Array, Array, Array, Array]:
        """Errors (T, 3) and their Jacobians, residuals of the posture (T, k) and theirs."""
        chain = self.chain
        e = (path - chain.forward(Q)[:, :3, 3]) / chain.length_unit
        J = chain.jacobian(Q)[:, :3] / chain.length_unit
        if self.posture is None:
            return e, J, np.zeros((len(Q), 0)), np.zeros((len(Q), 0, chain.n_joints))
        values, slopes = self.posture(Q)
        return e, J, values - wanted, slopes

    def objective(self, Q: Array, before: Array, residual: Array) -> float:
        moves = np.diff(Q, axis=0, prepend=before[None])
        return float(np.sum(residual**2) + self.smoothness * np.sum(moves**2))

    def solve(self, Q: Array, before: Array, path: Array, wanted: Array, max_iter: int) -> Array:
        """Gauss-Newton steps with the constraint kept to first order, and a line search."""
        low, high = self.chain.lower, self.chain.upper
        Q = Q.copy()
        e, J, r, R = self.look(Q, path, wanted)
        value, broken, weight, length = self.objective(Q, before, r), _length(e), 0.0, 1.0
        for _ in range(max_iter):
            step, pull = self._step(Q, before, e, J, r, R)
            moves = np.diff(Q, axis=0, prepend=before[None])
            turned = np.diff(step, axis=0, prepend=np.zeros((1, step.shape[1])))
            slope = 2 * np.sum(r * np.einsum("tkj,tj->tk", R, step))
            slope += 2 * self.smoothness * np.sum(moves * turned)
            weight = max(weight, 3 * pull)  # an exact penalty: above twice the multipliers
            fall = slope - weight * broken
            if -fall <= TINY * (value + weight * broken):
                break
            length = min(1.0, 4 * length)
            while length > 1e-6:
                trial = np.clip(Q + length * step, low, high)
                seen = self.look(trial, path, wanted)
                new, left = self.objective(trial, before, seen[2]), _length(seen[0])
                if new + weight * left <= value + weight * broken + 1e-4 * length * fall:
                    break
                length /= 2
            else:
                break
            Q, (e, J, r, R), value, broken = trial, seen, new, left
        return self._restore(Q, path)

    def _restore(self, Q: Array, path: Array) -> Array:
        """Bring the hand back to its path by a few steps of least length."""
        for _ in range(4):
            e = path - self.chain.forward(Q)[:, :3, 3]
            if np.abs(e).max() < 1e-14 * self.chain.length_unit:
                break
            step = np.linalg.pinv(self.chain.jacobian(Q)[:, :3]) @ e[:, :, None]
            Q = np.clip(Q + step[:, :, 0], self.chain.lower, self.chain.upper)
        return Q

    def _step(
        self, Q: Array, before: Array, e: Array, J: Array, r: Array, R: Array
    ) -> tuple[Array, float]:
        """Solve the quadratic problem; joints at a limit whose step would leave it are held.

        Also returns the largest multiplier of the constraint.
        """
        low, high = self.chain.lower, self.chain.upper
        held = np.zeros(Q.shape, dtype=bool)
        while True:
            step, pull = self._banded_step(Q, before, e, J, r, R, held)
            out = ((low >= Q) & (step < 0)) | ((high <= Q) & (step > 0))
            if not (out & ~held).any():
                return step, pull
            held |= out

    def _banded_step(
        self, Q: Array, before: Array, e: Array, J: Array, r: Array, R: Array, held: BoolArray
    ) -> tuple[Array, float]:
        """Joint steps and multipliers for all times at once, from a banded system."""
        T, n = Q.shape
        m = n + 3  # unknowns of one time: joint steps, multipliers of the three conditions
        a = self.smoothness
        free = ~held
        moves = np.diff(Q, axis=0, prepend=before[None])
        pull = a * moves
        pull[:-1] -= a * moves[1:]
        gradient = np.einsum("tkj,tk->tj", R, r) + pull
        block = np.zeros((T, m, m))
        neighbours = np.where(np.arange(T) < T - 1, 2.0, 1.0)[:, None, None]
        block[:, :n, :n] = R.transpose(0, 2, 1) @ R + (a * neighbours + 1e-10) * np.eye(n)
        block[:, :n, :n] *= free[:, :, None] * free[:, None, :]
        block[:, np.arange(n), np.arange(n)] += held  # a held joint: unit row, step zero
        J = J * free[:, None, :]
        block[:, n:, :n], block[:, :n, n:] = J, J.transpose(0, 2, 1)
        block[:, np.arange(n, m), np.arange(n, m)] = -1e-13  # where the Jacobian loses rank
        right = np.concatenate([np.where(held, 0.0, -gradient), e], axis=1)
        if T == 1:
            solution = np.linalg.solve(block, right[:, :, None])[:, :, 0]
            return solution[:, :n], float(np.linalg.norm(solution[:, n:]))
        # Row i, column j of the matrix is at [width + i - j, j]; times are coupled by -a.
        band = np.zeros((2 * m + 1, T * m))
        i, j = np.meshgrid(np.arange(m), np.arange(m), indexing="ij")
        for t in range(T):
            band[m + i - j, t * m + j] = block[t]
        coupling = np.zeros((T, m))
        coupling[:-1, :n] = -a * (free[:-1] & free[1:])
        band[2 * m] = coupling.ravel()
        band[0] = np.roll(coupling, 1, axis=0).ravel()
        solution = solve_banded((m, m), band, right.ravel()).reshape(T, m)
        return solution[:, :n], float(np.linalg.norm(solution[:, n:], axis=1).max())


def follow(
    chain: KinematicChain,
    path: Any,
    *,
    posture: Posture | None = None,
    wanted: Any = None,
    smoothness: float = 0.1,
    start: Any = None,
    solver: str = "steps",
    max_iter: int = 50,
    tol: float = 1e-9,
) -> JointPath:
    r"""Joint values that move the hand along a path while staying close to a wanted posture.

    .. math::
        \min_{q_1 \dots q_T} \sum_t \|f_t - f(q_t)\|^2 + a \|q_t - q_{t-1}\|^2
        \quad\text{such that}\quad p(q_t) = \zeta_t,\ q_\min \le q_t \le q_\max.

    The position of the hand is a constraint and met exactly; the remaining freedom of the arm is
    used for the posture f, weighed against the smoothness a [Bakir2005]_.

    Parameters
    ----------
    chain : KinematicChain
        The arm.
    path : array-like of shape (n_steps, 3)
        Where the origin of the last frame has to be.
    posture : callable, default=None
        Returns values (n, k) and derivatives (n, k, n_joints) for postures, such as
        :class:`PlaneNormal`. None: only smoothness counts.
    wanted : array-like of shape (n_steps, k) or (k,), default=None
        Values of ``posture`` to imitate.
    smoothness : float, default=0.1
        The weight a. Small values imitate better, but joint paths may jump.
    start : array-like of shape (n_joints,), default=None
        The posture :math:`q_0` before the first step. None: that of
        :func:`inverse_kinematics` for the first point.
    solver : {"steps", "whole"}, default="steps"
        "steps" solves for one time after the other, as published, without looking ahead. "whole"
        then improves all times together.
    max_iter : int, default=50
        Maximum number of Gauss-Newton iterations for each time, or for the whole path.
    tol : float, default=1e-9
        A point is reached when the remaining distance is below ``tol`` times the reach.

    Returns
    -------
    JointPath
        Joint values, and where the hand could not follow the path.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.robotics import PlaneNormal, follow, pa10
    >>> arm = pa10()
    >>> angle = np.linspace(0, 2 * np.pi, 30)
    >>> circle = [600, 0, 300] + 80 * np.c_[np.cos(angle), np.sin(angle), 0 * angle]
    >>> elbow = PlaneNormal(arm, joint=2, point=[0, 300, 0], reference=[600, 0, 200])
    >>> moved = follow(arm, circle, posture=elbow, wanted=[0.3, 0.1, 0.9])
    >>> bool(moved.reached.all()), moved.q.shape
    (True, (30, 7))
    """
    points = _check_path(path)
    check_choice(solver, "solver", "follow", SOLVERS)
    smoothness = check_float(smoothness, "smoothness", "follow")
    if (posture is None) != (wanted is None):
        raise ValueError("follow needs both 'posture' and 'wanted', or neither.")
    T = len(points)
    wishes = _check_wanted(wanted, T)
    first = inverse_kinematics(chain, points[0], preferred=start).q
    before = first if start is None else np.asarray(start, dtype=float)
    problem = _PathProblem(chain, posture, smoothness)
    Q: Array = np.empty((T, chain.n_joints))
    here, previous = first, before
    for t in range(T):
        at = slice(t, t + 1)
        here = problem.solve(here[None], previous, points[at], wishes[at], max_iter)[0]
        if np.linalg.norm(chain.forward(here)[:3, 3] - points[t]) > tol * chain.length_unit:
            here = inverse_kinematics(chain, points[t], start=here, tol=tol).q
        Q[t] = previous = here
    if solver == "whole":
        Q = problem.solve(Q, before, points, wishes, max_iter)
    e, _, residual, _ = problem.look(Q, points, wishes)
    away = np.linalg.norm(e, axis=1) * chain.length_unit
    return JointPath(
        Q,
        np.asarray(away <= tol * chain.length_unit),
        away,
        np.linalg.norm(residual, axis=1),
        problem.objective(Q, before, residual),
    )


def _check_wanted(wanted: Any, T: int) -> Array:
    """The wanted posture values at each step, (T, k)."""
    wish = np.zeros((T, 0)) if wanted is None else np.atleast_1d(np.asarray(wanted, dtype=float))
    if wish.ndim > 2 or (wish.ndim == 2 and len(wish) != T):
        raise ValueError(
            f"The 'wanted' parameter of follow must have one row for each of the {T} steps. "
            f"Got shape {wish.shape} instead."
        )
    if not np.isfinite(wish).all():
        raise ValueError("The 'wanted' parameter of follow contains NaN or infinity.")
    return np.broadcast_to(wish, (T, wish.shape[-1]))


def _check_path(path: Any) -> Array:
    points = np.asarray(path, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ValueError(
            "The 'path' parameter of follow must have shape (n_steps, 3) with at least one step. "
            f"Got shape {points.shape} instead."
        )
    if not np.isfinite(points).all():
        raise ValueError("The 'path' parameter of follow contains NaN or infinity.")
    return points


def _length(e: Array) -> float:
    return float(np.linalg.norm(e, axis=1).sum())
