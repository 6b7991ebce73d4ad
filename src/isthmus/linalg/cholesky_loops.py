"""Compiled Cholesky factors of small matrices, for use inside other compiled loops."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True, inner=True)
def append_row(L, n, G, chosen, j, smallest):
    """Add row ``j`` of a Gram matrix to the factor of ``chosen[:n]``; False where it is dependent.

    It is where its pivot is at most ``smallest`` times its diagonal entry; else j is now
    ``chosen[n]``.
    """
    pivot, row = G[j, j], L[n]
    for a in range(n):
        total = G[j, chosen[a]]
        for c in range(a):
            total -= row[c] * L[a, c]
        row[a] = total / L[a, a]
        pivot -= row[a] * row[a]
    if not pivot > smallest * G[j, j]:
        return False
    row[n] = np.sqrt(pivot)
    chosen[n] = j
    return True


@njit(nogil=True, inner=True)
def cholesky(C, n, smallest):
    """Factor the leading n x n block in place, lower triangle; False where it is singular.

    A pivot of at most ``smallest`` times its diagonal entry counts as zero.
    """
    for a in range(n):
        pivot = C[a, a]
        for b in range(a):
            total = C[a, b]
            for c in range(b):
                total -= C[a, c] * C[b, c]
            C[a, b] = total / C[b, b]
            pivot -= C[a, b] * C[a, b]
        if not pivot > smallest * C[a, a]:
            return False
        C[a, a] = np.sqrt(pivot)
    return True


@njit(nogil=True, inner=True)
def cholesky_solve(L, n, x):
    """Solve L L' z = x in place, for a lower factor of n rows."""
    for a in range(n):
        total = x[a]
        for c in range(a):
            total -= L[a, c] * x[c]
        x[a] = total / L[a, a]
    for a in range(n - 1, -1, -1):
        total = x[a]
        for c in range(a + 1, n):
            total -= L[c, a] * x[c]
        x[a] = total / L[a, a]
