"""Adapters for the tests of scikit-learn and SciPy: their signatures, our solvers."""

from functools import partial

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from isthmus import features, regression
from isthmus.kernels import FunctionKernel, Gaussian, Linear
from isthmus.sparse import nonnegative_least_squares, orthogonal_matching_pursuit


def _kernel(name, X, gamma=None, degree=3, coef0=1, kernel_params=None):
    gamma = 1.0 / X.shape[1] if gamma is None else gamma
    if name in ("linear", "precomputed"):
        return Linear() if name == "linear" else "precomputed"
    if name == "rbf":
        return Gaussian(gamma)
    if callable(name):
        known = kernel_params or {}
        return FunctionKernel(
            lambda A, B: np.array([[name(a, b, **known) for b in B] for a in A]), on_vectors=True
        )
    parameters = {"gamma": gamma, "degree": degree, "coef0": coef0} | (kernel_params or {})
    return FunctionKernel(
        partial(pairwise_kernels, metric=name, filter_params=True, **parameters), on_vectors=True
    )


def _dense(X):
    return X.toarray() if issparse(X) else np.asarray(X)


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel principal components, from our :class:`isthmus.features.KernelPCA`."""

    def __init__(
        self, n_components=None, *, kernel="linear", gamma=None, degree=3, coef0=1,
        kernel_params=None, alpha=1.0, fit_inverse_transform=False, eigen_solver="auto", tol=0,
        max_iter=None, iterated_power="auto", remove_zero_eig=False, random_state=None,
        copy_X=True, n_jobs=None,
    ):  # fmt: skip
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        X = _dense(X)
        kernel = _kernel(self.kernel, X, self.gamma, self.degree, self.coef0, self.kernel_params)
        self.model_ = features.KernelPCA(self.n_components, kernel=kernel).fit(X)
        self.eigenvalues_, self.X_fit_ = self.model_.eigenvalues_, X
        self.gamma_ = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        self._n_features_out = len(self.eigenvalues_)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def transform(self, X):
        check_is_fitted(self)
        return self.model_.transform(_dense(X))

    def inverse_transform(self, X):
        if not self.fit_inverse_transform:
            raise NotFittedError("The inverse transform was not fitted.")
        return self.model_.inverse_transform(X)


class KernelRidge(RegressorMixin, BaseEstimator):
    """Kernel ridge regression with everything given, from our ``KernelRidgeCV``."""

    def __init__(
        self, alpha=1, *, kernel="linear", gamma=None, degree=3, coef0=1, kernel_params=None
    ):
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X, y=None, sample_weight=None):
        if np.ndim(self.alpha):
            raise NotImplementedError("one penalty for all outputs")
        X = _dense(X)
        kernel = _kernel(self.kernel, X, self.gamma, self.degree, self.coef0, self.kernel_params)
        self.model_ = regression.KernelRidgeCV(
            kernel, alpha=float(self.alpha), fit_intercept=False
        ).fit(X, y, sample_weight=sample_weight)
        return self

    def predict(self, X):
        return self.model_.predict(_dense(X))


def orthogonal_mp(
    X, y, *, n_nonzero_coefs=None, tol=None, precompute=False, copy_X=True, return_path=False,
    return_n_iter=False,
):  # fmt: skip
    """Columns of ``y`` coded by columns of ``X``; ours has both as rows."""
    if return_path or return_n_iter:
        raise NotImplementedError("no path and no count")
    if tol is not None and tol < 0:
        raise ValueError("Epsilon cannot be negative")
    if n_nonzero_coefs is None and tol is None:
        n_nonzero_coefs = max(int(0.1 * X.shape[1]), 1)
    if n_nonzero_coefs is not None and not 0 < n_nonzero_coefs <= X.shape[1]:
        raise ValueError("The number of atoms must be positive and at most that of features")
    # Ours counts for atoms of length one, and its tolerance is a length, theirs a squared one.
    norms = np.linalg.norm(X, axis=0)
    limit = {"n_nonzero": n_nonzero_coefs} if tol is None else {"tol": np.sqrt(tol)}
    codes = orthogonal_matching_pursuit(np.atleast_2d(y.T), (X / norms).T, **limit) / norms
    return codes[0] if y.ndim == 1 else np.squeeze(codes.T)


def nnls(A, b, *, maxiter=None, atol=None):
    """The solution of SciPy's problem by ours, which has rows where it has columns."""
    if maxiter is not None:
        raise NotImplementedError("no limit of steps")
    A, b = np.asarray(A, dtype=float), np.asarray(b, dtype=float)
    if b.ndim == 2 and b.shape[1] != 1:
        raise ValueError("Expected a 1D array")
    x = nonnegative_least_squares(b.reshape(1, -1), A.T)[0]
    return x, float(np.linalg.norm(A @ x - b.ravel()))
