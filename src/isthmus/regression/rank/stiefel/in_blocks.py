"""Stiefel regression of rows in blocks: every step of the descent is a pass over them.

Medians are found by counting, the start by moments, and each value of the loss with its slopes is a
sum over rows: the descent is that of :mod:`.formulas`, of which no whitened inputs are kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from isthmus.blocks.medians import fold_medians
from isthmus.blocks.moments import Moments
from isthmus.blocks.rows import Rows
from isthmus.blocks.slices import block_slices
from isthmus.losses.base import Loss, ResidualLoss
from isthmus.losses.spread import NORMAL_MAD, row_lengths
from isthmus.optimize.riemannian import FixedRank, Slope
from isthmus.regression.rank.choice import LEFT_OUT_ROWS, few_of, penalty_of_outputs
from isthmus.regression.rank.reduced_rank_formulas import BLOCK_ROWS, about_origin, scatter_of
from isthmus.regression.rank.stiefel.formulas import truncate, weighted_loss
from isthmus.regression.rank.stiefel.working import (
    Survey,
    Working,
    add_up,
    keep_rows,
    working_moments,
    working_outputs,
)
from isthmus.typing import Array


class Frame(NamedTuple):
    """Whitened coordinates ``z = (x - x_mean) @ into``, see :class:`.formulas.StiefelProblem`."""

    into: Array
    damp: Array
    back: Array
    forth: Array
    x_mean: Array
    unit: float
    alpha: float

    def map_of(self, point: FixedRank) -> tuple[Array, Array]:
        """The matrix of the map from centred inputs, and the constant."""
        V, s, W, b = point
        return (self.into @ (W * s)) @ V.T, self.unit * b


def whitened_start(
    moments: Moments, d: int, rank: int, alpha: float, *, fit_intercept: bool
) -> tuple[Frame, FixedRank]:
    """Coordinates in which the squared loss is a sphere, and its closed form in them.

    ``moments`` are those of inputs and working outputs.
    """
    count = moments.count
    if not fit_intercept:
        moments = about_origin(moments)
    scatter = scatter_of(moments, d)
    eigenvalues, T = linalg.eigh(scatter.xx, check_finite=False)
    keep = eigenvalues > len(eigenvalues) * np.finfo(float).eps * eigenvalues[-1]
    keep[-1] = True
    eigenvalues, T = np.maximum(eigenvalues[keep], np.finfo(float).tiny), T[:, keep]
    size = np.sqrt(eigenvalues + alpha)
    unit = 1 / np.sqrt(count) if fit_intercept else 0.0
    into = T / size
    frame = Frame(
        into, alpha / size**2, T.T / size[:, None], T * size, moments.mean[:d], unit, alpha
    )
    mean = moments.mean[d:]
    start = truncate(scatter.yx @ into, min(rank, into.shape[1]))
    return frame, FixedRank(*start, mean / unit if unit else mean)


class Task(NamedTuple):
    """What a pass is sent."""

    loss: Loss
    frame: Frame
    point: FixedRank
    middle: Array | None = None
    step: float = 0.0


def _residuals(X: Array, Y: Any, weights: Any = None, *, start: int, state: Task) -> Any:
    """Sizes of residuals as the loss takes them, (m, 1), and their weights (m,)."""
    kept = keep_rows(state.loss, X, Y, weights, start)
    values, w = kept.entries
    F, offset = state.frame.map_of(state.point)
    E = values - (kept.X - state.frame.x_mean) @ F - offset
    if state.loss.shape == "ball":
        seen = E if w is None else np.where(np.broadcast_to(w, E.shape) > 0, E, 0.0)
        return row_lengths(seen)[:, None], None if w is None else w.max(axis=1)
    return np.abs(E).reshape(-1, 1), None if w is None else np.broadcast_to(w, E.shape).ravel()


class Sizes(NamedTuple):
    """Sums of residuals' sizes and of squared outputs about ``middle``, with their weights."""

    sizes: float
    weight: float
    squares: float
    all_weights: float


def _sizes(X: Array, Y: Any, weights: Any = None, *, start: int, state: Task) -> Sizes:
    size, w = _residuals(X, Y, weights, start=start, state=state)
    values, entries = keep_rows(state.loss, X, Y, weights, start).entries
    shares = np.broadcast_to(1.0 if entries is None else entries, values.shape)
    w = np.ones(len(size)) if w is None else w
    return Sizes(
        float(w @ size[:, 0]),
        float(w.sum()),
        float(np.sum(shares * (values - np.asarray(state.middle)) ** 2)),
        float(shares.sum()),
    )


