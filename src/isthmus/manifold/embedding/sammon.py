"""Sammon's mapping: distances kept, short ones above all."""

from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from isthmus._parameters import Constraint, real
from isthmus._warnings import warn
from isthmus.manifold.embedding.base import BaseEmbedding
from isthmus.manifold.embedding.loops import sammon_sums
from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array


def sammon_stress(X: Array, D: Array) -> tuple[float, Array]:
    r"""Sammon's stress of places (n, q) for distances (n, n), and its gradient.

    .. math:: E=\frac1{\sum_{i<j}D_{ij}}\sum_{i<j}\frac{(D_{ij}-\|x_i-x_j\|)^2}{D_{ij}}
    """
    total, slope = sammon_sums(np.ascontiguousarray(X), D)
    size = D.sum() / 2
    return total / size, slope / size


class SammonMapping(BaseEmbedding):
    r"""An embedding that keeps the distances of the rows, short ones above all.

    Minimises the stress [Sammon1969]_

    .. math:: E=\frac1{\sum_{i<j}D_{ij}}\sum_{i<j}\frac{(D_{ij}-\|x_i-x_j\|)^2}{D_{ij}}

    over places :math:`x_i` by L-BFGS with the exact gradient, in O(n²q) per step. Rows come back
    from places by local linear regression, and new rows go to the place whose image is nearest.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the places.
    init : {"auto", "pca", "isomap"} or array-like of shape (n_samples, n_components), \
            default="auto"
        Start. ``"auto"`` descends from both and keeps the lower stress.
    n_neighbors : int, optional
        Neighbours in the graph of the start ``"isomap"``; None takes as few as connect the rows,
        4 to 10.
    n_landmarks : int or None, default=1000
        At most this many rows are embedded, chosen far from each other; the others are
        projected on the map of these. None embeds all.
    max_iter : int, default=500
        Maximum number of steps of each descent.
    tol : float, default=1e-7
        A descent ends where a step lowers the stress by less than this share.
    random_state : int, RandomState instance or None, default=None
        For the choice of landmarks.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Places of the training rows; equal rows have one place.
    stress_ : float
        The stress of the landmarks.
    places_, rows_ : ndarray
        Places and rows of the landmarks, of which the map back is made.
    n_iter_ : int
        Steps of the descent that was taken.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import SammonMapping
    >>> rng = np.random.default_rng(0)
    >>> flat = rng.normal(size=(60, 2))
    >>> X = flat @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T  # a plane in five columns
    >>> model = SammonMapping(2).fit(X)
    >>> bool(model.stress_ < 1e-8), bool(-model.score(X) < 0.1)
    (True, True)
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {"tol": real(0)}

    def __init__(
        self,
        n_components: int = 2,
        *,
        init: Any = "auto",
        n_neighbors: int | None = None,
        n_landmarks: int | None = 1000,
        max_iter: int = 500,
        tol: float = 1e-7,
        random_state: Any = None,
    ):
        self.n_components = n_components
        self.init = init
        self.n_neighbors = n_neighbors
        self.n_landmarks = n_landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _embed(self, Y: Array, given: Array | None, rng: np.random.RandomState) -> Array:
        D = cdist(Y, Y)
        if given is not None:
            starts = [given]
        else:
            names = ("pca", "isomap") if self.init == "auto" else (self.init,)
            starts = [self._start(Y, name) for name in names]
        found = [self._descend(start, D) for start in starts]
        best = min(found, key=lambda f: float(f.fun))
        # A stress that is rounding has nowhere to go.
        if best.status == 1 and best.fun > 1e-12:
            warn(
                f"SammonMapping has not settled in {self.max_iter} steps: raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.stress_, self.n_iter_ = float(best.fun), int(best.nit)
        return np.asarray(best.x.reshape(starts[0].shape))

    def _descend(self, start: Array, D: Array) -> Any:
        def stress(flat: Array) -> tuple[float, Array]:
            value, slope = sammon_stress(flat.reshape(start.shape), D)
            return value, slope.ravel()

        return minimize_lbfgs(
            stress,
            start.ravel(),
            maxiter=self.max_iter,
            maxfun=2 * self.max_iter,
            ftol=self.tol,
            gtol=1e-12,
        )
