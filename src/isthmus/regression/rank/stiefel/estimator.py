"""Stiefel regression: a map of limited rank under any loss."""

from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import check_piece, check_table
from isthmus._parameters import (
    Constraint,
    boolean,
    choice,
    condition,
    integer,
    real,
    verbosity,
)
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.drawing import draw_rows
from isthmus.blocks.fitting import open_fit, refuse_blocks, require_outputs
from isthmus.blocks.rows import Rows
from isthmus.linalg.threads import threads_for
from isthmus.losses.base import Loss
from isthmus.losses.resolve import as_loss
from isthmus.optimize.riemannian import FixedRank, FixedRankResult
from isthmus.regression.capabilities import named_or
from isthmus.regression.rank.base import RankLimitedRegressor
from isthmus.regression.rank.choice import observed_penalty
from isthmus.regression.rank.reduced_rank import (
    A_PENALTY,
    A_RANK,
    AUTO,
    ReducedRankRegression,
    chooses_rank,
)
from isthmus.regression.rank.stiefel.formulas import (
    StiefelProblem,
    closed_form_start,
    fill_missing,
    loss_at_end,
    loss_of_map,
    mean_curvature,
    minimize_in_stages,
    objective,
    residual_spread,
    slope_scale,
    to_descent,
    truncate,
    whiten,
)
from isthmus.regression.rank.stiefel.in_blocks import open_problem
from isthmus.regression.rank.stiefel.published import descend_in_stages
from isthmus.regression.rank.stiefel.working import (
    MissingOutputsError,
    refuse_missing,
    rows_with_outputs,
    survey_rows,
)
from isthmus.regression.selection import CRITERIA
from isthmus.typing import Array, BoolArray

STARTS = ("auto", "identity", "ridge", "pls")
INIT = f"{', '.join(map(repr, STARTS))} or a tuple (V, s, W) of arrays of numbers"


