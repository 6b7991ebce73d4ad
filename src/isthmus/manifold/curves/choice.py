r"""How wriggly a curve may be: the volume of the tube that holds the data.

Rows spread evenly along a curve of length :math:`\ell` with Gaussian noise of variance
:math:`\sigma^2` across it have minus log likelihood, apart from constants and per row,

.. math:: \log\ell+\tfrac{d-1}{2}\log\sigma^2 ,

the logarithm of the volume of a tube. The distance of rows from the curve alone, even of rows left
out, always falls when a curve wriggles enough to come near to everything; the volume does not, for
what is won in width is paid in length. The variance is that of rows left out, by the leverages of
the regression of rows on their places, so that nothing is fitted again.
"""

import numpy as np

from isthmus.typing import Array

# Widths below this share of the spread of the data are rounding.
LEAST_WIDTH = 1e-7


def log_tube(length: float, errors: Array, leverages: Array, d: int) -> float:
    """The logarithm of the volume of the tube of rows left out, for data of unit spread.

    ``errors`` (n,) are squared distances of rows from the curve fitted to all, ``leverages`` (n,)
    how much each counts for its own place. In one column a curve has no width, and only the
    length counts.
    """
    left_out = np.mean(errors / np.maximum(1.0 - leverages, 1e-3) ** 2)
    width = max(float(left_out), LEAST_WIDTH**2)
    return float(np.log(length) + (d - 1) / 2 * np.log(width))


class Patience:
    """The best of a row of candidates, and whether the last few were all worse."""

    def __init__(self, n_worse: int = 4) -> None:
        self.n_worse = n_worse
        self.best: object = None
        self.value = np.inf
        self.n_since = 0

    def offer(self, value: float, candidate: object) -> bool:
        """Keep the better one; return whether it is time to stop."""
        self.n_since += 1
        if value < self.value:
            self.value, self.best, self.n_since = value, candidate, 0
        return self.n_since >= self.n_worse
