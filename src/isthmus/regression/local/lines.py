r"""Left-out errors of local lines under a Gaussian kernel, by products of matrices.

The moments :math:`\sum_iK_{ij}\xi_{ij}\xi_{ij}^\top` of all points are one product of kernel values
and products of two coordinates, about one origin; each point moves them to its place. That loses
digits where the bandwidth is small beside the extent of the data, and points whose line does not
bear noise take a constant: both are left to the loops of :mod:`isthmus.smoothers`.

With the weights :math:`b_{ij}=K_{ij}\,\xi_{ij}^\top u_j`, :math:`u_j` the first column of the
inverse moments, and the line :math:`\beta_j` of the outputs, the slope of
:math:`d_j\cdot f(x_j)` by the logarithm of the bandwidth of column m is

.. math:: \sum_ib_{ij}\,d_j\cdot(y_i-\beta_j^\top\xi_{ij})\,\xi_{ijm}^2
          -2\,r_j\,u_{jm}\,\beta_{jm}\cdot d_j ,

where :math:`r_j` is the ridge.
"""

from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import product
from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import rest_in_threads
from isthmus.smoothers.density_kernels import is_gaussian
from isthmus.smoothers.kernel_rows import gaussian_centres
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.smoothers.loops import LARGEST_VARIANCE
from isthmus.typing import Array, IntArray

# Pairs of a block, whose tables stay in the cache that cores share. Smaller ones stay in that of a
# core, but are more calls, and threads that share them wait for the interpreter.
BLOCK_PAIRS = 2**18
# Largest squared distance from the mean of the data, in bandwidths: moments that are moved lose
# as many digits.
MOST_BANDWIDTHS = 1e4
# Numbers in the products of two coordinates of all centres, 64 MB.
MOST_PRODUCTS = 2**23
# The share of the first points with good lines below which no others are tried.
LEAST_GOOD = 0.5
# Exponents below this are no weights beside one, but make exp and all products slow.
LEAST_EXPONENT = -600.0


class Lines(NamedTuple):
    """Values (m, d) at m points, their slopes (q,) in sum, and which points have none of both."""

    values: Array
    slope: Array
    missing: IntArray


def are_products(fit: LocalSmoother, Xc: Array) -> bool:
    """Whether products serve for these centres, in units of the bandwidth."""
    n, q = Xc.shape
    return (
        fit.adaptive
        and fit.degree == 1
        and is_gaussian(fit.kernel)
        and n * (q + 1) * (q + 2) // 2 <= MOST_PRODUCTS
        and float(np.max(np.sum((Xc - Xc.mean(axis=0)) ** 2, axis=1))) <= MOST_BANDWIDTHS
    )


