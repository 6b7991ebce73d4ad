"""The nearest of some points, by a search that starts threads only where they gain."""

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.typing import Array, IntArray

# Numbers to subtract and square, a tenth of a millisecond of one thread, below which the search of
# scikit-learn costs more by its checks, and by threads that spin beside those of BLAS.
FEW_OPERATIONS = 2**17


def nearest_points(queries: Array, points: Array, n_neighbors: int = 1) -> tuple[Array, IntArray]:
    """Distances and numbers of the points nearest to each query, nearest first, both (n, k).

    >>> nearest_points(np.array([[0.9]]), np.array([[0.0], [1.0], [3.0]]), 2)[1]
    array([[1, 0]])
    """
    if queries.size * len(points) <= FEW_OPERATIONS:
        distances = cdist(queries, points)
        order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
        return np.take_along_axis(distances, order, axis=1), order
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute").fit(points)
    return search.kneighbors(queries)
