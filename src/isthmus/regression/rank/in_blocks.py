"""Moments of rows in blocks, whole and in folds, and the rows on which a penalty is chosen."""

from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from isthmus.blocks.drawing import draw_rows, fold_and_draw
from isthmus.blocks.moments import Moments, merge
from isthmus.blocks.rows import Rows
from isthmus.regression.rank.choice import (
    LEFT_OUT_ROWS,
    PathChoice,
    best_of,
    penalty_grid,
    ridge_left_out_errors,
    steadiest,
    walk_penalties,
)
from isthmus.regression.rank.reduced_rank_formulas import (
    about_origin,
    fold_errors,
    joint_moments,
    scatter_of,
)
from isthmus.regression.selection import Selection
from isthmus.typing import Array, IntArray


def block_moments(X: Array, Y: Array, weights: Array | None = None) -> Moments:
    """Moments of the rows of ``[X, Y]`` of one block."""
    if weights is not None and (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`.")
    return joint_moments(X, Y.reshape(len(Y), -1), weights)


def moments_and_rows(rows: Rows, selection: Selection) -> tuple[Moments, tuple[Array, ...]]:
    """Moments of all rows, and those rows on which ``selection`` makes its choice.

    In memory the choice is made on the same rows, except that of an iterator, whose length nobody
    knows, other ones are drawn.
    """
    moments, drawn = fold_and_draw(
        rows, block_moments, merge, int(selection.max_rows or 0), selection.random_state
    )
    return moments, drawn


class FoldMoments:
    """Moments of the part of a block that lies in each fold of consecutive rows."""

    def __init__(self, ends: IntArray):
        self.ends = ends

    def __call__(
        self, X: Array, Y: Array, weights: Array | None = None, *, start: int
    ) -> list[Moments | None]:
        edges = np.clip(self.ends - start, 0, len(X))
        found: list[Moments | None] = []
        for a, b in pairwise(edges):
            part = slice(a, b)
            w = None if weights is None else weights[part]
            found.append(block_moments(X[part], Y[part], w) if b > a else None)
        return found


def merge_folds(a: list[Moments | None], b: list[Moments | None]) -> list[Moments | None]:
    """Moments of each fold over two sets of rows."""
    return [x if y is None else y if x is None else merge(x, y) for x, y in zip(a, b, strict=True)]


def folds_and_rows(
    rows: Rows, n_folds: int, n_drawn: int
) -> tuple[list[Moments], tuple[Array, ...]]:
    """Moments of stretches of rows, as scikit-learn's ``KFold`` cuts them, and some rows.

    The rows are those that :class:`Selection` draws by default.
    """
    rows.require_passes("to choose by folds")
    drawn = draw_rows(rows, n_drawn)
    n = rows.count()
    sizes = np.full(min(n_folds, n), n // min(n_folds, n))
    sizes[: n % len(sizes)] += 1
    found: list[Any] = rows.fold(FoldMoments(np.cumsum([0, *sizes])), merge_folds, numbered=True)
    return found, drawn


def matrices(drawn: tuple[Array, ...]) -> tuple[Array, Array, Array | None]:
    """Drawn rows as inputs, outputs and weights."""
    X, Y, *weights = drawn
    Y = np.asarray(Y, dtype=np.float64).reshape(len(Y), -1)
    return X, Y, np.asarray(weights[0], dtype=np.float64) if weights else None


def choose_by_folds(
    rows: Rows,
    n_folds: int,
    alphas: list[float] | None,
    rank: int | None,
    *,
    fit_intercept: bool,
) -> tuple[Moments, PathChoice]:
    """Moments of all rows, and penalty and rank of smallest error on stretches held out.

    ``alphas=None`` walks penalties in units of the data, from where leaving single rows out of
    ridge regression says.
    """
    parts, drawn = folds_and_rows(rows, n_folds, LEFT_OUT_ROWS)
    d = rows.checks[0].width or 1
    moments = reduce(merge, parts)
    total = moments.count
    moments = moments if fit_intercept else about_origin(moments)

    def errors(alphas: list[float]) -> Array:
        held_out = fold_errors(parts, d, alphas, fit_intercept=fit_intercept)
        return np.asarray(held_out.sum(axis=0) / total)

    if alphas is not None:
        return moments, best_of(alphas, errors(alphas), rank)
    grid = penalty_grid(scatter_of(moments, d), total)
    X, Y, weights = matrices(drawn)
    X, Y = X - moments.mean[:d], Y - moments.mean[d:]
    whole = ridge_left_out_errors(X, Y, weights, grid, fit_intercept=fit_intercept)
    return moments, walk_penalties(grid, steadiest(whole), lambda a: errors([a])[0], rank)
