"""Whether an embedding has unrolled the data: its distances against those along the data."""

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from isthmus.blocks.sampling import sample_rows
from isthmus.manifold.ukr.starts import (
    MOST_NEIGHBORS,
    SPECTRAL_ROWS,
    fewest_connecting_neighbors,
    neighbor_table,
)
from isthmus.typing import Array, IntArray

N_SOURCES = 100  # rows from which distances along the data are measured
FEWEST = 5  # neighbours of a row, where fewer would connect the data


class Geodesics:
    r"""Lengths :math:`G_{ij}` of shortest paths between rows, from neighbour to neighbour.

    ``agreement(Z)`` is the share of the variance of :math:`G_{ij}^2` that
    :math:`\sum_ms_m(z_{im}-z_{jm})^2` explains, with the best :math:`s_m\ge0`: 1 where the
    embedding is the unrolled sheet, each column in a unit of its own. A sheet that is still
    curled reconstructs its rows as well as a flat one, but not these.
    """

    def __init__(self, Y: Array, rng: np.random.Generator):
        self.rows = sample_rows(len(Y), SPECTRAL_ROWS, rng)
        distance, index = neighbor_table(Y[self.rows], MOST_NEIGHBORS)
        k = max(fewest_connecting_neighbors(index) or MOST_NEIGHBORS, FEWEST)
        self.sources: IntArray = sample_rows(len(self.rows), N_SOURCES, rng)
        self.squared = _shortest(distance, index, min(k, index.shape[1]), self.sources) ** 2

    def agreement(self, Z: Array) -> float:
        """How much of the squared distances along the data the embedding shows, at most 1."""
        Z = Z[self.rows]
        known = np.isfinite(self.squared) & (self.squared > 0)
        columns = [np.subtract.outer(z[self.sources], z)[known] ** 2 for z in Z.T]
        target = self.squared[known]
        if len(target) < 2 or target.std() == 0:
            return 0.0
        residual = nnls(np.stack(columns, axis=1), target)[1]
        return float(1 - residual**2 / np.sum((target - target.mean()) ** 2))


def _shortest(distance: Array, index: IntArray, k: int, sources: IntArray) -> Array:
    n = len(distance)
    near = distance[:, :k].ravel(), index[:, :k].ravel(), np.arange(n + 1) * k
    graph = csr_array(near, shape=(n, n))
    lengths: Array = shortest_path(graph, directed=False, indices=sources)
    return lengths
