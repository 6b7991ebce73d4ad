r"""Losses of linear maps, element by element, and their smooth stages.

A loss is a piece with ``evaluate(Y, P)``, which returns the loss of predictions ``P`` for outputs
``Y`` and its slope in ``P``, both element by element. A loss with a kink offers ``stages``: smooth
losses, ever sharper, to be minimised one after the other, each from the minimum of the last.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from isthmus._checks import check_float
from isthmus._piece import Piece
from isthmus.typing import Array

# The schedule published for the absolute loss, in units of one over the spread of the residuals.
PUBLISHED_SHARPNESS = (0.25, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1000.0)


class Loss(Piece):
    """Base of losses: no stages, no link, nothing to be estimated."""

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        """Loss and its slope in ``P``, element by element."""
        raise NotImplementedError

    def resolve(self, spread: float) -> "Loss":
        """The loss with numbers for ``"auto"``, given the robust spread of the residuals."""
        return self

    def stages(self, spread: float) -> tuple["Loss", ...]:
        """Smooth losses to be minimised in turn; the last is the one that counts."""
        return (self,)

    def response(self, P: Array) -> Array:
        """Prediction of an output from the value of the linear map."""
        return P

    def check_outputs(self, Y: Array) -> None:
        """Refuse outputs for which the loss has no meaning."""


@dataclass
class Squared(Loss):
    r"""Squared error :math:`(y-p)^2`.

    >>> import numpy as np
    >>> Squared().evaluate(np.array([3.0]), np.array([1.0]))
    (array([4.]), array([-4.]))
    """

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        return E * E, 2 * E


@dataclass
class Absolute(Loss):
    r"""Absolute error :math:`|e|`, approached by :math:`e\tanh(ae)` with growing :math:`a`.

    The smooth loss lies below the absolute one by at most :math:`0.2785/a`.

    Parameters
    ----------
    sharpness : sequence of float
        The stages :math:`a`, in units of one over the spread of the residuals.
    """

    sharpness: Any = PUBLISHED_SHARPNESS

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        return np.abs(E), np.sign(E)

    def stages(self, spread: float) -> tuple[Loss, ...]:
        return tuple(SmoothAbsolute(a / spread) for a in _sharpness_of(self))


@dataclass
class SmoothAbsolute(Loss):
    r"""The stage :math:`e\tanh(ae)` of the absolute loss.

    >>> import numpy as np
    >>> SmoothAbsolute(10.0).evaluate(np.array([0.0]), np.array([1000.0]))
    (array([1000.]), array([1.]))
    """

    a: float = 1.0

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        T = np.tanh(self.a * E)
        # sech² = 1 - tanh², which does not overflow for a residual of any size.
        return E * T, T + self.a * E * (1 - T * T)


@dataclass
class Huber(Loss):
    r"""Squared near zero, linear outside: :math:`\tfrac12e^2` up to :math:`|e|=\delta`.

    Parameters
    ----------
    delta : float or "auto"
        ``"auto"`` is 1.345 times the spread of the residuals, which loses 5 % of efficiency
        where the noise is Gaussian.
    """

    delta: Any = "auto"

    def resolve(self, spread: float) -> "Huber":
        if isinstance(self.delta, str) and self.delta == "auto":
            return replace(self, delta=1.345 * spread)
        return replace(self, delta=check_float(self, "delta", include_low=False))

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        slope = np.clip(E, -self.delta, self.delta)
        return slope * (E - 0.5 * slope), slope


@dataclass
class EpsilonInsensitive(Loss):
    r"""No loss inside a tube: :math:`\max(|e|-\epsilon,0)`, its corners rounded in stages.

    Parameters
    ----------
    epsilon : float
        Half the width of the tube, in the units of the outputs.
    sharpness : sequence of float
        As in :class:`Absolute`; a stage lies above the loss by at most :math:`1.39/a`.
    """

    epsilon: float = 0.1
    sharpness: Any = (1.0, 10.0, 100.0, 1000.0)

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        outside = np.abs(E) - self.epsilon
        return np.maximum(outside, 0), np.where(outside > 0, np.sign(E), 0.0)

    def resolve(self, spread: float) -> "EpsilonInsensitive":
        return replace(self, epsilon=check_float(self, "epsilon"))

    def stages(self, spread: float) -> tuple[Loss, ...]:
        return tuple(SmoothTube(self.epsilon, a / spread) for a in _sharpness_of(self))


@dataclass
class SmoothTube(Loss):
    r"""The stage :math:`\tfrac1a[\log(1+e^{a(e-\epsilon)})+\log(1+e^{a(-e-\epsilon)})]`."""

    epsilon: float = 0.1
    a: float = 1.0

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        above, below = self.a * (E - self.epsilon), self.a * (-E - self.epsilon)
        value = (np.logaddexp(0, above) + np.logaddexp(0, below)) / self.a
        return value, expit(above) - expit(below)


@dataclass
class Quantile(Loss):
    r"""Loss whose minimum is a quantile: :math:`e` above and :math:`(q-1)e` below, :math:`e=y-p`.

    Parameters
    ----------
    quantile : float in (0, 1)
    sharpness : sequence of float
        As in :class:`Absolute`.
    """

    quantile: float = 0.5
    sharpness: Any = (1.0, 10.0, 100.0, 1000.0)

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        slope = np.where(E > 0, 1 - self.quantile, -self.quantile)
        return slope * E, slope

    def resolve(self, spread: float) -> "Quantile":
        return replace(self, quantile=check_float(self, "quantile", high=1.0, include_low=False))

    def stages(self, spread: float) -> tuple[Loss, ...]:
        return tuple(SmoothQuantile(self.quantile, a / spread) for a in _sharpness_of(self))


@dataclass
class SmoothQuantile(Loss):
    r"""The stage :math:`\tfrac1a\log(1+e^{ae})-qe`, :math:`e=p-y`, of the quantile loss."""

    quantile: float = 0.5
    a: float = 1.0

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        return np.logaddexp(0, self.a * E) / self.a - self.quantile * E, (
            expit(self.a * E) - self.quantile
        )


@dataclass
class Logistic(Loss):
    r"""Negative log-likelihood :math:`\log(1+e^p)-yp` of 0/1 outputs; predicts probabilities."""

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        return np.logaddexp(0, P) - Y * P, expit(P) - Y

    def response(self, P: Array) -> Array:
        return expit(P)

    def check_outputs(self, Y: Array) -> None:
        seen = Y[~np.isnan(Y)]
        if seen.size and (seen.min() < 0 or seen.max() > 1):
            raise ValueError(
                "The logistic loss needs outputs in [0, 1]. "
                f"Got values from {seen.min():g} to {seen.max():g} instead."
            )


LOSSES = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "epsilon": EpsilonInsensitive,
    "logistic": Logistic,
    "quantile": Quantile,
}


def as_loss(loss: Any) -> Loss:
    """Return the loss of a name, or the piece itself."""
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]()  # type: ignore[no-any-return]
    if hasattr(loss, "evaluate") and not isinstance(loss, type):
        return loss  # type: ignore[no-any-return]
    names = ", ".join(map(repr, LOSSES))
    raise ValueError(f"A loss must be one of {names} or a Loss piece. Got {loss!r:.80} instead.")


def _sharpness_of(loss: Any) -> list[float]:
    values = [
        check_float(loss, "sharpness", value=a, include_low=False) for a in list(loss.sharpness)
    ]
    if not values:
        raise ValueError(
            f"The 'sharpness' parameter of {type(loss).__name__} must hold at least one stage."
        )
    return values
