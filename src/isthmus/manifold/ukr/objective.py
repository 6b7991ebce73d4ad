r"""The reconstruction error of unsupervised kernel regression and its gradient.

A point :math:`x_j` of latent space is reconstructed from centres :math:`\hat x_i` with outputs
:math:`\hat y_i` as :math:`f_j`, a local polynomial (see :mod:`isthmus.smoothers`). The error is the
mean of a loss of :math:`r_j=f_j-y_j`. Without landmarks the centres are the points themselves, and
the two gradients add up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from isthmus.losses.base import ResidualLoss
from isthmus.losses.squared import Squared
from isthmus.manifold.ukr.density import (
    density_functional,
    density_variance,
    log_barrier,
    log_density,
)
from isthmus.smoothers.density_kernels import squared_reach
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.smoothers.mutual import MutualPairs, are_mutual
from isthmus.smoothers.near_list import NearPairs
from isthmus.smoothers.pairs import Pairs
from isthmus.smoothers.pull_back import pull_back
from isthmus.typing import Array, IntArray

DENSITIES = {"density": log_density, "density_variance": density_variance}
PENALTIES = ("extension", *DENSITIES)


class ErrorSlopes(NamedTuple):
    """Mean loss, its gradients, the reconstructions, and how many points nothing reaches.

    Where the points are their own centres, the gradient by point is all of it, and that by
    centre zero.
    """

    value: float
    by_point: Array
    by_centre: Array
    by_output: Array | None
    fitted: Array
    n_alone: int


def reconstruction_error(
    Xe: Array,
    Xc: Array | None,
    targets: Array,
    outputs: Array,
    smoother: LocalSmoother,
    loss: ResidualLoss,
    *,
    excluded: IntArray | None = None,
    pairs: Pairs | MutualPairs | None = None,
    by_output: bool = False,
) -> ErrorSlopes:
    r"""Mean loss of the reconstructions at ``Xe`` and its gradients.

    Parameters
    ----------
    Xe, targets : arrays of shape (N, q) and (N, d)
        Points and what should be reconstructed there.
    Xc, outputs : arrays of shape (n, q) and (n, d)
        Centres and their outputs; None for centres that are the points themselves.
    smoother, loss : what makes a reconstruction, and what it costs.
    excluded, pairs, by_output :
        As in :func:`isthmus.smoothers.pull_back.pull_back`.
    """
    N, losses = len(Xe), np.empty(len(Xe))

    def slope_of(F: Array, rows: slice) -> Array:
        losses[rows], slopes = loss.for_rows(rows).row_values(F - targets[rows])
        return slopes

    found = pull_back(
        smoother, Xe, Xc, outputs, slope_of, excluded=excluded, pairs=pairs, by_output=by_output
    )
    return ErrorSlopes(
        float(losses.sum()) / N,
        found.by_point / N,
        found.by_centre / N,
        None if found.by_output is None else found.by_output / N,
        found.values,
        found.n_alone,
    )


def reconstructed(
    Xe: Array,
    Xc: Array,
    outputs: Array,
    smoother: LocalSmoother,
    excluded: IntArray | None = None,
) -> Array:
    """The reconstructions at ``Xe`` alone, as :func:`reconstruction_error` has them."""
    return pull_back(smoother, Xe, Xc, outputs, lambda F, rows: None, excluded=excluded).values


@dataclass(frozen=True)
class ManifoldObjective:
    """What training minimises: called on latent places, it returns its value and gradient.

    With landmarks (``outputs`` given) the places are those of the ``N`` rows followed by those
    of the landmarks; without, the rows are their own centres. A ``barrier`` is a floor of the
    latent density and the weight of its logarithmic wall.
    """

    targets: Array
    smoother: LocalSmoother
    loss: ResidualLoss = field(default_factory=Squared)
    excluded: IntArray | None = None
    outputs: Array | None = None
    penalties: Mapping[str, float] | None = None
    barrier: tuple[float, float] | None = None
    # Steps are short: pairs that were near are looked at first. A copy with other weights goes on.
    near: NearPairs = field(default_factory=NearPairs, compare=False, repr=False)

    def __call__(self, X: Array) -> tuple[float, Array]:
        """The objective at the places ``X``, and its gradient."""
        N = len(self.targets)
        kernel = self.smoother.kernel
        reach, vanishing = squared_reach(kernel), kernel.compact
        mutual = self._has_mutual_pairs
        with self.near.lent(X, N, reach, vanishing=vanishing, mutual=mutual) as pairs:
            return self._slopes(X, pairs)

    def _slopes(self, X: Array, pairs: Pairs | MutualPairs | None) -> tuple[float, Array]:
        N, kernel = len(self.targets), self.smoother.kernel
        points, centres = X[:N], X if self.outputs is None else X[N:]
        outputs = self.targets if self.outputs is None else self.outputs
        error = reconstruction_error(
            points,
            None if self.outputs is None else centres,
            self.targets,
            outputs,
            self.smoother,
            self.loss,
            excluded=self.excluded,
            pairs=pairs,
        )
        value, gradient = error.value, self._joined(error.by_point, error.by_centre)
        listed = None if isinstance(pairs, MutualPairs) else pairs
        for name, weight in (self.penalties or {}).items():
            if name == "extension":
                value += weight / N * float(np.sum(X**2))
                gradient += 2.0 * weight / N * X
            else:
                part, by_point, by_centre = density_functional(
                    points, centres, kernel, DENSITIES[name], listed
                )
                value += weight * part
                gradient += weight * self._joined(by_point, by_centre)
        if self.barrier is not None:
            floor, weight = self.barrier
            part, by_point, by_centre = density_functional(
                points, centres, kernel, log_barrier(floor), listed
            )
            value += weight * part
            gradient += weight * self._joined(by_point, by_centre)
        return value, gradient

    @property
    def _has_mutual_pairs(self) -> bool:
        """Whether a pair serves both its places; densities count a place itself, and do not."""
        if self.outputs is not None or self.barrier is not None:
            return False
        if any(name in DENSITIES for name in self.penalties or {}):
            return False
        return are_mutual(self.smoother, self.excluded, len(self.targets))

    def value(self, X: Array, rows: IntArray) -> float:
        """The objective at some of the rows only, for a quick look at the places ``X``."""
        centres = X if self.outputs is None else X[len(self.targets) :]
        outputs = self.targets if self.outputs is None else self.outputs
        points, kernel = X[rows], self.smoother.kernel
        excluded = None if self.excluded is None else self.excluded[rows]
        F = reconstructed(points, centres, outputs, self.smoother, excluded)
        losses = self.loss.for_rows(rows).row_values(F - self.targets[rows])[0]
        value = float(np.mean(losses))
        for name, weight in (self.penalties or {}).items():
            if name == "extension":
                value += weight * float(np.mean(np.sum(points**2, axis=1)))
            else:
                value += weight * density_functional(points, centres, kernel, DENSITIES[name])[0]
        return value

    def _joined(self, by_point: Array, by_centre: Array) -> Array:
        return by_point + by_centre if self.outputs is None else np.vstack([by_point, by_centre])

    @property
    def unit(self) -> float:
        """What it costs to reconstruct every row by the mean: the unit of penalties."""
        return float(np.mean(self.loss.row_values(-self.targets)[0]))

    def residuals(self, X: Array) -> Array:
        """Residuals of all rows, each helping to reconstruct itself."""
        return self._residuals(X, None)

    def left_out_residuals(self, X: Array) -> Array:
        """Residuals of all rows, reconstructed without those that are excluded."""
        return self._residuals(X, self.excluded)

    def _residuals(self, X: Array, excluded: IntArray | None) -> Array:
        Y = self.targets
        return reconstructed(X, X, Y, self.smoother, excluded) - Y
