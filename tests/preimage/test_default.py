"""Which pre-image a kernel or a feature map gets if none is named."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus.features import KernelPCA, SlowFeatureAnalysis
from isthmus.kernels import (
    ARD,
    Delta,
    DTWKernel,
    Exponential,
    FunctionKernel,
    Gaussian,
    GlobalAlignment,
    HistogramIntersection,
    Laplacian,
    Linear,
    MarginalizedGraph,
    MarginalizedSequence,
    Matern,
    Normalized,
    Polynomial,
    Spectrum,
)
from isthmus.preimage import default_preimage
from isthmus.structured import DependencyEstimator

# With all of their parameters at the defaults.
DEFAULTS = [
    (Linear(), "AnalyticPreimage()"),
    (Gaussian(), "FixedPointPreimage()"),
    (Gaussian(2.0), "FixedPointPreimage()"),
    (Polynomial(3), "LearnedPreimage()"),
    (Polynomial(2), "LearnedPreimage()"),
    (Exponential(), "LearnedPreimage()"),
    (Laplacian(), "LearnedPreimage()"),
    (HistogramIntersection(), "LearnedPreimage()"),
    (Matern(), "LearnedPreimage()"),
    (ARD(Gaussian()), "LearnedPreimage()"),
    (Gaussian() + Linear(), "LearnedPreimage()"),
    (Normalized(Linear()), "LearnedPreimage()"),
    (FunctionKernel(np.inner, on_vectors=True), "LearnedPreimage()"),
    (Delta(), "CandidatePreimage()"),
    (Spectrum(2), "CandidatePreimage()"),
    (MarginalizedSequence(), "CandidatePreimage()"),
    (MarginalizedGraph(), "CandidatePreimage()"),
    (DTWKernel(), "CandidatePreimage()"),
    (GlobalAlignment(), "CandidatePreimage()"),
    (FunctionKernel(len), "CandidatePreimage()"),
]
VECTORS = [(Linear(), "Analytic"), (Gaussian(5.0), "FixedPoint"), (Polynomial(3), "Learned")]
VECTORS += [(Laplacian(2.0), "Learned"), (HistogramIntersection(), "Learned")]


@pytest.mark.parametrize(("kernel", "expected"), DEFAULTS, ids=lambda part: type(part).__name__)
def test_by_what_the_kernel_provides(kernel, expected):
    assert str(default_preimage(kernel)) == expected
    assert str(default_preimage(KernelPCA(kernel=kernel))) == expected


def test_other_feature_maps_are_told_by_their_words_and_then_by_the_data():
    assert str(default_preimage(SlowFeatureAnalysis(expansion=2))) == "LearnedPreimage()"
    words = SlowFeatureAnalysis(expansion=Spectrum(2))
    assert str(default_preimage(words)) == "CandidatePreimage()"
    pipeline = make_pipeline(StandardScaler(), KernelPCA(kernel="linear"))
    assert str(default_preimage(pipeline, vectors=True)) == "LearnedPreimage()"
    assert str(default_preimage(pipeline, vectors=False)) == "CandidatePreimage()"
    assert str(default_preimage(None, vectors=True)) == "LearnedPreimage()"


@pytest.mark.parametrize(("kernel", "name"), VECTORS, ids=lambda part: type(part).__name__)
def test_estimators_use_it(kernel, name, points, rng):
    pca = KernelPCA(kernel=kernel).fit(points)
    coordinates = 0.5 * (pca.transform(points[:5]) + pca.transform(points[5:10]))
    solver = default_preimage(kernel).fit(points, pca, pca.coordinates_)
    assert_array_equal(pca.inverse_transform(coordinates), solver.solve(coordinates))
    model = DependencyEstimator(y_features=kernel).fit(rng.normal(size=(len(points), 2)), points)
    assert type(model.preimage_).__name__ == f"{name}Preimage"


def test_labels_come_back_as_labels(rng):
    model = DependencyEstimator(y_features="delta").fit(rng.normal(size=(6, 2)), list("aabbcc"))
    assert type(model.preimage_).__name__ == "CandidatePreimage"
