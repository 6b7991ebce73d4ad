"""Losses that are likelihoods of outputs, not functions of residuals."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from isthmus.losses.base import Loss
from isthmus.typing import Array


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
