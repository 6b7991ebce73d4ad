"""A polygonal line by arc length: what every principal curve ends as."""

from typing import NamedTuple

import numpy as np

from isthmus.manifold.curves.loops import descend, local_minima, nearest
from isthmus.typing import Array, IntArray

NO_WEIGHTS = np.zeros((0, 0))


class Polyline(NamedTuple):
    """Corners (K + 1, d) and their arc lengths (K + 1,); a closed line ends where it begins."""

    corners: Array
    lengths: Array
    closed: bool


class Feet(NamedTuple):
    """Nearest points of a line: arc lengths (n,) and squared distances (n,)."""

    x: Array
    error: Array


def polyline(points: Array, *, closed: bool = False) -> Polyline:
    """The line through points, a closed one back to the first; points that coincide count once."""
    points = np.concatenate([points, points[:1]]) if closed else points
    steps = np.sqrt(np.sum(np.diff(points, axis=0) ** 2, axis=1))
    far = steps > 1e-12 * max(float(steps.sum()), np.finfo(float).tiny)
    kept = np.concatenate([[True], far])
    lengths = np.concatenate([[0.0], np.cumsum(steps[far])])
    return Polyline(np.ascontiguousarray(points[kept]), lengths, closed)


def points_at(line: Polyline, x: Array) -> Array:
    """Points (n, d) at arc lengths (n,)."""
    j, t = _segments(line, x)
    return line.corners[j] + t[:, None] * (line.corners[j + 1] - line.corners[j])


def tangents_at(line: Polyline, x: Array) -> Array:
    """Unit tangents (n, d) at arc lengths (n,); at a corner that of the segment after it."""
    j, _ = _segments(line, x)
    step = line.corners[j + 1] - line.corners[j]
    return np.asarray(step / (line.lengths[j + 1] - line.lengths[j])[:, None])


def _segments(line: Polyline, x: Array) -> tuple[IntArray, Array]:
    last = len(line.lengths) - 2
    j = np.clip(np.searchsorted(line.lengths, x, side="right") - 1, 0, last)
    return j, (x - line.lengths[j]) / (line.lengths[j + 1] - line.lengths[j])


def feet(line: Polyline, Y: Array, W: Array | None = None) -> Feet:
    r"""The nearest point of the line for each row, exactly.

    On the segment from :math:`a` to :math:`b` the point nearest to :math:`y` under weights
    :math:`p` is at :math:`t=\sum_kp_k(y_k-a_k)(b_k-a_k)/\sum_kp_k(b_k-a_k)^2`, clipped to [0, 1];
    the nearest over all segments is taken.
    """
    j, t, error = nearest(*_rows(Y, W), line.corners[:-1], line.corners[1:])
    return Feet(line.lengths[j] + t * (line.lengths[j + 1] - line.lengths[j]), error)


def all_feet(line: Polyline, Y: Array, W: Array | None, n_best: int) -> Feet:
    """The best local minima along the line, (n, n_best), the best first; infinite errors pad."""
    position, error = local_minima(*_rows(Y, W), line.corners, line.closed, n_best)
    return Feet(_lengths_at(line, position), error)


def feet_from(line: Polyline, Y: Array, W: Array | None, start: Array) -> Feet:
    """Where descents along the line end that begin at arc lengths ``start``."""
    position, error = descend(*_rows(Y, W), line.corners, line.closed, _segments(line, start)[0])
    return Feet(_lengths_at(line, position), error)


def _lengths_at(line: Polyline, position: Array) -> Array:
    corner = np.arange(len(line.lengths), dtype=float)
    return np.interp(position, corner, line.lengths)


def _rows(Y: Array, W: Array | None) -> tuple[Array, Array]:
    Y = np.ascontiguousarray(Y, dtype=np.float64)
    return Y, NO_WEIGHTS if W is None else np.ascontiguousarray(W, dtype=np.float64)


def resample(line: Polyline, n_points: int) -> Polyline:
    """The line through points of it at equal steps of arc length."""
    x = np.linspace(0.0, line.lengths[-1], n_points, endpoint=not line.closed)
    return polyline(points_at(line, x), closed=line.closed)


def with_tails(line: Polyline, tail: float) -> Polyline:
    """The line, an open one longer at both ends by straight pieces of a length."""
    if line.closed or tail <= 0.0:
        return line
    first, last = tangents_at(line, line.lengths[[0, -1]])
    ends = line.corners[0] - tail * first, line.corners[-1] + tail * last
    return polyline(np.vstack([ends[0], line.corners, ends[1]]))
