"""Scores of label sets: their distance from predicted probabilities, in units of the errors."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.covariance import ledoit_wolf

from isthmus.linalg import solve_positive
from isthmus.losses.tasks.collections import distinct
from isthmus.structured.conformal.objects import listed
from isthmus.structured.conformal.sets import ObjectSet
from isthmus.typing import Array

# Label sets of up to this many labels are all listed.
MOST_LABELS = 14


class LabelModel:
    """A fitted model of label sets, and the inverse covariance of its errors on training rows.

    The rows that calibrate have no part in either, so that the promise of the sets holds.
    """

    def __init__(self, estimator: Any, X: Any, y: Any):
        self.estimator = estimator
        self.precision = inverse_covariance(as_table(y) - label_probabilities(estimator, X))


class LabelSetScores:
    r"""Squared distance :math:`(y-p)^\top\Sigma^{-1}(y-p)` of a label set from the probabilities.

    :math:`\Sigma` is the covariance of the errors of a :class:`LabelModel` [Katsios2024]_, and the
    identity for any other model.
    """

    complete = True

    def __init__(self, outputs: Any, limit: int):
        labels = as_table(outputs)
        n_labels = labels.shape[1]
        self.complete = n_labels <= MOST_LABELS
        if self.complete:
            numbers = np.arange(2**n_labels)[:, None]
            self._table = ((numbers >> np.arange(n_labels)) & 1).astype(float)
        else:
            self._table = np.asarray(distinct(labels)[0], dtype=float)
        self.known = self._table.astype(labels.dtype)
        self.candidates = list(self.known)

    def places(self, labels: Array) -> Array:
        """The numbers of label sets among the candidates."""
        known = {row.tobytes(): i for i, row in enumerate(self._table > 0)}
        return np.array([known[row.tobytes()] for row in np.asarray(labels) > 0])

    def table(self, model: Any, X: Any) -> Array:
        return self.of_probabilities(label_probabilities(model, X), _precision(model))

    def of_probabilities(self, P: Array, precision: Array | None = None) -> Array:
        """Scores (n, n_candidates) for probabilities of the labels."""
        scaled = P if precision is None else P @ precision
        own = self._table if precision is None else self._table @ precision
        rest = (scaled * P).sum(axis=1)[:, None]
        return np.asarray(rest + (own * self._table).sum(axis=1) - 2 * scaled @ self._table.T)

    def paired(self, model: Any, X: Any, Y: Any) -> Array:
        return _squares(as_table(Y) - label_probabilities(model, X), _precision(model))

    def sets(self, model: Any, X: Any, levels: Array) -> list[ObjectSet]:
        P, precision = label_probabilities(model, X), _precision(model)
        table = self.of_probabilities(P, precision)
        found = listed(self.candidates, table, levels[:, None], self.complete)
        if self.complete:
            return found

        def rule(p: Array, level: float) -> Any:
            return lambda y: bool(self.of_labels(p[None], y, precision)[0] <= level)

        return [one.accepted_by(rule(P[i], levels[i])) for i, one in enumerate(found)]

    def of_labels(self, P: Array, y: Any, precision: Array | None = None) -> Array:
        """Scores (n,) of one label set, whether or not it is a candidate."""
        return _squares(np.asarray(y, dtype=float) - P, precision)


def label_probabilities(model: Any, X: Any) -> Array:
    """The probability of each label (n, m), as the model gives it."""
    model = getattr(model, "estimator", model) if isinstance(model, LabelModel) else model
    found = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    if isinstance(found, list):  # a table of classes for each label, of one class or of two
        found = np.column_stack(
            [
                np.asarray(p) @ (np.asarray(classes) == 1).astype(float)
                for p, classes in zip(found, model.classes_, strict=True)
            ]
        )
    return as_table(found).astype(np.float64)


def inverse_covariance(errors: Array) -> Array | None:
    """Inverse of the shrunk covariance of rows, in units of its mean variance; None without any."""
    covariance = np.asarray(ledoit_wolf(errors)[0])
    variance = np.trace(covariance) / len(covariance)
    if not variance > 0:
        return None
    return np.asarray(solve_positive(covariance / variance, np.eye(len(covariance))))


def as_table(outputs: Any) -> Any:
    """Label sets as a dense table."""
    return outputs.toarray() if sparse.issparse(outputs) else np.asarray(outputs)


def _precision(model: Any) -> Array | None:
    return model.precision if isinstance(model, LabelModel) else None


def _squares(errors: Array, precision: Array | None) -> Array:
    scaled = errors if precision is None else errors @ precision
    return np.asarray((scaled * errors).sum(axis=1))
