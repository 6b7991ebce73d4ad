"""A test of derivatives that can fail: what remains after the linear term vanishes like t²."""

from collections.abc import Callable

import numpy as np

STEPS = np.logspace(-0.5, -4, 8)
# Remainders below this share of the numbers that were added are rounding errors.
NOISE = 1e-12
# A right slope leaves 2; what is not twice differentiable everywhere may leave a little less.
ENOUGH = 1.8


def remainder_order(fun: Callable[[float], float], slope: float, size: float = 0.0) -> float:
    """The power of t with which ``fun(t) - fun(0) - t * slope`` vanishes.

    It is judged at the smallest steps that rounding errors leave, where a wrong slope shows most,
    and infinite where rounding errors are all that there is. ``size`` is that of the numbers
    which ``fun`` adds up.

    >>> import math
    >>> remainder_order(math.exp, 1.0) > 1.9, remainder_order(math.exp, 1.001) > 1.9
    (True, False)
    """
    start = fun(0.0)
    values = np.array([fun(float(t)) for t in STEPS])
    remainder = np.abs(values - start - STEPS * slope)
    told = np.flatnonzero(remainder > NOISE * max(np.abs(values).max(), abs(start), size))[-3:]
    if len(told) < 2:
        return np.inf
    return float(np.polyfit(np.log(STEPS[told]), np.log(remainder[told]), 1)[0])
