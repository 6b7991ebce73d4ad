"""Shapes and checks of the real sets; skipped, each with its reason, where they are absent."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus import datasets

SHAPES = {
    "load_usps": {
        "X_train": (7291, 256),
        "y_train": (7291,),
        "X_test": (2007, 256),
        "y_test": (2007,),
    },
    "load_usps_roweis": {"X": (11000, 256), "y": (11000,)},
    "load_oilflow": {"X_train": (1000, 12), "y_valid": (1000,), "fractions_test": (1000, 2)},
    "load_cbcl_faces": {"X": (2429, 361), "images": (2429, 19, 19)},
    "load_olivetti": {"X": (400, 4096), "images": (400, 64, 64), "subject": (400,)},
    "load_poser": {
        "X_train": (1927, 100),
        "Y_train": (1927, 63),
        "X_test": (418, 100),
        "Y_test": (418, 63),
    },
    "load_letter": {
        "X_train": (16000, 16),
        "y_train": (16000,),
        "X_test": (4000, 16),
        "y_test": (4000,),
    },
    "load_abalone": {
        "X_train": (3133, 8),
        "y_train": (3133,),
        "X_test": (1044, 8),
        "y_test": (1044,),
    },
    "load_pumadyn": {"X": (8192, 32), "y": (8192,)},
    "load_kin8nm": {"X": (8192, 8), "y": (8192,)},
    "load_boston": {"X": (506, 13), "y": (506,)},
    "load_music_origin": {"X": (1059, 116), "Y": (1059, 2), "country": (1059,)},
    "load_blogfeedback": {"X_train": (52397, 280), "y_test": (7624,), "test_day": (7624,)},
    "load_uji_indoor": {"X_train": (19937, 520), "Y_train": (19937, 2), "Y_test": (1111, 2)},
    "load_ct_slices": {"X": (757, 384), "y": (757,), "patient": (757,)},
    "load_mutag": {"edges": (3721, 2), "node_label": (3371,), "graph_label": (188,)},
    "load_leukemia": {"X": (5000, 38), "label": (38,)},
    "load_ap_text": {"X": (2246, 10473), "terms": (10473,)},
    "load_baseball": {"X": (18,), "y": (18,), "frame": (18, 7)},
    "load_unmixing": {"X": (10000, 221), "spectra": (221, 9), "abundance": (100, 100, 9)},
    "load_cmu_mocap": {"X": (7769, 810), "Y": (7769, 60), "action": (7769,)},
}
IDA_SHAPES = {
    "banana": (5300, 2), "breast_cancer": (277, 9), "diabetis": (768, 8),
    "flare_solar": (1066, 9), "german": (1000, 20), "heart": (270, 13), "image": (2310, 18),
    "splice": (3175, 60), "thyroid": (215, 5), "titanic": (2201, 3), "twonorm": (7400, 20),
    "waveform": (5000, 21),
}  # fmt: skip

needs_data = pytest.mark.skipif(
    not datasets.is_available("SHA256SUMS"),
    reason="real data: set ISTHMUS_DATA to the folder of the data sets",
)


@needs_data
@pytest.mark.parametrize("loader", SHAPES)
def test_a_real_set_has_the_documented_shapes(loader):
    bunch = getattr(datasets, loader)()
    assert {key: bunch[key].shape for key in SHAPES[loader]} == SHAPES[loader]


@needs_data
@pytest.mark.parametrize("name", datasets.IDA_NAMES)
def test_an_ida_set_has_the_documented_shape_and_labels(name):
    bunch = datasets.load_ida(name)
    assert bunch.X.shape == IDA_SHAPES[name]
    assert_array_equal(np.unique(bunch.y), [-1, 1])


@needs_data
def test_pixels_lie_in_the_documented_ranges():
    usps = datasets.load_usps()
    assert_allclose([usps.X_train.min(), usps.X_train.max()], [-1, 1])
    for faces in (datasets.load_olivetti(), datasets.load_cbcl_faces()):
        assert 0 <= faces.X.min() < 0.2
        assert 0.8 < faces.X.max() <= 1


@needs_data
def test_mixed_pixels_are_mixtures_of_nine_spectra():
    unmixing = datasets.load_unmixing()
    assert_allclose(unmixing.abundance.sum(axis=-1), 1, atol=1e-5)
    assert np.linalg.matrix_rank(unmixing.X.astype(float), rtol=1e-5) == 9


def test_every_loader_of_a_real_set_is_checked_here():
    shipped = {"load_digits_completion", "load_noisy_digits", "load_ida"}
    loaders = {name for name in datasets.__all__ if name.startswith("load_")}
    assert loaders - shipped == set(SHAPES)
