"""Rows of many columns, seen through their principal components while the manifold is trained."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.losses.tubes import Epsilon
from isthmus.manifold.ukr.map import KernelMap, map_of_rows
from isthmus.manifold.ukr.settings import Settings
from isthmus.typing import Array

MANY_COLUMNS = 100  # below, the columns are not what training spends its time on
SHARE = 0.98  # of the variance that training sees, where it does not see all of it
WORTHWHILE = 0.5  # share of the columns that must go for an approximation to pay
ROUNDING = 1e-14  # variances below this share of the largest are none


class FewColumns(NamedTuple):
    """Scores (n, r) of centred rows along orthonormal axes (r, d)."""

    scores: Array
    axes: Array
    exact: bool  # whether the scores hold all of the variance

    def widen(self, found: KernelMap, Y: Array) -> KernelMap:
        """The map to all columns, from that to the scores.

        Where scores hold all variance the two are the same; otherwise the rows themselves take
        the place of what is known of them in few columns.
        """
        if self.exact:
            axes = self.axes
            return replace(found, outputs=found.outputs @ axes, images=found.images @ axes)
        wide = map_of_rows(found.places, found.centres, Y, found.smoother)
        return replace(wide, floor=found.floor)


def few_columns(Y: Array, settings: Settings) -> FewColumns | None:
    """Principal components of the centred rows ``Y`` that stand for them, or None.

    A loss of lengths is the same in every orthonormal basis, and n rows differ in fewer than n
    directions: with fewer rows than columns nothing is lost. With more rows, training sees the
    components that hold 98 % of the variance, if they are at most half as many as the columns;
    except where it must know lengths in full, for tubes, or makes outputs of its own, with
    landmarks.
    """
    n, d = Y.shape
    if d < MANY_COLUMNS or not settings.loss.rotation_invariant:
        return None
    variances, axes = _principal_axes(Y)
    kept = np.cumsum(variances)
    r = int(np.searchsorted(kept, SHARE * kept[-1])) + 1
    whole = isinstance(settings.loss, Epsilon) or settings.landmarks.n is not None
    if not whole and r <= WORTHWHILE * min(n, d):
        axes = axes[:r]
    elif n >= d:
        return None
    return FewColumns(Y @ axes.T, axes, len(axes) == len(variances))


def _principal_axes(Y: Array) -> tuple[Array, Array]:
    """Variances, largest first, and axes (r, d), from the smaller of the two products."""
    n, d = Y.shape
    values, U = linalg.eigh(Y @ Y.T if n < d else Y.T @ Y, check_finite=False)
    keep = np.flatnonzero(values > ROUNDING * values[-1])[::-1]
    if n >= d:
        return values[keep], U[:, keep].T
    # Y'u has the length of the square root of the eigenvalue; once more, for those that are small.
    axes = linalg.qr((Y.T @ U[:, keep]) / np.sqrt(values[keep]), mode="economic")[0]
    return values[keep], np.ascontiguousarray(axes.T)
