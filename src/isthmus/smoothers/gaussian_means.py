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
from isthmus.linalg.scratch import from_a_line, scratch
from isthmus.linalg.threads import rest_in_threads
from isthmus.smoothers.kernel_rows import TINY, reciprocal
from isthmus.typing import Array, IntArray

# Doubles of a block of pairs, which stay in a core's cache, and points that are worth it.
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
    from isthmus.linalg.lanes import LANES, aligned
    from isthmus.smoothers.gaussian_loops import POINTS, WIDE, fill_weighted, pull_pairs

    (N, q), (n, d) = Xe.shape, outputs.shape
    centre = Xc.mean(axis=0)
    wide = n + -n % WIDE  # centres that weigh nothing fill up the last registers
    lines = np.zeros((q, wide))
    lines[:, :n] = (Xc - centre).T
    by_row, by_column = _panels(outputs, WIDE)
    size = min(max(LEAST_POINTS, BLOCK // n), N)
    blocks = list(block_slices(N, n, block_size=size))
    by_point, values, alone = np.zeros((N, q)), np.empty((N, d)), np.zeros(N, dtype=bool)
    back = np.zeros((len(blocks), q + 1, wide))
    slopes_y: list[Array | None] = [None] * len(blocks)

    def work(k: int) -> None:
        rows = blocks[k]
        m = rows.stop - rows.start
        full = m + -m % POINTS
        X = np.zeros((full, q))
        X[:m] = Xe[rows] - centre
        with scratch(m * wide + LANES) as memory:
            K = from_a_line(memory, m * wide).reshape(m, wide)
            S = _weights(X[:m], lines, None if excluded is None else excluded[rows], K, n)
            alone[rows] = S <= 0
            inverse = reciprocal(S + background)
            F = aligned(full, len(by_row) // wide * WIDE)
            fill_weighted(K, by_row, F)
            values[rows] = F[:m, :d] * inverse[:, None]
            slopes = slope_of(values[rows], rows)
            if slopes is None:
                return
            # Pulls are H · d_j (y_i - f_j) / S_j.
            D, offsets = np.zeros((full, d)), np.zeros(full)
            np.multiply(slopes, inverse[:, None], out=D[:m])
            np.einsum("ij,ij->i", D[:m], -values[rows], out=offsets[:m])
            sums = aligned(full * (q + 1), LANES)
            pull_pairs(D, offsets, by_column, K, X, lines, sums, by_point[rows], back[k])
            if by_output:
                slopes_y[k] = product(K.T, D[:m])[:n]

    rest_in_threads(work, range(len(blocks)))
    total = back.sum(axis=0)[:, :n]
    found = [part for part in slopes_y if part is not None]
    slope_y = None
    if by_output:
        slope_y = np.sum(found, axis=0) if found else np.zeros_like(outputs)
    by_centre = (total[:q] - total[q] * lines[:, :n]).T
    return MeanGradients(by_point, by_centre, slope_y, values, int(np.count_nonzero(alone)))


def _panels(outputs: Array, width: int) -> tuple[Array, Array]:
    """Outputs, with zeros beyond them, in panels of so many columns, and of so many rows."""
    from isthmus.linalg.lanes import aligned

    n, d = outputs.shape
    padded = np.zeros((n + -n % width, d + -d % width))
    padded[:n, :d] = outputs
    by_row = aligned(padded.size // width, width)
    by_row.reshape(-1, len(padded), width)[:] = padded.reshape(len(padded), -1, width).swapaxes(
        0, 1
    )
    by_column = aligned(len(padded) // width * d, width)
    by_column.reshape(-1, d, width)[:] = padded[:, :d].reshape(-1, width, d).swapaxes(1, 2)
    return by_row, by_column


def _weights(Xe: Array, lines: Array, excluded: IntArray | None, K: Array, n: int) -> Array:
    """Fill K with the weights of all pairs, none beyond n centres; their sums.

    A row of weights that vanish is scaled to have a largest value of one, which changes none of
    what is divided by its sum.
    """
    from isthmus.smoothers.gaussian_loops import fill_exponents, fill_sums

    S: Array = np.empty(len(Xe))
    fill_exponents(Xe, lines, K)
    np.exp(K, out=K)
    if excluded is not None:
        K[np.arange(len(Xe))[:, None], excluded] = 0.0
    K[:, n:] = 0.0
    fill_sums(K, S)
    lost = np.flatnonzero(S < TINY)
    if len(lost):
        exponents = np.empty((len(lost), lines.shape[1]))
        fill_exponents(Xe[lost], lines, exponents)
        exponents[:, n:] = -np.inf
        if excluded is not None:
            exponents[np.arange(len(lost))[:, None], excluded[lost]] = -np.inf
        top = exponents.max(axis=1, keepdims=True)
        K[lost] = np.exp(exponents - np.where(np.isfinite(top), top, 0.0))
        S[lost] = K[lost].sum(axis=1)
    return S
