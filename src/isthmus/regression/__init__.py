"""T: coordinates to coordinates."""

from isthmus.regression._kernel_ridge import KernelRidgeCV
from isthmus.regression._reduced_rank import ReducedRankRegression

__all__ = ["KernelRidgeCV", "ReducedRankRegression"]
