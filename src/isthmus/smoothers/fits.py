"""Local polynomials fitted around points: weights of the outputs, and gradients through them."""

from typing import Any, Protocol

import numpy as np

from isthmus.smoothers.kernel_rows import KernelRows, Workspace
from isthmus.smoothers.local_polynomial import LocalSmoother, fit_weights
from isthmus.typing import Array, IntArray

MOST_COORDINATES = 2  # whose moments have names in compiled loops


class Fit(Protocol):
    """Weights ``b`` of the outputs on the pairs, and the sums of kernel values ``mass``.

    They are in a workspace, and good until something else is fitted there.
    """

    b: Array
    mass: Array

    @property
    def n_terms(self) -> Any:
        """Lengths of the polynomials, 0 where moments are singular; or one for all points."""

    def pull_back(self, M: Array, by_centre: Array) -> Array:
        """Gradient of sum_j d_j · f(x_j) by the points, where M is d_j · y_i on the pairs.

        That by the centres is added.
        """


def fit_polynomials(
    smoother: LocalSmoother, rows: KernelRows, Xe: Array, Xc: Array, work: Workspace
) -> Fit:
    """The polynomials of the pairs of ``rows``, by the fastest loops that there are."""
    named = smoother.degree > 0 and not smoother.adaptive and Xe.shape[1] <= MOST_COORDINATES
    if named:
        return MomentFit(smoother, rows, Xe, Xc, work)
    return PlainFit(smoother, rows, Xe, Xc, work)


class PlainFit:
    """Polynomials in any number of coordinates, adaptive or not."""

    def __init__(
        self, smoother: LocalSmoother, rows: KernelRows, Xe: Array, Xc: Array, work: Workspace
    ):
        self._rows, self._places, self._shape = rows, (Xe, Xc), smoother.settings()
        self.mass = rows.sums()
        self.b, self.n_terms = fit_weights(smoother, rows, Xe, Xc, self.mass, work)

    def pull_back(self, M: Array, by_centre: Array) -> Array:
        from isthmus.smoothers.loops import pull_back_loop

        rows, (Xe, Xc) = self._rows, self._places
        return pull_back_loop(
            rows.indptr, rows.indices, rows.K, rows.H, M, Xe, Xc, self._shape, self.b, by_centre
        )


class MomentFit:
    """Polynomials on a line or in a plane, whose ridge is a number: fitted once for all."""

    def __init__(
        self, smoother: LocalSmoother, rows: KernelRows, Xe: Array, Xc: Array, work: Workspace
    ):
        from isthmus.smoothers.loops import n_terms
        from isthmus.smoothers.moment_loops import BESIDE, fit_in_plane, fit_on_line

        (m, q), self._shape = Xe.shape, smoother.settings()
        n, n_blocks = n_terms(smoother.degree, smoother.cross_terms, q), -(-m // BESIDE)
        fits = work.take("fits", n_blocks * (n + 1) * n * BESIDE)
        self._fits = fits.reshape(n_blocks, n + 1, n, BESIDE)
        self._rows, self._places = rows, (Xe, Xc)
        self.b = work.take("weights", len(rows.K))
        self.mass: Array = np.empty(m)
        fit: Any = fit_on_line if q == 1 else fit_in_plane
        fit(rows.indptr, rows.indices, rows.K, Xe, Xc, self._shape, self.b, self.mass, self._fits)

    @property
    def n_terms(self) -> IntArray:
        # The first coefficient is an entry of the inverse of the moments, on its diagonal.
        n = self._fits.shape[2]
        found = self._fits[:, n, 0].ravel()[: len(self.mass)] > 0
        return np.where(found, n, 0)

    def pull_back(self, M: Array, by_centre: Array) -> Array:
        from isthmus.smoothers.moment_loops import pull_in_plane, pull_on_line

        rows, (Xe, Xc) = self._rows, self._places
        by_point = np.zeros(Xe.shape)
        pull: Any = pull_on_line if Xe.shape[1] == 1 else pull_in_plane
        pairs = rows.indptr, rows.indices, rows.K, rows.H, M
        pull(*pairs, Xe, Xc, self._shape, by_centre, by_point, self._fits)
        return by_point
