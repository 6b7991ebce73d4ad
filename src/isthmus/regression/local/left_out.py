"""Exact leave-one-out of local polynomial regression, in units of the bandwidth."""

import numpy as np

from isthmus.smoothers.local_polynomial import LocalSmoother, smooth
from isthmus.smoothers.pull_back import pull_back
from isthmus.typing import Array, IntArray


def left_out_values(fit: LocalSmoother, X: Array, Y: Array, which: IntArray) -> Array:
    """Values at the rows ``which`` of fits to all other rows."""
    return smooth(fit, X[which], X, Y, excluded=which[:, None]).values


def left_out_error(
    fit: LocalSmoother, X: Array, Y: Array, which: IntArray, *, gradient: bool = False
) -> tuple[float, Array | None]:
    """Mean squared leave-one-out error, and its gradient by the logarithms of the bandwidths.

    The gradient is exact up to the change of the ridge with the bandwidth and where the degree
    of a query changes.
    """
    if not gradient:
        residual = left_out_values(fit, X, Y, which) - Y[which]
        return float(np.sum(residual**2)) / len(which), None
    total = 0.0

    def slope_of(F: Array, rows: slice) -> Array:
        nonlocal total
        residual = F - Y[which[rows]]
        total += float(np.sum(residual**2))
        return 2.0 * residual

    X = X - X.mean(axis=0)
    found = pull_back(fit, X[which], X, Y, slope_of, excluded=which[:, None])
    # A larger bandwidth is a smaller coordinate, of points and centres alike.
    slope = -np.sum(found.by_centre * X, axis=0) - np.sum(found.by_point * X[which], axis=0)
    return total / len(which), slope / len(which)
