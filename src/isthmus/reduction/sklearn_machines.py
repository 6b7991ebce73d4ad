"""The kernel expansions inside fitted models of scikit-learn."""

import warnings
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from isthmus.kernels.algebra.function import FunctionKernel
from isthmus.kernels.base import Kernel
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.vectors.dot import Linear
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.reduction.machines import (
    CompressedClassifier,
    CompressedRegressor,
    CompressedTransformer,
    pairs,
)
from isthmus.typing import Array

# A machine without an expansion, and the expansion of the original.
# scikit-learn has no public attributes for the resolved gamma and the rows of a support vector
# machine with a function as kernel, the scaling of the targets of a Gaussian process, and the means
# of a centred Gram matrix: there the readers below use private ones.
Read: TypeAlias = tuple[Any, Expansion]


def as_machine(estimator: Any) -> Any:
    """A machine that holds the expansion of a model of scikit-learn; None for unknown models."""
    for kind, read in READERS.items():
        if isinstance(estimator, kind):
            machine, expansion = read(estimator)
            machine.expansion_ = expansion
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(estimator, name):
                    setattr(machine, name, getattr(estimator, name))
            return machine
    return None


def _kernel(estimator: Any, name: Any, **parameters: Any) -> Kernel:
    if callable(name):
        if isinstance(name, Kernel):
            return name
        return FunctionKernel(name, on_vectors=True)
    if name == "precomputed":
        raise ValueError(
            f"{type(estimator).__name__} was fitted on a Gram matrix and has no objects: use "
            "reduce_expansion on the matrix and the coefficients."
        )
    if name == "rbf" and parameters.get("gamma") is not None:
        return Gaussian(gamma=float(parameters["gamma"]))
    if name == "linear":
        return Linear()
    known = {key: value for key, value in parameters.items() if value is not None}
    function = partial(pairwise_kernels, metric=name, filter_params=True, **known)
    return FunctionKernel(function, on_vectors=True)


def _expansion(kernel: Kernel, objects: Any, A: Array, intercept: Any) -> Expansion:
    return Expansion(kernel, objects, A, np.array(intercept, dtype=float))


def _dense(X: Any) -> Any:
    return X.toarray() if issparse(X) else np.asarray(X)


def _support_vectors(estimator: Any) -> tuple[Kernel, Array]:
    kernel = _kernel(
        estimator,
        estimator.kernel,
        gamma=estimator._gamma if isinstance(estimator.kernel, str) else None,
        degree=estimator.degree,
        coef0=estimator.coef0,
    )
    if callable(estimator.kernel):  # scikit-learn then keeps the rows elsewhere
        return kernel, _dense(estimator._BaseLibSVM__Xfit)[estimator.support_]
    return kernel, _dense(estimator.support_vectors_)


def _classifier(estimator: Any) -> Read:
    kernel, objects = _support_vectors(estimator)
    dual, n_classes = _dense(estimator.dual_coef_), len(estimator.classes_)
    machine = CompressedClassifier(estimator)
    machine.classes_ = estimator.classes_
    machine.sigmoids_ = _sigmoids(estimator)
    if n_classes == 2:
        return machine, _expansion(kernel, objects, dual.T, estimator.intercept_)
    # Row r of dual_coef_ holds, for a vector of class c, its weight against the r-th other class.
    ends = np.concatenate([[0], np.cumsum(estimator.n_support_)])
    A = np.zeros((len(objects), n_classes * (n_classes - 1) // 2))
    for column, (i, j) in enumerate(pairs(n_classes)):
        A[ends[i] : ends[i + 1], column] = dual[j - 1, ends[i] : ends[i + 1]]
        A[ends[j] : ends[j + 1], column] = dual[i, ends[j] : ends[j + 1]]
    return machine, _expansion(kernel, objects, A, estimator.intercept_)


def _sigmoids(estimator: Any) -> tuple[Array, Array] | None:
    """Slopes and offsets of the probabilities of all pairs, where the model has fitted them."""
    if getattr(estimator, "probability", "deprecated") is not True:
        return None
    with warnings.catch_warnings():
        # The attributes are on their way out of scikit-learn, but a fitted model may have them.
        warnings.simplefilter("ignore", FutureWarning)
        return np.array(estimator.probA_), np.array(estimator.probB_)


def _regressor(
    estimator: Any, kernel: Kernel, objects: Any, A: Array, intercept: Array, *, flat: bool
) -> Read:
    machine = CompressedRegressor(estimator)
    machine.flat_ = flat
    return machine, _expansion(kernel, objects, A, intercept)


def _support_vector_regressor(estimator: Any) -> Read:
    kernel, objects = _support_vectors(estimator)
    dual = _dense(estimator.dual_coef_).T
    return _regressor(estimator, kernel, objects, dual, estimator.intercept_, flat=True)


def _kernel_ridge(estimator: KernelRidge) -> Read:
    kernel = _kernel(
        estimator,
        estimator.kernel,
        gamma=estimator.gamma,
        degree=estimator.degree,
        coef0=estimator.coef0,
        **(estimator.kernel_params or {}),
    )
    dual = np.asarray(estimator.dual_coef_)
    A = dual.reshape(len(dual), -1)
    return _regressor(
        estimator, kernel, _dense(estimator.X_fit_), A, np.zeros(A.shape[1]), flat=dual.ndim == 1
    )


def _gaussian_process(estimator: GaussianProcessRegressor) -> Read:
    alpha = np.asarray(estimator.alpha_)
    A = alpha.reshape(len(alpha), -1) * estimator._y_train_std
    mean = np.broadcast_to(estimator._y_train_mean, (A.shape[1],)).astype(float)
    kernel = FunctionKernel(_WithoutNoise(estimator.kernel_), on_vectors=True)
    return _regressor(
        estimator, kernel, np.asarray(estimator.X_train_), A, mean, flat=alpha.ndim == 1
    )


class _WithoutNoise:
    """A covariance function without the noise term on its diagonal."""

    def __init__(self, kernel: Any):
        self.kernel = kernel

    def __call__(self, X: Array, Z: Array) -> Array:
        return np.asarray(self.kernel(X, Z))

    def diag(self, X: Array) -> Array:
        """The variances without noise, which is the same at all points."""
        noise = self.kernel(X[:1])[0, 0] - self.kernel(X[:1], X[:1])[0, 0]
        return np.asarray(self.kernel.diag(X)) - noise


def _kernel_pca(estimator: SklearnKernelPCA) -> Read:
    kernel = _kernel(
        estimator,
        estimator.kernel,
        gamma=estimator.gamma_,
        degree=estimator.degree,
        coef0=estimator.coef0,
        **(estimator.kernel_params or {}),
    )
    used = estimator.eigenvalues_ > 0
    A = np.zeros_like(estimator.eigenvectors_)
    A[:, used] = estimator.eigenvectors_[:, used] / np.sqrt(estimator.eigenvalues_[used])
    # Axes of the centred matrix sum to zero, so centring a new row only shifts its coordinates.
    intercept = -estimator._centerer.K_fit_rows_ @ A
    return CompressedTransformer(estimator), _expansion(
        kernel, _dense(estimator.X_fit_), A, intercept
    )


READERS = {
    (SVC, NuSVC): _classifier,
    (SVR, NuSVR): _support_vector_regressor,
    KernelRidge: _kernel_ridge,
    GaussianProcessRegressor: _gaussian_process,
    SklearnKernelPCA: _kernel_pca,
}
