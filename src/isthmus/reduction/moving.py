"""Points of a short expansion that are free to move.

A subset of the original points is a good start but not the best solution: Burges' reduced sets are
vectors of their own. The coefficients of many functions have a closed form, so that only the
points are searched for.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.optimize import minimize

from isthmus.blocks.slices import block_slices
from isthmus.kernels.base import Kernel
from isthmus.reduction.gram import KernelGram
from isthmus.typing import Array

_NUGGET = 1e-8  # share of the mean diagonal, since two points may meet
_RIDGE = 1e-6  # of the coefficients fitted to values, for the same reason
_HELD = 2**25  # kernel values kept between the two passes of an iteration; more are computed twice


class MovedPoints(NamedTuple):
    """Points, coefficients, and the squared error as a share of the squared length."""

    points: Array
    coefficients: Array
    error: float


def move_points(
    kernel: Kernel, X: Array, A: Array, Z: Array, *, max_iter: int = 100
) -> MovedPoints:
    r"""Move the points of a short expansion so that it comes closest to the long one.

    The best approximation of :math:`w^j=\sum_iA_{ij}\varphi(x_i)` over Z has the error

    .. math:: E(Z)=\sum_j\|w^j\|^2-\operatorname{tr}(G^\top K_{ZZ}^{-1}G),\qquad G=K_{ZX}A ,

    whose gradient is that of :math:`\operatorname{tr}(B^\top K_{ZZ}B-2B^\top G)` at the fixed
    coefficients :math:`B=K_{ZZ}^{-1}G`: matrix products. L-BFGS moves all points at once. The final
    coefficients are those that come closest to the values of the functions at all :math:`x_i`,
    because predictions are made from values.

    >>> import numpy as np
    >>> from isthmus.kernels import Gaussian
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> moved = move_points(Gaussian(1.0), X, np.ones((50, 1)), np.array([[0.0], [0.1]]))
    >>> bool(moved.error < 1e-2), np.sign(moved.points.ravel()).astype(int).tolist()
    (True, [-1, 1])
    """
    X, Z = np.asarray(X, dtype=float), np.array(Z, dtype=float)
    shape, blocks = Z.shape, list(block_slices(len(X), len(Z)))
    values = KernelGram(kernel, X).dot(A)
    length = float(np.sum(A * values))

    def objective(flat: Array) -> tuple[float, Array]:
        Z = flat.reshape(shape)
        held: list[Array | None] = []
        G = np.zeros((len(Z), A.shape[1]))
        for rows in blocks:
            C = kernel(Z, X[rows])
            G += C @ A[rows]
            held.append(C if len(X) * len(Z) <= _HELD else None)
        K = kernel(Z)
        B = _solve(K, G)
        # The diagonal of K changes with both of its arguments, as every pair does.
        slope = kernel.weighted_gradient(Z, Z, B @ B.T, K)
        for rows, kept in zip(blocks, held, strict=True):
            slope -= kernel.weighted_gradient(Z, X[rows], B @ A[rows].T, kept)
        return 1.0 - float(np.sum(G * B)) / length, 2.0 * slope.ravel() / length

    found = minimize(
        objective,
        Z.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxcor": 20},
    )
    Z = found.x.reshape(shape)
    return MovedPoints(Z, *_fit_to_values(kernel, X, A, Z, values, length, blocks))


def _fit_to_values(
    kernel: Kernel,
    X: Array,
    A: Array,
    Z: Array,
    values: Array,
    length: float,
    blocks: list[slice],
) -> tuple[Array, float]:
    K = kernel(Z)
    normal, right, G = np.zeros_like(K), np.zeros((len(Z), A.shape[1])), 0.0
    for rows in blocks:
        C = kernel(Z, X[rows])
        normal += C @ C.T
        right += C @ values[rows]
        G = G + C @ A[rows]
    ridge = _RIDGE * np.trace(normal) / np.trace(K)
    B = _solve(normal + ridge * K, right)
    error = length - 2.0 * float(np.sum(B * G)) + float(np.sum(B * (K @ B)))
    return B, max(error / length, 0.0)


def _solve(K: Array, G: Array) -> Array:
    K = K + _NUGGET * np.mean(K.diagonal()) * np.eye(len(K))
    solution: Array = cho_solve((cholesky(K, lower=True), True), G)
    return solution
