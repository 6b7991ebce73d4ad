r"""The reconstruction error of unsupervised kernel regression and its gradient.

A point :math:`x_j` of latent space is reconstructed from centres :math:`\hat x_i` with outputs
:math:`\hat y_i` as :math:`f_j=\sum_ib_{ij}\hat y_i`, where :math:`b_{ij}=K_{ij}/\sum_kK_{kj}`,
:math:`K_{ij}=F(\|\hat x_i-x_j\|^2)`, or the constant term of a local polynomial around
:math:`x_j`. The error is the mean of a loss of :math:`r_j=f_j-y_j`. Without landmarks the centres
are the points themselves, and the two gradients add up.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from isthmus.blocks.slices import block_slices
from isthmus.manifold.ukr.losses import Loss
from isthmus.manifold.ukr.pairs import Pairs, listed_pairs, near_pairs
from isthmus.smoothers.density_kernels import DensityKernel
from isthmus.typing import Array, IntArray

# Two such blocks of doubles stay in a core's cache between the products that use them.
BLOCK = 2**17
# Below such a sum a Gaussian row is computed anew from its largest exponent.
TINY = 1e-200


@dataclass(frozen=True)
class Smoother:
    """How centres make a reconstruction: density kernel and degree of the local polynomial.

    ``background`` is the weight of the mean of all data (the origin) among the neighbours of a
    point. With a kernel of compact support it makes the error continuous where a point leaves
    the reach of its last neighbour.
    """

    kernel: DensityKernel
    degree: int = 0
    cross_terms: bool = True
    ridge: float = 1e-6
    background: float = 0.0

    def n_terms(self, q: int) -> int:
        """Number of terms of the local polynomial in ``q`` variables."""
        squares = q if self.degree == 2 else 0
        products = q * (q - 1) // 2 if self.degree == 2 and self.cross_terms else 0
        return 1 + (q if self.degree else 0) + squares + products

    def settings(self, q: int) -> tuple[int, bool, float, float, int]:
        """What the compiled loops need to know."""
        return self.degree, self.cross_terms, self.ridge, self.background, self.n_terms(q)


class Slopes(NamedTuple):
    """Mean loss, its gradients, the reconstructions, and how many points nothing reaches."""

    value: float
    by_point: Array
    by_centre: Array
    by_output: Array | None
    fitted: Array
    n_alone: int


def reconstruction_error(
    Xe: Array,
    Xc: Array,
    targets: Array,
    outputs: Array,
    smoother: Smoother,
    loss: Loss,
    *,
    excluded: IntArray | None = None,
    pairs: Pairs | None = None,
    by_output: bool = False,
) -> Slopes:
    r"""Mean loss of the reconstructions at ``Xe`` and its gradients.

    With :math:`d_j=\nabla L(r_j)`, :math:`P_{ij}=-2F'(s_{ij})/S_j` and
    :math:`Q_{ij}=P_{ij}\,d_j^\top(\hat y_i-f_j)`, the gradients at degree 0 are
    :math:`\frac1N\sum_iQ_{ij}(\hat x_i-x_j)` for a point and
    :math:`-\frac1N\sum_jQ_{ij}(\hat x_i-x_j)` for a centre. Cost O(N n (d + q)), or the number of
    near pairs times (d + q) with a kernel of compact support; memory of two small blocks.

    Parameters
    ----------
    Xe, targets : arrays of shape (N, q) and (N, d)
        Evaluation points and what should be reconstructed there.
    Xc, outputs : arrays of shape (n, q) and (n, d)
        Centres and their outputs.
    smoother, loss : what makes a reconstruction, and what it costs.
    excluded : int array of shape (N, K) or None
        Centres that may not help to reconstruct a point (cross-validation).
    pairs : Pairs or None
        The near pairs, where the caller has them.
    by_output : bool
        Whether the gradient by ``outputs`` is wanted too.
    """
    if pairs is None:
        pairs = near_pairs(Xe, Xc, smoother.kernel.support)
    if smoother.degree:
        return _polynomial(
            Xe, Xc, targets, outputs, smoother, loss, excluded, pairs, by_output=by_output
        )
    if pairs is None:
        return _dense(Xe, Xc, targets, outputs, smoother, loss, excluded, by_output=by_output)
    return _listed(Xe, Xc, targets, outputs, smoother, loss, excluded, pairs, by_output=by_output)


def kernel_block(
    Xe: Array,
    Xc: Array,
    kernel: DensityKernel,
    excluded: IntArray | None = None,
    out: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Values K and slopes H of all pairs, and the row sums S of K; safe from underflow.

    A row of Gaussian values that vanish is scaled to have a largest value of one, which changes
    neither K / S nor H / S. ``out`` is memory for Gaussian values: to touch fresh memory for every
    block would take longer than to compute them.
    """
    rows = np.arange(len(Xe))[:, None]
    if kernel.name == "gaussian":
        half_e = -0.5 * np.einsum("ij,ij->i", Xe, Xe)[:, None]
        half_c = -0.5 * np.einsum("ij,ij->i", Xc, Xc)[:, None]
        one_e, one_c = np.ones_like(half_e), np.ones_like(half_c)
        left, right = np.hstack([Xe, half_e, one_e]), np.hstack([Xc, one_c, half_c]).T
        # -s/2 by one product; a rounding error above zero would give a weight above one.
        K = np.matmul(left, right, out=out)
        np.minimum(K, 0.0, out=K)
        np.exp(K, out=K)
        if excluded is not None:
            K[rows, excluded] = 0.0
        S = K.sum(axis=1)
        lost = np.flatnonzero(S < TINY)
        if len(lost):
            logits = left[lost] @ right
            if excluded is not None:
                logits[np.arange(len(lost))[:, None], excluded[lost]] = -np.inf
            top = logits.max(axis=1, keepdims=True)
            K[lost] = np.exp(logits - np.where(np.isfinite(top), top, 0.0))
            S[lost] = K[lost].sum(axis=1)
        return K, K, S
    squared = squared_distances(Xe, Xc)
    K, H = kernel.profile(squared), kernel.slope(squared)
    if excluded is not None:
        K[rows, excluded] = 0.0
        H[rows, excluded] = 0.0
    return K, H, K.sum(axis=1)


