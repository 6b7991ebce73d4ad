from isthmus.features.components.minor import MinorComponents as MinorComponents
from isthmus.features.components.streams import CandidPCA as CandidPCA
from isthmus.features.components.whitening import Whitening as Whitening
from isthmus.features.distance_correlation.estimator import (
    DistanceCorrelationReduction as DistanceCorrelationReduction,
)
from isthmus.features.kernel_pca.estimator import KernelPCA as KernelPCA
from isthmus.features.slow.estimator import SlowFeatureAnalysis as SlowFeatureAnalysis
from isthmus.features.sufficient.gradient import (
    GradientKernelReduction as GradientKernelReduction,
)
from isthmus.features.sufficient.likelihood import (
    LikelihoodAcquiredDirections as LikelihoodAcquiredDirections,
)
from isthmus.features.sufficient.sliced import SlicedAverageVariance as SlicedAverageVariance
from isthmus.features.sufficient.sliced import SlicedInverseRegression as SlicedInverseRegression
