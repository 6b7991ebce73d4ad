"""Numbers made of inner products of centred matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus.typing import Array


def signed_root(value: Array) -> Array:
    """Root with the sign of the argument: unbiased estimates of squares may be negative.

    >>> import numpy as np
    >>> signed_root(np.array([4.0, -9.0]))
    array([ 2., -3.])
    """
    return np.sign(value) * np.sqrt(np.abs(value))


def covariances(products: Array, n: int, *, unbiased: bool) -> Array:
    """Mean products: the V-statistics, or the U-statistics, of all pairs of sides."""
    return products / (n * (n - 3) if unbiased else n**2)


def correlations(products: Array, sides: Sequence[Any], *, unbiased: bool) -> Array:
    """Products over norms, for all pairs of sides; 0 where one, told by its noise, is constant."""
    squares = np.diag(products).copy()
    squares[squares <= [side.noise for side in sides]] = np.inf
    scale = np.sqrt(squares)
    R = products / scale[:, None] / scale
    # Rounding only: Cauchy and Schwarz hold for both kinds of centring.
    return np.clip(R, -1.0 if unbiased else 0.0, 1.0)
