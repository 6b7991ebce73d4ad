"""Paths between two postures that stay close to known postures."""

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


def find_way_points(
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
    """Way points from ``start`` to ``goal``, shape (n_points, d), including both.

    Where the straight path is farthest from the known postures, and farther than the threshold,
    the nearest known one becomes a way point, and both halves are treated in the same way. A way
    point that would lead farther away than the straight path is not taken, so the largest distance
    never rises; neither is an end point, so a wide gap without known postures beside it is crossed
    straight.

    Parameters
    ----------
    postures : the known ones, (n, d); ``tree`` holds their coordinates.
    coordinates_of : maps postures to coordinates, in which distances are measured.
    """

    def farthest(a: Array, b: Array) -> tuple[float, int]:
        t = np.linspace(0, 1, n_samples + 2)[1:-1, None]
        distances, nearest = tree.query(coordinates_of(a + t * (b - a)))
        worst = int(distances.argmax())
        return float(distances[worst]), int(nearest[worst])

    def between(a: Array, b: Array, depth: int) -> list[Array]:
        """Way points strictly between two postures."""
        distance, nearest = farthest(a, b)
        way_point = postures[nearest]
        if distance <= threshold or depth == 0:
            return []
        if np.allclose(way_point, a) or np.allclose(way_point, b):
            return []
        if max(farthest(a, way_point)[0], farthest(way_point, b)[0]) >= distance:
            return []
        return [*between(a, way_point, depth - 1), way_point, *between(way_point, b, depth - 1)]

    start, goal = np.asarray(start, dtype=float), np.asarray(goal, dtype=float)
    return np.array([start, *between(start, goal, max_depth), goal])


def sample_evenly(way_points: Array, n_steps: int) -> Array:
    """Equally spaced points on the line through the way points, (n_steps + 1, d)."""
    lengths = np.linalg.norm(np.diff(way_points, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(lengths)])
    wanted = np.linspace(0.0, at[-1], n_steps + 1)
    return np.column_stack([np.interp(wanted, at, column) for column in way_points.T])
