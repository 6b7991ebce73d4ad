r"""Smooth losses that are squared near zero and linear far away.

All three are :math:`\tfrac12e^2` near zero and have slopes of at most their one parameter, so that
they tend to half the squared error as it grows.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from isthmus.losses.base import ResidualLoss
from isthmus.typing import Array

# Residuals from which one compiled pass is worth more than a few of NumPy.
LEAST_COMPILED = 2**13


@dataclass
class Huber(ResidualLoss):
    r"""Squared near zero, linear outside.

    :math:`\tfrac12e^2` up to :math:`|e|=\delta`, then :math:`\delta(|e|-\tfrac12\delta)`.

    Parameters
    ----------
    delta : float or "auto"
        ``"auto"`` is 1.345 times the spread of the residuals, which loses 5 % of efficiency
        where the noise is Gaussian.
    shape : "cube" or "ball"
        Of every residual, or of the length of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import Huber
    >>> Huber(0.5).of_residuals(np.array([0.5, 2.0]))
    (array([0.125, 0.875]), array([0.5, 0.5]))
    >>> Huber(1.0, shape="ball").of_residuals(np.array([[3.0, 4.0]]))
    (array([4.5]), array([[0.6, 0.8]]))
    """

    __module__ = "isthmus.losses"

    delta: Any = "auto"
    shape: str = "cube"
    lengths: ClassVar[tuple[str, ...]] = ("delta",)

    @property
    def needs_spread(self) -> bool:
        return isinstance(self.delta, str)

    def resolve(self, spread: float) -> Self:
        return replace(super().resolve(spread), delta=self._resolved_length("delta", spread))

    def profile(self, E: Array) -> tuple[Array, Array]:
        slope = np.clip(E, -self.delta, self.delta)
        return slope * (E - 0.5 * slope), slope

    def summed(self, R: Array) -> tuple[float, Array]:
        if self.shape == "ball":
            return super().summed(R)
        plain = R.dtype == np.float64 and R.flags.c_contiguous and np.ndim(self.delta) == 0
        if plain and R.size >= LEAST_COMPILED:
            from isthmus.losses.robust_loops import clip_and_sum

            slope = np.empty_like(R)
            return clip_and_sum(R.reshape(-1), float(self.delta), slope.reshape(-1)), slope
        slope = np.clip(R, -self.delta, self.delta)
        return float(np.vdot(slope, R) - 0.5 * np.vdot(slope, slope)), slope


@dataclass
class PseudoHuber(ResidualLoss):
    r"""Huber's loss without its two corners: :math:`\delta^2(\sqrt{1+(e/\delta)^2}-1)`.

    Twice continuously differentiable, strictly convex, and never above the Huber loss of the same
    :math:`\delta`.

    Parameters
    ----------
    delta : float or "auto"
        ``"auto"`` is 1.345 times the spread of the residuals.
    shape : "cube" or "ball"
        Of every residual, or of the length of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import PseudoHuber
    >>> PseudoHuber(3.0).of_residuals(np.array([4.0]))
    (array([6.]), array([2.4]))
    """

    __module__ = "isthmus.losses"

    delta: Any = "auto"
    shape: str = "cube"
    lengths: ClassVar[tuple[str, ...]] = ("delta",)

    @property
    def needs_spread(self) -> bool:
        return isinstance(self.delta, str)

    def resolve(self, spread: float) -> Self:
        return replace(super().resolve(spread), delta=self._resolved_length("delta", spread))

    def profile(self, E: Array) -> tuple[Array, Array]:
        root = np.hypot(1.0, E / self.delta)
        # δ²(root - 1) = e² / (root + 1): nothing cancels near zero, no square overflows far away.
        return E * (E / (root + 1)), E / root


@dataclass
class LogCosh(ResidualLoss):
    r"""Logarithm of the hyperbolic cosine, :math:`s^2\log\cosh(e/s)`.

    It is infinitely smooth, with the slope :math:`s\tanh(e/s)`, and is the negative log-likelihood
    of noise with the density of a hyperbolic secant.

    Parameters
    ----------
    scale : float or "auto"
        :math:`s`; ``"auto"`` is 1.345 times the spread of the residuals.
    shape : "cube" or "ball"
        Of every residual, or of the length of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import LogCosh
    >>> values, slopes = LogCosh(1.0).of_residuals(np.array([0.0, 1e300]))
    >>> values.tolist(), slopes.tolist()
    ([0.0, 1e+300], [0.0, 1.0])
    """

    __module__ = "isthmus.losses"

    scale: Any = "auto"
    shape: str = "cube"
    lengths: ClassVar[tuple[str, ...]] = ("scale",)

    @property
    def needs_spread(self) -> bool:
        return isinstance(self.scale, str)

    def resolve(self, spread: float) -> Self:
        return replace(super().resolve(spread), scale=self._resolved_length("scale", spread))

    def profile(self, E: Array) -> tuple[Array, Array]:
        s = self.scale
        return s * (s * _log_cosh(E / s)), s * np.tanh(E / s)


def _log_cosh(X: Array) -> Array:
    """``log(cosh(x))``, exact near zero, without overflow far away."""
    size = np.abs(X)
    near = np.log1p(2 * np.sinh(np.minimum(size, 1.0) / 2) ** 2)  # cosh x = 1 + 2 sinh²(x/2)
    far = size + np.log1p(np.exp(-2 * size)) - np.log(2.0)
    return np.where(size < 1, near, far)
