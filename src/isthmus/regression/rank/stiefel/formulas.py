r"""Rank-constrained regression with any smooth loss, as functions on arrays.

The descent runs in coordinates in which the squared loss is a sphere: with
:math:`\sum_iw_ix_ix_i^\top=T\Lambda T^\top` the inputs become
:math:`z=(\Lambda+\alpha)^{-1/2}T^\top x`, and the map
:math:`F=\tilde F(\Lambda+\alpha)^{-1/2}T^\top`. Other losses bend that sphere only as far as their
slopes vary, so that collinear inputs cost no iterations.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import inner_products, product
from isthmus.linalg.threads import rest_in_threads, threads_for
from isthmus.losses.base import Loss, ResidualLoss
from isthmus.losses.spread import robust_spread, row_lengths
from isthmus.optimize.riemannian import FixedRank, FixedRankResult, Slope, minimize_fixed_rank
from isthmus.regression.rank.reduced_rank_formulas import BLOCK_ROWS
from isthmus.typing import Array

# Stages before the last only bring a good start.
STAGE_TOL = 1e-3
# Residuals that tell how curved a loss is, which sets the length of the first step.
CURVED = 4096
# Inverse of the condition number of the inputs' products from which a Cholesky factor whitens to
# ten digits.
LEAST_CONDITION = 1e-6


class StiefelProblem(NamedTuple):
    """Data in the coordinates of the descent.

    ``Z`` (n, k) are the inputs, ``Y`` (n, o) the outputs with zeros where they are missing,
    ``weights`` (n, 1) or (n, o) with zeros there, ``damp`` (k,) the penalty of each coordinate;
    ``F = F_z @ back``, ``F_z = F @ forth``. ``unit`` is the intercept of a unit ``b``.
    """

    Z: Array
    Y: Array
    weights: Array
    damp: Array
    back: Array
    forth: Array
    x_mean: Array
    unit: float
    alpha: float


def whiten(
    X: Array, Y: Array, row_weights: Array, alpha: float, *, fit_intercept: bool
) -> StiefelProblem:
    """Centre and whiten the inputs; missing outputs (NaN) get weight zero."""
    missing = np.isnan(Y)
    weights = row_weights[:, None]
    if missing.any():
        weights = weights * ~missing
        Y = np.where(missing, 0.0, Y)
    x_mean = row_weights @ X / row_weights.sum() if fit_intercept else np.zeros(X.shape[1])
    Xc = np.asarray(X - x_mean if fit_intercept else X, dtype=np.float64)
    Xw = Xc if bool((row_weights == 1).all()) else Xc * np.sqrt(row_weights)[:, None]
    damp, back, forth = _white_coordinates(Xw, alpha)
    return StiefelProblem(
        Z=product(Xc, back.T),
        Y=Y,
        weights=weights,
        damp=damp,
        back=back,
        forth=forth,
        x_mean=x_mean,
        unit=1 / np.sqrt(row_weights.sum()) if fit_intercept else 0.0,
        alpha=alpha,
    )


def _white_coordinates(X: Array, alpha: float) -> tuple[Array, Array, Array]:
    """``damp``, ``back`` and ``forth`` of a problem with the centred inputs ``X``.

    White coordinates may be turned: without a penalty, which is to be diagonal, those of a Cholesky
    factor are as good as those of a spectrum and cost far less, unless columns are dependent.
    """
    n, d = X.shape
    S = inner_products(X if d <= n else X.T)
    if d <= n and alpha == 0.0:
        R, failed = linalg.lapack.dpotrf(S, lower=0, clean=1)
        if not failed and linalg.lapack.dpocon(R, np.trace(S))[0] > LEAST_CONDITION:
            return np.zeros(d), linalg.lapack.dtrtri(R)[0].T, R.T
    eigenvalues, U = linalg.eigh(S, check_finite=False)
    keep = eigenvalues > len(eigenvalues) * np.finfo(float).eps * eigenvalues[-1]
    keep[-1] = True  # constant inputs: one coordinate that is zero
    eigenvalues = np.maximum(eigenvalues[keep], np.finfo(float).tiny)
    T = U[:, keep] if d <= n else product(X.T, U[:, keep] / np.sqrt(eigenvalues))
    size = np.sqrt(eigenvalues + alpha)
    return alpha / size**2, T.T / size[:, None], T * size


def objective(problem: StiefelProblem, loss: Loss) -> Callable[[FixedRank], Slope]:
    r"""The function :math:`\sum_{ij}w_{ij}\,\rho(y_{ij},p_{ij})+\alpha\|F\|^2` and its slopes.

    O(n(k + o)r): the map and its gradient are never formed, and the rows are taken in blocks
    that stay in the cache.
    """
    Z, Y, weights, damp, unit = (
        problem.Z,
        problem.Y,
        problem.weights,
        problem.damp,
        problem.unit,
    )
    if loss.least_squares and weights.shape[1] == 1:
        return _squared_objective(problem)
    uniform = weights.shape[1] == 1 and bool((weights == 1).all())
    blocks = list(block_slices(len(Z), Y.shape[1], block_size=BLOCK_ROWS))
    losses = [loss.for_rows(rows) for rows in blocks]

    def slope_at(point: FixedRank) -> Slope:
        V, s, W, b = point
        DW = damp[:, None] * W
        WDW = W.T @ DW
        sV, offset = (V * s).T, unit * b
        sums: list[Any] = [None] * len(blocks)

        def sum_block(i: int) -> None:
            rows, part_loss = blocks[i], losses[i]
            ZW = Z[rows] @ W
            P = ZW @ sV
            if unit:
                P += offset
            if uniform and isinstance(part_loss, ResidualLoss):
                P -= Y[rows]
                value, M = part_loss.summed(P)
            else:
                part = None if uniform else weights[rows]
                values, M = weighted_loss(part_loss, Y[rows], P, part)
                value = float(values.sum())
            sums[i] = value, M.T @ ZW, Z[rows].T @ (M @ V), M.sum(axis=0) if unit else 0.0

        rest_in_threads(sum_block, range(len(blocks)))
        total = float(s**2 @ np.diagonal(WDW))
        GW = 2 * (V * s) @ WDW
        GtV = 2 * DW * s
        gb = np.zeros_like(b)
        # In the order of the rows, so that rounding does not depend on threads.
        for value, *slopes in sums:
            total += value
            for whole, slope in zip((GW, GtV, gb), slopes, strict=True):
                whole += slope
        return Slope(total, GW, GtV, unit * gb)

    return slope_at


def _squared_objective(problem: StiefelProblem) -> Callable[[FixedRank], Slope]:
    r"""The same for the squared loss, where every output of a row has the row's weight.

    In whitened inputs it is a sphere, :math:`c+\|\tilde F-C\|^2+\|b-\bar y/u\|^2` with
    :math:`C=\sum_iw_iy_iz_i^\top`: no row is read again, O(kor).
    """
    Z, Y, unit, weights = problem.Z, problem.Y, problem.unit, problem.weights
    C = product((Y if bool((weights == 1).all()) else Y * weights).T, Z)
    middle = unit * (weights[:, 0] @ Y)
    rest = Y - product(Z, C.T)
    rest -= unit * middle
    constant = float(
        weights[:, 0] @ np.einsum("ij,ij->i", rest, rest) + np.sum(problem.damp * C**2)
    )

    def slope_at(point: FixedRank) -> Slope:
        V, s, W, b = point
        gap = (V * s) @ W.T - C
        shift = (b - middle) if unit else np.zeros_like(b)
        value = constant + float(np.vdot(gap, gap) + shift @ shift)
        return Slope(value, 2 * gap @ W, 2 * gap.T @ V, 2 * shift)

    return slope_at


def weighted_loss(loss: Loss, Y: Array, P: Array, weights: Array | None) -> tuple[Array, Array]:
    """Weighted losses and their slopes; ``weights`` (n, 1) or (n, o) are zero where Y is missing.

    Of a row whose length counts, what is missing has no part in the length.
    """
    if weights is None:
        return loss.evaluate(Y, P)
    if loss.shape != "ball":
        value, M = loss.evaluate(Y, P)
        return value * weights, M * weights
    row_weights = weights.max(axis=1)
    value, M = loss.evaluate(Y, np.where(weights > 0, P, Y))
    return value * row_weights, M * row_weights[:, None]


def loss_of_map(problem: StiefelProblem, loss: Loss, point: FixedRank) -> float:
    """The loss of a map over all rows, without penalty."""
    V, s, W, b = point
    P = product(product(problem.Z, W * s), V.T) + problem.unit * b
    return float(np.sum(weighted_loss(loss, problem.Y, P, problem.weights)[0]))


def loss_at_end(problem: StiefelProblem, result: FixedRankResult) -> float:
    """The same at the end of a descent, from its objective: no row is read again."""
    _, s, W, _ = result.point
    return result.value - float(s**2 @ np.einsum("kr,kr->r", W, problem.damp[:, None] * W))


def slope_scale(problem: StiefelProblem, loss: Loss) -> float:
    """Length of the loss' slopes where nothing is explained: the unit of optimality."""
    Y, weights = problem.Y, problem.weights
    counts = (weights > 0).sum(axis=0)
    middle = Y.sum(axis=0) / np.maximum(counts, 1)
    if isinstance(loss, ResidualLoss) and weights.shape[1] == 1 and loss.shape != "ball":
        M: Array = loss.summed(middle - Y)[1]
        if not bool((weights == 1).all()):
            M = M * weights
    else:
        M = weighted_loss(loss, Y, np.broadcast_to(middle, Y.shape), weights)[1]
    return max(float(np.linalg.norm(M)), np.finfo(float).tiny)


