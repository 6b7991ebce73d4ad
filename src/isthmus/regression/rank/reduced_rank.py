"""Reduced rank regression: ridge regression through a narrow bridge, in closed form."""

from copy import copy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from isthmus._checks import check_floats, check_int, check_length, check_scale
from isthmus._estimator import Estimator
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, choice, integer, none, real, several
from isthmus.blocks.moments import Moments
from isthmus.regression.rank.choice import (
    LEFT_OUT_ROWS,
    LEFT_OUT_WORK,
    PathChoice,
    best_of,
    penalty_grid,
    ridge_left_out_errors,
    steadiest,
    walk_penalties,
)
from isthmus.regression.rank.reduced_rank_formulas import (
    Scatter,
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
from isthmus.regression.selection import CRITERIA, Selection, as_selection
from isthmus.typing import Array, IntArray

AUTO = "auto"
A_RANK = integer(1) | choice("cv") | none
A_PENALTY = choice(AUTO) | real(0) | several(real(0))


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
    alpha : "auto", float or sequence of float, default="auto"
        Penalty. Of a sequence the best is taken, together with the rank. ``"auto"`` walks
        penalties of :math:`10^{-10}` to :math:`10^2` times the mean squared length of the centred
        inputs as long as the error of the best rank falls, so that the units of ``X`` do not
        matter. The published method has no penalty, ``alpha=0``, which is poor where inputs are
        correlated or many.
    cv : "auto", Selection, int, "loo" or splitter, default="auto"
        How to choose, see :class:`Selection`: folds, or exact leave-one-out, on all rows unless a
        Selection says otherwise. Every fold costs one fit for all ranks; leave-one-out costs an
        eigenproblem of the size of the outputs for each row. ``"auto"`` leaves out single rows, at
        most 2000 of them, unless there are so many outputs that five folds are much faster.
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
        The same, of rows left out, for each penalty looked at.
    alphas_ : ndarray of shape (n_alphas,), or None
        These penalties.

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

    _constraints: ClassVar[dict[str, Constraint]] = {
        "rank": A_RANK,
        "alpha": A_PENALTY,
        "cv": choice(AUTO) | CRITERIA,
        "fit_intercept": boolean,
    }

    def __init__(
        self,
        rank: int | str | None = None,
        *,
        alpha: Any = AUTO,
        cv: Any = AUTO,
        fit_intercept: bool = True,
    ):
        self.rank = rank
        self.alpha = alpha
        self.cv = cv
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map from rows ``X`` to outputs ``y``, each row counted by its weight."""
        choose = chooses_rank(self.rank)
        X, Y, weights = self._check_data(X, y, sample_weight)
        (n, d), o = X.shape, Y.shape[1]
        rank = min(d, o) if choose else self._check_rank(d, o)
        self._require_memory(n, d, o)

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

        found = self._choose(inputs, Y, weights, scatter, moments.count, None if choose else rank)
        alpha, rank = found.alpha, min(found.rank, rank)
        chosen = len(found.alphas) > 0
        self.cv_error_: Array | None = found.errors if chosen else None
        self.alphas_: Array | None = found.alphas if chosen else None
        path = next(rank_paths(scatter, [alpha]))
        self.rank_path_ = np.maximum(squared_errors(path, scatter), 0) / moments.count
        self.alpha_ = alpha
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

    def _require_memory(self, n: int, d: int, o: int) -> None:
        size = min(n, d) + o
        require_memory(
            self,
            8.0 * (3 * size**2 + (n * d if d > n else 0)),
            what=f"the moments of {min(n, d)} inputs and {o} outputs",
            avoid="Reduce the inputs or the outputs first, as by PCA.",
        )

    def _choose(
        self,
        X: Array,
        Y: Array,
        weights: Array | None,
        scatter: Scatter,
        count: float,
        rank: int | None,
    ) -> PathChoice:
        """Penalty and rank of smallest error on rows left out; what is given is left alone."""
        n_ranks = min(X.shape[1], Y.shape[1])
        auto = isinstance(self.alpha, str)
        alphas = [] if auto else check_floats(self.alpha, "alpha", self)
        if (len(alphas) == 1 and (rank is not None or n_ranks == 1)) or (auto and len(X) < 3):
            alpha = alphas[0] if alphas else penalty_grid(scatter, count)[0]
            return PathChoice(np.empty(0), np.empty((0, n_ranks)), alpha, rank or n_ranks)
        selection = self._selection(len(X), n_ranks)
        rows = selection.rows(len(X))
        if len(rows) < len(X):
            X, Y, weights = X[rows], Y[rows], None if weights is None else weights[rows]
        if Y.shape[1] > len(X):
            # Only sums of squares over outputs count: rotate them into few columns.
            Y = np.asarray(np.linalg.qr(Y.T, mode="r")).T
        if not auto:
            return best_of(alphas, self._cv_error(selection, X, Y, weights, alphas), rank)
        grid = penalty_grid(scatter, count)
        intercept = bool(self.fit_intercept)
        Xc, Yc = (_centred(A, weights) if intercept else A for A in (X, Y))
        if n_ranks == 1 and selection.leaves_one_out:
            whole = ridge_left_out_errors(Xc, Yc, weights, grid, fit_intercept=intercept)
            return PathChoice(np.array(grid), whole[:, None], grid[steadiest(whole)], 1)
        some = Selection("loo", LEFT_OUT_ROWS).rows(len(X))  # enough to know where to begin
        whole = ridge_left_out_errors(
            Xc[some],
            Yc[some],
            None if weights is None else weights[some],
            grid,
            fit_intercept=intercept,
        )
        return walk_penalties(
            grid,
            steadiest(whole),
            lambda alpha: self._cv_error(selection, X, Y, weights, [alpha])[0],
            rank,
        )

    def _selection(self, n: int, n_ranks: int) -> Selection:
        if not (isinstance(self.cv, str) and self.cv == AUTO):
            return as_selection(self.cv, self, max_rows=None)
        few = min(n, LEFT_OUT_ROWS) * (n_ranks + 1.0) ** 3 <= LEFT_OUT_WORK
        return Selection("loo", LEFT_OUT_ROWS) if few else Selection(min(5, n), None)

    def _cv_error(
        self,
        selection: Selection,
        X: Array,
        Y: Array,
        weights: Array | None,
        alphas: list[float],
    ) -> Array:
        """Mean squared error of rows left out, shape (n_alphas, n_ranks)."""
        intercept = bool(self.fit_intercept)
        if not selection.leaves_one_out:
            return cross_validated_errors(X, Y, weights, alphas, selection, fit_intercept=intercept)
        if intercept:
            X, Y = _centred(X, weights), _centred(Y, weights)
        errors = leave_one_out_errors(X, Y, weights, alphas, fit_intercept=intercept)
        return np.average(errors, axis=0, weights=weights)


def chooses_rank(rank: Any) -> bool:
    """Whether a rank is to be chosen rather than given."""
    return rank is None or (isinstance(rank, str) and rank == "cv")


def _centred(A: Array, weights: Array | None) -> Array:
    return np.asarray(A - np.average(A, axis=0, weights=weights), dtype=np.float64)


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
