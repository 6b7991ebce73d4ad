r"""Predictions of folds that are left out of kernel ridge regression, from the fit on all rows.

With :math:`A=K+\alpha I` and coefficients :math:`c=A^{-1}(Y-b)`, rows :math:`F` that are left out
are predicted with the errors

.. math:: e_F=(P_{FF})^{-1}c_F,

where P is the inverse of A but for its share of the constant, if one is fitted and ``K`` is
centred. So the blocks of one inverse take the place of a fit for each fold; for folds of one row it
is the leave-one-out error of :class:`~isthmus.linalg.RidgePath`.
"""

from collections.abc import Sequence

import numpy as np

from isthmus.linalg.ridge import PositiveFactor
from isthmus.regression.kernel_weights import RidgeSystem
from isthmus.typing import Array, IntArray

# Penalties below this share of the sum of all eigenvalues, that of the mean among them, leave the
# inverse too few digits.
LEAST_PENALTY = 1e-9


def left_out_of_folds(
    system: RidgeSystem, C: Array, Y: Array, alpha: float, folds: Sequence[IntArray]
) -> Array | None:
    """Predictions (n, p) of every row by a fit without its fold; None where rounding would decide.

    The factor of the ``system``, whose coefficients are ``C``, is used up. Every row counts once.
    """
    factor, n = system.factor, len(Y)
    if factor is None or factor.singular or system.counts is not None:
        return None
    share, total = 0.0, factor.trace
    if system.gram_mean is not None:
        if system.constant is None:
            return None
        share = 1 / (n * system.constant)
        total += abs(float(np.sum(system.gram_mean)))
    if not alpha > LEAST_PENALTY * total:
        return None
    found = np.array(Y, dtype=np.float64)
    for rows, block in zip(folds, factor.inverse_blocks(folds), strict=True):
        block -= share
        inner = PositiveFactor(block, overwrite=True)
        if inner.singular:
            return None
        found[rows] -= inner.solve(C[rows])
    return found