def left_out_lines(
    ridge: float,
    X: Array,
    Xc: Array,
    Y: Array,
    excluded: IntArray | None,
    truth: Array | None = None,
) -> Lines:
    """Lines of the centres ``Xc`` and outputs ``Y`` at the rows of ``X``.

    With ``truth`` (m, d) also the slope of the sum of squared errors by the logarithms of the
    bandwidths.
    """
    m, (n, q) = len(X), Xc.shape
    origin = Xc.mean(axis=0)
    tables = _Tables.of(ridge, Xc - origin, Y)
    X = X - origin
    values, good = np.empty((m, Y.shape[1])), np.zeros(m, dtype=bool)
    blocks = list(block_slices(m, n, block_size=max(16, BLOCK_PAIRS // n)))
    slopes = np.zeros((len(blocks), q))

    def fill(number: int) -> None:
        if number and np.mean(good[blocks[0]]) < LEAST_GOOD:
            return
        rows = blocks[number]
        errors_of = None if truth is None else truth[rows]
        with scratch(2, len(X[rows]), n) as (K, room):
            _kernel_values(X[rows], tables, None if excluded is None else excluded[rows], K)
            values[rows], good[rows], slopes[number] = _block(K, X[rows], tables, errors_of, room)

    rest_in_threads(fill, range(len(blocks)))
    return Lines(values, slopes.sum(axis=0), np.flatnonzero(~good))


class _Tables(NamedTuple):
    """What products need of the centres: see the fields' use below."""

    ridge: float
    gaussian: Array  # (q + 2, n), see gaussian_centres
    ones: Array  # (n, 1 + q): 1 and the coordinates
    pairs: Array  # (n, (q + 1)(q + 2)/2 + d (q + 1)): products of two, of outputs with one
    squares: Array  # (n, 2q + 1): squares, and ``ones``
    outputs: Array  # (n, d)

    @classmethod
    def of(cls, ridge: float, Xc: Array, Y: Array) -> "_Tables":
        n, q = Xc.shape
        ones = np.hstack([np.ones((n, 1)), Xc])
        first, second = np.tril_indices(q + 1)
        crossed = (Y[:, :, None] * ones[:, None, :]).reshape(n, -1)
        # In the order in which products read their few columns.
        pairs = np.asfortranarray(np.hstack([ones[:, first] * ones[:, second], crossed]))
        return cls(ridge, gaussian_centres(Xc), ones, pairs, np.hstack([Xc**2, ones]), Y)


def _kernel_values(X: Array, tables: _Tables, excluded: IntArray | None, K: Array) -> None:
    """Write Gaussian values into ``K`` (m, n), the largest of a row one, those excluded zero."""
    left = np.hstack([X, np.zeros((len(X), 1)), np.ones((len(X), 1))])
    product(left, tables.gaussian, out=K)  # but for |x|²/2, which is the same in a row
    rows = np.arange(len(X))[:, None]
    if excluded is not None:
        K[rows, excluded] = -np.inf
    K -= K.max(axis=1, keepdims=True)
    if K.min() < LEAST_EXPONENT:
        np.maximum(K, LEAST_EXPONENT, out=K)
    np.exp(K, out=K)
    if excluded is not None:
        K[rows, excluded] = 0.0


def _block(
    K: Array, X: Array, tables: _Tables, truth: Array | None, room: Array
) -> tuple[Array, Any, Array]:
    """Values, whether they are good, and the sum of their slopes, of a block of points.

    ``K`` is overwritten, and so is ``room`` of its shape.
    """
    from isthmus.regression.local.line_loops import fit_lines

    (m, q), d = X.shape, tables.outputs.shape[1]
    u, beta, ridges = np.zeros((m, q + 1)), np.zeros((m, d, q + 1)), np.zeros(m)
    fit_lines(product(K, tables.pairs), X, tables.ridge, u, beta, ridges)
    good, values = ridges >= 0, beta[:, :, 0].copy()
    factors = _about_origin(u, X)
    # Kernel values are at most one, so that squares of weights sum to the first entry of u or less:
    # only where that is large they are summed.
    unsure = np.flatnonzero(good & (u[:, 0] > LARGEST_VARIANCE))
    weights: Array
    if truth is None:
        weights = K[unsure] * product(factors[unsure], tables.ones.T)
    else:
        K *= product(factors, tables.ones.T, out=room)
        weights = K[unsure]
    good[unsure] = np.einsum("ij,ij->i", weights, weights) <= LARGEST_VARIANCE
    if truth is None:
        return values, good, np.zeros(q)
    D = np.where(good[:, None], 2.0 * (values - truth), 0.0)
    v = np.einsum("jk,jka->ja", D, beta)
    # What is left of the outputs, d_j · (y_i - line), for all pairs by one product.
    left = np.hstack([D, -_about_origin(v, X)])
    K *= product(left, np.vstack([tables.outputs.T, tables.ones.T]), out=room)
    sums = product(K, tables.squares)
    far = sums[:, :q] - 2 * X * sums[:, q + 1 :] + X**2 * sums[:, q : q + 1]
    pull = 2 * ridges[:, None] * u[:, 1:] * v[:, 1:]
    return values, good, np.sum((far - pull)[good], axis=0)


def _about_origin(lines: Array, X: Array) -> Array:
    """Coefficients (m, q + 1) of lines about the origin, from those about the points ``X``."""
    moved = lines.copy()
    moved[:, 0] -= np.einsum("ja,ja->j", lines[:, 1:], X)
    return moved
