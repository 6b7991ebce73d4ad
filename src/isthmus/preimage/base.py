"""What all pre-images share: objects, coordinates, and the two objectives."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_length, shortened
from isthmus._estimator import Estimator
from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import check_list, looks_like_table, n_objects, take
from isthmus.kernels.points import squared_distances
from isthmus.linalg.nearest import nearest_points
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array, IntArray, Objects, provides, require

# Memory for one block of queries.
QUERY_BYTES = 64 * 2**20


class BasePreimage(Estimator, ABC):
    r"""Find objects whose images lie near given points of feature space.

    A point is given by its coordinates :math:`\beta` in a fitted feature map; a kernel feature
    map turns them into an expansion :math:`\Psi=\sum_ja_j\varphi(x_j)`. The two objectives differ
    by the part of :math:`\varphi(z)` outside the axes:

    .. math::
        J_\text{full}(z)=\|\varphi(z)-\Psi\|^2,\qquad J_\text{coord}(z)=\|c(z)-\beta\|^2 .
    """

    __module__ = "isthmus.preimage"

    #: What it needs of the feature map and its objects, see :mod:`isthmus.typing`.
    needs: frozenset[str] = frozenset({"vectors"})
    #: What it offers.
    provides: frozenset[str] = frozenset({"solve"})

    def fit(self, objects: Objects, feature_map: Any, coordinates: Array | None = None) -> Self:
        """Prepare for solving; return self.

        Parameters
        ----------
        objects : objects to learn from, usually those the feature map was fitted on.
        feature_map : fitted transformer
            Its coordinates are what :meth:`solve` is given.
        coordinates : ndarray of shape (n_objects, n_components), optional
            Coordinates of ``objects``, if they are already known; by default
            ``feature_map.transform(objects)``, or those of the training objects if the feature
            map was fitted on a Gram matrix.
        """
        offered = provides(feature_map)
        kinds = offered & {"vectors", "objects"}
        if not kinds:  # the map leaves it to the data
            kinds = frozenset({"vectors" if looks_like_table(objects) else "objects"})
        require(
            self,
            offered | kinds,
            of=f"the feature map {shortened(feature_map)}",
            hint="CandidatePreimage takes any transformer of any objects, LearnedPreimage any of "
            "vectors.",
        )
        if "vectors" in self.needs:
            objects = _check_vectors(self, objects)
        if coordinates is None:
            coordinates = _coordinates_of(objects, feature_map, offered)
        coordinates = check_array(
            coordinates, dtype=[np.float64, np.float32], input_name="coordinates", estimator=self
        )
        check_length(self, n_objects(objects), len(coordinates), what="coordinates as objects")
        self._fit(objects, feature_map, coordinates)
        self.feature_map_, self.objects_, self.coordinates_ = feature_map, objects, coordinates
        return self

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        """Whatever else a pre-image prepares; an error leaves the former fit untouched."""

    def solve(self, coordinates: Array, start: Objects = None) -> Objects:
        """Return one object for each row of ``coordinates``.

        Parameters
        ----------
        coordinates : array of shape (n, n_components)
        start : objects or None, default=None
            One object per row, or a single one for all, from which a search starts instead of the
            nearest training objects. Pre-images that do not search ignore it.
        """
        check_is_fitted(self)
        coordinates = self._check_queries(coordinates)
        start = None if start is None else self._check_start(start, len(coordinates))
        # Queries are independent: solve enough at once for fast matrix products, but no more.
        block_size = max(32, QUERY_BYTES // (8 * max(1, self._numbers_per_query())))
        blocks = block_slices(len(coordinates), 1, block_size=block_size)
        with threads_for(self._operations(min(block_size, len(coordinates)))):
            return np.concatenate(
                [
                    self._solve(coordinates[rows], None if start is None else take(start, rows))
                    for rows in blocks
                ]
            )

    @abstractmethod
    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        """Objects for a block of queries, as an array."""

    def _check_start(self, start: Objects, n_queries: int) -> Objects:
        """One starting object per query."""
        if "vectors" in self.needs:
            start = check_array(np.atleast_2d(start), dtype=np.float64, input_name="start")
            if start.shape[1] != self.objects_.shape[1]:
                raise ValueError(
                    f"{type(self).__name__} finds vectors of {self.objects_.shape[1]} entries. "
                    f"Got a start of shape {start.shape} instead."
                )
        else:
            start = check_list(start, type(self).__name__)
        if n_objects(start) == 1:
            start = take(start, np.zeros(n_queries, dtype=int))
        check_length(self, n_queries, n_objects(start), what="rows of start as of coordinates")
        return start

    def _numbers_per_query(self) -> int:
        """How many numbers one query needs in memory."""
        return 1

    def _operations(self, n_queries: int) -> float:
        """Operations of a typical product, by which BLAS gets its threads; all of them by default.

        A search is many short steps, and most queries end long before the last.
        """
        return np.inf

    def objective(self, coordinates: Array, objects: Objects) -> Array:
        """The distance that is minimised, for each pair of a point and an object, shape (n,)."""
        check_is_fitted(self)
        coordinates = self._check_queries(coordinates)
        check_length(self, len(coordinates), n_objects(objects), what="objects as coordinates")
        if getattr(self, "criterion", "coord") == "coord":
            residual = np.asarray(self.feature_map_.transform(objects)) - coordinates
            return np.einsum("ij,ij->i", residual, residual)
        return self.full_objective(coordinates, objects)

    def full_objective(self, coordinates: Array, objects: Objects) -> Array:
        r""":math:`\|\varphi(z_i)-\Psi_i\|^2` of each pair, shape (n,)."""
        return squared_distances(self.feature_map_, objects, coordinates)

    def nearest(self, coordinates: Array, n_neighbors: int) -> tuple[Array, IntArray]:
        """Distances and indices of the objects nearest in coordinates, nearest first."""
        return nearest_points(coordinates, self.coordinates_, n_neighbors)

    def _check_queries(self, coordinates: Array) -> Array:
        if not _is_plain(coordinates):  # for one query the check takes as long as an iteration
            coordinates = check_array(
                coordinates,
                dtype=[np.float64, np.float32],
                input_name="coordinates",
                estimator=self,
            )
        expected = self.coordinates_.shape[1]
        if coordinates.shape[1] != expected:
            raise ValueError(
                f"{type(self).__name__} was fitted with {expected} coordinates per object. "
                f"Got shape {coordinates.shape} instead."
            )
        return coordinates


def _is_plain(X: Any) -> bool:
    """Whether ``X`` is a table of finite real numbers already."""
    table = type(X) is np.ndarray and X.ndim == 2 and X.size > 0
    return bool(table and X.dtype in (np.float64, np.float32) and np.isfinite(X).all())


def _check_vectors(owner: Any, objects: Objects) -> Array:
    try:
        return check_array(
            objects, dtype=[np.float64, np.float32], input_name="objects", estimator=owner
        )
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{type(owner).__name__} finds vectors, so its objects must be rows of a numeric "
            f"array; CandidatePreimage takes any object. {error}"
        ) from error


def _coordinates_of(objects: Objects, feature_map: Any, offered: frozenset[str]) -> Array:
    if "pairwise" not in offered:
        return np.asarray(feature_map.transform(objects))
    # The map was fitted on a Gram matrix, and the objects are not its rows.
    return np.asarray(feature_map.coordinates_)
