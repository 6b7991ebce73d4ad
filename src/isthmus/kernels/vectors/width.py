"""Kernel widths from data."""

import numpy as np
from scipy.spatial.distance import pdist

from isthmus.typing import Array

MAX_ROWS = 1000


def median_distance(X: Array, metric: str = "euclidean") -> float:
    """Median distance between rows, on at most 1000 rows drawn from a fixed seed.

    Where more than half of the pairs coincide, the mean of the distances that are not zero;
    1 where all rows are equal.

    >>> import numpy as np
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    if len(X) > MAX_ROWS:
        X = X[np.random.default_rng(0).choice(len(X), MAX_ROWS, replace=False)]
    distances = pdist(np.asarray(X, dtype=np.float64), metric)
    median = float(np.median(distances)) if len(distances) else 0.0
    if median > 0:
        return median
    positive = distances[distances > 0]
    return float(positive.mean()) if len(positive) else 1.0
