"""How new rows get coordinates: a regression for what cannot be computed, and its cross-fitting."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from isthmus.dependence.distances import distance_correlation
from isthmus.features.kernel_pca.estimator import KernelPCA
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.typing import Array

# Gaussians around the median distance, of which leave-one-out takes the best.
GAUSSIANS = tuple(Gaussian(scale=scale) for scale in (2.0, 1.0, 0.5, 0.25))
POWERS = (0.0, 0.5, 1.0, 2.0)
# Beyond so many rows a Gram matrix costs more than it gains over landmarks.
MAX_ROWS = 4000
N_LANDMARKS = 1000
# Rows on which columns are weighed and powers and kernels chosen.
N_SELECTION = 1000
LANDMARK_ALPHAS = tuple(10.0**power for power in range(-6, 3))
# Predicted coordinates are noisy: nearly no penalty would fit the noise and run away beyond it.
COORDINATE_ALPHAS = tuple(10.0**power for power in np.arange(-4, 2.1, 0.5))
LEAST_WEIGHT = 1e-3


class RelevanceRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Kernel ridge on columns scaled by how strongly they are tied to the outputs.

    Column j is multiplied by :math:`\rho_j^\gamma`, its distance correlation with the outputs
    (bias-corrected, relative to the largest); the power :math:`\gamma`, the kernel and the penalty
    are chosen by leave-one-out. With :math:`\gamma=0` it is ``KernelRidgeCV``. A Gaussian kernel
    counts every column alike, so a few relevant ones drown among many others; this finds them as
    far as each is tied to the outputs by itself.

    Beyond ``MAX_ROWS`` rows ridge regression runs in the span of landmarks.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> model = RelevanceRidge().fit(X, np.sin(2 * X[:, 0]))
    >>> int(model.scale_.argmax()), model.power_ > 0
    (0, True)
    """

    def __init__(
        self, *, powers: Any = POWERS, kernels: Any = GAUSSIANS, alphas: Any = DEFAULT_ALPHAS
    ):
        self.powers = powers
        self.kernels = kernels
        self.alphas = alphas

    def fit(self, X: Array, T: Array) -> "RelevanceRidge":
        """Weigh the columns, choose and fit; return self."""
        part = np.arange(len(X))
        if len(X) > N_SELECTION:
            part = np.random.default_rng(0).choice(len(X), N_SELECTION, replace=False)
        few = X[part], T[part]
        weights = column_weights(*few)
        model: Any = KernelRidgeCV(self.kernels, alpha=self.alphas)
        power, many = self.powers[0], len(X) > MAX_ROWS
        if len(self.powers) > 1 or many:
            tried = {g: clone(model).fit(few[0] * weights**g, few[1]) for g in self.powers}
            power = min(tried, key=lambda g: tried[g].loo_error_ or 0.0)
            if many:
                kernel = tried[power].kernel_
                features = KernelPCA(kernel=kernel, n_landmarks=N_LANDMARKS, random_state=0)
                model = make_pipeline(features, RidgeCV(alphas=LANDMARK_ALPHAS))
        scale = weights**power
        self.model_ = model.fit(X * scale, T)
        self.scale_, self.power_ = scale, power
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        return np.asarray(self.model_.predict(X * self.scale_))

    def settled(self) -> "RelevanceRidge":
        """An unfitted copy with power, kernel and penalty fixed to those chosen."""
        if not isinstance(self.model_, KernelRidgeCV):
            return RelevanceRidge(powers=(self.power_,), kernels=self.kernels, alphas=self.alphas)
        return RelevanceRidge(
            powers=(self.power_,), kernels=self.model_.kernel_, alphas=self.model_.alpha_
        )


def column_weights(X: Array, T: Array) -> Array:
    """Distance correlation of each column with the outputs over the largest, at least 0.001."""
    squares = [distance_correlation(x, T, unbiased=True, squared=True) for x in X.T]
    weights = np.sqrt(np.maximum(squares, 0.0))
    largest = float(weights.max())
    if largest == 0:
        return np.ones(len(weights))
    return np.maximum(weights / largest, LEAST_WEIGHT)


def fitted_map(regressor: Any, X: Array, T: Array) -> Any:
    """The regression that a map needs; without one :class:`RelevanceRidge`."""
    if regressor is None:
        regressor = RelevanceRidge()
    elif isinstance(regressor, str):  # checked to be "stacked"
        from isthmus.features.distance_correlation.stack import StackedRegression

        regressor = StackedRegression()
    return clone(regressor).fit(X, flat(T))


def left_out_predictions(fitted: Any, X: Array, T: Array, n_folds: int) -> Array:
    """Predictions of every row by a regression that did not see its fold, shape of ``T``.

    What was chosen on all rows, a kernel or a penalty, is kept: choosing anew in each fold buys
    nothing.
    """
    model = fitted.settled() if hasattr(fitted, "settled") else clone(fitted)
    folds = KFold(n_folds, shuffle=True, random_state=0)
    return np.asarray(cross_val_predict(model, X, flat(T), cv=folds)).reshape(T.shape)


def flat(T: Array) -> Array:
    """One column as a vector, which every regressor takes."""
    return T[:, 0] if T.ndim == 2 and T.shape[1] == 1 else T
