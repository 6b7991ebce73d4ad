"""Smoothing splines on an interval, at a cost that grows with the rows and the pieces alone."""

from functools import cache

import numpy as np

from isthmus.manifold.curves.banded_loops import (
    add_up,
    factor,
    inverse,
    leverages,
    penalty_of,
    solve,
)
from isthmus.manifold.curves.dense import RIDGE, SHIFT, DensePath, Splines
from isthmus.manifold.curves.splines import roughness, spline_parts
from isthmus.typing import Array


class BandedPath(Splines):
    """The splines of :class:`~.dense.DensePath` by factors of matrices with seven diagonals.

    Where penalties leave so few digits that factors would have none, it is asked.
    """

    def __init__(self, x: Array, Y: Array, n_pieces: int, weights: Array | None = None):
        self._given = x, Y, n_pieces, weights
        self._pieces, parts = spline_parts(x, n_pieces)
        root = np.ones((len(x), 1)) if weights is None else np.sqrt(weights)[:, None]
        self._parts, self._rows = parts * root, np.ascontiguousarray(Y * root)
        self._R = _roughness_band(n_pieces)
        m = n_pieces + 3
        self._scatter, self._targets = np.zeros((m, 4)), np.zeros((m, Y.shape[1]))
        add_up(self._pieces, self._parts, self._rows, self._scatter, self._targets)
        size = float(self._scatter[:, 0].sum())
        self._least = SHIFT * size / float(self._R[:, 0].sum())
        self._S = self._scatter.copy()
        self._S[:, 0] += RIDGE * size / m

    def coefficients(self, penalty: float) -> Array:
        L = self._factor(penalty)
        if L is None:
            return self._dense().coefficients(penalty)
        C = self._targets.copy()
        solve(L, C)
        return C

    def leverages(self, penalty: float) -> Array:
        L = self._factor(penalty)
        if L is None:
            return self._dense().leverages(penalty)
        V, h = np.empty_like(L), np.empty(len(self._parts))
        inverse(L, V)
        leverages(self._pieces, self._parts, V, h)
        return h

    def penalty_of(self, freedom: float) -> float:
        found = penalty_of(self._scatter, self._S, self._R, self._least, float(freedom))
        return self._dense().penalty_of(freedom) if np.isnan(found) else float(found)

    def left_out_error(self, penalty: float) -> float:
        C = self.coefficients(penalty)
        seen = C[self._pieces[:, None] + np.arange(4)]
        residuals = self._rows - np.einsum("na,nad->nd", self._parts, seen)
        return self._mean_left_out(residuals, penalty)

    def _factor(self, penalty: float) -> Array | None:
        L = np.empty_like(self._S)
        return L if factor(self._S, self._R, max(float(penalty), self._least), L) else None

    def _dense(self) -> DensePath:
        x, Y, n_pieces, weights = self._given
        return DensePath(x, Y, n_pieces, closed=False, weights=weights)


@cache
def _roughness_band(n_pieces: int) -> Array:
    R = roughness(n_pieces, closed=False)
    band = np.zeros((len(R), 4))
    for k in range(4):
        band[: len(R) - k, k] = R.diagonal(k)
    band.flags.writeable = False
    return band
