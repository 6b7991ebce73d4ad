"""Compiled loops of smoothing splines: four functions see a row, so matrices have seven diagonals.

A symmetric matrix (m, m) is held as (m, 4): entry ``[j, k]`` is that of row j and column j + k.
"""

from typing import Any

import numpy as np

from isthmus._compiled import njit

# A pivot below this share of its diagonal entry has lost half of its digits.
LEAST_PIVOT = 1e-9


@njit
def add_up(pieces: Any, parts: Any, Y: Any, S: Any, T: Any) -> None:
    """Add to ``S`` (m, 4) the scatter of the functions at the rows, to ``T`` (m, d) the products.

    Row i is seen by the functions from ``pieces[i]`` on, with the values ``parts[i]``.
    """
    for i in range(len(pieces)):
        j = pieces[i]
        for a in range(4):
            for b in range(a, 4):
                S[j + a, b - a] += parts[i, a] * parts[i, b]
            for k in range(Y.shape[1]):
                T[j + a, k] += parts[i, a] * Y[i, k]


@njit
def factor(S: Any, R: Any, penalty: Any, L: Any) -> bool:
    """Factors of S + penalty R: pivots in ``L[:, 0]``, the rest of unit columns beside them."""
    m = len(S)
    for j in range(m):
        for k in range(4):
            L[j, k] = S[j, k] + penalty * R[j, k]
    for j in range(m):
        pivot = L[j, 0]
        if not pivot > LEAST_PIVOT * (S[j, 0] + penalty * R[j, 0]):
            return False
        for a in range(1, 4):
            share = L[j, a] / pivot
            for b in range(a, 4):
                if j + b < m:
                    L[j + a, b - a] -= share * L[j, b]
        for a in range(1, 4):
            L[j, a] /= pivot
    return True


@njit
def solve(L: Any, C: Any) -> None:
    """Solve for the columns of ``C`` (m, d), in place."""
    m, d = C.shape
    for j in range(m):
        for a in range(1, min(4, m - j)):
            for k in range(d):
                C[j + a, k] -= L[j, a] * C[j, k]
    for j in range(m - 1, -1, -1):
        for k in range(d):
            C[j, k] /= L[j, 0]
        for a in range(1, min(4, m - j)):
            for k in range(d):
                C[j, k] -= L[j, a] * C[j + a, k]


@njit
def inverse(L: Any, V: Any) -> None:
    """Fill ``V`` (m, 4) with the seven diagonals of the inverse, from its last row up.

    They need no other entries of it [HutchinsonDeHoog1985]_.
    """
    m = len(L)
    V[:] = 0.0
    for j in range(m - 1, -1, -1):
        last = min(4, m - j)
        for k in range(1, last):
            for a in range(1, last):
                V[j, k] -= L[j, a] * V[j + min(a, k), abs(a - k)]
        V[j, 0] = 1.0 / L[j, 0]
        for a in range(1, last):
            V[j, 0] -= L[j, a] * V[j, a]


@njit
def freedom_of(scatter: Any, V: Any) -> float:
    """The trace of the scatter times the inverse: the sum of leverages."""
    total = 0.0
    for j in range(len(V)):
        total += scatter[j, 0] * V[j, 0]
        for k in range(1, 4):
            total += 2.0 * scatter[j, k] * V[j, k]
    return total


@njit
def penalty_of(scatter: Any, S: Any, R: Any, least: float, freedom: float) -> float:
    """The penalty, at least ``least``, at which leverages have a sum; nan where pivots vanish."""
    L, V = np.empty(S.shape), np.empty(S.shape)
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        if not factor(S, R, max(np.exp(middle), least), L):
            return np.nan
        inverse(L, V)
        if freedom_of(scatter, V) > freedom:
            low = middle
        else:
            high = middle
    return np.exp((low + high) / 2)


@njit
def leverages(pieces: Any, parts: Any, V: Any, h: Any) -> None:
    """Fill in how much each row counts for its own value."""
    for i in range(len(pieces)):
        j = pieces[i]
        total = 0.0
        for a in range(4):
            total += parts[i, a] * parts[i, a] * V[j + a, 0]
            for b in range(a + 1, 4):
                total += 2.0 * parts[i, a] * parts[i, b] * V[j + a, b - a]
        h[i] = total