def squared_distances(Xe: Array, Xc: Array) -> Array:
    """Squared distances, never negative."""
    squared = Xe @ (-2.0 * Xc.T)
    squared += np.einsum("ij,ij->i", Xe, Xe)[:, None]
    squared += np.einsum("ij,ij->i", Xc, Xc)
    return np.maximum(squared, 0.0, out=squared)


def reciprocal(S: Array) -> Array:
    """1 / S, and 0 where S is 0: what nothing reaches has no weights."""
    return np.divide(1.0, S, out=np.zeros_like(S), where=S > 0)


def _dense(
    Xe: Array,
    Xc: Array,
    targets: Array,
    outputs: Array,
    smoother: Smoother,
    loss: Loss,
    excluded: IntArray | None,
    *,
    by_output: bool,
) -> Slopes:
    (N, q), n = Xe.shape, len(Xc)
    centre = Xc.mean(axis=0)
    Xe, Xc = Xe - centre, Xc - centre  # small numbers lose less in the products
    with_one = np.hstack([outputs, np.ones((n, 1))])
    centres = np.hstack([Xc, np.ones((n, 1))])
    total, n_alone = 0.0, 0
    by_point, back = np.empty((N, q)), np.zeros((n, q + 1))
    fitted = np.empty((N, outputs.shape[1]))
    slope_y = np.zeros_like(outputs) if by_output else None
    size = min(max(16, BLOCK // n), N)
    work, products = np.empty((2, size, n))
    for rows in block_slices(N, n, block_size=size):
        m = rows.stop - rows.start
        K, H, S = kernel_block(
            Xe[rows], Xc, smoother.kernel, None if excluded is None else excluded[rows], work[:m]
        )
        inverse = reciprocal(S + smoother.background)
        F = fitted[rows] = (K @ outputs) * inverse[:, None]
        values, D = loss(F - targets[rows], rows)
        total += values.sum()
        n_alone += int(np.count_nonzero(S <= 0))
        D = D * inverse[:, None]
        # Q = H · d_j (y_i - f_j) / S_j, the offset being one more column of the product.
        offset = -np.einsum("ij,ij->i", D, F)[:, None]
        Q = np.matmul(np.hstack([D, offset]), with_one.T, out=products[:m])
        Q *= H
        forward = Q @ centres
        by_point[rows] = forward[:, :q] - forward[:, q:] * Xe[rows]
        back += Q.T @ np.hstack([Xe[rows], np.ones((len(D), 1))])
        if slope_y is not None:
            slope_y += K.T @ D
    by_centre = back[:, :q] - back[:, q:] * Xc
    return Slopes(
        total / N,
        by_point / N,
        by_centre / N,
        None if slope_y is None else slope_y / N,
        fitted,
        n_alone,
    )


def listed_weights(
    pairs: Pairs, kernel: DensityKernel, excluded: IntArray | None
) -> tuple[Array, Array]:
    """Values K and slopes H of the listed pairs, zero where excluded."""
    from isthmus.manifold.ukr.loops import exclude

    K, H = kernel.profile(pairs.squared), np.array(kernel.slope(pairs.squared))
    if excluded is not None:
        exclude(pairs.indptr, pairs.indices, excluded, K, H)
    return K, H


def _listed(
    Xe: Array,
    Xc: Array,
    targets: Array,
    outputs: Array,
    smoother: Smoother,
    loss: Loss,
    excluded: IntArray | None,
    pairs: Pairs,
    *,
    by_output: bool,
) -> Slopes:
    from isthmus.manifold.ukr.loops import pair_slopes

    N, shape = len(Xe), (len(Xe), len(Xc))
    K, H = listed_weights(pairs, smoother.kernel, excluded)
    weights = csr_array((K, pairs.indices, pairs.indptr), shape=shape)
    S = weights.sum(axis=1)
    n_alone = int(np.count_nonzero(S <= 0))
    S += smoother.background
    inverse = reciprocal(S)
    fitted = (weights @ outputs) * inverse[:, None]
    values, D = loss(fitted - targets, slice(0, N))
    Q = csr_array(
        (
            pair_slopes(pairs.indptr, pairs.indices, H, S, D, fitted, outputs),
            pairs.indices,
            pairs.indptr,
        ),
        shape=shape,
    )
    by_point = Q @ Xc - Q.sum(axis=1)[:, None] * Xe
    by_centre = Q.T @ Xe - Q.sum(axis=0)[:, None] * Xc
    slope_y = weights.T @ (D * inverse[:, None]) / N if by_output else None
    return Slopes(values.sum() / N, by_point / N, by_centre / N, slope_y, fitted, n_alone)


def _polynomial(
    Xe: Array,
    Xc: Array,
    targets: Array,
    outputs: Array,
    smoother: Smoother,
    loss: Loss,
    excluded: IntArray | None,
    pairs: Pairs | None,
    *,
    by_output: bool,
) -> Slopes:
    from isthmus.manifold.ukr.loops import polynomial_gradients, polynomial_values

    N, n = len(Xe), len(Xc)
    settings = smoother.settings(Xe.shape[1])
    total, n_alone = 0.0, 0
    by_point, by_centre = np.empty(Xe.shape), np.zeros(Xc.shape)
    fitted, slope_y = np.empty((N, outputs.shape[1])), np.zeros(outputs.shape)
    whole = [slice(0, N)]
    for rows in (
        whole if pairs is not None else block_slices(N, n, block_size=max(16, 8 * BLOCK // n))
    ):
        # Crowded or not: polynomials are fitted pair by pair, and those out of reach cost as much.
        near = listed_pairs(Xe[rows], Xc, smoother.kernel.support) if pairs is None else pairs
        assert near is not None
        K, H = listed_weights(near, smoother.kernel, None if excluded is None else excluded[rows])
        F = polynomial_values(near.indptr, near.indices, K, Xe[rows], Xc, outputs, *settings)
        values, D = loss(F - targets[rows], rows)
        found = polynomial_gradients(
            near.indptr, near.indices, K, H, Xe[rows], Xc, outputs, D, *settings, by_output
        )
        fitted[rows], by_point[rows] = F, found[0]
        by_centre += found[1]
        slope_y += found[2]
        total += values.sum()
        weights = csr_array((K, near.indices, near.indptr), shape=(len(F), n))
        n_alone += int(np.count_nonzero(weights.sum(axis=1) <= 0))
    return Slopes(
        total / N, by_point / N, by_centre / N, slope_y / N if by_output else None, fitted, n_alone
    )
