"""Tubes: the smoothest manifold that passes within a tolerance of the rows."""

from dataclasses import replace
from typing import Any

import numpy as np

from isthmus.losses.spread import row_lengths
from isthmus.losses.tubes import Epsilon
from isthmus.manifold.ukr.descent import Descended, rprop
from isthmus.manifold.ukr.objective import ManifoldObjective
from isthmus.typing import Array

NOISE_RANGE = 0.95  # quantile of the residuals that counts as nearly the largest
SHARE_OF_RANGE = 0.7


def fit_tubes(objective: ManifoldObjective, X: Array, loss: Epsilon, *, max_iter: int) -> Descended:
    r"""The smoothest manifold through tubes: least :math:`\|X\|^2` with no loss outside them.

    Every row gets the width :math:`w_i=\max(\|r_i\|,w)` of its residual without
    cross-validation (the ball; by component for the cube), so that ``X`` is feasible. Then
    :math:`\|X\|^2/\|X_0\|^2+\lambda R/R_0` is minimised for
    :math:`\lambda=10^3,10^5,\dots,10^{11}` by RPROP, which needs only the signs of the slopes;
    :math:`R_0` is the error of the mean. The printed path, :math:`\lambda=10^2,\dots,10^{16}`
    without units, begins so weak that a spiral's places all shrink to one before the tubes are
    felt, and its windings do not come apart again.
    """
    full = replace(objective, excluded=None, penalties=None)
    widths = np.maximum(_sizes(full.residuals(X), loss), loss.width)
    tube = replace(full, loss=replace(loss, width=widths))
    curve: list[float] = []
    X = X - X.mean(axis=0)
    unit = float(np.sum(X**2) / np.mean(row_lengths(objective.targets) ** loss.power))
    for power in range(3, 12, 2):
        strength = unit * 10.0**power

        def weighted(places: Array, strength: float = strength) -> tuple[float, Array]:
            value, slope = tube(places)
            return float(np.sum(places**2)) / strength + value, 2.0 * places / strength + slope

        done = rprop(weighted, X, max_iter=max_iter, tol=0.0)
        X = done.X
        curve += done.curve
    return Descended(X, done.value, curve, True)


def with_width(objective: ManifoldObjective, X: Array, loss: Epsilon) -> Epsilon:
    """The loss with a width, if it has none: slightly below the range of the noise.

    Residuals of left-out rows are taken; of a trained manifold they are rather too small.
    """
    if loss.width is not None:
        return loss
    sizes: Any = _sizes(objective.left_out_residuals(X), loss)
    return replace(loss, width=SHARE_OF_RANGE * float(np.quantile(sizes, NOISE_RANGE)))


def _sizes(R: Array, loss: Epsilon) -> Array:
    return row_lengths(R) if loss.shape == "ball" else np.abs(R)