def _slope_squares(X: Array, Y: Any, weights: Any = None, *, start: int, state: Task) -> float:
    """Squared length of the loss' slopes where nothing is explained."""
    kept = keep_rows(state.loss, X, Y, weights, start)
    values, w = kept.entries
    P = np.broadcast_to(np.asarray(state.middle), values.shape)
    return float(np.sum(weighted_loss(kept.loss, values, P, w)[1] ** 2))


def _steepening(X: Array, Y: Any, weights: Any = None, *, start: int, state: Task) -> Array:
    """Sum of what a step adds to the loss' slopes, without one of residuals' sizes; and how many.

    Nothing is missing, and rows count alike, whatever they weigh.
    """
    kept = keep_rows(state.loss, X, Y, weights, start)
    F, offset = state.frame.map_of(state.point)
    E = (kept.X - state.frame.x_mean) @ F + offset - kept.entries[0]
    if not state.step:
        return np.array([np.abs(E).sum(), E.size])
    loss: Any = kept.loss
    return np.array([np.sum(loss.summed(E + state.step)[1] - loss.summed(E)[1]), E.size])


class Slopes(NamedTuple):
    """Sums over rows of the loss and its slopes; inputs are centred."""

    value: float
    left: Array  # slopes times inputs on the right of the map
    right: Array
    constant: Array


def _slopes(X: Array, Y: Any, weights: Any = None, *, start: int, state: Task) -> Slopes:
    """Value and slopes over a block, in pieces that stay in the cache."""
    kept = keep_rows(state.loss, X, Y, weights, start)
    values, w = kept.entries
    V, s, W, b = state.point
    R, offset = state.frame.into @ W, state.frame.unit * b
    total, left, right = 0.0, np.zeros_like(V), np.zeros_like(R)
    constant = np.zeros_like(b)
    for rows in block_slices(len(values), values.shape[1], block_size=BLOCK_ROWS):
        Xc = np.asarray(kept.X[rows] - state.frame.x_mean, dtype=np.float64)
        ZW = Xc @ R
        P = (ZW * s) @ V.T + offset
        value, M = weighted_loss(
            kept.loss.for_rows(rows), values[rows], P, None if w is None else w[rows]
        )
        total += float(value.sum())
        left += M.T @ ZW
        right += Xc.T @ (M @ V)
        constant += M.sum(axis=0)
    return Slopes(total, left, right, constant)


def _cross(X: Array, Y: Any, weights: Any = None, *, start: int, state: Task) -> Array:
    """Products of outputs less the constant with centred inputs."""
    kept = keep_rows(state.loss, X, Y, weights, start)
    centred = kept.entries[0] - state.frame.unit * state.point.b
    return centred.T @ np.asarray(kept.X - state.frame.x_mean, dtype=np.float64)


@dataclass(frozen=True)
class BlockProblem:
    """A regression whose rows are read anew for every value of the loss.

    ``closed`` is the closed form of the squared loss on working outputs.
    """

    rows: Rows
    survey: Survey
    frame: Frame
    closed: FixedRank

    def spread(self, loss: Loss) -> float:
        """Robust spread of the residuals of the closed form, as of rows in memory."""
        mean = self.survey.weighted / self.survey.weights
        task = Task(loss, self.frame, self.closed, mean)
        found = NORMAL_MAD * float(fold_medians(self.rows, _residuals, 1, state=task)[0])
        sums = self.rows.fold(_sizes, add_up, state=task, numbered=True)
        if not found > 0:
            found = sums.sizes / sums.weight or 1.0
        return max(found, 1e-6 * float(np.sqrt(sums.squares / sums.all_weights)))

    def scale(self, loss: Loss) -> float:
        """Length of the loss' slopes where nothing is explained."""
        middle = self.survey.total / np.maximum(self.survey.observed, 1)
        task = Task(loss, self.frame, self.closed, middle)
        squares = self.rows.fold(_slope_squares, _plus, state=task, numbered=True)
        return max(float(np.sqrt(squares)), np.finfo(float).tiny)

    def curvature(self, loss: Loss, point: FixedRank) -> float | None:
        """Mean second derivative of a loss of residuals, as :func:`.formulas.mean_curvature`."""
        if not isinstance(loss, ResidualLoss) or (self.survey.observed < self.survey.n_kept).any():
            return None
        task = Task(loss, self.frame, point)
        total, n = self.rows.fold(_steepening, _plus, state=task, numbered=True)
        step = 1e-3 * float(total / n)
        if not step > 0.0:
            return None
        task = task._replace(step=step)
        total, n = self.rows.fold(_steepening, _plus, state=task, numbered=True)
        return float(total / n) / step

    def objective(self, loss: Loss) -> Callable[[FixedRank], Slope]:
        """The penalised loss and its slopes, by one pass for each point."""
        damp, frame = self.frame.damp, self.frame

        def slope_at(point: FixedRank) -> Slope:
            V, s, W, _ = point
            DW = damp[:, None] * W
            WDW = W.T @ DW
            sums: Slopes = self.rows.fold(
                _slopes, add_up, state=Task(loss, frame, point), numbered=True
            )
            return Slope(
                sums.value + float(s**2 @ np.diagonal(WDW)),
                sums.left + 2 * (V * s) @ WDW,
                frame.into.T @ sums.right + 2 * DW * s,
                frame.unit * sums.constant,
            )

        return slope_at

    def value(self, loss: Loss, point: FixedRank) -> float:
        """The loss of a map over all rows."""
        state = Task(loss, self.frame, point)
        sums: Slopes = self.rows.fold(_slopes, add_up, state=state, numbered=True)
        return sums.value

    def ridge_map(self, loss: Loss) -> Array:
        """The map of ridge regression, in the units of the inputs."""
        state = Task(loss, self.frame, self.closed)
        cross: Array = self.rows.fold(_cross, _plus, state=state, numbered=True)
        return cross @ self.frame.into @ self.frame.back


