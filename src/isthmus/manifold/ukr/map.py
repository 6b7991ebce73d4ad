"""The map from latent space to data, its Jacobian, the latent density, and projections on it."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_argmin_min

from isthmus.blocks.slices import block_slices
from isthmus.manifold.ukr.objective import BLOCK, Smoother, kernel_block, listed_weights, reciprocal
from isthmus.manifold.ukr.pairs import Pairs, listed_pairs, near_pairs
from isthmus.optimize.levenberg_marquardt import least_squares_rows
from isthmus.typing import Array, BoolArray, IntArray

# Jacobians of so many doubles are held at once while points are projected.
PROJECTION_BLOCK = 2**22


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


def project(
    targets: Array,
    Xc: Array,
    outputs: Array,
    smoother: Smoother,
    starts: Array,
    images: Array,
    floor: float,
    *,
    n_starts: int = 1,
    max_iter: int = 30,
    tol: float = 1e-7,
) -> tuple[Array, Array]:
    r"""Latent points :math:`\arg\min_z\|y-f(z)\|^2` with :math:`p(z)\ge\eta`, and the errors.

    Descent begins at those of ``starts`` whose ``images`` on the manifold are nearest to a
    target, and all targets move at once. Unknown components of a target are NaN.
    """
    best, error = np.empty((len(targets), Xc.shape[1])), np.empty(len(targets))
    size = max(64, PROJECTION_BLOCK // (targets.shape[1] * Xc.shape[1]))
    for rows in block_slices(len(targets), 1, block_size=size):
        best[rows], error[rows] = _project_block(
            targets[rows], Xc, outputs, smoother, starts, images, floor, n_starts, max_iter, tol
        )
    return best, error


def _project_block(
    targets: Array,
    Xc: Array,
    outputs: Array,
    smoother: Smoother,
    starts: Array,
    images: Array,
    floor: float,
    n_starts: int,
    max_iter: int,
    tol: float,
) -> tuple[Array, Array]:
    known = np.isfinite(targets)
    weights = None if known.all() else known.astype(float)
    density: Array = np.empty(0)

    def model(points: Array, rows: IntArray) -> tuple[Array, Array]:
        nonlocal density
        at = latent_map(points, Xc, outputs, smoother, jacobian=True)
        assert at.jacobian is not None
        density = at.density
        return at.f, at.jacobian

    def inside(points: Array, rows: IntArray) -> BoolArray:
        return density >= floor  # of the points that the model has just been asked for

    best = np.empty((len(targets), Xc.shape[1]))
    error = np.full(len(targets), np.inf)
    for start in nearest_images(targets, known, images, n_starts).T:
        found = least_squares_rows(
            model,
            starts[start],
            targets,
            weights=weights,
            inside=inside,
            max_iter=max_iter,
            tol=tol,
        )
        better = found.error < error
        best[better], error[better] = found.x[better], found.error[better]
    return best, error


def nearest_images(targets: Array, known: BoolArray, images: Array, n: int) -> IntArray:
    """The ``n`` images nearest to each target in its known components, (m, n)."""
    n = min(n, len(images))
    if n == 1 and known.all():
        return pairwise_distances_argmin_min(targets, images)[0][:, None]
    filled = np.where(known, targets, 0.0)
    # |y - f|² over known components, without the part that is the same for all images.
    distance = known.astype(float) @ (images**2).T - 2.0 * filled @ images.T
    if n == 1:
        return distance.argmin(axis=1)[:, None]
    nearest = np.argpartition(distance, n - 1, axis=1)[:, :n]
    return nearest
