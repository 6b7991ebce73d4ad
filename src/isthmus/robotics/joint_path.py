"""Ways between two postures that keep to where postures are known."""

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from isthmus.typing import Array

SHARE_OF_NEIGHBOURS = 0.95


def neighbour_threshold(tree: cKDTree) -> float:
    """The distance within which 95 % of the known points have their nearest other one."""
    if tree.n < 2:
        return 0.0
    nearest = tree.query(tree.data, k=2)[0][:, 1]
    return float(np.quantile(nearest, SHARE_OF_NEIGHBOURS))


def density_corrected_path(
    start: Array,
    goal: Array,
    postures: Array,
    coordinates_of: Callable[[Array], Array],
    *,
    tree: cKDTree,
    threshold: float,
    n_samples: int = 20,
    max_depth: int = 6,
) -> Array:
    """Way points from ``start`` to ``goal``, shape (n_points, d), the two included.

    Where the straight way strays farthest from the known postures, and farther than the
    threshold, the nearest known one becomes a way point, and both halves are treated alike. A
    way point that would lead farther astray than the straight way is not taken, so that the
    largest distance never rises; nor is an end of the way, so that a wide gap without known
    postures beside it is crossed straight.

    Parameters
    ----------
    postures : known ones, (n, d); ``tree`` holds their coordinates.
    coordinates_of : takes postures to coordinates, in which distances are told.
    """

    def straying(a: Array, b: Array) -> tuple[float, int]:
        t = np.linspace(0, 1, n_samples + 2)[1:-1, None]
        distances, nearest = tree.query(coordinates_of(a + t * (b - a)))
        worst = int(distances.argmax())
        return float(distances[worst]), int(nearest[worst])

    def between(a: Array, b: Array, depth: int) -> list[Array]:
        """Way points strictly between two."""
        distance, nearest = straying(a, b)
        way_point = postures[nearest]
        if distance <= threshold or depth == 0:
            return []
        if np.allclose(way_point, a) or np.allclose(way_point, b):
            return []
        if max(straying(a, way_point)[0], straying(way_point, b)[0]) >= distance:
            return []
        return [*between(a, way_point, depth - 1), way_point, *between(way_point, b, depth - 1)]

    start, goal = np.asarray(start, dtype=float), np.asarray(goal, dtype=float)
    return np.array([start, *between(start, goal, max_depth), goal])


def evenly_sampled(way_points: Array, n_steps: int) -> Array:
    """Points on the broken line through way points, (n_steps + 1, d), equally far apart."""
    lengths = np.linalg.norm(np.diff(way_points, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    wanted = np.linspace(0.0, at[-1], n_steps + 1)
    return np.column_stack([np.interp(wanted, at, column) for column in way_points.T])
