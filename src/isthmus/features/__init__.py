"""φ: things to coordinates."""

from isthmus.features._distance_correlation import DistanceCorrelationReduction
from isthmus.features._kernel_pca import KernelPCA
from isthmus.features._slow import SlowFeatureAnalysis

__all__ = ["DistanceCorrelationReduction", "KernelPCA", "SlowFeatureAnalysis"]
