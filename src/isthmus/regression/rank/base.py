"""What regressions of limited rank share: their checks, their factors and their prediction."""

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from isthmus._checks import check_int, check_length, check_scale
from isthmus._estimator import Estimator
from isthmus.regression.rank.reduced_rank_formulas import factors
from isthmus.typing import Array


class RankLimitedRegressor(MultiOutputMixin, RegressorMixin, Estimator):
    """What linear maps ``F = V diag(s) W'`` have in common: checks, factors, prediction."""

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, *, missing: bool = False, reset: bool = True
    ) -> tuple[Array, Array, Array | None]:
        """Rows, outputs as a matrix, and weights (None where all are equal)."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        rows = X
        X = validate_data(self, rows, dtype=[np.float64, np.float32], reset=reset)
        Y = y
        if not _is_plain(y):
            Y = check_array(
                y,
                dtype=np.float64,
                ensure_2d=False,
                ensure_all_finite="allow-nan" if missing else True,
                input_name="y",
                estimator=self,
            )
        check_length(self, len(X), len(Y), what="outputs as inputs")
        for given, checked, what in ((rows, X, "X"), (y, Y, "y")):
            if not (type(given) is np.ndarray and given.dtype.kind == "f"):
                check_scale(self, checked, what=what)  # arrays of floats were looked at before
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        self._flat = Y.ndim == 1
        return X, Y.reshape(len(X), -1), weights

    def _check_rank(self, n_features: int, n_outputs: int) -> int:
        high = min(n_features, n_outputs)
        return check_int(
            self.rank, "rank", self, low=1, high=high, why="the fewer of features and outputs"
        )

    def _set_map(self, coef: Array, basis: Array, x_mean: Array, y_mean: Array, dtype: Any) -> None:
        """Keep the map ``y = F (x - x_mean) + y_mean`` and its factors."""
        self._set_factors(coef, basis, dtype)
        self._set_coef(coef, len(self.s_), x_mean, y_mean, dtype)

    def _set_factors(self, coef: Array, basis: Array, dtype: Any) -> None:
        V, s, W = factors(coef, basis)
        self.V_, self.s_, self.W_ = V.astype(dtype), s.astype(dtype), W.astype(dtype)

    def _set_coef(self, coef: Array, rank: int, x_mean: Array, y_mean: Array, dtype: Any) -> None:
        self.coef_ = coef.astype(dtype)
        self.intercept_ = (y_mean - coef @ x_mean).astype(dtype)
        self.rank_ = rank

    def _raw_predictions(self, X: Any) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        (o, d), r = self.coef_.shape, self.rank_
        # Through the bridge where it is narrow enough to be the shorter way.
        through = r * (o + d) < o * d
        P = (X @ (self.W_ * self.s_)) @ self.V_.T if through else X @ self.coef_.T
        P += self.intercept_
        return P

    def predict(self, X: Any) -> Array:
        """Return the outputs for the rows of ``X``."""
        P = self._raw_predictions(X)
        return P[:, 0] if self._flat else P


def _is_plain(Y: Any) -> bool:
    """Whether outputs are a table or a vector that scikit-learn's check would return as it is."""
    if type(Y) is not np.ndarray or Y.dtype != np.float64 or Y.ndim not in (1, 2) or not Y.size:
        return False
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(np.add.reduce(Y, axis=None)))
