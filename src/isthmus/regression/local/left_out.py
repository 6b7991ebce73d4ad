"""Errors of rows that were left out of local polynomial regression, in units of the bandwidth."""

from typing import NamedTuple

import numpy as np

from isthmus.regression.local.lines import Lines, are_products, left_out_lines
from isthmus.regression.selection import Selection
from isthmus.smoothers.local_polynomial import LocalSmoother, smooth
from isthmus.smoothers.pull_back import pull_back
from isthmus.typing import Array, IntArray


class LeftOut(NamedTuple):
    """Rows that are predicted, and those that predict them.

    All rows predict (``fitted`` is None) but each itself, or those of ``fitted`` alone.
    """

    rows: IntArray
    fitted: IntArray | None = None

    @property
    def excluded(self) -> IntArray | None:
        """Rows that may not help to predict each row, (n, 1), where all others may."""
        return self.rows[:, None] if self.fitted is None else None

    def some(self, which: IntArray) -> "LeftOut":
        """Those of the rows alone, predicted as before."""
        return LeftOut(self.rows[which], self.fitted)

    def centres(self, A: Array) -> Array:
        """The rows of ``A`` that predict."""
        return A if self.fitted is None else A[self.fitted]


def left_out_parts(selection: Selection, n: int) -> list[LeftOut]:
    """Which rows are left out at once: exact leave-one-out is one pass, folds are several."""
    rows = selection.rows(n)
    if selection.leaves_one_out:
        return [LeftOut(rows)]
    parts = [LeftOut(np.intersect1d(test, rows), train) for train, test in selection.splits(n)]
    return [part for part in parts if len(part.rows)]


def left_out_values(fit: LocalSmoother, X: Array, Y: Array, part: LeftOut) -> Array:
    """Values at the rows of ``part``, predicted without them."""
    if not are_products(fit, part.centres(X)):
        return _fitted_values(fit, X, Y, part)
    values, _, missing = _lines(fit, X, Y, part)
    if len(missing):
        values[missing] = _fitted_values(fit, X, Y, part.some(missing))
    return values


def _lines(
    fit: LocalSmoother, X: Array, Y: Array, part: LeftOut, truth: Array | None = None
) -> Lines:
    return left_out_lines(
        fit.ridge, X[part.rows], part.centres(X), part.centres(Y), part.excluded, truth
    )


def _fitted_values(fit: LocalSmoother, X: Array, Y: Array, part: LeftOut) -> Array:
    return smooth(
        fit, X[part.rows], part.centres(X), part.centres(Y), excluded=part.excluded
    ).values


def left_out_error(
    fit: LocalSmoother, X: Array, Y: Array, parts: list[LeftOut], *, gradient: bool = False
) -> tuple[float, Array | None]:
    """Mean squared error of rows left out, and its gradient by the logarithms of the bandwidths.

    The gradient is exact up to the change of the ridge with the bandwidth and where the degree
    of a query changes.
    """
    n = sum(len(part.rows) for part in parts)
    if not gradient:
        values = (left_out_values(fit, X, Y, part) - Y[part.rows] for part in parts)
        return sum(float(np.sum(residual**2)) for residual in values) / n, None
    total, slope = 0.0, np.zeros(X.shape[1])
    X = X - X.mean(axis=0)
    for part in parts:
        value, part_slope = _error_and_slope(fit, X, Y, part)
        total, slope = total + value, slope + part_slope
    return total / n, slope / n


def _error_and_slope(fit: LocalSmoother, X: Array, Y: Array, part: LeftOut) -> tuple[float, Array]:
    if not are_products(fit, part.centres(X)):
        return _fitted_error_and_slope(fit, X, Y, part)
    truth = Y[part.rows]
    values, slope, missing = _lines(fit, X, Y, part, truth)
    squared = np.sum((values - truth) ** 2, axis=1)
    squared[missing] = 0.0
    total = float(np.sum(squared))
    if len(missing):
        others = _fitted_error_and_slope(fit, X, Y, part.some(missing))
        total, slope = total + others[0], slope + others[1]
    return total, slope


def _fitted_error_and_slope(
    fit: LocalSmoother, X: Array, Y: Array, part: LeftOut
) -> tuple[float, Array]:
    total, points, centres = 0.0, X[part.rows], part.centres(X)

    def slope_of(F: Array, rows: slice) -> Array:
        nonlocal total
        residual = F - Y[part.rows[rows]]
        total += float(np.sum(residual**2))
        return 2.0 * residual

    found = pull_back(fit, points, centres, part.centres(Y), slope_of, excluded=part.excluded)
    # A larger bandwidth is a smaller coordinate, of points and centres alike.
    slope = -np.sum(found.by_centre * centres, axis=0) - np.sum(found.by_point * points, axis=0)
    return total, slope