def _plus(a: Any, b: Any) -> Any:
    return a + b


class FirstObserved:
    """The first rows of a block in which each of some outputs was seen."""

    def __init__(self, loss: Loss, outputs: Any):
        self.loss, self.outputs = loss, outputs

    def __call__(self, X: Array, Y: Any, weights: Any = None, *, start: int) -> list[Any]:
        kept = keep_rows(self.loss, X, Y, weights, start)
        found = []
        for j in self.outputs:
            rows = np.flatnonzero(~np.isnan(kept.Y[:, j]))[:LEFT_OUT_ROWS]
            w = np.ones(len(rows)) if kept.weights is None else kept.weights[rows]
            found.append((kept.X[rows], kept.Y[rows, j], w))
        return found


def join_first(a: list[Any], b: list[Any]) -> list[Any]:
    """The first rows of two sets, for each output."""
    return [
        tuple(np.concatenate(parts)[:LEFT_OUT_ROWS] for parts in zip(x, y, strict=True))
        for x, y in zip(a, b, strict=True)
    ]


def penalty_by_passes(
    rows: Rows, loss: Loss, moments: Moments, d: int, o: int, *, fit_intercept: bool
) -> float:
    """The penalty that :func:`observed_penalty` chooses of rows in memory."""
    moments = moments if fit_intercept else about_origin(moments)
    unit = float(np.trace(moments.scatter[:d, :d])) / moments.count
    seen: list[Any] = rows.fold(FirstObserved(loss, few_of(o)), join_first, numbered=True)
    return penalty_of_outputs(unit, seen, fit_intercept=fit_intercept)


def open_problem(
    rows: Rows, loss: Loss, survey: Survey, closed: Any, *, choose: bool
) -> BlockProblem:
    """The descent's problem; ``closed``, an unfitted closed form, chooses rank and penalty."""
    working = working_outputs(rows, loss, survey)
    moments = working_moments(rows, working)
    rank, alpha = closed.rank, closed.alpha
    if choose:
        rank, alpha = choose_by_passes(closed, rows, working, moments, survey)
    d, intercept = rows.checks[0].width or 1, bool(closed.fit_intercept)
    frame, start = whitened_start(moments, d, int(rank), float(alpha), fit_intercept=intercept)
    return BlockProblem(rows, survey, frame, start)


def choose_by_passes(
    closed: Any, rows: Rows, working: Working, moments: Moments, survey: Survey
) -> tuple[int, float]:
    """Rank and penalty of ``closed``, an unfitted closed form, as they are chosen in memory."""
    loss, d = working.loss, rows.checks[0].width or 1
    intercept = bool(closed.fit_intercept)
    if isinstance(closed.alpha, str) and not loss.least_squares:
        closed.set_params(alpha=0.0)
    elif isinstance(closed.alpha, str) and (survey.observed < survey.n_kept).any():
        o = len(survey.observed)
        chosen = penalty_by_passes(rows, loss, moments, d, o, fit_intercept=intercept)
        closed.set_params(alpha=chosen)
    closed.fit(rows.mapped(working), None)
    return closed.rank_, float(closed.alpha_)
