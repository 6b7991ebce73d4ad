"""Machines on core sets: quadratic programs solved on few points that stand for all."""

from isthmus.coreset._ball import MinimumEnclosingBall
from isthmus.coreset._classifier import CoreVectorClassifier
from isthmus.coreset._outliers import CoreVectorOutlierDetector
from isthmus.coreset._ranker import CoreVectorRanker
from isthmus.coreset._regressor import CoreVectorRegressor
from isthmus.coreset._simplex import solve_simplex
from isthmus.coreset._surface import ImplicitSurface

__all__ = [
    "CoreVectorClassifier",
    "CoreVectorOutlierDetector",
    "CoreVectorRanker",
    "CoreVectorRegressor",
    "ImplicitSurface",
    "MinimumEnclosingBall",
    "solve_simplex",
]
