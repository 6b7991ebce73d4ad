"""Local polynomial regression as functions on arrays, in blocks of queries.

All coordinates are in units of the bandwidth here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.blocks.slices import block_slices
from isthmus.smoothers.density_kernels import DensityKernel
from isthmus.typing import Array, IntArray

# Pairs of a query and a centre in a block: the arrays of a block stay in the processor's cache.
BLOCK_PAIRS = 2**17


@dataclass(frozen=True)
class Polynomial:
    """What is fitted around every query."""

    kernel: DensityKernel
    degree: int
    cross_terms: bool
    ridge: float


@dataclass
class Smoothed:
    """Values at the queries, and how well supported they are."""

    values: Array
    n_terms: IntArray
    n_alone: int


def _blocks(n_queries: int, n_centers: int) -> Iterator[slice]:
    return block_slices(n_queries, n_centers, block_size=max(1, BLOCK_PAIRS // n_centers))


def _kernel_rows(
    kernel: DensityKernel, centers: Array, queries: Array, left_out: IntArray | None
) -> tuple[Array, Array, IntArray]:
    """Kernel values and slopes of a block, and which queries no centre reaches.

    A Gaussian row is scaled so that its largest value is one: far from all
    centres the sums would vanish, and the scale drops out of the weights.
    """
    s = cdist(queries, centers, "sqeuclidean")
    if left_out is not None:
        s[np.arange(len(s)), left_out] = np.inf
    if kernel.name == "gaussian":
        s -= s.min(axis=1, keepdims=True)
    K = kernel.profile(s)
    H = K if kernel.name == "gaussian" else kernel.slope(s)
    alone = np.flatnonzero(~K.any(axis=1))
    if len(alone):
        # The nearest neighbour stands in, whatever its distance, and does not react to a move.
        K[alone, s[alone].argmin(axis=1)] = 1.0
        H[alone] = 0.0
    return K, H, alone


def _weights(fit: Polynomial, K: Array, centers: Array, queries: Array) -> tuple[Array, IntArray]:
    """Weights of the outputs, and the number of terms at every query."""
    if fit.degree == 0:
        return K / K.sum(axis=1, keepdims=True), np.ones(len(K), dtype=np.int64)
    from isthmus.smoothers.local_polynomial_loops import smoother_rows

    return smoother_rows(K, centers, queries, fit.degree, fit.cross_terms, fit.ridge)


def smooth(fit: Polynomial, centers: Array, outputs: Array, queries: Array) -> Smoothed:
    r"""Values of the local polynomials at the queries.

    At a query :math:`x`, with :math:`\xi_i=(1, x_i-x, \dots)`,

    .. math:: f(x)=e_0^\top\Big(\sum_i K(x_i-x)\,\xi_i\xi_i^\top\Big)^{-1}
              \sum_i K(x_i-x)\,\xi_i\,y_i^\top .

    Cost :math:`O(n m (q + p^2 + d))` for n centres, m queries, p terms, d outputs.
    """
    values = np.empty((len(queries), outputs.shape[1]))
    n_terms = np.empty(len(queries), dtype=np.int64)
    n_alone = 0
    for rows in _blocks(len(queries), len(centers)):
        K, _, alone = _kernel_rows(fit.kernel, centers, queries[rows], None)
        weights, n_terms[rows] = _weights(fit, K, centers, queries[rows])
        values[rows] = weights @ outputs
        n_alone += len(alone)
    return Smoothed(values, n_terms, n_alone)


def jacobians(fit: Polynomial, centers: Array, outputs: Array, queries: Array) -> Array:
    """Derivatives of :func:`smooth` by the queries, shape (m, d, q)."""
    from isthmus.smoothers.local_polynomial_loops import slope_rows

    found = np.empty((len(queries), outputs.shape[1], queries.shape[1]))
    for rows in _blocks(len(queries), centers.size):
        K, H, _ = _kernel_rows(fit.kernel, centers, queries[rows], None)
        by_weight = slope_rows(K, H, centers, queries[rows], fit.degree, fit.cross_terms, fit.ridge)
        found[rows] = outputs.T @ by_weight
    return found


def left_out_values(fit: Polynomial, X: Array, Y: Array, which: IntArray) -> Array:
    """Values at the rows ``which`` of fits to all other rows: exact leave-one-out."""
    values = np.empty((len(which), Y.shape[1]))
    for rows in _blocks(len(which), len(X)):
        K, _, _ = _kernel_rows(fit.kernel, X, X[which[rows]], which[rows])
        values[rows] = _weights(fit, K, X, X[which[rows]])[0] @ Y
    return values


def left_out_error(
    fit: Polynomial, X: Array, Y: Array, which: IntArray, *, gradient: bool = False
) -> tuple[float, Array | None]:
    """Mean squared leave-one-out error, and its gradient by the logarithms of the bandwidths.

    The gradient is exact up to the change of the ridge with the bandwidth and
    where the degree of a query changes.
    """
    total, slope = 0.0, np.zeros(X.shape[1])
    for rows in _blocks(len(which), len(X)):
        here, queries = which[rows], X[which[rows]]
        K, H, _ = _kernel_rows(fit.kernel, X, queries, here)
        weights, _ = _weights(fit, K, X, queries)
        residual = weights @ Y - Y[here]
        total += float(np.sum(residual**2))
        if gradient:
            from isthmus.smoothers.local_polynomial_loops import scale_gradient

            # A larger bandwidth is a smaller coordinate.
            slope -= scale_gradient(
                K, H, 2.0 * residual @ Y.T, X, queries, fit.degree, fit.cross_terms, fit.ridge
            )
    return total / len(which), slope / len(which) if gradient else None
