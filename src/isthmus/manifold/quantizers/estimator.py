"""K-harmonic means as an estimator of clusters."""

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from isthmus._checks import check_int, check_scale
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, integer, jobs, real, seed
from isthmus._warnings import warn
from isthmus.blocks.drawing import take_rows
from isthmus.blocks.fitting import open_fit
from isthmus.blocks.folding import gather
from isthmus.blocks.rows import Rows, open_rows
from isthmus.blocks.slices import block_slices
from isthmus.manifold.quantizers.harmonic import (
    LEAST,
    Centres,
    HarmonicSums,
    descend,
    harmonic_sums,
    merge_sums,
)
from isthmus.smoothers.kernel_rows import squared_distances
from isthmus.typing import Array, IntArray


class KHarmonicMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    r"""Clusters whose centres hardly depend on where the search begins.

    Minimises the mean over rows of the harmonic mean of powers of the distances to all centres,

    .. math:: \frac1N\sum_i\frac{K}{\sum_j\|x_i-c_j\|^{-p}} ,

    by the fixed point :math:`c_j=\sum_iw_{ij}x_i/\sum_iw_{ij}`,
    :math:`w_{ij}=d_{ij}^{-p-2}/(\sum_kd_{ik}^{-p})^2` [ZhangHsu1999]_. The nearest centre
    dominates, as in k-means, but rows that no centre serves well weigh more, so that centres move
    to where they are missing.

    Parameters
    ----------
    n_clusters : int, default=8
    power : float, default=3.5
        The exponent :math:`p\ge2` of the papers, which call it p. The first one has 2; larger ones
        find clusters more reliably.
    n_init : int, default=1
        Number of random starts; the one with the smallest error is kept.
    max_iter : int, default=300
    tol : float, default=1e-6
        The descent ends where the error changes by less than this share of it.
    random_state : int, RandomState or None
        Rows at which the centres begin.
    n_jobs : int or None, default=None
        Threads that read blocks of rows.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    labels_ : ndarray of shape (n_samples,)
        Number of the nearest centre.
    inertia_ : float
        The error, in units of the data to the power :math:`p`.
    n_iter_ : int
    history_ : list of float
        The error before each step.

    Notes
    -----
    In more than some ten columns all centres are about as far from a row, and many of them meet in
    one place: take k-means there. A step is a sum over rows, so that ``fit`` takes rows in blocks
    (a ``np.memmap``, zarr, Dask, a function that returns an iterator), too.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import KHarmonicMeans
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(m, 0.1, size=(30, 2)) for m in (1.0, 4.0, 9.0)])
    >>> model = KHarmonicMeans(3, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_[:, 0]).round(0)
    array([1., 4., 9.])
    >>> np.sort(model.memberships([[1.1, 1.0]]).round(2))
    array([[0., 0., 1.]])
    """

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_clusters": integer(1),
        "power": real(2, 1000),
        "n_init": integer(1),
        "max_iter": integer(1),
        "tol": real(0),
        "random_state": seed,
        "n_jobs": jobs,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        power: float = 3.5,
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.power = power
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centres of the rows of ``X``; return self.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows in blocks
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight two counts like two rows.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        check_scale(self, X)
        given = [X]
        if sample_weight is not None:
            given.append(
                _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            )
        return self._fit_rows(open_rows(self, *given, names=("X", "sample_weight")))

    def _fit_blocks(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows that are read block by block, once per step."""
        rows = open_fit(self, X, sample_weight)
        rows.require_passes("once per step")
        return self._fit_rows(rows)

    def _fit_rows(self, rows: Rows) -> Self:
        n = rows.count()
        k = check_int(self.n_clusters, "n_clusters", self, low=1, high=n, why="the number of rows")
        mean, spread = _mean_and_spread(rows)
        rng = check_random_state(self.random_state)
        best: Centres | None = None
        for _ in range(self.n_init):
            begin = take_rows(rows, np.sort(rng.choice(n, k, replace=False)))[0]
            found = descend(
                partial(_sums_of_rows, rows, mean, spread, float(self.power), self.n_jobs),
                (np.asarray(begin, dtype=np.float64) - mean) / spread,
                power=float(self.power),
                max_iter=self.max_iter,
                tol=float(self.tol),
            )
            if best is None or min(found.errors) < min(best.errors):
                best = found
        assert best is not None
        if not best.converged:
            warn(
                f"KHarmonicMeans has not converged in max_iter={self.max_iter} steps. Raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        unit = _power(spread, float(self.power))
        self.cluster_centers_ = best.centres * spread + mean
        self.history_ = [error * unit for error in best.errors]
        self.inertia_, self.n_iter_ = min(self.history_), len(best.errors)
        labels = gather(rows, _labels_of_block, state=self.cluster_centers_, n_jobs=self.n_jobs)
        self.labels_ = labels.astype(np.intp)
        return self

    def predict(self, X: Any) -> IntArray:
        """Return the number of the nearest centre of each row."""
        X = self._rows(X)
        found: IntArray = _nearest_of_block(X, state=self.cluster_centers_)
        return found

    def transform(self, X: Any) -> Array:
        """Return the distances of the rows from all centres, (n_samples, n_clusters)."""
        X = self._rows(X)
        found = np.empty((len(X), len(self.cluster_centers_)), dtype=X.dtype)
        for rows in block_slices(len(X), found.shape[1]):
            found[rows] = np.sqrt(_squared(X[rows], self.cluster_centers_))
        return found

    def memberships(self, X: Any) -> Array:
        r"""Return how much each centre has of each row, :math:`d_{ij}^{-p-2}/\sum_kd_{ik}^{-p-2}`.

        Shape (n_samples, n_clusters); rows sum to one.
        """
        distances = self.transform(X).astype(np.float64, copy=False)
        nearest = distances.min(axis=1)[:, None]
        scale = float(distances.max(initial=0.0)) or 1.0
        ratio = (nearest + LEAST * scale) / (distances + LEAST * scale)
        shares = ratio ** (self.power + 2)
        found: Array = shares / shares.sum(axis=1)[:, None]
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the error of the centres on the rows of ``X``."""
        X = self._rows(X)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        mean = self.cluster_centers_.mean(axis=0)
        sums = harmonic_sums(
            X.astype(np.float64) - mean, self.cluster_centers_ - mean, float(self.power), weights
        )
        return -float(len(self.cluster_centers_) * sums.error / sums.weight)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        check_scale(self, X)
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _power(spread: float, power: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float64(spread) ** power)


def _mean_and_spread(rows: Rows) -> tuple[Array, float]:
    """Means of the columns and the root of their mean variance, without weights."""
    origin = np.asarray(rows.example, dtype=np.float64)[0]
    n, total, squares = rows.fold(_moments_of_block, _add_moments, state=origin)
    mean = total / n
    spread = float(np.sqrt(max(np.mean(squares / n - mean**2), 0.0)))
    return origin + mean, spread or 1.0


def _moments_of_block(X: Array, *weights: Array, state: Array) -> tuple[int, Array, Array]:
    shifted = X - state
    return len(X), shifted.sum(axis=0), (shifted**2).sum(axis=0)


def _add_moments(
    a: tuple[int, Array, Array], b: tuple[int, Array, Array]
) -> tuple[int, Array, Array]:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _sums_of_rows(
    rows: Rows, mean: Array, spread: float, power: float, n_jobs: int | None, C: Array
) -> HarmonicSums:
    found: HarmonicSums = rows.fold(
        _sums_of_block, merge_sums, state=(C, mean, spread, power), n_jobs=n_jobs
    )
    return found


def _sums_of_block(X: Array, *weights: Array, state: Any) -> HarmonicSums:
    C, mean, spread, power = state
    Y = X - mean
    Y /= spread
    return harmonic_sums(Y, C, power, weights[0] if weights else None)


def _squared(X: Array, C: Array) -> Array:
    """Squared distances, about the centres' mean, where products lose least."""
    mean = C.mean(axis=0)
    return squared_distances(X - mean, C - mean)


def _nearest_of_block(X: Array, *weights: Array, state: Array) -> IntArray:
    found = np.empty(len(X), dtype=np.intp)
    for rows in block_slices(len(X), len(state)):
        found[rows] = _squared(X[rows], state).argmin(axis=1)
    return found


def _labels_of_block(X: Array, *weights: Array, state: Array) -> Array:
    """The same in a byte or two each, of which there is one for each row of all blocks."""
    return _nearest_of_block(X, state=state).astype(np.min_scalar_type(len(state)))
