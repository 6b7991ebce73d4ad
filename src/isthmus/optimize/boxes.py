"""Descent within bounds that does not jump into a corner of them at its first step."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize

from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array


def minimize_in_box(
    function: Callable[[Array], tuple[float, Array]],
    start: Array,
    bounds: Sequence[tuple[float, float]],
    *,
    max_iter: int,
    ftol: float = 2.2e-9,
    gtol: float = 1e-5,
) -> optimize.OptimizeResult:
    """Minimum of ``function`` (value and gradient) between bounds, by L-BFGS-B.

    Where every variable has two bounds, SciPy's first trial is a whole gradient step. A steep
    function therefore starts with a jump into a corner of the box; a likelihood is flat there, and
    the search ends. Here the function is divided by the norm of its first gradient where that is
    above one, so that the first trial has length one. The tolerances keep their meaning in the
    units of the function.

    >>> def steep(x):
    ...     return -float(1e4 * np.exp(-(x[0] ** 2))), 2e4 * x * np.exp(-(x**2))
    >>> bool(abs(minimize_in_box(steep, np.ones(1), [(-50, 50)], max_iter=50).x[0]) < 1e-4)
    True
    """
    low, high = np.array(bounds, dtype=np.float64).T
    start = np.clip(start, low, high)
    first, slope = function(start)
    unit = max(1.0, float(np.linalg.norm(slope)))

    def scaled(x: Array) -> tuple[float, Array]:
        value, gradient = function(x)
        return value / unit, gradient / unit

    found = minimize_lbfgs(
        scaled,
        start,
        bounds=bounds,
        maxiter=max_iter,
        # SciPy compares a gain with the larger of the value and one.
        ftol=ftol * min(1.0, max(1.0, abs(first)) / unit),
        gtol=gtol / unit,
    )
    found.fun, found.jac, found.nfev = found.fun * unit, found.jac * unit, found.nfev + 1
    return found
