"""Smoothing splines of rows on their places, and the penalty that predicts best."""

import numpy as np

from isthmus.manifold.curves.banded import BandedPath
from isthmus.manifold.curves.dense import DensePath, Splines
from isthmus.typing import Array

# Penalties per row among which rows left out choose.
PENALTIES = np.geomspace(1e-8, 1e2, 31)


def spline_path(
    x: Array, Y: Array, n_pieces: int, *, closed: bool, weights: Array | None = None
) -> Splines:
    """Splines of all penalties; ``weights`` (n,) count rows."""
    if closed:
        return DensePath(x, Y, n_pieces, closed=True, weights=weights)
    return BandedPath(x, Y, n_pieces, weights)


def best_penalty(path: Splines, n: int) -> float:
    """The penalty at which n rows are told best when left out."""
    return min((n * p for p in PENALTIES), key=path.left_out_error)
