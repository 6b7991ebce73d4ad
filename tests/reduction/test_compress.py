"""Compressed models do what the full ones do, with few kernels."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_iris, make_moons
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

from isthmus.coreset import CoreVectorOutlierDetector
from isthmus.features import KernelPCA
from isthmus.kernels import DTWKernel, Expansion, Gaussian
from isthmus.kernels.points import squared_norms
from isthmus.reduction import compress, reduce_expansion
from isthmus.reduction.compression import upper_loss
from isthmus.reduction.moving import move_points
from isthmus.reduction.thresholds import best_threshold, set_thresholds
from isthmus.regression import KernelRidgeCV
from isthmus.structured import DependencyEstimator


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def wave():
    X = np.linspace(-3, 3, 120)[:, None]
    return X, np.sin(2 * X[:, 0]) + 0.05 * np.cos(31 * X[:, 0])


def smooth_kernel(X, Z):
    return np.exp(-0.5 * ((X[:, None] - Z) ** 2).sum(axis=2))


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(kernel="poly", degree=2, coef0=1.0),
        SVC(kernel="linear"),
        SVC(decision_function_shape="ovo"),
        SVC(kernel=smooth_kernel),
        NuSVC(nu=0.2),
    ],
    ids=["gaussian", "quadratic", "linear", "all pairs", "function", "nu"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_all_points_a_classifier_decides_as_before(model, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], np.array(["a", "b", "c"])[y[y < n_classes]]
    X = X + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    model.fit(X, y)
    small = compress(model, max_error=1e-14)
    np.testing.assert_allclose(
        small.decision_function(X), model.decision_function(X), atol=2e-4, rtol=1e-4
    )
    assert np.mean(small.predict(X) == model.predict(X)) > 0.985
    assert small.n_points_ <= len(model.support_)


def test_few_points_keep_the_accuracy_of_a_support_vector_machine(moons):
    X, y = moons
    model = SVC(C=1.0).fit(X, y)
    small = compress(model, 12)
    assert small.n_points_ == 12 < len(model.support_) / 4
    assert small.score(X, y) > model.score(X, y) - 0.02


def test_validation_data_choose_the_smallest_model_that_is_good_enough(moons):
    X, y = moons
    model = SVC(C=1.0).fit(X[:200], y[:200])
    small = compress(model, X=X[200:], y=y[200:], max_loss=0.02)
    assert small.score(X[200:], y[200:]) >= model.score(X[200:], y[200:]) - 0.02
    assert small.n_points_ < len(model.support_) / 3
    assert compress(model, X=X[200:], y=y[200:], max_loss=0.2).n_points_ < small.n_points_


def test_all_classes_share_their_points():
    X, y = load_digits(return_X_y=True)
    model = SVC(gamma=0.001, C=10.0).fit(X[:1000], y[:1000])
    small = compress(model, 120)
    assert small.expansion_.objects.shape == (120, 64)
    assert small.expansion_.weights.shape == (120, 45)
    assert small.score(X[1000:], y[1000:]) > model.score(X[1000:], y[1000:]) - 0.03


def test_a_threshold_makes_the_fewest_errors_and_moves_least():
    values = np.array([-2.0, -1.0, 0.5, 1.0, 3.0])
    positive = np.array([False, False, False, True, True])
    assert best_threshold(values, positive) == 0.75
    assert best_threshold(values, values > 0) == 0.0
    assert best_threshold(np.ones(4), np.array([True, True, True, False])) == 0.0
    assert best_threshold(values, np.ones(5, dtype=bool)) == -3.0


@pytest.mark.parametrize(
    "model",
    [
        SVR(C=10.0),
        KernelRidge(kernel="rbf", gamma=1.0, alpha=1e-3),
        KernelRidge(kernel="polynomial", degree=5, alpha=1e-3),
        GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.01), optimizer=None, normalize_y=True),
        KernelRidgeCV(Gaussian(1.0)),
    ],
    ids=repr,
)
def test_a_regressor_predicts_as_before_with_few_points(wave, model):
    X, y = wave
    model.fit(X, y)
    small = compress(model, max_error=1e-6)
    assert small.n_points_ < 110
    np.testing.assert_allclose(small.predict(X), model.predict(X), atol=0.02)
    assert small.score(X, y) > model.score(X, y) - 0.01


def test_several_outputs_keep_their_shape(wave):
    X, y = wave
    model = KernelRidge(kernel="rbf", alpha=1e-3).fit(X, np.column_stack([y, -y]))
    assert compress(model, 30).predict(X).shape == (120, 2)


def test_kernel_pca_of_scikit_learn_gives_the_same_coordinates(moons):
    X, _ = moons
    model = SklearnKernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    small = compress(model, 40)
    np.testing.assert_allclose(small.transform(X), model.transform(X), atol=0.02)


def test_our_kernel_pca_stays_one_with_expansions_and_a_way_back(moons):
    X, _ = moons
    model = KernelPCA(4, kernel=Gaussian(0.5)).fit(X)
    small = compress(model, 60)
    assert isinstance(small, KernelPCA)
    np.testing.assert_allclose(small.transform(X), model.transform(X), atol=0.02)
    coordinates = model.transform(X[:5])
    assert small.expand(coordinates).shape == (5, 60)
    np.testing.assert_allclose(
        small.inverse_transform(coordinates), model.inverse_transform(coordinates), atol=0.15
    )
    np.testing.assert_allclose(
        squared_norms(small, coordinates), squared_norms(model, coordinates), atol=0.02
    )
    with pytest.raises(AttributeError, match="compressed"):
        _ = small.coordinates_
    assert model.coordinates_.shape == (300, 4)  # the full model is as it was
    assert small.fit(X).coordinates_.shape == (300, 4)


@pytest.mark.parametrize("x_features", [None, KernelPCA(20, kernel=Gaussian(1.0))])
def test_the_whole_map_is_compressed_on_its_input_side(wave, x_features):
    X, y = wave
    Y = np.column_stack([y, y**2])
    model = DependencyEstimator(x_features=x_features).fit(X, Y)
    small = compress(model, max_error=1e-7)
    assert isinstance(small, DependencyEstimator)
    assert small.n_points_ < 115
    np.testing.assert_allclose(small.predict(X), model.predict(X), atol=0.05)
    by_score = compress(model, X=X, y=Y, max_loss=0.01)
    assert by_score.score(X, Y) >= model.score(X, Y) - 0.01


def test_a_pipeline_is_compressed_in_its_last_step(moons):
    X, y = moons
    model = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    small = compress(model, 15)
    assert small.n_points_ == 15
    assert small.score(X, y) > model.score(X, y) - 0.03
    assert isinstance(model[-1], SVC)
    chosen = compress(model, X=X, y=y, max_loss=0.006)
    assert chosen.score(X, y) >= model.score(X, y) - 0.005


def test_comes_back_from_disk(moons, tmp_path):
    X, y = moons
    small = compress(SVC(kernel="poly", coef0=1.0).fit(X, y), 20)
    joblib.dump(small, tmp_path / "small")
    np.testing.assert_array_equal(joblib.load(tmp_path / "small").predict(X), small.predict(X))


def test_refuses_what_it_cannot_shorten(moons):
    X, y = moons
    with pytest.raises(TypeError, match=r"an expansion_ .*Got a fitted LogisticRegression"):
        compress(LogisticRegression().fit(X, y), 3)
    with pytest.raises(ValueError, match="needs to know how small"):
        compress(SVC().fit(X, y))
    with pytest.raises(ValueError, match="fitted on a Gram matrix"):
        compress(SVC(kernel="precomputed").fit(X @ X.T, y), 3)
    with pytest.raises(ValueError, match="KernelRidgeCV was fitted on a Gram matrix"):
        compress(KernelRidgeCV("precomputed").fit(X @ X.T, y.astype(float)), 3)
    small = compress(SVC().fit(X, y), 3)
    with pytest.raises(TypeError, match=r"made from a fitted estimator by compress\(\)"):
        small.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        small.predict(np.ones((2, 3)))


@pytest.mark.parametrize("points", ["kept", "auto"])
def test_a_largest_error_is_kept_whether_points_move_or_not(wave, points):
    X, y = wave
    model = KernelRidgeCV(Gaussian(1.0)).fit(X, y)
    assert compress(model, max_error=1e-3, points=points).compression_error_ <= 1e-3


def test_points_stay_where_a_move_would_exceed_the_largest_error():
    X, y = make_moons(300, noise=0.25, random_state=0)
    model = SVC(gamma=1.0, C=1e3).fit(X, y)
    kept = compress(model, max_error=0.9, points="kept")
    # Moved points fit the values better, and the function itself worse.
    moved = move_points(
        Gaussian(1.0), model.support_vectors_, model.dual_coef_.T, kept.expansion_.objects
    )
    assert moved.error > 0.9 > kept.compression_error_
    for points in ("auto", "moved"):
        small = compress(model, max_error=0.9, points=points)
        assert small.compression_error_ == kept.compression_error_
        assert_array_equal(small.expansion_.objects, kept.expansion_.objects)
    # Without a largest error they move, and where they stay within it.
    for size in ({"n_points": kept.n_points_}, {"max_error": 0.5}):
        small, still = compress(model, **size), compress(model, points="kept", **size)
        assert np.all(small.expansion_.objects != still.expansion_.objects)


@pytest.mark.parametrize(("gamma", "C"), [(1.0, 1e4), (0.3, 1e5), (1.0, 1.0)])
def test_moved_points_keep_the_values_of_large_coefficients(gamma, C):
    X, y = make_moons(800, noise=0.25, random_state=0)
    model = SVC(gamma=gamma, C=C).fit(X[:300], y[:300])
    small = compress(model, 30)
    values = model.decision_function(X[300:])
    difference = small.decision_function(X[300:]) - values
    assert np.mean(difference**2) < 2e-4 * np.mean(values**2)
    assert small.compression_error_ < 1e-3
    assert np.mean(small.predict(X[300:]) == model.predict(X[300:])) > 0.99


def test_moved_points_that_span_the_functions_have_their_coefficients(rng):
    Z, B = rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    kernel = Gaussian(0.5)
    X = np.vstack([Z, rng.normal(size=(50, 2))])
    moved = move_points(kernel, X, np.vstack([B, np.zeros((50, 2))]), Z)
    assert moved.error < 1e-12
    assert_allclose(kernel(X, moved.points) @ moved.coefficients, kernel(X, Z) @ B, atol=1e-6)


def test_more_points_than_there_are_means_all(moons):
    X, y = moons
    model = SVC().fit(X, y)
    assert compress(model, 10_000).n_points_ <= len(model.support_)


@pytest.mark.parametrize(
    ("how", "kind", "message"),
    [
        ({"n_points": 0}, ValueError, r"'n_points' parameter of compress must be an int in \[1"),
        ({"n_points": 2.5}, TypeError, "'n_points' parameter of compress must be an int"),
        ({"max_error": -1.0}, ValueError, "'max_error' parameter"),
        ({"n_points": 3, "max_loss": -1.0}, ValueError, "'max_loss' parameter of compress"),
        ({"n_points": 3, "points": "some"}, ValueError, "'points' parameter of compress"),
    ],
)
def test_refuses_parameters_by_name(moons, how, kind, message):
    with pytest.raises(kind, match=message):
        compress(SVC().fit(*moons), **how)


def test_a_model_without_a_score_cannot_be_chosen_by_one(moons):
    X, y = moons
    detector = CoreVectorOutlierDetector(random_state=0).fit(X)
    with pytest.raises(ValueError, match="CoreVectorOutlierDetector has no score"):
        compress(detector, X=X, y=y)
    small = compress(detector, max_error=1e-4)
    np.testing.assert_allclose(small.score_samples(X), detector.score_samples(X), atol=0.01)


class Stranger:
    """A machine by somebody else: one function, held as an expansion."""

    def __init__(self, expansion):
        self.expansion_ = expansion

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y=None):
        return self

    def with_expansion(self, expansion):
        return Stranger(expansion)

    def predict(self, X):
        return self.expansion_(X)[:, 0]


def test_whatever_holds_an_expansion_is_shortened(rng):
    X = rng.uniform(size=(80, 2))
    weights = rng.normal(size=(80, 1))
    full = Stranger(Expansion(Gaussian(1.0), X, weights, np.array([5.0])))
    small = compress(full, 12)
    assert small.n_points_ == 12
    assert len(small.expansion_.objects) == 12
    assert_allclose(small.predict(X), full.predict(X), atol=0.05 * np.std(full.predict(X)))


class StrangeKernel:
    """A kernel by somebody else: what the protocol asks for, and no explicit features."""

    provides = frozenset({"vectors"})

    def __call__(self, X, Z=None):
        return self.gram(X, X if Z is None else Z)

    def gram(self, X, Z):
        return np.exp(-np.abs(X[:, None] - Z).sum(axis=2))

    def diag(self, X):
        return np.ones(len(X))

    def explicit_features(self, X):
        return None


def test_a_kernel_by_somebody_else_is_enough(rng):
    X = rng.uniform(size=(80, 2))
    full = Stranger(Expansion(StrangeKernel(), X, rng.normal(size=(80, 1))))
    small = compress(full, 40)
    kept = reduce_expansion(StrangeKernel()(X), full.expansion_.weights, n_points=40)
    assert_array_equal(small.expansion_.objects, X[kept.indices])


def test_a_name_alone_is_no_expansion(rng):
    lookalike = Stranger(3)
    with pytest.raises(TypeError, match="Got a fitted Stranger"):
        compress(lookalike, 5)


def test_a_search_is_compressed_at_what_it_found(rng):
    X = rng.normal(size=(120, 2))
    y = X[:, 0] * X[:, 1] > 0
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1.0, 10.0]}, cv=2)
    search.fit(X, y)
    small = compress(search, 25)
    assert small.n_points_ == 25
    assert small.best_params_ == search.best_params_
    assert small.score(X, y) > search.score(X, y) - 0.1
    assert len(search.best_estimator_[-1].support_) > 25


def test_what_validation_data_allow_is_kept_on_new_data():
    shares = []
    for first in (0, 90, 270):  # one row of the validation data decides between two sizes
        X, y = load_digits(return_X_y=True)  # in the order of its writers, which change
        X, y = np.roll(X / 16, first, axis=0), np.roll(y, first)
        full = SVC(C=10.0).fit(X[:700], y[:700])
        small = compress(full, X=X[700:1168], y=y[700:1168], max_loss=0.005)
        shares.append(small.n_points_ / len(full.support_))
        assert full.score(X[1168:], y[1168:]) - small.score(X[1168:], y[1168:]) < 0.01  # was 0.08
    assert np.median(shares) < 0.2


def test_the_accuracy_lost_is_bounded_from_above():
    rng = np.random.default_rng(0)
    true, below = 0.01, 0
    for _ in range(400):
        kind = rng.choice(3, size=1000, p=[0.02, 0.03, 0.95])  # gained, lost, the same
        before, after = kind != 0, kind != 1
        below += upper_loss(before, after) < true
    assert 0.02 < below / 400 < 0.08  # one in twenty
    same = np.ones(327, dtype=bool)
    assert upper_loss(same, same) <= 0.005 < upper_loss(same[:-1], same[:-1])


def test_few_validation_rows_are_told_what_they_can_show(moons):
    X, y = moons
    full = SVC(C=1.0).fit(X[:200], y[:200])
    with pytest.warns(UserWarning, match="100 validation rows can show a loss of at most 0.016"):
        small = compress(full, X=X[200:300], y=y[200:300])
    assert small.n_points_ < len(full.support_)
    assert small.score(X[200:300], y[200:300]) >= full.score(X[200:300], y[200:300])


def test_thresholds_are_moved_only_where_left_out_rows_agree(moons, rng):
    X, y = moons
    machine = compress(SVC(gamma=1.0).fit(X, y), 30)
    before = machine.expansion_.offset.copy()
    noise = rng.permutation(y)
    set_thresholds(machine, X, noise)  # nothing to learn from
    shift = np.abs(machine.expansion_.offset - before)
    spoiled = compress(SVC(gamma=1.0).fit(X, y), 30)
    spoiled.expansion_.offset += 1.5
    right = set_thresholds(spoiled, X, y)
    assert shift.max() < 1.0
    assert right.mean() > 0.9
    np.testing.assert_allclose(spoiled.expansion_.offset, before, atol=0.7)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_a_support_vector_machine_are_kept(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    full = SVC(probability=True, random_state=0).fit(X, y)
    whole = compress(full, len(full.support_), points="kept")
    np.testing.assert_allclose(whole.predict_proba(X), full.predict_proba(X), atol=3e-3)
    np.testing.assert_allclose(np.exp(whole.predict_log_proba(X)), whole.predict_proba(X))
    assert not hasattr(compress(SVC().fit(X, y), 5), "predict_proba")


def test_a_calibrated_classifier_is_compressed_inside(moons):
    X, y = moons
    full = CalibratedClassifierCV(SVC(gamma=1.0), ensemble=False).fit(X, y)
    small = compress(full, 25)
    assert small.n_points_ == 25
    assert np.abs(small.predict_proba(X) - full.predict_proba(X)).mean() < 0.03


def test_an_indefinite_kernel_is_refused_with_its_repairs(rng):
    series = [rng.normal(size=n).cumsum() for n in rng.integers(8, 20, size=60)]
    K = DTWKernel(0.001).resolve(series)
    machine = Stranger(Expansion(K, K.check(series), rng.normal(size=(60, 1))))
    with pytest.raises(ValueError, match=r"not positive semi-definite.*SpectrumRepair"):
        compress(machine, 10)
