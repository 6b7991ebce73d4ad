r"""Several planes, each with its own centre and variances: what local principal components are.

Model k is a Gaussian with variances :math:`\lambda_{kj}` along its axes and :math:`\sigma_k^2` in
all other directions: probabilistic principal components.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import logsumexp

from isthmus.linalg.products import inner_products, product
from isthmus.linalg.signs import fix_signs
from isthmus.typing import Array, IntArray

# Least variance in any direction, as a share of the data's.
LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Planes:
    """Shares (K,), centres (K, d), axes (K, q, d), variances (K, q) and noises (K,)."""

    shares: Array
    centres: Array
    axes: Array
    variances: Array
    noises: Array

    def coordinates(self, Y: Array) -> Array:
        """Coordinates of rows in all planes, (n, K, q)."""
        found = np.empty((len(Y), *self.variances.shape))
        for k, (centre, V) in enumerate(zip(self.centres, self.axes, strict=True)):
            found[:, k] = product(Y - centre, V.T)
        return found

    def distances(self, Y: Array, Z: Array | None = None) -> Array:
        """Squared distances of rows from all planes, (n, K)."""
        Z = self.coordinates(Y) if Z is None else Z
        inside = np.einsum("nkq,nkq->nk", Z, Z)
        return np.maximum(self.from_centres(Y) - inside, 0.0)

    def from_centres(self, Y: Array) -> Array:
        """Squared distances of rows from all centres, (n, K)."""
        return np.stack([np.sum((Y - c) ** 2, axis=1) for c in self.centres], axis=1)

    def log_densities(self, Y: Array) -> Array:
        """Logarithms of share times density of each model, (n, K)."""
        Z = self.coordinates(Y)
        d, q = self.centres.shape[1], self.variances.shape[1]
        along = np.sum(Z**2 / self.variances, axis=2)
        volume = np.log(self.variances).sum(axis=1)
        across: Array | float = 0.0
        if d > q:
            across = self.distances(Y, Z) / self.noises
            volume = volume + (d - q) * np.log(self.noises)
        size = d * np.log(2 * np.pi)
        return np.asarray(np.log(self.shares) - 0.5 * (along + across + volume + size))

    def log_density(self, Y: Array) -> Array:
        """Logarithm of the mixture's density, (n,)."""
        return np.asarray(logsumexp(self.log_densities(Y), axis=1))

    def points(self, numbers: IntArray, Z: Array) -> Array:
        """Points (n, d) at coordinates ``Z`` (n, q) of the planes with these numbers."""
        found = self.centres[numbers]
        for k in np.unique(numbers):
            rows = numbers == k
            found[rows] += product(Z[rows], self.axes[k])
        return found

    def in_units(self, unit: float, origin: Array) -> "Planes":
        """The same planes, measured in other units from another origin."""
        return Planes(
            self.shares,
            origin + unit * self.centres,
            self.axes,
            unit**2 * self.variances,
            unit**2 * self.noises,
        )


def principal_plane(Y: Array, w: Array, q: int) -> tuple[Array, Array, Array, float]:
    """Centre, axes (q, d), variances (q,) and noise of rows with weights that sum to one.

    Where there are fewer directions than ``q``, an axis is zero.
    """
    centre = w @ Y
    rows = np.sqrt(w)[:, None] * (Y - centre)
    n, d = rows.shape
    if d <= n:
        values, V = linalg.eigh(inner_products(rows))
        values, V = values[::-1], V[:, ::-1]
    else:
        _, s, Vt = linalg.svd(rows, full_matrices=False)
        values, V = s**2, Vt.T
    values = np.maximum(values, 0.0)
    real = min(q, int(np.sum(values > 1e-12 * max(float(values[0]), np.finfo(float).tiny))))
    axes, variances = np.zeros((q, d)), np.zeros(q)
    axes[:real], variances[:real] = fix_signs(V[:, :real]).T, values[:real]
    rest = float(values[real:].sum()) / (d - q) if d > q else 0.0
    return centre, axes, np.maximum(variances, LEAST), max(rest, LEAST)


def planes_of(Y: Array, R: Array, q: int) -> Planes:
    """The planes of rows that belong to models by shares ``R`` (n, K), of which none is empty."""
    totals = R.sum(axis=0)
    parts = [principal_plane(Y, R[:, k] / totals[k], q) for k in range(R.shape[1])]
    centres, axes, variances, noises = (np.array(part) for part in zip(*parts, strict=True))
    return Planes(totals / totals.sum(), centres, axes, variances, noises)
