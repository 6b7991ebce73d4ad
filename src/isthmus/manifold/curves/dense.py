"""Smoothing splines of all penalties from one decomposition, on an interval or a circle."""

from abc import ABC, abstractmethod

import numpy as np
from scipy import linalg

from isthmus.linalg.products import product
from isthmus.manifold.curves.splines import roughness, spline_basis
from isthmus.typing import Array

# The least penalty and a ridge, relative to what rows give: functions that no row sees are held by
# a trace of the penalty, and straight ones by a ridge.
SHIFT, RIDGE = 1e-11, 1e-11


class Splines(ABC):
    """Smoothing splines of rows on their places, for any penalty."""

    @abstractmethod
    def coefficients(self, penalty: float) -> Array:
        """Coefficients (m, d) of the spline of one penalty."""

    @abstractmethod
    def leverages(self, penalty: float) -> Array:
        """How much each row counts for its own value, (n,): the diagonal of the smoother."""

    @abstractmethod
    def penalty_of(self, freedom: float) -> float:
        """The penalty at which the smoother has so many degrees of freedom (sum of leverages)."""

    @abstractmethod
    def left_out_error(self, penalty: float) -> float:
        """Mean squared error of rows left out: residuals over one minus leverage."""

    def _mean_left_out(self, residuals: Array, penalty: float) -> float:
        rest = np.maximum(1.0 - self.leverages(penalty), 1e-3)
        return float(np.mean(np.sum(residuals**2, axis=1) / rest**2))


class DensePath(Splines):
    """All penalties in coordinates in which they are diagonal and the scatter is the identity."""

    def __init__(
        self, x: Array, Y: Array, n_pieces: int, *, closed: bool, weights: Array | None = None
    ):
        B = spline_basis(x, n_pieces, closed=closed)
        root = np.ones((len(x), 1)) if weights is None else np.sqrt(weights)[:, None]
        weighted = root * B
        S = product(weighted.T, weighted)
        R = roughness(n_pieces, closed=closed)
        self._shift = SHIFT * np.trace(S) / np.trace(R)
        A = S + self._shift * R
        A[np.diag_indices_from(A)] += RIDGE * np.trace(S) / len(S)
        values, self._turn = linalg.eigh(R, A)
        self._basis, self._rows = product(weighted, self._turn), root * Y
        self._roughness = np.maximum(values, 0.0)
        self._targets = product(self._basis.T, self._rows)

    def coefficients(self, penalty: float) -> Array:
        return np.asarray(self._turn @ (self._shrinkage(penalty)[:, None] * self._targets))

    def leverages(self, penalty: float) -> Array:
        return np.einsum("nm,m,nm->n", self._basis, self._shrinkage(penalty), self._basis)

    def penalty_of(self, freedom: float) -> float:
        sizes = np.sum(self._basis**2, axis=0)
        low, high = -30.0, 30.0
        for _ in range(60):
            middle = (low + high) / 2
            free = float(sizes @ self._shrinkage(np.exp(middle)))
            low, high = (middle, high) if free > freedom else (low, middle)
        return float(np.exp((low + high) / 2))

    def left_out_error(self, penalty: float) -> float:
        fitted = self._basis @ (self._shrinkage(penalty)[:, None] * self._targets)
        return self._mean_left_out(self._rows - fitted, penalty)

    def _shrinkage(self, penalty: float) -> Array:
        # S + penalty R = A + (penalty - shift) R, and A is the identity here.
        return np.asarray(1.0 / (1.0 + max(penalty - self._shift, 0.0) * self._roughness))
