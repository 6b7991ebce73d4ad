"""Kernel ridge regression on any objects, its penalty chosen by leave-one-out."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_scale
from isthmus._estimator import Estimator, altered
from isthmus._parameters import Constraint, boolean, choice, integer, none, real, seed, several
from isthmus.blocks.drawing import take_rows
from isthmus.blocks.fitting import open_fit, plain_arrays, refuse_blocks, require_outputs
from isthmus.kernels.base import Kernel
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.landmarks import draw_landmarks, is_single
from isthmus.kernels.objects import check_objects, n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.regression.capabilities import kinds_of_objects, named_or
from isthmus.regression.kernel_weights import KernelSmoother, RidgeSystem, check_columns
from isthmus.regression.left_out import drawn_folds, left_out_predictions
from isthmus.regression.outputs import check_counts, check_outputs
from isthmus.regression.ridge.by_landmarks import LandmarkFit, RowsInMemory, fit_by_landmarks
from isthmus.regression.ridge.exact import fine_objects, fit_exactly, training_system
from isthmus.regression.ridge.folds import left_out_of_folds
from isthmus.regression.ridge.in_blocks import fit_in_blocks
from isthmus.regression.ridge.landmarks import LandmarkSmoother
from isthmus.regression.ridge.offered import offered_kernels, offered_penalties, search_of
from isthmus.regression.ridge.search import AUTO, KERNELS, is_auto
from isthmus.regression.selection import CRITERIA, as_selection
from isthmus.typing import Array, Objects

DEFAULT_ALPHAS = tuple(10.0**power for power in np.arange(-8, 2.01, 0.5))
A_KERNEL = named_or(as_kernel, "a kernel, its name or a callable")


class KernelRidgeCV(KernelSmoother, MultiOutputMixin, RegressorMixin, Estimator):
    r"""Kernel ridge regression whose penalty is chosen by leave-one-out in closed form.

    .. math:: \min_{f}\ \sum_i\|y_i-f(x_i)-b\|^2+\alpha\|f\|_{\mathcal F}^2,
              \qquad f(x)=\sum_j c_j\,k(x_j,x).

    scikit-learn has ``RidgeCV`` and ``KernelRidge`` (of vectors only) but no combination of both.
    Here one decomposition gives the exact leave-one-out error of every penalty, and of every
    kernel offered; ``X`` is anything the kernel can compare.

    Parameters
    ----------
    kernel : "auto", kernel, name, or list of them, default="auto"
        Of a list, the one with the smallest leave-one-out error is taken. ``"auto"`` searches the
        widths of a Gaussian, from 1/8 to 16 times the median distance, as long as the error
        falls, and offers a linear kernel besides; of those within 2 % of the least error the
        narrowest is taken, because a wide Gaussian may be anything at rows far from all others.
        ``KernelRidge`` is linear and its Gaussian has the width :math:`\sqrt{d/2}` whatever the
        units of ``X``; neither is near the best on most data.
    alpha : "auto", float or sequence of float, default="auto"
        Penalty, or penalties to choose from. With a single one and a single kernel there is
        nothing to choose: one Cholesky factorisation, as in ``KernelRidge``, whose default is 1.
        ``"auto"`` offers :math:`10^{-10}` to :math:`10^2` times the mean squared length of the
        (centred) feature vectors, so that the units of ``X`` do not matter.
    fit_intercept : bool, default=True
        Fit a constant ``b`` that is not penalised. ``False`` gives ``KernelRidge`` exactly.
    n_landmarks : int or None, default=None
        Look for :math:`f` in the span of this many training objects, drawn at random (Nyström):
        O(n m²) time and memory of m² and a block of rows, instead of O(n³) and n². Use it beyond
        some 10 000 rows. With as many as there are rows the fit is the exact one. Then rows may
        also come in blocks (Dask, zarr, h5py, functions that return iterators), which are read
        twice: the model is that of the same rows in memory.
    cv : Selection, "loo", int or splitter, default="loo"
        How penalty and kernel are chosen: see :class:`Selection`. By default each of at most 2000
        rows is left out, of half as many for kernels; then all rows are fitted. Choosing costs
        eigendecompositions (one for each fold), fitting a Cholesky. With landmarks the penalty is
        chosen by the error of these rows left out of *all* rows, from one decomposition, and
        kernels are compared on four rows per landmark if these are more.
    solver : {"auto", "dense", "matrix-free"}, default="auto"
        How the system of all rows is solved. ``"dense"`` factors their Gram matrix;
        ``"matrix-free"`` computes it anew for each conjugate gradient, in memory of 1000 columns
        or, where it is slow, of half the rows; ``"auto"`` does so where the matrix does not fit.
    random_state : int, RandomState or None, default=0
        Draws the landmarks.

    Attributes
    ----------
    expansion_ : Expansion
        The function :math:`f+b` over the training objects, or over the landmarks; ``kernel_``,
        ``objects_``, ``dual_coef_`` and ``intercept_`` are its parts.
    kernel_ : kernel
        The kernel chosen, its width a number.
    alpha_ : float
        The penalty chosen.
    loo_error_ : float or None
        Its mean squared error on rows left out (None where nothing was to be chosen). Landmarks in
        single precision add their rounding errors to it.
    dual_coef_ : ndarray of shape (n_objects, n_outputs) or (n_objects,)
    intercept_ : ndarray of shape (n_outputs,) or float
    objects_ : the training objects, or the landmarks but for those that the others span

    Notes
    -----
    Systems are solved in double precision. Predictions have the type of the inputs; objects whose
    kernel values, in single precision, would add a hundredth to the error are kept as doubles.

    With landmarks, ``smooth`` and ``weights`` need the training objects, which the model keeps
    besides (a reference, not a copy). ``model.with_expansion(model.expansion_)`` has forgotten them
    and predicts the same, in a file that is as long as the landmarks are.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import KernelRidgeCV
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelRidgeCV().fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.999)
    True
    >>> many = np.linspace(0, 6, 3000)[:, None]
    >>> model = KernelRidgeCV(n_landmarks=50).fit(many, np.sin(many[:, 0]))
    >>> bool(model.score(many, np.sin(many[:, 0])) > 0.999), len(model.objects_) <= 50
    (True, True)
    """

    __module__ = "isthmus.regression"

    _keeps_system = False  # beyond the fit
    _system: RidgeSystem | None
    _rows: LandmarkSmoother | None
    _inputs: Any
    _origin: Array | None
    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": choice(AUTO) | A_KERNEL | several(A_KERNEL),
        "alpha": choice(AUTO) | real(0) | several(real(0)),
        "fit_intercept": boolean,
        "n_landmarks": integer(1) | none,
        "cv": CRITERIA,
        "solver": choice("auto", "dense", "matrix-free"),
        "random_state": seed,
    }

    def __init__(
        self,
        kernel: Any = AUTO,
        *,
        alpha: Any = AUTO,
        fit_intercept: bool = True,
        n_landmarks: int | None = None,
        cv: Any = "loo",
        solver: str = "auto",
        random_state: Any = 0,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.n_landmarks = n_landmarks
        self.cv = cv
        self.solver = solver
        self.random_state = random_state

    @property
    def provides(self) -> frozenset[str]:
        """What the machine can do, see :mod:`isthmus.typing`."""
        kinds = kinds_of_objects(KERNELS if is_auto(self.kernel) else self.kernel)
        words = {"predict", "several_outputs", "settled", "left_out"}
        # Of a Gram matrix nothing is kept to solve with again.
        return kinds | words if "pairwise" in kinds else kinds | words | {"weights"}

    @property
    def sums_to_one(self) -> bool:
        """Whether the weights of the training outputs do: where a constant is fitted."""
        return bool(self.fit_intercept)

    @property
    def kernel_(self) -> Kernel:
        """The kernel chosen, its width a number."""
        return self.expansion_.kernel

    @property
    def objects_(self) -> Objects:
        """The training objects."""
        return self.expansion_.objects

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the objects, of shape (n_objects, n_outputs) or (n_objects,)."""
        weights = self.expansion_.weights
        return weights[:, 0] if self._flat else weights

    @property
    def intercept_(self) -> Any:
        """The constant, an array of shape (n_outputs,) or a float."""
        offset = self.expansion_.offset
        return float(offset[0]) if self._flat else offset

    def with_expansion(self, expansion: Expansion) -> "KernelRidgeCV":
        """A fitted copy with another function, such as a shorter one; it has no weights."""
        return altered(
            self, expansion_=expansion, _system=None, _trained=False, _rows=None, _inputs=None
        )

    def settled(self) -> "KernelRidgeCV":
        """An unfitted copy with the kernel and the penalty that were chosen."""
        return KernelRidgeCV(
            self.kernel_,
            alpha=self.alpha_,
            fit_intercept=self.fit_intercept,
            n_landmarks=self.n_landmarks,
            solver=self.solver,
            random_state=self.random_state,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernels = offered_kernels(self)
        tags.input_tags.pairwise = kernels[0].pairwise
        tags.input_tags.sparse = all("sparse" in kernel.provides for kernel in kernels)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KernelRidgeCV":
        """Fit coefficients over the objects ``X`` for the outputs ``y``; return self.

        Parameters
        ----------
        X : objects
        y : array of shape (n,) or (n, n_outputs)
        sample_weight : array of shape (n,) or None, default=None
            How often each row counts; where one row is left out, one of its copies is.
        """
        kernels = offered_kernels(self)
        alphas = offered_penalties(self, len(kernels))
        selection = as_selection(self.cv, self)
        X = check_objects(self, X, kernels[0], reset=True, sparse=True)
        Y = check_outputs(self, y, n_objects(X))
        if kernels[0].vectors:
            check_scale(self, X)
        check_scale(self, Y, what="y")
        counts = check_counts(self, sample_weight, len(Y))
        Y = self._begin(Y)
        self._single = is_single(X)
        exact = self.n_landmarks is None or self.n_landmarks >= len(Y)
        search = search_of(self, kernels, alphas, selection, single=self._single and not exact)
        if self.n_landmarks is None or exact:
            kernel, *function, alpha, error, system = fit_exactly(
                search, X, Y, counts, inverse=self._keeps_system
            )
            self._keep(kernel, fine_objects(kernel, X, Y, function[0], error), *function)
            self.alpha_, self.loo_error_ = float(alpha), error
            self._system = system if self._keeps_system else None
        else:
            landmarks = self._draw_landmarks(len(Y))
            rows = RowsInMemory(landmarks, X, Y.astype(np.float64, copy=False), counts)
            found = fit_by_landmarks(search, rows, self.n_landmarks)
            self._keep_landmarks(found, single=self._single)
            self._inputs = X
        self._counts = counts
        return self

    def fit_left_out(self, X: Any, y: Any, n_folds: int) -> tuple["KernelRidgeCV", Array]:
        """Fit, and predict every row by a fit without its fold; return self and predictions.

        Kernel and penalty are those chosen on all rows. The ``n_folds`` folds, drawn with a fixed
        seed, cost together about as much as one more fit.
        """
        self._keeps_system = True
        try:
            self.fit(X, y)
        finally:
            del self._keeps_system
        system, self._system = self._system, None
        Y, found = np.asarray(y, dtype=np.float64), None
        if system is not None:
            folds = [test for _, test in drawn_folds(n_folds).split(Y)]
            C, outputs = self.expansion_.weights, Y.reshape(len(Y), -1)
            found = left_out_of_folds(system, C, outputs, self.alpha_, folds)
        if found is None:
            return self, left_out_predictions(self, X, Y, n_folds)
        return self, found.reshape(Y.shape)

    def _fit_blocks(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KernelRidgeCV":
        """The same from rows that are read block by block."""
        arrays = plain_arrays(X, y)
        if arrays is not None:
            return self.fit(*arrays, sample_weight)
        if self.n_landmarks is None:
            refuse_blocks(
                self, "without landmarks it needs all rows at once", instead="With n_landmarks it"
            )
        kernels = offered_kernels(self)
        if kernels[0].pairwise:
            refuse_blocks(self, "rows of a Gram matrix have as many columns as there are rows")
        rows = open_fit(self, X, y, sample_weight, objects=not kernels[0].vectors)
        require_outputs(self, rows)
        if rows.count() <= int(self.n_landmarks or 0):
            return self.fit(*take_rows(rows, np.arange(rows.count())))
        single = rows.checks[0].dtype == "float32"
        alphas = offered_penalties(self, len(kernels))
        search = search_of(self, kernels, alphas, as_selection(self.cv, self), single=single)
        rng = check_random_state(self.random_state)
        found = fit_in_blocks(search, rows, int(self.n_landmarks or 0), rng)
        self._begin(np.empty(1) if rows.checks[1].ndim == 1 else np.empty((1, 1)))
        self._keep_landmarks(found, single=single)
        self._trained = False
        return self

    def _draw_landmarks(self, n_rows: int) -> Any:
        return draw_landmarks(n_rows, self.n_landmarks or 0, check_random_state(self.random_state))

    def _begin(self, Y: Array) -> Array:
        """Nothing is known yet; return the outputs as columns."""
        self._flat, self._trained = Y.ndim == 1, True
        self._system = self._rows = self._inputs = self._origin = self._counts = None
        return Y[:, None] if self._flat else Y

    def _keep_landmarks(self, found: LandmarkFit, *, single: bool) -> None:
        features = found.system.features
        self._single, self._origin = single, features.origin
        self._keep(features.kernel, features.objects, *found.system.function(found.alpha))
        self.alpha_, self.loo_error_ = float(found.alpha), found.error

    def _keep(self, kernel: Kernel, objects: Objects, C: Array, offset: Array) -> None:
        # Of explicit features their weights are formed, a small difference of large coefficients.
        if is_single(objects) and "explicit" not in kernel.provides:
            C, offset = C.astype(np.float32), offset.astype(np.float32)
        self.expansion_ = Expansion(kernel, objects, C, offset)

    def predict(self, X: Any) -> Array:
        """Return the outputs for ``X``, block by block of its rows."""
        check_is_fitted(self)
        X = self._check_new(X)
        values = self.expansion_(X)
        if self._single and is_single(X):
            values = values.astype(np.float32, copy=False)
        return values[:, 0] if self._flat else values

    def _check_new(self, X: Any) -> Objects:
        return check_objects(self, X, self.kernel_, reset=False, sparse=True)

    def _training_system(self) -> RidgeSystem:
        """Factored when first asked for, and kept as long as the model is in memory."""
        if not self._trained or self.kernel_.pairwise:
            raise TypeError(
                "This KernelRidgeCV knows no weights of its training outputs: it was compressed, "
                "or fitted to rows in blocks."
                if not self._trained
                else "KernelRidgeCV on rows of a Gram matrix keeps none of them, so it has no "
                "weights. Give the whole matrix to Precomputed(matrix), and indices."
            )
        if self._system is None:
            self._system = training_system(
                self.kernel_,
                self.objects_,
                self.alpha_,
                center=bool(self.fit_intercept),
                counts=self._counts,
                solver=self.solver,
                owner=self,
            )
        return self._system

    def _training_rows(self) -> LandmarkSmoother:
        """The same with landmarks, whose training objects are kept besides."""
        if self._rows is None:
            self._rows = LandmarkSmoother.of_expansion(
                self.expansion_,
                self.alpha_,
                self._inputs,
                self._counts,
                center=bool(self.fit_intercept),
                origin=self._origin,
            )
        return self._rows

    def smooth(self, X: Any, G: Any) -> Array:
        check_is_fitted(self)
        if self._inputs is None:
            return super().smooth(X, G)
        G, flat = check_columns(self, G, n_objects(self._inputs))
        X, rows = self._check_new(X), self._training_rows()
        features = rows.system.features
        values = Expansion(features.kernel, features.objects, *rows.dual(G))(X)
        return values[:, 0] if flat else values

    def weights(self, X: Any) -> Array:
        check_is_fitted(self)
        if self._inputs is None:
            return super().weights(X)
        return self._training_rows().weights_of(self._check_new(X))

    smooth.__doc__, weights.__doc__ = KernelSmoother.smooth.__doc__, KernelSmoother.weights.__doc__

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_system": None, "_rows": None}
