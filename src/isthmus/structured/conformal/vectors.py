"""Scores of vectors: how far from the prediction, and the sets that follow."""

from typing import Any

import numpy as np

from isthmus._checks import refusal
from isthmus.structured.conformal.ranks import rank
from isthmus.structured.conformal.sets import Ball, Box, Interval
from isthmus.typing import Array


class VectorScores:
    r"""Residuals as numbers: absolute, :math:`\|r\|`, or :math:`\max_j|r_j|/s_j` for boxes.

    ``units`` are the spreads :math:`s_j` of the training outputs, which no calibration row knows.
    """

    def __init__(self, shape: str, units: Array):
        self.shape, self.units = shape, np.where(units > 0, units, 1.0)

    def predict(self, model: Any, X: Any) -> Array:
        """Predictions as a table."""
        found = np.asarray(model.predict(X), dtype=np.float64)
        return found.reshape(len(found), -1)

    def norms(self, residuals: Array) -> Array:
        """One number for each residual, over the last axis."""
        if self.shape == "ball":
            return np.asarray(np.sqrt((residuals**2).sum(axis=-1)))
        if self.shape == "box":
            return np.asarray((np.abs(residuals) / self.units).max(axis=-1))
        return np.abs(residuals[..., 0])

    def paired(self, model: Any, X: Any, Y: Array) -> Array:
        """The scores of true outputs."""
        return self.norms(Y - self.predict(model, X))

    def around(self, centers: Array, radii: Array) -> list[Any]:
        """Sets of these radii, in the units of the scores."""
        if self.shape == "ball":
            return [Ball(c, float(r)) for c, r in zip(centers, radii, strict=True)]
        if self.shape == "box":
            edges = radii[:, None] * self.units
            return [Box(lo, hi) for lo, hi in zip(centers - edges, centers + edges, strict=True)]
        low, high = (centers[:, 0] - radii).tolist(), (centers[:, 0] + radii).tolist()
        return [Interval(a, b) for a, b in zip(low, high, strict=True)]

    def plus(self, centers: Array, others: Array, scores: Array, coverage: float) -> list[Any]:
        """Sets from the predictions (n, n_scores, d) of the models without each calibration row.

        Intervals are those of the jackknife+ and CV+. A ball or a box holds the set of these
        methods, by the triangle inequality: the distance of the two models is added to the score.
        """
        n = len(scores)
        k = rank(n, coverage)
        if k > n:
            return self.around(centers, np.full(len(centers), np.inf))
        if self.shape != "interval":
            moved = scores + self.norms(others - centers[:, None])
            return self.around(centers, np.partition(moved, k - 1, axis=1)[:, k - 1])
        middle = others[..., 0]
        high = np.partition(middle + scores, k - 1, axis=1)[:, k - 1]
        low = -np.partition(scores - middle, k - 1, axis=1)[:, k - 1]
        return [Interval(a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def left_out_residuals(model: Any, X: Any, Y: Array, owner: Any) -> tuple[Array, Array]:
    r"""Residuals of every row by the model without it, and how much it counts for itself.

    Kernel ridge regression and the mean of a Gaussian process do not change if a row is added whose
    output is what they predict. Therefore

    .. math:: y_i-\mu_{-i}(x_i)=\frac{y_i-\mu(x_i)}{1-w_i(x_i)},\qquad
              \mu_{-i}(x)=\mu(x)-w_i(x)\,(y_i-\mu_{-i}(x_i)).

    Other smoothers need not have this property: three rows are refitted, and one that differs is
    refused.
    """
    own = np.diagonal(model.weights(X)).astype(np.float64)
    residuals = Y - np.asarray(model.predict(X), dtype=np.float64).reshape(len(Y), -1)
    if (own >= 1 - 1e-10).any():
        raise ValueError(
            "ConformalSets(method='loo') needs a smoother that does not pass through its training "
            f"outputs. {type(model).__name__} does: raise its penalty, or use method='cross'."
        )
    left_out = residuals / (1 - own)[:, None]
    _verify(model, X, Y, left_out, owner)
    return left_out, own


def _verify(model: Any, X: Any, Y: Array, left_out: Array, owner: Any) -> None:
    from isthmus.kernels.objects import take

    n = len(Y)
    for i in {0, n // 2, n - 1}:
        rows = np.delete(np.arange(n), i)
        targets = Y[rows] if Y.shape[1] > 1 else Y[rows, 0]
        without = model.settled().fit(take(X, rows), targets)
        found = Y[i] - np.asarray(without.predict(take(X, [i])), dtype=np.float64).reshape(-1)
        if np.abs(found - left_out[i]).max() > 1e-4 * max(float(Y.std()), 1e-300):
            expected = "'split' or 'cross' where the closed form of left-out rows does not hold"
            raise ValueError(refusal(owner, "method", expected, "loo"))
