r"""Maximum variance unfolding by an interior point: both sides of the program at once.

.. math:: \max_{K\succeq0}\langle C,K\rangle\ \text{s.t. }k_{ii}-2k_{ij}+k_{jj}+z_e=D_e^2,\ z\ge0
          \qquad\min_{w\ge0}\sum_ew_eD_e^2\ \text{s.t. }L_w-C=S\succeq0

or without slacks z, and with multipliers w of any sign, where distances are kept equal. There
:math:`C=I-\frac2n\mathbf1\mathbf1^\top`: the identity for centred rows, and minus one along
the constant vector, so that no solution has a part there. Pairs that connect all rows give both
sides interior points. Steps in the direction of Helmberg, Kojima and Monteiro, with a corrector,
close the gap in 10 to 25, each with one Cholesky factor of as many rows as there are pairs. Equal
distances may leave no positive definite K (a clique has the rank of its rows); the multipliers then
grow without end, and a small ridge keeps the factor within doubles.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from isthmus.linalg.products import product
from isthmus.typing import Array

# The share of the way to the boundary that a step goes, and steps too short to go on.
SHARE, SHORT = 0.95, 1e-8
# Steps over which both sides have moved by no more than the tolerance, at the end.
STILL = 5
# Ridges of the equations, as a share of their diagonal: the first with which they have a factor.
RIDGES = (1e-12, 1e-10, 1e-8)


class Point(NamedTuple):
    """Gram matrix (n, n), slacks (m,), multipliers (m,), and the dual's slack (n, n)."""

    K: Array
    z: Array
    w: Array
    S: Array


def interior_unfolding(
    M: sparse.csr_array, squares: Array, *, at_most: bool = True, max_iter: int, tol: float
) -> tuple[Array, Array, int]:
    """Gram matrix (n, n), multipliers (m,) and steps; the gap is at most the share ``tol``.

    ``M`` (m, n) takes differences along pairs that connect all rows; ``squares`` are the squared
    distances, or the largest that are allowed.
    """
    m, n = M.shape
    unit = float(squares.mean())
    limits = squares / unit
    C = np.eye(n) - 2.0 / n
    L = (M.T @ M).toarray()
    scale = 2.0 / float(linalg.eigvalsh(L + 1.0, subset_by_index=(0, 0))[0])
    far = float(limits.max())  # from a smaller start, one long pair would block every step
    slack = np.full(m, far if at_most else 0.0)
    at = Point(far * np.eye(n), slack, np.full(m, scale), scale * L - C)
    n_iter, length = 0, 1.0
    values: list[tuple[float, float]] = []
    while n_iter < max_iter and length >= SHORT:
        try:
            at, length = _step(at, M, limits, at_most)
        except linalg.LinAlgError:  # rounding: as near as doubles go
            break
        n_iter += 1
        top = float(at.w @ limits)
        missed = np.abs(limits - at.z - spans(M, at.K)).max()
        values.append((top, float(np.sum(C * at.K))))
        gap = top - values[-1][1]
        if missed <= tol and ((gap if at_most else abs(gap)) <= tol * top or _still(values, tol)):
            break
    K = at.K - at.K.mean(axis=0)
    return unit * (K - K.mean(axis=1)[:, None]), at.w, n_iter


def _still(values: list[tuple[float, float]], tol: float) -> bool:
    """Whether the last steps have moved neither side: as near as the ridge lets them come."""
    if len(values) <= STILL:
        return False
    last = np.ptp(np.array(values[-STILL - 1 :]), axis=0)
    return bool(np.all(last <= tol * values[-1][0]))


def spans(M: sparse.csr_array, K: Array) -> Array:
    """Squared distances (m,) along pairs that a Gram matrix says."""
    return np.asarray(M.multiply(M @ K).sum(axis=1)).ravel()


def _step(at: Point, M: sparse.csr_array, limits: Array, at_most: bool) -> tuple[Point, float]:
    """The point after a predictor and a corrector, and the shorter length of the two sides."""
    m, n = M.shape
    K, z, w, S = at
    factors = linalg.cholesky(K, lower=True), linalg.cholesky(S, lower=True)
    inverse = linalg.cho_solve((factors[1], True), np.eye(n))
    held, pulls = spans(M, K), spans(M, inverse)
    ratio = z / w
    H = _factor((M @ (M @ K).T) * (M @ (M @ inverse).T), ratio, (0.0,) if at_most else RIDGES)
    missed = limits - z - held

    def direction(mu: float, bent: Array | None, cross: Array | float) -> Point:
        aim = (mu - cross) / w - z if at_most else z
        right = mu * pulls - held + aim - missed
        dw = linalg.cho_solve(H, right if bent is None else right - spans(M, bent))
        dS = (M.T @ (sparse.diags_array(dw) @ M)).toarray()
        dK = mu * inverse - K - _even(product(product(K, dS), inverse))
        return Point(dK if bent is None else dK - bent, aim - ratio * dw, dw, dS)

    size = n + m if at_most else n
    mu = (np.sum(K * S) + z @ w) / size
    ahead = direction(0.0, None, 0.0)
    a, b = _lengths(at, ahead, factors, at_most)
    left = np.sum((K + a * ahead.K) * (S + b * ahead.S)) + (z + a * ahead.z) @ (w + b * ahead.w)
    calm = min(1.0, float(left / size / mu)) ** 2
    bent = _even(product(product(ahead.K, ahead.S), inverse))
    by = direction(calm * mu, bent, ahead.z * ahead.w)
    a, b = _lengths(at, by, factors, at_most)
    return Point(K + a * by.K, z + a * by.z, w + b * by.w, S + b * by.S), min(a, b)


def _even(A: Array) -> Array:
    return np.asarray((A + A.T) / 2)


def _factor(H: Array, ratio: Array, ridges: tuple[float, ...]) -> tuple[Array, bool]:
    """The Cholesky factor with the least ridge that allows one."""
    diagonal = H.diagonal().copy()
    for ridge in ridges:
        H[np.diag_indices(len(H))] = (1 + ridge) * diagonal + ratio
        with suppress(linalg.LinAlgError):
            return linalg.cho_factor(
                H, lower=True, overwrite_a=len(ridges) == 1, check_finite=False
            )
    raise linalg.LinAlgError("The equations have no factor.")


def _lengths(
    at: Point, by: Point, factors: tuple[Array, Array], at_most: bool
) -> tuple[float, float]:
    """How far each side may go, at most 1, and stay inside."""
    primal, dual = _until(factors[0], by.K), _until(factors[1], by.S)
    if at_most:
        primal, dual = min(primal, _until_zero(at.z, by.z)), min(dual, _until_zero(at.w, by.w))
    return min(1.0, SHARE * primal), min(1.0, SHARE * dual)


def _until(factor: Array, D: Array) -> float:
    """The length at which a matrix with this Cholesky factor, moved along D, is singular."""
    X = linalg.solve_triangular(factor, D, lower=True)
    X = linalg.solve_triangular(factor, X.T, lower=True)
    lowest = float(linalg.eigvalsh(_even(X), subset_by_index=(0, 0))[0])
    return -1.0 / lowest if lowest < 0 else np.inf


def _until_zero(v: Array, d: Array) -> float:
    falls = d < 0
    return float(np.min(-v[falls] / d[falls])) if falls.any() else np.inf
