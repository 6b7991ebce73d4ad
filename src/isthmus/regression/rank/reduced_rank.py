"""Reduced rank regression: ridge regression through a narrow bridge, in closed form."""

from copy import copy
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from isthmus._checks import (
    check_bool,
    check_floats,
    check_int,
    check_length,
    check_scale,
)
from isthmus._estimator import Estimator
from isthmus.blocks.moments import Moments
from isthmus.regression.rank.reduced_rank_formulas import (
    about_origin,
    factors,
    fold_errors,
    held_out_errors,
    joint_moments,
    leave_one_out_errors,
    rank_paths,
    row_space,
    scatter_of,
    squared_errors,
)
from isthmus.regression.selection import Selection, as_selection
from isthmus.typing import Array, IntArray


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
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=reset)
        Y = check_array(
            y,
            dtype=np.float64,
            ensure_2d=False,
            ensure_all_finite="allow-nan" if missing else True,
            input_name="y",
            estimator=self,
        )
        check_length(self, len(X), len(Y), what="outputs as inputs")
        check_scale(self, X)
        check_scale(self, Y, what="y")
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
        V, s, W = factors(coef, basis)
        self.V_, self.s_, self.W_ = V.astype(dtype), s.astype(dtype), W.astype(dtype)
        self.coef_ = coef.astype(dtype)
        self.intercept_ = (y_mean - coef @ x_mean).astype(dtype)
        self.rank_ = len(s)

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


