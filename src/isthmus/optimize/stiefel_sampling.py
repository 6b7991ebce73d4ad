r"""Random walks on the Stiefel manifold: a proposal along geodesics, and Metropolis steps.

The uniform law of the manifold is that of :func:`haar_sample`; densities are with respect to it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus.optimize.stiefel_geometry import geodesic
from isthmus.typing import Array

# Between the shares of accepted steps that serve one parameter (0.44) and many (0.23) best.
ACCEPTANCE = 0.3
LONGEST = 3.0  # about the length of half a turn: longer steps only come back


class StiefelSample(NamedTuple):
    """Draws (n_samples, n, r), their log densities, the share of accepted steps, their length."""

    draws: Array
    log_densities: Array
    acceptance: float
    step: float


StiefelSample.__module__ = "isthmus.optimize"


def tangent_gaussian_step(V: Array, sigma: float, rng: np.random.Generator) -> Array:
    r"""Point at the end of a geodesic from ``V`` with a random velocity.

    The velocity :math:`V\Theta+(I-VV^\top)G` is isotropic in the canonical metric: skew entries
    and entries of :math:`G` have variance :math:`\sigma^2/2`. A step and its reverse are equally
    likely. O(n r²), with the same law as the exponential of a random skew matrix of size n
    [Bakir2005]_.

    >>> import numpy as np
    >>> V = tangent_gaussian_step(np.eye(4)[:, :2], 0.5, np.random.default_rng(0))
    >>> bool(np.allclose(V.T @ V, np.eye(2)))
    True
    """
    n, r = V.shape
    G = rng.standard_normal((n, r)) * (sigma / np.sqrt(2))
    upper = np.triu(rng.standard_normal((r, r)) * (sigma / np.sqrt(2)), 1)
    moved = geodesic(V, V @ (upper - upper.T) + G - V @ (V.T @ G))
    # Thousands of steps would add up their rounding errors. One Newton step towards the
    # nearest orthonormal matrix removes them.
    return moved @ (1.5 * np.eye(r) - 0.5 * (moved.T @ moved))


def stiefel_metropolis(
    log_density: Callable[[Array], float],
    start: Array,
    *,
    n_samples: int,
    rng: np.random.Generator,
    n_warmup: int = 500,
    thin: int = 1,
    step: float = 0.3,
) -> StiefelSample:
    r"""Draw orthonormal matrices with a density that is known up to a factor.

    Each Metropolis step proposes :func:`tangent_gaussian_step` and accepts it with probability
    :math:`\min(1,p(V')/p(V))`: the proposal is symmetric, so nothing else enters. During the
    warm-up the length of the steps is adapted until about a third is accepted, and then left
    alone.

    Parameters
    ----------
    log_density : callable ``(V) -> float``
        Logarithm of the density with respect to the uniform law; ``-inf`` excludes a point.
    start : ndarray of shape (n, r)
        With orthonormal columns.
    n_samples : int
        Number of draws that are kept.
    rng : numpy.random.Generator
    n_warmup : int, default=500
        Steps before the first that is kept.
    thin : int, default=1
        Every so many steps one is kept.
    step : float, default=0.3
        Initial length of the steps.

    Returns
    -------
    StiefelSample

    Examples
    --------
    Directions around an axis, of the law of von Mises and Fisher with a concentration of 5, whose
    mean length along the axis is :math:`\coth5-1/5=0.8`.

    >>> import numpy as np
    >>> from isthmus.optimize import stiefel_metropolis
    >>> found = stiefel_metropolis(
    ...     lambda V: 5 * V[0, 0], np.eye(3)[:, :1], n_samples=4000, rng=np.random.default_rng(0)
    ... )
    >>> bool(abs(found.draws[:, 0, 0].mean() - 0.8) < 0.05)
    True
    """
    V = np.array(start, dtype=float)
    if V.ndim != 2 or not np.allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-8):
        raise ValueError(
            "stiefel_metropolis needs a start with orthonormal columns. Got an array of shape "
            f"{V.shape} whose columns are not."
        )
    now = float(log_density(V))
    if not now > -np.inf:
        raise ValueError(
            f"stiefel_metropolis needs a start of positive density. Its log density is {now}."
        )
    draws, values, accepted = [], [], 0
    for t in range(n_warmup + thin * n_samples):
        proposal = tangent_gaussian_step(V, step, rng)
        new = float(log_density(proposal))
        taken = bool(np.log(rng.random()) < new - now)
        if taken:
            V, now = proposal, new
        if t < n_warmup:
            step = float(min(step * np.exp((t + 1) ** -0.6 * (taken - ACCEPTANCE)), LONGEST))
            continue
        accepted += taken
        if (t - n_warmup + 1) % thin == 0:
            draws.append(V)
            values.append(now)
    return StiefelSample(
        np.array(draws), np.array(values), accepted / max(thin * n_samples, 1), step
    )
