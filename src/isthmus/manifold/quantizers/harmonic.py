r"""K-harmonic means: centres that hardly depend on where they begin [ZhangHsu1999]_."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.smoothers.kernel_rows import squared_distances
from isthmus.typing import Array

LEAST = 1e-12  # distance, in units of the spread of the data, that counts as none
# Distances that are looked at at a time, which stay in the cache.
BLOCK_VALUES = 32_768


class Centres(NamedTuple):
    """Centres found, (n, d), and the error before each step and after the last."""

    centres: Array
    errors: list[float]
    converged: bool = True


class HarmonicSums(NamedTuple):
    """Sums over rows: of the error, of the rows' weights, and of each centre's shares."""

    error: float
    weight: float
    shares: Array
    moments: Array


def harmonic_means(
    Y: Array,
    n_centres: int,
    rng: np.random.Generator,
    *,
    power: float = 3.5,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> Centres:
    r"""Centres of least :math:`\frac1N\sum_i n\big/\sum_jd_{ij}^{-p}`.

    The harmonic mean of the distances of a row is dominated by its nearest centre, as in
    k-means, but far ones count a little, and rows that no centre serves well count more. So
    centres move to where they are missing, and the start matters less. Begins at random rows
    and repeats :func:`harmonic_step` until the error changes by less than ``tol`` of it. Cost
    O(N n d) per step, in blocks.
    """
    centre = Y.mean(axis=0)
    spread = float(np.sqrt(np.mean((Y - centre) ** 2))) or 1.0
    rows = (Y - centre) / spread  # small numbers lose less in the products
    C = rows[rng.choice(len(rows), n_centres, replace=False)]
    found = descend(
        lambda C: harmonic_sums(rows, C, power), C, power=power, max_iter=max_iter, tol=tol
    )
    errors = [e * spread**power for e in found.errors]
    return Centres(found.centres * spread + centre, errors, found.converged)


def descend(
    sums_of: Callable[[Array], HarmonicSums], C: Array, *, power: float, max_iter: int, tol: float
) -> Centres:
    """Repeat the fixed point from the centres ``C``; ``sums_of`` is a pass over all rows.

    The curvature of :math:`d^p` is :math:`p-1` times what the weights :math:`d^{p-2}` take it for,
    so that full steps overshoot and, for large powers, never settle: a share :math:`1/(p-1)` of
    each step is taken. The error may still rise; the centres of the least count.
    """
    errors: list[float] = []
    best, least, share = C, np.inf, 1.0 / (power - 1.0)
    for _ in range(max_iter):
        moved, error = move(sums_of(C), C)
        errors.append(error)
        if error < least:
            best, least = C, error
        if len(errors) > 1 and abs(errors[-2] - error) <= tol * errors[-2]:
            return Centres(best, errors)
        C = C + share * (moved - C)
    return Centres(best, errors, converged=False)


def harmonic_step(
    Y: Array, C: Array, power: float, weights: Array | None = None
) -> tuple[Array, float]:
    r"""Centres after one step, and the error before it.

    :math:`c_j=\sum_iw_{ij}y_i/\sum_iw_{ij}` with
    :math:`w_{ij}=d_{ij}^{-(p+2)}/(\sum_kd_{ik}^{-p})^2`.
    """
    return move(harmonic_sums(Y, C, power, weights), C)


def move(sums: HarmonicSums, C: Array) -> tuple[Array, float]:
    """Centres after the step whose sums are given, and the error before it."""
    # A centre that no row weighs stays where it is.
    served = sums.shares > 0
    scale = np.where(served, sums.shares, 1.0)[:, None]
    moved = np.where(served[:, None], sums.moments / scale, C)
    return moved, len(C) * sums.error / sums.weight


def harmonic_sums(Y: Array, C: Array, power: float, weights: Array | None = None) -> HarmonicSums:
    r"""The sums of a step over the rows of ``Y``, in blocks.

    With :math:`q_{ij}=d_i/d_{ij}`, where :math:`d_i` is the distance to the nearest centre, the
    weights are :math:`d_i^{p-2}q_{ij}^{p+2}/(\sum_kq_{ik}^p)^2`, which does not overflow where a
    row lies on a centre. A row of weight two counts like two rows.
    """
    total = HarmonicSums(0.0, 0.0, np.zeros(len(C)), np.zeros(C.shape))
    for rows in block_slices(len(Y), 1, block_size=max(BLOCK_VALUES // len(C), 1)):
        squared = np.maximum(squared_distances(Y[rows], C), LEAST**2)
        nearest = squared.min(axis=1)
        ratio = nearest[:, None] / squared
        powers = ratio ** (0.5 * power)
        harmonic = powers.sum(axis=1)
        v = np.ones(len(nearest)) if weights is None else weights[rows]
        w = powers * ratio
        w *= (v * nearest ** (0.5 * power - 1.0) / harmonic**2)[:, None]
        part = HarmonicSums(
            float(np.sum(v * nearest ** (0.5 * power) / harmonic)),
            float(v.sum()),
            w.sum(axis=0),
            w.T @ Y[rows],
        )
        total = merge_sums(total, part)
    return total


def merge_sums(a: HarmonicSums, b: HarmonicSums) -> HarmonicSums:
    """The sums of two disjoint sets of rows."""
    return HarmonicSums(
        a.error + b.error, a.weight + b.weight, a.shares + b.shares, a.moments + b.moments
    )
