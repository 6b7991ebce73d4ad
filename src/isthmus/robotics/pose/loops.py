"""Compiled loops over pixels and edge points."""

import numpy as np

from isthmus._compiled import njit


@njit
def farthest_points(points, n_chosen):
    """Indices of points, each farthest from those before; the first is farthest from the mean."""
    n = points.shape[0]
    x_mean, y_mean = points[:, 0].mean(), points[:, 1].mean()
    nearest = np.empty(n)
    first, far = 0, -1.0
    for i in range(n):
        nearest[i] = np.inf
        d = (points[i, 0] - x_mean) ** 2 + (points[i, 1] - y_mean) ** 2
        # Sums of many coordinates round differently elsewhere in the picture: ties go to the
        # first point, in reading order.
        if d > far * (1 + 1e-9):
            first, far = i, d
    chosen = np.empty(n_chosen, dtype=np.int64)
    last = first
    for k in range(n_chosen):
        chosen[k] = last
        next_one, far = 0, -1.0
        for i in range(n):
            d = (points[i, 0] - points[last, 0]) ** 2 + (points[i, 1] - points[last, 1]) ** 2
            if d < nearest[i]:
                nearest[i] = d
            if nearest[i] > far:
                next_one, far = i, nearest[i]
        last = next_one
    return chosen


@njit
def log_polar_histograms(points, rings, n_angles, histograms):
    """Fill row i with counts of the other points by ring and angle around point i."""
    r = points.shape[0]
    part = 2 * np.pi / n_angles
    for i in range(r):
        for j in range(r):
            if i == j:
                continue
            dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
            squared = dx * dx + dy * dy
            ring = 0
            while ring < rings.shape[0] and squared >= rings[ring]:
                ring += 1
            angle = np.arctan2(dy, dx)
            if angle < 0:
                angle += 2 * np.pi
            histograms[i, ring * n_angles + min(int(angle / part), n_angles - 1)] += 1


@njit
def smooth(picture, taps, between, out):
    """Fill ``out`` with the picture filtered by five taps vertically and horizontally."""
    n_channels, n_rows, n_columns = picture.shape
    for c in range(n_channels):
        for i in range(n_rows):
            for j in range(n_columns):
                between[c, i, j] = 0.0
            for k in range(5):
                source = picture[c, min(max(i + k - 2, 0), n_rows - 1)]
                for j in range(n_columns):
                    between[c, i, j] += taps[k] * source[j]
        for i in range(n_rows):
            row = between[c, i]
            for j in range(n_columns):
                total = 0.0
                for k in range(5):
                    total += taps[k] * row[min(max(j + k - 2, 0), n_columns - 1)]
                out[c, i, j] = total


@njit
def sobel_heights(picture, out):
    """Fill ``out`` with the roots of squared Sobel slopes, summed over channels."""
    n_channels, n_rows, n_columns = picture.shape
    out[:] = 0.0
    for c in range(n_channels):
        for i in range(n_rows):
            up, here = picture[c, max(i - 1, 0)], picture[c, i]
            down = picture[c, min(i + 1, n_rows - 1)]
            for j in range(n_columns):
                left, right = max(j - 1, 0), min(j + 1, n_columns - 1)
                across = (
                    up[right] - up[left] + 2 * (here[right] - here[left]) + down[right] - down[left]
                )
                along = down[left] - up[left] + 2 * (down[j] - up[j]) + down[right] - up[right]
                out[i, j] += across * across + along * along
    for i in range(n_rows):
        for j in range(n_columns):
            out[i, j] = np.sqrt(out[i, j])


@njit
def level_counts(values, low, high, n_levels):
    """How many values lie in each of ``n_levels`` equal parts of [low, high]."""
    counts = np.zeros(n_levels, dtype=np.int64)
    scale = n_levels / (high - low)
    for value in values.ravel():
        counts[min(int((value - low) * scale), n_levels - 1)] += 1
    return counts


@njit
def within_hull_distance(points, equations, distance):
    """Which points lie less than ``distance`` from the nearest facet."""
    near = np.zeros(points.shape[0], dtype=np.bool_)
    for i in range(points.shape[0]):
        for f in range(equations.shape[0]):
            # Facets are n'p + b <= 0 inside.
            value = equations[f, 0] * points[i, 0] + equations[f, 1] * points[i, 1]
            if value + equations[f, 2] > -distance:
                near[i] = True
                break
    return near
