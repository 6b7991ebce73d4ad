r"""Losses of one side or outside a tube, made of hinges :math:`\max(x,0)`."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from isthmus._checks import LARGEST, check_choice, check_float, refusal
from isthmus._parameters import numbers
from isthmus.losses.absolute import check_sharpness
from isthmus.losses.base import Loss, ResidualLoss
from isthmus.typing import Array

# Width of a tube in regression where none is given, in the units of the outputs.
REGRESSION_WIDTH = 0.1


@dataclass
class Epsilon(ResidualLoss):
    r"""No loss inside a tube: :math:`\max(|e|-w,0)^p`.

    For :math:`p=1` the corners are rounded in stages; :math:`p=2` has none.

    Parameters
    ----------
    width : float, array or None
        Half the width of the tube, in the units of the residuals. An array of shape (n,) has one
        for each row, one of shape (n, 1), (1, d) or (n, d) is broadcast against the residuals of a
        cube. None leaves it to the estimator: 0.1 in regression, a share of the residuals of
        rows left out in manifolds.
    power : 1 or 2
        :math:`p`.
    shape : "cube" or "ball"
        Of every residual, or of the length of each row.
    sharpness : sequence of float
        As in :class:`Absolute`; a stage lies above the loss by at most :math:`1/a`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.losses import Epsilon
    >>> R = np.array([[0.2, -0.4], [3.0, 4.0]])
    >>> Epsilon(width=1.0).of_residuals(R)[0].tolist()
    [[0.0, 0.0], [2.0, 3.0]]
    >>> Epsilon(width=1.0, power=2, shape="ball").of_residuals(R)[0].tolist()
    [0.0, 16.0]
    """

    __module__ = "isthmus.losses"

    width: Any = None
    power: int = 1
    shape: str = "cube"
    sharpness: Any = (1.0, 10.0, 100.0, 1000.0)
    lengths: ClassVar[tuple[str, ...]] = ("width",)

    @property
    def degree(self) -> int:
        return self.power

    def resolve(self, spread: float) -> Self:
        check_choice(self.power, "power", self, (1, 2))
        width = REGRESSION_WIDTH if self.width is None else self.width
        if np.ndim(width) == 0:
            return replace(
                super().resolve(spread), width=check_float(width, "width", self, high=LARGEST)
            )
        if not numbers(1, 2).accepts(width) or np.min(width) < 0:
            raise ValueError(refusal(self, "width", "numbers of at least 0, all finite", width))
        return replace(super().resolve(spread), width=np.asarray(width, dtype=np.float64))

    def for_rows(self, rows: Any) -> Self:
        return replace(self, width=_width_of_rows(self.width, rows))

    def check_outputs(self, Y: Array) -> None:
        given = np.shape(self.width)
        one_each = given == Y.shape[:1]
        table = len(given) == 2 and given[0] in (1, len(Y)) and given[1] in (1, Y.shape[1])
        if given and not one_each and not (table and self.shape == "cube"):
            expected = f"a number or {len(Y)} of them, one for each row"
            raise ValueError(refusal(self, "width", expected, f"an array of shape {given}"))

    def profile(self, E: Array) -> tuple[Array, Array]:
        excess = np.maximum(np.abs(E) - _width_beside(self.width, E), 0.0)
        if self.power == 2:
            return excess**2, 2.0 * excess * np.sign(E)
        return excess, np.where(excess > 0, np.sign(E), 0.0)

    def stages(self, spread: float) -> tuple[Loss, ...]:
        if self.power == 2:
            return (self,)
        sharp = check_sharpness(self)
        return tuple(RoundedTube(self.width, a / spread, self.shape) for a in sharp)


@dataclass
class RoundedTube(ResidualLoss):
    r"""The stage :math:`h(e-w)+h(-e-w)` of the tube.

    Here :math:`h(x)=\tfrac12(x+\sqrt{x^2+a^{-2}})` is the hinge with a rounded corner.
    """

    width: Any = 0.1
    a: float = 1.0
    shape: str = "cube"

    def for_rows(self, rows: Any) -> Self:
        return replace(self, width=_width_of_rows(self.width, rows))

    def profile(self, E: Array) -> tuple[Array, Array]:
        width = _width_beside(self.width, E)
        above, up = _soft_hinge(E - width, self.a)
        below, down = _soft_hinge(-E - width, self.a)
        return above + below, up - down


@dataclass
class Quantile(ResidualLoss):
    r"""Loss whose minimum is a quantile: :math:`qe` for :math:`e=y-p>0`, else :math:`(q-1)e`.

    Parameters
    ----------
    quantile : float in (0, 1)
    sharpness : sequence of float
        As in :class:`Absolute`.
    """

    __module__ = "isthmus.losses"

    quantile: float = 0.5
    sharpness: Any = (1.0, 10.0, 100.0, 1000.0)

    @property
    def degree(self) -> int:
        return 1

    def profile(self, E: Array) -> tuple[Array, Array]:
        slope = np.where(E > 0, 1 - self.quantile, -self.quantile)
        return slope * E, slope

    def resolve(self, spread: float) -> Self:
        q = check_float(self.quantile, "quantile", self, high=1.0, include_low=False)
        return replace(super().resolve(spread), quantile=q)

    def stages(self, spread: float) -> tuple[Loss, ...]:
        return tuple(RoundedQuantile(self.quantile, a / spread) for a in check_sharpness(self))


@dataclass
class RoundedQuantile(ResidualLoss):
    r"""The stage :math:`h(e)-qe`, :math:`e=p-y`, of the quantile loss; ``h`` as in the tube."""

    quantile: float = 0.5
    a: float = 1.0

    def profile(self, E: Array) -> tuple[Array, Array]:
        value, slope = _soft_hinge(E, self.a)
        return value - self.quantile * E, slope - self.quantile


def _width_beside(width: Any, E: Array) -> Any:
    """The width as it is broadcast against ``E``: a vector holds one number for each row."""
    if np.ndim(width) == 1 and E.ndim == 2:
        return np.asarray(width)[:, None]
    return width


def _width_of_rows(width: Any, rows: Any) -> Any:
    """The widths of some of the rows, where they have widths of their own."""
    if np.ndim(width) == 0 or (np.ndim(width) == 2 and len(width) == 1):
        return width
    return np.asarray(width)[rows]


def _soft_hinge(X: Array, a: float) -> tuple[Array, Array]:
    """The hinge ``max(x, 0)`` with a rounded corner, from above, and its slope."""
    R = np.sqrt(X * X + a**-2)
    return 0.5 * (X + R), 0.5 * (1 + X / R)
