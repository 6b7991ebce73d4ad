r"""The published descent: geodesics for both bases, plain steps for the strengths.

The map is :math:`F=V\operatorname{diag}(s)W^\top`, its two bases on Stiefel manifolds. With the
slope :math:`M=\partial\rho/\partial P` of the loss, the gradients are

.. math:: G_V=M^\top XWS,\qquad G_W=X^\top MVS,\qquad
          g_s=\operatorname{diag}(V^\top M^\top XW)+2\alpha s .

It is kept for comparison: strengths that are forced to be diagonal make it slow, and it
stops short of the optimum where the fixed-rank geometry does not.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus.losses.base import Loss
from isthmus.optimize.riemannian import FixedRank, FixedRankResult, riemannian_gradient
from isthmus.optimize.stiefel_geometry import canonical_gradient, geodesic
from isthmus.regression.rank.stiefel.formulas import (
    StiefelProblem,
    objective,
    slope_scale,
    to_descent,
    weighted_loss,
)
from isthmus.typing import Array

# The descent ends when a step takes off less than this share of the value.
RELATIVE_DECREASE = 1e-9
MAX_HALVINGS = 40


class FactorGradients(NamedTuple):
    """Value and gradients in the factors and the intercept."""

    value: float
    V: Array
    s: Array
    W: Array
    b: Array


def squared_objective(
    S_xx: Array, S_yx: Array, yy: float, alpha: float
) -> Callable[[FixedRank], FactorGradients]:
    """Squared loss from moments alone: the data are not looked at again."""

    def at(point: FixedRank) -> FactorGradients:
        V, s, W, b = point
        XW, YW = S_xx @ W, S_yx @ W
        WXW, VYW = W.T @ XW, V.T @ YW
        cross = np.diagonal(VYW)
        value = yy - 2 * s @ cross + s**2 @ np.diagonal(WXW) + alpha * s @ s
        # Of G_V the part V S W'S_xx W S is normal to the manifold and left out.
        G_W = 2 * (XW * s - S_yx.T @ V) * s
        g_s = 2 * (np.diagonal(WXW) * s - cross + alpha * s)
        return FactorGradients(float(value), -2 * YW * s, g_s, G_W, np.zeros_like(b))

    return at


def loss_objective(
    X: Array, Y: Array, weights: Array, loss: Loss, alpha: float, *, fit_intercept: bool
) -> Callable[[FixedRank], FactorGradients]:
    """Any loss, from the rows; the intercept descends along."""

    def at(point: FixedRank) -> FactorGradients:
        V, s, W, b = point
        XW = X @ W
        value, M = weighted_loss(loss, Y, (XW * s) @ V.T + b, weights)
        MXW = M.T @ XW
        g_b = M.sum(axis=0) if fit_intercept else np.zeros_like(b)
        g_s = np.einsum("or,or->r", V, MXW) + 2 * alpha * s
        total = float(value.sum() + alpha * s @ s)
        return FactorGradients(total, MXW * s, g_s, (X.T @ (M @ V)) * s, g_b)

    return at


def descend_in_stages(
    problem: StiefelProblem,
    stages: tuple[Loss, ...],
    X: Array,
    start: FixedRank,
    *,
    max_iter: int,
    callback: Callable[[int, float, float], None] | None = None,
) -> tuple[FixedRankResult, list[float]]:
    """Descend on the losses in turn, in the units of the inputs ``X``.

    Returns the end in the coordinates of ``problem``, judged by the same optimality as any
    other solver, and the values on the way.
    """
    Xc = X - problem.x_mean
    Y, weights = problem.Y, problem.weights
    alpha = problem.alpha
    point, path, n_iter = start, [], 0
    for loss in stages:
        if loss.least_squares and weights.shape[1] == 1:
            if problem.unit:
                point = point._replace(b=(weights * Y).sum(axis=0) / weights.sum())
            Yc = Y - point.b
            S_yx = (weights * Yc).T @ Xc
            yy = float(np.sum(weights * Yc**2))
            fun = squared_objective(Xc.T @ (weights * Xc), S_yx, yy, alpha)
        else:
            fun = loss_objective(Xc, Y, weights, loss, alpha, fit_intercept=problem.unit > 0)
        point, values, converged = geodesic_descent(
            fun, point, max_iter=max_iter, callback=callback
        )
        path += values
        n_iter += len(values) - 1
    end = to_descent(point, problem.forth, problem.unit)
    slope = objective(problem, stages[-1])(end)
    length = float(np.linalg.norm(riemannian_gradient(end, slope)))
    optimality = length / slope_scale(problem, stages[-1])
    return FixedRankResult(end, slope.value, optimality, n_iter, converged, path), path


def geodesic_step(point: FixedRank, gradients: FactorGradients, t: float) -> FixedRank:
    """Move for a time ``t`` downhill: geodesics for the bases, straight for the rest."""
    return FixedRank(
        geodesic(point.V, -canonical_gradient(point.V, gradients.V), t),
        point.s - t * gradients.s,
        geodesic(point.W, -canonical_gradient(point.W, gradients.W), t),
        point.b - t * gradients.b,
    )


def geodesic_descent(
    fun: Callable[[FixedRank], FactorGradients],
    start: FixedRank,
    *,
    max_iter: int,
    callback: Callable[[int, float, float], None] | None = None,
) -> tuple[FixedRank, list[float], bool]:
    """Descend with one Armijo step for all factors, doubled after success, halved on failure.

    Returns the point, the values on the way, and whether the relative decrease has become small.
    """
    point, gradients = start, fun(start)
    path = [gradients.value]
    t = 1.0
    for n_iter in range(1, max_iter + 1):
        slope = _squared_length(point, gradients)
        t = min(t, 1 / np.sqrt(max(slope, np.finfo(float).tiny))) if n_iter == 1 else 2 * t
        for _ in range(MAX_HALVINGS):
            new = geodesic_step(point, gradients, t)
            found = fun(new)
            if found.value <= gradients.value - 1e-4 * t * slope:
                break
            t /= 2
        else:
            return point, path, True  # no step lowers the value: rounding has the last word
        decrease = gradients.value - found.value
        point, gradients = new, found
        path.append(found.value)
        if callback is not None:
            callback(n_iter, found.value, decrease)
        if decrease <= RELATIVE_DECREASE * abs(path[-2]):
            return point, path, True
    return point, path, False


def _squared_length(point: FixedRank, gradients: FactorGradients) -> float:
    """Rate at which the value falls along the step at its start."""
    return float(
        np.vdot(gradients.V, canonical_gradient(point.V, gradients.V))
        + np.vdot(gradients.W, canonical_gradient(point.W, gradients.W))
        + gradients.s @ gradients.s
        + gradients.b @ gradients.b
    )
