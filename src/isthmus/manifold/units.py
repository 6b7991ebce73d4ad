"""Rows in units of their own spread, in which nothing depends on those of the data."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from isthmus._checks import check_scale
from isthmus.typing import Array


class OwnUnits(NamedTuple):
    """Checked rows, and the same relative to their mean and in units of their spread."""

    X: Array  # as they came, in single or double precision
    centre: Array
    spread: float
    Y: Array


def own_units(owner: Any, X: Any) -> OwnUnits:
    """Check the rows that ``owner`` is fitted to and scale them; equal rows are refused."""
    X = validate_data(owner, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
    check_scale(owner, X)
    rows = X.astype(np.float64, copy=False)
    centre = rows.mean(axis=0)
    spread = float(np.sqrt(np.mean(np.sum((rows - centre) ** 2, axis=1))))
    if spread <= 1e-14 * float(np.abs(centre).max()):
        raise ValueError(
            f"{type(owner).__name__} needs rows that differ. Got {len(rows)} equal rows."
        )
    return OwnUnits(X, centre, spread, (rows - centre) / spread)
