"""Nearest series under dynamic time warping."""

from typing import Any, NamedTuple

import numpy as np

from isthmus._checks import check_int
from isthmus.series.bands import check_feasible, window_code
from isthmus.series.collection import Packed, pack_both
from isthmus.series.warping import Step, band_limits, is_root, step_weights
from isthmus.typing import Array, IntArray, Objects


class SeriesNeighbors(NamedTuple):
    """The nearest series of each query, as :func:`nearest_series` returns them."""

    distances: Array
    indices: IntArray
    share_begun: float


SeriesNeighbors.__module__ = "isthmus.series"


def nearest_series(
    X: Objects,
    Z: Objects,
    *,
    n_neighbors: int = 1,
    window: Any = None,
    step: Step = "symmetric1",
    local: str = "sqeuclidean",
) -> SeriesNeighbors:
    r"""The series of ``Z`` nearest to each of ``X`` under dynamic time warping.

    The same as sorting the rows of :func:`dtw_matrix`, at a fraction of the cost: candidates are
    visited in the order of a lower bound, the greater of the costs of the two ends and of

    .. math:: \sum_i\min_{l_i\le v\le u_i}d(x_i,v),

    where :math:`l_i,u_i` are the smallest and the largest value inside the window of :math:`x_i`
    [Keogh2005]_; the search ends at the first bound above the distance found so far, and the
    computation of a distance is given up as soon as all of its paths are above it. The narrower the
    window, the better the bounds.

    Parameters
    ----------
    X, Z : collections of series
        Queries and candidates.
    n_neighbors : int, default=1
    window, step, local :
        As in :func:`dtw`; no functions.

    Returns
    -------
    distances, indices : ndarrays of shape (n, n_neighbors)
        Nearest first; of equal distances the earlier candidate.
    share_begun : float
        Share of all pairs whose distance was computed, at least in part.

    Examples
    --------
    >>> from isthmus.series import nearest_series
    >>> found = nearest_series([[0.0, 1.0, 1.0]], [[5.0, 5.0, 5.0], [0.0, 0.0, 1.0]])
    >>> found.indices
    array([[1]])
    """
    from isthmus.series.nearest_loops import nearest

    owner = "nearest_series"
    weights, code, root = step_weights(step, owner), window_code(window), is_root(local, owner)
    queries, candidates = pack_both(X, Z, owner=owner)
    check_feasible(code, queries.lengths, candidates.lengths, owner=owner)
    check_int(n_neighbors, "n_neighbors", owner, low=1, high=len(candidates), why="candidates")
    distances = np.empty((len(queries), n_neighbors))
    indices = np.empty((len(queries), n_neighbors), dtype=np.int64)
    begun = 0
    for n in np.unique(queries.lengths):
        # Queries of one length share the envelopes of all candidates.
        bands = [band_limits(code, int(n), int(m)) for m in candidates.lengths]
        low, high = (np.array(side) for side in zip(*bands, strict=True))
        bound = _bounds(candidates, low, high, root, min(weights))
        for i in np.flatnonzero(queries.lengths == n):
            x = queries.values[queries.starts[i] : queries.starts[i] + n]
            begun += nearest(
                x, candidates.parts, bound(x), low, high, weights, root, distances[i], indices[i]
            )
    return SeriesNeighbors(distances, indices, begun / (len(queries) * len(candidates)))


def _bounds(candidates: Packed, low: IntArray, high: IntArray, root: bool, weight: float) -> Any:
    """A function that gives the lower bounds of one query to all candidates."""
    from isthmus.series.nearest_loops import envelope, lower_bound

    series = [
        candidates.values[s : s + m]
        for s, m in zip(candidates.starts, candidates.lengths, strict=True)
    ]
    shape = (len(series), low.shape[1], candidates.values.shape[1])
    floor, ceiling = np.empty(shape), np.empty(shape)
    for j, z in enumerate(series):
        envelope(z, low[j], high[j], floor[j], ceiling[j])

    def bound(x: Array) -> Array:
        return np.array(
            [lower_bound(x, z, floor[j], ceiling[j], root, weight) for j, z in enumerate(series)]
        )

    return bound
