r"""Rank-constrained ridge regression in closed form, as functions on arrays.

With centred rows, scatter matrices :math:`S_{xx}=X^\top X`, :math:`S_{yx}=Y^\top X` and
:math:`A=S_{xx}+\alpha I`, the minimiser of :math:`\|Y-XF^\top\|^2+\alpha\|F\|^2` over matrices of
rank :math:`r` is

.. math:: F_{(r)}=U_rU_r^\top F_*,\qquad F_*=S_{yx}A^{-1},\qquad
          U_r=\text{the first }r\text{ eigenvectors of }S_{yx}A^{-1}S_{yx}^\top .

One eigendecomposition thus holds the answers for all ranks, and the moments are a sum over rows.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from isthmus.blocks.moments import Moments, map_block, merge
from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import FEW, mirror_lower, product
from isthmus.linalg.ridge import solve_positive
from isthmus.linalg.scratch import scratch
from isthmus.linalg.signs import fix_signs
from isthmus.linalg.threads import is_shared, rest_in_threads
from isthmus.typing import Array

# Rows of a block: its centred copy stays in the cache of one core, and products still run at
# full speed.
BLOCK_ROWS = 1024
# And where sums grow in place, so that no block costs a pass over them, in memory that is kept; and
# parts of many rows, each with sums of its own, that threads share.
FEW_ROWS, MOST_PARTS = 512, 16


class Scatter(NamedTuple):
    """Second moments of inputs and outputs about their means."""

    xx: Array
    yx: Array
    yy_diagonal: Array


class RankPath(NamedTuple):
    r"""Rank-constrained ridge solutions of all ranks for one penalty.

    ``basis[:, :r] @ basis[:, :r].T @ ridge`` is the one of rank ``r``; ``gain[j]`` is what
    direction ``j`` takes off the penalised squared error.
    """

    ridge: Array
    basis: Array
    gain: Array

    def coef(self, rank: int) -> Array:
        """The solution of one rank, shape (n_outputs, n_features)."""
        U = self.basis[:, :rank]
        return U @ (U.T @ self.ridge)


def joint_moments(X: Array, Y: Array, weights: Array | None = None) -> Moments:
    """Moments of the rows of ``[X, Y]``, block by block, in double precision."""

    width = X.shape[1] + Y.shape[1]
    # Filled again for every block: new memory costs more than what is done with it.
    buffer = np.empty((min(BLOCK_ROWS, len(X)), width))

    def moments(rows: slice) -> Moments:
        both = buffer[: rows.stop - rows.start]
        np.concatenate([X[rows], Y[rows]], axis=1, out=both)
        return map_block(both, None if weights is None else weights[rows], overwrite_x=True)

    blocks = block_slices(len(X), width, block_size=BLOCK_ROWS)
    return reduce(merge, map(moments, blocks))


def about_origin(moments: Moments) -> Moments:
    """The same sums about zero instead of the mean, for a fit without intercept."""
    mean = moments.mean
    scatter = moments.scatter + moments.count * mean[:, None] * mean
    return Moments(moments.count, np.zeros_like(mean), scatter)


def scatter_of(moments: Moments, n_features: int) -> Scatter:
    """The parts of joint moments that a regression needs."""
    d = n_features
    S = moments.scatter
    return Scatter(S[:d, :d], S[d:, :d], np.diagonal(S)[d:])


def scatter_of_rows(
    X: Array, Y: Array, weights: Array | None = None, *, center: bool = True
) -> tuple[Scatter, float, tuple[Array, Array]]:
    """The same of all rows at once, their count and their means, or zeros without ``center``.

    Sums grow in place about the means of the first rows, which are near those of all, so that what
    is put right in the end is small. Products of outputs with each other are not formed.
    """
    (n, d), o = X.shape, Y.shape[1]
    count = float(n if weights is None else weights.sum())
    shifts = [_first_mean(A, weights) * center for A in (X, Y)]
    parts = list(block_slices(n, d + o, block_size=part_rows(n, d)))
    sums: list[Any] = [None] * len(parts)

    def add(i: int) -> None:
        given = None if weights is None else weights[parts[i]]
        sums[i] = _sums_about(X[parts[i]], Y[parts[i]], given, *shifts)

    rest_in_threads(add, range(len(parts)))
    xx, yx, yy, *totals = sums[0]
    for more in sums[1:]:
        for total, term in zip((xx, yx, yy, *totals), more, strict=True):
            total += term
    mirror_lower(xx, step=FEW)
    if center and count > 0:
        x_off, y_off = (total / count for total in totals)
        xx -= (count * x_off)[:, None] * x_off
        yx -= (count * y_off)[:, None] * x_off
        yy -= count * y_off**2
        shifts = [shifts[0] + x_off, shifts[1] + y_off]
    return Scatter(xx, yx, yy), count, (shifts[0], shifts[1])


def _sums_about(
    X: Array, Y: Array, weights: Array | None, x_shift: Array, y_shift: Array
) -> tuple[Array, ...]:
    """Sums of products about given points, of the inputs' own the lower half, and of rows."""
    (n, d), o = X.shape, Y.shape[1]
    xx, yx = np.zeros((d, d)), np.zeros((o, d))
    yy, x_total, y_total = np.zeros(o), np.zeros(d), np.zeros(o)
    size = min(n, max(FEW_ROWS, d))  # a pass over the sums, for each block, is to cost little
    with scratch(size, d) as x_room, scratch(size, o) as y_room:
        for rows in block_slices(n, d + o, block_size=size):
            k = rows.stop - rows.start
            x = np.subtract(X[rows], x_shift, out=x_room[:k])
            y = np.subtract(Y[rows], y_shift, out=y_room[:k])
            w = np.ones(k) if weights is None else weights[rows]
            x_total += w @ x
            y_total += w @ y
            if weights is not None:
                x *= np.sqrt(w)[:, None]
                y *= np.sqrt(w)[:, None]
            if is_shared():  # SciPy keeps the interpreter's lock
                xx += x.T @ x
            else:
                blas.dsyrk(1.0, x.T, beta=1.0, c=xx.T, overwrite_c=1)  # the lower half
            yx += product(y.T, x)
            yy += np.einsum("ij,ij->j", y, y)
    return xx, yx, yy, x_total, y_total


