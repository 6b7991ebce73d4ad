"""Parts of others work in every slot that asks for no more than they offer."""

import numpy as np
import pytest
from sklearn.base import clone

from isthmus.features import KernelPCA
from isthmus.kernels import Spectrum, as_kernel
from isthmus.manifold import ManifoldClassifier, UnsupervisedKernelRegression
from isthmus.preimage import (
    AnalyticPreimage,
    CandidatePreimage,
    ConstrainedPreimage,
    FixedPointPreimage,
    GradientPreimage,
    LearnedPreimage,
    NeighborPreimage,
    SequencePreimage,
)
from isthmus.reduction import compress
from isthmus.regression import KernelRidgeCV, StiefelRegression
from isthmus.structured import DependencyEstimator
from isthmus.typing import provides

from .data import CURVE, OUTPUTS, VECTORS, WORDS, name
from .foreign import (
    Circle,
    CosineKernel,
    FairLoss,
    LandmarkMap,
    MeanPreimage,
    NearestPreimage,
    NeighborMean,
    PlainMean,
    PoissonLoss,
    RidgeMachine,
    SquashedMap,
    WordLandmarkMap,
)

X, Y = VECTORS, OUTPUTS


def score(**slots):
    return DependencyEstimator(**slots).fit(X, Y).score(X, Y)


@pytest.mark.parametrize("part", [SquashedMap(), LandmarkMap(16), CosineKernel()], ids=name)
def test_features_of_the_inputs(part):
    assert score(x_features=part) > 0.9


def test_a_plain_class_is_a_kernel_of_what_it_says():
    assert provides(as_kernel(CosineKernel())) == {"vectors"}
    assert KernelPCA(2, kernel=CosineKernel()).fit_transform(X).shape == (30, 2)


@pytest.mark.parametrize("part", [LandmarkMap(12), SquashedMap(), CosineKernel()], ids=name)
def test_features_of_the_outputs_with_the_default_preimage(part):
    assert score(y_features=part) > 0.8


@pytest.mark.parametrize(
    "preimage",
    [
        GradientPreimage(),
        GradientPreimage("coord"),
        FixedPointPreimage(),
        FixedPointPreimage(criterion="full"),
        NeighborPreimage(),
        NeighborPreimage(distance="angle"),
        LearnedPreimage(),
        CandidatePreimage(),
        CandidatePreimage(criterion="full"),
        ConstrainedPreimage(),
        NearestPreimage(),
    ],
    ids=name,
)
def test_every_preimage_that_asks_for_no_more_takes_a_stranger_s_map(preimage):
    assert score(y_features=LandmarkMap(12), preimage=preimage) > 0.7


@pytest.mark.parametrize(
    ("features", "preimage", "word"),
    [
        (LandmarkMap(), AnalyticPreimage(), "inner_product"),
        (LandmarkMap(), SequencePreimage(), "objects"),
        (SquashedMap(), GradientPreimage(), "expansion"),
        (SquashedMap(), MeanPreimage(), "weights"),
    ],
    ids=name,
)
def test_what_asks_for_more_is_refused_by_name(features, preimage, word):
    slots = {"y_features": features, "preimage": preimage, "regressor": StiefelRegression()}
    with pytest.raises(TypeError, match=f"does not provide .*'{word}', that is, "):
        score(**slots)


def test_words_through_a_stranger_s_map():
    lengths = np.array([[float(len(word))] for word in WORDS])
    model = DependencyEstimator(y_features=WordLandmarkMap(Spectrum(2), 12))
    assert set(model.fit(lengths, WORDS).predict(lengths)) <= set(WORDS)
    inputs = DependencyEstimator(x_features=WordLandmarkMap(Spectrum(2), 12)).fit(WORDS, lengths)
    assert inputs.score(WORDS, lengths) > 0.5


