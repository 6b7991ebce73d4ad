r"""All eigenpairs of a symmetric matrix, in one and a half times its memory.

LAPACK turns a matrix into a tridiagonal one by reflections, which it leaves in one triangle of it,
and needs a second matrix for the eigenvectors. Here the reflections are moved together and half of
the memory is given back before that second matrix is made: :math:`K=QTQ^\top`, :math:`T=Z\Lambda
Z^\top`, and Q is applied to Z panel by panel as :math:`I-VSV^\top`, as LAPACK does.
"""

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from isthmus.linalg.threads import in_threads
from isthmus.typing import Array

# Rows from which memory counts; reflections of a panel, and columns they are applied to at a time.
LEAST_ROWS, PANEL, COLUMNS = 1000, 64, 256


def can_be_packed(K: Array) -> bool:
    """Whether the matrix is large, of doubles in row order, and owns its memory."""
    plain = K.dtype == np.float64 and K.flags.c_contiguous and K.flags.owndata
    return bool(plain and len(K) >= LEAST_ROWS)


def packed_eigenpairs(K: Array) -> tuple[Array, Array]:
    """Eigenvalues, increasing, and eigenvectors; ``K`` is emptied, and nobody may hold a view.

    >>> packed_eigenpairs(np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]))[0]
    array([1., 2., 3.])
    """
    size = int(lapack.dsytrd_lwork(len(K), lower=1)[0])
    # In column order the lower triangle: the reflections are the rows beyond the diagonal.
    diagonal, beside, tau = lapack.dsytrd(K.T, lower=1, lwork=size, overwrite_a=1)[1:4]
    _pack(K)
    values, Z = linalg.eigh_tridiagonal(diagonal, beside, lapack_driver="stemr", check_finite=False)
    for first in range((len(tau) - 1) // PANEL * PANEL, -1, -PANEL):
        _reflect(K, tau, first, Z)
    K.resize((0,), refcheck=False)
    return values, Z


def _pack(K: Array) -> None:
    """Move what is beyond the second diagonal together, row by row, and give the rest back."""
    n, numbers, place = len(K), K.reshape(-1), 0
    for i in range(n - 2):
        row = numbers[i * n + i + 2 : (i + 1) * n]
        numbers[place : place + len(row)] = row
        place += len(row)
    del numbers, row
    K.resize((place,), refcheck=False)


def _reflect(packed: Array, tau: Array, first: int, Z: Array) -> None:
    """Apply a panel of reflections, from the ``first``, to the rows of ``Z`` that they change."""
    n, last = len(Z), min(first + PANEL, len(tau))
    V = np.zeros((last - first, n - 1 - first))
    for i in range(first, last):
        # Rows before the i-th have n - 2, n - 3, ... numbers.
        place = i * (n - 2) - i * (i - 1) // 2
        V[i - first, i - first] = 1
        V[i - first, i - first + 1 :] = packed[place : place + n - 2 - i]
    S, inner = np.diag(tau[first:last]), V @ V.T
    for c in range(1, len(S)):
        S[:c, c] = -S[c, c] * (S[:c, :c] @ inner[:c, c])

    def apply(start: int) -> None:
        block = Z[first + 1 :, start : start + COLUMNS]
        block -= ((S @ (V @ block)).T @ V).T

    in_threads(apply, range(0, n, COLUMNS))
