"""Kernel ridge regression that finds the columns which matter."""

from typing import Any

import numpy as np
from scipy.linalg import lapack
from sklearn.base import MultiOutputMixin, RegressorMixin

from isthmus._estimator import Estimator
from isthmus.blocks.sampling import sample_rows
from isthmus.dependence.distances import distance_correlation
from isthmus.dependence.null import chi2_pvalue
from isthmus.dependence.univariate import univariate_correlations
from isthmus.features.distance_correlation.candidates import (
    STAGES,
    Scale,
    choose,
    judged,
    scaled,
)
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import checked_gram
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.regression.ridge.estimator import DEFAULT_ALPHAS, KernelRidgeCV
from isthmus.typing import Array, IntArray

# Gaussians around the median distance, of which leave-one-out takes the best.
GAUSSIANS = tuple(Gaussian(width_factor=factor) for factor in (2.0, 1.0, 0.5, 0.25))
POWERS = (0.0, 0.5, 1.0, 2.0)
# Largest power that is offered where columns without a tie are left out: no other has to do that.
GATED_POWER = 0.5
# Chance that an unrelated table has a column that passes for related.
LEVEL = 0.05
# Beyond this many rows a Gram matrix costs more than it gains over landmarks.
MAX_ROWS = 4000
N_LANDMARKS = 1000
# Rows on which columns are weighted and powers and kernels chosen.
N_SELECTION = 1000
# Landmarks that leave this share of the penalty out, summed over all rows, leave nothing out that
# counts; so many rows per landmark, and they take the place of all rows.
LEFT_OUT, ROWS_PER_LANDMARK = 0.1, 4
# Predicted coordinates are noisy: with hardly any penalty the noise would be fitted.
COORDINATE_ALPHAS = tuple(10.0**power for power in np.arange(-4, 2.1, 0.5))
SMALLEST_WEIGHT = 1e-3
#: What the regressions of this folder offer, see :mod:`isthmus.typing`.
SETTLED_REGRESSOR = frozenset({"predict", "several_outputs", "vectors", "settled"})


