"""Errors of predictions, column by column."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scores:
    """Errors of one estimator.

    Attributes
    ----------
    rmse : list of float
        Root mean squared error of each numeric output; empty for labels.
    r2 : list of float
        Fraction of the variance explained, 1 - MSE / variance, of each numeric
        output; NaN where the output does not vary. Empty for labels.
    error_rate : float
        Fraction of wrong labels; NaN for numeric outputs.
    """

    rmse: list[float]
    r2: list[float]
    error_rate: float

    @property
    def quality(self) -> float:
        """One number to compare by, higher is better: mean R², or the fraction of correct labels.

        Outputs that do not vary are left out of the mean.
        """
        if not self.r2:
            return 1 - self.error_rate
        known = [r2 for r2 in self.r2 if not np.isnan(r2)]
        return float(np.mean(known)) if known else float("nan")


def scores(Y: np.ndarray, predicted: np.ndarray) -> Scores:
    """Return the scores of predictions (n, n_outputs), or of predicted labels (n,)."""
    if Y.ndim == 1:
        return Scores([], [], float(np.mean(predicted != Y)))
    mse = np.mean((Y - predicted) ** 2, axis=0)
    variance = Y.var(axis=0)
    r2 = [float(1 - m / v) if v > 0 else float("nan") for m, v in zip(mse, variance, strict=True)]
    return Scores([float(e) for e in np.sqrt(mse)], r2, float("nan"))
