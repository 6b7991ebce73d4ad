"""Kernel widths from data."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import pdist
from sklearn.metrics import pairwise_distances

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.objects import n_objects
from isthmus.typing import Array

MAX_ROWS = 1000
# Medians of rows that are asked about again, with the rows, so that no others take their place.
_known: ContextVar[dict[tuple[int, str], tuple[Any, float]] | None] = ContextVar(
    "medians", default=None
)


@contextmanager
def same_rows() -> Iterator[None]:
    """Within, rows that kernels are resolved for do not change: each median is computed once."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def median_distance(X: Array, metric: str = "euclidean") -> float:
    """Median distance between rows, on at most 1000 rows drawn from a fixed seed.

    If more than half of the pairs coincide it is the mean of the nonzero distances, and 1 if all
    rows are equal.

    >>> import numpy as np
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    known = _known.get()
    if known is None:
        return _median_distance(X, metric)
    key = (id(X), metric)
    if key not in known:
        known[key] = X, _median_distance(X, metric)
    return known[key][1]


def _median_distance(X: Array, metric: str) -> float:
    rows = sample_rows(n_objects(X), MAX_ROWS, sort=False)
    if issparse(X):
        distances = _sparse_distances(X[rows], metric)
    else:
        distances = pdist(np.asarray(X[rows], dtype=np.float64), metric)
    median = middle(distances) if len(distances) else 0.0
    if median > 0:
        return median
    positive = distances[distances > 0]
    return float(positive.mean()) if len(positive) else 1.0


def middle(values: Array) -> float:
    """The median of numbers, which are put into another order.

    One place is asked for, which NumPy finds in vector registers; its median asks for three.

    >>> middle(np.array([3.0, 1.0, 2.0])), middle(np.array([4.0, 1.0, 3.0, 2.0]))
    (2.0, 2.5)
    """
    half = len(values) // 2
    values.partition(half)
    upper = float(values[half])
    return upper if len(values) % 2 else (float(values[:half].max()) + upper) / 2


def _sparse_distances(X: Any, metric: str) -> Array:
    """Distances of all pairs of rows, which are not made dense."""
    return pairwise_distances(X, metric=metric)[np.triu_indices(X.shape[0], 1)]
