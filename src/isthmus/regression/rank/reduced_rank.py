"""Reduced rank regression: ridge regression through a narrow bridge, in closed form."""

from collections.abc import Callable
from copy import copy
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from isthmus._checks import check_floats
from isthmus._deferred import Deferred
from isthmus._memory import require_memory
from isthmus._parameters import Constraint, boolean, choice, integer, none, real, several
from isthmus.blocks.drawing import draw_rows
from isthmus.blocks.fitting import open_fit, refuse_blocks, require_outputs
from isthmus.blocks.moments import Moments, merge
from isthmus.blocks.rows import Rows
from isthmus.linalg.threads import threads_for
from isthmus.regression.rank.base import RankLimitedRegressor
from isthmus.regression.rank.choice import (
    LEFT_OUT_ROWS,
    LEFT_OUT_WORK,
    PathChoice,
    best_of,
    cross_validation,
    penalty_grid,
    ridge_left_out_errors,
    steadiest,
    walk_penalties,
)
from isthmus.regression.rank.in_blocks import (
    block_moments,
    choose_by_folds,
    matrices,
    moments_and_rows,
)
from isthmus.regression.rank.reduced_rank_formulas import (
    FEW_ROWS,
    Scatter,
    about_origin,
    leave_one_out_errors,
    path_of,
    ridge_map,
    row_space,
    scatter_of,
    scatter_of_rows,
    squared_errors,
)
from isthmus.regression.selection import CRITERIA, Selection, as_selection
from isthmus.typing import Array

AUTO = "auto"
A_RANK = integer(1) | choice("cv") | none
A_PENALTY = choice(AUTO) | real(0) | several(real(0))


# What takes a spectrum, which the map of full rank does not need.
LATER = ("V_", "s_", "W_", "rank_path_", "_path")


class Spectrum(NamedTuple):
    """What all ranks are computed from: the map of full rank, moments, the way to all inputs."""

    ridge: Array
    scatter: Scatter
    lift: tuple[Array, Array] | None


