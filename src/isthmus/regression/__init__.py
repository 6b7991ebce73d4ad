"""T: coordinates to coordinates."""

from isthmus.regression._bayesian import BayesianStiefelRegression
from isthmus.regression._bayesian_linear import BayesianLinearRegression
from isthmus.regression._compare import compare_ranks
from isthmus.regression._density_kernels import DensityKernel, density_kernel
from isthmus.regression._gaussian_process import GaussianProcess
from isthmus.regression._kernel_ridge import KernelRidgeCV
from isthmus.regression._local_polynomial import LocalPolynomialRegression
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
    "BayesianLinearRegression",
    "BayesianStiefelRegression",
    "DensityKernel",
    "EpsilonInsensitive",
    "GaussianProcess",
    "Huber",
    "KernelRidgeCV",
    "LocalPolynomialRegression",
    "Logistic",
    "Loss",
    "Quantile",
    "ReducedRankRegression",
    "SequentialStiefelRegression",
    "Squared",
    "StiefelRegression",
    "SupportFeatureMachine",
    "compare_ranks",
    "density_kernel",
    "james_stein",
]