class RelevanceRidge(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Kernel ridge on columns scaled by the strength of their dependence on the outputs.

    Column j is multiplied by :math:`\rho_j^\gamma`, a power of its distance correlation with the
    outputs (bias-corrected, relative to the largest), or by zero where that is no more than chance;
    the power :math:`\gamma`, whether columns are left out, the kernel and the penalty are chosen by
    leave-one-out. With :math:`\gamma=0` and all columns it is ``KernelRidgeCV``. A Gaussian kernel
    gives all columns the same weight, so a few relevant ones drown among many others; this
    regression finds those that depend on the outputs by themselves.

    Ridge regression runs in the span of landmarks beyond ``MAX_ROWS`` rows, and of fewer where
    few landmarks span all that the penalty leaves of the others.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> model = RelevanceRidge().fit(X, np.sin(2 * X[:, 0]))
    >>> int(model.scale_.argmax()), model.power_ > 0
    (0, True)
    """

    provides = SETTLED_REGRESSOR

    def __init__(
        self,
        *,
        powers: Any = POWERS,
        gate: Any = None,
        kernel: Any = GAUSSIANS,
        alpha: Any = DEFAULT_ALPHAS,
    ):
        self.powers = powers
        self.gate = gate
        self.kernel = kernel
        self.alpha = alpha

    def fit(self, X: Array, T: Array) -> "RelevanceRidge":
        """Weight the columns, choose and fit; return self."""
        part = sample_rows(len(X), N_SELECTION, sort=False)
        few = X[part], np.reshape(T[part], (len(part), -1))
        kernels = self.kernel if isinstance(self.kernel, tuple) else (self.kernel,)
        alphas = np.atleast_1d(self.alpha).tolist()
        found = choose(*few, self._scales(X[part], T[part]), kernels, alphas)
        scale = found.candidate.scale
        Z = scaled(X, scale.factors)
        kernel = found.candidate.kernel.resolve(Z)
        landmarks = self._landmarks(kernel, Z, part, found.alpha)
        if landmarks is None:
            if len(alphas) > 1 and len(part) > STAGES[-1]:
                found = next(judged(*few, [found.candidate], alphas))
            self.model_: Any = KernelRidgeCV(kernel, alpha=found.alpha)
        else:
            offered = scale.penalties(alphas)
            self.model_ = RidgeOnLandmarks(kernel, alpha=offered, landmarks=landmarks)
        self.model_.fit(Z, T)
        self.kernel_, self.alpha_ = kernel, self.model_.alpha_
        self.scale_, self.power_, self.gated_ = scale.factors, scale.power, scale.gated
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        return np.asarray(self.model_.predict(scaled(X, self.scale_)))

    def settled(self) -> "RelevanceRidge":
        """An unfitted copy with power, kernel and penalty fixed to those chosen."""
        return RelevanceRidge(
            powers=(self.power_,), gate=self.gated_, kernel=self.kernel_, alpha=self.alpha_
        )

    def _scales(self, X: Array, T: Array) -> list[Scale]:
        """What columns may be multiplied by."""
        powers, several = self.powers, len(self.powers) > 1
        if not (several or powers[0] or self.gate):
            return [Scale(0.0, False, np.ones(X.shape[1]))]
        weights, tied = column_weights(X, T)
        plain = [Scale(power, False, weights**power) for power in powers]
        if self.gate is False or not (several or self.gate) or tied.all() or not tied.any():
            return plain
        gated = [
            Scale(power, True, tied * weights**power)
            for power in powers
            if power <= GATED_POWER or self.gate
        ]
        return gated if self.gate else plain + gated

    def _landmarks(self, kernel: Kernel, Z: Array, part: IntArray, alpha: float) -> IntArray | None:
        """Rows that take the place of all; None where all are taken."""
        n = len(Z)
        if n <= min(N_SELECTION, MAX_ROWS):
            return None
        spanning = part[spanning_rows(kernel, Z[part], LEFT_OUT * alpha / n)]
        if len(spanning) < N_LANDMARKS and ROWS_PER_LANDMARK * len(spanning) <= n:
            return spanning
        return part[:N_LANDMARKS] if n > MAX_ROWS else None


class RidgeOnLandmarks(KernelRidgeCV):
    """Kernel ridge regression in the span of given rows.

    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = RidgeOnLandmarks("gaussian", landmarks=np.arange(0, 60, 5)).fit(X, np.sin(X[:, 0]))
    >>> len(model.objects_), bool(model.score(X, np.sin(X[:, 0])) > 0.999)
    (12, True)
    """

    __module__ = "isthmus.features.distance_correlation.relevance"

    def __init__(self, kernel: Any, *, alpha: Any = DEFAULT_ALPHAS, landmarks: Any):
        super().__init__(kernel, alpha=alpha, n_landmarks=len(landmarks))
        self.landmarks = landmarks

    def _draw_landmarks(self, n_rows: int) -> IntArray:
        return np.sort(self.landmarks)


def spanning_rows(kernel: Kernel, Z: Array, rest: float) -> IntArray:
    """Rows that span all others but for a squared length of ``rest``, by a pivoted Cholesky.

    >>> spanning_rows(Gaussian(1.0), np.array([[0.0], [0.0], [9.0]]), 1e-6)
    array([0, 2])
    """
    # Of a matrix that is proven positive one half is read; halves may differ by rounding.
    Z = np.asarray(Z, dtype=np.float64)
    K = np.asarray(checked_gram(kernel, Z, Z, exact=False), dtype=np.float64)
    _, pivots, rank, _ = lapack.dpstrf(K.T, tol=rest, lower=1, overwrite_a=True)
    return np.sort(np.asarray(pivots[:rank], dtype=np.intp) - 1)


def squared_correlations(X: Array, T: Array) -> Array:
    """Bias-corrected squared distance correlation of each column with the outputs."""
    if T.ndim == 1 or T.shape[1] == 1:
        return univariate_correlations(X, np.ravel(T))
    return np.array([distance_correlation(x, T, unbiased=True, squared=True) for x in X.T])


def column_weights(X: Array, T: Array) -> tuple[Array, Array]:
    """Strength of the tie of each column to the outputs, and whether it is more than chance.

    The first is the distance correlation over the largest, at least 0.001; the second a test
    [Shen2022]_ at ``LEVEL`` for all columns together.
    """
    squares = squared_correlations(X, T)
    weights = np.sqrt(np.maximum(squares, 0.0))
    largest = float(weights.max())
    if largest == 0:
        return np.ones(len(weights)), np.zeros(len(weights), dtype=bool)
    tied = chi2_pvalue(squares, len(X)) < LEVEL / len(squares)
    return np.maximum(weights / largest, SMALLEST_WEIGHT), tied
