"""Where skin is: a Gaussian in colour space, and histograms of its pixels."""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.typing import Array, BoolArray


class SkinColour(NamedTuple):
    """Mean colour and the root of the inverse covariance, for Mahalanobis distances."""

    mean: Array
    whitening: Array  # (3, 3), rows; distances are lengths of whitening @ (colour - mean)


def skin_colour(pixels: Array) -> SkinColour:
    """The Gaussian of hand-picked skin pixels, (n, 3) in [0, 1]."""
    mean = pixels.mean(axis=0)
    # Rounding to 8 bits alone spreads colours by this much.
    covariance = np.cov(pixels.T) + np.eye(3) / (12 * 255**2)
    root = linalg.cholesky(covariance, lower=True)
    return SkinColour(mean, linalg.solve_triangular(root, np.eye(3), lower=True))


def skin_mask(image: Array, skin: SkinColour, distance: float) -> BoolArray:
    """Pixels of a picture (3, rows, columns) within a Mahalanobis distance of skin."""
    white = np.tensordot(skin.whitening, image, axes=1)
    white -= (skin.whitening @ skin.mean)[:, None, None]
    return np.asarray(np.einsum("cij,cij->ij", white, white) < distance**2)


def count_by_bins(mask: BoolArray, box: tuple[slice, slice], n_bins: int) -> tuple[Array, Array]:
    """Numbers of marked pixels in a box by column and by row, each in ``n_bins`` equal parts.

    A pixel that lies in two parts counts in both, in proportion.
    """
    inside = mask[box].astype(float)
    return _pool(inside.sum(axis=0), n_bins), _pool(inside.sum(axis=1), n_bins)


def _pool(counts: Array, n_bins: int) -> Array:
    cumulated = np.concatenate([[0.0], np.cumsum(counts)])
    cuts = np.linspace(0, len(counts), n_bins + 1)
    return np.diff(np.interp(cuts, np.arange(len(cumulated)), cumulated))
