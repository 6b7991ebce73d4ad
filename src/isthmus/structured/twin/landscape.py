"""Where trial outputs of new inputs may lie, and how their criterion changes there."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from isthmus.kernels.base import Kernel
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.structured.twin.formulas import CriterionValues
from isthmus.typing import Array


class OutputBox(NamedTuple):
    """The region where outputs may lie, and the length that counts as one."""

    low: Array
    high: Array
    unit: float


def box_around(Y: Array, margin: float) -> OutputBox:
    """The range of every column with a margin on both sides, as a share of it."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    slack = margin * (high - low)
    unit = float(np.sqrt(Y.var(axis=0).sum()))
    return OutputBox(low - slack, high + slack, unit if unit > 0 else 1.0)


@dataclass(frozen=True)
class Landscape:
    """Trial outputs in units of their spread, about the middle of their box."""

    kernel: Kernel
    reference: Array
    noise: float
    box: OutputBox

    @cached_property
    def middle(self) -> Array:
        return (self.box.low + self.box.high) / 2

    @cached_property
    def bounds(self) -> Any:
        low, high, unit = self.box
        return cast(Any, ((low - self.middle) / unit, (high - self.middle) / unit))

    @cached_property
    def _values_at(self) -> Callable[[Array], Array]:
        return self.kernel.against(self.reference)

    @cached_property
    def single(self) -> "Landscape":
        """The same in single precision, of a Gaussian kernel.

        Outputs are taken in units of their spread about the middle first, so that those far from
        zero keep their digits.
        """
        kernel = Gaussian(float(cast(Any, self.kernel).gamma) * self.box.unit**2)
        low, high = (np.asarray(end, dtype=np.float32) for end in self.bounds)
        reference = self.scaled(self.reference).astype(np.float32)
        return Landscape(kernel, reference, self.noise, OutputBox(low, high, 1.0))

    def scaled(self, Y: Array) -> Array:
        return (Y - self.middle) / self.box.unit

    def outputs(self, V: Array) -> Array:
        return np.clip(self.middle + V * self.box.unit, self.box.low, self.box.high)

    def rows(self, V: Array) -> tuple[Array, Array, Array]:
        """Outputs, their rows ``g`` and ``g_yy``."""
        Y = self.middle + V * self.box.unit
        # Values are compared with each other: in single precision, too, what is the same in all of
        # them must not take their digits.
        g_yy = self.kernel.diag(Y).astype(np.float64, copy=False) + self.noise
        return Y, self._values_at(Y), g_yy

    def slope(self, Y: Array, g: Array, found: CriterionValues) -> Array:
        """The gradient, from what the criterion changes with."""
        slope = self.kernel.weighted_gradient(Y, self.reference, found.by_row, g)
        slope += found.by_diagonal[:, None] * self.kernel.diag_gradient(Y)
        return np.asarray(self.box.unit * slope)

    def optimality(self, V: Array, slope: Array) -> Array:
        """Largest entry of the projected gradient."""
        return np.abs(np.clip(V - slope, *self.bounds) - V).max(axis=1, initial=0.0)
