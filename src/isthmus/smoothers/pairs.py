"""Which centres lie near which points, for kernels of compact support."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.spatial import cKDTree

from isthmus.typing import Array, IntArray

# With more than this share of all pairs within reach, matrix products over all pairs are faster.
CROWDED = 0.15
# Up to this many centres, a look at all that lie between two planes is faster than a tree.
SLAB_CENTRES = 20_000
# Trees divide space by one coordinate at a time: beyond this many they visit almost everything.
TREE_DIMENSIONS = 8


class Pairs(NamedTuple):
    """Pairs (evaluation point, centre), by point: see :mod:`isthmus.smoothers.loops`."""

    indptr: IntArray
    indices: IntArray
    squared: Array


def near_pairs(Xe: Array, Xc: Array, support: float) -> Pairs | None:
    """All pairs whose squared distance is below ``support``; None where they are too many."""
    if not np.isfinite(support) or not np.all(np.isfinite(Xe)):
        return None
    most = CROWDED * len(Xe) * len(Xc)
    if len(Xc) <= SLAB_CENTRES:
        return list_pairs(Xe, Xc, support, most)
    if Xe.shape[1] > TREE_DIMENSIONS:
        return None
    radius = float(np.sqrt(support))
    points, centres = cKDTree(Xe), cKDTree(Xc)
    if points.count_neighbors(centres, radius) > most:
        return None
    found = points.sparse_distance_matrix(centres, radius, output_type="ndarray")
    table = coo_array((found["v"], (found["i"], found["j"])), shape=(len(Xe), len(Xc))).tocsr()
    return Pairs(table.indptr, table.indices, table.data**2)


def list_pairs(Xe: Array, Xc: Array, support: float = np.inf, most: float = np.inf) -> Pairs | None:
    """The pairs within reach, found by looking at centres between two planes.

    The planes cut the coordinate in which the centres spread most. Without a ``support`` these
    are all pairs. None where they are more than ``most``. Cost O(m n q) at worst, and with a
    small constant: for a point, distances to neighbouring places in memory.
    """
    from isthmus.smoothers.loops import pairs_within

    axis = int(np.ptp(Xc, axis=0).argmax())
    order = np.argsort(Xc[:, axis], kind="stable").astype(np.int32)
    sorted_centres = np.ascontiguousarray(Xc[order].T)
    radius, places, along = np.sqrt(support), Xe[:, axis], sorted_centres[axis]
    indptr, indices, squared = pairs_within(
        np.ascontiguousarray(Xe),
        sorted_centres,
        order,
        np.searchsorted(along, places - radius),
        np.searchsorted(along, places + radius, side="right"),
        float(support),
        float(most),
    )
    return Pairs(indptr, indices, squared) if len(indptr) else None
