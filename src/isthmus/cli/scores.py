"""Errors of predictions, column by column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isthmus.cli.cells import KINDS, objects_of

ERRORS = {
    "classification": "error rate",
    "labels": "1 − F1",
    "text": "edit error",
    "sequence": "edit error",
    "series": "alignment error",
}
"""How the error of each task but regression is called."""


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
        Fraction of wrong labels; 1 − F1, averaged over rows, for sets of labels; edits per
        letter or symbol for text and sequences; for series the squared differences along the
        best alignments, divided by those from the mean of all numbers; NaN for numeric outputs.
    """

    rmse: list[float]
    r2: list[float]
    error_rate: float

    @property
    def quality(self) -> float:
        """One number to compare by, higher is better: mean R², or one minus the error.

        Outputs that do not vary are left out of the mean.
        """
        if not self.r2:
            return 1 - self.error_rate
        known = [r2 for r2 in self.r2 if not np.isnan(r2)]
        return float(np.mean(known)) if known else float("nan")


def scores(Y: np.ndarray, predicted: np.ndarray, task: str = "regression") -> Scores:
    """Return the scores of predictions (n, n_outputs), or of predicted labels (n,)."""
    if task == "classification":
        return Scores([], [], float(np.mean(predicted != Y)))
    if task == "labels":
        return Scores([], [], float(np.mean(1 - _f1(Y > 0.5, predicted > 0.5))))
    if task in KINDS:
        pairs = zip(objects_of(Y, task), objects_of(predicted, task), strict=True)
        if task == "series":
            return Scores([], [], _misaligned(list(pairs)))
        return Scores([], [], float(np.mean([_edits(a, b) for a, b in pairs])))
    mse = np.mean((Y - predicted) ** 2, axis=0)
    variance = Y.var(axis=0)
    r2 = [float(1 - m / v) if v > 0 else float("nan") for m, v in zip(mse, variance, strict=True)]
    return Scores([float(e) for e in np.sqrt(mse)], r2, float("nan"))


def _f1(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """F1 of each row; two empty sets agree."""
    total = truth.sum(axis=1) + guess.sum(axis=1)
    both = (truth & guess).sum(axis=1)
    return np.where(total == 0, 1.0, 2 * both / np.maximum(total, 1))


def _misaligned(pairs: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """Squared differences along alignments, in units of the variation of the true series."""
    from isthmus.series.warping import dtw  # compiled, and needed by this task alone

    values = np.concatenate([truth for truth, _ in pairs])
    cost = sum(dtw(truth, guess) for truth, guess in pairs)
    return float(cost / max(np.sum((values - values.mean()) ** 2), np.finfo(float).tiny))


def _edits(a: Sequence[str], b: Sequence[str]) -> float:
    """Insertions, deletions and replacements between two sequences, per symbol of the longer."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (letter != other))
    return row[-1] / max(len(a), len(b), 1)
