"""Gaps of a picture filled by cosine waves, small coefficients removed again and again."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.ndimage import correlate

from isthmus.linalg.lanes import LANES, aligned
from isthmus.typing import Array, BoolArray, IntArray

# The first and the last threshold, in units of the roughness of the picture.
COARSE, FINE = 4.0, 0.4
# Even and odd waves as loops take them, into waves and back.
Waves: TypeAlias = tuple[tuple[Array, Array], tuple[Array, Array]]


def fill_by_shrinkage(image: Array, *, patch_size: int, n_rounds: int) -> Array:
    """The picture with its gaps (``nan``) filled; what was observed stays.

    A first guess is taken from coarser and coarser pictures. Then, in every round, overlapping
    patches lose the waves that are below a threshold, their average fills the gaps, and the
    threshold falls [Guleryuz2006]_. A round costs O(p) for each pixel.
    """
    gaps = np.isnan(image)
    filled = fill_from_coarser(image)
    rough = roughness(image)
    if not rough > 0:
        return filled
    rounds = Rounds.of(filled, gaps, patch_size)
    for i, threshold in enumerate(rough * np.geomspace(COARSE, FINE, n_rounds)):
        rounds.shrink(threshold, i)
    return np.where(gaps, rounds.pixels(), image)


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
    rest = np.where(judged, sums / np.where(judged, weights, 1.0) - image, 0.0)
    return float(np.sqrt(np.vdot(rest, rest) / np.count_nonzero(judged)))


def _sums_around(image: Array, known: Array) -> tuple[Array, Array]:
    """Weighted sums of the observed pixels around each pixel, and the sums of their weights.

    Across a corner a pixel weighs 1, across an edge 2; the one in the middle is left out.
    """
    sums, weights = (_around(table) for table in (np.where(known, image, 0.0), known.astype(float)))
    return sums, weights


def _around(table: Array) -> Array:
    wide = np.pad(table, 1)
    rows = wide[:-2] + wide[2:]
    sides = rows + 2.0 * wide[1:-1]
    return np.asarray(sides[:, :-2] + sides[:, 2:] + 2.0 * rows[:, 1:-1])


def shrink_patches(
    image: Array,
    size: int,
    threshold: float,
    *,
    shift: int = 0,
    wanted: BoolArray | None = None,
) -> Array:
    """Average of overlapping patches without the waves whose coefficients are below ``threshold``.

    Patches begin at every half of their size; ``shift`` moves where they begin. A patch weighs the
    less the more waves it keeps. The mean of a patch is always kept. With pixels ``wanted``,
    patches without any are left out, and other pixels come back as they are.
    """
    wanted = np.ones(image.shape, dtype=bool) if wanted is None else wanted
    rounds = Rounds.of(image, wanted, size)
    rounds.shrink(threshold, shift)
    return rounds.pixels()


def folded_waves(size: int) -> Waves:
    """Cosines at the places of half a patch, in :mod:`isthmus.sparse.shrinkage_loops`'s order."""
    from isthmus.sparse.shrinkage_loops import PIECE

    cosines, half = dct(np.eye(size), axis=0, norm="ortho"), (size + 1) // 2
    n = half + -half % PIECE
    back = np.zeros((2, n, n))
    back[0, :half, :half] = cosines[0::2, :half]
    back[1, : size // 2, : size // 2] = cosines[1::2, : size // 2]
    into = back.transpose(0, 2, 1).copy()
    into[0, size // 2 : half] /= 2  # the middle, which is added to itself
    return (into[0], into[1]), (back[0], back[1])


@dataclass(frozen=True)
class Rounds:
    """A picture with its columns sorted and a margin that mirrors it, for rounds of thresholds.

    Mirrored at its borders, it is covered by whole patches wherever they begin.
    """

    picture: Array
    gaps: NDArray[np.uint8]
    shape: tuple[int, int]
    size: int
    # Where each column of the wide picture has gone.
    places: IntArray
    matrices: Waves
    rooms: tuple[Array, ...]
    total: Array

    @classmethod
    def of(cls, image: Array, gaps: BoolArray, size: int) -> "Rounds":
        stride, matrices = max(1, size // 2), folded_waves(size)
        wide = np.pad(image, size, mode="symmetric")
        columns = np.arange(wide.shape[1])
        # Registers reach beyond the last patch, and the last column of a patch beyond these.
        width = (len(columns) // stride // LANES + 2) * LANES
        places = columns % stride * width + columns // stride
        picture, total = (aligned(len(wide), stride * width) for _ in range(2))
        picture[:] = 0.0
        picture[:, places] = wide
        sorted_gaps = np.zeros(picture.shape, dtype=np.uint8)
        sorted_gaps[size : size + len(image), places[size : size + image.shape[1]]] = gaps
        n_waves = 2 * len(matrices[0][0])
        rooms = (
            aligned(n_waves, stride * width).ravel(),
            aligned(n_waves, n_waves * LANES).ravel(),
            aligned(size * n_waves, width + LANES).ravel(),
            aligned(1, width + LANES).ravel(),
            aligned(size, LANES).ravel(),
        )
        for room in rooms:
            room[:] = 0.0
        return cls(picture, sorted_gaps, image.shape, size, places, matrices, rooms, total)

    def shrink(self, threshold: float, shift: int) -> None:
        """A round: patches begin ``shift`` places further, weak waves go, averages fill gaps."""
        from isthmus.sparse.shrinkage_loops import fill_gaps, shrink_rows

        size, (height, width) = self.size, self.shape
        stride = max(1, size // 2)
        top, left = shift % stride, shift // stride % stride
        n_rows = (height + size - top) // stride + 1
        n_columns = (width + size - left) // stride + 1
        covered = np.empty((n_rows, self.picture.shape[1]))
        self.total[:] = 0.0
        shrink_rows(
            self.picture,
            self.gaps,
            stride,
            (top, left),
            n_columns,
            threshold,
            self.matrices,
            self.rooms,
            self.total,
            covered,
        )
        mirrored = self._mirrored()
        fill_gaps(self.picture, self.gaps, self.total, covered, stride, size, top, mirrored)
        self.picture[:size] = self.picture[2 * size - 1 : size - 1 : -1]
        self.picture[size + height :] = self.picture[size + height - 1 : height - 1 : -1]

    def _mirrored(self) -> IntArray:
        """Columns of the margin, and those that they mirror."""
        size, end = self.size, self.size + self.shape[1]
        near, far = self.places[:size], self.places[end:]
        inside = self.places[size : 2 * size][::-1], self.places[end - size : end][::-1]
        return np.stack([np.concatenate([near, far]), np.concatenate(inside)])

    def pixels(self) -> Array:
        """The picture as it is now."""
        (height, width), size = self.shape, self.size
        return self.picture[size : size + height][:, self.places[size : size + width]]
