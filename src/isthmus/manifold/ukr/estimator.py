"""Unsupervised kernel regression."""

import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from isthmus._checks import check_scale
from isthmus._parameters import (
    Constraint,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import check_objects
from isthmus.linalg.threads import threads_for
from isthmus.manifold.latent_map import BaseLatentMap, MapValues
from isthmus.manifold.projection import Search
from isthmus.manifold.ukr.checks import (
    as_data_kernel,
    check_rows,
    distinct_rows,
    preimage_of,
)
from isthmus.manifold.ukr.constraints import CONSTRAINTS
from isthmus.manifold.ukr.learning import learn_manifold
from isthmus.manifold.ukr.map import ROWS_WITH_GAPS, WHOLE_ROWS, KernelMap, latent_map
from isthmus.manifold.ukr.settings import check_settings
from isthmus.typing import OBJECT_KINDS, Array

SAMPLE_ROUNDS = 100  # draws outside the domain are repeated this many times at most


class UnsupervisedKernelRegression(BaseLatentMap):
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
    density_kernel : {"quartic", "epanechnikov", "triweight", "gaussian", "student"}
        What weighs neighbours, see :func:`isthmus.smoothers.density_kernel`. The first three
        have compact support and cost the number of neighbours instead of the number of rows.
        The slope of "epanechnikov" jumps where a neighbour comes into reach: its gradient is
        right almost everywhere, but solvers stop earlier, and "quartic", the default, is
        preferred.
    degree : {"auto", 0, 1, 2} or LocalPolynomial, default="auto"
        Degree of the local polynomial. Degree 2 removes the inward bias of local means where the
        manifold is curved, degree 0 is better where rows have many components and few
        neighbours. "auto" takes degree 2 where it lowers the left-out error before training by a
        tenth or more; the published one is 0. ``LocalPolynomial(degree, cross_terms, ridge)``
        says more.
    loss : str or loss, default="squared"
        "squared", "huber", "huber_norm", "epsilon", or a piece of :mod:`isthmus.losses`. "huber"
        resists outliers in single columns, "huber_norm", which is ``Huber(shape="ball")``, rows
        that are outliers as a whole (and goes with ``data_kernel``). "epsilon", which is
        ``Epsilon(power=2, shape="ball")``, looks for the smoothest manifold that passes within a
        tolerance of the rows, from a fit with the squared loss; its width, in units of the data, is
        by default 0.7 of the 95 % quantile of the left-out residuals. A parameter of the loss that
        is "auto" is set from the residuals at the start.
    validation : {"auto", "loo"}, int or None, default="auto"
        Which rows may not help to reconstruct a row in training: itself ("loo"), itself and its
        K - 1 nearest neighbours (K), none (None; then a penalty is needed). "auto" is "loo" at
        degrees 0 and 1, 5 at degree 2, and None with landmarks.
    penalty : mapping or None, default=None
        Weights of "extension" (:math:`\frac1N\|X\|^2`), "density" (:math:`-\frac1N\sum\log
        p(x_i)`) and "density_variance" (which keeps the ends of a manifold smooth when K
        neighbours are left out), in units of the error of reconstructing all rows by their mean,
        so that they do not depend on the scale of the data.
    n_landmarks : int, Landmarks or None, default=None
        Reconstruct from this many means of the rows instead of all rows: a step costs O(N n)
        pairs at most, so that 100 000 rows of ten columns take about half a minute.
        ``Landmarks(n, method, smoothness)`` says which means, and adapts what they reconstruct.
    data_kernel : kernel, "l1", FeatureSpace or None, default=None
        Learn the manifold in the feature space of a kernel, of any objects that it compares.
        ``inverse_transform`` then goes through a pre-image, which
        ``FeatureSpace(kernel, preimage)`` names. "l1" has as squared distance the sum of absolute
        differences.
    init : "auto", str, tuple of str, Starts or array of shape (n_samples, n_components)
        Embeddings tried as starts: "pca", "isomap", "lle", "laplacian", "neighbors". Each is
        scaled, and the one with the lowest objective is trained; besides, one that shows clearly
        more of the distances along the data, since a sheet that is still curled reconstructs its
        rows too. "auto" tries "pca", "neighbors" and "isomap".
        ``Starts(names, n_neighborhoods, n_init)`` trains several, and with a ``memory`` keeps
        embeddings for further fits. An array is taken as it is.
    homotopy : "auto", sequence of mappings or None, default="auto"
        Stages gone through first, each with penalties as in ``penalty``, a ``"box"``, the half
        width of a cube that holds the places, or a ``"floor"`` below 1: the least latent density
        of a row's place, where 1 is that of all places in one (a logarithmic barrier keeps it).
        A stage may have a ``"max_iter"`` of its own. "auto" lowers the extension penalty in
        seven stages if training starts from principal components.
    solver : {"lbfgs", "rprop"} or Descent, default="lbfgs"
        "rprop" is the published solver, which takes more steps; ``Descent(method, held_out)``
        keeps rows from training to say when to stop.
    max_iter : int, default=200
        Maximum number of iterations in a stage.
    tol : float, default=1e-2
        Training ends when ten steps lower the objective by less than this share. The objective is a
        training error, see the guide: lowering it further does not pay off.
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
    feature_map_, encoder_ : KernelPCA
        With ``data_kernel`` only: what finds objects for points of the feature space, and what
        encodes objects. They are the same unless the model has been compressed.

    Notes
    -----
    A step costs O(p (d + q)) for p pairs of rows within reach of each other with a kernel of
    compact support, O(N² (d + q)) with others; no matrix of N² entries is kept. From 100 columns
    on, with a loss of lengths ("squared", "huber_norm"), training works in principal components:
    in all of them where there are fewer rows than columns, which changes nothing, and in those
    that hold 98 % of the variance where they are at most half as many; ``objective_`` is then that
    of these components, and the map is made of the whole rows.

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

    __module__ = "isthmus.manifold"

    _constraints: ClassVar[dict[str, Constraint]] = CONSTRAINTS

    def __init__(
        self,
        n_components: int = 2,
        *,
        density_kernel: Any = "quartic",
        degree: Any = "auto",
        loss: Any = "squared",
        validation: Any = "auto",
        penalty: Any = None,
        n_landmarks: Any = None,
        data_kernel: Any = None,
        init: Any = "auto",
        homotopy: Any = "auto",
        solver: Any = "lbfgs",
        max_iter: int = 200,
        tol: float = 1e-2,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.n_components = n_components
        self.density_kernel = density_kernel
        self.degree = degree
        self.loss = loss
        self.validation = validation
        self.penalty = penalty
        self.n_landmarks = n_landmarks
        self.data_kernel = data_kernel
        self.init = init
        self.homotopy = homotopy
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # Fitting ------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> "UnsupervisedKernelRegression":
        """Learn the manifold of the rows of ``X``; return self."""
        settings = check_settings(self)
        data, feature_map = self._data(X)
        check_scale(self, data)
        mean = data.mean(axis=0)
        Y = data - mean
        check_rows(Y, float(np.abs(data).max()), settings)
        kept, groups = distinct_rows(Y, settings)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        # Near the spread of the rows, so that nothing depends on what they are measured in;
        # a power of two, so that nothing is rounded.
        unit = 2.0 ** np.round(0.5 * np.log2(np.mean(Y[kept] ** 2)))
        loss = settings.loss
        settings = replace(settings.at_rows(kept), loss=loss.in_units(unit))
        work = 2.0 * len(kept) ** 2 * Y.shape[1]
        with ProgressLine("manifold", verbose=self.verbose) as line, threads_for(work):
            found = learn_manifold(Y[kept] / unit, settings, rng, line.update)
        found = found.in_units(1 / unit, loss)
        if not found.settled:
            warn(
                f"UnsupervisedKernelRegression has not settled after max_iter = {self.max_iter} "
                "steps: the last ten still lowered the objective by more than tol = "
                f"{self.tol:g} of it. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        if feature_map is not None:
            self.feature_map_ = self.encoder_ = feature_map
        self._smoother = found.map.smoother
        self.degree_ = self._smoother.degree
        self.mean_, self.embedding_ = mean, found.X[groups]
        self.centres_, self.outputs_ = found.map.centres, found.map.outputs
        self.density_floor_, self.start_ = found.map.floor, found.start
        self.objective_, self.loss_curve_ = found.value, found.curve
        self.n_iter_ = len(found.curve)
        self._starts, self._images = found.map.places, found.map.images
        return self

    def _data(self, X: Any) -> tuple[Array, KernelPCA | None]:
        """Rows of numbers: ``X``, or coordinates in the feature space of the data kernel."""
        if self.data_kernel is None:
            return validate_data(self, X, dtype=np.float64), None
        kernel = as_data_kernel(self.data_kernel)
        X = check_objects(self, X, kernel, reset=True)
        feature_map = KernelPCA(kernel=kernel, preimage=preimage_of(self.data_kernel)).fit(X)
        return np.asarray(feature_map.transform(X), dtype=float), feature_map

    # The map ------------------------------------------------------------------------------

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """Return the map at latent points, relative to ``mean_``; nothing is checked.

        Feasible are points whose latent density is at least that of some training row.
        """
        return self._plain_map().evaluate(Z, jacobian)

    def starts(self) -> tuple[Array, Array]:
        """Return the latent places of the training rows, and their images."""
        return self._starts, self._images

    def encode(self, X: Any) -> Array:
        """Return rows relative to ``mean_``; with ``data_kernel`` in the feature space."""
        if self.data_kernel is None:
            return np.asarray(X) - self.mean_
        return np.asarray(self.encoder_.transform(X), dtype=float) - self.mean_

    def decode(self, values: Array) -> Any:
        """Return rows for values of the map; with ``data_kernel`` objects, by the pre-image."""
        rows = values + self.mean_
        return rows if self.data_kernel is None else self.feature_map_.inverse_transform(rows)

    def encoding_error(self, X: Any, codes: Array) -> Any:
        """Return squared distances from the feature space that ``data_kernel`` has learned."""
        if self.data_kernel is None:
            return 0.0
        return np.maximum(self.encoder_.residual_norms(X, codes + self.mean_), 0.0)

    def search_settings(self, *, gaps: bool) -> Search:
        """Return how rows are projected: those with gaps from three starts, whole ones from one."""
        return ROWS_WITH_GAPS if gaps else WHOLE_ROWS

    @property
    def provides(self) -> frozenset[str]:
        """What the manifold can do, and of what objects; see :mod:`isthmus.typing`."""
        kinds = frozenset({"vectors"})
        if self.data_kernel is not None:
            try:
                kinds = as_data_kernel(self.data_kernel).provides & OBJECT_KINDS
            except (TypeError, ValueError):
                kinds = frozenset()  # fit says what is wrong with the kernel
        return kinds | {"transform", "inverse"}

    def latent_density(self, Z: Any) -> Array:
        r"""Return :math:`p(z)=\frac1n\sum_iK(z-x_i)`, between 0 and 1, at latent places, (n,)."""
        check_is_fitted(self, "embedding_")
        Z, _ = self._check_latent(Z)
        return latent_map(Z, self.centres_, self.outputs_, self._smoother).density

    def sample_latent(self, n_samples: int, rng: np.random.RandomState) -> Array:
        """Return latent places drawn from the latent density.

        A centre is drawn, displaced by the density kernel (Student's by a Gaussian, as its own
        moments are infinite), and refused where the density is below that of all training rows.
        """
        places = np.empty((0, self.centres_.shape[1]))
        for _ in range(SAMPLE_ROUNDS):
            drawn = self.centres_[rng.randint(len(self.centres_), size=n_samples)]
            drawn = drawn + self._displacements(n_samples, rng)
            places = np.vstack([places, drawn[self.latent_density(drawn) >= self.density_floor_]])
            if len(places) >= n_samples:
                break
        return places[:n_samples]

    def _displacements(self, n: int, rng: np.random.RandomState) -> Array:
        q, kernel = self.centres_.shape[1], self._smoother.kernel
        steps = rng.normal(size=(n, q))
        if not kernel.compact:
            return steps
        power = {"epanechnikov": 1, "quartic": 2, "triweight": 3}[kernel.name]
        # The squared radius of a point with density [1 - s]^power in q dimensions.
        radius = np.sqrt(rng.beta(q / 2, power + 1, size=n))
        return steps * (radius / np.linalg.norm(steps, axis=1))[:, None]

    def _plain_map(self) -> KernelMap:
        return KernelMap(
            self.centres_,
            self.outputs_,
            self._smoother,
            self.density_floor_,
            self._starts,
            self._images,
        )

    def _rows(self, X: Any, *, gaps: bool = False) -> tuple[Any, Any]:
        if self.data_kernel is None:
            return super()._rows(X, gaps=gaps)
        objects = check_objects(self, X, as_data_kernel(self.data_kernel), reset=False)
        return objects, getattr(objects, "dtype", np.float64)

    def _check_gaps(self) -> None:
        if self.data_kernel is not None:
            raise ValueError(
                "UnsupervisedKernelRegression.complete refuses data_kernel: a row that is not "
                "whole has no place in feature space."
            )

    # Reduced sets: see isthmus.reduction.compress ---------------------------------------

    @property
    def expansion_(self) -> Expansion:
        """The functions that encode objects; only with ``data_kernel``."""
        if "encoder_" not in vars(self):
            raise AttributeError(
                "UnsupervisedKernelRegression without data_kernel has no expansion: to make it "
                "small, fit it with n_landmarks."
            )
        return self.encoder_.expansion_

    def with_expansion(self, expansion: Expansion) -> "UnsupervisedKernelRegression":
        """Return a fitted copy that encodes by these functions.

        Projections then evaluate fewer kernels; pre-images keep all they know.
        """
        model = copy.copy(self)
        model.encoder_ = self.encoder_.with_expansion(expansion)
        return model
