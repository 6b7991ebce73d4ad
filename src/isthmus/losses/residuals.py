r"""Losses of linear maps, element by element, and their smooth stages.

A loss is a piece with ``evaluate(Y, P)``, which returns the loss of predictions ``P`` for outputs
``Y`` and its slope in ``P``, both element by element. A loss with a kink offers ``stages``: smooth
losses, ever sharper, to be minimised one after the other, each from the minimum of the last.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from isthmus._checks import check_choice, check_float
from isthmus._piece import Piece
from isthmus.typing import Array

# The schedule published for the absolute loss, in units of one over the spread of the residuals.
PUBLISHED_SHARPNESS = (0.25, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1000.0)

# Standard deviations in a median absolute deviation of Gaussian numbers.
NORMAL_MAD = 1.4826


class Loss(Piece, ABC):
    """Base of losses: no stages, no link, nothing to be estimated."""

    __module__ = "isthmus.losses"

    @abstractmethod
    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        """Loss and its slope in ``P``, element by element."""

    def resolve(self, spread: float) -> "Loss":
        """The loss with numbers for ``"auto"``, given the robust spread of the residuals."""
        return self

    def stages(self, spread: float) -> tuple["Loss", ...]:
        """Smooth losses to be minimised in turn; the last is the one that counts."""
        return (self,)

    def response(self, P: Array) -> Array:
        """Prediction of an output from the value of the linear map."""
        return P

    def working_outputs(self, Y: Array, weights: Array | None = None) -> Array:
        """Outputs to which a least-squares fit is a good start: far ones are brought near."""
        middle = weighted_median(Y, weights)
        reach = 3 * NORMAL_MAD * weighted_median(np.abs(Y - middle), weights)
        reach[reach == 0] = np.inf
        return np.clip(Y, middle - reach, middle + reach)

    def check_outputs(self, Y: Array) -> None:
        """Refuse outputs for which the loss has no meaning."""


@dataclass
class Squared(Loss):
    r"""Squared error :math:`(y-p)^2`.

    >>> import numpy as np
    >>> Squared().evaluate(np.array([3.0]), np.array([1.0]))
    (array([4.]), array([-4.]))
    """

    __module__ = "isthmus.losses"

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        return E * E, 2 * E

    def working_outputs(self, Y: Array, weights: Array | None = None) -> Array:
        return Y


@dataclass
class Absolute(Loss):
    r"""Absolute error :math:`|e|`, approached by smooth losses of growing sharpness :math:`a`.

    Parameters
    ----------
    sharpness : sequence of float
        The stages :math:`a`, in units of one over the spread of the residuals.
    smoothing : "root" or "tanh"
        :math:`\sqrt{e^2+a^{-2}}-a^{-1}`, which is convex, or the published
        :math:`e\tanh(ae)`, which is not. Both lie below the absolute error, by at most
        :math:`1/a` and :math:`0.2785/a`.
    """

    __module__ = "isthmus.losses"

    sharpness: Any = PUBLISHED_SHARPNESS
    smoothing: str = "root"

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        return np.abs(E), np.sign(E)

    def stages(self, spread: float) -> tuple[Loss, ...]:
        check_choice(self.smoothing, "smoothing", self, ("root", "tanh"))
        stage = SmoothAbsolute if self.smoothing == "tanh" else RootAbsolute
        return tuple(stage(a / spread) for a in _sharpness_of(self))


@dataclass
class RootAbsolute(Loss):
    r"""The stage :math:`\sqrt{e^2+a^{-2}}-a^{-1}` of the absolute loss.

    >>> import numpy as np
    >>> RootAbsolute(1.0).evaluate(np.array([0.0]), np.array([0.0]))
    (array([0.]), array([0.]))
    """

    a: float = 1.0

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        R = np.sqrt(E * E + self.a**-2)
        return R - 1 / self.a, E / R


@dataclass
class SmoothAbsolute(Loss):
    r"""The stage :math:`e\tanh(ae)` of the absolute loss, as published.

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

    __module__ = "isthmus.losses"

    delta: Any = "auto"

    def resolve(self, spread: float) -> "Huber":
        if isinstance(self.delta, str) and self.delta == "auto":
            return replace(self, delta=1.345 * spread)
        return replace(self, delta=check_float(self.delta, "delta", self, include_low=False))

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
        As in :class:`Absolute`; a stage lies above the loss by at most :math:`1/a`.
    """

    __module__ = "isthmus.losses"

    epsilon: float = 0.1
    sharpness: Any = (1.0, 10.0, 100.0, 1000.0)

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        outside = np.abs(E) - self.epsilon
        return np.maximum(outside, 0), np.where(outside > 0, np.sign(E), 0.0)

    def resolve(self, spread: float) -> "EpsilonInsensitive":
        return replace(self, epsilon=check_float(self.epsilon, "epsilon", self))

    def stages(self, spread: float) -> tuple[Loss, ...]:
        return tuple(SmoothTube(self.epsilon, a / spread) for a in _sharpness_of(self))


@dataclass
class SmoothTube(Loss):
    r"""The stage :math:`h(e-\epsilon)+h(-e-\epsilon)` of the tube.

    Here :math:`h(x)=\tfrac12(x+\sqrt{x^2+a^{-2}})` is the hinge with a rounded corner.
    """

    epsilon: float = 0.1
    a: float = 1.0

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        above, up = _soft_hinge(E - self.epsilon, self.a)
        below, down = _soft_hinge(-E - self.epsilon, self.a)
        return above + below, up - down


@dataclass
class Quantile(Loss):
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

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        slope = np.where(E > 0, 1 - self.quantile, -self.quantile)
        return slope * E, slope

    def resolve(self, spread: float) -> "Quantile":
        return replace(
            self, quantile=check_float(self.quantile, "quantile", self, high=1.0, include_low=False)
        )

    def stages(self, spread: float) -> tuple[Loss, ...]:
        return tuple(SmoothQuantile(self.quantile, a / spread) for a in _sharpness_of(self))


@dataclass
class SmoothQuantile(Loss):
    r"""The stage :math:`h(e)-qe`, :math:`e=p-y`, of the quantile loss; ``h`` as in the tube."""

    quantile: float = 0.5
    a: float = 1.0

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        E = P - Y
        value, slope = _soft_hinge(E, self.a)
        return value - self.quantile * E, slope - self.quantile


@dataclass
class Logistic(Loss):
    r"""Negative log-likelihood :math:`\log(1+e^p)-yp` of 0/1 outputs; predicts probabilities."""

    __module__ = "isthmus.losses"

    def evaluate(self, Y: Array, P: Array) -> tuple[Array, Array]:
        return np.logaddexp(0, P) - Y * P, expit(P) - Y

    def response(self, P: Array) -> Array:
        return expit(P)

    def working_outputs(self, Y: Array, weights: Array | None = None) -> Array:
        return 4 * Y - 2  # the tangent of the log-odds at one half

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
        return LOSSES[loss]()
    if isinstance(loss, Loss):
        return loss
    names = ", ".join(map(repr, LOSSES))
    raise ValueError(f"A loss must be one of {names} or a Loss piece. Got {loss!r:.80} instead.")


def weighted_median(Y: Array, weights: Array | None = None) -> Array:
    """Median of each column, a row of weight two counting like two rows.

    >>> import numpy as np
    >>> weighted_median(np.array([[1.0], [2.0], [9.0]]), np.array([1.0, 1.0, 2.0]))
    array([5.5])
    """
    if weights is None:
        return np.median(Y, axis=0)
    order = np.argsort(Y, axis=0)
    reached = np.cumsum(weights[order], axis=0)
    half = reached[-1] / 2
    # The median of an even number is the mean of its two middle ones.
    low = (reached >= half * (1 - 1e-12)).argmax(axis=0)
    high = (reached > half * (1 + 1e-12)).argmax(axis=0)
    columns = np.arange(Y.shape[1])
    return (Y[order[low, columns], columns] + Y[order[high, columns], columns]) / 2


def robust_spread(E: Array, weights: Array | None = None) -> float:
    """Standard deviation of residuals as their median absolute value tells it; positive."""
    size = np.abs(E)
    spread = NORMAL_MAD * float(weighted_median(size[:, None], weights)[0])
    if spread > 0:
        return spread
    return float(np.average(size, weights=weights)) or 1.0


def _soft_hinge(X: Array, a: float) -> tuple[Array, Array]:
    """The hinge ``max(x, 0)`` with a rounded corner, from above, and its slope."""
    R = np.sqrt(X * X + a**-2)
    return 0.5 * (X + R), 0.5 * (1 + X / R)


def _sharpness_of(loss: Any) -> list[float]:
    values = [check_float(a, "sharpness", loss, include_low=False) for a in list(loss.sharpness)]
    if not values:
        raise ValueError(
            f"The 'sharpness' parameter of {type(loss).__name__} must hold at least one stage."
        )
    return values
