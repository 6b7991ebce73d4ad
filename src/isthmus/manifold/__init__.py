"""Manifolds with both directions: coordinates of things, and things from coordinates."""

from isthmus.manifold._classifier import ManifoldClassifier
from isthmus.manifold._psom import PSOM
from isthmus.manifold._psom_grid import grid_points
from isthmus.manifold._psom_project import Projection
from isthmus.manifold._psom_smooth import SmoothPSOM
from isthmus.manifold._ukr import UnsupervisedKernelRegression

__all__ = [
    "PSOM",
    "ManifoldClassifier",
    "Projection",
    "SmoothPSOM",
    "UnsupervisedKernelRegression",
    "grid_points",
]
