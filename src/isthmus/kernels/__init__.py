"""Similarity of things: one kernel system for every type of object.

A kernel is a callable piece: ``k(X, Z=None)`` is the Gram matrix, ``k.diag(X)`` its
diagonal, ``k.blocks(X, Z)`` the same row block by row block. Kernels add and multiply.
What type of object is compared is the kernel's business and nobody else's.
"""

from isthmus.kernels._algebra import Constant, Product, Scaled, Sum
from isthmus.kernels._alignment import GlobalAlignment
from isthmus.kernels._alignment_distance import DistanceKernel, DTWKernel
from isthmus.kernels._ard import ARD
from isthmus.kernels._base import Kernel
from isthmus.kernels._closures import Convolution, DirectSum, Tensor
from isthmus.kernels._columns import Columns
from isthmus.kernels._delta import Delta
from isthmus.kernels._dot import Exponential, Linear, Polynomial
from isthmus.kernels._fisher import FisherKernel
from isthmus.kernels._function import FunctionKernel
from isthmus.kernels._gaussian import Gaussian
from isthmus.kernels._graphs import LabelledGraph, split_graphs
from isthmus.kernels._histogram import HistogramIntersection
from isthmus.kernels._laplacian import Laplacian
from isthmus.kernels._marginalized_graph import MarginalizedGraph
from isthmus.kernels._marginalized_sequence import MarginalizedSequence
from isthmus.kernels._neural import NeuralNetwork
from isthmus.kernels._normalized import Normalized
from isthmus.kernels._objects import check_collection, check_objects, object_array, take
from isthmus.kernels._precomputed import Precomputed
from isthmus.kernels._resolve import as_kernel
from isthmus.kernels._spectrum_repair import SpectrumRepair, repaired_spectrum
from isthmus.kernels._stationary import GammaExponential, Matern, RationalQuadratic
from isthmus.kernels._strings import Spectrum, Subsequence
from isthmus.kernels._to_sklearn import ToSklearn
from isthmus.kernels._transformed import Transformed

__all__ = [
    "ARD",
    "Columns",
    "Constant",
    "Convolution",
    "DTWKernel",
    "Delta",
    "DirectSum",
    "DistanceKernel",
    "Exponential",
    "FisherKernel",
    "FunctionKernel",
    "GammaExponential",
    "Gaussian",
    "GlobalAlignment",
    "HistogramIntersection",
    "Kernel",
    "LabelledGraph",
    "Laplacian",
    "Linear",
    "MarginalizedGraph",
    "MarginalizedSequence",
    "Matern",
    "NeuralNetwork",
    "Normalized",
    "Polynomial",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Spectrum",
    "SpectrumRepair",
    "Subsequence",
    "Sum",
    "Tensor",
    "ToSklearn",
    "Transformed",
    "as_kernel",
    "check_collection",
    "check_objects",
    "object_array",
    "repaired_spectrum",
    "split_graphs",
    "take",
]
