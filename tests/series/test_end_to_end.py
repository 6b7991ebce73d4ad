"""Series and sequences through the whole square."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from isthmus.datasets import make_cylinder_bell_funnel, make_strings, make_warped_shapes
from isthmus.features import KernelPCA
from isthmus.kernels import (
    Delta,
    DistanceKernel,
    DTWKernel,
    FisherKernel,
    GlobalAlignment,
    Normalized,
    Spectrum,
    SpectrumRepair,
    Subsequence,
)
from isthmus.series import HiddenMarkovModel, edit_matrix
from isthmus.structured import DependencyEstimator


@pytest.mark.parametrize(
    ("kernel", "share"),
    [
        (GlobalAlignment(), 0.75),
        (GlobalAlignment(triangle=25), 0.75),
        (SpectrumRepair(DTWKernel()), 0.9),
        (SpectrumRepair(DTWKernel(), method="flip"), 0.9),
        (FisherKernel(HiddenMarkovModel(4, max_iter=10)), 0.5),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_series_to_class_strings(kernel, share):
    X, words = make_warped_shapes(48, length=40, random_state=0)
    Z, meant = make_warped_shapes(40, length=40, random_state=1)
    model = DependencyEstimator(x_features=kernel, y_features=Delta()).fit(X, words)
    assert np.mean(model.predict(Z) == np.array(meant)) >= share


def test_series_to_words_compared_by_letters():
    X, words = make_cylinder_bell_funnel(30, length=40, random_state=0)
    model = DependencyEstimator(
        x_features=SpectrumRepair(DTWKernel()), y_features=Normalized(Spectrum(2))
    )
    read = model.fit(list(X), words).predict(list(X[:9]))
    assert np.mean(read == np.array(words[:9])) > 0.8


@pytest.mark.parametrize(
    "kernel",
    [
        Normalized(Spectrum(2)),
        Normalized(Subsequence(2, decay=0.5)),
        SpectrumRepair(DistanceKernel(edit_matrix)),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_misspelt_words_are_read(kernel):
    noisy, clean = make_strings(80, noise=0.2, random_state=0)
    spelt, meant = make_strings(50, noise=0.2, random_state=1)
    model = DependencyEstimator(x_features=kernel, y_features=Delta()).fit(noisy, clean)
    assert np.mean(model.predict(spelt) == np.array(meant)) > 0.9


def test_lists_of_series_are_cross_validated():
    X, words = make_warped_shapes(24, length=20, random_state=0)
    model = DependencyEstimator(x_features=GlobalAlignment(), y_features=Delta())
    assert len(cross_val_score(model, X, words, cv=3)) == 3


def test_a_nan_at_predict_time_is_named():
    X, words = make_warped_shapes(12, length=20, random_state=0)
    model = DependencyEstimator(x_features=GlobalAlignment(), y_features=Delta()).fit(X, words)
    X[3][7] = np.nan
    with pytest.raises(ValueError, match=r"series 3 of X\. Got nan at position 7"):
        model.predict(X)


def test_landmarks_of_series():
    X, _ = make_warped_shapes(40, length=20, random_state=0)
    pca = KernelPCA(3, kernel=GlobalAlignment(), n_landmarks=15, random_state=0)
    assert pca.fit_transform(X).shape == (40, 3)


def test_generators_are_seeded_and_warped():
    for make in (make_warped_shapes, make_cylinder_bell_funnel):
        first, second = make(8, random_state=3), make(8, random_state=3)
        assert all(np.array_equal(a, b) for a, b in zip(first[0], second[0], strict=True))
        assert first[1] == second[1]
    lengths = {len(x) for x in make_warped_shapes(20, random_state=0)[0]}
    assert len(lengths) > 3
    assert make_warped_shapes(2, n_channels=3, random_state=0)[0][0].shape[1] == 3
