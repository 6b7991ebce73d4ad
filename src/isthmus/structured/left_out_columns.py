"""Predicted columns of training rows that were left out, by the machine a model has chosen."""

from typing import Any

import numpy as np
from scipy import sparse

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.objects import n_objects
from isthmus.regression.left_out import flat, settle
from isthmus.structured.crossfit import left_out_coordinates
from isthmus.structured.given import Given
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


def left_out_columns(
    model: Any, X: Any, G: Any, given: Given, *, calibrate: bool = True
) -> tuple[Columns, Array | None, IntArray]:
    """A regression of other columns with the model's choices, and left-out values of some rows.

    ``model`` is a fitted :class:`DependencyEstimator`; ``G`` (n, p) dense or sparse. Without
    ``calibrate`` there are no left-out values.
    """
    inputs, chosen = model.transform_inputs(X), model.regressor_
    n, p = n_objects(inputs), G.shape[1]
    rows = np.sort(sample_rows(n, MOST_ROWS, 0))
    if isinstance(chosen, LandmarkRidge):
        head = LandmarkRidge(chosen.kernel_, chosen.n_landmarks).fit(inputs, G, given.counts)
        head.alpha_ = chosen.alpha_
        values = head.left_out(rows, G, head.alpha_) if calibrate else None
        return Columns(head, p), values, rows
    dense = np.asarray(G.toarray() if sparse.issparse(G) else G, dtype=np.float64)
    told = given.arguments("regressor", chosen, required=True)
    head = settle(chosen).fit(inputs, flat(dense), **told)
    if not calibrate:
        return Columns(head, p), None, rows
    values = left_out_coordinates(chosen, inputs, dense, min(5, n), given)
    return Columns(head, p), values[rows], rows
