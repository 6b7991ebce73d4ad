"""Which centres lie near which points, for kernels of compact support."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.spatial import cKDTree

from isthmus.typing import Array, IntArray

# With more than this share of all pairs within reach, matrix products over all pairs are faster.
CROWDED = 0.15
# Trees divide space by one coordinate at a time: beyond so many they visit almost everything.
TREE_DIMENSIONS = 8


class Pairs(NamedTuple):
    """Pairs (evaluation point, centre), by point: see :mod:`isthmus.manifold._ukr_loops`."""

    indptr: IntArray
    indices: IntArray
    squared: Array


def near_pairs(Xe: Array, Xc: Array, support: float) -> Pairs | None:
    """All pairs whose squared distance is below ``support``; None where they are too many."""
    if not np.isfinite(support) or Xe.shape[1] > TREE_DIMENSIONS or not np.all(np.isfinite(Xe)):
        return None
    radius = float(np.sqrt(support))
    points, centres = cKDTree(Xe), cKDTree(Xc)
    if points.count_neighbors(centres, radius) > CROWDED * len(Xe) * len(Xc):
        return None
    found = points.sparse_distance_matrix(centres, radius, output_type="ndarray")
    table = coo_array((found["v"], (found["i"], found["j"])), shape=(len(Xe), len(Xc))).tocsr()
    return Pairs(table.indptr, table.indices, table.data**2)


def all_pairs(Xe: Array, Xc: Array) -> Pairs:
    """Every pair, in the form of a list."""
    m, n = len(Xe), len(Xc)
    squared = np.sum((Xe[:, None] - Xc) ** 2, axis=2).ravel()
    return Pairs(np.arange(m + 1) * n, np.tile(np.arange(n), m), squared)
