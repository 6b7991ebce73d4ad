"""Similarity of things: one kernel system for every type of object.

A kernel is a callable piece: ``k(X, Z=None)`` is the Gram matrix, ``k.diag(X)`` its
diagonal, ``k.blocks(X, Z)`` the same row block by row block. Kernels add and multiply.
What type of object is compared is the kernel's business and nobody else's.
"""

from isthmus.kernels._algebra import Constant, Product, Scaled, Sum
from isthmus.kernels._base import Kernel
from isthmus.kernels._delta import Delta
from isthmus.kernels._dot import Exponential, Linear, Polynomial
from isthmus.kernels._function import FunctionKernel
from isthmus.kernels._gaussian import Gaussian
from isthmus.kernels._histogram import HistogramIntersection
from isthmus.kernels._laplacian import Laplacian
from isthmus.kernels._normalized import Normalized
from isthmus.kernels._objects import check_collection, check_objects, object_array, take
from isthmus.kernels._precomputed import Precomputed
from isthmus.kernels._resolve import as_kernel

__all__ = [
    "Constant",
    "Delta",
    "Exponential",
    "FunctionKernel",
    "Gaussian",
    "HistogramIntersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "as_kernel",
    "check_collection",
    "check_objects",
    "object_array",
    "take",
]
