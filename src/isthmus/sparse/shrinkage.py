"""Gaps of a picture filled by cosine waves, small coefficients removed again and again."""

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import dct
from scipy.ndimage import correlate

from isthmus.linalg.threads import threads_for
from isthmus.typing import Array

# Weights of the pixels around one, itself left out.
AROUND = np.array([[1.0, 2.0, 1.0], [2.0, 0.0, 2.0], [1.0, 2.0, 1.0]])
# The first and the last threshold, in units of the roughness of the picture.
COARSE, FINE = 4.0, 0.4
# Rows of patches that are transformed at a time, so that memory does not grow with the picture.
STRIP = 64


def fill_by_shrinkage(image: Array, *, patch_size: int, n_rounds: int) -> Array:
    """The picture with its gaps (``nan``) filled; what was observed stays.

    A first guess is taken from coarser and coarser pictures. Then, in every round, overlapping
    patches lose the waves that are below a threshold, their average fills the gaps, and the
    threshold falls [Guleryuz2006]_. A round costs O(p²) for each pixel.
    """
    gaps = np.isnan(image)
    filled = fill_from_coarser(image)
    rough = roughness(image)
    if not rough > 0:
        return filled
    products = 4.0 * STRIP * image.shape[1] * patch_size**3  # operations of one
    with threads_for(products):
        for i, threshold in enumerate(rough * np.geomspace(COARSE, FINE, n_rounds)):
            filled = np.where(gaps, shrink_patches(filled, patch_size, threshold, shift=i), image)
    return filled


def fill_from_coarser(image: Array) -> Array:
    """Gaps filled by their neighbours and by the picture at half its resolution, filled alike."""
    known = ~np.isnan(image)
    if known.all() or not known.any():
        return np.nan_to_num(image)
    height, width = image.shape
    even = np.pad(image, ((0, height % 2), (0, width % 2)), constant_values=np.nan)
    blocks = even.reshape(len(even) // 2, 2, -1, 2)
    n_known = (~np.isnan(blocks)).sum(axis=(1, 3))
    sums = np.nansum(blocks, axis=(1, 3))
    coarse = fill_from_coarser(np.where(n_known > 0, sums / np.maximum(n_known, 1), np.nan))
    wide = np.repeat(np.repeat(coarse, 2, axis=0), 2, axis=1)
    smooth = correlate(wide, np.outer([1, 2, 1], [1, 2, 1]) / 16.0, mode="nearest")
    sums, weights = _sums_around(image, known)
    # The coarser picture weighs as much as one neighbour across a corner.
    return np.where(known, image, (sums + smooth[:height, :width]) / (weights + 1.0))


def roughness(image: Array) -> float:
    """Root mean square difference of observed pixels from the mean of the observed ones around.

    Where no two observed pixels touch, their standard deviation.
    """
    known = ~np.isnan(image)
    sums, weights = _sums_around(image, known)
    judged = known & (weights > 0)
    if not judged.any():
        return float(np.std(image[known]))
    return float(np.sqrt(np.mean((sums[judged] / weights[judged] - image[judged]) ** 2)))


def _sums_around(image: Array, known: Array) -> tuple[Array, Array]:
    """Weighted sums of the observed pixels around each pixel, and the sums of their weights."""
    values = np.where(known, image, 0.0)
    sums = correlate(values, AROUND, mode="constant")
    return sums, correlate(known.astype(float), AROUND, mode="constant")


def shrink_patches(image: Array, size: int, threshold: float, *, shift: int = 0) -> Array:
    """Average of overlapping patches without the waves whose coefficients are below ``threshold``.

    Patches begin at every half of their size; ``shift`` moves where they begin. A patch weighs the
    less the more waves it keeps. The mean of a patch is always kept.
    """
    stride = max(1, size // 2)
    offset = shift % stride, shift // stride % stride
    # Mirrored at its borders, the picture is covered by whole patches wherever they begin.
    wide = np.pad(image, size, mode="symmetric")
    total, weight = np.zeros_like(wide), np.zeros_like(wide)
    cosines = dct(np.eye(size), axis=0, norm="ortho")
    waves = np.kron(cosines, cosines)
    for strip, patches in _strips(wide, size, stride, offset):
        codes = patches.reshape(-1, size * size) @ waves.T
        kept = np.abs(codes) > threshold
        kept[:, 0] = True
        codes *= kept
        weights = 1.0 / kept.sum(axis=1)
        codes *= weights[:, None]
        restored = (codes @ waves).reshape(patches.shape)
        w = weights.reshape(patches.shape[:2])
        _add_patches(total[strip], restored, stride, offset[1])
        _add_patches(weight[strip], w[:, :, None, None], stride, offset[1], size)
    inside = slice(size, -size)
    return np.asarray(total[inside, inside] / weight[inside, inside])


def _strips(
    image: Array, size: int, stride: int, offset: tuple[int, int]
) -> Iterator[tuple[slice, Array]]:
    """Rows of a picture, and the patches that lie in them, some rows of patches at a time."""
    windows = sliding_window_view(image, (size, size))[offset[0] :: stride, offset[1] :: stride]
    for top in range(0, len(windows), STRIP):
        patches = windows[top : top + STRIP]
        first = offset[0] + top * stride
        yield slice(first, first + (len(patches) - 1) * stride + size), patches


def _add_patches(
    target: Array, patches: Array, stride: int, left: int, size: int | None = None
) -> None:
    """Add patches, or one number for each of ``size``, where they lie, in place."""
    n_rows, n_columns = patches.shape[:2]
    side = patches.shape[2] if size is None else size
    for i in range(side):
        rows = slice(i, i + (n_rows - 1) * stride + 1, stride)
        for j in range(side):
            columns = slice(left + j, left + j + (n_columns - 1) * stride + 1, stride)
            target[rows, columns] += patches[:, :, 0, 0] if size else patches[:, :, i, j]
