"""Adapter for scikit-learn's tests of Gaussian processes: its signature and kernels, our process.

Parameters of the peer's kernels stay as they are given: ours are learned for our own kernels.
"""

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from isthmus.kernels import FunctionKernel
from isthmus.regression import GaussianProcess


class GaussianProcessRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Regression with a given kernel of the peer, from our ``GaussianProcess``."""

    def __init__(
        self, kernel=None, *, alpha=1e-10, optimizer="fmin_l_bfgs_b", n_restarts_optimizer=0,
        normalize_y=False, copy_X_train=True, n_targets=None, random_state=None,
    ):  # fmt: skip
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.n_restarts_optimizer = n_restarts_optimizer
        self.normalize_y = normalize_y
        self.copy_X_train = copy_X_train
        self.n_targets = n_targets
        self.random_state = random_state

    def _model(self, kernel):
        if np.ndim(self.alpha) or "WhiteKernel" in repr(kernel):
            raise NotImplementedError("one noise for all rows, and none inside the kernel")
        vectors = isinstance(self.X_train_, np.ndarray) and self.X_train_.dtype.kind in "fi"
        covariance = FunctionKernel(lambda A, B: kernel(A, B), on_vectors=vectors)
        model = GaussianProcess(
            covariance, noise=float(np.sqrt(self.alpha)), amplitude=1.0, learn_kernel=False,
            center=False,
        )  # fmt: skip
        return model.fit(self.X_train_, self.y_train_)

    def fit(self, X, y):
        default = ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")
        self.kernel_ = clone(default if self.kernel is None else self.kernel)
        y = np.asarray(y, dtype=float)
        self._mean = y.mean(axis=0) if self.normalize_y else np.zeros(y.shape[1:])
        spread = y.std(axis=0) if self.normalize_y else np.ones(y.shape[1:])
        self._spread = np.where(spread > 0, spread, 1.0)
        self.X_train_, self.y_train_ = X, (y - self._mean) / self._spread
        self.model_ = self._model(self.kernel_)
        self.log_marginal_likelihood_value_ = self.log_marginal_likelihood()
        return self

    def log_marginal_likelihood(self, theta=None, eval_gradient=False, clone_kernel=True):
        if theta is None:
            return self.model_.log_marginal_likelihood()
        if eval_gradient:
            raise NotImplementedError("no derivatives by parameters of the peer's kernels")
        kernel = self.kernel_.clone_with_theta(theta)
        if not clone_kernel:
            self.kernel_.theta = theta
        return self._model(kernel).log_marginal_likelihood()

    def predict(self, X, return_std=False, return_cov=False):
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        if not hasattr(self, "model_"):
            raise NotImplementedError("predictions before a fit are our sample_prior")
        found = self.model_.predict(X, return_std=return_std, return_cov=return_cov, latent=True)
        if not return_std and not return_cov:
            return found * self._spread + self._mean
        mean, spread = found
        power = 2 if return_cov else 1
        return mean * self._spread + self._mean, spread * self._spread**power
