"""Local principal axes, joined to one line (Verbeek, Vlassis and Kröse)."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from isthmus.blocks.sampling import sample_rows
from isthmus.manifold.curves.choice import Patience, log_tube
from isthmus.manifold.curves.joining import greedy_path, joint_costs
from isthmus.manifold.curves.joining_loops import untangle
from isthmus.manifold.curves.loops import nearest
from isthmus.manifold.curves.polyline import NO_WEIGHTS, Polyline, feet, polyline
from isthmus.typing import Array

# Half the length of a segment in standard deviations along it.
REACH = 1.5
# A cell has at least this many rows, and so many rows may become a new segment.
LEAST_ROWS = 3
CANDIDATES = 500
MOST_SEGMENTS = 40


class Segments(NamedTuple):
    """Segments from the rows of ``A`` to those of ``B``, each (K, d)."""

    A: Array
    B: Array


def axis_segment(Y: Array) -> tuple[Array, Array]:
    """The piece of the first principal axis of some rows within 1.5 standard deviations."""
    centre = Y.mean(axis=0)
    _, s, Vt = np.linalg.svd(Y - centre, full_matrices=False)
    half = REACH * s[0] / np.sqrt(len(Y)) * Vt[0]
    return centre - half, centre + half


def settle_segments(segments: Segments, Y: Array, max_iter: int) -> Segments:
    """Give each row to its nearest segment and each segment the axis of its rows, in turn.

    A segment that loses its rows is dropped. Ends when no row changes its segment.
    """
    former = None
    for _ in range(max_iter):
        cell, _, _ = nearest(Y, NO_WEIGHTS, segments.A, segments.B)
        if former is not None and np.array_equal(cell, former):
            break
        counts = np.bincount(cell, minlength=len(segments.A))
        kept = np.flatnonzero(counts >= LEAST_ROWS)
        if len(kept) == 0:
            break
        parts = [axis_segment(Y[cell == k]) for k in kept]
        segments = Segments(np.array([p[0] for p in parts]), np.array([p[1] for p in parts]))
        former = cell if len(kept) == len(counts) else None
    return segments


def one_more(segments: Segments, Y: Array, candidates: Array) -> Segments | None:
    """A segment more: the rows that one of the candidates would take, if it would take enough.

    The candidate that lowers the sum of squared distances most, as a point; None where none has
    enough rows.
    """
    error = nearest(Y, NO_WEIGHTS, segments.A, segments.B)[2]
    gain = np.maximum(error[:, None] - cdist(Y, candidates, "sqeuclidean"), 0.0)
    enough = np.sum(gain > 0, axis=0) >= LEAST_ROWS
    if not enough.any():
        return None
    best = int(np.argmax(np.where(enough, gain.sum(axis=0), -np.inf)))
    a, b = axis_segment(Y[gain[:, best] > 0])
    return Segments(np.vstack([segments.A, a]), np.vstack([segments.B, b]))


def join(segments: Segments, sharpness: float, *, closed: bool) -> Polyline:
    """The line through all segments, joined greedily and then untangled."""
    A, B = segments
    size = float(np.mean(np.linalg.norm(B - A, axis=1)))
    costs = joint_costs(A, B, sharpness * size)
    path = greedy_path(costs)
    path = untangle(path, np.where(np.isfinite(costs), costs, 1e100), closed and len(A) > 1)
    ends = np.stack([A, B], axis=1).reshape(-1, A.shape[1])
    return polyline(ends[path], closed=closed)


def segment_leverages(segments: Segments, Y: Array) -> Array:
    """How much each row counts for its own place: of a mean and a slope in every cell."""
    cell, _, _ = nearest(Y, NO_WEIGHTS, segments.A, segments.B)
    step = segments.B - segments.A
    along = np.einsum("nd,nd->n", Y - segments.A[cell], step[cell])
    h = np.empty(len(Y))
    for k in np.unique(cell):
        t = along[cell == k] - along[cell == k].mean()
        h[cell == k] = 1 / len(t) + t**2 / max(float(t @ t), 1e-300)
    return np.minimum(h, 1.0)


def segments_line(
    Y: Array,
    rng: np.random.Generator,
    *,
    n_segments: int | None,
    sharpness: float,
    closed: bool,
    max_iter: int,
) -> tuple[Polyline, Segments]:
    """Segments added one by one, joined, up to a number of them or to the thinnest tube."""
    a, b = axis_segment(Y)
    segments = Segments(a[None], b[None])
    candidates = Y[sample_rows(len(Y), CANDIDATES, rng)]
    kept = Patience(8)
    most = n_segments or int(np.clip(len(Y) // LEAST_ROWS, 2, MOST_SEGMENTS))
    while True:
        line = join(segments, sharpness, closed=closed)
        found = line, segments
        if line.lengths[-1] == 0.0:
            return found
        tube = log_tube(
            line.lengths[-1], feet(line, Y).error, segment_leverages(segments, Y), Y.shape[1]
        )
        done = kept.offer(tube, found)
        if len(segments.A) >= most or (done and n_segments is None):
            break
        more = one_more(segments, Y, candidates)
        if more is None:
            break
        more = settle_segments(more, Y, max_iter)
        if len(more.A) <= len(segments.A):
            break
        segments = more
    if n_segments is not None:
        return found
    assert isinstance(kept.best, tuple)
    return kept.best
