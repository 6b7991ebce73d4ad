"""Scores of vectors: how far from the prediction, and the sets that follow."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus.kernels.objects import n_objects, take
from isthmus.structured.conformal.ranks import rank
from isthmus.structured.conformal.sets import Ball, Box, Interval
from isthmus.typing import Array

# Folds in which residuals are left out for the local scale.
N_FOLDS = 5
# A scale is at least this share of the mean one, so that no set is a point.
SMALLEST = 0.1


@dataclass
class VectorModel:
    r"""A fitted estimator with the units of its scores.

    ``units`` are the spreads :math:`s_j` of its training outputs, ``scale`` a regressor of the
    size of residuals or None; neither knows a row that the estimator has not seen.
    """

    estimator: Any
    units: Array
    scale: Any = None
    mean: float = 1.0

    def predict(self, X: Any) -> Array:
        """Predictions as a table."""
        found = np.asarray(self.estimator.predict(X), dtype=np.float64)
        return found.reshape(n_objects(X), -1)

    def spread(self, X: Any) -> Array:
        """How large residuals are at inputs, (n,)."""
        if self.scale is None:
            return np.ones(n_objects(X))
        return np.maximum(np.asarray(self.scale.predict(X)).ravel(), SMALLEST * self.mean)


class VectorScores:
    r"""Residuals as numbers: absolute, :math:`\|r\|`, or :math:`\max_j|r_j|/s_j` for boxes.

    With a scale :math:`\sigma(x)` of residuals they are divided by it, so that sets are wide where
    the estimator is bad [Lei2018]_.
    """

    def __init__(self, shape: str, scale: Any = None):
        self.shape, self.scale = shape, scale

    def fit(self, estimator: Any, X: Any, y: Any, told: dict[str, Any]) -> VectorModel:
        """Fit the estimator, and what its scores are measured in."""
        Y = np.asarray(y, dtype=float).reshape(len(y), -1)
        spread = Y.std(axis=0)
        model = VectorModel(estimator.fit(X, y, **told), np.where(spread > 0, spread, 1.0))
        if self.scale is None:
            return model
        sizes = np.empty(len(Y))
        for train, test in KFold(min(N_FOLDS, len(Y)), shuffle=True, random_state=0).split(Y):
            own = {name: take(value, train) for name, value in told.items()}
            part = VectorModel(clone(estimator).fit(take(X, train), y[train], **own), model.units)
            sizes[test] = self.norms(Y[test] - part.predict(take(X, test)), model.units)
        model.mean = max(float(sizes.mean()), np.finfo(float).tiny)
        model.scale = self._regressor(len(Y)).fit(X, sizes)
        return model

    def _regressor(self, n: int) -> Any:
        if not isinstance(self.scale, str):
            return clone(self.scale)
        neighbours = int(np.clip(2 * np.sqrt(n), 1, max(n - 1, 1)))
        return make_pipeline(StandardScaler(), KNeighborsRegressor(neighbours))

    def norms(self, residuals: Array, units: Array) -> Array:
        """One number for each residual, over the last axis."""
        if self.shape == "ball":
            return np.asarray(np.sqrt((residuals**2).sum(axis=-1)))
        if self.shape == "box":
            return np.asarray((np.abs(residuals) / units).max(axis=-1))
        return np.abs(residuals[..., 0])

    def paired(self, model: VectorModel, X: Any, y: Any) -> Array:
        """The scores of true outputs."""
        Y = np.asarray(y, dtype=float).reshape(len(y), -1)
        return self.norms(Y - model.predict(X), model.units) / model.spread(X)

    def sets(self, model: VectorModel, X: Any, levels: Array) -> list[Any]:
        """Sets of all outputs whose score is at most the level."""
        return self.around(model.predict(X), levels * model.spread(X), model.units)

    def around(self, centers: Array, radii: Array, units: Array) -> list[Any]:
        """Sets of these radii."""
        if self.shape == "ball":
            return [Ball(c, float(r)) for c, r in zip(centers, radii, strict=True)]
        if self.shape == "box":
            edges = radii[:, None] * units
            return [Box(lo, hi) for lo, hi in zip(centers - edges, centers + edges, strict=True)]
        low, high = (centers[:, 0] - radii).tolist(), (centers[:, 0] + radii).tolist()
        return [Interval(a, b) for a, b in zip(low, high, strict=True)]

    def plus(
        self, centers: Array, others: Array, radii: Array, units: Array, coverage: float
    ) -> list[Any]:
        """Sets from the predictions (n, n_scores, d) of the models without each calibration row.

        ``radii`` (n, n_scores) are the scores in units of the new rows. Intervals are those of
        the jackknife+ and CV+. A ball holds the set of these methods by the triangle inequality:
        the distance of the two models is added to the score. A box holds it because an output
        that is too far in one entry is too far: its edges are the intervals of the entries.
        """
        n = radii.shape[1]
        k = rank(n, coverage)
        if k > n:
            return self.around(centers, np.full(len(centers), np.inf), units)
        if self.shape == "ball":
            away = np.sqrt(((others - centers[:, None]) ** 2).sum(axis=2))
            return self.around(centers, np.partition(radii + away, k - 1, axis=1)[:, k - 1], units)
        reach = radii[..., None] * (units if self.shape == "box" else 1.0)
        high = np.partition(others + reach, k - 1, axis=1)[:, k - 1]
        low = -np.partition(reach - others, k - 1, axis=1)[:, k - 1]
        if self.shape == "box":
            return [Box(a, b) for a, b in zip(low, high, strict=True)]
        ends = zip(low[:, 0].tolist(), high[:, 0].tolist(), strict=True)
        return [Interval(a, b) for a, b in ends]
