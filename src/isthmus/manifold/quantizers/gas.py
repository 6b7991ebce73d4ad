r"""Neural gas: centres that learn by their rank among all, in batches [Martinetz1993]_."""

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.linalg.products import product
from isthmus.linalg.threads import threads_for
from isthmus.smoothers.kernel_rows import squared_distances
from isthmus.typing import Array

# The range of the neighbourhood falls from half of the centres to this.
LAST_RANGE = 0.01


def neural_gas(Y: Array, n_centres: int, rng: np.random.Generator, *, n_steps: int = 40) -> Array:
    r"""Centres (n, d) of the rows ``Y``, from a neighbourhood of ranks that shrinks.

    Each step moves a centre to the mean of all rows, weighted by
    :math:`h_{ij}=\exp(-k_{ij}/\lambda)` with :math:`k_{ij}` its rank among the centres by the
    distance from row :math:`i`. The range :math:`\lambda` falls exponentially, so that all centres
    move together at first, and each by its own rows, as in k-means, at last: the start hardly
    matters. O(N n (d + log n)) per step, in blocks.
    """
    centre = Y.mean(axis=0)
    spread = float(np.sqrt(np.mean((Y - centre) ** 2))) or 1.0
    rows = (Y - centre) / spread
    C = rows[rng.choice(len(rows), n_centres, replace=False)]
    first = max(n_centres / 2, 2 * LAST_RANGE)
    reaches = first * (LAST_RANGE / first) ** np.linspace(0.0, 1.0, n_steps)
    with threads_for(0):  # most of the time is spent on sorting, beside small products
        for reach in reaches:
            C = gas_step(rows, C, reach)
    return np.asarray(C * spread + centre)


def gas_step(Y: Array, C: Array, reach: float) -> Array:
    """Centres after one step with a neighbourhood of range ``reach``, in ranks."""
    weights, sums = np.zeros(len(C)), np.zeros(C.shape)
    by_rank = np.exp(-np.arange(len(C)) / reach)
    for rows in block_slices(len(Y), 4 * len(C)):
        order = np.argsort(squared_distances(Y[rows], C), axis=1)
        h = np.empty(order.shape)
        np.put_along_axis(h, order, by_rank[None], axis=1)
        weights += h.sum(axis=0)
        sums += product(h.T, Y[rows])
    # A centre that is nearest to no row stays where it is, once the others no longer draw it.
    served = weights > np.finfo(float).tiny
    moved = sums / np.where(served, weights, 1.0)[:, None]
    return np.asarray(np.where(served[:, None], moved, C))
