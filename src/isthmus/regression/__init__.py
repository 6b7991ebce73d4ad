"""T: coordinates to coordinates."""

from isthmus.regression._kernel_ridge import KernelRidgeCV
from isthmus.regression._losses import (
    Absolute,
    EpsilonInsensitive,
    Huber,
    Logistic,
    Loss,
    Quantile,
    Squared,
)
from isthmus.regression._reduced_rank import ReducedRankRegression
from isthmus.regression._stiefel import StiefelRegression

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Huber",
    "KernelRidgeCV",
    "Logistic",
    "Loss",
    "Quantile",
    "ReducedRankRegression",
    "Squared",
    "StiefelRegression",
]
