"""Searches for postures that reach targets, from one start after another."""

from typing import NamedTuple

import numpy as np

from isthmus.linalg.lanes import LANES
from isthmus.robotics.kinematics.damped_loops import workspace
from isthmus.robotics.kinematics.inverse_loops import approach, lanes_at_rest, settle
from isthmus.typing import Array, BoolArray, IntArray

PATIENCE = 6  # rejected or hardly useful steps in a row before a start is given up
TURN = 2 * np.pi


class Arm(NamedTuple):
    """An arm as the loops want it, and its limits."""

    chain: tuple[Array, Array, Array, Array, float]
    lower: Array
    upper: Array


class Found(NamedTuple):
    """Postures (k, n_joints), errors (k, 6), steps, and whether targets are reached."""

    Q: Array
    errors: Array
    steps: IntArray
    reached: BoolArray

    def squared(self) -> Array:
        """The squared errors."""
        return np.einsum("kr,kr->k", self.errors, self.errors)

    def take(self, rows: IntArray) -> "Found":
        """Those of some rows."""
        return Found(self.Q[rows], self.errors[rows], self.steps[rows], self.reached[rows])

    def keep(self, rows: IntArray, others: "Found", better: BoolArray) -> None:
        """Add the steps of others in ``rows``, and have what is better there."""
        self.steps[rows] += others.steps
        rows = rows[better]
        self.Q[rows], self.errors[rows] = others.Q[better], others.errors[better]
        self.reached[rows] = others.reached[better]


