"""A weighted mean of several regressions, to map new rows to coordinates."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor

from isthmus._estimator import Estimator
from isthmus.blocks.sampling import sample_rows
from isthmus.features.distance_correlation import relevance
from isthmus.features.distance_correlation.directions import DirectionRidge, SlopeRidge
from isthmus.features.distance_correlation.relevance import SETTLED_REGRESSOR, RelevanceRidge
from isthmus.kernels.vectors.laplacian import Laplacian
from isthmus.kernels.vectors.width import median_distance
from isthmus.regression.left_out import left_out_predictions, settle
from isthmus.typing import Array

N_FOLDS = 5
N_TREES = 50
# Weights are means over this many random parts, each a tenth of the rows where that is enough.
N_DRAWS, PARTS, ROWS_PER_MEMBER = 100, 10, 4


class StackedRegression(MultiOutputMixin, RegressorMixin, Estimator):
    r"""Weighted mean of several regressions, :math:`\hat y(x)=\sum_mw_mf_m(x)`.

    The weights are fitted to left-out predictions of the training rows by least squares, so a
    regression that follows its training outputs too closely gets little weight. They are means of
    the best weights on many small parts of the rows: where the parts agree they are those of all
    rows, and where noise or a few large outputs decide, they stay nearly equal. By default the
    members are :class:`RelevanceRidge` with Gaussian and with Laplacian kernels,
    :class:`SlopeRidge`, :class:`DirectionRidge` and extremely randomised trees: smooth functions
    of relevant columns, of directions that vary, of a few correlated directions, and step
    functions.

    Members choose their kernels and penalties once, on all rows; the folds keep these choices.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(100, 3))
    >>> model = StackedRegression().fit(X[:80], X[:80, 0] * X[:80, 1])
    >>> len(model.weights_), bool(model.score(X[80:], X[80:, 0] * X[80:, 1]) > 0.95)
    (5, True)
    """

    provides = SETTLED_REGRESSOR

    def __init__(self, members: Any = None, *, weights: Any = None):
        self.members = members
        self.weights = weights

    def fit(self, X: Array, T: Array) -> "StackedRegression":
        """Fit the members, and the weights unless they are given; return self."""
        T = np.asarray(T)
        members = default_members(len(X)) if self.members is None else self.members
        fitted = [clone(member).fit(X, T) for member in members]
        self._shape = T.shape[1:]
        self.weights_ = np.asarray(
            stack_weights(fitted, X, T) if self.weights is None else self.weights
        )
        self.members_ = fitted
        return self

    def predict(self, X: Array) -> Array:
        """Return the outputs for ``X``."""
        shape = (len(X), *self._shape)
        total = np.zeros(shape)
        for weight, member in zip(self.weights_, self.members_, strict=True):
            if weight > 0:
                total += weight * np.reshape(member.predict(X), shape)
        return total

    def settled(self) -> "StackedRegression":
        """An unfitted copy with the weights, and what members chose, fixed."""
        return StackedRegression(tuple(map(settle, self.members_)), weights=self.weights_)


def default_members(n_rows: int) -> tuple[Any, ...]:
    """Unfitted regressions of different kinds; of many rows each tree sees a part."""
    # A share, because a fold may have fewer rows than a number says.
    part = {"bootstrap": True, "max_samples": relevance.MAX_ROWS / n_rows}
    return (
        RelevanceRidge(),
        RelevanceRidge(powers=LAPLACIAN_POWERS, kernel=LAPLACIANS),
        SlopeRidge(),
        DirectionRidge(),
        ExtraTreesRegressor(
            N_TREES,
            max_features=1 / 3,
            random_state=0,
            **(part if n_rows > relevance.MAX_ROWS else {}),
        ),
    )


def stack_weights(fitted: list[Any], X: Array, T: Array) -> Array:
    """Weights for the left-out predictions of several fitted regressions."""
    if len(X) < 2 * N_FOLDS:  # too few to tell
        return np.full(len(fitted), 1 / len(fitted))
    rng = np.random.default_rng(0)
    rows = sample_rows(len(X), relevance.MAX_ROWS, rng, sort=False)
    X, T = X[rows], T[rows]
    errors = np.stack([left_out_predictions(m, X, T, N_FOLDS) - T for m in fitted], axis=-1)
    return mean_weights(errors.reshape(len(X), -1, len(fitted)), rng)


def mean_weights(errors: Array, rng: np.random.Generator) -> Array:
    """Mean of the best weights on random parts of the rows; errors are (n, outputs, members)."""
    n, _, n_members = errors.shape
    size = min(n, max(n // PARTS, ROWS_PER_MEMBER * n_members))
    parts = (rng.choice(n, size, replace=False) for _ in range(N_DRAWS))
    draws = [convex_weights(errors[part].reshape(-1, n_members)) for part in parts]
    return np.asarray(np.mean(draws, axis=0))


def convex_weights(errors: Array) -> Array:
    r"""Weights :math:`w\ge0`, :math:`\sum_mw_m=1` that minimise :math:`\|Ew\|^2`, E (n, members).

    >>> import numpy as np
    >>> convex_weights(np.array([[1.0, -1.0], [1.0, -1.0]])).round(6)
    array([0.5, 0.5])
    """
    # The least-squares solution of Ew = 0 and 1'w = 1 with w >= 0, scaled to sum to one.
    E = errors / max(float(np.linalg.norm(errors)), np.finfo(float).tiny)
    w = nnls(np.vstack([E, np.ones(E.shape[1])]), np.r_[np.zeros(len(E)), 1.0])[0]
    return np.asarray(w / w.sum())


@dataclass
class MedianLaplacian(Laplacian):
    """A Laplacian whose width is a multiple of the median distance."""

    width_factor: float = 1.0

    def resolve(self, X: Array) -> Laplacian:
        return Laplacian(1.0 / (self.width_factor * median_distance(X, "cityblock")))


# The width of a Laplacian matters little once the penalty is chosen: two are enough.
LAPLACIANS = (MedianLaplacian(width_factor=4.0), MedianLaplacian(width_factor=1.0))
LAPLACIAN_POWERS = (0.0, 1.0)
