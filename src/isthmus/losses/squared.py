"""The squared error."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from isthmus.losses.base import ResidualLoss
from isthmus.typing import Array


@dataclass
class Squared(ResidualLoss):
    r"""Squared error :math:`(p-y)^2`, of a row :math:`\|r\|^2`.

    >>> import numpy as np
    >>> from isthmus.losses import Squared
    >>> Squared().evaluate(np.array([3.0]), np.array([1.0]))
    (array([4.]), array([-4.]))
    """

    __module__ = "isthmus.losses"

    least_squares: ClassVar[bool] = True

    @property
    def rotation_invariant(self) -> bool:
        return True

    def profile(self, E: Array) -> tuple[Array, Array]:
        return E * E, 2 * E

    def row_values(self, R: Array) -> tuple[Array, Array]:
        return np.einsum("ij,ij->i", R, R), 2.0 * R

    @property
    def needs_spread(self) -> bool:
        return False

    def working_outputs(self, Y: Array, weights: Array | None = None) -> Array:
        return Y
