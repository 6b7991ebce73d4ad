"""Triangular systems with many right sides, in row order."""

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from isthmus.typing import Array


def solve_lower(L: Array, B: Array) -> Array:
    """The solution of ``L X = B`` in row order, for a lower triangular matrix in double precision.

    A table in row order is its transpose in column order, of which BLAS solves ``X' L' = B'`` where
    it lies, faster than ``L X = B``: SciPy turns the table before and after. To invert blocks of
    the diagonal would be no faster, and lose digits where the matrix is nearly singular.

    >>> import numpy as np
    >>> solve_lower(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[4.0], [5.0]]))
    array([[2.],
           [3.]])
    """
    if B.dtype != np.float64 or not B.size:
        found = linalg.solve_triangular(L, B, lower=True, check_finite=False)
        return np.ascontiguousarray(found)
    zeros = np.flatnonzero(np.diagonal(L) == 0)
    if len(zeros):
        raise linalg.LinAlgError(f"Entry {zeros[0]} of the diagonal is zero.")
    X = np.array(B, order="C")
    blas.dtrsm(1.0, L, X.T, side=1, lower=1, trans_a=1, overwrite_b=1)
    return X
