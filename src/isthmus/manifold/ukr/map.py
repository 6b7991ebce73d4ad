"""The map from latent space to data, its Jacobian, and the latent density."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import MapValues
from isthmus.manifold.projection import RowSearch, Search
from isthmus.optimize.levenberg_marquardt import LeastSquaresRows
from isthmus.smoothers.local_polynomial import LocalSmoother, smooth
from isthmus.typing import Array

# Projections of whole rows begin at the nearest image alone, those of rows with gaps at three:
# what is missing may have several answers.
WHOLE_ROWS = Search(n_init=1, max_iter=30, tol=1e-7)
ROWS_WITH_GAPS = Search(n_init=3, max_iter=30, tol=1e-7)


@dataclass(frozen=True, eq=False)
class KernelMap(RowSearch):
    """The latent map of centres and outputs, feasible where the latent density is high enough.

    ``places`` are the latent points that searches may start from, ``images`` the map there.
    """

    centres: Array
    outputs: Array
    smoother: LocalSmoother
    floor: float
    places: Array
    images: Array

    @cached_property
    def domain(self) -> Domain:
        """All of latent space: the floor is its only limit."""
        return Domain()

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """The map at latent points, relative to the mean of the data."""
        at = latent_map(Z, self.centres, self.outputs, self.smoother, jacobian=jacobian)
        return MapValues(at.f, at.jacobian, at.density >= self.floor)

    def starts(self) -> tuple[Array, Array]:
        """The training places and their images."""
        return self.places, self.images

    def search_rows(
        self, targets: Array, weights: Array | None, start: Array, search: Search
    ) -> LeastSquaresRows | None:
        """Nearest points by a compiled search; None for kernels that reach every centre."""
        from isthmus.manifold.ukr.search import near_ends

        return near_ends(self, targets, weights, start, search)


def map_of_rows(X: Array, centres: Array, outputs: Array, smoother: LocalSmoother) -> KernelMap:
    """The map whose searches start at ``X`` and stay where it is as dense as somewhere there."""
    at = latent_map(X, centres, outputs, smoother)
    return KernelMap(centres, outputs, smoother, float(at.density.min()), X, at.f)


class LatentValues(NamedTuple):
    """Values (m, d), Jacobians (m, d, q) if asked for, and densities (m,) at latent points."""

    f: Array
    jacobian: Array | None
    density: Array


def latent_map(
    Z: Array, Xc: Array, outputs: Array, smoother: LocalSmoother, *, jacobian: bool = False
) -> LatentValues:
    """The map, its Jacobian and the latent density at latent points."""
    at = smooth(smoother, Z, Xc, outputs, jacobian=jacobian)
    return LatentValues(at.values, at.jacobian, at.mass / len(Xc))
