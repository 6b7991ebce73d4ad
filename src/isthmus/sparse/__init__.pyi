from isthmus.sparse.coder import SparseCoder as SparseCoder
from isthmus.sparse.dictionary.classifier import DictionaryClassifier as DictionaryClassifier
from isthmus.sparse.dictionary.ksvd.estimator import KSVD as KSVD
from isthmus.sparse.dictionary.ksvd.update import AtomUpdate as AtomUpdate
from isthmus.sparse.dictionary.learner import SparseDictionary as SparseDictionary
from isthmus.sparse.dictionary.net import SparseNet as SparseNet
from isthmus.sparse.factorization.convex import ConvexFactorization as ConvexFactorization
from isthmus.sparse.factorization.estimator import (
    NonnegativeFactorization as NonnegativeFactorization,
)
from isthmus.sparse.factorization.hoyer import HoyerSparseness as HoyerSparseness
from isthmus.sparse.factorization.hoyer import hoyer_projection as hoyer_projection
from isthmus.sparse.factorization.hoyer import hoyer_sparseness as hoyer_sparseness
from isthmus.sparse.factorization.nnls import nonnegative_least_squares as nonnegative_least_squares
from isthmus.sparse.factorization.nnls import simplex_least_squares as simplex_least_squares
from isthmus.sparse.factorization.penalties import ParkSparsity as ParkSparsity
from isthmus.sparse.inpainting import inpaint_image as inpaint_image
from isthmus.sparse.l1.feature_sign import CodeCertificate as CodeCertificate
from isthmus.sparse.l1.feature_sign import feature_sign_path as feature_sign_path
from isthmus.sparse.l1.feature_sign import feature_sign_search as feature_sign_search
from isthmus.sparse.patches import dct_dictionary as dct_dictionary
from isthmus.sparse.patches import denoise_image as denoise_image
from isthmus.sparse.pursuit.from_gram import PursuitPath as PursuitPath
from isthmus.sparse.pursuit.from_gram import gram_pursuit as gram_pursuit
from isthmus.sparse.pursuit.matching import matching_pursuit as matching_pursuit
from isthmus.sparse.pursuit.matching import (
    orthogonal_matching_pursuit as orthogonal_matching_pursuit,
)
