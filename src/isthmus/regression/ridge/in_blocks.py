"""Ridge regression on landmarks where rows are read block by block: two passes."""

from typing import Any

import numpy as np

from isthmus.blocks.fitting import refuse_blocks
from isthmus.blocks.rows import Rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.drawn import DrawnRows, checked_block
from isthmus.kernels.landmarks import LandmarkFeatures, draw_landmarks, free_origin
from isthmus.regression.ridge.by_landmarks import LandmarkFit, compared_rows, fit_by_landmarks
from isthmus.regression.ridge.exact import RidgeSearch
from isthmus.regression.ridge.landmarks import RidgeSums, landmark_sums, merge
from isthmus.typing import Array, IntArray, Objects


class RowsInBlocks:
    """Rows of which few are drawn in one pass, and all are summed in another."""

    def __init__(self, rows: Rows, landmarks: IntArray, *wanted: IntArray, kernel: Kernel):
        self.rows, self.landmarks = rows, landmarks
        self.drawn = DrawnRows(rows, landmarks, *wanted, kernel=kernel)
        self.n_rows = self.drawn.n_rows

    def resolve(self, kernel: Kernel) -> Kernel:
        """The kernel with numbers from the rows."""
        return self.drawn.resolve(kernel)

    def features(self, kernel: Kernel, *, center: bool, owner: Any) -> LandmarkFeatures:
        """Features in the span of the landmarks."""
        landmarks = self.drawn.part(self.landmarks)[0]
        origin = free_origin(kernel, landmarks) if center else None
        return LandmarkFeatures(kernel, landmarks, origin=origin, owner=owner)

    def part(self, rows: IntArray) -> tuple[Objects, Array, Array | None]:
        """Objects, outputs and counts of some rows that were drawn."""
        X, (Y, *counts) = self.drawn.part(rows)
        return X, as_columns(Y), np.asarray(counts[0], dtype=np.float64) if counts else None

    def sums(self, features: LandmarkFeatures) -> RidgeSums:
        """Sums over all rows."""
        found: RidgeSums = self.rows.fold(block_sums, merge, state=features)
        return found


def block_sums(X: Any, Y: Any, counts: Any = None, *, state: LandmarkFeatures) -> RidgeSums:
    """Sums over one block, in pieces whose features fit into little memory."""
    X = checked_block(state.kernel, X)
    w = None if counts is None else np.asarray(counts, dtype=np.float64)
    return landmark_sums(state, X, as_columns(Y), w)


def as_columns(Y: Any) -> Array:
    """Outputs in double precision, one column for each."""
    Y = np.asarray(Y, dtype=np.float64)
    return Y.reshape(len(Y), -1)


def fit_in_blocks(search: RidgeSearch, rows: Rows, n_landmarks: int, rng: Any) -> LandmarkFit:
    """What :func:`fit_by_landmarks` gives where the same rows are in memory.

    The first pass draws the landmarks and the rows on which kernel and penalty are
    judged; the second sums over all.
    """
    rows.require_passes("landmarks are drawn first")
    selection = search.selection
    if not isinstance(selection.criterion, (str, int)) or selection.max_rows is None:
        refuse_blocks(
            search.owner,
            "rows to choose on are drawn at random, so cv must be 'loo', a number of folds or a "
            "Selection of these with max_rows",
            instead="KernelRidgeCV(cv='loo')",
        )
    n = rows.count()
    landmarks = draw_landmarks(n, n_landmarks, rng)
    judges, compared = selection.rows(n), compared_rows(search, n, n_landmarks)
    kernel = search.kernels[0]
    data = RowsInBlocks(rows, landmarks, judges, compared, kernel=kernel)
    return fit_by_landmarks(search, data, n_landmarks)