class ReducedRankRegression(RankLimitedRegressor):
    r"""Linear regression with a coefficient matrix of limited rank, in closed form.

    .. math:: \min_{F,b}\ \sum_i\|y_i-Fx_i-b\|^2+\alpha\|F\|_F^2
              \quad\text{subject to}\quad\operatorname{rank}F\le r .

    All outputs are predicted from the same :math:`r` combinations of inputs, which helps most if
    the outputs are related and noisy. Unlike partial least squares, the solution is the global
    minimum [Izenman1975]_, [Mukherjee2011]_, and one decomposition gives it for all ranks; with
    rank ``min(n_features, n_outputs)`` it is ridge regression.

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
    total_weight_ : float
        Number of training rows, or the sum of their weights.

    See Also
    --------
    StiefelRegression : other losses, missing outputs.
    SequentialStiefelRegression : streams of rows.

    Notes
    -----
    Moments are sums over blocks of rows in double precision: O(n(d+o)²) time, O((d+o)²) memory
    besides the data. With more features than rows the problem is solved in the span of the rows,
    O(n²d + n³). At full rank the factors and the errors of other ranks, which take a spectrum of
    the size of the outputs, are computed when they are first asked for, from the moments alone.

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

    V_ = Deferred()
    s_ = Deferred()
    W_ = Deferred()
    rank_path_ = Deferred()
    _path = Deferred()
    _pending: "Spectrum | None" = None

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
        # Moments of blocks of rows and spectra of their scatter take turns.
        with threads_for(max(min(n, FEW_ROWS) * (d + o) ** 2, min(n, d) ** 3)):
            return self._fit_rows(X, Y, weights, None if choose else rank)

    def _fit_rows(self, X: Array, Y: Array, weights: Array | None, asked: int | None) -> Self:
        n, d = X.shape
        rank = asked or min(d, Y.shape[1])
        inputs, lift = X, None
        if d > n:
            X_mean = np.average(X, axis=0, weights=weights) if self.fit_intercept else 0.0
            centred = np.asarray(X - X_mean, dtype=np.float64)
            inputs, lift = row_space(centred)
        center = bool(self.fit_intercept)
        scatter, count, means = scatter_of_rows(inputs, Y, weights, center=center)
        found = self._choose(inputs, Y, weights, scatter, count, asked)
        self._dtype: str | None = X.dtype.name
        if lift is None:
            return self._take(found, rank, scatter, count, means)
        # The coordinates are about X_mean, where the weights are; their mean is zero.
        means = np.broadcast_to(X_mean, d), means[1]
        return self._take(found, rank, scatter, count, means, (lift, centred))

    def _fit_blocks(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """The same, of rows that come in blocks."""
        rows = open_fit(self, X, y, sample_weight)
        require_outputs(self, rows)
        d, o = rows.checks[0].width or 1, rows.checks[1].width or 1
        if rows.n_rows is not None and rows.n_rows < d:
            return self.fit(*draw_rows(rows, d))  # in the span of the few rows
        choose = chooses_rank(self.rank)
        rank = min(d, o) if choose else self._check_rank(d, o)
        self._require_memory(d, d, o)
        self._flat, self._dtype = rows.checks[1].ndim == 1, rows.checks[0].dtype
        moments, found = self._choose_in_blocks(rows, None if choose else rank, d, o)
        means = moments.mean[:d], moments.mean[d:]
        return self._take(found, rank, scatter_of(moments, d), moments.count, means)

    def _choose_in_blocks(
        self, rows: Rows, rank: int | None, d: int, o: int
    ) -> tuple[Moments, PathChoice]:
        """Moments of all rows, and what is chosen: by the rows or folds as in memory."""
        about = (lambda moments: moments) if self.fit_intercept else about_origin
        n_ranks = min(d, o)
        auto = isinstance(self.alpha, str)
        alphas = [] if auto else check_floats(self.alpha, "alpha", self)
        if len(alphas) == 1 and (rank is not None or n_ranks == 1):
            none = np.empty((0, n_ranks))
            choice = PathChoice(np.empty(0), none, alphas[0], rank or n_ranks)
            return about(rows.fold(block_moments, merge)), choice
        selection = self._selection(rows.n_rows or LEFT_OUT_ROWS, n_ranks)
        if selection.max_rows is not None:
            moments, drawn = moments_and_rows(rows, selection)
            moments = about(moments)
            X, Y, weights = matrices(drawn)
            count = moments.count
            return moments, self._choose(X, Y, weights, scatter_of(moments, d), count, rank)
        if not isinstance(selection.criterion, Integral):
            refuse_blocks(
                self,
                f"cv={self.cv!r} leaves out rows among all of them",
                instead="A number of folds or a Selection with max_rows",
            )
        return choose_by_folds(
            rows,
            int(selection.criterion),
            None if auto else alphas,
            rank,
            fit_intercept=bool(self.fit_intercept),
        )

    def _take(
        self,
        found: PathChoice,
        rank: int,
        scatter: Scatter,
        count: float,
        means: tuple[Array, Array],
        lift: tuple[Array, Array] | None = None,
    ) -> Self:
        """Keep the path of all ranks at the chosen penalty, and the map of the chosen rank."""
        alpha, rank = found.alpha, min(found.rank, rank)
        chosen = len(found.alphas) > 0
        self.cv_error_: Array | None = found.errors if chosen else None
        self.alphas_: Array | None = found.alphas if chosen else None
        self.alpha_, self.total_weight_, self._means = alpha, float(count), means
        ridge = ridge_map(scatter, alpha)
        for name in LATER:
            self.__dict__.pop(name, None)
        self._pending = Spectrum(ridge, scatter, lift)
        if lift is None and rank == min(ridge.shape):
            self._set_coef(ridge, rank, *means, self._dtype)  # of other ranks nobody has asked yet
            return self
        self._settle_path()
        return self._set_rank(rank)

    def _settle_path(self) -> None:
        assert self._pending is not None  # or nobody asks
        ridge, scatter, lift = self._pending
        path = path_of(scatter.yx, ridge)
        self.rank_path_ = np.maximum(squared_errors(path, scatter), 0) / self.total_weight_
        if lift is not None:
            path = path._replace(ridge=(path.ridge @ lift[0].T) @ lift[1])
        self._path, self._pending = path, None

    def _settle(self) -> None:
        """Every rank and the factors of this one, when they are first asked for."""
        self._settle_path()
        self._set_factors(self.coef_, self._path.basis[:, : self.rank_], self._dtype)

    def __getstate__(self) -> Any:
        if vars(self).get("_pending") is not None:
            self._settle()
        return super().__getstate__()

    def at_rank(self, rank: int) -> "ReducedRankRegression":
        """Return the fit of another rank with the same penalty; nothing is fitted again."""
        check_is_fitted(self)
        other = copy(self)  # which settles what was put off
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
            return best_of(alphas, self._cv_errors(selection, X, Y, weights)(alphas), rank)
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
        errors = self._cv_errors(selection, X, Y, weights)
        return walk_penalties(grid, steadiest(whole), lambda alpha: errors([alpha])[0], rank)

    def _selection(self, n: int, n_ranks: int) -> Selection:
        if not (isinstance(self.cv, str) and self.cv == AUTO):
            return as_selection(self.cv, self, max_rows=None)
        few = min(n, LEFT_OUT_ROWS) * (n_ranks + 1.0) ** 3 <= LEFT_OUT_WORK
        return Selection("loo", LEFT_OUT_ROWS) if few else Selection(min(5, n), None)

    def _cv_errors(
        self, selection: Selection, X: Array, Y: Array, weights: Array | None
    ) -> Callable[[list[float]], Array]:
        """Mean squared error of rows left out, (n_alphas, n_ranks), as a function of penalties."""
        intercept = bool(self.fit_intercept)
        if not selection.leaves_one_out:
            return cross_validation(X, Y, weights, selection, fit_intercept=intercept)
        if intercept:
            X, Y = _centred(X, weights), _centred(Y, weights)

        def errors(alphas: list[float]) -> Array:
            found = leave_one_out_errors(X, Y, weights, alphas, fit_intercept=intercept)
            return np.asarray(np.average(found, axis=0, weights=weights))

        return errors


def chooses_rank(rank: Any) -> bool:
    """Whether a rank is to be chosen rather than given."""
    return rank is None or (isinstance(rank, str) and rank == "cv")


def _centred(A: Array, weights: Array | None) -> Array:
    return np.asarray(A - np.average(A, axis=0, weights=weights), dtype=np.float64)
