r"""How rough the map is, and outputs that trade roughness for fit (degree 0)."""

import numpy as np
from scipy.linalg import solve_triangular

from isthmus.blocks.slices import block_slices
from isthmus.linalg.ridge import solve_positive
from isthmus.smoothers.density_kernels import DensityKernel
from isthmus.smoothers.kernel_rows import BLOCK, kernel_block, reciprocal, squared_distances
from isthmus.typing import Array

RIDGE = 1e-10  # of the mean square of a weight; decides where no row does
STIFF = 1e6  # roughness over fit above which normal equations lose too many digits


def basis_curvatures(Xe: Array, Xc: Array, kernel: DensityKernel) -> tuple[Array, Array]:
    r"""Weights :math:`b_i(x)` and their second derivatives, (m, n) and (m, q, q, n).

    With :math:`\delta=x-\hat x_i`, first and second derivatives of the kernel divided by
    :math:`S`, :math:`b_i^m` and :math:`b_i^{mn}`, and their sums :math:`t` over the centres,
    :math:`\partial_m\partial_nb_i=b_i^{mn}-b_it^{mn}-b_i^mt^n-b_i^nt^m+2b_it^mt^n`.
    """
    q = Xe.shape[1]
    squared = squared_distances(Xe, Xc)
    K, H = kernel.profile(squared), kernel.slope(squared)
    inverse = reciprocal(K.sum(axis=1))[:, None]
    b, H, C = K * inverse, H * inverse, kernel.curvature(squared) * inverse
    steps = [Xe[:, m : m + 1] - Xc[:, m] for m in range(q)]
    first = [-H * step for step in steps]  # 2F' δ = -H δ
    t = [part.sum(axis=1, keepdims=True) for part in first]
    out = np.empty((len(Xe), q, q, len(Xc)))
    for m in range(q):
        for n in range(m, q):
            second = C * steps[m] * steps[n] - (H if m == n else 0.0)
            found = second - b * second.sum(axis=1, keepdims=True)
            found += 2.0 * b * t[m] * t[n] - first[m] * t[n] - first[n] * t[m]
            out[:, m, n] = out[:, n, m] = found
    return b, out


def roughness_metric(Xe: Array, Xc: Array, kernel: DensityKernel) -> Array:
    r"""Matrix :math:`M`, (n, n), of the mean squared second derivatives over the points ``Xe``.

    :math:`\operatorname{tr}(\hat Y^\top M\hat Y)` is the roughness of the map with outputs
    :math:`\hat Y`; constants have none.
    """
    n = len(Xc)
    M = np.zeros((n, n))
    for rows in block_slices(len(Xe), n, block_size=max(8, BLOCK // n)):
        _, second = basis_curvatures(Xe[rows], Xc, kernel)
        flat = second.reshape(-1, n)
        M += flat.T @ flat
    return M / len(Xe)


def smooth_outputs(
    X: Array,
    centres: Array,
    Y: Array,
    kernel: DensityKernel,
    smoothness: float,
    places: Array | None = None,
) -> Array:
    r"""Outputs between fit and roughness, the minimum of
    :math:`\|Y-B^\top\hat Y\|^2+\gamma\operatorname{tr}(\hat Y^\top M\hat Y)`.

    They may leave the cloud of the data, which removes the inward bias of local means where the
    manifold is curved. Roughness is the mean over ``places``, the rows ``X`` if None.
    """
    n = len(centres)
    G, right = np.zeros((n, n)), np.zeros((n, Y.shape[1]))
    for rows in block_slices(len(X), n, block_size=max(16, BLOCK // n)):
        b = _weights(X[rows], centres, kernel)
        G += b.T @ b
        right += b.T @ Y[rows]
    # Of the fit alone: where a few rows are very rough, a share of their roughness would outweigh
    # the fit and draw all outputs to zero.
    ridge = RIDGE * np.trace(G) / n
    if smoothness:
        places = X if places is None else places
        M = smoothness * roughness_metric(places, centres, kernel)
        if M.diagonal().max() > STIFF * G.diagonal().max():
            rough = np.sqrt(smoothness / len(places)), places
            return smooth_outputs_by_rows(X, centres, Y, kernel, rough, ridge)
        G += M
    G.flat[:: n + 1] += ridge
    return solve_positive(G, right)


def smooth_outputs_by_rows(
    X: Array,
    centres: Array,
    Y: Array,
    kernel: DensityKernel,
    rough: tuple[float, Array],
    ridge: float,
) -> Array:
    """The outputs of :func:`smooth_outputs` from orthogonal factors instead of normal equations.

    At the edge of compact kernels second derivatives are divided by sums that vanish, and their
    squares leave no digits to the fit beside them in one matrix; the rows themselves do.
    ``rough`` is the weight of a second derivative, and where they are taken.
    """
    n, d = len(centres), Y.shape[1]
    weight, places = rough
    R = np.hstack([np.sqrt(ridge) * np.eye(n), np.zeros((n, d))])
    for rows in block_slices(len(places), n, block_size=max(8, BLOCK // n)):
        second = basis_curvatures(places[rows], centres, kernel)[1].reshape(-1, n)
        R = _triangle(R, np.pad(weight * second, ((0, 0), (0, d))))
    for rows in block_slices(len(X), n, block_size=max(16, BLOCK // n)):
        R = _triangle(R, np.hstack([_weights(X[rows], centres, kernel), Y[rows]]))
    return np.asarray(solve_triangular(R[:n, :n], R[:n, n:], check_finite=False))


def _weights(X: Array, centres: Array, kernel: DensityKernel) -> Array:
    K, _, S, _ = kernel_block(X, centres, kernel)
    return np.asarray(K * reciprocal(S)[:, None])


def _triangle(R: Array, rows: Array) -> Array:
    return np.asarray(np.linalg.qr(np.vstack([rows, R]), mode="r"))
