"""Losses by name, and losses written by others."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Self

from isthmus.losses.absolute import Absolute
from isthmus.losses.base import Loss, ResidualLoss
from isthmus.losses.likelihood import Logistic
from isthmus.losses.robust import Huber, LogCosh, PseudoHuber
from isthmus.losses.squared import Squared
from isthmus.losses.tubes import Epsilon, Quantile
from isthmus.typing import Array

LOSSES: dict[str, type[Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "pseudo_huber": PseudoHuber,
    "log_cosh": LogCosh,
    "epsilon": Epsilon,
    "quantile": Quantile,
    "logistic": Logistic,
}


@dataclass
class ForeignLoss(Loss):
    """A loss of which only ``evaluate`` is known, with the base's answers to the rest."""

    loss: Any

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        values, slopes = self.loss.evaluate(Y, P)
        return values, slopes


@dataclass
class ForeignResidualLoss(ResidualLoss):
    """A foreign loss that declares ``takes_residuals``; its lengths stay those of the outputs."""

    loss: Any
    unit: float = 1.0

    def profile(self, E: Array) -> tuple[Array, Array]:
        values, slopes = self.loss.evaluate(0 * E, self.unit * E)
        return values / self.unit**2, slopes / self.unit

    def in_units(self, unit: float) -> Self:
        return replace(self, unit=self.unit * unit)


def as_loss(loss: Any) -> Loss:
    """Return the loss that a name, a loss of this library or a class from elsewhere stands for.

    A loss that does not derive from :class:`Loss` needs ``evaluate(Y, P)``, which returns values
    and slopes element by element; where it depends on ``P - Y`` alone it says so by
    ``takes_residuals = True``.

    >>> as_loss("huber")
    Huber(delta='auto', shape='cube')
    >>> as_loss("hubr")
    Traceback (most recent call last):
    ValueError: A loss must be one of 'squared', ... or a Loss piece. Got 'hubr' instead. Did you \
mean 'huber'?
    """
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]()
    if not isinstance(loss, type) and callable(getattr(loss, "evaluate", None)):
        taken = getattr(loss, "takes_residuals", False) is True
        return ForeignResidualLoss(loss) if taken else ForeignLoss(loss)
    names = ", ".join(map(repr, LOSSES))
    near = get_close_matches(loss, LOSSES, n=1) if isinstance(loss, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"A loss must be one of {names} or a Loss piece. Got {loss!r:.80} instead.{hint}"
    )
