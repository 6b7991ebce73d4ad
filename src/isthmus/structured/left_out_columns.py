"""Predicted columns of training rows that were left out, by the machine a model has chosen."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, cross_val_predict

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.objects import n_objects
from isthmus.regression.left_out import flat, settle
from isthmus.structured.landmarks import LandmarkRidge
from isthmus.typing import Array, IntArray

# Calibration has one or two numbers to find: so many rows are enough.
MOST_ROWS = 1500


class Columns:
    """A fitted regressor whose predictions have a column each, also of a single output."""

    def __init__(self, regressor: Any, n_columns: int):
        self.regressor, self.n_columns = regressor, n_columns

    def predict(self, inputs: Any) -> Array:
        """Predicted columns (n, n_columns)."""
        found = np.asarray(self.regressor.predict(inputs), dtype=np.float64)
        return found.reshape(n_objects(inputs), self.n_columns)


def left_out_columns(model: Any, X: Any, G: Any) -> tuple[Columns, Array, IntArray]:
    """A regression of other columns with the model's choices, and left-out values of some rows.

    ``model`` is a fitted :class:`DependencyEstimator`; ``G`` (n, p) dense or sparse.
    """
    inputs, chosen = model.transform_inputs(X), model.regressor_
    n, p = n_objects(inputs), G.shape[1]
    rows = np.sort(sample_rows(n, MOST_ROWS, 0))
    if isinstance(chosen, LandmarkRidge):
        head = LandmarkRidge(chosen.kernel_, chosen.n_landmarks).fit(inputs, G)
        head.alpha_ = chosen.alpha_
        return Columns(head, p), head.left_out(rows, G, head.alpha_), rows
    dense = np.asarray(G.toarray() if sparse.issparse(G) else G, dtype=np.float64)
    head = settle(chosen).fit(inputs, flat(dense))
    folds = KFold(min(5, n), shuffle=True, random_state=0)
    values = cross_val_predict(settle(chosen), inputs, flat(dense), cv=folds)
    return Columns(head, p), np.asarray(values).reshape(n, p)[rows], rows
