"""Unsupervised kernel regression."""

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._progress import ProgressLine
from isthmus.features import KernelPCA
from isthmus.kernels import FunctionKernel, Kernel, as_kernel, check_objects
from isthmus.manifold._ukr_fit import learn
from isthmus.manifold._ukr_map import latent_map, project
from isthmus.manifold._ukr_options import Options, check_options
from isthmus.typing import Array, IntArray

SAMPLE_ROUNDS = 100  # draws outside the domain are repeated at most so often


def l1_kernel(X: Any, Z: Any) -> Array:
    r"""The kernel :math:`\frac12(\|x\|_1+\|z\|_1-\|x-z\|_1)`, whose squared distance is L1.

    >>> l1_kernel(np.array([[1.0, 2.0]]), np.array([[2.0, 0.0]])).tolist()
    [[1.0]]
    """
    from scipy.spatial.distance import cdist

    X, Z = np.asarray(X, dtype=float), np.asarray(Z, dtype=float)
    sizes = np.abs(X).sum(axis=1)[:, None] + np.abs(Z).sum(axis=1)
    return 0.5 * (sizes - cdist(X, Z, "cityblock"))


class UnsupervisedKernelRegression(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""A smooth manifold through the data, with both directions of the map.

    The latent places :math:`x_i` of the rows :math:`y_i` are all there is to learn; the map
    from latent space back to the data is the kernel regression

    .. math:: f(x)=\sum_i\frac{K(x-x_i)}{\sum_jK(x-x_j)}\,y_i

    or a local polynomial of higher degree, and a new row is projected on the nearest point of
    the manifold. Training minimises :math:`\frac1N\sum_jL(f_{-j}(x_j)-y_j)`, the error of
    reconstructing each row from the others [Klanke2007]_.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of latent space.
    density_kernel : {"quartic", "gaussian", "triweight", "student"}, default="quartic"
        What weighs neighbours, see :func:`isthmus.regression.density_kernel`. Kernels of compact
        support cost the number of neighbours instead of the number of rows.
    degree : {"auto", 0, 1, 2}, default="auto"
        Degree of the local polynomial. Degree 2 removes the inward bias of local means where the
        manifold is curved, degree 0 is better where rows have many components and few
        neighbours. "auto" takes degree 2 where it lowers the left-out error before training by a
        tenth or more.
    cross_terms : bool, default=True
        Whether degree 2 has products of coordinates. Without, rotating latent space changes the
        map.
    loss : {"squared", "huber", "epsilon"}, default="squared"
        "huber" resists outliers; "epsilon" looks for the smoothest manifold that passes within
        ``epsilon`` of the rows, from a fit with the squared loss.
    delta : float or "auto", default="auto"
        Where Huber's loss turns linear; "auto" is a tenth of the median residual at the start.
    epsilon : float or None, default=None
        Tolerance of the loss "epsilon", in units of the data.
    tube : {"ball", "cube"}, default="ball"
        Whether ``epsilon`` bounds the length of a residual or each of its components.
    validation : {"auto", "loo"}, int or None, default="auto"
        Which rows may not help to reconstruct a row in training: itself ("loo"), itself and its
        K - 1 nearest neighbours (K), none (None; then a penalty is needed). "auto" is "loo" at
        degrees 0 and 1, 5 at degree 2, and None with landmarks.
    penalty : mapping or None, default=None
        Weights of "extension" (:math:`\frac1N\|X\|^2`), "density" (:math:`-\frac1N\sum\log
        p(x_i)`) and "density_variance" (which keeps the ends of a manifold smooth when K
        neighbours are left out), in units of the error of reconstructing all rows by their mean,
        so that they do not depend on the scale of the data.
    n_landmarks : int or None, default=None
        Reconstruct from so many means of the rows instead of all rows.
    smoothness : float or None, default=None
        Adapt the outputs of the centres to the rows after training, with so much weight on the
        roughness of the map; None leaves them as they are. Needs a kernel with second
        derivatives.
    data_kernel : kernel, "l1" or None, default=None
        Learn the manifold in the feature space of a kernel, of any objects that it compares.
        ``inverse_transform`` then goes through a pre-image. "l1" has as squared distance the sum
        of absolute differences.
    preimage : pre-image or None, default=None
        With ``data_kernel``: how objects are found; None takes a good one for the kernel.
    init : "auto", str, tuple of str or array of shape (n_samples, n_components)
        Embeddings tried as starts: "pca", "isomap", "lle", "laplacian", "neighbors". Each is
        scaled, and the one with the lowest objective is trained. "auto" tries "pca",
        "neighbors" and "isomap". An array is taken as it is.
    n_neighborhoods : int, default=2
        How many neighbourhoods are tried with each spectral embedding, from the smallest that
        connects the data.
    n_init : int, default=1
        How many of the best starts are trained; the lowest objective wins.
    homotopy : "auto", sequence of mappings or None, default="auto"
        Stages gone through first, each with penalties as in ``penalty`` or a ``"box"``, the half
        width of a cube that holds the places. "auto" lowers the extension penalty in seven
        stages if training starts from principal components.
    solver : {"lbfgs", "rprop"}, default="lbfgs"
        "rprop" is the published solver.
    max_iter : int, default=200
        Most steps of a stage.
    tol : float, default=1e-2
        Training ends when ten steps lower the objective by less than this share. The objective
        is a training error, see the guide: pressing it further does not pay.
    held_out : float, default=0.0
        Share of the rows that is kept from training to say when to stop; they join the manifold
        at their projections.
    ridge : float, default=1e-6
        Added to the moments of local polynomials, but to that of the constant.
    n_jobs : int or None, default=None
        Threads for ``n_init`` runs.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        Show a progress line.

    Attributes
    ----------
    degree_ : int
        The degree chosen.
    embedding_ : ndarray of shape (n_samples, n_components)
        Latent places of the training rows.
    centres_, outputs_ : ndarrays of shape (n_centres, n_components) and (n_centres, n_features)
        What the map is made of; outputs are relative to ``mean_``.
    mean_ : ndarray of shape (n_features,)
    density_floor_ : float
        Lowest latent density of a training row; projections stay where it is at least that.
    start_ : str
        The start that won.
    objective_ : float
        The objective reached.
    loss_curve_ : list of float
        Objective after each step, over all stages.
    n_iter_ : int
    feature_map_ : KernelPCA
        With ``data_kernel`` only.

    Notes
    -----
    A step costs O(p (d + q)) for p pairs of rows within reach of each other with a kernel of
    compact support, O(N² (d + q)) with others; no matrix of N² entries is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.manifold import UnsupervisedKernelRegression
    >>> t = np.linspace(0, np.pi, 80)
    >>> Y = np.c_[np.cos(t), np.sin(t)]
    >>> model = UnsupervisedKernelRegression(1, random_state=0).fit(Y)
    >>> bool(abs(np.corrcoef(model.embedding_[:, 0], t)[0, 1]) > 0.99)
    True
    >>> y = model.complete([[np.cos(1.0), np.nan]])
    >>> bool(abs(y[0, 1] - np.sin(1.0)) < 0.05)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        density_kernel: Any = "quartic",
        degree: Any = "auto",
        cross_terms: bool = True,
        loss: str = "squared",
        delta: Any = "auto",
        epsilon: float | None = None,
        tube: str = "ball",
        validation: Any = "auto",
        penalty: Any = None,
        n_landmarks: int | None = None,
        smoothness: float | None = None,
        data_kernel: Any = None,
        preimage: Any = None,
        init: Any = "auto",
        n_neighborhoods: int = 2,
        n_init: int = 1,
        homotopy: Any = "auto",
        solver: str = "lbfgs",
        max_iter: int = 200,
        tol: float = 1e-2,
        held_out: float = 0.0,
        ridge: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.density_kernel = density_kernel
        self.degree = degree
        self.cross_terms = cross_terms
        self.loss = loss
        self.delta = delta
        self.epsilon = epsilon
        self.tube = tube
        self.validation = validation
        self.penalty = penalty
        self.n_landmarks = n_landmarks
        self.smoothness = smoothness
        self.data_kernel = data_kernel
        self.preimage = preimage
        self.init = init
        self.n_neighborhoods = n_neighborhoods
        self.n_init = n_init
        self.homotopy = homotopy
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.held_out = held_out
        self.ridge = ridge
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    # Fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> "UnsupervisedKernelRegression":
        """Learn the manifold of the rows of ``X``; return self."""
        options = check_options(self)
        X = self._check(X, reset=True)
        feature_map = self._fitted_feature_map(X)
        data = X if feature_map is None else np.asarray(feature_map.transform(X), dtype=float)
        mean = data.mean(axis=0)
        Y = data - mean
        self._check_rows(Y, options)
        kept, groups = self._distinct(Y, options)
        if isinstance(options.starts, np.ndarray):
            self._check_start(options.starts, Y)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        with ProgressLine("manifold", verbose=self.verbose) as line:
            found = learn(Y[kept], _at(options, kept), rng, line.update)
        if not found.settled:
            warnings.warn(
                f"UnsupervisedKernelRegression has not settled after max_iter = {self.max_iter} "
                "steps: the last ten still lowered the objective by more than tol = "
                f"{self.tol:g} of it. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if feature_map is not None:
            self.feature_map_ = self._encoder = feature_map
        self.degree_ = found.smoother.degree
        self.mean_, self.embedding_ = mean, found.X[groups]
        self.centres_, self.outputs_ = found.centres, found.outputs
        self.density_floor_, self.start_ = found.floor, found.start
        self.objective_, self.loss_curve_ = found.value, found.curve
        self.n_iter_ = len(found.curve)
        self._smoother, self._starts, self._images = found.smoother, found.X, found.images
        return self

    def _check(self, X: Any, *, reset: bool, missing: bool = False) -> Any:
        if self.data_kernel is not None and not missing:
            return check_objects(self, X, self._data_kernel(), reset=reset)
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite="allow-nan" if missing else True,
        )
        return np.asarray(X)

    def _check_rows(self, Y: Array, options: Options) -> None:
        n, q = len(Y), options.q
        if n <= q + 1:
            raise ValueError(
                f"UnsupervisedKernelRegression with {q} latent dimensions needs at least {q + 2} "
                f"rows. Got n_samples = {n}."
            )
        if not np.any(np.abs(Y) > 1e-12 * max(1.0, float(np.abs(self._scale(Y)).max()))):
            raise ValueError(
                "UnsupervisedKernelRegression needs rows that differ. Got constant data: every "
                "row is the same."
            )

    @staticmethod
    def _scale(Y: Array) -> Array:
        return np.sqrt(np.mean(Y**2, axis=0))

    def _distinct(self, Y: Array, options: Options) -> tuple[IntArray, IntArray]:
        """Numbers of the rows to train on, and for every row which of them it is."""
        everything = np.arange(len(Y))
        if options.n_excluded == 0:
            return everything, everything
        rounded = np.round(Y / np.sqrt(np.mean(Y**2)), 10)
        _, first, groups = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
        if len(first) == len(Y):
            return everything, everything
        if len(first) <= options.q + 1:
            raise ValueError(
                f"UnsupervisedKernelRegression with {options.q} latent dimensions needs at least "
                f"{options.q + 2} different rows. Got {len(first)} among n_samples = {len(Y)}."
            )
        warnings.warn(
            f"UnsupervisedKernelRegression has found {len(Y) - len(first)} repeated rows, which "
            "would reconstruct each other without error when a row is left out: each counts once.",
            UserWarning,
            stacklevel=3,
        )
        order = np.argsort(first)
        position = np.empty(len(first), dtype=int)
        position[order] = np.arange(len(first))
        return first[order], position[groups.ravel()]

    def _check_start(self, start: Array, Y: Array) -> None:
        expected = (len(Y), self.n_components)
        if start.shape != expected or not np.all(np.isfinite(start)):
            raise ValueError(
                "The 'init' parameter of UnsupervisedKernelRegression must be an array of finite "
                f"numbers of shape {expected}. Got shape {start.shape} instead."
            )

    def _data_kernel(self) -> Kernel:
        if isinstance(self.data_kernel, str) and self.data_kernel == "l1":
            return FunctionKernel(l1_kernel, on_vectors=True)
        kernel = as_kernel(self.data_kernel)
        if kernel.pairwise:
            raise ValueError(
                "UnsupervisedKernelRegression refuses data_kernel='precomputed': without the rows "
                "there is nothing to project and no pre-image. Give the kernel itself."
            )
        return kernel

    def _fitted_feature_map(self, X: Any) -> KernelPCA | None:
        if self.data_kernel is None:
            return None
        return KernelPCA(kernel=self._data_kernel(), preimage=self.preimage).fit(X)

    # From data to latent space --------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the latent places of the points of the manifold nearest to the rows of ``X``."""
        check_is_fitted(self, "embedding_")
        return self._project(self._check(X, reset=False))[0]

    def _project(self, X: Any) -> tuple[Array, Array]:
        """Latent places and squared distances (in feature space with a data kernel)."""
        outside: Any = 0.0
        if self.data_kernel is not None:
            X, objects = np.asarray(self._encoder.transform(X), dtype=float), X
            outside = np.maximum(self._encoder.residual_norms(objects, X), 0.0)
        places, errors = project(
            X - self.mean_,
            self.centres_,
            self.outputs_,
            self._smoother,
            self._starts,
            self._images,
            self.density_floor_,
        )
        return places, errors + outside

    def reconstruct(self, X: Any) -> Array:
        """Return the points of the manifold nearest to the rows of ``X``."""
        return self.inverse_transform(self.transform(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative mean squared distance of the rows of ``X`` from the manifold."""
        check_is_fitted(self, "embedding_")
        return -float(np.mean(self._project(self._check(X, reset=False))[1]))

    def complete(self, X: Any) -> Array:
        """Fill in the missing (NaN) components of the rows of ``X``.

        A row is projected by the components it has, which come back unchanged; the others are
        those of the point found. A row with none gets the densest training row's.
        """
        check_is_fitted(self, "embedding_")
        if self.data_kernel is not None:
            raise ValueError(
                "UnsupervisedKernelRegression.complete refuses data_kernel: a row that is not "
                "whole has no place in feature space."
            )
        X = self._check(X, reset=False, missing=True)
        places, _ = project(
            X - self.mean_,
            self.centres_,
            self.outputs_,
            self._smoother,
            self._starts,
            self._images,
            self.density_floor_,
            n_starts=3,
        )
        return np.where(np.isnan(X), self.inverse_transform(places), X)

    def score_samples(self, X: Any) -> Array:
        """Return the log of the latent density where the rows of ``X`` project, (n,)."""
        return np.log(self.latent_density(self.transform(X)))

    # From latent space to data --------------------------------------------------------

    def inverse_transform(self, Z: Any) -> Any:
        """Return the points of the manifold at latent places ``Z``, shape (n, n_features).

        With ``data_kernel``: objects whose images are near those points of feature space. Far
        from all training places, the nearest training output is returned.
        """
        check_is_fitted(self, "embedding_")
        Z = self._check_latent(Z)
        values = latent_map(Z, self.centres_, self.outputs_, self._smoother).f + self.mean_
        if self.data_kernel is None:
            return values
        return self.feature_map_.inverse_transform(values)

    def jacobian(self, Z: Any) -> Array:
        """Return the derivatives of the map at latent places, (n, n_features, n_components).

        With ``data_kernel`` the features are the coordinates of ``feature_map_``.
        """
        check_is_fitted(self, "embedding_")
        Z = self._check_latent(Z)
        at = latent_map(Z, self.centres_, self.outputs_, self._smoother, jacobian=True)
        assert at.jacobian is not None
        return at.jacobian

    def latent_density(self, Z: Any) -> Array:
        r"""Return :math:`p(z)=\frac1n\sum_iK(z-x_i)`, between 0 and 1, at latent places, (n,)."""
        check_is_fitted(self, "embedding_")
        return latent_map(
            self._check_latent(Z), self.centres_, self.outputs_, self._smoother
        ).density

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draw points of the manifold, dense where training rows are.

        A centre is drawn, displaced by the density kernel (Student's by a Gaussian, as its own
        moments are infinite), and refused where the density is below that of all training rows.
        """
        check_is_fitted(self, "embedding_")
        rng = check_random_state(random_state)
        places = np.empty((0, self.centres_.shape[1]))
        for _ in range(SAMPLE_ROUNDS):
            drawn = self.centres_[rng.randint(len(self.centres_), size=n_samples)]
            drawn = drawn + self._displacements(n_samples, rng)
            places = np.vstack([places, drawn[self.latent_density(drawn) >= self.density_floor_]])
            if len(places) >= n_samples:
                break
        return self.inverse_transform(places[:n_samples])

    def _displacements(self, n: int, rng: np.random.RandomState) -> Array:
        q, kernel = self.centres_.shape[1], self._smoother.kernel
        steps = rng.normal(size=(n, q))
        if not kernel.compact:
            return steps
        power = {"quartic": 2, "triweight": 3}[kernel.name]
        # The squared radius of a point with density [1 - s]^power in q dimensions.
        radius = np.sqrt(rng.beta(q / 2, power + 1, size=n))
        return steps * (radius / np.linalg.norm(steps, axis=1))[:, None]

    # Reduced sets: see isthmus.reduction.compress ---------------------------------------

    def _compressible_part(self) -> tuple["UnsupervisedKernelRegression", str]:
        if self.data_kernel is None:
            raise ValueError(
                "UnsupervisedKernelRegression without data_kernel has no expansion to compress: "
                "fit it with n_landmarks instead."
            )
        # Projections evaluate fewer kernels; pre-images keep all they know.
        return copy.copy(self), "_encoder"

    def _check_latent(self, Z: Any) -> Array:
        Z = check_array(Z, dtype=np.float64, estimator=self, input_name="Z")
        if Z.shape[1] != self.centres_.shape[1]:
            raise ValueError(
                f"UnsupervisedKernelRegression has {self.centres_.shape[1]} latent dimensions: "
                f"expected an array of shape (n, {self.centres_.shape[1]}). Got shape {Z.shape} "
                "instead."
            )
        return np.asarray(Z)


def _at(options: Options, kept: IntArray) -> Options:
    """The same options for some of the rows: a given start is theirs."""
    if isinstance(options.starts, np.ndarray):
        return replace(options, starts=np.asarray(options.starts[kept], dtype=float))
    return options
