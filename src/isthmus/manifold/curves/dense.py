"""Smoothing splines of all penalties from one decomposition, on an interval or a circle."""

from abc import ABC, abstractmethod
from functools import cache

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
    """All penalties in coordinates in which they and the scatter are diagonal.

    Functions without roughness have coordinates of their own, so that no penalty, however large,
    reaches them by rounding errors. The others are scaled to roughness one.
    """

    def __init__(
        self, x: Array, Y: Array, n_pieces: int, *, closed: bool, weights: Array | None = None
    ):
        B = spline_basis(x, n_pieces, closed=closed)
        root = np.ones((len(x), 1)) if weights is None else np.sqrt(weights)[:, None]
        weighted = root * B
        S = product(weighted.T, weighted)
        size = float(np.trace(S))
        smooth, rough, trace = _unit_roughness(n_pieces, closed)
        self._least = SHIFT * size / trace
        S[np.diag_indices_from(S)] += RIDGE * size / len(S)
        k = smooth.shape[1]
        # The ridge is far above what rounding leaves of the scatter: there is a factor.
        L = linalg.cholesky(S, lower=True)
        R = linalg.qr(product(L.T, np.hstack([smooth, rough])), mode="r")[0]
        rest = R[k:, k:]
        squares, V = linalg.eigh(product(rest.T, rest), driver="evd")
        straight = linalg.solve_triangular(R[:k, :k], smooth.T, trans=1).T
        self._turn = np.hstack([straight, product(rough - straight @ R[:k, k:], V)])
        self._scatter = np.append(np.ones(k), np.maximum(squares, 0.0))
        self._roughness = np.append(np.zeros(k), np.ones(len(squares)))
        self._basis, self._rows = product(weighted, self._turn), root * Y
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
        return np.asarray(1.0 / (self._scatter + max(penalty, self._least) * self._roughness))


@cache
def _unit_roughness(n_pieces: int, closed: bool) -> tuple[Array, Array, float]:
    """Functions without roughness (m, k), others T with T'RT = I (m, m - k), and the trace of R."""
    R = roughness(n_pieces, closed=closed)
    # Constants, and on an interval straight lines: coefficients rise by equal steps.
    smooth = np.vander(np.linspace(-1.0, 1.0, len(R)), 1 if closed else 2, increasing=True)
    rest = linalg.qr(smooth)[0][:, smooth.shape[1] :]
    values, turn = linalg.eigh(rest.T @ R @ rest)
    rough = rest @ turn / np.sqrt(values)
    smooth.flags.writeable = rough.flags.writeable = False
    return smooth, rough, float(np.trace(R))
