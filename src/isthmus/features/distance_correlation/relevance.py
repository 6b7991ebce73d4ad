"""Kernel ridge regression that finds the columns which matter."""

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, clone

from isthmus._estimator import Estimator
from isthmus.blocks.sampling import sample_rows
from isthmus.dependence.distances import distance_correlation
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.typing import Array

# Gaussians around the median distance, of which leave-one-out takes the best.
GAUSSIANS = tuple(Gaussian(width_factor=factor) for factor in (2.0, 1.0, 0.5, 0.25))
POWERS = (0.0, 0.5, 1.0, 2.0)
# Beyond this many rows a Gram matrix costs more than it gains over landmarks.
MAX_ROWS = 4000
N_LANDMARKS = 1000
# Rows on which columns are weighted and powers and kernels chosen.
N_SELECTION = 1000
# Predicted coordinates are noisy: with hardly any penalty the noise would be fitted.
COORDINATE_ALPHAS = tuple(10.0**power for power in np.arange(-4, 2.1, 0.5))
SMALLEST_WEIGHT = 1e-3
#: What the regressions of this folder offer, see :mod:`isthmus.typing`.
SETTLED_REGRESSOR = frozenset({"predict", "several_outputs", "vectors", "settled"})


class RelevanceRidge(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Kernel ridge on columns scaled by the strength of their dependence on the outputs.

    Column j is multiplied by :math:`\rho_j^\gamma`, a power of its distance correlation with the
    outputs (bias-corrected, relative to the largest); the power :math:`\gamma`, the kernel and the
    penalty are chosen by leave-one-out. With :math:`\gamma=0` it is ``KernelRidgeCV``. A Gaussian
    kernel gives all columns the same weight, so a few relevant ones drown among many others; this
    regression finds those that depend on the outputs by themselves.

    Beyond ``MAX_ROWS`` rows ridge regression runs in the span of landmarks.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> model = RelevanceRidge().fit(X, np.sin(2 * X[:, 0]))
    >>> int(model.scale_.argmax()), model.power_ > 0
    (0, True)
    """

    provides = SETTLED_REGRESSOR

    def __init__(
        self, *, powers: Any = POWERS, kernel: Any = GAUSSIANS, alpha: Any = DEFAULT_ALPHAS
    ):
        self.powers = powers
        self.kernel = kernel
        self.alpha = alpha

    def fit(self, X: Array, T: Array) -> "RelevanceRidge":
        """Weight the columns, choose and fit; return self."""
        part = sample_rows(len(X), N_SELECTION, sort=False)
        few = X[part], T[part]
        weights = column_weights(*few)
        model: Any = KernelRidgeCV(self.kernel, alpha=self.alpha)
        power, many = self.powers[0], len(X) > MAX_ROWS
        if len(self.powers) > 1 or many:
            tried = {g: clone(model).fit(few[0] * weights**g, few[1]) for g in self.powers}
            power = min(tried, key=lambda g: tried[g].loo_error_ or 0.0)
        scale = weights**power
        if many:
            kernel = tried[power].kernel_
            self.model_ = KernelRidgeCV(kernel, n_landmarks=N_LANDMARKS).fit(X * scale, T)
            self.kernel_, self.alpha_ = self.kernel, self.alpha  # cheap to choose again
        else:
            self.model_ = model.fit(X * scale, T)
            self.kernel_, self.alpha_ = model.kernel_, model.alpha_
        self.scale_, self.power_ = scale, power
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        return np.asarray(self.model_.predict(X * self.scale_))

    def settled(self) -> "RelevanceRidge":
        """An unfitted copy with power, kernel and penalty fixed to those chosen."""
        return RelevanceRidge(powers=(self.power_,), kernel=self.kernel_, alpha=self.alpha_)


def column_weights(X: Array, T: Array) -> Array:
    """Distance correlation of each column with the outputs over the largest, at least 0.001."""
    squares = [distance_correlation(x, T, unbiased=True, squared=True) for x in X.T]
    weights = np.sqrt(np.maximum(squares, 0.0))
    largest = float(weights.max())
    if largest == 0:
        return np.ones(len(weights))
    return np.maximum(weights / largest, SMALLEST_WEIGHT)