@pytest.mark.parametrize(
    "regressor", [KernelRidgeCV("gaussian", alpha=0.1), NeighborMean(1)], ids=name
)
def test_weights_of_a_smoother_reach_the_preimage_that_asks_for_them(regressor):
    model = DependencyEstimator(
        x_features="passthrough", y_features=KernelPCA(2), regressor=regressor,
        preimage=MeanPreimage(),
    ).fit(X, Y)  # fmt: skip
    np.testing.assert_allclose(model.predict(X), clone(regressor).fit(X, Y).predict(X), atol=1e-8)


def test_a_manifold_is_features_and_preimage_at_once():
    angle = np.linspace(0.2, 2.8, 40)[:, None]
    circle = np.hstack([np.cos(angle), np.sin(angle)])
    model = DependencyEstimator(y_features=Circle()).fit(angle, circle)
    assert model.score(angle, circle) > 0.99
    radius = np.repeat([0, 1], 20)
    both = circle * (1 + radius[:, None])
    assert ManifoldClassifier(Circle()).fit(both, radius).score(both, radius) == 1.0


def test_losses_of_others_are_minimised():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 3))
    outputs = inputs @ np.array([[1.0], [-0.5], [0.2]])
    outputs[:3] += 30.0  # a few that should not count
    fair = StiefelRegression(1, loss=FairLoss(0.1)).fit(inputs, outputs)
    squared = StiefelRegression(1).fit(inputs, outputs)
    assert np.abs(fair.predict(inputs) - outputs)[3:].mean() < 0.3
    assert np.abs(squared.predict(inputs) - outputs)[3:].mean() > 0.5
    counts = rng.poisson(np.exp(0.5 * inputs[:, :1])).astype(float)
    assert StiefelRegression(1, loss=PoissonLoss()).fit(inputs, counts).coef_.shape == (1, 3)


def test_a_manifold_minimises_a_loss_of_others_in_the_units_of_the_data():
    rows = CURVE + 0.01 * np.random.default_rng(0).normal(size=CURVE.shape)
    rows[5] += 2.0  # an outlier
    objectives = []
    for unit in (1.0, 1024.0):
        model = UnsupervisedKernelRegression(
            1, loss=FairLoss(0.02 * unit), init="pca", homotopy=None, random_state=0
        ).fit(unit * rows)
        objectives.append(model.objective_ / unit**2)
        assert np.median(np.abs(model.reconstruct(unit * CURVE) / unit - CURVE)) < 0.02
    assert objectives[1] == pytest.approx(objectives[0], rel=1e-6)
    with pytest.raises(ValueError, match=r"'loss' parameter of .* must be a loss of residuals"):
        clone(model).set_params(loss=PoissonLoss()).fit(rows)


def test_a_stranger_s_machine_is_compressed():
    long = RidgeMachine().fit(X, Y)
    short = compress(long, 8)
    assert isinstance(short, RidgeMachine)
    assert short.n_points_ == len(short.expansion_.objects) == 8
    assert np.abs(short.predict(X) - long.predict(X)).max() < 0.1


def test_the_square_is_compressed_through_a_stranger_s_map():
    long = DependencyEstimator(x_features=LandmarkMap(16)).fit(X, Y)
    short = compress(long, 8)
    assert short.n_points_ == 8
    assert short.score(X, Y) > long.score(X, Y) - 0.05


def test_a_regressor_that_leaves_rows_out_is_asked_for_them(monkeypatch):
    asked, plain = [], PlainMean.fit_left_out

    def fit_left_out(self, X, y, n_folds):
        asked.append(n_folds)
        return plain(self, X, y, n_folds)

    monkeypatch.setattr(PlainMean, "fit_left_out", fit_left_out)
    model = DependencyEstimator(
        y_features=KernelPCA(3, kernel="gaussian"),
        regressor=PlainMean(),
        preimage=LearnedPreimage(),
    )
    assert model.fit(X, Y).predict(X).shape == Y.shape
    assert asked == [5]
