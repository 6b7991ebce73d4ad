from isthmus.manifold.classifier import ManifoldClassifier as ManifoldClassifier
from isthmus.manifold.psom.estimator import PSOM as PSOM
from isthmus.manifold.psom.grid import grid_points as grid_points
from isthmus.manifold.psom.projection import Projection as Projection
from isthmus.manifold.psom.smooth import SmoothPSOM as SmoothPSOM
from isthmus.manifold.ukr.estimator import (
    UnsupervisedKernelRegression as UnsupervisedKernelRegression,
)
