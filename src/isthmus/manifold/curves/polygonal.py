r"""Polygonal lines with few segments, fitted all at once (Kégl, Krzyzak, Linder and Zeger).

The corners :math:`v_0,\dots,v_K` minimise

.. math::
    \frac1n\sum_i\min_{p\in\text{line}}\|y_i-p\|^2+\frac{\lambda}{K+1}\Big(
    \|v_0-v_1\|^2+\|v_K-v_{K-1}\|^2+r^2\sum_{0<j<K}(1+\cos\gamma_j)\Big)

with angles :math:`\gamma_j` at the inner corners (:math:`\pi` where the line goes straight on) and
the radius r of the data. The published algorithm moves one corner at a time; here all move
together by L-BFGS. The slope of the nearest point's distance is that with the point held, so it is
known exactly.
"""

import numpy as np
from scipy import linalg

from isthmus.manifold.curves.choice import Patience, log_tube
from isthmus.manifold.curves.loops import nearest
from isthmus.manifold.curves.polyline import NO_WEIGHTS, Polyline, feet, polyline
from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array

# The published constant of the penalty, and the most segments for n rows.
STIFFNESS = 0.13
MOST_SEGMENTS = 60


def polygon_objective(
    corners: Array, Y: Array, penalty: float, *, closed: bool
) -> tuple[float, Array]:
    """The objective at corners (K + 1, d), those of a closed line once, and its gradient."""
    V = np.concatenate([corners, corners[:1]]) if closed else corners
    j, t, error = nearest(Y, NO_WEIGHTS, V[:-1], V[1:])
    gap = V[j] + t[:, None] * (V[j + 1] - V[j]) - Y
    slope = np.zeros_like(V)
    np.add.at(slope, j, 2 / len(Y) * (1 - t)[:, None] * gap)
    np.add.at(slope, j + 1, 2 / len(Y) * t[:, None] * gap)
    if closed:
        slope[0] += slope[-1]
        slope = slope[:-1]
    value, bend = _penalty(corners, float(np.sum(Y.var(axis=0))), closed=closed)
    share = penalty / len(corners)
    return float(error.mean()) + share * value, slope + share * bend


def _penalty(V: Array, square: float, *, closed: bool) -> tuple[float, Array]:
    """Lengths of the ends and sharpness of the corners; ``square`` is the radius squared."""
    slope = np.zeros_like(V)
    value = 0.0
    if not closed:
        for a, b in ((0, 1), (len(V) - 1, len(V) - 2)):
            step = V[a] - V[b]
            value += float(step @ step)
            slope[a] += 2 * step
            slope[b] -= 2 * step
    if len(V) < 3:
        return value, slope
    inner = np.arange(len(V)) if closed else np.arange(1, len(V) - 1)
    before, after = inner - 1, (inner + 1) % len(V)
    A, B = V[before] - V[inner], V[after] - V[inner]
    a, b = (np.maximum(np.linalg.norm(S, axis=1), 1e-150)[:, None] for S in (A, B))
    cosine = np.sum(A * B, axis=1, keepdims=True) / (a * b)
    by_a = square * (B / (a * b) - cosine * A / a**2)
    by_b = square * (A / (a * b) - cosine * B / b**2)
    np.add.at(slope, before, by_a)
    np.add.at(slope, after, by_b)
    np.add.at(slope, inner, -by_a - by_b)
    return value + square * float(np.sum(1 + cosine)), slope


def settle(
    corners: Array, Y: Array, *, alpha: float, closed: bool, max_iter: int, tol: float
) -> Array:
    """Corners at a minimum of the objective, its penalty as Kégl et al. set it.

    It is :math:`\\lambda=\\alpha Kn^{-1/3}\\sqrt{\\Delta}/r` with the mean squared distance
    :math:`\\Delta` at the start: stiffer for more segments, looser for more rows.
    """
    n, radius = len(Y), float(np.sqrt(np.sum(Y.var(axis=0))))
    width = np.sqrt(feet(polyline(corners, closed=closed), Y).error.mean())
    penalty = alpha * len(corners) * n ** (-1 / 3) * width / radius

    def objective(flat: Array) -> tuple[float, Array]:
        value, slope = polygon_objective(flat.reshape(corners.shape), Y, penalty, closed=closed)
        return value, slope.ravel()

    found = minimize_lbfgs(objective, corners.ravel(), maxiter=max_iter, ftol=1e-2 * tol, gtol=1e-8)
    return np.asarray(found.x.reshape(corners.shape))


def with_midpoint(line: Polyline, Y: Array) -> Array:
    """The corners, and the middle of the segment on which most rows fall."""
    j, _, _ = nearest(Y, NO_WEIGHTS, line.corners[:-1], line.corners[1:])
    counts = np.bincount(j, minlength=len(line.corners) - 1)
    # Of equally full ones the longest.
    busiest = int(np.lexsort((np.diff(line.lengths), counts))[-1])
    middle = (line.corners[busiest] + line.corners[busiest + 1]) / 2
    corners = line.corners[:-1] if line.closed else line.corners
    return np.insert(corners, busiest + 1, middle, axis=0)


def hat_leverages(line: Polyline, Y: Array) -> Array:
    """How much each row counts for its own place, where corners are a regression on places."""
    j, t, _ = nearest(Y, NO_WEIGHTS, line.corners[:-1], line.corners[1:])
    m = len(line.corners) - 1 if line.closed else len(line.corners)
    B = np.zeros((len(Y), m))
    rows = np.arange(len(Y))
    B[rows, j] += 1 - t
    B[rows, (j + 1) % m] += t
    S = B.T @ B
    S[np.diag_indices(m)] += 1e-3 * np.trace(S) / m
    half = linalg.solve_triangular(linalg.cholesky(S, lower=True), B.T, lower=True)
    return np.asarray(np.sum(half**2, axis=0))


def polygonal_line(
    Y: Array,
    corners: Array,
    *,
    n_segments: int | None,
    alpha: float,
    closed: bool,
    max_iter: int,
    tol: float,
) -> tuple[Polyline, float]:
    """A line grown corner by corner from a few, with a number of segments or the best one.

    Returns the line and the logarithm of its tube's volume.
    """
    kept = Patience(12)
    most = n_segments or int(np.clip(len(Y) // 3, 2, MOST_SEGMENTS))
    while True:
        corners = settle(corners, Y, alpha=alpha, closed=closed, max_iter=max_iter, tol=tol)
        line = polyline(corners, closed=closed)
        K = len(line.corners) - 1
        if line.lengths[-1] == 0.0:
            return line, np.inf
        tube = log_tube(line.lengths[-1], feet(line, Y).error, hat_leverages(line, Y), Y.shape[1])
        done = kept.offer(tube, line)
        if most <= K or (done and n_segments is None):
            break
        corners = with_midpoint(line, Y)
    if n_segments is not None:
        return line, tube
    assert isinstance(kept.best, Polyline)
    return kept.best, kept.value
