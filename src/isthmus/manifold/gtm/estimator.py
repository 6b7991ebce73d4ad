"""Generative topographic mapping: a curved sheet of equal Gaussians, fitted by EM."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_int, check_length, check_scale
from isthmus._parameters import (
    Constraint,
    choice,
    instance,
    integer,
    jobs,
    none,
    numbers,
    real,
    seed,
    several,
    verbosity,
)
from isthmus.blocks.fitting import open_fit
from isthmus.blocks.rows import Rows, open_rows
from isthmus.manifold.domain import Domain
from isthmus.manifold.gtm.base import BaseNodeMixture
from isthmus.manifold.gtm.basis import GaussianBasis
from isthmus.manifold.gtm.landscape import Landscape
from isthmus.manifold.gtm.learning import FittedMap, learn_map
from isthmus.manifold.latent_map import MapValues
from isthmus.typing import Array

COORDINATES = ("mean", "mode", "nearest")


class GenerativeTopographicMapping(BaseNodeMixture):
    r"""A density on a curved sheet: equal Gaussians at the images of a latent grid.

    A row is an image :math:`f(x)=W^\top\phi(x)` of one of the nodes :math:`x_1,\dots,x_K` of a
    regular grid, all equally likely, plus noise,

    .. math:: p(y)=\frac1K\sum_k\mathcal N\bigl(y;\,f(x_k),\,\beta^{-1}I\bigr),\qquad
        W\sim\mathcal N(0,\alpha^{-1}I),

    with Gaussians :math:`\phi` on a coarser grid. The EM algorithm raises the likelihood of the
    rows in every step, and both of its halves have a closed form [Bishop1998]_. The precision
    :math:`\alpha` of the prior, the noise and the width of the basis are those under which the data
    are most probable [BishopSvensen1998]_. Entries may be missing (NaN): a row counts with its
    known entries.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions. The number of nodes grows exponentially with them.
    n_nodes : int, tuple of int or None, default=None
        Nodes on each latent axis; None takes 200 on one axis and about 625 in all on several.
        More are needed where the noise is small beside the distance of neighbouring images.
    basis : GaussianBasis or None, default=None
        Number and width of the basis functions; ``GaussianBasis()`` by default.
    alpha : float or "evidence", default="evidence"
        Precision of the prior on the weights, in units of the data's variance. The published
        map is given it; the evidence needs no rows left out to choose it.
    noise : float, "evidence" or "em", default="evidence"
        Standard deviation of the noise in each column. "em" is the published M-step, which
        maximises the likelihood and so underestimates the noise a little.
    coordinates : {"mean", "mode", "nearest"}, default="mean"
        What ``transform`` and ``complete`` return of the posterior: its mean, its most probable
        node, or the latent point whose image is nearest to the row.
    init : {"auto", "pca"} or array-like of shape (n_samples, n_components), default="auto"
        Where EM begins: on the principal plane, at latent points of the rows, or ("auto") on the
        plane or at an Isomap embedding of at most 1000 rows, whichever leads to more evidence.
        The plane is the published start, from which a rolled sheet may stay folded.
    max_iter : int, default=200
        Maximum number of EM steps.
    tol : float, default=1e-3
        EM ends where the penalised log-likelihood of a row changes by less.
    random_state : int, RandomState or None, default=0
        Which rows choose start and width.
    n_jobs : int or None, default=None
        Threads for the E-step.
    verbose : int, default=0

    Attributes
    ----------
    nodes_ : ndarray of shape (n_nodes, n_components)
    images_ : ndarray of shape (n_nodes, n_features)
    embedding_ : ndarray of shape (n_samples, n_components)
        Latent points of the training rows.
    noise_, alpha_, width_ : float
        The ones used; the width in units of the distance between basis functions.
    log_likelihood_, evidence_ : float
        Of a training row, the second up to a constant that is the same for all maps with as many
        basis functions.
    history_ : list of float
        Penalised log-likelihood of a row before each step, in units of the data's spread.
    trials_ : list of dict
        Start, width and evidence of what was tried.
    n_iter_ : int
    converged_ : bool
    start_ : str

    Notes
    -----
    A step costs O(NKd) for N rows and is a sum over rows: ``fit`` takes a ``np.memmap``, anything
    that :func:`isthmus.blocks.open_rows` reads several times, and needs memory for a block.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import GenerativeTopographicMapping
    >>> rng = np.random.default_rng(0)
    >>> a = rng.uniform(0, np.pi, 300)
    >>> X = np.c_[np.cos(a), np.sin(a)] + 0.05 * rng.normal(size=(300, 2))
    >>> X[0, 1] = np.nan  # what is not known is no trouble
    >>> gtm = GenerativeTopographicMapping(1).fit(X)
    >>> bool(abs(gtm.noise_ - 0.05) < 0.01)
    True
    >>> gtm.responsibilities(X).shape
    (300, 200)
    >>> bool(gtm.score_samples([[0.0, 1.0]]) > gtm.score_samples([[0.0, 0.0]]))
    True
    """

    __module__ = "isthmus.manifold"

    domain = Domain(-1.0, 1.0)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_components": integer(1),
        "n_nodes": integer(2) | several(integer(2)) | none,
        "basis": instance(GaussianBasis) | none,
        "alpha": real(0, include_low=False) | choice("evidence"),
        "noise": real(0, include_low=False) | choice("evidence", "em"),
        "coordinates": choice(*COORDINATES),
        "init": choice("auto", "pca") | numbers(2),
        "max_iter": integer(1),
        "tol": real(0),
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": verbosity,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_nodes: Any = None,
        basis: GaussianBasis | None = None,
        alpha: Any = "evidence",
        noise: Any = "evidence",
        coordinates: str = "mean",
        init: Any = "auto",
        max_iter: int = 200,
        tol: float = 1e-3,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.n_nodes = n_nodes
        self.basis = basis
        self.alpha = alpha
        self.noise = noise
        self.coordinates = coordinates
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn map, noise and prior from rows; return self.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or rows in blocks
            NaN is what is not known. Rows in blocks (a ``np.memmap``, zarr, h5py, a Dask
            collection, a function that returns an iterator of blocks) are read once per step.
        y : ignored
        """
        X = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            ensure_all_finite="allow-nan",
        )
        check_scale(self, X)
        return self._fit_rows(open_rows(self, X, missing=True))

    def _fit_blocks(self, X: Any, y: Any = None) -> Self:
        """Fit to rows that are read block by block, once per EM step."""
        rows = open_fit(self, X, missing=True)
        rows.require_passes("once per EM step")
        return self._fit_rows(rows)

    def _fit_rows(self, rows: Rows) -> Self:
        if not isinstance(self.init, str):
            check_length(self, rows.count(), len(self.init), what="latent points in init as rows")
        self._keep(learn_map(self, rows))
        self.embedding_ = self._embed(rows)
        return self

    def _keep(self, found: FittedMap) -> None:
        self.mean_, self.weights_, self.basis_ = found.mean, found.weights, found.basis
        self.nodes_ = found.nodes
        self.images_ = found.mean + found.basis(found.nodes) @ found.weights
        self.noise_, self.alpha_, self.width_ = found.noise, found.alpha, found.width
        self.log_likelihood_, self.evidence_ = found.log_likelihood, found.evidence
        self.history_, self.trials_, self.start_ = found.history, found.trials, found.start
        self.n_iter_, self.converged_ = len(found.history) - 1, found.converged

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return the map at latent points, with Jacobians if asked for; nothing is checked."""
        values, slopes = self.basis_.combine(Z, self.weights_, jacobian)
        return MapValues(self.mean_ + values, slopes, np.ones(len(Z), dtype=bool))

    def starts(self) -> tuple[Array, Array]:
        """Return the nodes and their images."""
        return self.nodes_, self.images_

    def sample_latent(self, n_samples: int, rng: np.random.RandomState) -> Array:
        """Return nodes, all of which are equally likely, (n_samples, q)."""
        chosen: Array = self.nodes_[rng.randint(len(self.nodes_), size=n_samples)]
        return chosen

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw rows of the model: images of nodes, with noise."""
        check_is_fitted(self)
        n = check_int(n_samples, "n_samples", self, low=1)
        rng = check_random_state(random_state)
        images = self.evaluate(self.sample_latent(n, rng)).values
        return np.asarray(images + self.noise_ * rng.normal(size=images.shape))

    def landscape(self, X: Any, y: Any, *, class_weight: str | None = None) -> Landscape:
        """Return a property of rows as a function of the map, and what it predicts of others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows whose property is known; they need not be those that the map was fitted on.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Classes (anything but floats), or numbers.
        class_weight : None or "balanced"
            "balanced" takes all classes for equally frequent.
        """
        return self._landscape(X, y, class_weight)

    @property
    def provides(self) -> frozenset[str]:
        """What the map can do, see :data:`isthmus.typing.CAPABILITIES`."""
        return frozenset({"transform", "inverse", "vectors", "posterior"})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
