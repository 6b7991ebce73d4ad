r"""Functions of the latent density :math:`p(x)=\frac1n\sum_iK(x-\hat x_i)` and their gradients.

For :math:`\Phi(p_1,\dots,p_N)` the gradient by a point is
:math:`c_j\sum_iH_{ij}(\hat x_i-x_j)` with :math:`c_j=\frac1n\partial\Phi/\partial p_j`, and by a
centre :math:`-\sum_jc_jH_{ij}(\hat x_i-x_j)`.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.scratch import scratch
from isthmus.smoothers.density_kernels import DensityKernel
from isthmus.smoothers.kernel_rows import BLOCK, pair_weights, squared_distances
from isthmus.smoothers.pairs import Pairs
from isthmus.typing import Array

# densities (N,) → value and derivatives (N,)
Functional: TypeAlias = Callable[[Array], tuple[float, Array]]


def log_density(p: Array) -> tuple[float, Array]:
    r""":math:`-\frac1N\sum_j\log p_j`: small where every point has neighbours."""
    return -float(np.mean(np.log(p))), -1.0 / (len(p) * p)


def density_variance(p: Array) -> tuple[float, Array]:
    r""":math:`\frac1N\sum_j(p_j-\bar p)^2`: small where neighbours are spread evenly."""
    excess = p - p.mean()
    return float(np.mean(excess**2)), 2.0 / len(p) * excess


def log_barrier(floor: float) -> Functional:
    r""":math:`-\sum_j\log(p_j-\eta)`, infinite unless every density is above the floor."""

    def functional(p: Array) -> tuple[float, Array]:
        excess = p - floor
        if not np.all(excess > 0):
            return np.inf, np.zeros_like(p)
        return -float(np.sum(np.log(excess))), -1.0 / excess

    return functional


def latent_densities(
    Xe: Array, Xc: Array, kernel: DensityKernel, pairs: Pairs | None = None
) -> Array:
    """The density at each point of ``Xe``, (N,)."""
    if pairs is not None:
        with scratch(2, len(pairs.indices)) as memory:
            return _listed_densities(pairs, pair_weights(pairs, kernel, None, memory)[0], len(Xc))
    p = np.empty(len(Xe))
    for rows in block_slices(len(Xe), len(Xc), block_size=max(16, BLOCK // len(Xc))):
        p[rows] = kernel.profile(squared_distances(Xe[rows], Xc)).sum(axis=1) / len(Xc)
    return p


def density_functional(
    Xe: Array, Xc: Array, kernel: DensityKernel, functional: Functional, pairs: Pairs | None = None
) -> tuple[float, Array, Array]:
    """Value of a functional of the densities at ``Xe``, and its gradients by ``Xe`` and ``Xc``."""
    n, q = Xc.shape
    if pairs is not None:
        return _listed_functional(Xe, Xc, kernel, functional, pairs)
    value, slope = functional(latent_densities(Xe, Xc, kernel))
    by_point, back = np.empty(Xe.shape), np.zeros((n, q + 1))
    centres = np.hstack([Xc, np.ones((n, 1))])
    for rows in block_slices(len(Xe), n, block_size=max(16, BLOCK // n)):
        H = kernel.slope(squared_distances(Xe[rows], Xc)) * (slope[rows] / n)[:, None]
        forward = H @ centres
        by_point[rows] = forward[:, :q] - forward[:, q:] * Xe[rows]
        back += H.T @ np.hstack([Xe[rows], np.ones((len(H), 1))])
    return value, by_point, back[:, :q] - back[:, q:] * Xc


def _listed_functional(
    Xe: Array, Xc: Array, kernel: DensityKernel, functional: Functional, pairs: Pairs
) -> tuple[float, Array, Array]:
    from isthmus.smoothers.pair_loops import add_pulls

    by_point, by_centre = np.zeros(Xe.shape), np.zeros(Xc.shape)
    with scratch(2, len(pairs.indices)) as memory:
        K, H = pair_weights(pairs, kernel, None, memory)
        value, slope = functional(_listed_densities(pairs, K, len(Xc)))
        add_pulls(pairs.indptr, pairs.indices, H, slope / len(Xc), Xe, Xc, by_point, by_centre)
    return value, by_point, by_centre


def _listed_densities(pairs: Pairs, K: Array, n: int) -> Array:
    from isthmus.smoothers.pair_loops import row_sums

    p = np.empty(len(pairs.indptr) - 1)
    row_sums(pairs.indptr, K, p)
    p /= n
    return p
