"""Shape contexts: what the outline of a figure looks like from each of its points."""

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from isthmus.typing import Array, BoolArray

# Fewer edge points than this do not make an outline.
FEWEST = 4


def outline(edges: BoolArray, n_edgels: int, hull_distance: float) -> Array:
    """Evenly spread edge points near their convex hull: (at most n_edgels, 2), x and y.

    They are chosen by farthest-point sampling, which depends on the shape of the figure and not on
    its position.
    """
    from isthmus.robotics.pose.loops import farthest_points, within_hull_distance

    y, x = np.nonzero(edges)
    points = np.column_stack([x, y]).astype(float)
    if len(points) < FEWEST:
        return points[:0]
    # Corners of the hull are the first or last points of their row.
    turns = np.flatnonzero(np.diff(y))
    ends = np.unique(np.concatenate([[0], turns, turns + 1, [len(y) - 1]]))
    try:
        hull = ConvexHull(points[ends])
    except QhullError:  # all points on one line
        return points[:0]
    near = points[within_hull_distance(points, hull.equations, hull_distance)]
    return near[farthest_points(near, min(n_edgels, len(near)))]


def shape_contexts(
    points: Array, n_angles: int = 6, n_radii: int = 5, *, published_scale: bool = True
) -> Array:
    r"""Log-polar histograms of all other points, seen from each point: (r, n_radii * n_angles).

    Distances are measured in units of the figure: coordinates are divided by the root of their mean
    squared distance, as published (``published_scale=False`` divides by the mean distance).
    Angles are divided into equal parts, squared distances at :math:`e^{3k/10}-1`; the last ring is
    open. The result is invariant under shifts and scaling; each row sums to r - 1.
    """
    from isthmus.robotics.pose.loops import log_polar_histograms

    r = len(points)
    if r < 2:
        return np.zeros((r, n_radii * n_angles))
    apart = points[:, None] - points[None]
    squared = np.einsum("ijd,ijd->ij", apart, apart)
    mean = squared.sum() if published_scale else np.sqrt(squared).sum()
    mean /= r * (r - 1)
    unit = mean if published_scale else mean**2
    rings = np.exp(0.3 * np.arange(1, n_radii)) - 1
    histograms = np.zeros((r, n_radii * n_angles))
    log_polar_histograms(points, rings * unit, n_angles, histograms)
    return histograms
