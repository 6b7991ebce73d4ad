"""Few numbers for each signal: pursuits, dictionaries, and what they are good for.

Atoms are rows, like ``components_``: a signal is ``code @ dictionary``.
"""

from isthmus.sparse._classifier import DictionaryClassifier
from isthmus.sparse._coder import SparseCoder
from isthmus.sparse._convex import ConvexFactorization
from isthmus.sparse._dictionary import SparseDictionary
from isthmus.sparse._factorization import NonnegativeFactorization
from isthmus.sparse._factorization_penalties import ParkSparsity
from isthmus.sparse._feature_sign import Certificate, feature_sign_path, feature_sign_search
from isthmus.sparse._hoyer import HoyerSparseness, hoyer_projection, hoyer_sparseness
from isthmus.sparse._ksvd import KSVD
from isthmus.sparse._nnls import nonnegative_least_squares, simplex_least_squares
from isthmus.sparse._patches import dct_dictionary, denoise_image, inpaint_image
from isthmus.sparse._pursuit import matching_pursuit, orthogonal_matching_pursuit
from isthmus.sparse._sparse_net import SparseNet

__all__ = [
    "KSVD",
    "Certificate",
    "ConvexFactorization",
    "DictionaryClassifier",
    "HoyerSparseness",
    "NonnegativeFactorization",
    "ParkSparsity",
    "SparseCoder",
    "SparseDictionary",
    "SparseNet",
    "dct_dictionary",
    "denoise_image",
    "feature_sign_path",
    "feature_sign_search",
    "hoyer_projection",
    "hoyer_sparseness",
    "inpaint_image",
    "matching_pursuit",
    "nonnegative_least_squares",
    "orthogonal_matching_pursuit",
    "simplex_least_squares",
]