class Search:
    """Searches for targets, with tables that they share.

    Parameters
    ----------
    arm : Arm
    poses : ndarray of shape (n, 4, 4)
    conditions : 3, or 6 if orientations count
    tol, max_iter
        When a target is reached, and when a start is given up.
    """

    def __init__(self, arm: Arm, poses: Array, conditions: int, tol: float, max_iter: int):
        self.poses, self.conditions, self.arm = poses, conditions, arm
        self.tol_squared, self.max_iter = tol**2, max_iter
        n_joints = len(arm.lower)
        self.work = workspace(n_joints), lanes_at_rest()
        self.walls = arm.lower, arm.upper
        everywhere = np.full(n_joints, np.inf)
        self.no_walls = -everywhere, everywhere

    def run(self, starts: Array, others: Array, preferred: Array, *, settles: bool) -> Found:
        """Postures for all targets: from the first start that leads there, or the best found.

        ``starts`` (n, n_joints) are tried first, then mixtures of them with ``others``
        (n_init - 1, n_joints), ever farther away. Where it ``settles``, postures that reach their
        targets move on towards ``preferred``; the closest to a target that none reaches is refined.
        """
        n_starts, ahead = 1 + len(others), 1
        left = np.arange(len(starts))
        best = self._from_starts(left, starts[None])
        left = left[~best.reached]
        first = 1
        while len(left) and first < n_starts:
            # Lanes that would be idle try later starts, which count only if those before them fail.
            ahead = min(max(1, LANES // len(left)), n_starts - first)
            tried = [mixture(starts[left], others[k - 1], k) for k in range(first, first + ahead)]
            found = self._from_starts(left, np.array(tried))
            closer = found.squared() < best.squared()[left]
            best.keep(left, found, found.reached | closer)
            first += ahead
            left = left[~best.reached[left]]
        if settles:
            self._settle(best, np.flatnonzero(best.reached), preferred)
        if len(left):
            self._refine(best, left, preferred)
        return best

    def _from_starts(self, which: IntArray, starts: Array) -> Found:
        """Where starts (k, len(which), n_joints) lead: the first that is there, or the nearest.

        An approach each, and where that fails one more, over hill and wall.
        """
        k, n, _ = starts.shape
        rows, Q = np.tile(which, k), starts.reshape(k * n, -1)
        found = self._approach(rows, self._clipped(Q))
        # Starts after one that has led to the target do not matter.
        in_vain = ~np.logical_or.accumulate(found.reached.reshape(k, n), axis=0).ravel()
        lost = np.flatnonzero(in_vain)
        if len(lost):
            wandered = self._approach(rows[lost], Q[lost], anywhere=True)
            again = self._approach(rows[lost], self._come_back(wandered.Q))
            again.steps[:] += wandered.steps
            found.keep(lost, again, again.reached | (again.squared() < found.squared()[lost]))
        if k == 1:
            return found
        reached, steps = found.reached.reshape(k, n), found.steps.reshape(k, n).cumsum(axis=0)
        there, columns = reached.any(axis=0), np.arange(n)
        at = np.where(there, reached.argmax(axis=0), found.squared().reshape(k, n).argmin(axis=0))
        steps = steps[np.where(there, at, k - 1), columns]
        return found.take(at * n + columns)._replace(steps=steps)

    def _settle(self, best: Found, rows: IntArray, preferred: Array) -> None:
        """Move on from postures that reach their targets towards those that are preferred."""
        wanted = preferred[rows]
        there = self._at(self._near(best.Q[rows], wanted))
        far = ((there.Q - wanted) ** 2).sum(axis=1)
        most = 3 * self.max_iter
        tables = self.poses, rows, self.conditions, self.arm.chain, self.walls
        settle(*tables, preferred, most, tuple(there), *self.work)
        end = self._approach(rows, there.Q, patient=True)
        # Not only where it moved: whole turns may have been taken off before.
        best.keep(rows, end, end.reached & (((end.Q - wanted) ** 2).sum(axis=1) <= far))

    def _refine(self, best: Found, rows: IntArray, preferred: Array) -> None:
        """Go on patiently from the postures that are closest to targets none has reached."""
        end = self._approach(rows, self._near(best.Q[rows], preferred[rows]), patient=True)
        best.keep(rows, end, end.reached | (end.squared() < best.squared()[rows]))

    def _approach(
        self, rows: IntArray, Q: Array, *, patient: bool = False, anywhere: bool = False
    ) -> Found:
        """Where damped least squares lead from ``Q``; ``anywhere`` over hills of the error."""
        found = self._at(Q)
        most = 10 * self.max_iter if patient else self.max_iter
        options = self.tol_squared, most, most if patient else PATIENCE, anywhere
        walls = self.no_walls if anywhere else self.walls
        tables = self.poses, rows, self.conditions, self.arm.chain, walls
        approach(*tables, options, tuple(found), *self.work)
        return found

    @staticmethod
    def _at(Q: Array) -> Found:
        """Room for what is found from ``Q``."""
        k = len(Q)
        return Found(Q, np.zeros((k, 6)), np.zeros(k, dtype=np.int64), np.zeros(k, dtype=bool))

    def _clipped(self, Q: Array) -> Array:
        return np.minimum(np.maximum(Q, self.arm.lower), self.arm.upper)

    def _near(self, Q: Array, preferred: Array) -> Array:
        """Within the limits; joints without any are turned near what is preferred."""
        Q = self._clipped(Q)
        free = np.isinf(self.arm.lower) & np.isinf(self.arm.upper)
        Q[:, free] -= TURN * np.rint((Q - preferred)[:, free] / TURN)
        return Q

    def _come_back(self, Q: Array) -> Array:
        """Within the limits: by whole turns, and where that leads past one, to the nearer end."""
        found, low, high = self._clipped(Q), self.arm.lower, self.arm.upper
        turns = (self.arm.chain[1][:, 0] != 0) & (np.isfinite(low) | np.isfinite(high))
        low, high = low[turns], high[turns]
        anchor = np.where(np.isfinite(low), low, high - TURN)
        q = anchor + (Q[:, turns] - anchor) % TURN
        found[:, turns] = np.where(q <= high, q, np.where(q - high < low + TURN - q, high, low))
        return found


def mixture(start: Array, other: Array, k: int) -> Array:
    """The start of number ``k``: mixed with another posture, ever farther away."""
    share = min(1.0, k / 3.0)
    return (1 - share) * start + share * other
