"""Bandwidths of local polynomial regression by the error of rows left out."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.spatial import cKDTree

from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.regression.local.left_out import LeftOut, left_out_error
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.typing import Array, IntArray

Report = Callable[[float], None]
# Bandwidths tried before the best is refined, and evaluations of the refinement.
N_GRID, N_REFINE = 18, 14
# Rows by which the bandwidths of the grid are compared first, and the share above the lowest error
# up to which all rows compare them again.
N_JUDGES, MARGIN = 200, 0.15
# The widest bandwidth, in standard deviations of the inputs: a global fit.
WIDEST = 30.0
# Distances below this are rounding errors, in the same units.
SAME = 1e-8
# Left-out errors that differ by less, as a share, are equal: the narrowest bandwidth is taken.
# Where all rows are equally far from each other, as in all axes of a kernel, every one is as good,
# and rounding would choose.
TIED = 1e-6


def common_factor(
    fit: LocalSmoother, X: Array, Y: Array, parts: list[LeftOut], report: Report
) -> tuple[float, float]:
    """Bandwidth, in units of ``X``, and its left-out error: grid, then Brent."""

    def error(log_h: float, judges: list[LeftOut] = parts) -> float:
        value = left_out_error(fit, X / np.exp(log_h), Y, judges)[0]
        report(value)
        return value

    grid = np.log(np.geomspace(_narrowest(X), WIDEST * np.sqrt(X.shape[1]), N_GRID))
    errors = np.full(N_GRID, np.inf)
    left = _contenders(grid, error, parts)
    errors[left] = [error(t) for t in grid[left]]
    best = int(np.flatnonzero(errors <= (1 + TIED) * errors.min())[0])
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, N_GRID - 1)]
    found = minimize_scalar(
        error, bounds=(low, high), method="bounded", options={"maxiter": N_REFINE, "xatol": 1e-3}
    )
    if found.fun < (1 - TIED) * errors[best]:
        return float(np.exp(found.x)), float(found.fun)
    return float(np.exp(grid[best])), float(errors[best])


def _contenders(
    grid: Array, error: Callable[[float, list[LeftOut]], float], parts: list[LeftOut]
) -> IntArray:
    """Numbers of the bandwidths that may be best, as some of the rows judge.

    They are those whose error is at most a share above the lowest, and the two beside that.
    """
    step = sum(len(part.rows) for part in parts) // N_JUDGES
    if step < 2:
        return np.arange(len(grid))
    some = [part.some(np.arange(0, len(part.rows), step)) for part in parts]
    errors = np.array([error(t, some) for t in grid])
    beside = np.abs(np.arange(len(grid)) - errors.argmin()) <= 1
    return np.flatnonzero(beside | (errors <= (1 + MARGIN) * errors.min()))


def _narrowest(X: Array) -> float:
    """Half the smallest typical distance to a neighbour."""
    sample = X[:: max(1, len(X) // 1000)]
    distances = cKDTree(X).query(sample, k=2)[0][:, 1]
    # Rows that are equal but for rounding have no distance to speak of.
    positive = distances[distances > SAME]
    return 0.5 * float(np.quantile(positive, 0.1)) if len(positive) else 1e-3


def separate_factors(
    fit: LocalSmoother,
    X: Array,
    Y: Array,
    parts: list[LeftOut],
    start: tuple[float, float],
    report: Report,
    max_iter: int = 60,
) -> tuple[Array, float]:
    """One bandwidth per column of ``X``, by gradient descent of the left-out error.

    Begins at a common bandwidth, given with its error, and never ends above that. A column that
    does not matter gets a bandwidth at the upper bound, which switches it off.
    """
    narrowest = np.log(_narrowest(X) / 10)
    widest = np.log(100 * WIDEST)

    common, first = start
    unit = first or 1.0  # the search stops at absolute slopes, which must not depend on units

    def value_and_slope(log_h: Array) -> tuple[float, Array]:
        value, slope = left_out_error(fit, X / np.exp(log_h), Y, parts, gradient=True)
        report(value)
        assert slope is not None
        return value / unit, slope / unit

    log_start = np.full(X.shape[1], np.log(common))
    found = minimize_lbfgs(
        value_and_slope,
        log_start,
        bounds=[(narrowest, widest)] * X.shape[1],
        maxiter=max_iter,
        ftol=1e-5,
    )
    if found.fun * unit < first:
        return np.exp(found.x), float(found.fun * unit)
    return np.exp(log_start), first
