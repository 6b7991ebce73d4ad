"""Adapters for the tests of dcor and hyppo: their signatures, our statistics."""

from abc import ABC, abstractmethod

import numpy as np

from isthmus.dependence import (
    distance_correlation,
    distance_covariance,
    hsic,
    independence_test,
    mmd,
    two_sample_test,
)
from isthmus.kernels import Gaussian


class Module:
    """A peer's module with some of its functions replaced by ours."""

    def __init__(self, module, **ours):
        self._module = module
        for name, function in ours.items():
            setattr(self, name, function)

    def __getattr__(self, name):
        return getattr(self._module, name)


def _columns(x):
    x = np.asarray(x, dtype=float)
    return x[:, None] if x.ndim == 1 else x


def _statistic(function, **fixed):
    def ours(x, y, *, exponent=1, method=None, compile_mode=None):
        return function(_columns(x), _columns(y), exponent=exponent, **fixed)

    return ours


def energy_distance(x, y, *, average=np.mean, exponent=1, estimation_stat=None):
    """Twice the mean distance between two samples, less those within them."""
    if average is not np.mean or estimation_stat is not None:
        raise NotImplementedError("the mean of all pairs only")
    # The energy distance is the squared discrepancy of the kernel -|x - z|^a.
    found = two_sample_test(
        _columns(x), _columns(y), statistic="energy", exponent=exponent, n_permutations=1,
        random_state=0,
    )  # fmt: skip
    return found.statistic


def dcor_module(module):
    """dcor with our distance covariances and correlations."""
    return Module(
        module,
        distance_covariance=_statistic(distance_covariance),
        distance_covariance_sqr=_statistic(distance_covariance, squared=True),
        distance_correlation=_statistic(distance_correlation),
        distance_correlation_sqr=_statistic(distance_correlation, squared=True),
        u_distance_covariance_sqr=_statistic(distance_covariance, unbiased=True, squared=True),
        u_distance_correlation_sqr=_statistic(distance_correlation, unbiased=True, squared=True),
    )


class _Test(ABC):
    """A test of hyppo: a statistic and its p-value."""

    def __init__(self, bias=False, **ignored):
        self.bias = bias

    @abstractmethod
    def statistic(self, x, y): ...

    @abstractmethod
    def pvalue(self, x, y, reps, random_state): ...

    def test(self, x, y, reps=1000, workers=1, auto=True, random_state=None, **ignored):
        x, y = _columns(x), _columns(y)
        if random_state is None:
            random_state = 0
        value = 1.0 if not reps else self.pvalue(x, y, min(reps, 199), random_state)
        return self.statistic(x, y), value


class Dcorr(_Test):
    """Distance correlation: unbiased and squared, or, with a bias, its root."""

    def statistic(self, x, y):
        return distance_correlation(
            _columns(x), _columns(y), unbiased=not self.bias, squared=not self.bias
        )

    def pvalue(self, x, y, reps, random_state):
        return independence_test(
            x, y, statistic="dcor", unbiased=not self.bias, n_permutations=reps,
            random_state=random_state,
        ).pvalue  # fmt: skip


class Hsic(_Test):
    """The normalised criterion of Hilbert and Schmidt."""

    def __init__(self, compute_kernel="gaussian", bias=False, **ignored):
        super().__init__(bias)
        self.kernel = compute_kernel

    def _kernels(self):
        kernel = "precomputed" if self.kernel is None else Gaussian()
        return {"x_kernel": kernel, "y_kernel": kernel}

    def statistic(self, x, y):
        options = {**self._kernels(), "unbiased": not self.bias}
        both = hsic(x, y, **options)
        return both / np.sqrt(hsic(x, x, **options) * hsic(y, y, **options))

    def pvalue(self, x, y, reps, random_state):
        return independence_test(
            x, y, statistic="hsic", n_permutations=reps, random_state=random_state,
            **self._kernels(),
        ).pvalue  # fmt: skip


class MMD(_Test):
    """Mean discrepancy of two samples, squared."""

    def __init__(self, compute_kernel="gaussian", bias=False, **ignored):
        super().__init__(bias)

    def statistic(self, x, y):
        return mmd(_columns(x), _columns(y), unbiased=not self.bias, squared=True)

    def pvalue(self, x, y, reps, random_state):
        return two_sample_test(x, y, n_permutations=reps, random_state=random_state).pvalue


class Energy(_Test):
    """Energy distance of two samples."""

    def statistic(self, x, y):
        return energy_distance(x, y)

    def pvalue(self, x, y, reps, random_state):
        return two_sample_test(
            x, y, statistic="energy", n_permutations=reps, random_state=random_state
        ).pvalue