def part_rows(n: int, d: int) -> int:
    """Rows of a part that one thread sums: of ``n``, few parts, whose sums take little room."""
    parts = min(n // (2 * FEW_ROWS), n // (4 * d), MOST_PARTS)
    return max(1, -(-n // max(1, parts)))


def _first_mean(A: Array, weights: Array | None) -> Array:
    w = np.ones(min(FEW_ROWS, len(A))) if weights is None else weights[:FEW_ROWS]
    return w @ A[:FEW_ROWS] / max(float(w.sum()), float(np.finfo(np.float64).tiny))


def rank_paths(
    scatter: Scatter, alphas: Sequence[float], *, max_rank: int | None = None
) -> Iterator[RankPath]:
    """Yield the solutions of all ranks for each penalty.

    One penalty costs a Cholesky factorisation, several share one eigendecomposition of
    the inputs' scatter: O(d³ + d²o), and O(o²d + o³) more for each.
    """
    S_xx, S_yx = scatter.xx, scatter.yx
    if len(alphas) == 1:
        yield path_of(S_yx, ridge_map(scatter, alphas[0]), max_rank)
        return
    eigenvalues, T = linalg.eigh(S_xx, check_finite=False)
    floor = len(S_xx) * np.finfo(float).eps * max(float(eigenvalues[-1]), np.finfo(float).tiny)
    B = S_yx @ T
    for alpha in alphas:
        # Directions in which the inputs do not vary carry rounding errors alone.
        shrink = np.where(eigenvalues > floor, 1 / np.maximum(eigenvalues + alpha, floor), 0)
        yield path_of(S_yx, (B * shrink) @ T.T, max_rank)


def ridge_map(scatter: Scatter, alpha: float) -> Array:
    """The solution without a limit to its rank, shape (n_outputs, n_features)."""
    A = scatter.xx.copy()
    A.flat[:: len(A) + 1] += alpha
    return solve_positive(A, scatter.yx.T, overwrite=True).T


def path_of(S_yx: Array, ridge: Array, max_rank: int | None = None) -> RankPath:
    """All ranks of a ridge solution, by the spectrum of the fitted outputs' scatter."""
    M = ridge @ S_yx.T
    o, d = S_yx.shape
    R = min(o, d) if max_rank is None else min(o, d, max_rank)
    gain, U = linalg.eigh((M + M.T) / 2, subset_by_index=[o - R, o - 1], check_finite=False)
    return RankPath(ridge, fix_signs(U[:, ::-1]), np.maximum(gain[::-1], 0))


def squared_errors(path: RankPath, scatter: Scatter) -> Array:
    """Sum of squared errors of each rank on data with the given moments, shape (n_ranks,).

    The moments are to be about the point that the model maps to the mean output.
    """
    G = path.basis.T @ path.ridge
    fitted = np.einsum("rd,rd->r", G @ scatter.xx, G)
    cross = np.einsum("rd,rd->r", path.basis.T @ scatter.yx, G)
    return scatter.yy_diagonal.sum() + np.cumsum(fitted - 2 * cross)


def factors(coef: Array, basis: Array) -> tuple[Array, Array, Array]:
    """Thin factors ``V, s, W`` of ``coef = V diag(s) W'``, whose columns ``basis`` span."""
    u, s, Wt = linalg.svd(basis.T @ coef, full_matrices=False, check_finite=False)
    V = basis @ u
    signed = fix_signs(V)
    signs = np.sign(np.einsum("or,or->r", signed, V))
    return signed, s, Wt.T * signs


def row_space(X: Array) -> tuple[Array, Array]:
    """Coordinates ``Z`` of the rows in their own span, and ``lift`` with ``X = Z (lift' X)``.

    For more columns than rows: ridge and rank do not depend on the orthonormal basis, so the
    problem in ``Z`` (n, k) has the solution ``(coef_z @ lift.T) @ X``. O(n²d + n³).
    """
    eigenvalues, U = linalg.eigh(X @ X.T, check_finite=False)
    keep = eigenvalues > len(X) * np.finfo(float).eps * eigenvalues[-1]
    if not keep.any():
        keep[-1] = True
    sigma = np.sqrt(np.maximum(eigenvalues[keep], np.finfo(float).tiny))
    return U[:, keep] * sigma, U[:, keep] / sigma


# Choosing rank and penalty ---------------------------------------------------------------


def fold_errors(
    parts: Sequence[Moments],
    n_features: int,
    alphas: Sequence[float],
    *,
    fit_intercept: bool,
) -> Array:
    """Held-out squared error of every penalty and rank, shape (n_folds, n_alphas, n_ranks).

    ``parts`` are the moments of disjoint sets of rows; each is held out once, and what it costs
    is one fit on the merged others. No row is looked at again.
    """
    errors = [
        held_out_errors(train, test, n_features, alphas, fit_intercept=fit_intercept)
        for train, test in zip(merged_others(parts), parts, strict=True)
    ]
    return np.array(errors)


def merged_others(parts: Sequence[Moments]) -> Iterator[Moments]:
    """For each of the parts the moments of all others."""
    for held_out in range(len(parts)):
        yield reduce(merge, (p for i, p in enumerate(parts) if i != held_out))


def held_out_errors(
    train: Moments,
    test: Moments,
    n_features: int,
    alphas: Sequence[float],
    *,
    fit_intercept: bool,
) -> Array:
    """Squared error on ``test`` of fits to ``train``, shape (n_alphas, n_ranks)."""
    if not fit_intercept:
        train, test = about_origin(train), about_origin(test)
    shift = test.mean - train.mean
    moved = Moments(test.count, train.mean, test.scatter + test.count * shift[:, None] * shift)
    target = scatter_of(moved, n_features)
    paths = rank_paths(scatter_of(train, n_features), alphas)
    return np.array([squared_errors(path, target) for path in paths])


def leave_one_out_errors(
    X: Array,
    Y: Array,
    weights: Array | None,
    alphas: Sequence[float],
    *,
    fit_intercept: bool,
) -> Array:
    r"""Exact squared error of every row left out, shape (n_samples, n_alphas, n_ranks).

    Leaving a row out changes :math:`M=S_{yx}A^{-1}S_{yx}^\top` by a matrix of rank two: with its
    leverage :math:`h`, output :math:`y` and fitted ridge value :math:`\hat y`,

    .. math:: M_{-i}=M-\hat yy^\top-y\hat y^\top+h\,yy^\top
              +\frac{(\hat y-hy)(\hat y-hy)^\top}{1-h},\qquad
              \hat y_{-i}=\frac{\hat y-hy}{1-h},

    so each costs the eigenvectors of a matrix of the size of the outputs and no new fit. ``X`` and
    ``Y`` are centred by their weighted means where an intercept is fitted. A weight above one
    counts copies of a row, of which one is left out.
    """
    n, d = X.shape
    w = np.ones(n) if weights is None else weights
    out = np.minimum(w, 1)
    # With row i the means go too: relative to the other rows, i lies W / (W - w) times as far.
    far = w.sum() / (w.sum() - out) if fit_intercept else np.ones(n)
    root = np.sqrt(out * far)
    Xw = X * np.sqrt(w)[:, None]
    Yw = Y * np.sqrt(w)[:, None]
    scatter = Scatter(Xw.T @ Xw, Yw.T @ Xw, np.einsum("ij,ij->j", Yw, Yw))
    R = min(d, Y.shape[1])
    errors = np.empty((n, len(alphas), R))
    for k, (alpha, path) in enumerate(zip(alphas, rank_paths(scatter, alphas), strict=True)):
        Xs = X * root[:, None]
        A = scatter.xx + alpha * np.eye(d)
        h = np.einsum("ij,ij->i", Xs, solve_positive(A, Xs.T).T)
        h = np.minimum(h, 1 - 1e-12)
        Ys, fitted = _in_basis(Y * root[:, None], Xs @ path.ridge.T, path.basis)
        M = np.zeros((Ys.shape[1],) * 2)
        M[np.arange(R), np.arange(R)] = path.gain
        for rows in block_slices(n, M.size):
            y, f = Ys[rows], fitted[rows]
            left = (f - h[rows, None] * y) / np.sqrt(1 - h[rows, None])
            fy = f[:, :, None] * y[:, None, :]
            Mi = M - fy - fy.transpose(0, 2, 1)
            Mi += h[rows, None, None] * y[:, :, None] * y[:, None, :]
            Mi += left[:, :, None] * left[:, None, :]
            U = np.linalg.eigh(Mi)[1][:, :, : -R - 1 : -1]
            predicted = np.einsum("ip,ipr->ir", left / np.sqrt(1 - h[rows, None]), U)
            true = np.einsum("ip,ipr->ir", y, U)
            error = (y**2).sum(axis=1)[:, None] + np.cumsum(
                predicted**2 - 2 * predicted * true, axis=1
            )
            # Undo the scaling of the row: root² = w far, the error itself lies far times as far.
            scale = np.divide(far[rows], out[rows], out=far[rows] ** 2, where=out[rows] > 0)
            errors[rows, k] = error * scale[:, None]
    return errors


def _in_basis(Y: Array, fitted: Array, U: Array) -> tuple[Array, Array]:
    """Outputs and fits in the coordinates that matter for their leave-one-out problem.

    The columns of ``U`` span all fits; of the rest of an output only its length matters, which
    becomes one more coordinate.
    """
    o, R = U.shape
    inside = Y @ U
    if o == R:
        return inside, fitted @ U
    outside = np.linalg.norm(Y - inside @ U.T, axis=1)
    return np.c_[inside, outside], np.c_[fitted @ U, np.zeros(len(Y))]
