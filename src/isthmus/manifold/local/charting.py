"""Charting: planes of local principal components, joined to one map with common coordinates."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from isthmus._checks import check_scale
from isthmus._parameters import Constraint, instance, integer, none, real, seed
from isthmus.linalg.products import product
from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import BaseLatentMap, MapValues
from isthmus.manifold.local.alignment import align
from isthmus.manifold.local.estimator import LocalPCA
from isthmus.manifold.local.models import Planes
from isthmus.manifold.projection import Search
from isthmus.typing import Array

# Latent points of training rows from which projections may start.
N_STARTS = 1000
OVERLAPS = (0.25, 0.5, 1.0, 2.0)
WHOLE_ROWS, ROWS_WITH_GAPS = Search(n_init=2, max_iter=40), Search(n_init=4, max_iter=40)


class Charting(BaseLatentMap):
    r"""Local planes joined to one smooth map with common coordinates.

    Each plane of a :class:`LocalPCA` is turned and shifted to common coordinates, such that the
    planes agree about the rows they share [Brand2003]_, [TehRoweis2003]_: an eigenproblem and
    linear equations of the size of the number of planes. Lengths along the planes are kept. Back
    to rows the planes are blended where they overlap,

    .. math:: f(x)=\sum_kw_k(x)\,P_k\bigl(A_k^{-1}(x)\bigr),\qquad
        w_k(x)\propto\pi_k\exp\bigl(-\tfrac1{2c}\textstyle\sum_ju_{kj}^2/\lambda_{kj}\bigr),

    with the coordinates :math:`u_k=A_k^{-1}(x)` in plane k, their variances :math:`\lambda_k` and
    the overlap c.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the planes and of the common coordinates, at most the number of columns.
    local : LocalPCA or None, default=None
        The planes; its ``n_components`` does not count. None is ``LocalPCA()``, whose number of
        planes is chosen.
    overlap : float or None, default=None
        How far planes reach, as a multiple of the variance of their rows. Planes that hardly
        overlap cannot be aligned; planes that reach far may meet others that are no neighbours.
        None takes the one of 0.25, 0.5, 1 and 2 whose map loses least of the rows.
    random_state : int, RandomState or None, default=0
        Of the planes.

    Attributes
    ----------
    local_ : LocalPCA
        The planes.
    maps_ : ndarray of shape (n_models, 1 + n_components, n_components)
        For each plane the image of its centre, and of its axes.
    overlap_ : float
    embedding_ : ndarray of shape (n_samples, n_components)
        Common coordinates of the training rows, in the units of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import make_half_circle
    >>> from isthmus.manifold import Charting, LocalPCA
    >>> Y, angle = make_half_circle(200, noise=0.1, random_state=0)
    >>> chart = Charting(1, local=LocalPCA(n_models=6)).fit(Y)
    >>> bool(abs(np.corrcoef(chart.embedding_[:, 0], angle)[0, 1]) > 0.99)
    True
    """

    __module__ = "isthmus.manifold"

    domain = Domain()

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "local": instance(LocalPCA) | none,
        "overlap": real(0, include_low=False) | none,
        "random_state": seed,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        local: LocalPCA | None = None,
        overlap: float | None = None,
        random_state: Any = 0,
    ):
        self.n_components = n_components
        self.local = local
        self.overlap = overlap
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find planes of the rows of ``X`` and align them; return self."""
        # In row order: sums then round alike, and near ties between overlaps end alike.
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        check_scale(self, X)
        rows = X.astype(np.float64, copy=False)
        if not np.ptp(rows, axis=0).any():
            raise ValueError(f"Charting needs rows that differ. Got {len(rows)} equal rows.")
        local = LocalPCA() if self.local is None else clone(self.local)
        local.set_params(n_components=self.n_components, random_state=self.random_state)
        self.local_ = local.fit(rows)
        ends = []
        for overlap in OVERLAPS if self.overlap is None else (float(self.overlap),):
            self._align(rows, overlap)
            found = self._search(rows, None, None)
            ends.append((float(np.mean(found.error)), overlap, found.latent))
        _, overlap, latent = min(ends, key=lambda end: end[0])
        if overlap != self.overlap_:
            self._align(rows, overlap)
        self.embedding_ = latent.astype(X.dtype, copy=False)
        return self

    def _align(self, rows: Array, overlap: float) -> None:
        """Find the maps of the planes for one overlap."""
        planes = self.local_.planes_
        Z, R = planes.coordinates(rows), shares_of_planes(planes, rows, overlap)
        self.overlap_, self.floor_ = overlap, -np.inf
        self.maps_ = align(planes.axes, Z, R)
        self.inverses_ = np.array([linalg.pinv(A[1:], rtol=1e-8) for A in self.maps_])
        lifted = np.concatenate([np.ones((*R.shape, 1)), Z], axis=2)
        places = np.einsum("nk,nks,ksq->nq", R, lifted, self.maps_, optimize=True)
        # Rounding must not shut out the row that defines the floor.
        lowest = float(self._shares(places)[2].min())
        self.floor_ = lowest - 1e-9 * (1 + abs(lowest))
        some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), N_STARTS)).astype(int))
        self.places_ = places[some]
        self.images_ = self.evaluate(self.places_).values

    # The map ------------------------------------------------------------------------------

    def _shares(self, Z: Array) -> tuple[Array, Array, Array]:
        """Coordinates in all planes (n, K, q), shares of the planes (n, K), and density (n,)."""
        U = np.einsum("nkq,kqr->nkr", Z[:, None] - self.maps_[:, 0], self.inverses_, optimize=True)
        L = -0.5 / self.overlap_ * np.sum(U**2 / self.local_.variances_, axis=2)
        L += np.log(self.local_.shares_)
        top = L.max(axis=1, keepdims=True)
        W = np.exp(L - top)
        total = W.sum(axis=1, keepdims=True)
        return U, W / total, (top + np.log(total))[:, 0]

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return the blended planes at common coordinates, with Jacobians if asked for.

        Feasible are places that planes reach as well as they reach some training row.
        """
        U, W, density = self._shares(Z)
        K, q = W.shape[1], U.shape[2]
        local = self.local_
        # The map is linear in these: a centre and axes for each plane.
        M = np.vstack([local.means_, local.components_.reshape(K * q, -1)])

        def combine(w: Array, wu: Array) -> Array:
            return product(np.hstack([w, wu.reshape(len(Z), K * q)]), M)

        values = combine(W, W[:, :, None] * U)
        feasible = density >= self.floor_
        if not jacobian:
            return MapValues(values, None, feasible)
        slopes = np.empty((*values.shape, Z.shape[1]))
        pull = -U / (self.overlap_ * local.variances_)
        steep = np.einsum("nkr,kqr->nkq", pull, self.inverses_, optimize=True)
        steep = W[:, :, None] * (steep - np.einsum("nk,nkq->nq", W, steep)[:, None])
        for a in range(Z.shape[1]):
            dW = steep[:, :, a]
            dU = dW[:, :, None] * U + W[:, :, None] * self.inverses_[:, a]
            slopes[:, :, a] = combine(dW, dU)
        return MapValues(values, slopes, feasible)

    def starts(self) -> tuple[Array, Array]:
        """Return places of training rows, and their images."""
        return self.places_, self.images_

    def search_settings(self, *, gaps: bool) -> Search:
        """Return how rows are projected: those with gaps from more starts."""
        return ROWS_WITH_GAPS if gaps else WHOLE_ROWS


def shares_of_planes(planes: Planes, Y: Array, overlap: float) -> Array:
    """How much rows belong to planes that reach farther than their own rows, (n, K)."""
    wider = Planes(
        planes.shares,
        planes.centres,
        planes.axes,
        overlap * planes.variances,
        planes.noises,
    )
    L = wider.log_densities(Y)
    R = np.exp(L - L.max(axis=1, keepdims=True))
    return np.asarray(R / R.sum(axis=1, keepdims=True))
