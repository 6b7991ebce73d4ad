"""Eigenpairs and systems of symmetric matrices that are known by their products alone."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.linalg.products import product, subtract_product
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array

Multiply = Callable[[Array], Array]

# A block of which less than this share lies outside of the basis has lost so many digits that it is
# made orthogonal once more.
SHRUNK = 1e-3


class RitzPairs(NamedTuple):
    """Approximate eigenpairs.

    Attributes
    ----------
    values : ndarray of shape (r,), smallest first
    vectors : ndarray of shape (n, r)
    lowest : float
        The smallest value of the matrix on the whole basis, which shows where it is indefinite.
    residual : float
        The largest ``‖Kv - λv‖``, relative to the largest value.
    """

    values: Array
    vectors: Array
    lowest: float
    residual: float


def ritz_pairs(
    multiply: Multiply,
    n: int,
    n_pairs: int,
    *,
    width: int,
    n_basis: int,
    tol: float,
    max_products: int,
    dtype: np.dtype | type = np.float64,
) -> RitzPairs:
    r"""The largest eigenpairs by block Krylov-Schur iteration, with as few products as possible.

    Rayleigh-Ritz in span :math:`[G, KG, K^2G,\dots]` with full orthogonalisation; where the basis
    is full it starts again from the best vectors and what :math:`K` sends out of it [Stewart2002]_.

    Parameters
    ----------
    multiply : callable
        Columns (n, width) to their product with the symmetric matrix.
    n, n_pairs : int
    width : int
        Vectors in a product.
    n_basis : int
        Vectors held, at least ``n_pairs + 3 * width`` and at most ``n``.
    tol : float
        Residual allowed, relative to the largest eigenvalue.
    max_products : int
        After these the pairs found so far are returned.
    dtype : float32 or float64
    """
    tol = max(tol, 20 * float(np.finfo(dtype).eps))
    V = np.empty((n, n_basis), dtype=dtype, order="F")
    S = np.zeros((n_basis, n_basis), dtype=dtype)  # V'KV
    # A fixed start: the converged answer does not depend on it.
    G = np.random.default_rng(0).standard_normal((n, width)).astype(dtype)
    V[:, :width] = orthonormal(G)[0]
    m = width
    for i in range(max_products):
        basis = V[:, :m]
        Q, R = project(np.asfortranarray(multiply(V[:, m - width : m])), basis, S)
        full, last = m + width > n_basis, i == max_products - 1
        if m >= n_pairs + width or full or last:
            theta, Y = linalg.eigh(S[:m, :m])
            wanted = Y[:, -min(n_pairs, m) :]
            # ‖Ku - θu‖ = ‖R y‖, y the last rows: what K sends out of the basis.
            residual = np.linalg.norm(R @ wanted[-width:], axis=0).max()
            top = max(abs(float(theta[-1])), float(np.finfo(dtype).tiny))
            if residual <= tol * top or last:
                found = theta[-wanted.shape[1] :], product(basis, wanted)
                return RitzPairs(*found, float(theta[0]), float(residual) / top)
            if full:
                m = min(n_pairs + width, m)
                V[:, :m] = product(basis, Y[:, -m:])
                S[:] = 0
                S.flat[: m * (n_basis + 1) : n_basis + 1] = theta[-m:]
                basis = V[:, :m]
        V[:, m : m + width] = next_block(Q, basis)
        m += width
    raise ValueError(f"max_products must be an int in [1, inf). Got {max_products!r} instead.")


class Solution(NamedTuple):
    """Solutions (n, p) of a system, and the largest residual relative to its right-hand side."""

    columns: Array
    residual: float


def conjugate_gradients(
    multiply: Multiply, B: Array, *, precondition: Multiply, tol: float, max_iter: int
) -> Solution:
    r"""Solve :math:`AX=B` for a symmetric positive definite matrix, all columns side by side.

    Every column has steps of its own, and all share the products [Hestenes1952]_. It ends where
    :math:`\|b-Ax\|\le\mathrm{tol}\,\|b\|` for each column.

    >>> import numpy as np
    >>> A = np.diag([1.0, 2.0, 4.0])
    >>> conjugate_gradients(
    ...     lambda V: A @ V, np.ones((3, 1)), precondition=lambda V: V, tol=1e-12, max_iter=9
    ... ).columns[:, 0].round(6)
    array([1.  , 0.5 , 0.25])
    """
    X, R = np.zeros_like(B), B.copy()
    size = np.linalg.norm(B, axis=0)
    size[size == 0] = 1.0
    left = np.flatnonzero(np.linalg.norm(R, axis=0) > tol * size)
    P = np.empty_like(B)
    before = np.zeros(B.shape[1])
    for i in range(max_iter):
        if not len(left):
            break
        Z = precondition(R[:, left])
        now = np.einsum("ij,ij->j", R[:, left], Z)
        P[:, left] = Z if i == 0 else Z + P[:, left] * (now / before[left])
        before[left] = now
        step = P[:, left]
        Q = multiply(step)
        length = now / np.einsum("ij,ij->j", step, Q)
        X[:, left] += step * length
        R[:, left] -= Q * length
        left = left[np.linalg.norm(R[:, left], axis=0) > tol * size[left]]
    return Solution(X, float(np.max(np.linalg.norm(R, axis=0) / size, initial=0.0)))


def project(W: Array, basis: Array, S: Array) -> tuple[Array, Array]:
    """Q and R of what a product with the last block of the basis has outside of it.

    ``W`` (n, width), which is overwritten, is that product with a symmetric matrix; its part
    within the basis becomes the last rows and columns of ``S``, the matrix on the basis.
    """
    m, width = basis.shape[1], W.shape[1]
    C = product(basis.T, W)
    S[:m, m - width : m] = C
    S[m - width : m, :m] = C.T
    subtract_product(W, basis, C)
    # Twice is enough: the first leaves rounding errors.
    subtract_product(W, basis, product(basis.T, W))
    return orthonormal(W)


def project_next(W: Array, basis: Array, S: Array) -> tuple[Array, Array, bool]:
    """The same where the basis is that of the powers of a matrix, without a restart.

    The product then has no part in blocks before the last two but rounding errors, so that one
    pass over the whole basis is enough after these are taken out. Also returned is whether so much
    of it is left that Q is orthogonal to the basis already.
    """
    m, width = basis.shape[1], W.shape[1]
    first = max(0, m - 2 * width)
    near = basis[:, first:]
    # Short calls, after which threads of BLAS would spin beside those of the next long product.
    with threads_for(float(basis.size) * width):
        C = product(near.T, W)
        S[first:m, m - width : m] = C
        S[m - width : m, first:m] = C.T
        subtract_product(W, near, C)
        subtract_product(W, basis, product(basis.T, W))
    Q, R = orthonormal(W)
    size = max(float(np.linalg.norm(C)), float(np.abs(S.diagonal()).max()))
    return Q, R, float(np.abs(R.diagonal()).min()) > SHRUNK * size


def next_block(Q: Array, basis: Array) -> Array:
    """``Q`` made orthogonal to the basis: where a product vanishes, its Q is arbitrary."""
    with threads_for(float(basis.size) * Q.shape[1]):
        subtract_product(Q, basis, product(basis.T, Q))
    return orthonormal(Q)[0]


def orthonormal(W: Array) -> tuple[Array, Array]:
    """Q and R of a tall block, by the BLAS of the products."""
    with threads_for(2.0 * W.size * W.shape[1]):
        Q, R = linalg.qr(W, mode="economic", check_finite=False)
    return Q, R
