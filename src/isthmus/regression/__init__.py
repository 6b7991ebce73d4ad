"""T: coordinates to coordinates."""

from isthmus.regression._bayesian import BayesianStiefelRegression
from isthmus.regression._compare import compare_ranks
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
from isthmus.regression._sequential import SequentialStiefelRegression
from isthmus.regression._shrinkage import james_stein
from isthmus.regression._stiefel import StiefelRegression
from isthmus.regression._support_feature import SupportFeatureMachine

__all__ = [
    "Absolute",
    "BayesianStiefelRegression",
    "EpsilonInsensitive",
    "Huber",
    "KernelRidgeCV",
    "Logistic",
    "Loss",
    "Quantile",
    "ReducedRankRegression",
    "SequentialStiefelRegression",
    "Squared",
    "StiefelRegression",
    "SupportFeatureMachine",
    "compare_ranks",
    "james_stein",
]
