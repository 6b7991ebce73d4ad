"""Triangular systems with many right sides, and inverses of triangular matrices."""

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from isthmus.linalg import unlocked
from isthmus.typing import Array

# Rows up to which LAPACK inverts a triangular matrix at once, and rows from which it does so as
# fast as products of halves, and where it lies.
LEAST_HALVED, MOST_HALVED = 64, 1500
# Rows of the squares by which one half of a matrix is best copied to the other.
MIRRORED = 64


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


def inverse_lower(L: Array) -> Array:
    r"""The inverse of a lower triangular matrix, in column order and zero above the diagonal.

    .. math:: \begin{pmatrix}A&0\\C&B\end{pmatrix}^{-1}
       =\begin{pmatrix}A^{-1}&0\\-B^{-1}CA^{-1}&B^{-1}\end{pmatrix},

    half by half down to a few rows: OpenBLAS inverts some hundred rows at a third of the speed of
    its products. What lies above the diagonal is not read.

    >>> import numpy as np
    >>> inverse_lower(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    F = np.asfortranarray(np.triu(L.T).T)
    _invert(F, LEAST_HALVED if len(F) <= MOST_HALVED else len(F))
    return F


def _invert(F: Array, least: int) -> None:
    """Write the inverse over a lower triangular matrix, or over a part of one."""
    n = len(F)
    if n <= least:
        unlocked.invert_triangle(F)
        return
    half = n // 16 * 8  # whole registers
    A, B, C = F[:half, :half], F[half:, half:], F[half:, :half]
    _invert(B, least)
    # Solved with A, as LAPACK does: with two inverses a nearly singular matrix loses its digits.
    unlocked.multiply_triangle(B, C)
    unlocked.solve_triangle(A, C, right=True, alpha=-1.0)
    _invert(A, least)


def inverse_half(L: Array) -> Array:
    r"""The lower half of :math:`(LL^\top)^{-1}`, in column order, from a factor that is used up.

    >>> import numpy as np
    >>> inverse_half(np.array([[2.0, 0.0], [0.0, 1.0]], order="F")).diagonal()
    array([0.25, 1.  ])
    """
    if len(L) > MOST_HALVED:
        unlocked.invert_factored(L)
    else:
        _invert(L, LEAST_HALVED)
        unlocked.square_triangle(L)
    return L