class ReducedRankRegression(RankLimitedRegressor):
    r"""Linear regression with a coefficient matrix of limited rank, in closed form.

    .. math:: \min_{F,b}\ \sum_i\|y_i-Fx_i-b\|^2+\alpha\|F\|_F^2
              \quad\text{subject to}\quad\operatorname{rank}F\le r .

    All outputs are predicted from the same :math:`r` combinations of inputs, which is worth much
    where the outputs belong together and are noisy. Unlike partial least squares,
    the solution is the global minimum [Izenman1975]_, [Mukherjee2011]_, and one decomposition
    gives it for all ranks; with rank ``min(n_features, n_outputs)`` it is ridge regression.

    Parameters
    ----------
    rank : int, None or "cv", default=None
        Number of combinations. None and ``"cv"`` choose it by cross-validation.
    alpha : float or sequence of float, default=0.0
        Penalty. Of a sequence the best by cross-validation is taken, together with the rank.
    cv : Selection, int, "loo" or splitter, default=5
        How to choose, see :class:`Selection`: folds, or exact leave-one-out, on all rows unless a
        Selection says otherwise. Every fold costs one fit for all ranks; leave-one-out costs an
        eigenproblem of the size of the outputs for each row.
    fit_intercept : bool, default=True
        Fit a constant ``b``, which is not penalised.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        The map :math:`F=V\operatorname{diag}(s)W^\top`.
    intercept_ : ndarray of shape (n_outputs,)
    V_, s_, W_ : ndarrays of shape (n_outputs, rank_), (rank_,), (n_features, rank_)
        Output directions, strengths (largest first) and input directions; columns orthonormal.
    rank_ : int
        The rank in use; lower than asked for where the rows span fewer dimensions.
    alpha_ : float
        The penalty in use.
    rank_path_ : ndarray of shape (n_ranks,)
        Mean squared training error, summed over outputs, of ranks 1, 2, … with ``alpha_``.
    cv_error_ : ndarray of shape (n_alphas, n_ranks), or None where nothing was to be chosen
        The same, of rows left out.

    See Also
    --------
    StiefelRegression : other losses, missing outputs.
    SequentialStiefelRegression : streams of rows.

    Notes
    -----
    Moments are sums over blocks of rows in double precision: O(n(d+o)²) time, O((d+o)²) memory
    besides the data. With more features than rows the problem is solved in the span of the rows,
    O(n²d + n³).

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import ReducedRankRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> F = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 10))
    >>> Y = X @ F.T + 0.5 * rng.normal(size=(200, 8))
    >>> model = ReducedRankRegression(cv="loo").fit(X, Y)
    >>> model.rank_
    2
    >>> bool(np.linalg.norm(model.coef_ - F) < 0.05 * np.linalg.norm(F))
    True
    """

    __module__ = "isthmus.regression"

    def __init__(
        self,
        rank: int | str | None = None,
        *,
        alpha: Any = 0.0,
        cv: Any = 5,
        fit_intercept: bool = True,
    ):
        self.rank = rank
        self.alpha = alpha
        self.cv = cv
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map from rows ``X`` to outputs ``y``, each row counted by its weight."""
        alphas = check_floats(self.alpha, "alpha", self)
        check_bool(self.fit_intercept, "fit_intercept", self)
        selection = as_selection(self.cv, self, max_rows=None)
        choose = self.rank is None or (isinstance(self.rank, str) and self.rank == "cv")
        X, Y, weights = self._check_data(X, y, sample_weight)
        (n, d), o = X.shape, Y.shape[1]
        rank = min(d, o) if choose else self._check_rank(d, o)

        inputs, lift = X, None
        if d > n:
            X_mean = np.average(X, axis=0, weights=weights) if self.fit_intercept else 0.0
            centred = np.asarray(X - X_mean, dtype=np.float64)
            inputs, lift = row_space(centred)
        k = inputs.shape[1]
        moments = joint_moments(inputs, Y, weights)
        if not self.fit_intercept:
            moments = about_origin(moments)
        scatter = scatter_of(moments, k)

        cv_error, alpha = None, alphas[0]
        if len(alphas) > 1 or (choose and min(k, o) > 1):
            cv_error = self._cv_error(selection, inputs, Y, weights, alphas)
            shown = cv_error if choose else cv_error[:, [min(rank, k) - 1]]
            best = np.unravel_index(np.argmin(shown), shown.shape)
            alpha = alphas[best[0]]
            rank = int(best[1]) + 1 if choose else rank
        path = next(rank_paths(scatter, [alpha]))
        self.rank_path_ = np.maximum(squared_errors(path, scatter), 0) / moments.count
        self.cv_error_, self.alpha_ = cv_error, alpha
        x_mean, y_mean = moments.mean[:k], moments.mean[k:]
        if lift is not None:
            path = path._replace(ridge=(path.ridge @ lift.T) @ centred)
            # The coordinates are about X_mean, where the weights are; their mean is zero.
            x_mean = np.broadcast_to(X_mean, d)
        self._path, self._means, self._dtype = path, (x_mean, y_mean), X.dtype.name
        return self._set_rank(rank)

    def at_rank(self, rank: int) -> "ReducedRankRegression":
        """Return the fit of another rank with the same penalty; nothing is fitted again."""
        check_is_fitted(self)
        other = copy(self)
        other.rank = rank
        other._check_rank(*self.coef_.shape)
        return other._set_rank(rank)

    def _set_rank(self, rank: int) -> Self:
        rank = min(rank, self._path.basis.shape[1])
        self._set_map(self._path.coef(rank), self._path.basis[:, :rank], *self._means, self._dtype)
        return self

    def _cv_error(
        self, selection: Selection, X: Array, Y: Array, weights: Array | None, alphas: list[float]
    ) -> Array:
        """Mean squared error of rows left out, shape (n_alphas, n_ranks)."""
        rows = selection.rows(len(X))
        if len(rows) < len(X):
            X, Y, weights = X[rows], Y[rows], None if weights is None else weights[rows]
        intercept = bool(self.fit_intercept)
        if not selection.leaves_one_out:
            return cross_validated_errors(X, Y, weights, alphas, selection, fit_intercept=intercept)
        if intercept:
            X = X - np.average(X, axis=0, weights=weights)
            Y = Y - np.average(Y, axis=0, weights=weights)
        errors = leave_one_out_errors(X, Y, weights, alphas, fit_intercept=intercept)
        return np.average(errors, axis=0, weights=weights)


def cross_validated_errors(
    X: Array,
    Y: Array,
    weights: Array | None,
    alphas: list[float],
    selection: Selection,
    *,
    fit_intercept: bool,
) -> Array:
    """Mean squared error of folds left out, shape (n_alphas, n_ranks)."""
    d, splits = X.shape[1], selection.splits(len(X))

    def moments(rows: IntArray) -> Moments:
        return joint_moments(X[rows], Y[rows], None if weights is None else weights[rows])

    tests = [moments(test) for _, test in splits]
    total = sum(test.count for test in tests)
    if isinstance(selection.criterion, Integral):  # disjoint folds: the others merge to the rest
        return fold_errors(tests, d, alphas, fit_intercept=fit_intercept).sum(axis=0) / total
    held_out = [
        held_out_errors(moments(train), test, d, alphas, fit_intercept=fit_intercept)
        for (train, _), test in zip(splits, tests, strict=True)
    ]
    return np.sum(held_out, axis=0) / total
