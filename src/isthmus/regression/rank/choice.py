r"""Penalty and rank chosen together, in units of the data.

With all ranks allowed, the exact leave-one-out error of ridge regression is a closed form for every
penalty at once. It says where to begin; from there the penalties are walked as long as the error
of the best rank falls, each costing the errors of all ranks.
"""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.blocks.moments import Moments
from isthmus.blocks.slices import block_slices
from isthmus.linalg.threads import rest_in_threads
from isthmus.regression.rank.reduced_rank_formulas import (
    RankPath,
    Scatter,
    held_out_errors,
    joint_moments,
    merged_others,
    squared_errors,
)
from isthmus.regression.selection import Selection
from isthmus.typing import Array, IntArray

# Penalties in units of the mean squared length of the centred inputs.
POWERS = np.arange(-10, 2.01, 0.5)
# Exact leave-one-out takes an eigenproblem of the size of the outputs for each row: up to this many
# operations for a penalty it is preferred to folds, and on at most this many rows.
LEFT_OUT_WORK = 4e7
LEFT_OUT_ROWS = 2000
# Rows of a block whose residuals are taken for one penalty after another, at least, and numbers of
# such a block, which stay in the cache.
FEW_ROWS, FEW_VALUES = 128, 2**15


class PathChoice(NamedTuple):
    """The penalties looked at, the errors of all ranks for each, and the best of both."""

    alphas: Array
    errors: Array  # (n_alphas, n_ranks)
    alpha: float
    rank: int


def penalty_grid(scatter: Scatter, count: float) -> list[float]:
    """Penalties to walk on, increasing; multiples of 1 where the inputs do not vary."""
    unit = float(np.trace(scatter.xx)) / max(count, 1.0)
    return [float(power) for power in (unit if unit > 0 else 1.0) * 10.0**POWERS]


def steadiest(errors: Array) -> int:
    """The last of the smallest errors, those apart by rounding alone counted as equal.

    >>> steadiest(np.array([3.0, 1.0, 1.0, 2.0]))
    2
    """
    return int(np.flatnonzero(errors <= float(errors.min()) * (1 + 1e-9))[-1])


def best_of(alphas: list[float], errors: Array, rank: int | None) -> PathChoice:
    """The smallest error of all, or of one rank."""
    shown = errors if rank is None else errors[:, [min(rank, errors.shape[1]) - 1]]
    row, column = np.unravel_index(int(np.argmin(shown)), shown.shape)
    return PathChoice(
        np.array(alphas), errors, alphas[row], int(column) + 1 if rank is None else rank
    )


def walk_penalties(
    grid: list[float], start: int, errors: Callable[[float], Array], rank: int | None
) -> PathChoice:
    """Walk from ``grid[start]`` while the error of the best rank, or of ``rank``, falls."""
    known: dict[int, Array] = {}

    def score(i: int) -> float:
        if i not in known:
            known[i] = errors(grid[i])
        return float(known[i].min() if rank is None else known[i][min(rank, known[i].shape[0]) - 1])

    here = start
    while True:
        near = [i for i in (here - 1, here, here + 1) if 0 <= i < len(grid)]
        best = min(near, key=score)
        if score(best) >= score(here):
            break
        here = best
    seen = sorted(known)
    return best_of([grid[i] for i in seen], np.array([known[i] for i in seen]), rank)


