"""Sample weights, groups and metadata routing pass through every slot."""

from typing import ClassVar

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.linalg import RidgePath
from isthmus.losses import as_task_loss
from isthmus.preimage import LearnedPreimage
from isthmus.regression import GaussianProcess, KernelRidgeCV, Selection
from isthmus.smoothers import as_smoother
from isthmus.smoothers.left_out import left_out_weights
from isthmus.structured import DependencyClassifier, DependencyEstimator
from isthmus.structured.given import Given
from isthmus.structured.landmarks import LandmarkRidge
from isthmus.structured.left_out_risk import Judge, centred, left_out_losses, left_out_values

N = 30


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    Y = (np.sin(X @ rng.normal(size=(3, 4))) + 0.3 * rng.normal(size=(N, 4)) > 0.2).astype(int)
    return X, Y, rng.integers(0, 4, size=N)


def repeated(counts, *parts):
    return [np.repeat(part, counts, axis=0) for part in parts]


OUTPUTS = {
    "f1": lambda Y: Y,
    "hamming": lambda Y: Y,
    "jaccard": lambda Y: Y,
    "absolute": lambda Y: Y @ np.array([1.0, 2.0, 4.0, 8.0]),
    "edit": lambda Y: np.array(["".join("ab"[i] for i in row) for row in Y], dtype=object),
}


@pytest.mark.parametrize("loss", OUTPUTS)
def test_a_weight_is_as_many_copies(loss, data):
    X, Y, counts = data
    y = OUTPUTS[loss](Y)
    build = lambda: DependencyEstimator(x_features=[Gaussian(0.3), Gaussian(1.0)], loss=loss)  # noqa: E731
    weighted = build().fit(X, y, sample_weight=counts)
    copied = build().fit(*repeated(counts, X, y))
    assert weighted.left_out_loss_ == pytest.approx(copied.left_out_loss_, abs=1e-9)
    np.testing.assert_array_equal(weighted.predict(X), copied.predict(X))
    # The weights decide something.
    assert weighted.regressor_.weights(X[:1]).shape[1] == (counts > 0).sum()


@pytest.mark.parametrize("square", [{}, {"y_features": KernelPCA(2, kernel=Gaussian(1.0))}])
def test_without_a_loss_too(square, data):
    X, Y, counts = data
    machine = KernelRidgeCV(Gaussian(0.3), alpha=[0.01, 0.1, 1.0])
    weighted = DependencyEstimator(regressor=machine, **square)
    copied = DependencyEstimator(regressor=machine, **square).fit(*repeated(counts, X, Y))
    found = weighted.fit(X, Y, sample_weight=counts)
    C, D = found.predict_coordinates(X), copied.predict_coordinates(X)
    signs = np.sign((C * D).sum(axis=0))
    np.testing.assert_allclose(C, signs * D, atol=1e-6)


def test_left_out_copies_are_those_of_a_fit_without_one(data):
    X, Y, counts = data
    X, Y, counts = X[counts > 0], Y[counts > 0].astype(float), counts[counts > 0].astype(float)
    K, alpha = Gaussian(0.3)(X), 0.3
    scaled, _ = centred(K.copy(), counts)
    values = left_out_values(scaled.copy(), Y, counts)(alpha)
    W = left_out_weights(RidgePath(scaled, Y, intercept=True), alpha, counts=counts)
    np.testing.assert_allclose(W.sum(axis=1), 1.0)
    np.testing.assert_allclose(W @ Y, values)
    for i in (0, 3, 7):
        less = counts.copy()
        less[i] -= 1
        kept = less > 0
        model = KernelRidgeCV(Gaussian(0.3), alpha=alpha).fit(X[kept], Y[kept], less[kept])
        np.testing.assert_allclose(model.predict(X[i : i + 1])[0], values[i], atol=1e-8)


def test_landmarks_count_copies(data):
    X, Y, counts = data
    kept = counts > 0
    full = LandmarkRidge(Gaussian(0.3), kept.sum()).fit(X[kept], Y[kept], counts[kept] * 1.0)
    full.alpha_ = 0.2
    exact = KernelRidgeCV(Gaussian(0.3), alpha=0.2).fit(X[kept], Y[kept] * 1.0, counts[kept])
    np.testing.assert_allclose(full.predict(X), exact.predict(X), atol=1e-6)
    np.testing.assert_allclose(full.weights(X), exact.weights(X), atol=1e-6)
    W = []
    full.alphas_ = [0.2]
    full.choose_by_weights(np.arange(5), lambda V: W.append(V) or 0.0)
    np.testing.assert_allclose(W[0] @ Y[kept], full.left_out(np.arange(5), Y[kept], 0.2), atol=1e-6)


@pytest.mark.parametrize(
    "regressor",
    [
        Ridge(0.5),
        Ridge(0.5, fit_intercept=False),
        RandomForestRegressor(5, bootstrap=False, random_state=0),
    ],
    ids=lambda r: type(r).__name__,
)
def test_adapters_apply_weights_as_the_regressor_does(regressor, data):
    X, Y, counts = data
    model = as_smoother(regressor).fit(X, Y.astype(float), counts + 0.5)
    np.testing.assert_allclose(model.smooth(X, Y), model.predict(X), atol=1e-8)


