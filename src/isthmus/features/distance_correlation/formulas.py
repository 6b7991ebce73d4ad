r"""Supervised reduction at exponent 2, as functions on arrays.

At exponent 2 the squared distance correlation of two tables is their RV coefficient
:math:`\|X_c^\top Y_c\|_F^2/(\|X_c^\top X_c\|_F\|Y_c^\top Y_c\|_F)`, and the objective is a ratio of
two simple functions of the coordinates (see :func:`objective`) whose maximum has a closed form.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus._warnings import warn
from isthmus.linalg.products import inner_products, product
from isthmus.typing import Array

Watch = Callable[[int, float], None]


class Reduction(NamedTuple):
    """Coordinates of the training rows and the course of the solver that found them.

    ``loadings`` give ``Z = A @ loadings`` where the coordinates are linear in the joint table;
    ``values`` holds the objective after each iteration.
    """

    Z: Array
    loadings: Array | None
    values: list[float]
    converged: bool


def joint_table(
    X: Array, Y: Array, weight: float, products: "ColumnProducts | None" = None
) -> Array:
    r"""The two centred tables side by side, scaled so that both have the same influence.

    .. math:: A=\Big[\sqrt{\tfrac{2(1-w)}{\|X^\top X\|_F}}\,X,\
              \sqrt{\tfrac{2w}{\|Y^\top Y\|_F}}\,Y\Big]

    >>> import numpy as np
    >>> A = joint_table(np.array([[1.0], [-1.0]]), np.array([[3.0], [-3.0]]), 0.5)
    >>> np.round(A, 3)
    array([[ 0.707,  0.707],
           [-0.707, -0.707]])
    """
    of_x, of_y = block_factors(X, Y, weight, products)
    return np.hstack([of_x * X, of_y * Y])


def block_factors(
    X: Array, Y: Array, weight: float, products: "ColumnProducts | None" = None
) -> tuple[float, float]:
    """The factors of the two tables in :func:`joint_table`."""
    of_x, of_y = (products or column_products(X, Y)).norms
    return float(np.sqrt(2 * (1 - weight) / of_x)), float(np.sqrt(2 * weight / of_y))


class ColumnProducts(NamedTuple):
    """Products of all columns of two tables, None where they are many, and scatter norms."""

    all: Array | None
    norms: tuple[float, float]


def column_products(
    X: Array, Y: Array, scatters: tuple[Array | None, Array | None] = (None, None)
) -> ColumnProducts:
    """All that the closed form needs to know of long tables; ``scatters`` are X'X and Y'Y."""
    p, (of_x, of_y) = X.shape[1], scatters
    if p + Y.shape[1] > len(X):
        return ColumnProducts(None, (_scatter_norm(X), _scatter_norm(Y)))
    P = np.empty((p + Y.shape[1],) * 2)
    P[:p, :p] = inner_products(X) if of_x is None else of_x
    P[p:, p:] = inner_products(Y) if of_y is None else of_y
    P[:p, p:] = X.T @ Y
    P[p:, :p] = P[:p, p:].T
    return ColumnProducts(P, (float(np.linalg.norm(P[:p, :p])), float(np.linalg.norm(P[p:, p:]))))


def _scatter_norm(X: Array) -> float:
    """Frobenius norm of ``X'X``, from the smaller of ``X'X`` and ``XX'``."""
    return float(np.linalg.norm(X.T @ X if X.shape[1] <= len(X) else X @ X.T))


def objective(A: Array, Z: Array) -> float:
    r"""Objective :math:`f(Z)=\|A^\top Z\|_F^2/\|Z^\top Z\|_F` of centred coordinates.

    With ``A`` of :func:`joint_table` it is
    :math:`2(1-w)\,\rho^2(X,Z)+2w\,\rho^2(Z,Y)` at exponent 2.
    """
    return float(np.sum((A.T @ Z) ** 2) / np.linalg.norm(Z.T @ Z))


def column_ties(X: Array, Z: Array, norm: float | None = None) -> Array:
    r"""Shares :math:`\|X^\top z_j\|^2/\|X^\top X\|_F` of the columns of ``Z`` in the tie to X."""
    norm = _scatter_norm(X) if norm is None else norm
    return np.asarray(np.sum((X.T @ Z) ** 2, axis=0) / norm)


def ties_of_weights(W: Array, p: int, products: ColumnProducts) -> Array:
    """:func:`column_ties` of both sides for ``Z = [X, Y] @ W``, X of p columns, without rows."""
    across = np.square(np.asarray(products.all) @ W)
    of_x, of_y = products.norms
    return np.array([across[:p].sum(axis=0) / of_x, across[p:].sum(axis=0) / of_y])


def correlations(ties: Array, Z: Array) -> Array:
    """Squared distance correlations at exponent 2 from :func:`column_ties`, one per row of them.

    >>> import numpy as np
    >>> z = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> float(correlations(column_ties(3 * z, z)[None], z)[0])
    1.0
    """
    return np.asarray(ties.sum(axis=-1) / np.linalg.norm(Z.T @ Z))


