"""Pre-images from distances to neighbours (multidimensional scaling)."""

from typing import Any, ClassVar

import numpy as np
from sklearn.isotonic import IsotonicRegression

from isthmus._checks import check_int
from isthmus._parameters import Constraint, choice, integer
from isthmus.kernels.points import squared_norms
from isthmus.linalg.nearest import nearest_points
from isthmus.preimage.base import BasePreimage
from isthmus.typing import Array, IntArray, Objects, provides

# How far beyond its neighbours, along each axis of their cloud, a pre-image may lie.
WIDEST = 10.0


class NeighborPreimage(BasePreimage):
    r"""Place the pre-image at the right distances from its nearest training objects.

    Distances in feature space become distances between vectors, :math:`d_i^2`, through the
    kernel (for the Gaussian :math:`d^2=-\gamma^{-1}\log k`); with the neighbours centred at
    :math:`\bar x`, the columns of :math:`X_n`, and :math:`d_{0,i}^2` their squared distances from
    it, the pre-image is

    .. math:: z=\bar x+\tfrac12(X_n^\top)^+\big(d_0-d-\overline{d_0-d}\big).

    There is no iteration and no kernel evaluation; the result lies in the affine span of the
    neighbours. The distances of a predicted point contradict each other, and narrow directions of
    the cloud of neighbours amplify that. So the result is kept within ten times the extent of the
    neighbours along every axis of the cloud (but not with the published ``"coordinates"``).

    Parameters
    ----------
    n_neighbors : int, default=10
        [Bakir2005]_ uses 3; more neighbours blur an image but reduce noise.
    distance : {"auto", "angle", "isotonic", "coordinates"}, default="auto"
        Where the distances :math:`d_i` come from. ``"angle"``: from the kernel's formula, with
        :math:`k(x_i,\Psi)` divided by the length of :math:`\Psi`, since :math:`\Psi` is shorter
        than any image. ``"isotonic"``: from the increasing function that best predicts input
        distances from feature distances on pairs of training objects; it needs no formula, so it
        works for precomputed and all other kernels. ``"coordinates"``: the published
        :math:`1-\|c_i-\beta\|^2/2`, which ignores the length of :math:`\Psi` and the components
        that were cut off. ``"auto"``: the first that the kernel allows.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.features import KernelPCA
    >>> from isthmus.preimage import NeighborPreimage
    >>> X = np.random.default_rng(0).uniform(size=(60, 2))
    >>> pca = KernelPCA(kernel="gaussian").fit(X)
    >>> Z = NeighborPreimage(5).fit(X, pca).solve(pca.transform(X[:3] + 0.01))
    >>> bool(np.abs(Z - X[:3] - 0.01).max() < 1e-3)
    True
    """

    __module__ = "isthmus.preimage"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_neighbors": integer(1),
        "distance": choice("auto", "angle", "isotonic", "coordinates"),
    }

    def __init__(self, n_neighbors: int = 10, *, distance: str = "auto"):
        self.n_neighbors = n_neighbors
        self.distance = distance

    @property
    def needs(self) -> frozenset[str]:  # type: ignore[override]
        """Distances through the kernel need a kernel from which they follow."""
        through_kernel = self.distance in ("angle", "coordinates")
        return frozenset({"vectors", "expansion", "distances"} if through_kernel else {"vectors"})

    def _fit(self, objects: Objects, feature_map: Any, coordinates: Array) -> None:
        check_int(
            self.n_neighbors, "n_neighbors", self, low=1, high=len(objects), why="number of objects"
        )
        self.distance_ = self.distance
        if self.distance == "auto":
            told = {"expansion", "distances"} <= provides(feature_map)
            self.distance_ = "angle" if told else "isotonic"
        if self.distance_ == "isotonic":
            self._relation, variance = distance_relation(coordinates, objects)
            self._noise = variance / 4  # the equations contain half of each squared distance
            return
        self._diagonal = feature_map.axes_.kernel.diag(objects)
        # <φ(x), Ψ> = <φ(x), φ̄> + β·(c(x) - b), b the offsets of the axes.
        self._origin_inner = feature_map.origin_(objects)[:, 0]

    def _numbers_per_query(self) -> int:
        k = self.n_neighbors
        return k * (4 * self.objects_.shape[1] + self.coordinates_.shape[1] + 4 * k)

    def _solve(self, coordinates: Array, start: Objects = None) -> Objects:
        feature_distances, near = self.nearest(coordinates, self.n_neighbors)
        dtype = self.objects_.dtype
        # Logarithms near one and narrow clouds: single precision is not enough here.
        X = self.objects_[near].astype(np.float64, copy=False)  # (n, k, d)
        coordinates = coordinates.astype(np.float64, copy=False)
        d2 = self._input_distances(coordinates, feature_distances, near)
        mean = X.mean(axis=1, keepdims=True)
        Xc = X - mean
        d0 = np.einsum("nkd,nkd->nk", Xc, Xc)
        target = 0.5 * (d0 - d2)
        target -= target.mean(axis=1, keepdims=True)
        noise = self._noise if self.distance_ == "isotonic" else 0.0
        widest = np.inf if self.distance_ == "coordinates" else WIDEST
        weights = neighbor_weights(Xc, target, noise, widest=widest)
        found = mean[:, 0] + np.einsum("nk,nkd->nd", weights, Xc)
        return found.astype(dtype, copy=False)

    def _input_distances(self, coordinates: Array, distances: Array, near: IntArray) -> Array:
        if self.distance_ == "isotonic":
            squared = self._relation.predict((distances**2).ravel())
            return squared.reshape(distances.shape)
        axes = self.feature_map_.axes_
        kernel = axes.kernel
        diagonal = self._diagonal[near]
        if self.distance_ == "coordinates":
            inner = diagonal - distances**2 / 2
            return kernel.squared_distances_from(inner, diagonal, diagonal)
        inner = self._origin_inner[near] + np.einsum(
            "nr,nkr->nk", coordinates, self.coordinates_[near] - axes.offset
        )
        norms = squared_norms(self.feature_map_, coordinates)
        return kernel.squared_distances_from(inner, diagonal, norms[:, None])


