"""What all maps through grid nodes share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from isthmus._checks import check_choice, check_piece
from isthmus._parameters import condition, integer
from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import BaseLatentMap, MapValues
from isthmus.manifold.projection import Search
from isthmus.manifold.psom.grid import NodeGrid
from isthmus.manifold.psom.map import GridMap
from isthmus.typing import Array

OUTSIDE = ("clip", "extrapolate", "raise")
# What is in them is read with the rows at hand.
A_GRID = condition(
    "a grid of at least 2 nodes per axis: a tuple of counts, or a list with a vector of increasing "
    "nodes for each axis",
    lambda v: integer(2).accepts(v) or (isinstance(v, (Sequence, np.ndarray)) and bool(len(v))),
)
BOUNDS = condition(
    "a pair, or a pair for each axis", lambda v: isinstance(v, (Sequence, np.ndarray))
)


class BaseGridManifold(BaseLatentMap):
    r"""A map :math:`f(x)=\sum_gw_g\prod_\mu\ell_{g_\mu}(x_\mu)` through the nodes of a grid.

    What is fitted: ``grid_`` and ``weights_``, the images of its nodes.
    """

    outside: str
    search: Search | None
    local: int | None = None

    grid_: NodeGrid
    weights_: Array
    embedding_: Array
    n_features_in_: int

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return the map at latent points, with Jacobians if asked for; nothing is checked."""
        return self._plain_map().evaluate(Z, jacobian)

    @property
    def domain(self) -> Domain:
        """The box of the grid."""
        return self._plain_map().domain

    def starts(self) -> tuple[Array, Array]:
        """Return the nodes of the grid and their images."""
        return self._plain_map().starts()

    def search_settings(self, *, gaps: bool) -> Search:
        """Return the parameter ``search``, which holds for all rows."""
        return Search() if self.search is None else self.search

    def _plain_map(self) -> GridMap:
        return GridMap(self.grid_, self.weights_, self.local)

    # Checks ----------------------------------------------------------------------------

    def _check_search(self) -> None:
        check_choice(self.outside, "outside", self, OUTSIDE)
        if self.search is not None:
            check_piece(self.search, "search", self, _checked_search)

    def _in_domain(self, Z: Array) -> Array:
        """Latent points in the domain; what becomes of others ``outside`` says."""
        outside = check_choice(self.outside, "outside", self, OUTSIDE)
        if outside == "extrapolate":
            return Z
        inside = super()._in_domain(Z)
        if outside == "raise" and np.any(inside != Z):
            row = int(np.argmax(np.any(inside != Z, axis=1)))
            raise ValueError(
                f"Latent points of {type(self).__name__} must lie between {self.grid_.low} and "
                f"{self.grid_.high}. Got {Z[row]} in row {row} instead."
            )
        return inside


def _checked_search(search: Any) -> Search:
    if not isinstance(search, Search):
        raise TypeError(f"Expected None or a Search. Got {search!r:.80} instead.")
    return search.check()
