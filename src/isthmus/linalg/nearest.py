"""The nearest of some points, by products that leave no threads of BLAS spinning."""

from functools import cache

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.linalg.products import product
from isthmus.linalg.threads import rest_in_threads
from isthmus.typing import Array, IntArray

# Numbers to subtract and square, a tenth of a millisecond of one thread, below which plain
# distances are found and sorted.
FEW_OPERATIONS = 2**17
# Distances of a block of queries, which stay in the cache while the least of them are looked for.
BLOCK = 2**17
# Many queries that leave open more than this share of the points are worth a look for equal points.
CROWD, MANY_QUERIES = 1 / 32, 16


def nearest_points(queries: Array, points: Array, n_neighbors: int = 1) -> tuple[Array, IntArray]:
    """Distances and numbers of the points nearest to each query, nearest first, both (n, k).

    >>> nearest_points(np.array([[0.9]]), np.array([[0.0], [1.0], [3.0]]), 2)[1]
    array([[1, 0]])
    """
    if queries.size * len(points) <= FEW_OPERATIONS:
        distances = cdist(queries, points)
        order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
        return np.take_along_axis(distances, order, axis=1), order
    from isthmus.linalg.nearest_loops import nearest_by_rough, nearest_of_close, unlike_points

    k = min(n_neighbors, len(points))
    # Writeable too: for others the loop would be compiled once more.
    Q, P = (np.require(rows, np.float64, ["C", "W"]) for rows in (queries, points))
    # About their mean the points keep more digits; what rounding leaves open is computed itself.
    centre = P.mean(axis=0)
    around, centred = Q - centre, P - centre
    half = np.einsum("ij,ij->i", centred, centred) / 2
    share = 8 * (P.shape[1] + 4) * float(np.finfo(np.float64).eps)
    slack, slack_of = share * half, share / 2 * np.einsum("ij,ij->i", around, around)
    widest = float(slack.max())
    distances, places = np.empty((len(Q), k)), np.empty((len(Q), k), dtype=np.intp)
    size = max(1, BLOCK // len(P))
    crowd = max(2 * k, int(CROWD * len(P))) if len(Q) >= MANY_QUERIES else len(P)

    @cache
    def unlike() -> tuple[Array, IntArray]:
        kept = unlike_points(P.view(np.uint64), k)
        return np.ascontiguousarray(P[kept].T), kept

    def search(start: int) -> None:
        rows = slice(start, start + size)
        # ½‖q - p‖² but for ½‖q‖², which says nothing of which is nearest.
        rough = product(around[rows], centred.T)
        np.subtract(half, rough, out=rough)
        given, found = (Q[rows], P), (distances[rows], places[rows])
        crowded = np.empty(len(rough), dtype=bool)
        if nearest_by_rough(rough, slack, widest, slack_of[rows], *given, crowd, *found, crowded):
            nearest_of_close(crowded, Q[rows], *unlike(), *found)

    rest_in_threads(search, range(0, len(Q), size))
    dtype = np.result_type(queries, points, np.float32)
    return distances.astype(dtype, copy=False), places
