"""The product of the reflections that made a matrix tridiagonal, by long products."""

import numpy as np
from scipy import linalg

from isthmus.linalg import unlocked
from isthmus.linalg.threads import most_threads
from isthmus.typing import Array

# Reflections that are multiplied at a time, and rows from which that pays with threads. LAPACK
# takes 32, by thousands of short calls, at which threads of BLAS wait for each other.
BLOCK, LEAST_ROWS = 96, 400


def multiply_reflections(A: Array, scales: Array) -> None:
    r"""Put the product Q of reflections of a tridiagonal form in their place.

    Of k reflections :math:`I-t_jv_jv_j^\top` the product is :math:`I-VTV^\top`, T upper triangular
    with :math:`T^{-1}=\mathrm{diag}(1/t)+\mathrm{striu}(V^\top V)`.
    """
    if len(A) < LEAST_ROWS or most_threads() == 1:
        unlocked.multiply_reflections(A, scales)
    else:
        multiply_blocks(A, scales)


def multiply_blocks(A: Array, scales: Array) -> None:
    """The same, a block of reflections after the other, the last one first."""
    n = len(A)
    for start in reversed(range(0, n - 1, BLOCK)):
        stop = min(start + BLOCK, n - 1)
        k = stop - start
        # Column j of A has a reflection of the rows from j + 1 on.
        V = np.asfortranarray(np.tril(A[1 + start :, start:stop]))
        np.fill_diagonal(V, 1.0)
        # What was multiplied before leaves these rows and columns as they were.
        Q = A[1 + start :, 1 + start :]
        Q[:, :k], Q[:k, k:] = 0.0, 0.0
        np.fill_diagonal(Q[:, :k], 1.0)
        across = np.empty((k, Q.shape[1]), dtype=A.dtype, order="F")
        across[:, :k] = V[:k].T
        if len(Q) > k:
            unlocked.gemm(V[k:].T, Q[k:, k:], across[:, k:])
        turned = np.empty_like(V)
        unlocked.gemm(V, _middle(V, scales[start:stop]), turned)
        unlocked.gemm(turned, across, Q, alpha=-1.0, beta=1.0)
    A[:, :1], A[:1] = 0.0, 0.0
    A[:1, :1] = 1.0


def _middle(V: Array, scales: Array) -> Array:
    """T, from ``(I + diag(t) striu(V'V)) T = diag(t)``: an entry of t may be zero."""
    products = np.empty((len(scales), len(scales)), dtype=V.dtype, order="F")
    unlocked.gemm(V.T, V, products)
    products *= scales[:, None]
    return np.asarray(
        linalg.solve_triangular(
            products, np.diag(scales), unit_diagonal=True, check_finite=False, overwrite_b=True
        )
    )
