"""Gradients through weighted means with Gaussian weights, over all pairs.

The formula of :mod:`isthmus.smoothers.pull_back` in compiled passes over blocks of points, which
threads share. BLAS has one thread meanwhile: its own wait for each other by spinning at each of
several short products, which took longer than what they saved.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import product
from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import rest_in_threads
from isthmus.smoothers.kernel_rows import TINY, reciprocal
from isthmus.typing import Array, IntArray

# Doubles of a block of pairs, two of which stay in a core's cache, and points that are worth it.
BLOCK, LEAST_POINTS = 2**17, 128


class MeanGradients(NamedTuple):
    """Gradients by points, centres and outputs, the values, and how many points are alone."""

    by_point: Array
    by_centre: Array
    by_output: Array | None
    values: Array
    n_alone: int


def pull_back_means(
    Xe: Array,
    Xc: Array,
    outputs: Array,
    slope_of: Callable[[Array, slice], Array | None],
    excluded: IntArray | None,
    background: float,
    by_output: bool,
) -> MeanGradients:
    """What :func:`isthmus.smoothers.pull_back.pull_back` returns, for plain Gaussian means.

    ``slope_of`` is asked by several threads, each for rows of its own. Every block has sums of its
    own, which are added in order: the result does not depend on the number of threads.
    """
    from isthmus.smoothers.gaussian_loops import pull_pairs

    (N, q), (n, d) = Xe.shape, outputs.shape
    centre = Xc.mean(axis=0)
    Xe, lines = Xe - centre, np.ascontiguousarray((Xc - centre).T)
    columns, with_one = np.asfortranarray(outputs), np.vstack([outputs.T, np.ones((1, n))])
    size = min(max(LEAST_POINTS, BLOCK // n), N)
    blocks = list(block_slices(N, n, block_size=size))
    by_point, values, alone = np.zeros((N, q)), np.empty((N, d)), np.zeros(N, dtype=bool)
    back = np.zeros((len(blocks), q + 1, n))
    slopes_y: list[Array | None] = [None] * len(blocks)

    def work(k: int) -> None:
        rows = blocks[k]
        m = rows.stop - rows.start
        with scratch(2, size, n) as memory:
            K, Q = memory[0, :m], memory[1, :m]
            S = _weights(Xe[rows], lines, None if excluded is None else excluded[rows], K)
            alone[rows] = S <= 0
            inverse = reciprocal(S + background)
            F = values[rows] = product(K, columns) * inverse[:, None]
            D = slope_of(F, rows)
            if D is None:
                return
            # Q = H · d_j (y_i - f_j) / S_j, the offset being one more column of the product.
            D = D * inverse[:, None]
            offset = -np.einsum("ij,ij->i", D, F)[:, None]
            np.matmul(np.hstack([D, offset]), with_one, out=Q)
            pull_pairs(Q, K, Xe[rows], lines, by_point[rows], back[k])
            if by_output:
                slopes_y[k] = product(K.T, D)

    rest_in_threads(work, range(len(blocks)))
    total = back.sum(axis=0)
    found = [part for part in slopes_y if part is not None]
    slope_y = None
    if by_output:
        slope_y = np.sum(found, axis=0) if found else np.zeros_like(outputs)
    by_centre = (total[:q] - total[q] * lines).T
    return MeanGradients(by_point, by_centre, slope_y, values, int(np.count_nonzero(alone)))


def _weights(Xe: Array, lines: Array, excluded: IntArray | None, K: Array) -> Array:
    """Fill K with the weights of all pairs; their sums.

    A row of weights that vanish is scaled to have a largest value of one, which changes none of
    what is divided by its sum.
    """
    from isthmus.smoothers.gaussian_loops import fill_exponents, fill_sums

    S: Array = np.empty(len(Xe))
    fill_exponents(Xe, lines, K)
    np.exp(K, out=K)
    if excluded is not None:
        K[np.arange(len(Xe))[:, None], excluded] = 0.0
    fill_sums(K, S)
    lost = np.flatnonzero(S < TINY)
    if len(lost):
        exponents = np.empty((len(lost), lines.shape[1]))
        fill_exponents(Xe[lost], lines, exponents)
        if excluded is not None:
            exponents[np.arange(len(lost))[:, None], excluded[lost]] = -np.inf
        top = exponents.max(axis=1, keepdims=True)
        K[lost] = np.exp(exponents - np.where(np.isfinite(top), top, 0.0))
        S[lost] = K[lost].sum(axis=1)
    return S
