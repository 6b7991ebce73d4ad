from isthmus.structured.dependency import DependencyEstimator as DependencyEstimator
from isthmus.structured.supervised import (
    DistanceCorrelationRegressor as DistanceCorrelationRegressor,
)
from isthmus.structured.twin.estimator import TwinGaussianProcess as TwinGaussianProcess
from isthmus.structured.twin.estimator import TwinPrediction as TwinPrediction
from isthmus.structured.twin.learner import TwinKernelLearner as TwinKernelLearner
from isthmus.structured.twin.search import TwinSearch as TwinSearch
