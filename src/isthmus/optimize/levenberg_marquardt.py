"""Levenberg-Marquardt for many small problems at once.

SciPy's ``least_squares`` solves one problem per call. Projections on a manifold, recall of missing
columns and inverse kinematics pose thousands of the same form with few unknowns each; here every
row is a problem with its own damping, and rows that have converged leave the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.typing import Array, BoolArray, IntArray

# model(points, rows) -> values (m, d), jacobians (m, d, q) of the problems named by ``rows``
RowModel = Callable[[Array, IntArray], tuple[Array, Array]]
RowDomain = Callable[[Array, IntArray], BoolArray]

DAMPING = 1e-2  # the first one
LARGEST_DAMPING = 1e12  # beyond it a step is below rounding: no descent is left
LEAST_TRACE = float(np.finfo(float).tiny ** 0.5)


@dataclass
class LeastSquaresRows:
    """The solutions of a batch of least-squares problems."""

    __module__ = "isthmus.optimize"

    x: Array
    error: Array
    n_iter: int
    converged: BoolArray


def least_squares_rows(
    model: RowModel,
    start: Array,
    targets: Array,
    *,
    weights: Array | None = None,
    lower: Array | None = None,
    upper: Array | None = None,
    inside: RowDomain | None = None,
    max_iter: int = 50,
    tol: float = 1e-10,
    damping: float = DAMPING,
) -> LeastSquaresRows:
    r"""Minimise a weighted squared distance for every row, by damped Gauss-Newton steps.

    For row :math:`i` the error is :math:`\sum_k w_{ik} (f_k(x_i) - t_{ik})^2`. A step solves

    .. math:: (J^\top W J + \mu \, \mathrm{tr}(J^\top W J)\, I)\, s = -J^\top W (f - t)

    and is taken if the error falls; :math:`\mu` shrinks where the linear model was right and
    grows where it was not.

    Parameters
    ----------
    model : callable
        ``model(points, rows)`` returns values (m, d) and jacobians (m, d, q) of the problems
        whose numbers are ``rows``, at ``points`` (m, q).
    start : ndarray of shape (n, q)
        Starting points; not changed.
    targets : ndarray of shape (n, d)
        Where a weight is zero the target may be anything, NaN too.
    weights : ndarray of shape (d,) or (n, d), optional
        Not negative; zero leaves a component out. Ones by default.
    lower, upper : ndarray of shape (q,) or (n, q), optional
        A box for the unknowns; a coordinate at its bound whose step would leave it is held there.
    inside : callable, optional
        ``inside(points, rows)`` tells which points lie in the domain; a step that leaves it is
        refused and tried again shorter. The start is taken to be inside.
    max_iter : int
    tol : float
        A row has converged when a step promises or brings less than ``tol`` times its error
        (or times the squared size of its target, whichever is larger: an exact fit ends too).
        A row whose error is never finite stays at its start and has not converged.
    damping : float
        First :math:`\mu`, relative to the trace.

    Returns
    -------
    LeastSquaresRows
        ``x``, ``error``, ``n_iter``, ``converged``. Errors never exceed those at the start.

    Examples
    --------
    Angles of a point on the circle, from both of its coordinates and from one alone:

    >>> import numpy as np
    >>> def circle(angle, rows):
    ...     c, s = np.cos(angle), np.sin(angle)
    ...     return np.hstack([c, s]), np.stack([-s, c], axis=1)
    >>> target = np.array([[0.0, 1.0], [0.6, np.nan]])
    >>> known = np.isfinite(target).astype(float)
    >>> result = least_squares_rows(circle, np.full((2, 1), 0.5), target, weights=known)
    >>> result.x.ravel().round(4), result.converged
    (array([1.5708, 0.9273]), array([ True,  True]))
    """
    n, q = start.shape
    w = np.broadcast_to(np.ones(1) if weights is None else weights, targets.shape)
    t = np.where(w > 0, targets, 0.0)
    low = np.broadcast_to(-np.inf if lower is None else lower, (n, q))
    high = np.broadcast_to(np.inf if upper is None else upper, (n, q))
    x = np.clip(start, low, high)
    rows: IntArray = np.arange(n)
    f, J = model(x, rows)
    counted = None if weights is None else w
    residual, error = _residuals(f, t, counted)
    # Rounding of an exact fit is relative to the target, not to its vanishing error.
    floor = np.finfo(float).eps * np.einsum("nd,nd->n", w * t, t) + np.finfo(float).tiny
    mu = np.full(n, damping)
    found = LeastSquaresRows(x, error.copy(), 0, np.zeros(n, dtype=bool))
    now = _UnderWay(rows, x, low, high, mu, counted, t, floor, residual, error, J)
    while now.rows.size and found.n_iter < max_iter:
        found.n_iter += 1
        step, promised = now.step()
        settled = promised <= tol * np.maximum(now.error, now.floor)
        if np.count_nonzero(settled):  # faster than any() of few rows
            now, step, promised = now.leave(settled, found), step[~settled], promised[~settled]
            if not now.rows.size:
                break
        done = now.move(step, promised, model, inside, tol)
        if np.count_nonzero(done):
            now = now.leave(done, found)
    found.x[now.rows], found.error[now.rows] = now.x, now.error
    found.converged &= np.isfinite(found.error)
    return found


@dataclass
class _UnderWay:
    """The problems that have not converged: each has a line of every array."""

    rows: IntArray
    x: Array
    lower: Array
    upper: Array
    mu: Array
    weights: Array | None
    targets: Array
    floor: Array
    residual: Array
    error: Array
    J: Array

    def take(self, keep: BoolArray) -> "_UnderWay":
        """Some of the problems."""
        parts: Any = (part if part is None else part[keep] for part in vars(self).values())
        return _UnderWay(*parts)

    def leave(self, done: BoolArray, found: LeastSquaresRows) -> "_UnderWay":
        """Write down what has converged; return the rest."""
        rows = self.rows[done]
        found.x[rows], found.error[rows] = self.x[done], self.error[done]
        found.converged[rows] = True
        return self.take(~done)

    def step(self) -> tuple[Array, Array]:
        """Steps, and the fall of the error each promises."""
        gradient, normal = _normal_equations(self.J, self.weights, self.residual)
        held = (self.x <= self.lower) & (gradient > 0)
        held |= (self.x >= self.upper) & (gradient < 0)
        return _damped_step(normal, gradient, held, self.mu)

    def move(
        self, step: Array, promised: Array, model: RowModel, inside: RowDomain | None, tol: float
    ) -> BoolArray:
        """Take the steps that lower the error, and set the damping; tell which rows are done."""
        trial = np.minimum(np.maximum(self.x + step, self.lower), self.upper)
        f, J = model(trial, self.rows)
        residual, error = _residuals(f, self.targets, self.weights)
        accepted = error < self.error
        if inside is not None:
            accepted &= inside(trial, self.rows)
        gain = self.error - error
        # As far as the linear model was right: an even promise keeps the damping (Nielsen's rule).
        trust = np.minimum(np.maximum(1.0 - (2.0 * gain / promised - 1.0) ** 3, 0.2), 2.0)
        self.mu = self.mu * np.where(accepted, trust, 4.0)
        if np.count_nonzero(accepted) == len(accepted):
            self.x, self.error, self.residual, self.J = trial, error, residual, J
        else:
            self.x = np.where(accepted[:, None], trial, self.x)
            self.error = np.where(accepted, error, self.error)
            self.residual[accepted], self.J[accepted] = residual[accepted], J[accepted]
        done = accepted & (gain <= tol * np.maximum(self.error, self.floor))
        return done | (self.mu > LARGEST_DAMPING)


def _residuals(f: Array, t: Array, w: Array | None) -> tuple[Array, Array]:
    """Differences (m, d), zero where they do not count, and errors (m,)."""
    if w is None:
        residual = f - t
        return residual, np.einsum("nd,nd->n", residual, residual)
    residual = np.where(w > 0, f - t, 0.0)
    return residual, np.einsum("nd,nd->n", w * residual, residual)


def _normal_equations(J: Array, w: Array | None, residual: Array) -> tuple[Array, Array]:
    """Half gradients (m, q) and Gauss-Newton matrices (m, q, q)."""
    # Of an array and itself NumPy takes a product that is slower for small ones.
    weighted = J.copy() if w is None else J * w[:, :, None]
    gradient = np.matmul(residual[:, None, :], weighted)[:, 0, :]
    return gradient, np.matmul(weighted.transpose(0, 2, 1), J)


def _damped_step(normal: Array, gradient: Array, held: BoolArray, mu: Array) -> tuple[Array, Array]:
    """Steps (m, q) of the free coordinates and the fall of the error each promises."""
    m, q = gradient.shape
    g = gradient
    if np.count_nonzero(held):
        g = np.where(held, 0.0, gradient)
        normal = np.where(held[:, :, None] | held[:, None, :], 0.0, normal)
    A = normal.copy()
    diagonal = A.reshape(m, q * q)[:, :: q + 1]
    ridge = mu * np.maximum(diagonal.sum(axis=1), LEAST_TRACE)
    diagonal += ridge[:, None]
    diagonal += held  # a held coordinate: unit row, step zero
    step = -np.linalg.solve(A, g[:, :, None])[:, :, 0]
    # Without damping's part: -2 g's - s'Ns is what the linear model says.
    curved = np.einsum("nq,nqr,nr->n", step, normal, step)
    return step, -2.0 * np.einsum("nq,nq->n", g, step) - curved
