"""Compiled Cholesky factors of small matrices, for use inside other compiled loops."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def append_row(L, n, diagonal, smallest):
    """Add row ``n`` to a lower factor of n rows; False where it depends on them.

    ``L[n, :n]`` holds the products with the earlier rows, ``diagonal`` the product with itself.
    The row counts as dependent where its pivot is at most ``smallest`` times the diagonal.
    """
    pivot = diagonal
    for a in range(n):
        total = L[n, a]
        for c in range(a):
            total -= L[n, c] * L[a, c]
        L[n, a] = total / L[a, a]
        pivot -= L[n, a] * L[n, a]
    if not pivot > smallest * diagonal:
        return False
    L[n, n] = np.sqrt(pivot)
    return True


@njit(cache=True, nogil=True)
def cholesky(C, n, smallest):
    """Factor the leading n x n block in place, lower triangle; False where it is singular.

    A pivot of at most ``smallest`` times its diagonal entry counts as zero.
    """
    for a in range(n):  # noqa: SIM110
        if not append_row(C, a, C[a, a], smallest):
            return False
    return True


@njit(cache=True, nogil=True)
def cholesky_solve(L, n, x):
    """Solve L L' z = x in place, for a lower factor of n rows."""
    for a in range(n):
        for c in range(a):
            x[a] -= L[a, c] * x[c]
        x[a] /= L[a, a]
    for a in range(n - 1, -1, -1):
        for c in range(a + 1, n):
            x[a] -= L[c, a] * x[c]
        x[a] /= L[a, a]
