r"""Weights of ridge regression for rows that are left out, without another fit.

With the hat matrix :math:`H=K(K+\alpha I)^{-1}`, :math:`1/n` added to every entry where a constant
is fitted and ``K`` is centred, the weights of row ``j`` without itself are
:math:`H_{ji}/(1-H_{jj})` for :math:`i\ne j` and zero for itself.
"""

from typing import Any

import numpy as np

from isthmus.linalg.products import product
from isthmus.linalg.ridge import RidgePath
from isthmus.typing import Array, IntArray


def left_out_weights(
    path: RidgePath, alpha: float, rows: IntArray | None = None, counts: Array | None = None
) -> Array:
    r"""Weights (n_rows, n) over all rows for some of them, each left out by itself.

    Where row i counts :math:`c_i` times, the path is that of :math:`D K D` with
    :math:`D=\mathrm{diag}(\sqrt c)`, ``K`` centred by the weighted mean, and one copy of the row is
    left out, or all of it where it counts less than once.

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
    once: Any = 1.0
    if counts is not None:
        root = np.sqrt(counts)
        H *= root / root[rows, None]
        once = 1 / np.maximum(counts[rows], 1.0)
    if path.intercept:
        H += 1 / n if counts is None else counts / counts.sum()
    places = np.arange(len(rows)), rows
    leverage = np.minimum(once * H[places], 1 - 1e-10)
    H[places] = H[places] - leverage if counts is not None else 0.0
    H /= (1 - leverage)[:, None]
    return H
