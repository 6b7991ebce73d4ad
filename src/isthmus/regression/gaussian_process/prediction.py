"""What a fitted Gaussian process can tell: means, uncertainties, samples, and how good it is."""

from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import ndtri
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_float
from isthmus._estimator import Estimator
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.regression.gaussian_process.approximation import Approximation
from isthmus.regression.gaussian_process.formulas import (
    LOG_2_PI,
    Noise,
    factor_part,
    leave_one_out,
    likelihood_value,
)
from isthmus.regression.gaussian_process.inducing import InducingSums
from isthmus.regression.gaussian_process.posterior import (
    Posterior,
    block_moments,
    draw_samples,
    joint_moments_at,
)
from isthmus.regression.kernel_weights import KernelSmoother, RidgeSystem
from isthmus.typing import Array, Objects


class FittedProcess(KernelSmoother, MultiOutputMixin, RegressorMixin, Estimator):
    """Answers of a process that has a kernel, amplitudes, noise and members."""

    kernel: Any
    amplitude: float | None
    center: bool
    approximation_: Approximation
    kernel_: Kernel
    _members: list[Posterior]
    _sums: InducingSums | None  # of rows, where there are inducing objects
    _targets: list[Array] | None  # outputs of each member, where they are kept
    _alpha: float  # noise variance over signal variance
    _noises: list[Noise]  # of the rows of each member, as multiples of that
    _mean: Array
    _variances: Array  # signal variances
    _flat: bool

    @property
    def objects_(self) -> Objects:
        """Training or inducing objects, of the first member in a committee."""
        return self._members[0].objects

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the objects, of shape (n_objects,) or (n_objects, n_outputs)."""
        return self._as_given(self._members[0].dual)

    @property
    def intercept_(self) -> Any:
        """The mean of the outputs that is added, a float or an array of shape (n_outputs,)."""
        return float(self._mean[0]) if self._flat else self._mean

    @property
    def sums_to_one(self) -> bool:
        """Whether the weights of the training outputs do: where their mean is taken apart."""
        return bool(self.center)

    def _training_system(self) -> RidgeSystem:
        if self.approximation_.low_rank or len(self._members) > 1:
            raise TypeError(
                "GaussianProcess has weights of its training outputs where it is exact: with "
                f"{self.approximation_!r} it keeps no training objects in their order."
            )
        self._needs_spread()
        L = self._members[0].L
        return RidgeSystem(
            lambda B: linalg.cho_solve((L, True), B, check_finite=False), None, bool(self.center)
        )

    def _check_new(self, X: Any) -> Objects:
        return self._check_inputs(X, self.kernel_, reset=False)

    def _check_inputs(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        X = check_objects(self, X, kernel, reset=reset)
        # Covariances of smooth functions are too ill-conditioned for single precision.
        return X.astype(np.float64, copy=False) if kernel.vectors else X

    # Predicting -------------------------------------------------------------------------

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, latent: bool = False
    ) -> Any:
        """Return the means of the outputs at ``X``, and their uncertainty.

        Parameters
        ----------
        X : objects
        return_std : bool, default=False
            Also the standard deviation of a new output: noise, and what the data leave open
            about the function.
        return_cov : bool, default=False
            Instead, the joint covariance of all new outputs, shape (n, n), or (n, n, n_outputs).
        latent : bool, default=False
            Spread of the function alone, without the noise.

        Notes
        -----
        Means and deviations are computed in blocks of rows of bounded memory.
        """
        check_is_fitted(self)
        if return_std and return_cov:
            raise ValueError("GaussianProcess.predict returns return_std or return_cov, not both.")
        X = self._check_inputs(X, self.kernel_, reset=False)
        if return_std or return_cov:
            self._needs_spread()
        noise = 0.0 if latent else self._alpha
        if return_cov:
            mean, C = joint_moments_at(self.kernel_, self._members, X)
            C.flat[:: len(C) + 1] += noise
            return self._as_given(mean + self._mean), self._as_given(C[..., None] * self._variances)
        if not return_std and len(self._members) == 1:
            return self._as_given(self.expansion_(X))
        mean, unit = block_moments(self.kernel_, self._members, X)
        mean += self._mean
        if not return_std:
            return self._as_given(mean)
        return self._as_given(mean), self._as_given(
            np.sqrt((unit + noise)[:, None] * self._variances)
        )

    def predict_interval(
        self, X: Any, level: float = 0.9, *, latent: bool = False
    ) -> tuple[Array, Array]:
        """Return the ends of intervals that hold a new output with probability ``level``.

        With ``latent`` they are to hold the function itself.
        """
        check_float(level, "level", self, high=1.0)
        mean, std = self.predict(X, return_std=True, latent=latent)
        reach = ndtri((1 + level) / 2) * std
        return mean - reach, mean + reach

    def sample(
        self, X: Any, n_samples: int = 1, random_state: Any = None, *, latent: bool = False
    ) -> Array:
        """Draw outputs at ``X`` jointly from the posterior; with ``latent``, functions.

        Returns an array of shape (n_samples, n_objects, n_outputs), without the last for outputs
        that were given as a vector.
        """
        check_is_fitted(self)
        self._needs_spread()
        X = self._check_inputs(X, self.kernel_, reset=False)
        mean, C = joint_moments_at(self.kernel_, self._members, X)
        scales = np.sqrt(self._variances)
        noises = 0 * scales if latent else scales * np.sqrt(self._alpha)
        rng = check_random_state(random_state)
        return self._as_given(draw_samples(mean + self._mean, C, scales, noises, n_samples, rng))

    def sample_prior(self, X: Any, n_samples: int = 1, random_state: Any = None) -> Array:
        """Draw functions at ``X`` as they are expected before any data, shape (n_samples, n).

        Before a fit they have the kernel and amplitude that were given (1 without one);
        afterwards those that were found, and a last axis for several outputs.
        """
        rng = check_random_state(random_state)
        fitted = hasattr(self, "_members")
        kernel = self.kernel_ if fitted else as_kernel(self.kernel)
        X = kernel.check(X)
        K = np.array(kernel.resolve(X).gram(X, X), dtype=np.float64)
        scale = np.array([1.0 if self.amplitude is None else float(self.amplitude)])
        scale, mean = (np.sqrt(self._variances), self._mean) if fitted else (scale, np.zeros(1))
        prior = draw_samples(
            np.zeros((len(K), len(scale))) + mean, K, scale, 0 * scale, n_samples, rng
        )
        return self._as_given(prior) if fitted else prior[..., 0]

    def _needs_spread(self) -> None:
        if not self._members or not len(self._members[0].L):
            raise TypeError(
                "This GaussianProcess was compressed: it keeps the mean only, without "
                "standard deviations and samples."
            )

    def _keeps_all_rows(self) -> bool:
        parts = self.approximation_.low_rank or self.approximation_.in_parts
        return self._targets is not None and not parts

    def _as_given(self, Y: Array) -> Array:
        return Y[..., 0] if self._flat else Y

    # Judging ----------------------------------------------------------------------------

    def log_marginal_likelihood(
        self, kernel: Any = None, *, amplitude: float | None = None, noise: float | None = None
    ) -> float:
        """Log likelihood of the training outputs with some other kernel, amplitude or noise.

        What is not given is as it was found; without approximation only.
        """
        part, centred = self._exact_part(kernel, amplitude, noise)
        q = centred.shape[1]
        variances = self._variances if amplitude is None else np.full(q, float(amplitude) ** 2)
        return likelihood_value([part], [centred], variances)

    def _exact_part(self, kernel: Any, amplitude: float | None, noise: float | None) -> Any:
        check_is_fitted(self)
        if not self._keeps_all_rows() or self.kernel_.pairwise:
            raise TypeError(
                "Likelihood and leave-one-out of GaussianProcess need a process without "
                "approximation, and a kernel that compares objects."
            )
        alpha = self._alpha
        if amplitude is not None or noise is not None:
            signal = self._variances if amplitude is None else np.array([float(amplitude) ** 2])
            variance = alpha * self._variances if noise is None else np.array([float(noise) ** 2])
            ratios = variance / signal
            if np.ptp(ratios) > 1e-9 * np.max(ratios):
                raise ValueError(
                    "Several outputs with amplitudes of their own need amplitude and noise "
                    "together, or neither."
                )
            alpha = float(ratios[0])
        at = self.kernel_ if kernel is None else as_kernel(kernel).resolve(self.objects_)
        K = np.array(at.gram(self.objects_, self.objects_), dtype=np.float64)
        assert self._targets is not None
        centred = self._targets[0] - self._mean
        return factor_part(K, alpha * self._noises[0], centred), centred

    def loo_predict(self, return_std: bool = False) -> Any:
        """Mean of each training output when it alone is left out, in closed form.

        With ``return_std`` also its standard deviation, noise included. The parameters and the
        mean of all outputs are not learned anew.
        """
        part, centred = self._exact_part(None, None, None)
        inverse = linalg.cho_solve((part.L, True), np.eye(len(centred)), check_finite=False)
        residual, unit = leave_one_out(inverse, part.dual)
        mean = centred - residual + self._mean
        if not return_std:
            return self._as_given(mean)
        return self._as_given(mean), self._as_given(np.sqrt(unit[:, None] * self._variances))

    def loo_log_likelihood(self) -> float:
        """Sum of the log densities of training outputs, each when it alone is left out."""
        mean, std = (np.reshape(v, (-1, len(self._mean))) for v in self.loo_predict(True))
        assert self._targets is not None
        z = (self._targets[0] - mean) / std
        return float(-0.5 * np.sum(z**2 + 2 * np.log(std) + LOG_2_PI))
