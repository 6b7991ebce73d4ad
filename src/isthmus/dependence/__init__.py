"""How strongly two spaces are tied: measures of dependence, and tests.

All of them take paired collections of objects (``mmd`` and ``two_sample_test`` two samples), work
with any kernel or with distances, and are zero only under independence where kernel or exponent
allow it.
"""

from isthmus.dependence._coco import coco
from isthmus.dependence._distance import (
    distance_correlation,
    distance_covariance,
    partial_distance_correlation,
)
from isthmus.dependence._hsic import cka, hsic
from isthmus.dependence._matrix import dependence_matrix
from isthmus.dependence._mmd import mmd
from isthmus.dependence._testing import DependenceTest, independence_test, two_sample_test

__all__ = [
    "DependenceTest",
    "cka",
    "coco",
    "dependence_matrix",
    "distance_correlation",
    "distance_covariance",
    "hsic",
    "independence_test",
    "mmd",
    "partial_distance_correlation",
    "two_sample_test",
]
