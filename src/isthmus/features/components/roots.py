r"""Square roots of moments: mean and scatter of rows without forming a covariance.

A root :math:`R` of rows has :math:`R^\top R=\sum_tx_tx_t^\top`; it is found by QR decomposition.
The root of two blocks is the root of the stacked roots, so that a stream needs constant memory; and
a root has the condition number of the data and not its square, which matters because whitening
divides by small numbers.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.typing import Array


class Level(NamedTuple):
    """Mean and scatter of rows: a root of the moments of ``[1, X - shift]``."""

    shift: Array
    root: Array


def map_level(X: Array) -> Level:
    """Of one block, relative to its first row, so that constant columns are exactly zero."""
    shift = X[0].copy()
    return Level(shift, level_root(X, shift))


def merge_levels(a: Level, b: Level) -> Level:
    """Of two disjoint sets of rows together."""
    moved = b.root.copy()
    # X - s_a = (X - s_b) + (s_b - s_a) 1, and the root's first column belongs to the ones.
    moved[:, 1:] += moved[:, :1] * (b.shift - a.shift)
    return Level(a.shift, triangle(np.vstack([a.root, moved])))


class WhitenedLevel(NamedTuple):
    """Principal axes: ``X - mean`` has standard deviations ``s`` along the rows of ``Vt``.

    Columns were divided by ``scale`` first.
    """

    mean: Array
    scale: Array
    s: Array
    Vt: Array


def whiten_level(level: Level, *, rcond: float, standardize: bool) -> WhitenedLevel:
    """Axes whose deviation is above ``rcond`` times the largest, none where nothing varies.

    ``standardize`` brings columns to unit variance first, so that ``rcond`` has no units.
    """
    weight = level.root[0, 0]  # ± the root of the number of rows
    mean = level.shift + level.root[0, 1:] / weight
    S = level.root[1:, 1:] / abs(weight)
    deviations = np.linalg.norm(S, axis=0)
    # What rounding alone makes of a constant column does not count as variance.
    noise = 1e2 * np.finfo(float).eps * np.abs(mean - level.shift)
    dead = deviations <= np.maximum(noise, np.finfo(float).tiny)
    scale = np.where(dead, 1.0, deviations) if standardize else np.ones_like(deviations)
    S = np.where(dead, 0.0, S / scale)
    _, s, Vt = linalg.svd(S, full_matrices=False, check_finite=False)
    rank = int(np.sum(s > rcond * s[0])) if len(s) and s[0] > 0 else 0
    return WhitenedLevel(mean, scale, s[:rank], Vt[:rank])


def root(rows: Array) -> Array:
    r"""A matrix of few rows with the same :math:`R^\top R`; the rows may be overwritten.

    >>> import numpy as np
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> bool(np.allclose(root(X.copy()).T @ root(X.copy()), X.T @ X))
    True
    """
    return rows if len(rows) <= rows.shape[1] else triangle(rows)


def level_root(Phi: Array, shift: Array) -> Array:
    # A few rows are already a root, but the mean is read off the first row of a triangle.
    rows = np.empty((len(Phi), Phi.shape[1] + 1), order="F")
    rows[:, 0] = 1.0
    np.subtract(Phi, shift, out=rows[:, 1:])
    return triangle(rows)


def triangle(rows: Array) -> Array:
    # numpy's qr copies twice on the way to the same routine, which takes most of its time here.
    factors, _, _, _ = linalg.lapack.dgeqrf(np.asfortranarray(rows), overwrite_a=True)
    return np.triu(factors[: min(factors.shape)])
