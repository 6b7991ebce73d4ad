"""The absolute error and the smooth losses by which it is approached."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isthmus._checks import LARGEST, check_choice, refusal
from isthmus._parameters import real, several
from isthmus.losses.base import Loss, ResidualLoss
from isthmus.typing import Array

# The schedule published for the absolute loss, in units of one over the spread of the residuals.
PUBLISHED_SHARPNESS = (0.25, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1000.0)


@dataclass
class Absolute(ResidualLoss):
    r"""Absolute error :math:`|e|`, approached by smooth losses of growing sharpness :math:`a`.

    Parameters
    ----------
    sharpness : sequence of float
        The stages :math:`a`, in units of one over the spread of the residuals.
    smoothing : "root" or "tanh"
        :math:`\sqrt{e^2+a^{-2}}-a^{-1}`, which is convex, or the published
        :math:`e\tanh(ae)`, which is not. Both lie below the absolute error, by at most
        :math:`1/a` and :math:`0.2785/a`.
    shape : "cube" or "ball"
        Of every residual, or of the length of each row.
    """

    __module__ = "isthmus.losses"

    sharpness: Any = PUBLISHED_SHARPNESS
    smoothing: str = "root"
    shape: str = "cube"

    @property
    def degree(self) -> int:
        return 1

    def profile(self, E: Array) -> tuple[Array, Array]:
        return np.abs(E), np.sign(E)

    def stages(self, spread: float) -> tuple[Loss, ...]:
        check_choice(self.smoothing, "smoothing", self, ("root", "tanh"))
        stage = TanhAbsolute if self.smoothing == "tanh" else RootAbsolute
        return tuple(stage(a / spread, self.shape) for a in check_sharpness(self))

    def as_published(self) -> "Absolute":
        return replace(self, smoothing="tanh")


@dataclass
class RootAbsolute(ResidualLoss):
    r"""The stage :math:`\sqrt{e^2+a^{-2}}-a^{-1}` of the absolute loss.

    >>> import numpy as np
    >>> RootAbsolute(1.0).evaluate(np.array([0.0]), np.array([0.0]))
    (array([0.]), array([0.]))
    """

    a: float = 1.0
    shape: str = "cube"

    def profile(self, E: Array) -> tuple[Array, Array]:
        R = np.sqrt(E * E + self.a**-2)
        return R - 1 / self.a, E / R


@dataclass
class TanhAbsolute(ResidualLoss):
    r"""The stage :math:`e\tanh(ae)` of the absolute loss, as published.

    >>> import numpy as np
    >>> TanhAbsolute(10.0).evaluate(np.array([0.0]), np.array([1000.0]))
    (array([1000.]), array([1.]))
    """

    a: float = 1.0
    shape: str = "cube"

    def profile(self, E: Array) -> tuple[Array, Array]:
        T = np.tanh(self.a * E)
        # sech² = 1 - tanh², which does not overflow for a residual of any size.
        return E * T, T + self.a * E * (1 - T * T)


def check_sharpness(loss: Any) -> list[float]:
    """The stages of a loss with a kink, positive and at least one."""
    stages = several(real(0, LARGEST, include_low=False))
    if not stages.accepts(loss.sharpness):
        raise ValueError(refusal(loss, "sharpness", stages.text, loss.sharpness))
    return [float(a) for a in loss.sharpness]
