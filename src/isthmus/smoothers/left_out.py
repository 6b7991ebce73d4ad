r"""Weights of ridge regression for rows that are left out, without another fit.

With the hat matrix :math:`H=K(K+\alpha I)^{-1}`, :math:`1/n` added to every entry where a constant
is fitted and ``K`` is centred, the weights of row ``j`` without itself are
:math:`H_{ji}/(1-H_{jj})` for :math:`i\ne j` and zero for itself.
"""

import numpy as np

from isthmus.linalg.products import product
from isthmus.linalg.ridge import RidgePath
from isthmus.typing import Array, IntArray


def left_out_weights(path: RidgePath, alpha: float, rows: IntArray | None = None) -> Array:
    """Weights (n_rows, n) over all rows for some of them, each left out by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.linalg import RidgePath
    >>> K = np.diag([2.0, 2.0, 2.0]) - 2 / 3  # centred
    >>> left_out_weights(RidgePath(K, np.zeros((3, 1)), intercept=True), 1.0).round(3)
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0.5],
           [0.5, 0.5, 0. ]])
    """
    n = len(path.U)
    rows = np.arange(n) if rows is None else rows
    shares = path.eigenvalues / (path.eigenvalues + alpha)
    H = product(path.U[rows] * shares, path.U.T)
    if path.intercept:
        H += 1 / n
    places = np.arange(len(rows)), rows
    leverage = np.minimum(H[places], 1 - 1e-10)
    H /= (1 - leverage)[:, None]
    H[places] = 0.0
    return H
