r"""Gradients through a local polynomial smoother, by points, centres and outputs.

For :math:`\sum_j\langle d_j,f(x_j)\rangle`, where :math:`d_j` is the slope of a loss at the value
:math:`f(x_j)`. With :math:`P_{ij}=-2F'(s_{ij})/S_j` and
:math:`Q_{ij}=P_{ij}\,d_j^\top(\hat y_i-f_j)`, the gradients at degree 0 are
:math:`\sum_iQ_{ij}(\hat x_i-x_j)` for a point and :math:`-\sum_jQ_{ij}(\hat x_i-x_j)` for a centre.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import product
from isthmus.linalg.scratch import scratch
from isthmus.smoothers.density_kernels import is_gaussian
from isthmus.smoothers.fits import fit_polynomials
from isthmus.smoothers.gaussian_means import pull_back_means
from isthmus.smoothers.kernel_rows import (
    BLOCK,
    LONELY,
    KernelRows,
    gaussian_centres,
    kernel_block,
    lent_workspace,
    pair_weights,
    reciprocal,
)
from isthmus.smoothers.local_polynomial import LocalSmoother, nearest_centres, point_blocks
from isthmus.smoothers.mutual import MutualPairs, are_mutual, lent_mutual, mutual_means
from isthmus.smoothers.pairs import FEW, Pairs, lent_pairs
from isthmus.typing import Array, IntArray

# Rows of fewer columns do not fill a vector register of eight lanes.
FEW_COLUMNS = 8
# values (m, d) of the smoother, and which of all points they are at → slopes of the loss (m, d),
# or None where values alone are wanted: gradients are then without meaning
SlopeOf: TypeAlias = Callable[[Array, slice], Array | None]


class Gradients(NamedTuple):
    """Gradients, the values of the smoother, and how many points no centre reaches.

    Where the points are their own centres, the gradient by point is all of it, and that by
    centre zero.
    """

    by_point: Array
    by_centre: Array
    by_output: Array | None
    values: Array
    n_alone: int


def pull_back(
    smoother: LocalSmoother,
    Xe: Array,
    Xc: Array | None,
    outputs: Array,
    slope_of: SlopeOf,
    *,
    excluded: IntArray | None = None,
    pairs: Pairs | MutualPairs | None = None,
    by_output: bool = False,
) -> Gradients:
    """Gradients of a loss of the values at ``Xe``; ``slope_of`` is asked block by block.

    Cost O(N n (d + q)), or the number of near pairs times (d + q) with a kernel of compact
    support; memory of two small blocks.

    Parameters
    ----------
    Xe, Xc, outputs : arrays of shape (N, q), (n, q) and (n, d)
        Points, centres and their outputs. None for centres that are the points themselves.
    slope_of : callable
        Asked for blocks of rows, perhaps by several threads.
    excluded : int array of shape (N, K) or None
        Centres that may not help at a point (cross-validation).
    pairs : Pairs, MutualPairs or None
        The pairs within :func:`isthmus.smoothers.density_kernels.squared_reach`, where the caller
        has them; mutual ones only where :func:`isthmus.smoothers.mutual.are_mutual` says so.
    by_output : bool
        Whether the gradient by ``outputs`` is wanted too.
    """
    if Xc is None:
        return _among(smoother, Xe, outputs, slope_of, excluded, pairs, by_output)
    assert not isinstance(pairs, MutualPairs)
    if pairs is None and smoother.kernel.compact:
        with lent_pairs(Xe, Xc, smoother.kernel.support) as lent:
            return _pull_back(smoother, Xe, Xc, outputs, slope_of, excluded, lent, by_output)
    return _pull_back(smoother, Xe, Xc, outputs, slope_of, excluded, pairs, by_output)


def _among(
    smoother: LocalSmoother,
    X: Array,
    outputs: Array,
    slope_of: SlopeOf,
    excluded: IntArray | None,
    pairs: Pairs | MutualPairs | None,
    by_output: bool,
) -> Gradients:
    """The same for points that are their own centres."""
    if isinstance(pairs, MutualPairs):
        return _mutual(smoother, outputs, slope_of, excluded, pairs)
    if pairs is None and not by_output and are_mutual(smoother, excluded, len(X)):
        with lent_mutual(X, smoother.kernel.support) as lent:
            if lent is not None:
                return _mutual(smoother, outputs, slope_of, excluded, lent)
    found = pull_back(
        smoother, X, X, outputs, slope_of, excluded=excluded, pairs=pairs, by_output=by_output
    )
    none = np.zeros_like(found.by_centre)
    return found._replace(by_point=found.by_point + found.by_centre, by_centre=none)


def _mutual(
    smoother: LocalSmoother,
    outputs: Array,
    slope_of: SlopeOf,
    excluded: IntArray | None,
    pairs: MutualPairs,
) -> Gradients:
    values, gradient, n_alone = mutual_means(
        pairs,
        smoother.kernel,
        outputs,
        slope_of,
        with_itself=excluded is None,
        background=smoother.background,
    )
    return Gradients(gradient, np.zeros_like(gradient), None, values, n_alone)


def _pull_back(
    smoother: LocalSmoother,
    Xe: Array,
    Xc: Array,
    outputs: Array,
    slope_of: SlopeOf,
    excluded: IntArray | None,
    pairs: Pairs | None,
    by_output: bool,
) -> Gradients:
    if not smoother.plain_means:
        return _polynomials(smoother, Xe, Xc, outputs, slope_of, excluded, pairs, by_output)
    if pairs is None and is_gaussian(smoother.kernel) and len(Xe) * len(Xc) >= FEW:
        return Gradients(
            *pull_back_means(Xe, Xc, outputs, slope_of, excluded, smoother.background, by_output)
        )
    if pairs is None:
        return _all_pairs(smoother, Xe, Xc, outputs, slope_of, excluded, by_output)
    return _near_pairs(smoother, Xe, Xc, outputs, slope_of, excluded, pairs, by_output)


def _all_pairs(
    smoother: LocalSmoother,
    Xe: Array,
    Xc: Array,
    outputs: Array,
    slope_of: SlopeOf,
    excluded: IntArray | None,
    by_output: bool,
) -> Gradients:
    (N, q), n = Xe.shape, len(Xc)
    centre = Xc.mean(axis=0)
    Xe, Xc = Xe - centre, Xc - centre  # small numbers lose less in the products
    with_one = np.hstack([outputs, np.ones((n, 1))])
    # In the order in which products read their few columns.
    centres = np.asfortranarray(np.hstack([Xc, np.ones((n, 1))]))
    points, columns = np.hstack([Xe, np.ones((N, 1))]), np.asfortranarray(outputs)
    n_alone = 0
    by_point, back = np.empty((N, q)), np.zeros((n, q + 1))
    values = np.empty((N, outputs.shape[1]))
    slope_y = np.zeros_like(outputs) if by_output else None
    size = min(max(16, 2 * BLOCK // n), N)
    right = gaussian_centres(Xc)
    with scratch(2, size, n) as (work, products):
        for rows in block_slices(N, n, block_size=size):
            m = rows.stop - rows.start
            left_out = None if excluded is None else excluded[rows]
            K, H, S, _ = kernel_block(Xe[rows], Xc, smoother.kernel, left_out, work[:m], right)
            inverse = reciprocal(S + smoother.background)
            F = values[rows] = product(K, columns) * inverse[:, None]
            D = slope_of(F, rows)
            n_alone += int(np.count_nonzero(S <= 0))
            if D is None:
                continue
            D = D * inverse[:, None]
            # Q = H · d_j (y_i - f_j) / S_j, the offset being one more column of the product.
            offset = -np.einsum("ij,ij->i", D, F)[:, None]
            Q = np.matmul(np.hstack([D, offset]), with_one.T, out=products[:m])
            Q *= H
            forward = product(Q, centres)
            by_point[rows] = forward[:, :q] - forward[:, q:] * Xe[rows]
            back += product(Q.T, points[rows])
            if slope_y is not None:
                slope_y += product(K.T, D)
    by_centre = back[:, :q] - back[:, q:] * Xc
    return Gradients(by_point, by_centre, slope_y, values, n_alone)


def _near_pairs(
    smoother: LocalSmoother,
    Xe: Array,
    Xc: Array,
    outputs: Array,
    slope_of: SlopeOf,
    excluded: IntArray | None,
    pairs: Pairs,
    by_output: bool,
) -> Gradients:
    from isthmus.smoothers.pair_loops import add_mean_slopes

    outputs = np.ascontiguousarray(outputs)
    with scratch(2, len(pairs.indices)) as memory:
        K, H = pair_weights(pairs, smoother.kernel, excluded, memory)
        S, values = _sums(pairs.indptr, pairs.indices, K, outputs)
        if _is_lonely(smoother, S):
            return _pull_back(smoother, Xe, Xc, outputs, slope_of, excluded, None, by_output)
        n_alone = int(np.count_nonzero(S <= 0))
        inverse = reciprocal(S + smoother.background)
        values *= inverse[:, None]
        D = slope_of(values, slice(0, len(Xe)))
        by_point, by_centre = np.zeros(Xe.shape), np.zeros(Xc.shape)
        if D is None:
            return Gradients(by_point, by_centre, None, values, n_alone)
        add_mean_slopes(
            pairs.indptr, pairs.indices, H, inverse, D, values, outputs, Xe, Xc, by_point, by_centre
        )
        slope_y = None
        if by_output:
            weights = csr_array((K, pairs.indices, pairs.indptr), shape=(len(Xe), len(Xc)))
            slope_y = weights.T @ (D * inverse[:, None])
    return Gradients(by_point, by_centre, slope_y, values, n_alone)


def _polynomials(
    smoother: LocalSmoother,
    Xe: Array,
    Xc: Array,
    outputs: Array,
    slope_of: SlopeOf,
    excluded: IntArray | None,
    pairs: Pairs | None,
    by_output: bool,
) -> Gradients:
    from isthmus.smoothers.pair_loops import pair_products

    N, n_alone = len(Xe), 0
    by_point, by_centre = np.empty(Xe.shape), np.zeros(Xc.shape)
    values = np.empty((N, outputs.shape[1]))
    slope_y = np.zeros_like(outputs) if by_output else None
    outputs = np.ascontiguousarray(outputs)
    blocks = [slice(0, N)] if pairs is not None else point_blocks(smoother, N, len(Xc), 1)
    with lent_workspace() as work:
        for block in blocks:
            here, left_out = Xe[block], None if excluded is None else excluded[block]
            # Crowded or not: polynomials are fitted pair by pair, and those out of reach cost as
            # much.
            rows = smoother.rows(here, Xc, left_out, pairs, work)
            fit = fit_polynomials(smoother, rows, here, Xc, work)
            if pairs is not None and _is_lonely(smoother, fit.mass):
                return _polynomials(smoother, Xe, Xc, outputs, slope_of, excluded, None, by_output)
            F = _weighted(rows, fit.b, outputs)
            alone = np.flatnonzero(fit.mass <= 0)
            n_alone += len(alone)
            if smoother.adaptive and len(alone):
                F[alone] = outputs[
                    nearest_centres(here[alone], Xc, None if left_out is None else left_out[alone])
                ]
            values[block] = F
            D = slope_of(F, block)
            if D is None:
                continue
            M = work.take("products", len(rows.K))
            if rows.everything:
                np.matmul(D, outputs.T, out=M.reshape(len(here), -1))
            else:
                pair_products(rows.indptr, rows.indices, D, outputs, M)
            if slope_y is not None:
                slope_y += rows.table(fit.b).T @ D
            by_point[block] = fit.pull_back(M, by_centre)
    return Gradients(by_point, by_centre, slope_y, values, n_alone)


def _is_lonely(smoother: LocalSmoother, S: Array) -> bool:
    """Whether a point is so far from all that a list of near pairs does not say enough of it."""
    return not smoother.kernel.compact and bool(S.min() < LONELY)


def _weighted(rows: KernelRows, b: Array, Y: Array) -> Array:
    """Sums of the outputs of the pairs with the weights ``b``, (m, d)."""
    if rows.everything:
        return np.asarray(rows.table(b) @ Y)
    return _sums(rows.indptr, rows.indices, b, Y)[1]


def _sums(indptr: IntArray, indices: IntArray, weights: Array, Y: Array) -> tuple[Array, Array]:
    """Sums of the weights of every point (m,), and of weights times outputs (m, d)."""
    m, d = len(indptr) - 1, Y.shape[1]
    found = np.empty(m), np.empty((m, d))
    if d >= FEW_COLUMNS and Y.dtype == np.float64:
        from isthmus.smoothers.wide_loops import wide_sums

        wide_sums(indptr, indices, weights, Y, *found)
    else:
        from isthmus.smoothers.pair_loops import weighted_sums

        weighted_sums(indptr, indices, weights, Y, *found)
    return found
