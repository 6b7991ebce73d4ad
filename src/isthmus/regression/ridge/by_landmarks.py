"""Kernel and penalty of ridge regression on landmarks, chosen by the error of rows left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from isthmus.blocks.sampling import sample_rows
from isthmus.kernels.base import Kernel
from isthmus.kernels.landmarks import LandmarkFeatures, landmark_features
from isthmus.kernels.objects import take
from isthmus.regression.ridge.exact import RidgeSearch
from isthmus.regression.ridge.landmarks import LandmarkSystem, RidgeSums, landmark_sums
from isthmus.regression.selection import best
from isthmus.typing import Array, IntArray, Objects

# Kernels are compared on so many rows per landmark: a system that has as many rows as unknowns
# would tell how they interpolate.
ROWS_PER_LANDMARK = 4


class LandmarkFit(NamedTuple):
    """What was fitted, with which penalty, and its error on rows left out."""

    system: LandmarkSystem
    alpha: float
    error: float | None


class TrainingRows(Protocol):
    """Rows that a search can ask for some of, and for sums over all."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    def resolve(self, kernel: Kernel) -> Kernel:
        """The kernel with numbers from the rows."""

    def features(self, kernel: Kernel, *, center: bool, owner: Any) -> LandmarkFeatures:
        """Features in the span of the landmarks."""

    def part(self, rows: IntArray) -> tuple[Objects, Array, Array | None]:
        """Objects, outputs and counts of some rows."""

    def sums(self, features: LandmarkFeatures) -> RidgeSums:
        """Sums over all rows."""


@dataclass(frozen=True)
class RowsInMemory:
    """Rows in memory, of which those numbered ``landmarks`` span the features."""

    landmarks: IntArray
    X: Objects
    Y: Array
    counts: Array | None = None

    @property
    def n_rows(self) -> int:
        return len(self.Y)

    def resolve(self, kernel: Kernel) -> Kernel:
        return kernel.resolve(self.X)

    def features(self, kernel: Kernel, *, center: bool, owner: Any) -> LandmarkFeatures:
        return landmark_features(kernel, self.X, self.landmarks, center=center, owner=owner)

    def part(self, rows: IntArray) -> tuple[Objects, Array, Array | None]:
        counts = None if self.counts is None else self.counts[rows]
        return take(self.X, rows), self.Y[rows], counts

    def sums(self, features: LandmarkFeatures) -> RidgeSums:
        return landmark_sums(features, self.X, self.Y, self.counts)


def fit_by_landmarks(search: RidgeSearch, rows: TrainingRows, n_landmarks: int) -> LandmarkFit:
    """The function in the span of the landmarks, all rows fitted.

    Kernels are compared on systems of some rows, penalties then on the system of all; the error is
    that of at most ``selection.max_rows`` rows, each left out by itself of all others.
    """
    return _LandmarkSearch(search, rows, compared_rows(search, rows.n_rows, n_landmarks)).fit()


def compared_rows(search: RidgeSearch, n_rows: int, n_landmarks: int) -> IntArray:
    """Rows on which kernels are compared."""
    rows, enough = search.selection.rows(n_rows), ROWS_PER_LANDMARK * n_landmarks
    if len(rows) >= min(enough, n_rows):
        return rows
    return sample_rows(n_rows, enough, search.selection.random_state)


@dataclass(frozen=True)
class _LandmarkSearch:
    search: RidgeSearch
    rows: TrainingRows
    compared: IntArray

    def fit(self) -> LandmarkFit:
        search, kernel = self.search, self.search.kernels[0]
        if search.settled and search.alphas is not None:
            return LandmarkFit(self._system(kernel, None), search.alphas[0], None)
        if len(search.kernels) > 1:
            compared = search.explore(search.kernels, lambda k: best(self._errors(k)))
            choice, kernel = min(compared, key=lambda found: found[0].error)
            search.finite(choice)
        system = self._system(kernel, None)
        if search.selection.leaves_one_out:
            found = self._left_out(system, search.selection.rows(self.rows.n_rows))
        else:
            found = self._errors(kernel)
        choice = search.finite(best(found))
        return LandmarkFit(system, choice.value, choice.error)

    def _system(self, kernel: Kernel, rows: IntArray | None) -> LandmarkSystem:
        """Of some rows, or of all."""
        center = self.search.center
        features = self.rows.features(
            self.rows.resolve(kernel), center=center, owner=self.search.owner
        )
        if rows is None:
            sums = self.rows.sums(features)
        else:
            sums = landmark_sums(features, *self.rows.part(rows))
        return LandmarkSystem(features, sums, center=center)

    def _left_out(self, system: LandmarkSystem, rows: IntArray) -> Iterator[tuple[float, float]]:
        """Errors and penalties; ``rows`` are part of those that the system has seen."""
        X, Y, counts = self.rows.part(rows)
        rounding = self.search.rounding_of(system.features.kernel)
        return system.left_out_errors(X, Y, self.search.alphas, weights=counts, rounding=rounding)

    def _errors(self, kernel: Kernel) -> Iterator[tuple[float, float]]:
        """Errors and penalties of one kernel, on part of the rows."""
        selection = self.search.selection
        compared = self.compared
        if selection.leaves_one_out:
            judges = compared[selection.rows(len(compared))]
            yield from self._left_out(self._system(kernel, compared), judges)
            return
        alphas, count = self.search.alphas, 0.0
        totals: Array = np.zeros(0)
        for train, test in selection.splits(len(compared)):
            system = self._system(kernel, compared[train])
            alphas = system.penalties() if alphas is None else alphas
            errors, n_values = self._missed(system, alphas, compared[test])
            totals, count = (totals if len(totals) else 0.0) + errors, count + n_values
        yield from zip((totals / max(count, 1e-300)).tolist(), alphas or (), strict=True)

    def _missed(
        self, system: LandmarkSystem, alphas: Sequence[float], rows: IntArray
    ) -> tuple[Array, float]:
        """Sums of squared errors of rows that the system has not seen, and of how many values."""
        X, Y, counts = self.rows.part(rows)
        counts = np.ones(len(Y)) if counts is None else counts
        P, n_values = system.axes(X), float(counts.sum()) * Y.shape[1]
        errors = np.full(len(alphas), np.inf)
        rounding = self.search.rounding_of(system.features.kernel)
        for i, alpha in enumerate(alphas):
            if alpha >= system.smallest_penalty or alpha == max(alphas):
                missed = Y - system.y_mean - (P * system.shrinkage(alpha)) @ system.across
                errors[i] = counts @ np.square(missed).sum(axis=1)
                errors[i] += system.noise(alpha, rounding) * n_values
        return errors, n_values
