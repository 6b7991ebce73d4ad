"""More rows for a process whose parameters stay as they are."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import linalg

from isthmus.kernels.base import Kernel
from isthmus.regression.gaussian_process.approximation import Approximation
from isthmus.regression.gaussian_process.bounds import ParameterBounds
from isthmus.regression.gaussian_process.formulas import Noise, best_variances, likelihood_value
from isthmus.regression.gaussian_process.inducing import (
    InducingSums,
    add_sums,
    inducing_fit,
    inducing_sums,
    inducing_value,
)
from isthmus.regression.gaussian_process.posterior import (
    Posterior,
    covariance_factor,
    extended_factor,
)
from isthmus.typing import Array


class ProcessUpdates:
    """Methods of a fitted process that take in more rows."""

    kernel_: Kernel
    approximation_: Approximation
    log_marginal_likelihood_: float
    center: bool
    amplitude: float | None
    noise: float | None
    bounds: ParameterBounds | None
    _members: list[Posterior]
    _targets: list[Array] | None
    _sums: InducingSums | None
    _mean: Array
    _alpha: float
    _noises: list[Noise]
    _variances: Array
    _flat: bool

    @abstractmethod
    def fit(self, X: Any, y: Any, row_noise: Any = None) -> Self:
        """Learn the parameters."""

    @abstractmethod
    def _check_data(
        self, X: Any, y: Any, kernel: Kernel, *, reset: bool
    ) -> tuple[Any, Array, bool]:
        """Objects, outputs as columns, and whether they were a vector."""

    @abstractmethod
    def _check_row_noise(self, row_noise: Any, n: int, approximation: Approximation) -> Noise:
        """Variances of the noise of rows, as multiples of the common one."""

    @abstractmethod
    def _publish(self) -> None:
        """Fitted attributes from what the posterior is made of."""

    def partial_fit(self, X: Any, y: Any, row_noise: Any = None) -> Self:
        """Take in more rows with the parameters as they are; the first call is :meth:`fit`.

        The Cholesky factor grows by the new rows, O(n²) for each, and the answer is that of a
        fit on all rows with this kernel and ratio of noise; inducing objects stay and their sums
        grow; a committee gets a new member. Mean and amplitudes follow, unless they were given.
        ``row_noise`` is as in :meth:`fit`.
        """
        if not hasattr(self, "_members"):
            return self.fit(X, y, row_noise)
        if self.kernel_.pairwise:
            raise TypeError(
                "GaussianProcess.partial_fit needs objects: rows of a Gram matrix lack the "
                "columns of new rows. Give the whole matrix to Precomputed(gram), and indices."
            )
        X, Y, flat = self._check_data(X, y, self.kernel_, reset=False)
        if flat != self._flat or Y.shape[1] != len(self._mean):
            raise ValueError(
                f"GaussianProcess.partial_fit needs outputs of {len(self._mean)} columns as in "
                f"fit. Got {Y.shape[1]}."
            )
        noise = self._check_row_noise(row_noise, len(Y), self.approximation_)
        if self._targets is None:
            self._more_sums(X, Y)
        else:
            self._more_rows(X, Y, noise)
        self._publish()
        return self

    def _more_rows(self, X: Any, Y: Array, noise: Noise) -> None:
        """Another member of a committee, or a larger factor; then condition on all outputs."""
        assert self._targets is not None
        factors = [(member.objects, member.L) for member in self._members]
        if self.approximation_.in_parts:
            factors.append((X, covariance_factor(self.kernel_, X, self._alpha * noise)))
            targets = [*self._targets, Y]
            self._noises = [*self._noises, noise]
        else:
            factors = [extended_factor(self.kernel_, *factors[0], X, self._alpha * noise)]
            targets = [np.concatenate([*self._targets, Y])]
            old = np.broadcast_to(self._noises[0], len(self._targets[0]))
            self._noises = [np.concatenate([old, np.broadcast_to(noise, len(Y))])]
        if self.center:
            self._mean = np.concatenate(targets).mean(axis=0)
        centred = [piece - self._mean for piece in targets]
        self._targets = targets
        self._members = [
            Posterior(objects, linalg.cho_solve((L, True), piece, check_finite=False), L)
            for (objects, L), piece in zip(factors, centred, strict=True)
        ]
        parts = [member.as_part() for member in self._members]
        if self.amplitude is None and not self.noise and self.bounds is None:
            self._variances = best_variances(parts, centred)
        self.log_marginal_likelihood_ = likelihood_value(parts, centred, self._variances)

    def _more_sums(self, X: Any, Y: Array) -> None:
        (member,) = self._members
        if self._sums is None:
            raise TypeError("This GaussianProcess was compressed and cannot take in more rows.")
        # The mean stays: what was summed is relative to it.
        new = inducing_sums(self.kernel_, X, member.objects, Y - self._mean, member.L)
        self._sums = add_sums(self._sums, new)
        fit = inducing_fit(self._sums, self._alpha)
        dual = linalg.solve_triangular(member.L, fit.u, lower=True, trans=1, check_finite=False)
        self._members = [Posterior(member.objects, dual, member.L, fit.L_B)]
        if self.amplitude is None and not self.noise and self.bounds is None:
            self._variances = fit.fits / self._sums.n_rows
        self.log_marginal_likelihood_ = inducing_value(
            self._sums, fit, self._alpha, self._variances, self.approximation_.bound
        )
