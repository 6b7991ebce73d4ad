from isthmus.manifold.classifier import ManifoldClassifier as ManifoldClassifier
from isthmus.manifold.domain import Domain as Domain
from isthmus.manifold.latent_map import BaseLatentMap as BaseLatentMap
from isthmus.manifold.latent_map import MapValues as MapValues
from isthmus.manifold.projection import Projection as Projection
from isthmus.manifold.projection import Search as Search
from isthmus.manifold.psom.annealing import Annealing as Annealing
from isthmus.manifold.psom.estimator import PSOM as PSOM
from isthmus.manifold.psom.grid import grid_points as grid_points
from isthmus.manifold.psom.smooth import SmoothPSOM as SmoothPSOM
from isthmus.manifold.ukr.estimator import (
    UnsupervisedKernelRegression as UnsupervisedKernelRegression,
)
from isthmus.manifold.ukr.pieces import Descent as Descent
from isthmus.manifold.ukr.pieces import FeatureSpace as FeatureSpace
from isthmus.manifold.ukr.pieces import Landmarks as Landmarks
from isthmus.manifold.ukr.pieces import LocalPolynomial as LocalPolynomial
from isthmus.manifold.ukr.pieces import Starts as Starts
