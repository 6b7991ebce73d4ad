"""Kernel ridge regression on any objects, its penalty chosen by leave-one-out."""

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import (
    check_bool,
    check_floats,
    check_int,
    check_length,
    check_piece,
    check_scale,
    former_fit_kept,
    refusal,
)
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_objects, n_objects, take
from isthmus.kernels.resolve import as_kernel
from isthmus.linalg.centering import center_gram
from isthmus.linalg.ridge import RidgePath, solve_positive

DEFAULT_ALPHAS = tuple(10.0**power for power in np.arange(-8, 2.01, 0.5))


class KernelRidgeCV(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Kernel ridge regression whose penalty is chosen by leave-one-out in closed form.

    .. math:: \min_{f}\ \sum_i\|y_i-f(x_i)-b\|^2+\alpha\|f\|_{\mathcal F}^2,
              \qquad f(x)=\sum_j c_j\,k(x_j,x).

    scikit-learn has ``RidgeCV`` and ``KernelRidge``, but not the two together, and its
    ``KernelRidge`` takes vectors. Here one eigendecomposition gives the exact leave-one-out
    error of every penalty, and of every kernel offered; ``X`` is anything the kernel
    can compare.

    Parameters
    ----------
    kernel : kernel, name, or list of them, default="gaussian"
        Of a list, the one with the smallest leave-one-out error is taken.
    alphas : float or sequence of float, default=1e-8 … 1e2
        Penalties to choose from. With a single one and a single kernel there is nothing to
        choose: one Cholesky factorisation, as in ``KernelRidge``.
    fit_intercept : bool, default=True
        Fit a constant ``b`` that is not penalised. ``False`` gives ``KernelRidge`` exactly.
    max_selection : int, default=2000
        The penalty is chosen on at most so many rows (drawn from a fixed seed), the kernel on
        half of them; then all rows are fitted. Choosing costs eigendecompositions, fitting a
        Cholesky.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel chosen, its width a number.
    alpha_ : float
        The penalty chosen.
    loo_error_ : float or None
        Its mean squared leave-one-out error (None where nothing was to be chosen).
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

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        alphas: Any = DEFAULT_ALPHAS,
        fit_intercept: bool = True,
        max_selection: int = 2000,
    ):
        self.kernel = kernel
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.max_selection = max_selection

    # Reduced sets: see isthmus.reduction.compress --------------------------------------

    def _kernel_expansion(self) -> tuple[Kernel, Any, np.ndarray]:
        """The expansion that predictions are made of: kernel, objects, coefficients."""
        _refuse_pairwise(self)
        return self.kernel_, self.objects_, np.asarray(self.dual_coef_)

    def _with_kernel_expansion(self, objects: Any, coefficients: np.ndarray) -> "KernelRidgeCV":
        model = copy.copy(self)
        model.objects_, model.dual_coef_ = objects, coefficients
        return model

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
        check_int(self.max_selection, "max_selection", self, low=2)
        with former_fit_kept(self):
            X = check_objects(self, X, kernels[0], reset=True)
            Y = _check_outputs(self, y, n_objects(X))
            if kernels[0].vectors:
                check_scale(self, X)
            check_scale(self, Y, what="y")
        flat = Y.ndim == 1
        Y = Y[:, None] if flat else Y

        kernel, alpha, loo_error = kernels[0].resolve(X), alphas[0], None
        if len(kernels) * len(alphas) > 1:
            kernel, alpha, loo_error = self._select(kernels, alphas, X, Y)

        K = _own_gram(kernel, X)
        mean, y_mean = np.zeros(len(Y), dtype=K.dtype), np.zeros(Y.shape[1], dtype=Y.dtype)
        if self.fit_intercept:
            K, mean = center_gram(K, overwrite=True)
            y_mean = Y.mean(axis=0)
        K.flat[:: len(K) + 1] += alpha
        dual = solve_positive(K, Y - y_mean, overwrite=True)
        if self.fit_intercept:
            # They sum to zero, but rounding errors over a tiny penalty would not.
            dual -= dual.mean(axis=0)
        # Centred coefficients sum to zero, so centring a new row shifts it by a constant alone.
        intercept = y_mean - mean @ dual
        self.kernel_, self.alpha_, self.loo_error_ = kernel, alpha, loo_error
        self.objects_ = kernel.reference(X)
        self.dual_coef_ = dual[:, 0] if flat else dual
        self.intercept_ = float(intercept[0]) if flat else intercept
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the outputs for ``X``, block by block of its rows."""
        check_is_fitted(self)
        X = check_objects(self, X, self.kernel_, reset=False)
        blocks = self.kernel_.blocks(X, self.objects_)
        return np.concatenate([K @ self.dual_coef_ for _, K in blocks]) + self.intercept_

    def _penalties(self) -> list[float]:
        alphas = check_floats(self.alphas, "alphas", self)
        # Interpolation is allowed, but has no leave-one-out error.
        return (
            alphas
            if len(alphas) == 1
            else check_floats(self.alphas, "alphas", self, include_low=False)
        )

    def _select(
        self, kernels: list[Kernel], alphas: list[float], X: Any, Y: np.ndarray
    ) -> tuple[Kernel, float, float]:
        """Kernel, penalty and error; half the rows are enough to tell kernels apart."""
        n_few = int(self.max_selection) // 2
        if len(kernels) > 1 and len(Y) > n_few:
            kernels = [self._best(kernels, alphas, X, Y, n_few)[0]]
        return self._best(kernels, alphas, X, Y, self.max_selection)

    def _best(
        self, kernels: list[Kernel], alphas: list[float], X: Any, Y: np.ndarray, n_rows: int
    ) -> tuple[Kernel, float, float]:
        rows = np.arange(len(Y))
        if len(Y) > n_rows:
            rows = np.random.default_rng(0).choice(len(Y), n_rows, replace=False)
        part = take(X, rows)
        if kernels[0].pairwise:
            part = part[:, rows]
        Y = Y[rows] - Y[rows].mean(axis=0) * bool(self.fit_intercept)
        n_values = Y.size
        if Y.shape[1] > len(Y):
            # Only sums of squares over outputs count: rotate them into few columns.
            Y = np.asarray(np.linalg.qr(Y.T, mode="r")).T
        best: tuple[float, Kernel, float] | None = None
        for candidate in kernels:
            kernel = candidate.resolve(X)
            K = _own_gram(kernel, part)
            if self.fit_intercept:
                K, _ = center_gram(K, overwrite=True)
            path = RidgePath(K, Y, intercept=self.fit_intercept)
            for alpha in alphas:
                if alpha < path.smallest_penalty and alpha != max(alphas):
                    continue
                error = float(np.sum(path.loo_residuals(alpha) ** 2)) / n_values
                if best is None or error < best[0]:
                    best = (error, kernel, alpha)
        if best is None or not np.isfinite(best[0]):
            raise ValueError("KernelRidgeCV found no penalty with a finite leave-one-out error.")
        error, kernel, alpha = best
        return kernel, alpha, error


def _own_gram(kernel: Kernel, X: Any) -> np.ndarray:
    """Gram matrix that the caller may overwrite."""
    return kernel.gram(X, kernel.reference(X)).copy() if kernel.pairwise else kernel.gram(X, X)


def _check_outputs(estimator: Any, y: Any, n_expected: int) -> np.ndarray:
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    Y = check_array(
        y, ensure_2d=False, dtype=[np.float64, np.float32], input_name="y", estimator=estimator
    )
    check_length(estimator, n_expected, len(Y), what="outputs as inputs")
    return Y


def _refuse_pairwise(model: KernelRidgeCV) -> None:
    if model.kernel_.pairwise:
        raise ValueError(
            "KernelRidgeCV on a Gram matrix knows no objects: use reduce_expansion on the matrix "
            "and dual_coef_."
        )
