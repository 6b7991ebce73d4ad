"""What keeps factors small or sparse."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isthmus._parameters import Constraint, check_parameters, choice, real
from isthmus._piece import Piece
from isthmus.typing import Array

__all__ = ["ParkSparsity", "Penalty"]


@dataclass(frozen=True)
class Penalty:
    r"""Cost of one factor.

    .. math:: \lambda_1\sum_{ij}w_{ij}+\frac{\lambda_2}2\sum_{ij}w_{ij}^2
              +\frac\beta2\sum_i\Bigl(\sum_jw_{ij}\Bigr)^2
    """

    l1: float = 0.0
    l2: float = 0.0
    squared_l1: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.l1 or self.l2 or self.squared_l1)

    def value(self, W: Array) -> float:
        if not self:
            return 0.0
        total = 0.5 * self.l2 * float(np.vdot(W, W))
        if self.l1 or self.squared_l1:
            sums = W.sum(axis=1)
            total += float(self.l1 * sums.sum() + 0.5 * self.squared_l1 * np.dot(sums, sums))
        return total

    def slope(self, W: Array) -> Array | float:
        """The derivative, which is nowhere negative."""
        if not (self.l2 or self.squared_l1):
            return self.l1
        return self.l1 + self.l2 * W + self.squared_l1 * W.sum(axis=1, keepdims=True)


@dataclass
class ParkSparsity(Piece):
    r"""Few components for each row, by a penalty on squared sums (SNMF/R, [KimPark2007]_).

    .. math:: \min_{W,H\ge0}\ \|X-WH\|_F^2+\eta\|H\|_F^2+\beta\sum_i\|w_i\|_1^2

    Parameters
    ----------
    beta : float, default=0.01
        Weight of the squared sums; more makes codes sparser. It is in the units of squared
        components, so scale the data, or ``beta`` with them.
    eta : float or "auto", default="auto"
        Weight that keeps the other factor from growing. ``"auto"`` takes the square of the
        largest entry of the data, as the authors do.
    side : {"codes", "components"}, default="codes"
        Which factor is sparse. ``"components"`` is SNMF/L: few components for each feature.

    Examples
    --------
    >>> from isthmus.sparse import ParkSparsity
    >>> ParkSparsity(beta=0.1)
    ParkSparsity(beta=0.1, eta='auto', side='codes')
    """

    __module__ = "isthmus.sparse"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "beta": real(0),
        "eta": real(0) | choice("auto"),
        "side": choice("codes", "components"),
    }

    beta: float = 0.01
    eta: float | str = "auto"
    side: str = "codes"

    def penalties(self, largest: float) -> tuple[Penalty, Penalty]:
        """Penalties of codes and components where the largest entry of the data is given."""
        check_parameters(self)
        eta = largest**2 if isinstance(self.eta, str) else float(self.eta)
        pair = Penalty(squared_l1=float(self.beta)), Penalty(l2=eta)
        return pair if self.side == "codes" else (pair[1], pair[0])
