"""Bounds within which a process searches its parameters."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, condition, none
from isthmus._piece import Piece


def _is_pair(value: Any) -> bool:
    try:
        low, high = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return np.ndim(low) == 0 and bool(0 < low <= high < np.inf)


def _are_pairs(value: Any) -> bool:
    try:
        return len(value) > 0 and all(_is_pair(pair) for pair in value)
    except TypeError:
        return False


PAIR = condition("a pair (low, high) with 0 < low <= high", _is_pair)
PAIRS = condition("a sequence of such pairs", _are_pairs)


@dataclass
class ParameterBounds(Piece):
    """Bounds of the parameters that a :class:`GaussianProcess` learns, in their own units.

    Parameters
    ----------
    kernel : pair, sequence of pairs or None, default=None
        One pair for all learned parameters of the kernel, or one for each, in the order of
        ``np.exp(kernel.log_parameters())``. None searches within a factor of a million of the
        start.
    noise, amplitude : pair or None, default=None
        Standard deviations, in units of the outputs. With either, all outputs share one amplitude.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.regression import GaussianProcess, ParameterBounds
    >>> X = np.linspace(0, 1, 30)[:, None]
    >>> bounds = ParameterBounds(noise=(0.05, 1.0))
    >>> model = GaussianProcess(bounds=bounds, random_state=0).fit(X, np.sin(6 * X[:, 0]))
    >>> round(model.noise_, 6)
    0.05
    """

    __module__ = "isthmus.regression"

    kernel: Any = field(default=None, kw_only=True)
    noise: Any = field(default=None, kw_only=True)
    amplitude: Any = field(default=None, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": none | PAIR | PAIRS,
        "noise": none | PAIR,
        "amplitude": none | PAIR,
    }

    def of_kernel(self, n_parameters: int) -> list[tuple[float, float]] | None:
        """Bounds of the logarithms of the kernel's parameters, one pair for each."""
        if self.kernel is None or not n_parameters:
            return None
        pairs = [self.kernel] * n_parameters if _is_pair(self.kernel) else list(self.kernel)
        if len(pairs) != n_parameters:
            raise ValueError(
                f"The 'kernel' parameter of ParameterBounds must be one pair, or one for each of "
                f"the {n_parameters} learned parameters of the kernel. Got {len(pairs)} pairs."
            )
        return [_logarithms(pair) for pair in pairs]

    @staticmethod
    def of_variance(pair: Any) -> tuple[float, float] | None:
        """Bounds of the logarithm of a variance from those of its root."""
        if pair is None:
            return None
        low, high = _logarithms(pair)
        return 2 * low, 2 * high


def _logarithms(pair: Any) -> tuple[float, float]:
    low, high = np.log(np.asarray(pair, dtype=np.float64))
    return float(low), float(high)
