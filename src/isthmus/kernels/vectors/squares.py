"""Squared distances of vectors that keep their digits."""

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.typing import Array

# Rows whose median is the origin: it lies among most of the others.
SEEN = 31
# Up to so many rows there may be no telling which of them lies far from all others.
FEW = 4


def origin_of(Z: Array) -> Array:
    """A place amid most rows of ``Z``: squared distances come from products about it.

    The mean would not do. A single row far from all others, of a sensor that has failed, moves it
    away from them, and squares of the way there take the digits of all distances. Rows that are
    seen are evenly spread.

    >>> origin_of(np.array([[1.0], [2.0], [1e9], [3.0], [0.0]]))
    array([2.])
    """
    some = Z[:: max(1, -(-len(Z) // SEEN))]
    if not len(some):
        return np.zeros(Z.shape[1], dtype=np.result_type(Z, np.float32))
    half = len(some) // 2
    return np.partition(some, half, axis=0)[half].astype(np.result_type(Z, np.float32), copy=False)


def squares_of_few(X: Array, Z: Array) -> Array:
    """Squared distances from differences, which are as fast as products for few rows ``Z``.

    >>> squares_of_few(np.array([[1e9 + 1], [3.0]]), np.array([[1e9]]))[0]
    array([1.])
    """
    return cdist(X, Z, "sqeuclidean").astype(np.result_type(X, Z, np.float32), copy=False)
