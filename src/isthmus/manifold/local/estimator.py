"""Local principal components: a plane for every part of the data."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_scale
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, boolean, choice, integer, none, real, seed
from isthmus._warnings import warn
from isthmus.manifold.local.fitting import METHODS, choose_number, fit_planes
from isthmus.manifold.local.models import Planes
from isthmus.typing import Array, IntArray


class LocalPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""A principal plane for every part of the data.

    One plane cannot follow a curved shape, but several can, each in its own part of the data. A row
    is described by the number of its plane and by its coordinates there. Coordinates of different
    models have nothing to do with each other: :class:`Charting` turns them into common ones.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of each plane, at most the number of columns.
    n_models : int or None, default=None
        Number of planes; None chooses the one of 1, 2, 3, 4, 6, ..., 32 under which a fifth of the
        rows, left out, is most probable.
    method : {"mixture", "reconstruction", "kmeans"}, default="mixture"
        How rows are divided among the planes.

        - ``"mixture"``: a mixture of probabilistic principal components by EM, each a Gaussian with
          the same variance in all directions across its plane [TippingBishop1999]_.
        - ``"reconstruction"``: each row belongs to the plane that reconstructs it best
          [Kambhatla1997]_. It loses least, but rows far from each other may share a plane.
        - ``"kmeans"``: principal components within the cells of k-means.
    blend : bool, default=False
        Whether ``reconstruct`` blends the planes,
        :math:`P(y)=\sum_kG_k(y)P_k(y)/\sum_jG_j(y)` with Gaussians :math:`G_k` at their centres as
        wide as their rows are spread [Bregler1994]_, instead of taking the row's own. Then it is
        continuous.
    n_init : int, default=1
        Number of starts, by k-means.
    max_iter : int, default=200
    tol : float, default=1e-4
        EM ends where the log likelihood of a row rises by less.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    shares_ : ndarray of shape (n_models,)
        Shares of the rows.
    means_ : ndarray of shape (n_models, n_features)
    components_ : ndarray of shape (n_models, n_components, n_features)
    variances_ : ndarray of shape (n_models, n_components)
        Variances along the axes.
    noises_ : ndarray of shape (n_models,)
        Variance in each direction across the plane.
    labels_ : ndarray of shape (n_samples,)
    trials_ : list of dict
        Numbers of models that were tried.
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.datasets import make_half_circle
    >>> from isthmus.manifold import LocalPCA
    >>> Y, _ = make_half_circle(200, noise=0.1, random_state=0)
    >>> local = LocalPCA(1, n_models=4).fit(Y)
    >>> codes = local.transform(Y)  # numbers of the models, and coordinates
    >>> bool(np.mean(np.sum((local.inverse_transform(codes) - Y) ** 2, axis=1)) < 0.5)
    True
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "n_models": integer(1) | none,
        "method": choice(*METHODS),
        "blend": boolean,
        "n_init": integer(1),
        "max_iter": integer(1),
        "tol": real(0),
        "random_state": seed,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_models: int | None = None,
        method: str = "mixture",
        blend: bool = False,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = 0,
    ):
        self.n_components = n_components
        self.n_models = n_models
        self.method = method
        self.blend = blend
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the planes of the rows of ``X``; return self."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        check_scale(self, X)
        rows = X.astype(np.float64, copy=False)
        q = min(int(self.n_components), rows.shape[1])
        origin = rows.mean(axis=0)
        spread = float(np.sqrt(np.mean(np.sum((rows - origin) ** 2, axis=1))))
        if spread <= 1e-14 * float(np.abs(origin).max()):
            raise ValueError(f"LocalPCA needs rows that differ. Got {len(rows)} equal rows.")
        Y = (rows - origin) / spread
        n_distinct = len(np.unique(Y, axis=0))
        if self.n_models is not None and self.n_models > n_distinct:
            raise ValueError(
                f"LocalPCA needs at least one distinct row for each of n_models={self.n_models} "
                f"planes. Got {n_distinct} distinct rows. Reduce n_models."
            )
        rng = check_random_state(self.random_state)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": float(self.tol)}
        trials: list[dict[str, float]] = []
        n_models = self.n_models
        if n_models is None and n_distinct < 10:
            n_models = 1
        elif n_models is None:
            n_models, trials = choose_number(Y, q, self.method, rng, **limits)
        found = fit_planes(Y, q, n_models, self.method, rng, n_init=self.n_init, **limits)
        if not found.settled:
            warn(
                f"LocalPCA has not settled in max_iter={self.max_iter} steps. Raise max_iter.",
                ConvergenceWarning,
            )
        planes = found.planes.in_units(spread, origin)
        self.shares_, self.means_ = planes.shares, planes.centres
        self.components_, self.variances_ = planes.axes, planes.variances
        self.noises_, self.trials_, self.n_iter_ = planes.noises, trials, found.n_iter
        self.spreads_ = np.maximum(planes.variances.sum(axis=1), np.finfo(float).tiny) / q
        self.labels_ = self._numbers(rows)
        return self

    @property
    def provides(self) -> frozenset[str]:
        """What it can do; numbers of models are no coordinates that could be predicted."""
        return frozenset({"transform", "vectors"})

    @property
    def planes_(self) -> Planes:
        """The planes as one object."""
        return Planes(self.shares_, self.means_, self.components_, self.variances_, self.noises_)

    def nearest_model(self, X: Any) -> IntArray:
        """Return the number of each row's model, shape (n_samples,)."""
        check_is_fitted(self)
        return self._numbers(self._rows(X)[0])

    def transform(self, X: Any) -> Array:
        """Return the number of each row's model, and its coordinates there.

        Returns
        -------
        ndarray of shape (n_samples, 1 + n_components)
        """
        check_is_fitted(self)
        X, dtype = self._rows(X)
        numbers = self._numbers(X)
        Z = self.planes_.coordinates(X)[np.arange(len(X)), numbers]
        return np.column_stack([numbers, Z]).astype(dtype, copy=False)

    def inverse_transform(self, Z: Any) -> Array:
        """Return points of the planes: numbers of models, and coordinates there, back to rows."""
        check_is_fitted(self)
        Z = check_array(Z, dtype=[np.float64, np.float32], input_name="Z", estimator=self)
        K, q, _ = self.components_.shape
        if Z.shape[1] != 1 + q or not np.isin(Z[:, 0], np.arange(K)).all():
            raise ValueError(
                f"LocalPCA.inverse_transform needs {1 + q} columns: the number of a model, from 0 "
                f"to {K - 1}, and {q} coordinates. Got shape {Z.shape}, and numbers "
                f"{np.unique(Z[:, 0])[:5]}."
            )
        points = self.planes_.points(Z[:, 0].astype(int), Z[:, 1:].astype(np.float64))
        return points.astype(Z.dtype, copy=False)

    def reconstruct(self, X: Any) -> Array:
        """Return the projection of each row on its plane, or on all planes, blended."""
        check_is_fitted(self)
        X, dtype = self._rows(X)
        Z = self.planes_.coordinates(X)
        if not self.blend:
            numbers = self._numbers(X)
            found = self.planes_.points(numbers, Z[np.arange(len(X)), numbers])
            return found.astype(dtype, copy=False)
        G = self._blending(X)
        found = G @ self.means_ + np.einsum("nk,nkq,kqd->nd", G, Z, self.components_, optimize=True)
        return found.astype(dtype, copy=False)

    def reconstruction_error(self, X: Any) -> Array:
        """Return the squared distance of each row from its reconstruction, shape (n,)."""
        gaps = self.reconstruct(X) - self._rows(X)[0]
        return np.asarray(np.sum(gaps**2, axis=1))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative mean squared distance of the rows from their reconstructions."""
        return -float(np.mean(self.reconstruction_error(X)))

    def responsibilities(self, X: Any) -> Array:
        """Return the probability of each model given each row, (n_samples, n_models)."""
        check_is_fitted(self)
        X, dtype = self._rows(X)
        L = self.planes_.log_densities(X)
        R = np.exp(L - L.max(axis=1, keepdims=True))
        return np.asarray(R / R.sum(axis=1, keepdims=True)).astype(dtype, copy=False)

    def score_samples(self, X: Any) -> Array:
        """Return the log density of each row under the mixture of all models, shape (n,)."""
        check_is_fitted(self)
        return self.planes_.log_density(self._rows(X)[0])

    # Parts --------------------------------------------------------------------------------

    def _numbers(self, X: Array) -> IntArray:
        """Numbers of the models of rows in double precision."""
        planes = self.planes_
        if self.method == "mixture":
            return np.asarray(planes.log_densities(X).argmax(axis=1))
        of = planes.distances if self.method == "reconstruction" else planes.from_centres
        return np.asarray(of(X).argmin(axis=1))

    def _blending(self, X: Array) -> Array:
        """Shares of Gaussians at the centres, (n, K)."""
        L = -0.5 * self.planes_.from_centres(X) / self.spreads_
        L -= 0.5 * self.components_.shape[1] * np.log(self.spreads_)
        G = np.exp(L - L.max(axis=1, keepdims=True))
        return np.asarray(G / G.sum(axis=1, keepdims=True))

    def _rows(self, X: Any) -> tuple[Array, Any]:
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        check_scale(self, X)
        return X.astype(np.float64, copy=False), X.dtype

    @property
    def _n_features_out(self) -> int:
        return 1 + int(self.components_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
