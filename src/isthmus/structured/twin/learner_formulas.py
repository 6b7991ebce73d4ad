r"""Coefficients of two polynomial kernel transforms that make the two sides depend most.

With centred terms :math:`HP_i(K)H` and :math:`HQ_j(G)H`, the matrix of their products holds
:math:`C_{ij}=\mathrm{HSIC}(P_i(K),Q_j(G))` and the products within a side.
"""

import numpy as np
from scipy import linalg, optimize

from isthmus.blocks.slices import block_slices
from isthmus.kernels.algebra.polynomials import polynomial_terms
from isthmus.typing import Array

ROUNDING = 1e-12
# Rows and columns of a tile of K and G: all its terms stay in the cache.
TILE = 160


def term_products(
    K: Array, G: Array, x_degree: int, y_degree: int, x_lam: float | None, y_lam: float | None
) -> Array:
    r"""Products :math:`\tfrac1{n^2}\langle HA_iH,HA_jH\rangle` of all terms of both sides.

    The terms are :math:`P_1(K),\dots,P_{d_x}(K),Q_1(G),\dots,Q_{d_y}(G)` of Gram matrices, which
    are symmetric: one half of each is read, in tiles, and no term is ever held as a whole.
    O(n²(d_x+d_y)²) time, O(n) memory besides K and G.
    """
    n, d = len(K), x_degree + y_degree
    products, sums = np.zeros((d, d)), np.zeros((d, n))
    shift: Array | None = None
    memory = np.empty(d * min(n, TILE) ** 2)
    parts = list(block_slices(n, n, block_size=TILE))
    for i, rows in enumerate(parts):
        for cols in parts[i:]:
            terms = [
                *polynomial_terms(K[rows, cols], x_degree, x_lam),
                *polynomial_terms(G[rows, cols], y_degree, y_lam),
            ]
            tile = memory[: d * terms[0].size].reshape(d, *terms[0].shape)
            np.stack(terms, out=tile)
            if shift is None:
                # Centring takes constants out anyway: doing so first keeps its differences small.
                shift = tile.mean(axis=(1, 2))
            tile -= shift[:, None, None]
            sums[:, rows] += tile.sum(axis=2)
            flat = tile.reshape(d, -1)
            found = flat @ flat.T
            if cols is not rows:  # the tile stands for its mirror image, too
                sums[:, cols] += tile.sum(axis=1)
                found *= 2
            products += found
    totals = sums.sum(axis=1)
    centred = products - (2 / n) * (sums @ sums.T) + np.outer(totals, totals) / n**2
    return np.asarray(centred / n**2)


def leading_pair(C: Array) -> tuple[Array, Array]:
    """Leading singular vectors, with the sign that makes their sum positive."""
    U, _, Vt = np.linalg.svd(C)
    sign = 1.0 if U[:, 0].sum() + Vt[0].sum() >= 0 else -1.0
    return sign * U[:, 0], sign * Vt[0]


def nonnegative_pair(
    C: Array, rng: np.random.Generator, *, n_init: int = 10, max_iter: int = 1000
) -> tuple[Array, Array]:
    r"""Maximise :math:`a^\top Cb` over unit vectors :math:`a,b\ge0` by alternation.

    Each half step is the exact maximiser for the other side fixed, so the value never falls. With
    :math:`C\ge0` it is the leading singular pair (Perron and Frobenius); with negative
    entries the best of several starts.
    """
    a, b = leading_pair(C)
    starts = [np.abs(b), *np.abs(rng.normal(size=(n_init, C.shape[1])))]
    best: tuple[float, Array, Array] | None = None
    for b in starts:
        value = -np.inf
        for _ in range(max_iter):
            a = _positive_direction(C @ b)
            b = _positive_direction(C.T @ a)
            before, value = value, float(a @ C @ b)
            if value - before <= ROUNDING * abs(value):
                break
        if best is None or value > best[0]:
            best = (value, a, b)
    assert best is not None
    return best[1], best[2]


def _positive_direction(c: Array) -> Array:
    """Unit vector without negative entries that has the largest product with ``c``."""
    positive = np.maximum(c, 0)
    length = float(np.linalg.norm(positive))
    if length > 0:
        return positive / length
    single = np.zeros_like(c)
    single[np.argmax(c)] = 1.0
    return single


def aligned_pair(
    C: Array, x_products: Array, y_products: Array, *, max_iter: int = 500
) -> tuple[Array, Array]:
    r"""Maximise :math:`a^\top Cb/\sqrt{a^\top M_xa\;b^\top M_yb}` over :math:`a,b\ge0`.

    For one side fixed, :math:`\max_{a\ge0}a^\top c/\sqrt{a^\top Ma}` is, up to scale, the
    non-negative least squares problem :math:`\min_{a\ge0}\|R^\top a-R^{-1}c\|^2` with
    :math:`M=RR^\top` [Cortes2012]_. The value never falls.
    """
    x_root, y_root = _root(x_products), _root(y_products)
    a, b = (np.abs(v) for v in leading_pair(C))
    value = -np.inf
    for _ in range(max_iter):
        a = _best_direction(C @ b, x_root)
        b = _best_direction(C.T @ a, y_root)
        before, value = value, float(a @ C @ b)
        if value - before <= ROUNDING * abs(value):
            break
    return a / np.linalg.norm(a), b / np.linalg.norm(b)


def _root(M: Array) -> Array:
    return np.asarray(linalg.cholesky(M + 1e-8 * np.trace(M) / len(M) * np.eye(len(M)), lower=True))


def _best_direction(c: Array, root: Array) -> Array:
    """Of unit length in the metric RR'."""
    target = linalg.solve_triangular(root, c, lower=True)
    a = optimize.nnls(root.T, target)[0]
    if not a.any():
        a[np.argmax(c / np.einsum("ij,ij->i", root, root) ** 0.5)] = 1.0
    return np.asarray(a / np.linalg.norm(root.T @ a))


def alignment(products: Array, a: Array, b: Array) -> float:
    """Centred alignment of the two combinations, from the products of all terms."""
    d = len(a)
    C, Mx, My = products[:d, d:], products[:d, :d], products[d:, d:]
    scale = np.sqrt((a @ Mx @ a) * (b @ My @ b))
    return float(a @ C @ b / scale) if scale > 0 else 0.0
