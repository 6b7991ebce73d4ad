"""One convention for the sign of eigenvectors."""

import numpy as np

from isthmus.typing import Array


def fix_signs(V: Array) -> Array:
    """Flip columns so that the entry of largest magnitude is positive.

    >>> import numpy as np
    >>> fix_signs(np.array([[0.6, -0.8], [-0.8, -0.6]]))
    array([[-0.6,  0.8],
           [ 0.8,  0.6]])
    """
    return V * signs_of(V)


def signs_of(V: Array) -> Array:
    """1 or -1 for each column: the sign of its entry of largest magnitude."""
    signs = np.ones(V.shape[1], dtype=V.dtype)
    for low in range(0, V.shape[1], 64):
        part = V[:, low : low + 64]
        largest = part[np.abs(part).argmax(axis=0), np.arange(part.shape[1])]
        signs[low : low + 64][largest < 0] = -1
    return signs
