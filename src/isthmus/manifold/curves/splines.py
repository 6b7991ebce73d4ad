r"""Cubic smoothing splines of many columns on an interval or a circle.

With uniform knots on :math:`[0,1]`, columns :math:`f_k=\sum_jc_{jk}B_j` minimise

.. math:: \sum_iw_i\|y_i-f(x_i)\|^2+\lambda\int_0^1\|f''(x)\|^2dx .
"""

import numpy as np

from isthmus.typing import Array, IntArray

MOST_PIECES = 60


def n_pieces_for(n: int) -> int:
    """Pieces of a spline through n rows: many enough that the penalty, not the knots, decides."""
    return int(np.clip(n // 3, 4, MOST_PIECES))


def spline_basis(x: Array, n_pieces: int, *, closed: bool, derivative: bool = False) -> Array:
    """Values (n, m) of the cubic B-splines at places in [0, 1], or their derivatives.

    m is ``n_pieces`` on a circle and ``n_pieces + 3`` on an interval.
    """
    j, parts = spline_parts(x, n_pieces, derivative=derivative)
    m = n_pieces if closed else n_pieces + 3
    B = np.zeros((len(x), m))
    rows = np.arange(len(x))
    for shift in range(4):
        # Where pieces are fewer than four a circle meets a function twice.
        B[rows, (j + shift) % m] += parts[:, shift]
    return B


def spline_parts(x: Array, n_pieces: int, *, derivative: bool = False) -> tuple[IntArray, Array]:
    """The piece (n,) of each place, and values (n, 4) of the functions that see it.

    On an interval these are the functions from the number of the piece on.
    """
    u = x * n_pieces
    j = np.clip(np.floor(u).astype(np.intp), 0, n_pieces - 1)
    w = u - j
    v = 1.0 - w
    if derivative:
        parts = [-(v**2) / 2, (3 * w**2 - 4 * w) / 2, (-3 * w**2 + 2 * w + 1) / 2, w**2 / 2]
        return j, n_pieces * np.stack(parts, axis=1)
    square, cube = w * w, w * w * w
    parts = [v * v * v, 3 * cube - 6 * square + 4, -3 * cube + 3 * square + 3 * w + 1, cube]
    return j, np.stack(parts, axis=1) / 6


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
