"""Every transformer keeps the contract of feature maps, and so does a stranger's."""

import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA

from isthmus.features import (
    CandidPCA,
    DistanceCorrelationReduction,
    GradientKernelReduction,
    KernelPCA,
    LikelihoodAcquiredDirections,
    MinorComponents,
    SlicedAverageVariance,
    SlicedInverseRegression,
    SlowFeatureAnalysis,
    Whitening,
)
from isthmus.kernels import (
    Gaussian,
    GlobalAlignment,
    Laplacian,
    Linear,
    MarginalizedGraph,
    Normalized,
    Polynomial,
    Precomputed,
    Spectrum,
)
from isthmus.manifold import (
    PSOM,
    Charting,
    CurvilinearComponents,
    GenerativeTopographicMapping,
    KHarmonicMeans,
    LocalPCA,
    MaximumVarianceUnfolding,
    PrincipalCurve,
    RegularizedPrincipalManifold,
    SammonMapping,
    SmoothPSOM,
    UnsupervisedKernelRegression,
)
from isthmus.preimage import LearnedPreimage
from isthmus.regression import SupportFeatureMachine
from isthmus.sparse import (
    KSVD,
    ConvexFactorization,
    NonnegativeFactorization,
    SparseCoder,
    SparseDictionary,
    SparseNet,
)
from isthmus.testing import all_estimators, check_feature_map
from isthmus.typing import provides

from .data import CLASSES, CURVE, GRAM, MOLECULES, NETWORKS, OUTPUTS, SERIES, VECTORS, WORDS, name
from .foreign import LandmarkMap, SquashedMap, WordLandmarkMap

UKR = {"init": "pca", "homotopy": None, "random_state": 0}

UNSUPERVISED = [
    *(
        (feature_map, VECTORS)
        for feature_map in (
            KernelPCA(),
            KernelPCA(3, kernel=Gaussian(1.0), center=False),
            KernelPCA(kernel=Linear()),
            KernelPCA(0.9, kernel=Polynomial(2)),
            KernelPCA(5, kernel=Laplacian()),
            KernelPCA(5, n_landmarks=12, random_state=0),
            KernelPCA(5, preimage=LearnedPreimage()),
            SlowFeatureAnalysis(2),
            SlowFeatureAnalysis(2, expansion=2),
            SlowFeatureAnalysis(2, expansion="gaussian", n_landmarks=8, random_state=0),
            Whitening(),
            CandidPCA(2),
            MinorComponents(2),
            MinorComponents(2, solver="online", random_state=0),
            SparseCoder(alpha=1e-2),
            KSVD(4, n_nonzero=2, max_iter=3, random_state=0),
            SparseDictionary(4, alpha=1e-2, max_iter=3, random_state=0),
            SparseNet(4, max_iter=5, random_state=0),
            NonnegativeFactorization(2, random_state=0),
            ConvexFactorization(2, random_state=0),
            PCA(2),
            KHarmonicMeans(3, random_state=0),
            LandmarkMap(),
            SquashedMap(),
        )
    ),
    *(
        (manifold, CURVE)
        for manifold in (
            UnsupervisedKernelRegression(1, **UKR),
            UnsupervisedKernelRegression(1, data_kernel="gaussian", **UKR),
            SmoothPSOM((6,), random_state=0),
            GenerativeTopographicMapping(1, n_nodes=20),
            PSOM(CURVE[::6], grid=(5,)),
            PrincipalCurve(random_state=0),
            Charting(1),
            LocalPCA(1),
            RegularizedPrincipalManifold(1),
            SammonMapping(1, random_state=0),
            CurvilinearComponents(1, random_state=0),
            MaximumVarianceUnfolding(1, random_state=0),
        )
    ),
    (KernelPCA(kernel="precomputed"), GRAM),
    (KernelPCA(4, kernel=Precomputed(GRAM)), range(30)),
    (KernelPCA(kernel=Spectrum(2)), WORDS),
    (KernelPCA(4, kernel=Normalized(Spectrum(2)), n_landmarks=8, random_state=0), WORDS),
    (UnsupervisedKernelRegression(1, data_kernel=Spectrum(2), **UKR), WORDS),
    (SlowFeatureAnalysis(2, expansion=Spectrum(2), n_landmarks=8, random_state=0), WORDS),
    (WordLandmarkMap(Spectrum(2)), WORDS),
    (KernelPCA(kernel=GlobalAlignment()), SERIES),
    (KernelPCA(kernel=MarginalizedGraph(0.3)), MOLECULES),
    (KernelPCA(kernel=MarginalizedGraph(0.3)), NETWORKS),
]
SUPERVISED = [
    (SlowFeatureAnalysis(1, graph="classes"), CLASSES),
    (SlowFeatureAnalysis(1, graph="target"), OUTPUTS[:, 0]),
    (DistanceCorrelationReduction(2), OUTPUTS),
    (DistanceCorrelationReduction(1, solver="gradient"), OUTPUTS[:, 0]),
    (SlicedInverseRegression(2), OUTPUTS),
    (SlicedAverageVariance(2), OUTPUTS),
    (LikelihoodAcquiredDirections(2), OUTPUTS[:, 0]),
    (GradientKernelReduction(2), OUTPUTS),
    (SupportFeatureMachine(), CLASSES),
    (PLSRegression(2), OUTPUTS),
]
# Transformers that are no maps of single objects, with the reason.
LEFT_OUT = {
    "TimeWindows": "a window is made of neighbouring rows",
    "PoseFeatures": "it takes pictures; tests/robotics has some",
}

small = pytest.mark.filterwarnings("ignore:SlowFeatureAnalysis has .* independent functions")


@small
@pytest.mark.parametrize(("feature_map", "objects"), UNSUPERVISED, ids=name)
def test_feature_map(feature_map, objects):
    objects = list(objects) if isinstance(objects, range) else objects
    facts = check_feature_map(feature_map, objects).facts
    assert ("axes_ gives the coordinates" in facts) == ("expansion" in provides(feature_map))


@small
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("feature_map", "y"), SUPERVISED, ids=name)
def test_supervised_feature_map(feature_map, y):
    facts = check_feature_map(feature_map, VECTORS, y).facts
    assert "a supervised map learns from y" in facts


def test_no_transformer_is_left_out():
    transformers = {e.name for e in all_estimators() if hasattr(e.cls, "transform")}
    checked = {type(part).__name__ for part, _ in UNSUPERVISED + SUPERVISED}
    assert transformers <= checked | LEFT_OUT.keys()
    assert not checked & LEFT_OUT.keys()
