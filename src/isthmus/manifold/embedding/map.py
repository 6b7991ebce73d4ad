"""The map from places back to rows: local linear regression, its width by leaving rows out."""

from dataclasses import dataclass

import numpy as np

from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import MapValues
from isthmus.manifold.ukr.map import latent_map
from isthmus.manifold.ukr.starts import best_scale
from isthmus.smoothers.density_kernels import density_kernel
from isthmus.smoothers.local_polynomial import LocalSmoother, smooth
from isthmus.typing import Array

SMOOTHER = LocalSmoother(density_kernel("gaussian"), degree=1, ridge=1e-4)
# Rows by which widths are compared.
JUDGES = 1000


@dataclass(frozen=True, eq=False)
class LocalMap:
    """Rows as a regression on their places; projections stay where places are dense enough."""

    places: Array
    rows: Array
    width: float
    floor: float
    images: Array

    domain = Domain()

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Values, Jacobians if asked for, and whether the density reaches that of some row."""
        centre = self.rows.mean(axis=0)
        at = latent_map(
            Z / self.width,
            self.places / self.width,
            self.rows - centre,
            SMOOTHER,
            jacobian=jacobian,
        )
        slope = None if at.jacobian is None else at.jacobian / self.width
        return MapValues(at.f + centre, slope, at.density >= self.floor)

    def starts(self) -> tuple[Array, Array]:
        """The places and their images."""
        return self.places, self.images


def best_width(Z: Array, Y: Array) -> float:
    """The bandwidth at which rows are told best from the places of the others."""
    spread = float(np.sqrt(np.mean(Z.var(axis=0))))
    if spread == 0.0:
        return 1.0
    some = np.unique(np.linspace(0, len(Z) - 1, JUDGES).astype(int))
    centred = Y - Y.mean(axis=0)

    def left_out(places: Array) -> float:
        at = smooth(SMOOTHER, places[some], places, centred, excluded=some[:, None])
        return float(np.mean(np.sum((at.values - centred[some]) ** 2, axis=1)))

    _, scaled = best_scale(left_out, Z / spread)
    return spread * float(np.linalg.norm(Z / spread) / np.linalg.norm(scaled))


def local_map(Z: Array, Y: Array) -> LocalMap:
    """The map through rows ``Y`` at places ``Z``."""
    width = best_width(Z, Y)
    centre = Y.mean(axis=0)
    at = latent_map(Z / width, Z / width, Y - centre, SMOOTHER)
    # Rounding must not shut out the row that defines the floor.
    return LocalMap(Z, Y, width, float(at.density.min()) * (1 - 1e-9), at.f + centre)
