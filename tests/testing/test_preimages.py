"""Every pre-image keeps its contract, and refuses by itself what it cannot use."""

import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA

from isthmus.features import KernelPCA
from isthmus.kernels import (
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    MarginalizedGraph,
    MarginalizedSequence,
    Normalized,
    Polynomial,
    Spectrum,
)
from isthmus.preimage import (
    AnalyticPreimage,
    CandidatePreimage,
    ConstrainedPreimage,
    FixedPointPreimage,
    GradientPreimage,
    GraphPreimage,
    LearnedPreimage,
    MinimumRiskPreimage,
    NeighborPreimage,
    SequencePreimage,
)
from isthmus.testing import all_estimators, check_preimage
from isthmus.testing.preimage import NarrowMap
from isthmus.typing import CAPABILITIES, OBJECT_KINDS, needs

from .data import MOLECULES, PLANE, SERIES, WORDS, name
from .foreign import LandmarkMap, MeanPreimage, NearestPreimage, SquashedMap, WordLandmarkMap


def letters_apart(answer, truth):
    """A loss as a function of two objects."""
    return float(len(set(answer) ^ set(truth)))


GAUSSIAN = KernelPCA(kernel=Gaussian(5.0))
EXACT = [
    (GradientPreimage(), PLANE, GAUSSIAN),
    (GradientPreimage("coord"), PLANE, GAUSSIAN),
    (GradientPreimage(), PLANE, KernelPCA(kernel=Polynomial(3))),
    (GradientPreimage(), PLANE, LandmarkMap()),
    (FixedPointPreimage(), PLANE, GAUSSIAN),
    (FixedPointPreimage(criterion="full"), PLANE, KernelPCA(kernel=2 * Gaussian(5.0))),
    (FixedPointPreimage(criterion="full"), PLANE, LandmarkMap()),
    (ConstrainedPreimage(), PLANE, GAUSSIAN),
    (ConstrainedPreimage((0.0, 1.0)), PLANE, GAUSSIAN),
    (CandidatePreimage(), PLANE, GAUSSIAN),
    (CandidatePreimage(), PLANE, PCA(2)),
    (CandidatePreimage(), PLANE, SquashedMap()),
    (CandidatePreimage(), WORDS, KernelPCA(kernel=Spectrum(2))),
    (CandidatePreimage(criterion="full"), PLANE, GAUSSIAN),
    (CandidatePreimage(criterion="full"), WORDS, KernelPCA(kernel=Spectrum(2))),
    (CandidatePreimage(), SERIES, KernelPCA(kernel="delta")),
    (AnalyticPreimage(), PLANE, KernelPCA(kernel=Linear())),
    (SequencePreimage(patience=2), WORDS[:12], KernelPCA(kernel=Spectrum(2))),
    (SequencePreimage(patience=2), WORDS[:12], KernelPCA(kernel=MarginalizedSequence(0.3))),
    (SequencePreimage(patience=2), WORDS[:12], WordLandmarkMap(Spectrum(2))),
    (GraphPreimage(patience=2), MOLECULES, KernelPCA(kernel=MarginalizedGraph(0.3))),
    (GraphPreimage(patience=2), MOLECULES, KernelPCA(kernel=Normalized(MarginalizedGraph(0.3)))),
    (NearestPreimage(), PLANE, GAUSSIAN),
    (NearestPreimage(), PLANE, SquashedMap()),
    (MinimumRiskPreimage("squared"), PLANE, None),
    (MinimumRiskPreimage("absolute"), PLANE, None),
    (MinimumRiskPreimage("zero_one"), WORDS, KernelPCA(kernel=Spectrum(2))),
    (MinimumRiskPreimage(letters_apart), WORDS, KernelPCA(kernel=Spectrum(2))),
    (MeanPreimage(), PLANE, None),
]
# They do not minimise their objective, and say so.
APPROXIMATE = [
    (AnalyticPreimage(), PLANE, KernelPCA(kernel=Polynomial(3))),
    (AnalyticPreimage(), PLANE, KernelPCA(kernel=Exponential(1.0))),
    (NeighborPreimage(), PLANE, GAUSSIAN),
    (NeighborPreimage(distance="angle"), PLANE, LandmarkMap()),
    (NeighborPreimage(5, distance="coordinates"), PLANE, GAUSSIAN),
    (NeighborPreimage(5), PLANE, PCA(2)),
    (LearnedPreimage(), PLANE, GAUSSIAN),
    (LearnedPreimage(alpha=1e-6), PLANE, KernelPCA(kernel=Laplacian(1.0))),
    (LearnedPreimage(), PLANE, SquashedMap()),
    (LearnedPreimage(), PLANE, LandmarkMap()),
]


@pytest.mark.parametrize(("preimage", "objects", "feature_map"), EXACT, ids=name)
def test_preimage(preimage, objects, feature_map):
    facts = check_preimage(preimage, objects, feature_map).facts
    assert "what is found is no worse than any object it was fitted on" in facts


@pytest.mark.parametrize(("preimage", "objects", "feature_map"), APPROXIMATE, ids=name)
def test_approximate_preimage(preimage, objects, feature_map):
    facts = check_preimage(preimage, objects, feature_map, approximate=True).facts
    assert "what is found is better than an object taken at random" in facts


OURS = [part for part in EXACT + APPROXIMATE if type(part[0]).__module__ == "isthmus.preimage"]


@pytest.mark.parametrize(("preimage", "objects", "feature_map"), OURS, ids=name)
def test_ours_refuse_by_themselves_what_they_cannot_use(preimage, objects, feature_map):
    fitted = clone(feature_map or GAUSSIAN).fit(objects)
    kinds = {"vectors"} if objects is PLANE else {"objects", "sequences", "graphs"}
    # Weights come from the regressor, not from the map.
    for word in needs(preimage) - OBJECT_KINDS - {"weights"}:
        narrow = NarrowMap(fitted, (needs(preimage) | kinds) - {word})
        with pytest.raises(TypeError, match=f"does not provide '{word}', that is, "):
            clone(preimage).fit(objects, narrow)
    assert needs(preimage) <= set(CAPABILITIES)


def test_no_preimage_is_left_out():
    assert {e.cls for e in all_estimators("preimage")} <= {type(p[0]) for p in EXACT + APPROXIMATE}
