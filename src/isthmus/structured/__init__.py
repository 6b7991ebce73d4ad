"""t = Γ ∘ T ∘ φ in one estimator."""

from isthmus.structured._dependency import DependencyEstimator
from isthmus.structured._distance_correlation_regressor import DistanceCorrelationRegressor
from isthmus.structured._twin_kernels import TwinKernelLearner
from isthmus.structured._twin_process import TwinGaussianProcess, TwinPrediction

__all__ = [
    "DependencyEstimator",
    "DistanceCorrelationRegressor",
    "TwinGaussianProcess",
    "TwinKernelLearner",
    "TwinPrediction",
]
