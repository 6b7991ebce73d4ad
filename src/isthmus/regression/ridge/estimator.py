"""Kernel ridge regression on any objects, its penalty chosen by leave-one-out."""

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_floats, check_piece, check_scale
from isthmus._estimator import Estimator
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, choice, real, several
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_gram
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import check_objects, n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.regression.capabilities import kinds_of_objects, named_or
from isthmus.regression.kernel_weights import KernelSmoother, RidgeSystem, ridge_system
from isthmus.regression.outputs import check_outputs
from isthmus.regression.ridge.left_out import left_out_errors
from isthmus.regression.ridge.search import AUTO, KERNELS, explore_widths
from isthmus.regression.selection import CRITERIA, Choice, Selection, as_selection, every
from isthmus.typing import Array, IntArray, Objects

DEFAULT_ALPHAS = tuple(10.0**power for power in np.arange(-8, 2.01, 0.5))
A_KERNEL = named_or(as_kernel, "a kernel, its name or a callable")


class KernelRidgeCV(KernelSmoother, MultiOutputMixin, RegressorMixin, Estimator):
    r"""Kernel ridge regression whose penalty is chosen by leave-one-out in closed form.

    .. math:: \min_{f}\ \sum_i\|y_i-f(x_i)-b\|^2+\alpha\|f\|_{\mathcal F}^2,
              \qquad f(x)=\sum_j c_j\,k(x_j,x).

    scikit-learn has ``RidgeCV`` and ``KernelRidge`` but no combination of both, and its
    ``KernelRidge`` takes vectors only. Here one eigendecomposition gives the exact leave-one-out
    error of every penalty, and of every kernel offered; ``X`` is anything the kernel
    can compare.

    Parameters
    ----------
    kernel : "auto", kernel, name, or list of them, default="auto"
        Of a list, the one with the smallest leave-one-out error is taken. ``"auto"`` searches the
        widths of a Gaussian, from 1/8 to 16 times the median distance, as long as the error
        falls, and offers a linear kernel besides. ``KernelRidge`` is linear and its Gaussian has
        the width :math:`\sqrt{d/2}` whatever the units of ``X``; neither is near the best on most
        data.
    alpha : "auto", float or sequence of float, default="auto"
        Penalty, or penalties to choose from. With a single one and a single kernel there is
        nothing to choose: one Cholesky factorisation, as in ``KernelRidge``, whose default is 1.
        ``"auto"`` offers :math:`10^{-10}` to :math:`10^2` times the mean squared length of the
        (centred) feature vectors, so that the units of ``X`` do not matter.
    fit_intercept : bool, default=True
        Fit a constant ``b`` that is not penalised. ``False`` gives ``KernelRidge`` exactly.
    cv : Selection, "loo", int or splitter, default="loo"
        How penalty and kernel are chosen: see :class:`Selection`. By default each of at most 2000
        rows is left out, of half as many for kernels; then all rows are fitted. Choosing costs
        eigendecompositions (one for each fold), fitting a Cholesky.

    Attributes
    ----------
    expansion_ : Expansion
        The function :math:`f+b` over the training objects; ``kernel_``, ``objects_``,
        ``dual_coef_`` and ``intercept_`` are its parts.
    kernel_ : kernel
        The kernel chosen, its width a number.
    alpha_ : float
        The penalty chosen.
    loo_error_ : float or None
        Its mean squared error on rows left out (None where nothing was to be chosen). For inputs
        in single precision it counts what rounding errors of the kernel add to a prediction.
    dual_coef_ : ndarray of shape (n_samples, n_outputs) or (n_samples,)
    intercept_ : ndarray of shape (n_outputs,) or float
    objects_ : the training objects

    Notes
    -----
    Systems are solved in double precision whatever the inputs are: penalties that predict well are
    often smaller than what single precision can tell from zero. Coefficients and predictions have
    the precision of the inputs. Memory is that of one matrix of n × n doubles, and is looked for
    first.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import KernelRidgeCV
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelRidgeCV().fit(X, np.sin(X[:, 0]))
    >>> bool(model.score(X, np.sin(X[:, 0])) > 0.999)
    True
    """

    __module__ = "isthmus.regression"

    _system: RidgeSystem | None
    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": choice(AUTO) | A_KERNEL | several(A_KERNEL),
        "alpha": choice(AUTO) | real(0) | several(real(0)),
        "fit_intercept": boolean,
        "cv": CRITERIA,
    }

    def __init__(
        self,
        kernel: Any = AUTO,
        *,
        alpha: Any = AUTO,
        fit_intercept: bool = True,
        cv: Any = "loo",
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.cv = cv

    @property
    def provides(self) -> frozenset[str]:
        """What the machine can do, see :mod:`isthmus.typing`."""
        kinds = kinds_of_objects(KERNELS if _is_auto(self.kernel) else self.kernel)
        words = {"predict", "several_outputs", "settled"}
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
        model = copy.copy(self)
        model.expansion_, model._system, model._trained = expansion, None, False
        return model

    def settled(self) -> "KernelRidgeCV":
        """An unfitted copy with the kernel and the penalty that were chosen."""
        return KernelRidgeCV(self.kernel_, alpha=self.alpha_, fit_intercept=self.fit_intercept)

    def _candidates(self) -> list[Kernel]:
        if _is_auto(self.kernel):
            return list(KERNELS)
        given = self.kernel if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        return [check_piece(kernel, "kernel", self, as_kernel) for kernel in given]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._candidates()[0].pairwise
        return tags

    def fit(self, X: Any, y: Any) -> "KernelRidgeCV":
        """Fit coefficients over the objects ``X`` for the outputs ``y``; return self."""
        kernels = self._candidates()
        alphas = self._penalties(len(kernels))
        selection = as_selection(self.cv, self)
        X = check_objects(self, X, kernels[0], reset=True)
        Y = check_outputs(self, y, n_objects(X))
        if kernels[0].vectors:
            check_scale(self, X)
        check_scale(self, Y, what="y")
        self._require_memory(len(Y))
        flat = Y.ndim == 1
        Y = Y[:, None] if flat else Y

        kernel, loo_error = kernels[0].resolve(X), None
        if alphas is not None and len(kernels) * len(alphas) == 1:
            alpha = alphas[0]
        else:
            loo_error, (kernel, alpha) = self._select(selection, kernels, alphas, X, Y)
        center = bool(self.fit_intercept)
        origin = self._origin(kernel, X)
        system = ridge_system(_own_gram(kernel, X, self, origin), alpha, center=center)
        C, offset = system.dual(Y)
        if origin is not None:
            # Σ c = 0, so that only the constant has seen the shift.
            offset = offset - (C.T @ (X - origin)) @ origin
        objects = kernel.reference(X)
        if isinstance(objects, np.ndarray) and objects.dtype == np.float32:
            C, offset = C.astype(np.float32), offset.astype(np.float32)
        self.expansion_ = Expansion(kernel, objects, C, offset)
        self.alpha_, self.loo_error_ = alpha, loo_error
        self._flat, self._trained, self._system = flat, True, None
        return self

    def _origin(self, kernel: Kernel, X: Any) -> Array | None:
        """The point from which a linear kernel loses no digits, where its choice is free."""
        shift = self.fit_intercept and "linear" in kernel.provides and isinstance(X, np.ndarray)
        return X.mean(axis=0, dtype=np.float64) if shift else None

    def _require_memory(self, n: int) -> None:
        require_memory(
            self,
            8.0 * n**2,
            what=f"the Gram matrix of {n} rows",
            avoid="Fit fewer rows, or take GaussianProcess(approximation=Inducing(256)) or "
            "scikit-learn's Nystroem with ReducedRankRegression, which need no such matrix.",
        )

    def predict(self, X: Any) -> Array:
        """Return the outputs for ``X``, block by block of its rows."""
        check_is_fitted(self)
        values = self.expansion_(self._check_new(X))
        return values[:, 0] if self._flat else values

    def _check_new(self, X: Any) -> Objects:
        return check_objects(self, X, self.kernel_, reset=False)

    def _training_system(self) -> RidgeSystem:
        """Factored when first asked for, and kept as long as the model is in memory."""
        if not self._trained or self.kernel_.pairwise:
            raise TypeError(
                "This KernelRidgeCV knows no weights of its training outputs: it was compressed."
                if not self._trained
                else "KernelRidgeCV on rows of a Gram matrix keeps none of them, so it has no "
                "weights. Give the whole matrix to Precomputed(matrix), and indices."
            )
        if self._system is None:
            K = _own_gram(self.kernel_, self.objects_, self)
            self._system = ridge_system(K, self.alpha_, center=bool(self.fit_intercept))
        return self._system

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "_system": None}

    def _penalties(self, n_kernels: int) -> list[float] | None:
        """The penalties offered; None where they are to be found in units of the kernel."""
        if _is_auto(self.alpha):
            return None
        alphas = check_floats(self.alpha, "alpha", self)
        # Interpolation is allowed, but has no leave-one-out error.
        if len(alphas) * n_kernels > 1:
            check_floats(self.alpha, "alpha", self, include_low=False)
        return alphas

    def _select(
        self,
        selection: Selection,
        kernels: list[Kernel],
        alphas: list[float] | None,
        X: Any,
        Y: Array,
    ) -> Choice:
        """Kernel and penalty of smallest error on rows left out."""
        single = isinstance(X, np.ndarray) and X.dtype == np.float32

        def errors(candidate: Kernel, rows: IntArray) -> Iterator[tuple[float, Any]]:
            kernel = candidate.resolve(X)
            part = take(X, rows)
            part = part[:, rows] if kernel.pairwise else part
            K = _own_gram(kernel, part, self, self._origin(kernel, X))
            found = left_out_errors(
                K,
                Y[rows].astype(np.float64),
                alphas,
                selection,
                fit_intercept=bool(self.fit_intercept),
                rounding=float(np.finfo(np.float32).eps) if single else 0.0,
            )
            return ((error, (kernel, alpha)) for error, alpha in found)

        explore = explore_widths if _is_auto(self.kernel) else every
        choice = selection.choose(kernels, errors, len(Y), explore)
        if not np.isfinite(choice.error):
            raise ValueError("KernelRidgeCV found no penalty with a finite leave-one-out error.")
        return choice


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO


def _own_gram(kernel: Kernel, X: Any, owner: Any, origin: Array | None = None) -> Array:
    """Gram matrix in double precision that the caller may overwrite; a given one was checked."""
    if isinstance(X, np.ndarray) and X.dtype == np.float32:
        X = X.astype(np.float64)
    if origin is not None:
        X = X - origin
    if kernel.pairwise:
        return kernel.gram(X, kernel.reference(X)).copy()
    return np.asarray(check_gram(kernel.gram(X, X), owner), dtype=np.float64)
