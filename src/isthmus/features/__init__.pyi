from isthmus.features.distance_correlation.estimator import (
    DistanceCorrelationReduction as DistanceCorrelationReduction,
)
from isthmus.features.kernel_pca.estimator import KernelPCA as KernelPCA
from isthmus.features.slow.estimator import SlowFeatureAnalysis as SlowFeatureAnalysis
