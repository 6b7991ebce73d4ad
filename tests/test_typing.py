"""Words for what parts can do: declared, taken from scikit-learn's contract, composed."""

import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from isthmus.features import KernelPCA, SlowFeatureAnalysis
from isthmus.kernels import Delta, Gaussian, Linear, Normalized, Polynomial, Spectrum
from isthmus.typing import CAPABILITIES, missing, needs, provides, require


class Part:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def test_a_name_alone_proves_nothing():
    assert provides(Part(expand=3, axes_=None, transform="yes", kernel_=1)) == frozenset()
    assert "expansion" not in provides(SlowFeatureAnalysis(expansion=1))


def test_what_is_declared_counts():
    assert provides(Part(provides={"transform", "expansion"})) == {"transform", "expansion"}
    assert needs(Part(needs=["vectors"])) == {"vectors"}
    assert needs(Part()) == frozenset()


def test_words_that_nobody_knows_are_refused():
    with pytest.raises(ValueError, match=r"Part\.provides has unknown words: flies"):
        provides(Part(provides={"flies"}))
    with pytest.raises(TypeError, match=r"Part\.needs must be a set of words. Got 'vectors'"):
        needs(Part(needs="vectors"))


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (StandardScaler(), {"transform", "inverse"}),
        (PCA(), {"transform", "inverse"}),
        (Ridge(), {"predict", "several_outputs"}),
        (SVR(), {"predict"}),
        (PLSRegression(), {"transform", "inverse", "predict", "several_outputs", "supervised"}),
        (FrozenEstimator(KernelPCA(kernel="delta")), {"transform", "expansion", "objects"}),
        (make_pipeline(StandardScaler(), PCA()), {"transform", "inverse"}),
        (
            make_pipeline(KernelPCA(kernel=Spectrum(2)), PCA()),
            {"transform", "objects", "sequences"},
        ),
        (make_pipeline(StandardScaler(), PLSRegression()), {"transform", "supervised"}),
    ],
    ids=lambda part: "-".join(sorted(part)) if isinstance(part, set) else repr(part),
)
def test_others_are_known_by_their_contract(part, words):
    assert words <= provides(part)
    assert provides(part) <= set(CAPABILITIES)


@pytest.mark.parametrize(
    ("kernel", "has", "lacks"),
    [
        (Gaussian() + Linear(), {"gradient", "vectors"}, {"radial", "linear", "distances"}),
        (2 * Gaussian() + 1.0, {"gradient", "radial"}, {"distances"}),
        (Polynomial(2), {"gradient"}, {"inner_product"}),
        (Polynomial(3), {"inner_product", "distances"}, {"linear"}),
        (Normalized(Spectrum(2)), {"objects", "sequences"}, {"vectors", "gradient"}),
        (Delta(), {"objects"}, {"sequences", "gradient"}),
    ],
    ids=lambda part: "-".join(sorted(part)) if isinstance(part, set) else repr(part),
)
def test_kernels_compose_their_words(kernel, has, lacks):
    assert has <= kernel.provides
    assert not lacks & kernel.provides


def test_a_refusal_names_every_missing_word_and_what_it_means():
    part = Part(needs={"gradient", "vectors", "transform"})
    assert missing(needs(part), {"transform"}) == ["gradient", "vectors"]
    with pytest.raises(TypeError) as caught:
        require(part, {"transform"}, of="the map M", hint="Take another.")
    message = str(caught.value)
    for word in ("gradient", "vectors"):
        assert f"'{word}', that is, {CAPABILITIES[word]}" in message
    assert message.startswith("Part cannot use the map M")
    assert message.endswith("Take another.")
    require(part, {"transform", "gradient", "vectors"}, of="the map M")
