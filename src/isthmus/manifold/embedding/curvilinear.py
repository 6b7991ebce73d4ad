"""Curvilinear components: distances kept where places are near, so that data may unfold."""

from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from isthmus._parameters import Constraint, choice
from isthmus.manifold.embedding.base import BaseEmbedding
from isthmus.manifold.embedding.graph import (
    classical_scaling,
    neighbor_pairs,
    path_lengths,
)
from isthmus.manifold.embedding.loops import curvilinear_sums
from isthmus.manifold.embedding.sweeps import boxes_of, curvilinear_sweep
from isthmus.typing import Array

# Rates of the first and the last sweep.
RATES = (0.5, 0.01)
# The first reach in standard deviations of the places, and the last in nearest distances.
FIRST_REACH, LAST_REACH = 3.0, 1.0


def curvilinear_stress(X: Array, D: Array, reach: float) -> tuple[float, Array]:
    r"""The stress :math:`\frac12\sum_{i\ne j}(D_{ij}-d_{ij})^2F(d_{ij},\lambda)` and its gradient.

    The gradient is that with the pairs within reach held, as the published rule takes it.
    """
    total, slope, _ = curvilinear_sums(np.ascontiguousarray(X), D, reach)
    return float(total), slope


def unfold(
    start: Array, D: Array, rng: np.random.RandomState, *, max_iter: int, last: float
) -> Array:
    """Places after sweeps of stochastic descent, the reach and the rate falling exponentially."""
    at = boxes_of(start, D)
    first = max(FIRST_REACH * float(start.std(axis=0).max()), 2 * last)
    share = np.linspace(0.0, 1.0, max_iter)
    rates = RATES[0] * (RATES[1] / RATES[0]) ** share
    reaches = first * (last / first) ** share
    for rate, reach in zip(rates, reaches, strict=True):
        curvilinear_sweep(at, rng.permutation(len(start)), rate, reach)
    return at.places()


class CurvilinearComponents(BaseEmbedding):
    r"""An embedding that keeps the distances between places that are near each other.

    Minimises :math:`\frac12\sum_{i\ne j}(D_{ij}-d_{ij})^2F(d_{ij},\lambda)` over places with
    distances :math:`d_{ij}`, where F is 1 up to the reach :math:`\lambda` and 0 beyond it, and the
    reach falls from sweep to sweep [Demartines1997]_. Because F depends on places and not on rows,
    neighbours in the data may be torn apart: a ball is cut open, a roll unrolls. Distances
    :math:`D_{ij}` are Euclidean or, in curvilinear distance analysis, those along the neighbour
    graph [Lee2004]_. Rows come back from places by local linear regression, and new rows go to the
    place whose image is nearest.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the places.
    distance : {"euclidean", "graph"}, default="graph"
        Straight distances (CCA), or shortest paths from neighbour to neighbour (CDA).
    init : {"auto", "pca", "isomap"} or array-like of shape (n_samples, n_components), \
            default="auto"
        Start; ``"auto"`` is ``"isomap"`` for graph distances and ``"pca"`` for straight ones.
    n_neighbors : int, optional
        Neighbours in the graph; None takes as few as connect the rows, 4 to 10.
    n_landmarks : int or None, default=1000
        At most this many rows are embedded, chosen far from each other; the others are
        projected on the map of these. None embeds all.
    max_iter : int, default=100
        Number of sweeps over all rows.
    random_state : int, RandomState instance or None, default=None
        For the order of the rows in a sweep and the choice of landmarks.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the training rows; equal rows have one place.
    stress_ : float
        Mean squared difference of the distances within the last reach, in units of the data's
        variance.
    places_, rows_ : ndarray
        Places and rows of the landmarks, of which the map back is made.
    n_iter_ : int
        Number of sweeps.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import make_noisy_swiss_roll
    >>> from isthmus.manifold import CurvilinearComponents
    >>> Y, T = make_noisy_swiss_roll(300, noise=0.0, random_state=0)
    >>> model = CurvilinearComponents(2, random_state=0).fit(Y)
    >>> model.transform(Y[:3]).shape
    (3, 2)
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {"distance": choice("euclidean", "graph")}

    def __init__(
        self,
        n_components: int = 2,
        *,
        distance: str = "graph",
        init: Any = "auto",
        n_neighbors: int | None = None,
        n_landmarks: int | None = 1000,
        max_iter: int = 100,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.distance = distance
        self.init = init
        self.n_neighbors = n_neighbors
        self.n_landmarks = n_landmarks
        self.max_iter = max_iter
        self.random_state = random_state

    def _embed(self, Y: Array, given: Array | None, rng: np.random.RandomState) -> Array:
        straight = cdist(Y, Y)
        if self.distance == "graph":
            D = path_lengths(Y, neighbor_pairs(Y, self.n_neighbors, straight))
        else:
            D = straight
        if given is None:
            best = "isomap" if self.distance == "graph" else "pca"
            name = best if self.init == "auto" else self.init
            if name == "isomap" and self.distance == "graph":  # the paths are there already
                given = classical_scaling(D, self.n_components)
            else:
                given = self._start(Y, name)
        nearest = straight.min(axis=1, where=straight > 0, initial=np.inf)
        last = LAST_REACH * float(nearest.max())
        # Places that coincide would never part.
        scale = float(np.sqrt(np.mean(given**2))) or 1.0
        begin = given + 1e-6 * scale * rng.normal(size=given.shape)
        X = unfold(begin, D, rng, max_iter=self.max_iter, last=last)
        total, _, near = curvilinear_sums(X, D, last)
        self.n_iter_ = int(self.max_iter)
        self.stress_ = float(total / max(near, 1))
        return X
