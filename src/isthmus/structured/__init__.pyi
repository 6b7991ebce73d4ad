from isthmus.structured.classifier import DependencyClassifier as DependencyClassifier
from isthmus.structured.conformal.estimator import ConformalSets as ConformalSets
from isthmus.structured.conformal.ranks import coverage_band as coverage_band
from isthmus.structured.conformal.sets import Ball as Ball
from isthmus.structured.conformal.sets import Box as Box
from isthmus.structured.conformal.sets import Interval as Interval
from isthmus.structured.conformal.sets import ObjectSet as ObjectSet
from isthmus.structured.dependency import DependencyEstimator as DependencyEstimator
from isthmus.structured.supervised import (
    DistanceCorrelationRegressor as DistanceCorrelationRegressor,
)
from isthmus.structured.twin.estimator import TwinGaussianProcess as TwinGaussianProcess
from isthmus.structured.twin.estimator import TwinPrediction as TwinPrediction
from isthmus.structured.twin.learner import TwinKernelLearner as TwinKernelLearner
from isthmus.structured.twin.search import TwinSearch as TwinSearch