def largest_spread(Z: Array) -> float:
    """The largest standard deviation of the columns, by products alone: there are few columns."""
    Z = Z - np.full(len(Z), 1 / len(Z)) @ Z
    return float(np.sqrt(np.diagonal(Z.T @ Z).max() / len(Z)))


def exact_reduction(A: Array, n_components: int) -> Reduction:
    r"""Global maximum of :func:`objective` over all coordinates: leading singular vectors of A.

    With :math:`A=U\operatorname{diag}(s)V^\top` it is :math:`Z=U_d\operatorname{diag}(s_d)=AV_d`
    and :math:`f^*=(\sum_{i\le d}s_i^4)^{1/2}`, by the inequalities of von Neumann and Cauchy.
    O(n(p+q)²), or O(n²(p+q)) where the table is wider than long.
    """
    n, width = A.shape
    if width <= n:
        s2, V = _leading(A.T @ A, n_components)
    else:
        _, s, Vt = linalg.svd(A, full_matrices=False)
        more = min(n_components + 1, n)
        s2, V = s[:more] ** 2, Vt[:more].T
    return _signed(A @ V[:, :n_components], V, s2)


def exact_of_products(
    X: Array, Y: Array, weight: float, n_components: int, products: ColumnProducts
) -> Reduction:
    """The same from products of columns, if there are any, without the joint table."""
    P = products.all
    if P is None:
        return exact_reduction(joint_table(X, Y, weight, products), n_components)
    p = X.shape[1]
    factors = np.repeat(block_factors(X, Y, weight, products), (p, Y.shape[1]))
    s2, V = _leading(factors[:, None] * P * factors, n_components)
    W = factors[:, None] * V[:, :n_components]
    Z = product(X, W[:p])
    Z += Y @ W[p:]
    return _signed(Z, V, s2)


def _leading(gram: Array, n_components: int) -> tuple[Array, Array]:
    """Eigenpairs, one more than asked for: it shows whether the last one is unique."""
    width = len(gram)
    more = min(n_components + 1, width)
    s2, V = linalg.eigh(gram, subset_by_index=[width - more, width - 1])
    return s2[::-1], V[:, ::-1]


def _signed(Z: Array, V: Array, s2: Array) -> Reduction:
    """Coordinates whose largest entries are positive; the last of ``V`` and ``s2`` is not one."""
    d = Z.shape[1]
    if len(s2) > d and 1e-10 * s2[0] < s2[-1] > (1 - 1e-9) * s2[-2]:
        warn(
            f"The optimum is not unique: components {d} and {d + 1} contribute equally. "
            "Choose another number of components.",
            UserWarning,
        )
    largest = Z[np.abs(Z).argmax(axis=0), np.arange(d)]
    signs = np.where(largest < 0, -1.0, 1.0)
    value = float(np.sqrt(np.sum(np.maximum(s2[:d], 0) ** 2)))
    return Reduction(Z * signs, V[:, :d] * signs, [value], True)


def monotone_reduction(
    A: Array,
    n_components: int,
    rng: np.random.Generator,
    *,
    tol: float = 1e-10,
    max_iter: int = 500,
    watch: Watch | None = None,
) -> Reduction:
    r"""Ascend monotonically to the maximum of :func:`objective` from random coordinates.

    The numerator is convex, so its linearisation at :math:`Z_t` bounds it from below; the
    denominator is a squared Schatten norm. The maximum of the bound is, up to scale,

    .. math:: AA^\top Z_t=P\operatorname{diag}(\sigma)Q^\top\ (\text{thin}),\qquad
              Z_{t+1}=P\operatorname{diag}(\sigma^{1/3})Q^\top.

    O(n(p+q)d) per iteration; there is nothing to tune.
    """
    Z = rng.standard_normal((len(A), n_components))
    Z -= Z.mean(axis=0)
    values = [objective(A, Z)]
    C = np.zeros((A.shape[1], n_components))
    converged = False
    for step in range(1, max_iter + 1):
        C = A.T @ Z
        P, sigma, Qt = linalg.svd(A @ C, full_matrices=False)
        root = np.cbrt(sigma)
        # Z = A C Q diag(sigma^(-2/3)) Q': linear in the joint table
        floor = root[0] * 1e-6 if root[0] > 0 else 1.0
        C = C @ (Qt.T / np.maximum(root, floor) ** 2) @ Qt
        Z = (P * root) @ Qt
        values.append(objective(A, Z))
        if watch is not None:
            watch(step, values[-1])
        if values[-1] - values[-2] <= tol * values[-1]:
            converged = True
            break
    # The objective is invariant under rotations: rotate the columns into principal axes.
    _, _, Rt = linalg.svd(Z, full_matrices=False)
    return Reduction(A @ (C @ Rt.T), C @ Rt.T, values, converged)
