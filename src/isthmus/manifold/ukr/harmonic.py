r"""K-harmonic means: centres that hardly depend on where they begin [Klanke2007]_."""

from typing import NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.smoothers.kernel_rows import squared_distances
from isthmus.typing import Array

LEAST = 1e-12  # distance, in units of the spread of the data, that counts as none


class Centres(NamedTuple):
    """Centres found, (n, d), and the error before each step and after the last."""

    centres: Array
    errors: list[float]


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
    and repeats :func:`harmonic_step` until the error falls by less than ``tol`` of it. Cost
    O(N n d) per step, in blocks.
    """
    centre = Y.mean(axis=0)
    spread = float(np.sqrt(np.mean((Y - centre) ** 2))) or 1.0
    rows = (Y - centre) / spread  # small numbers lose less in the products
    C = rows[rng.choice(len(rows), n_centres, replace=False)]
    errors: list[float] = []
    for _ in range(max_iter):
        moved, error = harmonic_step(rows, C, power)
        errors.append(error)
        if len(errors) > 1 and errors[-2] - error <= tol * errors[-2]:
            break
        C = moved
    return Centres(C * spread + centre, [e * spread**power for e in errors])


def harmonic_step(Y: Array, C: Array, power: float) -> tuple[Array, float]:
    r"""Centres after one step, and the error before it.

    :math:`c_j=\sum_iw_{ij}y_i/\sum_iw_{ij}` with
    :math:`w_{ij}=d_{ij}^{-(p+2)}/(\sum_kd_{ik}^{-p})^2`. With :math:`q_{ij}=d_i/d_{ij}`, where
    :math:`d_i` is the distance to the nearest centre, this is
    :math:`d_i^{p-2}q_{ij}^{p+2}/(\sum_kq_{ik}^p)^2`, which does not overflow where a row lies on
    a centre.
    """
    total, weights, sums = 0.0, np.zeros(len(C)), np.zeros(C.shape)
    for rows in block_slices(len(Y), 4 * len(C)):
        squared = np.maximum(squared_distances(Y[rows], C), LEAST**2)
        nearest = squared.min(axis=1)
        ratio = nearest[:, None] / squared
        powers = ratio ** (0.5 * power)
        harmonic = powers.sum(axis=1)
        total += float(np.sum(nearest ** (0.5 * power) / harmonic))
        w = powers * ratio
        w *= (nearest ** (0.5 * power - 1.0) / harmonic**2)[:, None]
        weights += w.sum(axis=0)
        sums += w.T @ Y[rows]
    # A centre that no row weighs stays where it is.
    served = weights > 0
    moved = np.where(served[:, None], sums / np.where(served, weights, 1.0)[:, None], C)
    return moved, len(C) * total / len(Y)