def mean_curvature(problem: StiefelProblem, loss: Loss, point: FixedRank) -> float | None:
    """Mean second derivative of a loss of residuals at those of a map, by a difference.

    Over some of the rows, evenly taken, where there are many.
    """
    if not isinstance(loss, ResidualLoss) or problem.weights.shape[1] > 1:
        return None
    some = slice(None, None, max(1, problem.Y.size // CURVED))
    loss, E = loss.for_rows(some), residuals(problem.Z[some], problem.Y[some], problem.unit, point)
    step = 1e-3 * float(np.abs(E).mean())
    if not step > 0.0:
        return None
    return float(np.mean(loss.summed(E + step)[1] - loss.summed(E)[1])) / step


def residuals(Z: Array, Y: Array, unit: float, point: FixedRank) -> Array:
    """Predictions of a map less the outputs."""
    V, s, W, b = point
    P = product(product(Z, W * s), V.T)
    if unit:
        P += unit * b
    P -= Y
    return P


def fill_missing(Y: Array) -> Array:
    """Put the median of its output in the place of what is missing."""
    missing = np.isnan(Y)
    return np.where(missing, np.nanmedian(Y, axis=0), Y) if missing.any() else Y


def closed_form_start(problem: StiefelProblem, loss: Loss, rank: int) -> FixedRank:
    """The closed form of the squared loss on outputs without their far values."""
    Z, weights, unit = problem.Z, problem.weights, problem.unit
    filled = problem.Y
    if not (weights > 0).all():
        observed = np.broadcast_to(weights > 0, problem.Y.shape)
        filled = fill_missing(np.where(observed, problem.Y, np.nan))
    weights = weights.max(axis=1)
    equal = bool((weights == 1).all())
    working = loss.working_outputs(filled, None if equal else weights)
    mean = weights @ working / weights.sum() if unit else np.zeros(working.shape[1])
    rest = working - mean if unit else working
    C = product((rest if equal else rest * weights[:, None]).T, Z)
    b = mean / unit if unit else mean
    return FixedRank(*truncate(C, rank), b)


def truncate(coef: Array, rank: int) -> tuple[Array, Array, Array]:
    """Factors of the best approximation of a matrix of the given rank."""
    u, s, vt = linalg.svd(coef, full_matrices=False, check_finite=False)
    return u[:, :rank], s[:rank], vt[:rank].T


def to_descent(point: FixedRank, forth: Array, unit: float) -> FixedRank:
    """A map in the units of the inputs, in the coordinates of the descent."""
    V, s, W, offset = point
    b = offset / unit if unit else offset
    return FixedRank(*truncate((V * s) @ (W.T @ forth), len(s)), b)


def residual_spread(problem: StiefelProblem, point: FixedRank, loss: Loss) -> float:
    """Robust spread of the residuals of a map, at least a millionth of that of the outputs.

    A residual is what the loss takes for one: a number, or the length of a row.
    """
    E = residuals(problem.Z, problem.Y, problem.unit, point)
    weights = np.broadcast_to(problem.weights, E.shape)
    equal = bool((problem.weights == 1).all())
    if loss.shape == "ball":
        lengths = row_lengths(np.where(weights > 0, E, 0.0))
        spread = robust_spread(lengths, None if equal else weights.max(axis=1))
    else:
        spread = robust_spread(E.ravel(), None if equal else weights.ravel())
    if equal:
        size = np.sqrt(problem.Y.var(axis=0).mean())
    else:
        mean = np.average(problem.Y, axis=0, weights=weights)
        size = np.sqrt(np.average((problem.Y - mean) ** 2, weights=weights))
    # Outputs without noise are fitted to rounding errors, which are no scale to work on.
    return max(spread, 1e-6 * float(size))


def minimize_in_stages(
    fun: Callable[[Loss], Callable[[FixedRank], Slope]],
    scale: Callable[[Loss], float],
    stages: tuple[Loss, ...],
    start: FixedRank,
    *,
    tol: float,
    max_iter: int,
    curvature: Callable[[Loss, FixedRank], float | None],
    callback: Callable[[int, float, float], None] | None = None,
) -> tuple[FixedRankResult, list[float]]:
    """Minimise smooth losses in turn, each from where the last ended.

    ``fun(loss)`` is what to minimise, ``scale(loss)`` a gradient of it that counts as large,
    ``curvature(loss, point)`` about its mean second derivative.
    Returns the result of the last, whose ``n_iter`` counts all, and the values on the way.
    """
    path: list[float] = []
    n_iter = 0
    point = start
    # Products with a block of rows and QR factors of a few columns take turns.
    with threads_for(2.0 * BLOCK_ROWS * len(start.W) * len(start.s)):
        for number, loss in enumerate(stages):
            last = number == len(stages) - 1
            result = minimize_fixed_rank(
                fun(loss),
                point,
                tol=tol if last else max(tol, STAGE_TOL),
                scale=scale(loss),
                max_iter=max_iter,
                curvature=2.0 if loss.least_squares else curvature(loss, point),
                sphere=loss.least_squares,
                callback=callback,
            )
            point = result.point
            n_iter += result.n_iter
            path += result.path
    return result._replace(n_iter=n_iter), path
