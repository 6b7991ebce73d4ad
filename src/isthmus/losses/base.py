r"""What every loss offers: value, slope, smooth stages.

A loss is a piece with ``evaluate(Y, P)``, which returns the loss of predictions ``P`` for outputs
``Y`` and its slope in ``P``. One of residuals :math:`r=p-y` says so (``takes_residuals``) and has
``of_residuals(R)`` and ``row_values(R)`` too. A loss with a kink offers ``stages``: smooth losses,
ever sharper, to be minimised one after the other, each from the minimum of the last.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from isthmus._checks import check_choice, check_float
from isthmus._piece import Piece
from isthmus.losses.spread import NORMAL_MAD, robust_spread, row_lengths, weighted_median
from isthmus.typing import Array

SHAPES = ("cube", "ball")

# In units of the spread of the residuals; Huber's loss then keeps 95 % of the efficiency of least
# squares where the noise is Gaussian.
AUTOMATIC_SPREADS = 1.345
# Methods that are given the spread of the residuals, or return a loss that will be.
TAKE_SPREAD = ("resolve", "stages", "as_published")


def clip_far(Y: Array, middle: Array, deviation: Array) -> Array:
    """Outputs at most three spreads from their medians, given the median absolute deviations."""
    reach = 3 * NORMAL_MAD * deviation
    reach[reach == 0] = np.inf
    near = np.maximum(Y, middle - reach)
    return np.minimum(near, middle + reach, out=near)


class Loss(Piece, ABC):
    """Base class of losses, without stages, link or anything to be estimated.

    Attributes
    ----------
    takes_residuals : bool
        Whether the loss depends on ``P - Y`` alone: then it is a :class:`ResidualLoss`.
    least_squares : bool
        Whether it is the squared error, whose minimum has a closed form.
    """

    __module__ = "isthmus.losses"

    takes_residuals: ClassVar[bool] = False
    least_squares: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A class answers for its own methods, not for those by which a subclass replaces them.
        for owner in cls.__mro__:
            if "needs_spread" in vars(owner):
                break
            if not vars(owner).keys().isdisjoint(TAKE_SPREAD):
                setattr(cls, "needs_spread", Loss.needs_spread)  # noqa: B010
                break

    @property
    def shape(self) -> str:
        """``"cube"``: element by element; ``"ball"``: of the length of each row."""
        return "cube"

    @property
    def needs_spread(self) -> bool:
        """Whether ``resolve`` or ``stages`` look at the spread of the residuals.

        True again for a subclass that has a method of these of its own and says nothing.
        """
        return True

    @abstractmethod
    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        """Loss and its slope in ``P``, element by element (values by row for a ball)."""

    def resolve(self, spread: float) -> "Loss":
        """The loss with numbers for ``"auto"``, given the robust spread of the residuals.

        Parameters that cannot be used are refused here.
        """
        return self

    def stages(self, spread: float) -> tuple["Loss", ...]:
        """Smooth losses to be minimised in turn; the last is the one that counts."""
        return (self,)

    def as_published(self) -> "Loss":
        """The loss with the stages of the published method; itself where none were published."""
        return self

    def for_rows(self, rows: Any) -> Self:
        """The loss of some of the rows; another one only where rows have parameters."""
        return self

    def response(self, P: Array) -> Array:
        """Prediction of an output from the value of the linear map."""
        return P

    def working_outputs(self, Y: Array, weights: Array | None = None) -> Array:
        """Outputs to which a least-squares fit is a good start: far ones are brought near."""
        if weights is not None:
            middle = weighted_median(Y, weights)
            return clip_far(Y, middle, weighted_median(np.abs(Y - middle), weights))
        columns = np.ascontiguousarray(Y.T)  # numbers that are compared lie side by side
        middle = weighted_median(columns.T)
        away = columns - middle[:, None]
        deviation = weighted_median(np.abs(away, out=away).T)
        return clip_far(columns, middle[:, None], deviation[:, None]).T

    @property
    def clips_outputs(self) -> bool:
        """Whether ``working_outputs`` asks how far outputs are from the median of all rows."""
        return type(self).working_outputs is Loss.working_outputs

    def check_outputs(self, Y: Array) -> None:
        """Refuse outputs for which the loss has no meaning."""


class ResidualLoss(Loss):
    r"""Base of losses :math:`\rho(r)` of residuals :math:`r=p-y`.

    A subclass defines ``profile``, the function of one number. With the shape ``"cube"`` a loss
    takes every residual by itself; with ``"ball"`` it is :math:`\rho(\|r\|)` of a whole row, so
    that a row is an outlier as a whole or not at all, and the axes of the outputs do not matter.

    Attributes
    ----------
    degree : int
        In other units the values change by this power: if residuals and the parameters that are
        lengths are divided by ``c``, the values are divided by ``c**degree``.
    """

    __module__ = "isthmus.losses"

    takes_residuals: ClassVar[bool] = True
    # Parameters that are lengths, in the units of the residuals.
    lengths: ClassVar[tuple[str, ...]] = ()

    @property
    def degree(self) -> int:
        return 2

    @property
    def rotation_invariant(self) -> bool:
        """Whether only the length of a row counts, as a loss in a feature space needs."""
        return self.shape == "ball"

    @abstractmethod
    def profile(self, E: Array) -> tuple[Array, Array]:
        """Loss of the numbers ``E`` and its slope; even in ``E`` where there is a ball."""

    def of_residuals(self, R: Array) -> tuple[Array, Array]:
        """Loss and its slope in ``R``.

        Values have the shape of ``R`` (n, d) for a cube and (n,) for a ball.
        """
        if self.shape != "ball":
            return self.profile(R)
        if R.ndim != 2:
            raise ValueError(
                f"{type(self).__name__}(shape='ball') needs residuals of shape (n, d). "
                f"Got the shape {R.shape} instead."
            )
        length = row_lengths(R)
        values, slopes = self.profile(length)
        share = np.divide(slopes, length, out=np.zeros_like(length), where=length > 0)
        return values, share[:, None] * R

    def row_values(self, R: Array) -> tuple[Array, Array]:
        """Loss of each row (n,), the sum over its elements for a cube, and its slope (n, d)."""
        values, slopes = self.of_residuals(R)
        return (values if values.ndim == 1 else values.sum(axis=1)), slopes

    def summed(self, R: Array) -> tuple[float, Array]:
        """Sum of the losses of residuals, and its slope in ``R``."""
        values, slopes = self.of_residuals(R)
        return float(values.sum()), slopes

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        return self.of_residuals(P - Y)

    def spread_of(self, R: Array, weights: Array | None = None) -> float:
        """Robust spread of residuals: of their elements, for a ball of the lengths of rows.

        ``weights`` have shape (n,), for a cube also (n, 1) or (n, d).
        """
        if self.shape == "ball":
            return robust_spread(row_lengths(R), weights)
        if weights is not None:
            weights = weights[:, None] if weights.ndim < R.ndim else weights
            weights = np.broadcast_to(weights, R.shape).ravel()
        return robust_spread(R.ravel(), weights)

    def resolve(self, spread: float) -> Self:
        check_choice(self.shape, "shape", self, SHAPES)
        return self

    def resolve_from(self, R: Array, weights: Array | None = None) -> Self:
        """The loss with numbers for ``"auto"``, found from residuals."""
        check_choice(self.shape, "shape", self, SHAPES)
        return self.resolve(self.spread_of(R, weights))

    def in_units(self, unit: float) -> Self:
        """The loss of residuals that were divided by ``unit``; see ``degree``."""
        given = {name: getattr(self, name) for name in self.lengths}
        changes = {k: np.divide(v, unit) for k, v in given.items() if not _is_open(v)}
        return replace(self, **changes) if changes else self  # type: ignore[type-var]

    def _resolved_length(self, name: str, spread: float) -> float:
        value = getattr(self, name)
        if isinstance(value, str) and value == "auto":
            return AUTOMATIC_SPREADS * spread
        return check_float(value, name, self, include_low=False)


def _is_open(value: Any) -> bool:
    return value is None or isinstance(value, str)
