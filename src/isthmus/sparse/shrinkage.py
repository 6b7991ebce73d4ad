"""Gaps of a picture filled by cosine waves, small coefficients removed again and again."""

from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from scipy.fft import dct
from scipy.ndimage import correlate

from isthmus.linalg.scratch import scratch
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array, BoolArray

# Weights of the pixels around one, itself left out.
AROUND = np.array([[1.0, 2.0, 1.0], [2.0, 0.0, 2.0], [1.0, 2.0, 1.0]])
# The first and the last threshold, in units of the roughness of the picture.
COARSE, FINE = 4.0, 0.4
# Rows of patches that are transformed at a time, so that memory does not grow with the picture, and
# those of a few hundred pixels stay in the cache.
STRIP = 16
# Patches are picked out where fewer than this share has a gap: to pick one takes longer than to
# transform it.
FEW_TOUCHED = 0.2
# Where each block of a folded patch is, and its waves as rows.
Waves: TypeAlias = tuple[tuple[slice, Array], ...]


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
    waves = folded_waves(patch_size)  # O(p⁴) numbers, so that they are not kept after this
    products = 0.25 * STRIP * image.shape[1] * patch_size**3  # operations of one
    with threads_for(products):
        for i, threshold in enumerate(rough * np.geomspace(COARSE, FINE, n_rounds)):
            shrunk = shrink_patches(
                filled, patch_size, threshold, shift=i, wanted=gaps, waves=waves
            )
            filled = np.where(gaps, shrunk, image)
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


def shrink_patches(
    image: Array,
    size: int,
    threshold: float,
    *,
    shift: int = 0,
    wanted: BoolArray | None = None,
    waves: Waves | None = None,
) -> Array:
    """Average of overlapping patches without the waves whose coefficients are below ``threshold``.

    Patches begin at every half of their size; ``shift`` moves where they begin. A patch weighs the
    less the more waves it keeps. The mean of a patch is always kept. With pixels ``wanted``,
    patches without any may be left out, and other pixels come back as they are. ``waves`` are those
    of :func:`folded_waves`, for many calls.
    """
    from isthmus.sparse.shrinkage_loops import add_folded, add_patches, fold_patches

    stride = max(1, size // 2)
    offset = shift % stride, shift // stride % stride
    # Mirrored at its borders, the picture is covered by whole patches wherever they begin.
    wide = np.pad(image, size, mode="symmetric")
    planes = _planes(wide, stride, offset)
    gaps = None
    if wanted is not None:
        gaps = np.asarray(_planes(np.pad(wanted, size), stride, offset).any(axis=(0, 1)))
    total = np.zeros_like(planes)
    # Where a patch consists of whole tiles, the pixels of a tile weigh alike.
    weight = np.zeros_like(planes if size % stride else planes[:1, :1])
    n_rows = (len(wide) - offset[0] - size) // stride + 1
    n_columns = (wide.shape[1] - offset[1] - size) // stride + 1
    waves = folded_waves(size) if waves is None else waves
    step = 1 if size % stride else stride
    with scratch(2, size * size * min(STRIP, n_rows) * n_columns) as memory:
        for top in range(0, n_rows, STRIP):
            shape = (min(STRIP, n_rows - top), n_columns)
            patches, room = memory[:, : size * size * shape[0] * n_columns]
            folded, columns = patches.reshape(-1, *shape), patches.reshape(size**2, -1)
            fold_patches(planes, top, size, folded)
            some = slice(None)
            if gaps is not None:
                some = _touched(gaps[top:], -(-size // stride), shape)
            room = room.reshape(columns.shape)
            weights = _remove_weak_waves(columns, waves, threshold, some, room).reshape(shape)
            add_folded(total, top, size, folded, weights)
            tiles = np.empty((-(-size // step),) * 2 + shape)
            tiles[:] = weights
            add_patches(weight, top, tiles)
    # What no patch covers lies in the margin, or stays as it is.
    mean = np.divide(total, weight, out=planes, where=weight > 0)
    found = mean.transpose(2, 0, 3, 1).reshape(stride * mean.shape[2], stride * mean.shape[3])
    top, left = size - offset[0], size - offset[1]
    return found[top : top + image.shape[0], left : left + image.shape[1]]


def _planes(image: Array, stride: int, offset: tuple[int, int]) -> Array:
    """Every ``stride``-th pixel along either side, a plane for each place where they begin."""
    image = image[offset[0] :, offset[1] :]
    height, width = (-(-n // stride) for n in image.shape)
    whole = np.zeros((height * stride, width * stride), dtype=image.dtype)
    whole[: image.shape[0], : image.shape[1]] = image
    tiles = whole.reshape(height, stride, width, stride)
    return np.ascontiguousarray(tiles.transpose(1, 3, 0, 2))


def _touched(gaps: BoolArray, across: int, shape: tuple[int, int]) -> Any:
    """Which patches have tiles with gaps; all, where the others are too few to be worth it."""
    some = np.zeros(shape, dtype=bool)
    for i in range(across):
        for j in range(across):
            some |= gaps[i : i + shape[0], j : j + shape[1]]
    return some.ravel() if some.mean() < FEW_TOUCHED else slice(None)


def folded_waves(size: int) -> Waves:
    """For each block of a folded patch where it is, and its waves as rows, the mean first."""
    cosines = dct(np.eye(size), axis=0, norm="ortho")
    halves = cosines[0::2, : (size + 1) // 2], cosines[1::2, : size // 2]
    waves = [np.kron(first, second) for first in halves for second in halves]
    ends = np.cumsum([0, *(len(part) for part in waves)])
    return tuple((slice(*pair), part) for pair, part in zip(pairwise(ends), waves, strict=True))


def _remove_weak_waves(
    patches: Array,
    waves: Waves,
    threshold: float,
    some: Any,
    room: Array,
) -> Array:
    """Leave strong waves alone in folded ``patches``, as columns, in place; return their weights.

    Those that are left out weigh nothing. ``room`` is memory for coefficients.
    """
    from isthmus.sparse.shrinkage_loops import keep_strong

    if not isinstance(some, slice):
        part, weights = patches.compress(some, axis=1), np.zeros(patches.shape[1])
        weights[some] = _remove_weak_waves(part, waves, threshold, slice(None), np.empty_like(part))
        patches[:, some] = part
        return weights
    weights = np.empty(patches.shape[1])
    for block, matrix in waves:
        np.matmul(matrix, patches[block], out=room[block])
    keep_strong(room, threshold, weights)
    for block, matrix in waves:
        np.matmul(matrix.T, room[block], out=patches[block])
    return weights