def test_classes_with_weights(data):
    X, Y, counts = data
    y = np.array(["a", "b"])[Y[:, 0]]
    kernels = [Gaussian(0.3), Gaussian(1.0)]
    for options in ({}, {"class_weight": "balanced"}):
        model = DependencyClassifier(x_features=kernels, calibration=None, **options)
        weighted = model.fit(X, y, counts).decision_function(X)
        copied = DependencyClassifier(x_features=kernels, calibration=None, **options)
        found = copied.fit(*repeated(counts, X, y)).decision_function(X)
        np.testing.assert_allclose(weighted, found, atol=1e-8)
    rare = np.where(Y[:, 0] == 1, 20.0, 1.0)
    plain, tilted = (DependencyClassifier().fit(X, y, w) for w in (None, rare))
    assert (tilted.predict(X) == "b").sum() >= (plain.predict(X) == "b").sum()
    assert tilted.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()
    sets = DependencyClassifier(class_weight="balanced").fit(X, Y, counts)
    assert sets.predict_proba(X).shape == Y.shape


def test_parts_that_take_no_weights_are_refused(data):
    X, Y, counts = data
    for regressor, loss in ((GaussianProcess(), None), (KNeighborsRegressor(3), "absolute")):
        with pytest.raises(TypeError, match=r"'regressor' slot .* takes none"):
            DependencyEstimator(regressor=regressor, loss=loss).fit(
                X, Y.astype(float), sample_weight=counts
            )
    with pytest.raises(ValueError, match="sample weights that are not negative"):
        DependencyEstimator().fit(X, Y, sample_weight=-np.ones(N))
    with pytest.raises(ValueError, match="one sample weight for each of 30 rows"):
        DependencyEstimator(loss="f1").fit(X, Y, sample_weight=np.ones(3))
    with pytest.raises(TypeError, match="unexpected arguments colour"):
        DependencyEstimator().fit(X, Y, colour=3)


# Groups -----------------------------------------------------------------------------------


def test_rows_of_a_group_are_left_out_together(data):
    X, Y, _ = data
    groups = np.arange(N) // 5
    K = Gaussian(0.5)(X)
    judge = Judge(as_task_loss("hamming"), Y, Given(groups=groups))
    losses = left_out_losses(K.copy(), judge, np.arange(N), Selection())
    found = {alpha: error for error, alpha in losses}
    alpha = sorted(found)[4]
    wrong = 0.0
    for group in range(6):
        own = groups == group
        model = DependencyEstimator(
            loss="hamming", regressor=KernelRidgeCV(Gaussian(0.5), alpha=alpha)
        ).fit(X[~own], Y[~own])
        wrong += -model.score(X[own], Y[own]) * own.sum()
    assert found[alpha] == pytest.approx(wrong / N)


class SpyingFolds(GroupKFold):
    seen: ClassVar[list] = []

    def split(self, X, y=None, groups=None):
        SpyingFolds.seen.append(groups)
        return super().split(X, y, groups)


def test_a_splitter_is_given_the_groups(data):
    X, Y, counts = data
    groups = np.arange(N) % 5
    SpyingFolds.seen.clear()
    DependencyEstimator(loss="f1", cv=SpyingFolds(3)).fit(X, Y, groups=groups, sample_weight=counts)
    np.testing.assert_array_equal(SpyingFolds.seen[0], groups[counts > 0])
    DependencyClassifier(cv=SpyingFolds(2)).fit(X, Y[:, 0], groups=groups)
    DependencyEstimator(y_features=Gaussian(1.0), preimage=LearnedPreimage()).fit(
        X, Y, groups=groups, sample_weight=counts
    )
    with pytest.raises(ValueError, match="At least two groups"):
        DependencyEstimator(loss="f1", cv=3).fit(X, Y, groups=np.zeros(N))
    with pytest.raises(ValueError, match="groups as inputs"):
        DependencyEstimator(loss="f1").fit(X, Y, groups=groups[:3])


# Routing ----------------------------------------------------------------------------------


class Spy(RegressorMixin, BaseEstimator):
    told: ClassVar[dict] = {}

    def fit(self, X, y, sample_weight=None, colour=None):
        Spy.told = {"sample_weight": sample_weight, "colour": colour}
        self.mean_ = np.mean(y, axis=0)
        return self

    def predict(self, X):
        return np.repeat(np.atleast_2d(self.mean_), len(X), axis=0)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
def test_parts_are_told_what_they_ask_for(data):
    X, Y, counts = data
    asked = Spy().set_fit_request(sample_weight=True, colour=True)
    for model in (
        DependencyEstimator(regressor=asked),
        DependencyEstimator(regressor=asked, loss="hamming"),
        DependencyClassifier(regressor=asked, calibration=None),
    ):
        model.set_fit_request(sample_weight=True)
        model.fit(X, Y, sample_weight=counts, colour=np.arange(N))
        np.testing.assert_array_equal(Spy.told["sample_weight"], counts[counts > 0])
        np.testing.assert_array_equal(Spy.told["colour"], np.flatnonzero(counts > 0))
    silent = DependencyEstimator(regressor=Spy().set_fit_request(sample_weight=False))
    silent.set_fit_request(sample_weight=True).fit(X, Y, sample_weight=counts)
    assert Spy.told["sample_weight"] is None


@pytest.mark.usefixtures("routing")
def test_cross_validation_passes_weights_and_groups(data):
    X, Y, counts = data
    model = DependencyEstimator(loss="hamming", x_features=Gaussian(0.5))
    model.set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
    told = {"sample_weight": counts + 1.0, "groups": np.arange(N) % 6}
    scores = cross_val_score(model, X, Y, cv=3, params=told)
    assert np.isfinite(scores).all()
    search = GridSearchCV(model, {"x_features": [Gaussian(0.2), Gaussian(1.0)]}, cv=3)
    assert search.fit(X, Y, **told).best_params_["x_features"] in (Gaussian(0.2), Gaussian(1.0))


def test_reverse_of_weighted_pairs(data):
    X, Y, counts = data
    assert (
        DependencyEstimator().fit(X, Y * 1.0, sample_weight=counts).reverse().predict(Y).shape
        == X.shape
    )
