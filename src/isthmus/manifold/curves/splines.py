r"""Cubic smoothing splines of many columns on an interval or a circle.

With uniform knots on :math:`[0,1]`, columns :math:`f_k=\sum_jc_{jk}B_j` minimise

.. math:: \sum_iw_i\|y_i-f(x_i)\|^2+\lambda\int_0^1\|f''(x)\|^2dx .
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.linalg.products import product
from isthmus.typing import Array

MOST_PIECES = 60
# Penalties per row among which rows left out choose.
PENALTIES = np.geomspace(1e-8, 1e2, 31)


def n_pieces_for(n: int) -> int:
    """Pieces of a spline through n rows: many enough that the penalty, not the knots, decides."""
    return int(np.clip(n // 3, 4, MOST_PIECES))


def spline_basis(x: Array, n_pieces: int, *, closed: bool, derivative: bool = False) -> Array:
    """Values (n, m) of the cubic B-splines at places in [0, 1], or their derivatives.

    m is ``n_pieces`` on a circle and ``n_pieces + 3`` on an interval.
    """
    u = x * n_pieces
    j = np.clip(np.floor(u).astype(np.intp), 0, n_pieces - 1)
    w = u - j
    v = 1.0 - w
    parts: list[Array]
    if derivative:
        parts = [-(v**2) / 2, (3 * w**2 - 4 * w) / 2, (-3 * w**2 + 2 * w + 1) / 2, w**2 / 2]
        parts = [n_pieces * p for p in parts]
    else:
        parts = [v**3, 3 * w**3 - 6 * w**2 + 4, -3 * w**3 + 3 * w**2 + 3 * w + 1, w**3]
        parts = [p / 6 for p in parts]
    m = n_pieces if closed else n_pieces + 3
    B = np.zeros((len(x), m))
    rows = np.arange(len(x))
    for shift, part in enumerate(parts):
        # Where pieces are fewer than four a circle meets a function twice.
        np.add.at(B, (rows, (j + shift) % m), part)
    return B


def roughness(n_pieces: int, *, closed: bool) -> Array:
    r"""The matrix of :math:`\int_0^1f''(x)^2dx`, exactly: second derivatives are linear pieces."""
    h = 1.0 / n_pieces
    m = n_pieces if closed else n_pieces + 3
    ends = np.arange(n_pieces) if closed else np.arange(n_pieces + 1)
    D = np.zeros((len(ends), m))  # second derivatives at the knots
    for shift, value in enumerate((1.0, -2.0, 1.0)):
        np.add.at(D, (np.arange(len(ends)), (ends + shift) % m), value / h**2)
    left, right = D[:n_pieces], np.roll(D, -1, axis=0)[:n_pieces]
    mixed = left.T @ right
    return h / 3 * (left.T @ left + right.T @ right + (mixed + mixed.T) / 2)


class SplinePath(NamedTuple):
    """Smoothing splines of all penalties from one decomposition.

    ``basis`` (n, m) are values in coordinates in which penalties are ``roughness`` (m,) and the
    scatter of the rows is the identity, ``targets`` (m, d) the products with the data.
    """

    basis: Array
    roughness: Array
    targets: Array
    turn: Array
    shift: float


def spline_path(
    x: Array, Y: Array, n_pieces: int, *, closed: bool, weights: Array | None = None
) -> SplinePath:
    """Decompose the problem once; ``weights`` (n,) count rows."""
    B = spline_basis(x, n_pieces, closed=closed)
    root = np.ones((len(x), 1)) if weights is None else np.sqrt(weights)[:, None]
    weighted = root * B
    S = product(weighted.T, weighted)
    R = roughness(n_pieces, closed=closed)
    # Functions that no row sees are held by a trace of the penalty, and straight ones by a ridge.
    shift = 1e-11 * np.trace(S) / np.trace(R)
    A = S + shift * R
    A[np.diag_indices_from(A)] += 1e-11 * np.trace(S) / len(S)
    values, turn = linalg.eigh(R, A)
    basis = product(weighted, turn)
    return SplinePath(basis, np.maximum(values, 0.0), product(basis.T, root * Y), turn, shift)


def coefficients(path: SplinePath, penalty: float) -> Array:
    """Coefficients (m, d) of the spline of one penalty."""
    return np.asarray(path.turn @ (_shrinkage(path, penalty)[:, None] * path.targets))


def leverages(path: SplinePath, penalty: float) -> Array:
    """How much each row counts for its own value, (n,): the diagonal of the smoother."""
    return np.einsum("nm,m,nm->n", path.basis, _shrinkage(path, penalty), path.basis)


def _shrinkage(path: SplinePath, penalty: float) -> Array:
    # S + penalty R = A + (penalty - shift) R, and A is the identity here.
    return 1.0 / (1.0 + max(penalty - path.shift, 0.0) * path.roughness)


def penalty_of(path: SplinePath, freedom: float) -> float:
    """The penalty at which the smoother has so many degrees of freedom (the sum of leverages)."""
    sizes = np.sum(path.basis**2, axis=0)
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        free = float(sizes @ _shrinkage(path, np.exp(middle)))
        low, high = (middle, high) if free > freedom else (low, middle)
    return float(np.exp((low + high) / 2))


def left_out_error(path: SplinePath, Y: Array, penalty: float) -> float:
    """Mean squared error of rows left out, in closed form: residuals over one minus leverage."""
    fitted = path.basis @ (_shrinkage(path, penalty)[:, None] * path.targets)
    rest = np.maximum(1.0 - leverages(path, penalty), 1e-3)
    return float(np.mean(np.sum((Y - fitted) ** 2, axis=1) / rest**2))


def best_penalty(path: SplinePath, Y: Array) -> float:
    """The penalty at which rows left out are told best."""
    return min((len(Y) * p for p in PENALTIES), key=lambda p: left_out_error(path, Y, p))
