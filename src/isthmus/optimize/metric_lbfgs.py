"""L-BFGS in a metric that the function brings along: few, dear evaluations of many variables."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus.typing import Array

MEMORY = 20  # pairs of steps and changes that are remembered
_SUFFICIENT = 1e-4  # share of the decrease by the slope that a step must bring
_SHORTEST = 1e-10  # shares of a step that are not tried any more
_ROUNDING = 1e-15  # share of the first value below which nothing is gained
_LAST = 5  # steps that are looked at together: single ones are short where a search turns
_CURVED = 1e-10  # cosine between a step and its change from which the pair is kept

#: Value and gradient at a point, and the inverse of an approximate Hessian there, up to a factor,
#: as a function of vectors; it is asked for only where the search goes on from there.
Evaluation = tuple[float, Array, Callable[[], Callable[[Array], Array]]]


class Descent(NamedTuple):
    """Where a search ended, its value, and how many steps it took."""

    x: Array
    value: float
    n_iter: int


def minimize_in_metric(
    function: Callable[[Array], Evaluation],
    start: Array,
    *,
    max_iter: int = 100,
    tol: float = 1e-3,
) -> Descent:
    r"""Minimum of a ``function`` that is not negative, by L-BFGS in its own metric.

    The two-loop recursion has at its core an inverse Hessian that is a multiple of the unit matrix
    in the plain method; here it is that multiple of the one that the function gives. Where it
    resembles the true one, steps are nearly those of Newton.

    Parameters
    ----------
    function : of a vector; returns value, gradient and metric.
    start : where to begin.
    max_iter : maximum number of steps.
    tol : stop where the last few steps together gained less than this share of what is left, and
        of what has been gained so far.

    Examples
    --------
    >>> import numpy as np
    >>> scales = np.array([1.0, 1e4])
    >>> def bowl(x):
    ...     return float(x @ (scales * x)), 2 * scales * x, lambda: lambda v: v / scales
    >>> found = minimize_in_metric(bowl, np.ones(2), tol=1e-9)
    >>> bool(abs(found.x).max() < 1e-6), found.n_iter < 10
    (True, True)
    """
    x, (value, gradient, metric) = start, function(start)
    pairs: deque[tuple[Array, Array, float]] = deque(maxlen=MEMORY)
    highest, before = value, deque([value], maxlen=_LAST)
    for iteration in range(max_iter):
        if not gradient.any():  # the metric may be singular there
            return Descent(x, value, iteration)
        direction = -_two_loop(gradient, pairs, metric())
        slope = float(direction @ gradient)
        if not slope < 0.0:
            return Descent(x, value, iteration)
        # Nothing is known of the metric's factor at first, but no value is below zero.
        step = 1.0 if pairs else value / -slope
        found = _search(function, x, value, direction, slope, step)
        if found is None:
            return Descent(x, value, iteration)
        x_new, (value_new, gradient_new, metric) = found
        moved, change = x_new - x, gradient_new - gradient
        product = float(moved @ change)
        if product > _CURVED * np.sqrt(float(moved @ moved) * float(change @ change)):
            pairs.append((moved, change, 1.0 / product))
        x, value, gradient = x_new, value_new, gradient_new
        wanted = tol * min(highest - value, value)
        at_the_end = len(before) == _LAST and before[0] - value <= wanted
        if at_the_end or before[-1] - value <= _ROUNDING * highest:
            return Descent(x, value, iteration + 1)
        before.append(value)
    return Descent(x, value, max_iter)


def _two_loop(
    gradient: Array,
    pairs: deque[tuple[Array, Array, float]],
    inverse: Callable[[Array], Array],
) -> Array:
    """Product of the quasi-Newton inverse Hessian with the gradient; the last pair is newest."""
    q, shares = gradient.copy(), []
    for moved, change, rho in reversed(pairs):
        shares.append(rho * float(moved @ q))
        q -= shares[-1] * change
    if not pairs:
        return inverse(q)
    change, rho = pairs[-1][1:]
    q = inverse(q) / (rho * float(change @ inverse(change)))
    for (moved, change, rho), share in zip(pairs, reversed(shares), strict=True):
        q += (share - rho * float(change @ q)) * moved
    return q


def _search(
    function: Callable[[Array], Evaluation],
    x: Array,
    value: float,
    direction: Array,
    slope: float,
    step: float,
) -> tuple[Array, Evaluation] | None:
    """The first point on the way, from a whole step on, that is low enough; None if there is none.

    A step that is too long is cut to where a parabola through what is known is lowest.
    """
    share = 1.0
    while share > _SHORTEST:
        trial = x + share * step * direction
        found = function(trial)
        rise = found[0] - value - share * step * slope  # above the tangent
        if rise <= (_SUFFICIENT - 1.0) * share * step * slope:
            return trial, found
        lowest = -0.5 * share * step * slope / rise if np.isfinite(rise) else 0.0
        share *= min(max(lowest, 0.1), 0.5)
    return None
