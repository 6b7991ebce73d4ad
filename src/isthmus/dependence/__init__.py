"""How strongly two spaces are tied: measures of dependence, and tests.

All of them take paired collections of objects (``mmd`` two samples), work with any kernel or with
distances, and are zero only under independence where kernel or exponent allow it.
"""

from isthmus.dependence._coco import coco
from isthmus.dependence._distance import (
    distance_correlation,
    distance_covariance,
    partial_distance_correlation,
)
from isthmus.dependence._hsic import cka, hsic
from isthmus.dependence._mmd import mmd

__all__ = [
    "cka",
    "coco",
    "distance_correlation",
    "distance_covariance",
    "hsic",
    "mmd",
    "partial_distance_correlation",
]