def ridge_left_out_errors(
    X: Array, Y: Array, weights: Array | None, alphas: list[float], *, fit_intercept: bool
) -> Array:
    r"""Squared error of rows left out of ridge regression of full rank, exactly, for each penalty.

    ``X`` and ``Y`` are centred by their weighted means where an intercept is fitted. With
    :math:`B=\mathrm{diag}(\sqrt w)X=UsV^\top` the leverage of row :math:`i` is
    :math:`h_i=\sum_ku_{ik}^2s_k^2/(s_k^2+\alpha)`, the constant takes :math:`w_i/\sum w` more, and
    the residual left out is :math:`r_i/(1-h_i-w_i/\sum w)`. A weight above one counts copies of a
    row, of which one is left out: its leverage is :math:`1/w_i` of that.
    """
    w = np.ones(len(X)) if weights is None else weights
    root = np.sqrt(w)[:, None]
    U, s, _ = linalg.svd(X * root, full_matrices=False, check_finite=False)
    B = Y * root
    UtB, shrinks = U.T @ B, s**2 / (s**2 + np.array(alphas)[:, None])
    share = w / w.sum() if fit_intercept else np.zeros(len(w))
    copy = 1 / np.maximum(w, 1)
    (k, o), size = UtB.shape, max(FEW_ROWS, FEW_VALUES // max(1, sum(UtB.shape)))
    parts = list(block_slices(len(X), k + o, block_size=size))
    # Of a few outputs the fitted values for many penalties are one product.
    groups = list(block_slices(len(alphas), o, block_size=max(1, FEW_ROWS // max(1, o))))
    squares = np.zeros((len(parts), len(alphas)))

    def add(i: int) -> None:
        rows = parts[i]
        own, truth = U[rows], B[rows, None, :]
        left = 1 - copy[rows, None] * (own**2 @ shrinks.T + share[rows, None])
        left = np.maximum(left, 1e-12)
        for some in groups:
            maps = shrinks[some].T[:, :, None] * UtB[:, None, :]
            residuals = (own @ maps.reshape(k, -1)).reshape(len(own), -1, o)
            residuals -= truth
            lengths = np.einsum("iao,iao->ia", residuals, residuals)
            squares[i, some] = np.sum(lengths / left[:, some] ** 2, axis=0)

    rest_in_threads(add, range(len(parts)))
    # In the order of the rows, so that rounding does not depend on threads.
    return np.asarray(squares.sum(axis=0) / w.sum())


def generalized_errors(scatter: Scatter, count: float, alphas: list[float]) -> Array:
    r"""Generalised cross-validation of ridge regression, which needs the moments alone.

    .. math:: \frac{\mathrm{RSS}(\alpha)/n}{(1-(\mathrm{df}(\alpha)+1)/n)^2},\qquad
              \mathrm{df}=\sum_k\frac{\lambda_k}{\lambda_k+\alpha},

    leave-one-out with every leverage replaced by their mean [Golub1979]_.
    """
    eigenvalues, T = linalg.eigh(scatter.xx, check_finite=False)
    eigenvalues = np.maximum(eigenvalues, 0)
    squares = np.sum((scatter.yx @ T) ** 2, axis=0)
    total = float(scatter.yy_diagonal.sum())
    found = np.empty(len(alphas))
    for k, alpha in enumerate(alphas):
        gain = squares / (eigenvalues + alpha)
        rss = total - float(np.sum(gain * (2 - eigenvalues / (eigenvalues + alpha))))
        left = 1 - (float(np.sum(eigenvalues / (eigenvalues + alpha))) + 1) / max(count, 1.0)
        found[k] = max(rss, 0.0) / count / left**2 if left > 1e-9 else np.inf
    return found


def generalized_rank(path: RankPath, scatter: Scatter, count: float, alpha: float) -> int:
    r"""The rank of smallest generalised cross-validation error for one penalty.

    A map of rank r into o outputs has r(df + o - r) free numbers, that is this over o for each
    output: df for all o, as in ridge regression.
    """
    eigenvalues = np.maximum(linalg.eigvalsh(scatter.xx, check_finite=False), 0)
    top = max(float(eigenvalues[-1]), float(np.finfo(float).tiny))
    df = float(np.sum(eigenvalues / np.maximum(eigenvalues + alpha, 1e-12 * top)))
    n_outputs, ranks = len(scatter.yx), np.arange(1, path.basis.shape[1] + 1)
    free = ranks * np.maximum(df + n_outputs - ranks, 1) / n_outputs
    left = 1 - (free + 1) / max(count, 1.0)
    errors = np.maximum(squared_errors(path, scatter), 0)
    errors = np.where(left > 1e-9, errors / np.maximum(left, 1e-9) ** 2, np.inf)
    return int(np.argmin(errors)) + 1


def observed_penalty(X: Array, Y: Array, weights: Array | None, *, fit_intercept: bool) -> float:
    """Penalty of smallest leave-one-out error where every output has rows of its own.

    ``Y`` is NaN where nothing was seen. Of many outputs, a few dozen are enough.
    """
    w = np.ones(len(X)) if weights is None else weights
    center = np.average(X, axis=0, weights=w) if fit_intercept else np.zeros(X.shape[1])
    unit = float(np.average(np.sum((X - center) ** 2, axis=1), weights=w))

    def seen(j: int) -> tuple[Array, Array, Array]:
        rows = np.flatnonzero(~np.isnan(Y[:, j]) & (w > 0))[:LEFT_OUT_ROWS]
        return X[rows], Y[rows, j], w[rows]

    return penalty_of_outputs(unit, map(seen, few_of(Y.shape[1])), fit_intercept=fit_intercept)


def few_of(n_outputs: int) -> IntArray:
    """A few dozen of the outputs."""
    return np.linspace(0, n_outputs - 1, min(n_outputs, 30)).astype(int)


def penalty_of_outputs(
    unit: float, seen: Iterable[tuple[Array, Array, Array]], *, fit_intercept: bool
) -> float:
    """Penalty of smallest leave-one-out error, in units of the inputs' mean squared length.

    ``seen`` are inputs, output and weights of the rows in which each output was seen.
    """
    grid = [float(power) for power in (unit if unit > 0 else 1.0) * 10.0**POWERS]
    total = np.zeros(len(grid))
    for A, y, v in seen:
        if len(y) < 3:
            continue
        B = y[:, None]
        if fit_intercept:
            A, B = A - np.average(A, axis=0, weights=v), B - np.average(B, axis=0, weights=v)
        errors = ridge_left_out_errors(A, B, v, grid, fit_intercept=fit_intercept)
        total += errors * v.sum()
    return grid[steadiest(total)]


def cross_validation(
    X: Array,
    Y: Array,
    weights: Array | None,
    selection: Selection,
    *,
    fit_intercept: bool,
) -> Callable[[list[float]], Array]:
    """Mean squared error of folds left out, (n_alphas, n_ranks), as a function of the penalties.

    The moments of what is left out are summed once, for all penalties asked for.
    """
    d, splits = X.shape[1], selection.splits(len(X))

    def moments(rows: IntArray) -> Moments:
        return joint_moments(X[rows], Y[rows], None if weights is None else weights[rows])

    tests = [moments(test) for _, test in splits]
    total = sum(test.count for test in tests)
    # Of disjoint folds the others merge to the rest.
    disjoint = isinstance(selection.criterion, Integral)
    merged = list(merged_others(tests)) if disjoint else []

    def errors(alphas: list[float]) -> Array:
        trains = merged if disjoint else (moments(train) for train, _ in splits)
        held_out = [
            held_out_errors(train, test, d, alphas, fit_intercept=fit_intercept)
            for train, test in zip(trains, tests, strict=True)
        ]
        return np.asarray(np.sum(held_out, axis=0) / total)

    return errors