def _is_start(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 3


class StiefelRegression(RankLimitedRegressor):
    r"""Linear regression of limited rank under a loss of choice.

    .. math:: \min_{V,s,W,b}\ \sum_{ij}w_{ij}\,\rho\bigl(y_{ij},[V\operatorname{diag}(s)W^\top x_i
              +b]_j\bigr)+\alpha\|s\|^2,\qquad V^\top V=W^\top W=I_r .

    The columns of ``V`` and ``W`` are points of Stiefel manifolds, hence the name. For the squared
    loss the global minimum has a closed form; a robust loss keeps a few wild outputs from
    bending the map, and the logistic one makes it a joint classifier of many yes/no outputs.

    Parameters
    ----------
    rank : int, None or "cv", default=None
        Number of combinations of inputs from which all outputs are predicted. None and ``"cv"``
        choose it by cross-validation of the closed form; for losses other than the squared one, on
        outputs whose outliers were pulled in.
    loss : name or loss piece, default="squared"
        ``"squared"``, ``"absolute"``, ``"huber"``, ``"pseudo_huber"``, ``"log_cosh"``,
        ``"epsilon"``, ``"quantile"``, ``"logistic"`` or one of the pieces of
        :mod:`isthmus.losses`, whose parameters can be set.
    alpha : "auto", float or sequence of float, default="auto"
        Penalty of the squared strengths; one of a sequence is chosen like the rank. ``"auto"``
        chooses it for the squared loss by exact leave-one-out in units of the data, together with
        the rank; for other losses, for which there is no such formula, it is 0. The published
        method has none for any loss.
    solver : {"auto", "riemannian", "published"}, default="auto"
        ``"auto"`` takes the closed form where there is one (squared loss, no missing outputs), else
        Riemannian L-BFGS on matrices of fixed rank. ``"published"`` is the original scheme:
        descent on geodesics of the two bases, kept for comparison; it stops when the value falls
        by less than 1e-9 of itself.
    init : {"auto", "identity", "ridge", "pls"} or tuple (V, s, W), default="auto"
        Where an iteration starts: from the closed form of the squared loss (``"auto"``; for the
        published solver the identity), from the truncated ridge map or the partial least squares
        map.
    cv : "auto", Selection, int, "loo" or splitter, default="auto"
        How rank and penalty are chosen, see :class:`ReducedRankRegression`.
    fit_intercept : bool, default=True
        Fit a constant ``b`` together with the map, under the same loss.
    tol : float, default=1e-5
        Required optimality, see ``optimality_``.
    max_iter : int, default=1000
        Maximum number of iterations, per stage where the loss is approached in stages.
    verbose : int, default=0
        One line of progress on a terminal.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        The map :math:`F=V\operatorname{diag}(s)W^\top`.
    intercept_ : ndarray of shape (n_outputs,)
    V_, s_, W_ : ndarrays of shape (n_outputs, rank_), (rank_,), (n_features, rank_)
    rank_, alpha_ : int, float
    loss_ : loss
        The loss with its numbers, such as the width of the Huber loss.
    optimality_ : float
        Length of the gradient on the manifold of matrices of this rank, relative to the slopes of
        the loss where nothing is explained; zero for the closed form, by construction.
    n_iter_ : int
    loss_path_ : ndarray
        The value on the way; it never rises within a stage.
    objective_ : float
        Loss and penalty at the end, without any smoothing.

    Notes
    -----
    An output that is NaN is missing and has weight zero; a row without any outputs is dropped.
    An iteration costs O(n(d + o)r). Outliers among the *inputs* are not guarded against.

    Examples
    --------
    One wild output hardly moves the map:

    >>> import numpy as np
    >>> from isthmus.regression import StiefelRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> F = rng.normal(size=(4, 2)) @ rng.normal(size=(2, 5))
    >>> Y = X @ F.T + 0.1 * rng.normal(size=(200, 4))
    >>> Y[0, 0] = 1000
    >>> for loss in ("squared", "absolute"):
    ...     error = np.linalg.norm(StiefelRegression(2, loss=loss).fit(X, Y).coef_ - F)
    ...     print(loss, bool(error < 0.1))
    squared False
    absolute True
    """

    __module__ = "isthmus.regression"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "rank": A_RANK,
        "loss": named_or(as_loss, "a loss or its name"),
        "alpha": A_PENALTY,
        "solver": choice("auto", "riemannian", "published"),
        "init": choice(*STARTS) | condition("a tuple (V, s, W) of arrays of numbers", _is_start),
        "cv": choice(AUTO) | CRITERIA,
        "fit_intercept": boolean,
        "tol": real(0, include_low=False),
        "max_iter": integer(1),
        "verbose": verbosity,
    }

    def __init__(
        self,
        rank: int | str | None = None,
        *,
        loss: Any = "squared",
        alpha: Any = AUTO,
        solver: str = "auto",
        init: Any = "auto",
        cv: Any = AUTO,
        fit_intercept: bool = True,
        tol: float = 1e-5,
        max_iter: int = 1000,
        verbose: int = 0,
    ):
        self.rank = rank
        self.loss = loss
        self.alpha = alpha
        self.solver = solver
        self.init = init
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the map from rows ``X`` to outputs ``y``, in which NaN stands for missing."""
        loss: Loss = check_piece(self.loss, "loss", self, as_loss)
        X, Y, weights = self._check_data(X, y, sample_weight, missing=True)
        loss.check_outputs(Y)
        if not chooses_rank(self.rank):
            self._check_rank(X.shape[1], Y.shape[1])
        dtype = X.dtype
        keep = rows_with_outputs(self, Y, weights)
        if not keep.all():
            X, Y, weights = X[keep], Y[keep], None if weights is None else weights[keep]
            loss = loss.for_rows(keep)
        if self.solver == "auto" and loss.least_squares and not np.isnan(Y).any():
            return self._take_closed(self._closed_form(keep).fit(X, Y, weights), loss)

        rank, alpha = self._choose(loss, X, Y, weights, keep)
        row_weights = np.ones(len(X)) if weights is None else weights
        # Products and a spectrum take turns.
        with threads_for(2.0 * X.size * max(X.shape[1], Y.shape[1])):
            problem = whiten(X, Y, row_weights, alpha, fit_intercept=bool(self.fit_intercept))
            closed = closed_form_start(problem, loss, min(rank, problem.Z.shape[1]))
            spread = residual_spread(problem, closed, loss) if loss.needs_spread else 1.0
        loss = loss.resolve(spread)
        if self.solver == "published":
            loss = loss.as_published()
        self.loss_, self.alpha_ = loss, alpha
        result = self._descend(problem, stages := loss.stages(spread), X, closed)
        same = self.solver != "published" and stages[-1] is loss
        value = loss_at_end(problem, result) if same else loss_of_map(problem, loss, result.point)
        return self._take_result(problem, result, value, dtype)

    def _fit_blocks(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """The same, of rows that come in blocks: a closed form, or a pass for each step."""
        loss: Loss = check_piece(self.loss, "loss", self, as_loss)
        if self.solver == "published" or (isinstance(self.init, str) and self.init == "pls"):
            setting = "solver='published'" if self.solver == "published" else "init='pls'"
            refuse_blocks(self, f"{setting} needs all rows at once", instead='solver="riemannian"')
        rows = open_fit(self, X, y, sample_weight, missing=("y",))
        require_outputs(self, rows)
        d, o = rows.checks[0].width or 1, rows.checks[1].width or 1
        if not chooses_rank(self.rank):
            self._check_rank(d, o)
        if rows.n_rows is not None and rows.n_rows < d:
            return self.fit(*draw_rows(rows, d))  # in the span of the few rows
        self._flat = rows.checks[1].ndim == 1
        if self.solver == "auto" and loss.least_squares:
            try:
                closed = self._closed_form().fit(rows.mapped(refuse_missing), None)
                return self._take_closed(closed, loss)
            except MissingOutputsError:
                rows.require_passes("outputs that are missing take an iteration")
        return self._fit_by_passes(rows, loss)

    def _fit_by_passes(self, rows: Rows, loss: Loss) -> Self:
        rows.require_passes("every step of the descent is a pass over them")
        survey = survey_rows(self, rows, loss)
        choose = chooses_rank(self.rank) or not isinstance(self.alpha, Real)
        problem = open_problem(rows, loss, survey, self._closed_form(), choose=choose)
        frame, start = problem.frame, problem.closed
        spread = problem.spread(loss) if loss.needs_spread else 1.0
        self.loss_, self.alpha_ = loss.resolve(spread), frame.alpha
        begin = start
        if not self._starts_closed():
            ridge = isinstance(self.init, str) and self.init == "ridge"
            closed = (start.V * start.s) @ (start.W.T @ frame.back)
            coef = problem.ridge_map(loss) if ridge else closed
            begin = self._start_from(coef, len(start.s), frame.unit * start.b)
            begin = to_descent(begin, frame.forth, frame.unit)
        stages = self.loss_.stages(spread)
        fun = problem.objective, problem.scale, problem.curvature
        result = self._minimize(fun, stages, begin)
        value = problem.value(self.loss_, result.point)
        return self._take_result(frame, result, value, rows.checks[0].dtype)

    def _closed_form(self, keep: BoolArray | None = None) -> ReducedRankRegression:
        cv = self.cv
        if isinstance(cv, (list, tuple)) and keep is not None and not keep.all():
            # Pairs of row numbers count the rows that were given.
            number = np.cumsum(keep) - 1
            cv = [tuple(number[part][keep[part]] for part in pair) for pair in cv]
        return ReducedRankRegression(
            self.rank, alpha=self.alpha, cv=cv, fit_intercept=self.fit_intercept
        )

    def _choose(
        self, loss: Loss, X: Array, Y: Array, weights: Array | None, keep: BoolArray
    ) -> tuple[int, float]:
        """Rank and penalty, given or chosen by the closed form on outputs without far values."""
        robust = isinstance(self.alpha, str) and not loss.least_squares
        alpha = 0.0 if robust else self.alpha
        if not chooses_rank(self.rank) and isinstance(alpha, Real):
            return int(self.rank), float(alpha)  # type: ignore[arg-type]
        if isinstance(alpha, str) and np.isnan(Y).any():
            alpha = observed_penalty(X, Y, weights, fit_intercept=bool(self.fit_intercept))
        closed = self._closed_form(keep).set_params(alpha=alpha)
        closed.fit(X, loss.working_outputs(fill_missing(Y), weights), weights)
        return closed.rank_, float(closed.alpha_)

    def _descend(
        self, problem: StiefelProblem, stages: tuple[Loss, ...], X: Array, closed: FixedRank
    ) -> FixedRankResult:
        """Minimise the stages of the loss in turn, from the start that was asked for."""
        fun = [partial(f, problem) for f in (objective, slope_scale, mean_curvature)]
        if self._starts_closed():
            return self._minimize(fun, stages, closed)
        offset = problem.unit * closed.b
        coef = (closed.V * closed.s) @ (closed.W.T @ problem.back)
        if isinstance(self.init, str) and self.init == "ridge":
            coef = (problem.Y - offset).T @ problem.Z @ problem.back
        elif isinstance(self.init, str) and self.init == "pls":
            coef = PLSRegression(len(closed.s), scale=False).fit(X, problem.Y).coef_
        start = self._start_from(coef, len(closed.s), offset)
        if self.solver != "published":
            return self._minimize(fun, stages, to_descent(start, problem.forth, problem.unit))
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            result, path = descend_in_stages(
                problem, stages, X, start, max_iter=int(self.max_iter), callback=_shown(line)
            )
        return result._replace(path=path)

    def _starts_closed(self) -> bool:
        """Whether the descent begins at the closed form, which is in its coordinates already."""
        return self.solver != "published" and isinstance(self.init, str) and self.init == "auto"

    def _minimize(
        self, functions: Any, stages: tuple[Loss, ...], start: FixedRank
    ) -> FixedRankResult:
        fun, scale, bend = functions  # what is minimised, its unit, its curvature
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            result, path = minimize_in_stages(
                fun,
                scale,
                stages,
                start,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
                curvature=bend,
                callback=_shown(line),
            )
        return result._replace(path=path)

    def _take_result(self, frame: Any, result: FixedRankResult, value: float, dtype: Any) -> Self:
        """Keep the map at the end of a descent, in the units of the inputs; ``value`` its loss."""
        self.loss_path_ = np.array(result.path)
        self.optimality_, self.n_iter_ = result.optimality, max(1, result.n_iter)
        if not result.converged:
            warn(
                f"StiefelRegression stopped with optimality {self.optimality_:.1e} after "
                f"{self.n_iter_} iterations (wanted: {self.tol:.1e}). Raise max_iter or tol.",
                ConvergenceWarning,
            )
        V, s, W, b = result.point
        coef = (V * s) @ (W.T @ frame.back)
        self.objective_ = float(value + self.alpha_ * np.sum(coef**2))
        self._set_map(coef, V, frame.x_mean, frame.unit * b, dtype)
        return self

    def predict(self, X: Any) -> Array:
        """Return the outputs for the rows of ``X``; probabilities under the logistic loss."""
        P = self._raw_predictions(X)
        P = self.loss_.response(P)
        return P[:, 0] if self._flat else P

    def _take_closed(self, closed: ReducedRankRegression, loss: Loss) -> Self:
        """Keep what the closed form found."""
        for name in ("coef_", "intercept_", "V_", "s_", "W_", "rank_", "alpha_"):
            setattr(self, name, getattr(closed, name))
        error = closed.rank_path_[closed.rank_ - 1] * closed.total_weight_
        self.objective_ = float(error + closed.alpha_ * np.sum(closed.s_**2))
        self.loss_, self.optimality_, self.n_iter_ = loss, 0.0, 1
        self.loss_path_ = np.array([self.objective_])
        return self

    def _start_from(self, coef: Array, rank: int, offset: Array) -> FixedRank:
        """The starting map in the units of the inputs: ``coef``, or another that was asked for."""
        (o, d), init = coef.shape, self.init
        if isinstance(init, str) and init == "auto" and self.solver == "published":
            init = "identity"
        if isinstance(init, str) and init == "identity":
            return FixedRank(np.eye(o, rank), np.ones(rank), np.eye(d, rank), offset)
        if isinstance(init, tuple):
            V, s, W = (
                check_table(part, "init", self, expected=INIT, ensure_2d=False) for part in init
            )
            if V.shape != (o, rank) or s.shape != (rank,) or W.shape != (d, rank):
                raise ValueError(
                    "The 'init' parameter of StiefelRegression must hold arrays of shapes "
                    f"{(o, rank)}, {(rank,)} and {(d, rank)}. Got {V.shape}, {s.shape} and "
                    f"{W.shape} instead."
                )
            return FixedRank(V, s, W, offset)
        return FixedRank(*truncate(coef, rank), offset)


def _shown(line: ProgressLine) -> Callable[[int, float, float], None]:
    def show(step: int, value: float, optimality: float) -> None:
        line.update(step=step, objective=value, optimality=optimality)

    return show
