"""A figure in front of its background: what stands out, and where its edges are.

Pictures are arrays (3, rows, columns) of values between 0 and 1.
"""

import numpy as np

from isthmus.typing import Array, BoolArray

TAPS = np.exp(-0.5 * (np.arange(-2, 3) / 3.0) ** 2)
TAPS /= TAPS.sum()
# Sum of the positive weights of a Sobel filter: a unit step then gives an edge of unit height.
SOBEL_SCALE = 4.0
N_LEVELS = 256


def smooth_image(image: Array) -> Array:
    """Apply a Gaussian filter of 5 x 5 pixels, sigma 3."""
    from isthmus.robotics.pose.loops import smooth

    out = np.empty(image.shape)
    smooth(np.ascontiguousarray(image, dtype=float), TAPS, np.empty(image.shape), out)
    return out


def otsu_threshold(values: Array) -> float:
    r"""The level that splits values in two with the largest variance between them [Otsu1979]_.

    >>> bool(0.2 < otsu_threshold(np.array([0.1, 0.2, 0.8, 0.9])) <= 0.8)
    True
    """
    from isthmus.robotics.pose.loops import level_counts

    low, high = float(values.min()), float(values.max())
    if not high > low:
        return high
    counts = level_counts(np.ascontiguousarray(values), low, high, N_LEVELS)
    centres = low + (high - low) * (np.arange(N_LEVELS) + 0.5) / N_LEVELS
    below = np.cumsum(counts)[:-1]
    above = counts.sum() - below
    mass = np.cumsum(counts * centres)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = mass[:-1] / below - (mass[-1] - mass[:-1]) / above
    between = np.where((below > 0) & (above > 0), below * above * gap**2, -1.0)
    # Between two distant groups all levels split equally well: take the middle of them.
    best = np.flatnonzero(between >= between.max() * (1 - 1e-12))
    return float(low + (high - low) * (best[0] + best[-1] + 2) / (2 * N_LEVELS))


def fit_wall(image: Array) -> Array:
    """A plain wall: colours linear in position, fitted to the left, right and upper borders."""
    n_rows, n_columns = image.shape[1:]
    y, x = np.mgrid[:n_rows, :n_columns]
    design = np.stack([np.ones(x.shape), x / n_columns, y / n_rows])
    border = np.zeros((n_rows, n_columns), dtype=bool)
    border[:3] = border[:, :3] = border[:, -3:] = True
    A, colours = design[:, border].T, image[:, border].T
    keep = np.ones(len(A), dtype=bool)
    for _ in range(3):  # a hand may reach into the border: drop pixels that do not fit
        coef = np.linalg.lstsq(A[keep], colours[keep], rcond=None)[0]
        misfit = np.abs(colours - A @ coef).max(axis=1)
        keep = misfit <= 3 * np.median(misfit) + 1e-6
    return np.tensordot(coef.T, design, axes=1)


def difference(image: Array, background: Array) -> Array:
    """The picture minus its background, whose brightness is adapted to the picture.

    The median ratio of the two is that of the background as long as the figure fills less than
    half of the picture; each colour has its own. Every second pixel is enough for it.
    """
    few = image[:, ::2, ::2] / np.maximum(background[:, ::2, ::2], 1e-3)
    ratio = np.median(few.reshape(len(few), -1), axis=1)
    return np.asarray(image - ratio[:, None, None] * background)


def edge_map(foreground: Array, min_contrast: float) -> BoolArray:
    """Pixels whose Sobel gradient exceeds Otsu's threshold."""
    from isthmus.robotics.pose.loops import sobel_heights

    height = np.empty(foreground.shape[1:])
    sobel_heights(foreground, height)
    height /= SOBEL_SCALE
    return np.asarray(height > max(otsu_threshold(height), min_contrast))
