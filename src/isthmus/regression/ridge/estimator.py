"""Kernel ridge regression on any objects, its penalty chosen by leave-one-out."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import (
    check_bool,
    check_floats,
    check_piece,
    check_scale,
    refusal,
)
from isthmus._estimator import Estimator
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_gram
from isthmus.kernels.definiteness import check_gram
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import check_objects, n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.regression.capabilities import kinds_of_objects
from isthmus.regression.kernel_weights import KernelSmoother, RidgeSystem, ridge_system
from isthmus.regression.outputs import check_outputs
from isthmus.regression.ridge.left_out import left_out_errors
from isthmus.regression.selection import Choice, Selection, as_selection
from isthmus.typing import Array, IntArray, Objects

DEFAULT_ALPHAS = tuple(10.0**power for power in np.arange(-8, 2.01, 0.5))


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
    kernel : kernel, name, or list of them, default="gaussian"
        Of a list, the one with the smallest leave-one-out error is taken.
    alpha : float or sequence of float, default=1e-8 … 1e2
        Penalty, or penalties to choose from. With a single one and a single kernel there is
        nothing to choose: one Cholesky factorisation, as in ``KernelRidge``.
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
        Its mean squared error on rows left out (None where nothing was to be chosen).
    dual_coef_ : ndarray of shape (n_samples, n_outputs) or (n_samples,)
    intercept_ : ndarray of shape (n_outputs,) or float
    objects_ : the training objects

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

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        alpha: Any = DEFAULT_ALPHAS,
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
        kinds = kinds_of_objects(self.kernel)
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
        several = isinstance(self.kernel, (list, tuple))
        if several and not self.kernel:
            expected = "a kernel, a name or a sequence of them, not empty"
            raise ValueError(refusal(self, "kernel", expected, self.kernel))
        kernels: list[Kernel] = check_piece(
            self.kernel,
            "kernel",
            self,
            lambda given: [as_kernel(k) for k in (given if several else [given])],
        )
        return kernels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._candidates()[0].pairwise
        return tags

    def fit(self, X: Any, y: Any) -> "KernelRidgeCV":
        """Fit coefficients over the objects ``X`` for the outputs ``y``; return self."""
        kernels = self._candidates()
        alphas = self._penalties()
        check_bool(self.fit_intercept, "fit_intercept", self)
        selection = as_selection(self.cv, self)
        X = check_objects(self, X, kernels[0], reset=True)
        Y = check_outputs(self, y, n_objects(X))
        if kernels[0].vectors:
            check_scale(self, X)
        check_scale(self, Y, what="y")
        flat = Y.ndim == 1
        Y = Y[:, None] if flat else Y

        kernel, alpha, loo_error = kernels[0].resolve(X), alphas[0], None
        if len(kernels) * len(alphas) > 1:
            loo_error, (kernel, alpha) = self._select(selection, kernels, alphas, X, Y)
        system = ridge_system(_own_gram(kernel, X, self), alpha, center=bool(self.fit_intercept))
        self.expansion_ = Expansion(kernel, kernel.reference(X), *system.dual(Y))
        self.alpha_, self.loo_error_ = alpha, loo_error
        self._flat, self._trained, self._system = flat, True, None
        return self

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

    def _penalties(self) -> list[float]:
        alphas = check_floats(self.alpha, "alpha", self)
        # Interpolation is allowed, but has no leave-one-out error.
        return (
            alphas
            if len(alphas) == 1
            else check_floats(self.alpha, "alpha", self, include_low=False)
        )

    def _select(
        self, selection: Selection, kernels: list[Kernel], alphas: list[float], X: Any, Y: Array
    ) -> Choice:
        """Kernel and penalty of smallest error on rows left out."""

        def errors(candidate: Kernel, rows: IntArray) -> Iterator[tuple[float, Any]]:
            kernel = candidate.resolve(X)
            part = take(X, rows)
            K = _own_gram(kernel, part[:, rows] if kernel.pairwise else part, self)
            found = left_out_errors(
                K, Y[rows], alphas, selection, fit_intercept=bool(self.fit_intercept)
            )
            return ((error, (kernel, alpha)) for error, alpha in found)

        choice = selection.choose(kernels, errors, len(Y))
        if not np.isfinite(choice.error):
            raise ValueError("KernelRidgeCV found no penalty with a finite leave-one-out error.")
        return choice


def _own_gram(kernel: Kernel, X: Any, owner: Any) -> Array:
    """Gram matrix that the caller may overwrite; a given one has been checked already."""
    if kernel.pairwise:
        return kernel.gram(X, kernel.reference(X)).copy()
    return check_gram(kernel.gram(X, X), owner)
