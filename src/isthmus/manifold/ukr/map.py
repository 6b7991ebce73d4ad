"""The map from latent space to data, its Jacobian, and the latent density."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from isthmus.blocks.slices import block_slices
from isthmus.manifold.domain import Domain
from isthmus.manifold.latent_map import MapValues
from isthmus.manifold.projection import Search
from isthmus.manifold.ukr.objective import BLOCK, Smoother, kernel_block, listed_weights, reciprocal
from isthmus.manifold.ukr.pairs import Pairs, listed_pairs, near_pairs
from isthmus.typing import Array

# Projections of whole rows begin at the nearest image alone, those of rows with gaps at three:
# what is missing may have several answers.
WHOLE_ROWS = Search(n_init=1, max_iter=30, tol=1e-7)
ROWS_WITH_GAPS = Search(n_init=3, max_iter=30, tol=1e-7)


@dataclass(frozen=True, eq=False)
class KernelMap:
    """The latent map of centres and outputs, feasible where the latent density is high enough.

    ``places`` are the latent points that searches may start from, ``images`` the map there.
    """

    centres: Array
    outputs: Array
    smoother: Smoother
    floor: float
    places: Array
    images: Array

    @cached_property
    def domain(self) -> Domain:
        """All of latent space: the floor is its only limit."""
        return Domain()

    def evaluate(self, Z: Array, jacobian: bool = False) -> MapValues:
        """The map at latent points, relative to the mean of the data."""
        at = latent_map(Z, self.centres, self.outputs, self.smoother, jacobian=jacobian)
        return MapValues(at.f, at.jacobian, at.density >= self.floor)

    def starts(self) -> tuple[Array, Array]:
        """The training places and their images."""
        return self.places, self.images


def map_of_rows(X: Array, centres: Array, outputs: Array, smoother: Smoother) -> KernelMap:
    """The map whose searches start at ``X`` and stay where it is as dense as somewhere there."""
    at = latent_map(X, centres, outputs, smoother)
    return KernelMap(centres, outputs, smoother, float(at.density.min()), X, at.f)


class Values(NamedTuple):
    """Values (m, d), Jacobians (m, d, q) if asked for, and densities (m,) at latent points."""

    f: Array
    jacobian: Array | None
    density: Array


def latent_map(
    Z: Array, Xc: Array, outputs: Array, smoother: Smoother, *, jacobian: bool = False
) -> Values:
    r"""The map :math:`f(z)=\sum_ib_i(z)\hat y_i` at latent points.

    Its Jacobian at degree 0 is :math:`\sum_i\frac{H_i}{S}(\hat y_i-f)(\hat x_i-z)^\top`; at
    higher degrees the ridge of the local fit is taken into account, so it is exact there too.
    Where a kernel of compact support reaches no centre, the output of the nearest one is
    returned, with slope zero.
    """
    (m, q), d, n = Z.shape, outputs.shape[1], len(Xc)
    f, S = np.empty((m, d)), np.empty(m)
    J = np.empty((m, d, q)) if jacobian else None
    for rows in block_slices(m, max(n, d * q), block_size=max(16, 4 * BLOCK // max(n, d * q))):
        here = Z[rows]
        pairs = near_pairs(here, Xc, smoother.kernel.support)
        if smoother.degree:
            f[rows], slope, S[rows] = _polynomial(here, Xc, outputs, smoother, pairs, jacobian)
        elif pairs is None:
            f[rows], slope, S[rows] = _dense(here, Xc, outputs, smoother, jacobian)
        else:
            f[rows], slope, S[rows] = _listed(here, Xc, outputs, smoother, pairs, jacobian)
        if J is not None:
            J[rows] = slope
    alone = np.flatnonzero(S <= 0)
    if len(alone):
        f[alone] = outputs[cKDTree(Xc).query(Z[alone])[1]]
        if J is not None:
            J[alone] = 0.0
    return Values(f, J, S / n)


def _dense(
    Z: Array, Xc: Array, Y: Array, smoother: Smoother, jacobian: bool
) -> tuple[Array, Array | None, Array]:
    K, H, S = kernel_block(Z, Xc, smoother.kernel)
    inverse = reciprocal(S)[:, None]
    f = (K @ Y) * inverse
    if not jacobian:
        return f, None, S
    H = H * inverse
    J = np.empty((*f.shape, Z.shape[1]))
    for m in range(Z.shape[1]):
        W = H * (Xc[:, m] - Z[:, m : m + 1])
        J[:, :, m] = W @ Y - f * W.sum(axis=1)[:, None]
    return f, J, S


def _listed(
    Z: Array, Xc: Array, Y: Array, smoother: Smoother, pairs: Pairs, jacobian: bool
) -> tuple[Array, Array | None, Array]:
    K, H = listed_weights(pairs, smoother.kernel, None)
    shape = (len(Z), len(Xc))
    weights = csr_array((K, pairs.indices, pairs.indptr), shape=shape)
    S = weights.sum(axis=1)
    inverse = reciprocal(S)
    f = (weights @ Y) * inverse[:, None]
    if not jacobian:
        return f, None, S
    count = np.diff(pairs.indptr)
    H *= np.repeat(inverse, count)
    J = np.empty((*f.shape, Z.shape[1]))
    for m in range(Z.shape[1]):
        step = Xc[pairs.indices, m] - np.repeat(Z[:, m], count)
        W = csr_array((H * step, pairs.indices, pairs.indptr), shape=shape)
        J[:, :, m] = W @ Y - f * W.sum(axis=1)[:, None]
    return f, J, S


def _polynomial(
    Z: Array, Xc: Array, Y: Array, smoother: Smoother, pairs: Pairs | None, jacobian: bool
) -> tuple[Array, Array | None, Array]:
    from isthmus.manifold.ukr.loops import polynomial_jacobians, polynomial_values

    near = listed_pairs(Z, Xc, smoother.kernel.support) if pairs is None else pairs
    assert near is not None
    K, H = listed_weights(near, smoother.kernel, None)
    settings = smoother.settings(Z.shape[1])
    S = csr_array((K, near.indices, near.indptr), shape=(len(Z), len(Xc))).sum(axis=1)
    if jacobian:
        f, J = polynomial_jacobians(near.indptr, near.indices, K, H, Z, Xc, Y, *settings)
        return f, J, S
    return polynomial_values(near.indptr, near.indices, K, Z, Xc, Y, *settings), None, S
