from isthmus.manifold.classifier import ManifoldClassifier as ManifoldClassifier
from isthmus.manifold.curves.estimator import PrincipalCurve as PrincipalCurve
from isthmus.manifold.domain import Domain as Domain
from isthmus.manifold.embedding.curvilinear import CurvilinearComponents as CurvilinearComponents
from isthmus.manifold.embedding.sammon import SammonMapping as SammonMapping
from isthmus.manifold.embedding.variance import (
    MaximumVarianceUnfolding as MaximumVarianceUnfolding,
)
from isthmus.manifold.gtm.basis import GaussianBasis as GaussianBasis
from isthmus.manifold.gtm.estimator import (
    GenerativeTopographicMapping as GenerativeTopographicMapping,
)
from isthmus.manifold.gtm.landscape import Landscape as Landscape
from isthmus.manifold.latent_map import BaseLatentMap as BaseLatentMap
from isthmus.manifold.latent_map import MapValues as MapValues
from isthmus.manifold.local.charting import Charting as Charting
from isthmus.manifold.local.estimator import LocalPCA as LocalPCA
from isthmus.manifold.measures.held_out import held_out_reconstruction as held_out_reconstruction
from isthmus.manifold.measures.ranks import NeighborhoodScores as NeighborhoodScores
from isthmus.manifold.measures.ranks import continuity as continuity
from isthmus.manifold.measures.ranks import coranking_matrix as coranking_matrix
from isthmus.manifold.measures.ranks import neighborhood_scores as neighborhood_scores
from isthmus.manifold.measures.ranks import trustworthiness as trustworthiness
from isthmus.manifold.projection import Projection as Projection
from isthmus.manifold.projection import Search as Search
from isthmus.manifold.psom.annealing import Annealing as Annealing
from isthmus.manifold.psom.estimator import PSOM as PSOM
from isthmus.manifold.psom.grid import grid_points as grid_points
from isthmus.manifold.psom.smooth import SmoothPSOM as SmoothPSOM
from isthmus.manifold.quantizers.estimator import KHarmonicMeans as KHarmonicMeans
from isthmus.manifold.regularized.estimator import (
    RegularizedPrincipalManifold as RegularizedPrincipalManifold,
)
from isthmus.manifold.ukr.estimator import (
    UnsupervisedKernelRegression as UnsupervisedKernelRegression,
)
from isthmus.manifold.ukr.pieces import Descent as Descent
from isthmus.manifold.ukr.pieces import FeatureSpace as FeatureSpace
from isthmus.manifold.ukr.pieces import Landmarks as Landmarks
from isthmus.manifold.ukr.pieces import LocalPolynomial as LocalPolynomial
from isthmus.manifold.ukr.pieces import Starts as Starts
