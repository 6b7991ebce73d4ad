"""What embeddings of distances share: landmarks, repeated rows, and the map back."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from isthmus._checks import check_length, check_scale
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, choice, integer, none, numbers, seed
from isthmus.linalg.signs import fix_signs
from isthmus.linalg.threads import one_pool, threads_for
from isthmus.manifold.domain import Domain
from isthmus.manifold.embedding.graph import (
    classical_scaling,
    neighbor_pairs,
    path_lengths,
    principal_places,
)
from isthmus.manifold.embedding.map import LocalMap, local_map
from isthmus.manifold.latent_map import BaseLatentMap, MapValues
from isthmus.manifold.projection import Search, best_ends
from isthmus.typing import Array, IntArray

# Projections of whole rows start from the nearest image alone, those with gaps from three.
WHOLE_ROWS = Search(n_init=1, max_iter=30, tol=1e-7)
ROWS_WITH_GAPS = Search(n_init=3, max_iter=30, tol=1e-7)


class BaseEmbedding(BaseLatentMap):
    """Places that keep distances, and rows as a local linear regression on them.

    A member implements :meth:`_embed`.
    """

    n_components: int
    init: Any
    n_landmarks: int | None
    n_neighbors: int | None
    random_state: Any

    embedding_: Array
    places_: Array
    rows_: Array

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "n_neighbors": integer(1) | none,
        "init": choice("auto", "pca", "isomap") | numbers(2),
        "n_landmarks": integer(2) | none,
        "max_iter": integer(1),
        "random_state": seed,
    }

    @abstractmethod
    def _embed(self, Y: Array, given: Array | None, rng: np.random.RandomState) -> Array:
        """Places (n, q) of distinct rows in units of their spread; ``given`` is the start."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the rows of ``X``; return self."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        check_scale(self, X)
        rows = X.astype(np.float64, copy=False)
        given = self._given(len(rows))
        distinct, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        if len(distinct) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows that differ. Got {len(rows)} equal rows."
            )
        # In the order of the data, so that nothing depends on how rows sort.
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        first, inverse = first[order], rank[inverse.ravel()]
        distinct = rows[first]
        rng = check_random_state(self.random_state)
        centre = distinct.mean(axis=0)
        spread = float(np.sqrt(np.mean(np.sum((distinct - centre) ** 2, axis=1))))
        Y = (distinct - centre) / spread
        chosen = self._landmarks(Y, rng)
        require_memory(
            self,
            24 * len(chosen) ** 2,
            what=f"the distances of {len(chosen)} rows",
            avoid="Set n_landmarks.",
        )
        start = None if given is None else given[first][chosen] / spread
        with threads_for(float(len(chosen)) ** 3), one_pool():
            Z = _turned(self._embed(Y[chosen], start, rng)) * spread
            fitted = local_map(Z, distinct[chosen])
        places = np.empty((len(distinct), Z.shape[1]))
        places[chosen] = Z
        rest = np.setdiff1d(np.arange(len(distinct)), chosen)
        if len(rest):
            places[rest] = best_ends(fitted, distinct[rest], None, WHOLE_ROWS).latent
        self.places_, self.rows_ = fitted.places, fitted.rows
        self.width_, self.floor_ = fitted.width, fitted.floor
        self.images_ = fitted.images
        self.embedding_ = places[inverse].astype(X.dtype, copy=False)
        return self

    def _given(self, n: int) -> Array | None:
        if isinstance(self.init, str):
            return None
        given = np.asarray(self.init, dtype=np.float64)
        check_length(self, n, len(given), what="places in init as rows")
        if given.shape[1] != self.n_components:
            raise ValueError(
                f"The init of {type(self).__name__} must have {self.n_components} columns, as "
                f"n_components says. Got shape {given.shape} instead."
            )
        return given

    def _landmarks(self, Y: Array, rng: np.random.RandomState) -> IntArray:
        """Numbers of the rows that are embedded; the others are projected on their map."""
        if self.n_landmarks is None or len(Y) <= self.n_landmarks:
            return np.arange(len(Y))
        _, chosen = kmeans_plusplus(Y, self.n_landmarks, random_state=rng)
        return np.unique(chosen)

    def _start(self, Y: Array, name: str) -> Array:
        """Principal components, or classical scaling of the distances along the graph."""
        if name == "pca":
            return principal_places(Y, self.n_components)
        pairs = neighbor_pairs(Y, self.n_neighbors)
        return classical_scaling(path_lengths(Y, pairs), self.n_components)

    # The map ------------------------------------------------------------------------------

    domain = Domain()

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return the local regression at places, with Jacobians if asked for."""
        return self._plain_map().evaluate(Z, jacobian)

    def starts(self) -> tuple[Array, Array]:
        """Return the places of the landmarks and their images."""
        return self._plain_map().starts()

    def search_settings(self, *, gaps: bool) -> Search:
        """Return the settings for whole rows, or for rows with gaps."""
        return ROWS_WITH_GAPS if gaps else WHOLE_ROWS

    def _plain_map(self) -> LocalMap:
        return LocalMap(self.places_, self.rows_, self.width_, self.floor_, self.images_)


def _turned(Z: Array) -> Array:
    """Places about their mean, along their principal axes: distances do not know a direction."""
    Z = Z - Z.mean(axis=0)
    _, _, Vt = linalg.svd(Z, full_matrices=False)
    if len(Vt) < Z.shape[1]:
        return Z
    return np.asarray(Z @ fix_signs(Vt.T))
