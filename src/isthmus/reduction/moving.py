"""Points of a short expansion that are free to move.

A subset of the original points is a good start but not the best solution: Burges' reduced sets are
vectors of their own. The coefficients of many functions have a closed form, so that only the
points are searched for.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.linalg.products import product
from isthmus.linalg.threads import threads_for
from isthmus.optimize.metric_lbfgs import Evaluation, minimize_in_metric
from isthmus.reduction.gram import KernelGram, coefficient_blocks
from isthmus.typing import Array

_NUGGET = 1e-8  # share of the mean diagonal, since two points may meet
_OWN_SHARE = 1e-3  # weight of the functions themselves beside their values at the original points
_CUT = 1e-12  # singular values below this share of the largest are left out
_OWN_CURVATURE = 1.0  # what is added to the diagonal of the approximate Hessian, as a share
_PROGRESS = 1e-3  # share of what is left, or was gained, below which steps are the last
_HELD = 2**25  # kernel values kept between the two passes of an iteration; more are computed twice


class MovedPoints(NamedTuple):
    """Points, coefficients, and the squared error as a share of the squared length."""

    points: Array
    coefficients: Array
    error: float


def move_points(
    kernel: Kernel, X: Array, A: Array, Z: Array, *, max_iter: int = 200
) -> MovedPoints:
    r"""Move the points of a short expansion so that it comes closest to the long one.

    The best approximation of :math:`w^j=\sum_iA_{ij}\varphi(x_i)` over Z has the error

    .. math:: E(Z)=\sum_j\|w^j\|^2-\operatorname{tr}(G^\top K_{ZZ}^{-1}G),\qquad G=K_{ZX}A ,

    whose gradient is that of :math:`\operatorname{tr}(B^\top K_{ZZ}B-2B^\top G)` at the fixed
    coefficients :math:`B=K_{ZZ}^{-1}G`: matrix products. L-BFGS moves all points at once. A move of
    the points changes the short functions by :math:`\sum_kB_{kj}\nabla\varphi(z_k)`, whose
    inner products are nearly proportional to :math:`(BB^\top)\circ K_{ZZ}`: with this for a
    Hessian, points that count little or have close neighbours move as fast as the others.

    The final coefficients are those that come closest to the values of the functions at all
    :math:`x_i`, because predictions are made from values, and by a thousandth to the functions
    themselves.

    >>> import numpy as np
    >>> from isthmus.kernels import Gaussian
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> moved = move_points(Gaussian(1.0), X, np.ones((50, 1)), np.array([[0.0], [0.1]]))
    >>> bool(moved.error < 1e-2), np.sign(moved.points.ravel()).astype(int).tolist()
    (True, [-1, 1])
    """
    X, Z = np.asarray(X, dtype=float), np.array(Z, dtype=float)
    shape, blocks = Z.shape, list(block_slices(len(X), len(Z)))
    kernel = kernel.resolve(X)
    kernel(Z, X[:1])  # looked at here; what follows is within the same rows
    parts = [
        (X[rows], functions, A[rows, functions], kernel.against(X[rows]))
        for rows, functions in coefficient_blocks(A, len(Z), blocks[0].stop)
    ]
    values = KernelGram(kernel, X).dot(A)
    length = float(np.sum(A * values))
    if not length > 0.0:  # functions that are zero are met anywhere
        return MovedPoints(Z, np.zeros((len(Z), A.shape[1])), 0.0)

    def objective(flat: Array) -> Evaluation:
        Z = flat.reshape(shape)
        held: list[Array | None] = []
        G = np.zeros((len(Z), A.shape[1]))
        for _, functions, own, kernels in parts:
            C = kernels(Z)
            G[:, functions] += product(C, own)
            held.append(C if len(X) * len(Z) <= _HELD else None)
        K = kernel.gram(Z, Z)
        B = _solve(K, G)
        # The diagonal of K changes with both of its arguments, as every pair does.
        W = product(B, B.T)
        slope = kernel.weighted_gradient(Z, Z, W, K)
        for (rows, functions, own, _), kept in zip(parts, held, strict=True):
            slope -= kernel.weighted_gradient(Z, rows, product(B[:, functions], own.T), kept)
        error = 1.0 - float(np.sum(G * B)) / length
        return error, 2.0 * slope.ravel() / length, lambda: _metric(W * K, shape)

    Z = _apart(Z, X, A)
    with threads_for(2.0 * min(len(X), blocks[0].stop) * Z.size):
        found = minimize_in_metric(objective, Z.ravel(), max_iter=max_iter, tol=_PROGRESS)
    Z = found.x.reshape(shape)
    return MovedPoints(Z, *_fit_to_values(kernel, X, A, Z, values, length, blocks))


def _apart(Z: Array, X: Array, A: Array) -> Array:
    """Points no two of which are the same: the later of two starts where an object weighs most.

    Two points that start together can only part by rounding, with huge coefficients.
    """
    first = np.unique(Z, axis=0, return_index=True)[1]
    again = np.setdiff1d(np.arange(len(Z)), first)
    if not len(again):
        return Z
    heaviest = X[np.argsort(-np.einsum("ij,ij->i", A, A), kind="stable")]
    own = len(first)
    found = np.unique(np.vstack([Z[first], heaviest]), axis=0, return_index=True)[1]
    others = np.sort(found[found >= own])[: len(again)] - own
    Z = Z.copy()
    Z[again[: len(others)]] = heaviest[others]
    return Z


def _metric(H: Array, shape: tuple[int, ...]) -> Callable[[Array], Array]:
    """The inverse of a Hessian that is the same for all coordinates, and not singular here."""
    diagonal = H.diagonal()
    H = np.array(H, order="F")
    H.flat[:: len(H) + 1] += _OWN_CURVATURE * diagonal + 1e-3 * np.mean(diagonal)
    factor = _root(H)

    def inverse(v: Array) -> Array:
        solution, _ = lapack.dpotrs(factor, v.reshape(shape), lower=1)
        return np.ascontiguousarray(solution).ravel()

    return inverse


def _fit_to_values(
    kernel: Kernel,
    X: Array,
    A: Array,
    Z: Array,
    values: Array,
    length: float,
    blocks: list[slice],
) -> tuple[Array, float]:
    """Coefficients that come closest to the values, and by a small share to the functions.

    Least squares for values alone would fit those at a few points and nothing between them; a ridge
    towards zero would take away what machines with large coefficients of both signs are made of.
    """
    K, p = kernel(Z), len(Z)
    triangle, G, squares = np.zeros((0, p + A.shape[1])), np.zeros((p, A.shape[1])), 0.0
    for rows in blocks:
        C = kernel(Z, X[rows])
        G += product(C, A[rows])
        squares += float(np.sum(C**2))
        below = np.hstack([C.T, values[rows]])
        # Not normal equations: of small singular values squares would leave nothing.
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, below]), mode="r"))
    L = _factor(K)
    share = np.sqrt(_OWN_SHARE * squares / np.trace(K))
    own = share * np.hstack([L.T, linalg.solve_triangular(L, G, lower=True)])
    both = np.vstack([triangle, own])
    B: Array = linalg.lstsq(both[:, :p], both[:, p:], cond=_CUT)[0]
    error = length - 2.0 * float(np.sum(B * G)) + float(np.sum(B * (K @ B)))
    return B, max(error / length, 0.0)


def _solve(K: Array, G: Array) -> Array:
    solution, _ = lapack.dpotrs(_factor(K), G, lower=1)
    return np.asarray(solution)


def _factor(K: Array) -> Array:
    """The triangular root of K with a nugget."""
    K = np.array(K, order="F")
    K.flat[:: len(K) + 1] += _NUGGET * np.mean(K.diagonal())
    return _root(K)


def _root(K: Array) -> Array:
    """The triangular root of K, in its place."""
    # A step of the search takes less time than the checks around this.
    factor, failed = lapack.dpotrf(K, lower=1, overwrite_a=1)
    if failed or not np.isfinite(factor).all():
        raise linalg.LinAlgError("The kernel matrix of the moved points is not positive definite.")
    return np.asarray(factor)
