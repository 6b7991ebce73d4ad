"""Regression of outputs some of whose entries are missing."""

from typing import Any

import numpy as np
from sklearn.base import clone

from isthmus._checks import shortened
from isthmus.kernels.objects import n_objects, take
from isthmus.regression.left_out import flat
from isthmus.typing import Array


class ObservedColumns:
    """A regressor for each pattern of missing entries, fitted on the rows that have its columns.

    Columns that miss the same rows are fitted together.
    """

    provides = frozenset({"predict", "several_outputs"})

    def __init__(self, regressor: Any):
        self.regressor = regressor

    @property
    def estimator(self) -> Any:
        """What is fitted to each group of columns."""
        return self.regressor

    def fit(self, inputs: Any, Y: Array, sample_weight: Any = None) -> "ObservedColumns":
        """Fit every group of columns; return self."""
        present = ~np.isnan(Y)
        if not present.any(axis=0).all():
            column = int(np.flatnonzero(~present.any(axis=0))[0])
            raise ValueError(f"Column {column} of the outputs has no value: every entry is NaN.")
        patterns, group = np.unique(present, axis=1, return_inverse=True)
        self._parts = []
        for k in range(patterns.shape[1]):
            columns, rows = np.flatnonzero(group.ravel() == k), np.flatnonzero(patterns[:, k])
            told = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
            targets = flat(Y[np.ix_(rows, columns)])
            part = clone(self.regressor).fit(take(inputs, rows), targets, **told)
            self._parts.append((columns, part))
        self._n_columns = Y.shape[1]
        return self

    def predict(self, inputs: Any) -> Array:
        """All columns, each by its own regressor."""
        n = n_objects(inputs)
        found = np.empty((n, self._n_columns))
        for columns, part in self._parts:
            found[:, columns] = np.asarray(part.predict(inputs)).reshape(n, -1)
        return found


def has_missing(y: Any) -> bool:
    """Whether outputs are a table of numbers with entries missing."""
    try:
        table = np.asarray(y, dtype=np.float64) if not hasattr(y, "tocsr") else None
    except (TypeError, ValueError):
        return False
    return table is not None and table.ndim == 2 and bool(np.isnan(table).any())


def missing_outputs(model: Any, regressor: Any) -> tuple[None, ObservedColumns]:
    """No output features, and a regressor of the entries that are there."""
    if model.y_features not in (None, "passthrough") or model.preimage is not None:
        raise ValueError(
            "DependencyEstimator takes outputs with missing entries (NaN) as they are: with "
            "y_features=None and no preimage. Got NaN together with "
            f"y_features={shortened(model.y_features)}, preimage={shortened(model.preimage)}."
        )
    return None, ObservedColumns(regressor)


def refuse_missing(y: Any) -> None:
    """Refuse missing entries where a loss is named: a row's cost would not be known."""
    if has_missing(y):
        raise ValueError(
            "DependencyEstimator(loss=...) needs complete outputs: what an answer costs is not "
            "known where an entry is missing. Got NaN in y. Without a loss every column is learned "
            "from the rows that have it; or leave out the rows with missing entries."
        )
