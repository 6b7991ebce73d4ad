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
    largest = np.abs(V).argmax(axis=0)
    signs = np.sign(V[largest, np.arange(V.shape[1])])
    signs[signs == 0] = 1
    return V * signs