def neighbor_weights(Xc: Array, target: Array, noise: float, *, widest: float) -> Array:
    r"""Weights w of centred neighbours, (n, k), such that :math:`X_cX_c^\top w` meets ``target``.

    Least squares of least norm by the (k, k) Gram matrices, for all queries at once. If the
    distances have errors of variance ``noise``, a ridge of this over the spread of the neighbours
    keeps them from being amplified along narrow directions of the cloud. Along every axis of the
    cloud the result is no farther from its mean than ``widest`` times the farthest neighbour.
    """
    eigenvalues, U = np.linalg.eigh(Xc @ Xc.transpose(0, 2, 1))
    used = eigenvalues > 1e-10 * eigenvalues[:, -1:]
    safe = np.where(used, eigenvalues, 1.0)
    spread = np.maximum(eigenvalues.sum(axis=1), np.finfo(float).tiny) / Xc.shape[1]
    along = np.einsum("nkj,nk->nj", U, target) / (safe + noise / spread[:, None])
    # A column of U times the root of its eigenvalue gives the neighbours along an axis.
    limit = widest * np.abs(U).max(axis=1)
    return np.einsum("nkj,nj->nk", U, np.where(used, np.clip(along, -limit, limit), 0.0))


def distance_relation(
    coordinates: Array, objects: Array, *, n_pairs: int = 20_000
) -> tuple[IsotonicRegression, float]:
    """Increasing function from squared feature distances to squared input distances.

    Returns it with the variance of its error between near neighbours. It is fitted on pairs of
    training objects: half of them drawn at random, half near neighbours, for which it is used.
    """
    n = len(objects)
    rng = np.random.default_rng(0)
    first = rng.integers(n, size=n_pairs)
    second = rng.integers(n, size=n_pairs)
    some = rng.permutation(n)[: max(1, n_pairs // 20)]
    near = nearest_points(coordinates[some], coordinates, min(n, 20))[1]
    first = np.concatenate([first, np.repeat(some, near.shape[1])])
    second = np.concatenate([second, near.ravel()])
    feature = ((coordinates[first] - coordinates[second]) ** 2).sum(axis=1)
    between = ((objects[first] - objects[second]) ** 2).sum(axis=1)
    relation = IsotonicRegression(y_min=0.0, out_of_bounds="clip").fit(feature, between)
    error = relation.predict(feature[n_pairs:]) - between[n_pairs:]
    return relation, float(np.mean(error**2))
