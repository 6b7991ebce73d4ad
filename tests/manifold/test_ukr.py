"""The estimator of unsupervised kernel regression."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.manifold import trustworthiness

from isthmus.features import KernelPCA
from isthmus.kernels import FunctionKernel, Gaussian, Normalized, Polynomial, Spectrum
from isthmus.losses import Absolute, Epsilon, Huber, LogCosh, PseudoHuber, Squared
from isthmus.manifold import (
    Descent,
    FeatureSpace,
    Landmarks,
    LocalPolynomial,
    Starts,
    UnsupervisedKernelRegression,
)
from isthmus.manifold.ukr.checks import l1_kernel
from isthmus.manifold.ukr.objective import reconstruction_error
from isthmus.preimage import CandidatePreimage
from isthmus.reduction import compress
from isthmus.smoothers import density_kernel
from isthmus.smoothers.local_polynomial import LocalSmoother


@pytest.fixture(scope="module")
def arc():
    """Angles and noisy rows of half a circle with radius 10, read-only."""
    rng = np.random.default_rng(0)
    t = np.linspace(0, np.pi, 100)
    Y = 10 * np.column_stack([np.cos(t), np.sin(t)]) + 0.25 * rng.normal(size=(100, 2))
    Y.flags.writeable = False
    return t, Y


def make(n_components=1, **settings):
    return UnsupervisedKernelRegression(n_components, random_state=0, **settings)


@pytest.fixture(scope="module")
def model(arc):
    return make().fit(arc[1])


def ordered(model, t):
    return abs(np.corrcoef(np.argsort(np.argsort(model.embedding_[:, 0])), t)[0, 1])


SETTINGS = {
    "gaussian": {"density_kernel": "gaussian"},
    "student": {"density_kernel": "student", "max_iter": 400},
    "epanechnikov": {"density_kernel": "epanechnikov"},
    "epanechnikov-rprop": {"density_kernel": "epanechnikov", "solver": "rprop", "degree": 0},
    "constant": {"degree": 0},
    "linear": {"degree": 1, "density_kernel": "triweight"},
    "squares": {"degree": LocalPolynomial(2, cross_terms=False), "validation": 3},
    "huber": {"loss": "huber", "validation": 5, "penalty": {"density_variance": 1e-3}},
    "huber-given": {"loss": Huber(0.01), "tol": 0.05},
    "ball": {
        "loss": Epsilon(0.3, power=2, shape="ball"),
        "degree": 0,
        "density_kernel": "gaussian",
    },
    "cube": {"loss": Epsilon(0.2, power=2, shape="cube"), "degree": 0},
    "linear tube": {"loss": Epsilon(0.3, shape="ball"), "degree": 0},
    "own tolerance": {"loss": "epsilon", "degree": 0},
    "length": {"loss": "huber_norm"},
    "log-cosh": {"loss": LogCosh()},
    "pseudo-huber": {"loss": PseudoHuber(0.5, shape="ball")},
    "absolute": {"loss": Absolute(sharpness=(1.0, 10.0)), "degree": 0},
    "penalty": {"validation": None, "penalty": {"extension": 1e-3}},
    "density": {"validation": None, "penalty": {"density": 1e-3}, "density_kernel": "gaussian"},
    "landmarks": {"n_landmarks": 20},
    "landmarks-harmonic": {"n_landmarks": Landmarks(20, "harmonic")},
    "landmarks-huber": {"n_landmarks": 20, "loss": "huber", "penalty": {"extension": 1e-4}},
    "adapted": {"n_landmarks": Landmarks(20, smoothness=0.1), "density_kernel": "triweight"},
    "adapted-rows": {"n_landmarks": Landmarks(smoothness=0.1), "density_kernel": "gaussian"},
    "published": {"solver": "rprop", "init": "pca", "homotopy": None, "max_iter": 300},
    "homotopy": {"init": "pca", "homotopy": [{"box": 1.0}, {"extension": 1e-3}]},
    "floors": {"homotopy": [{"floor": 0.3, "max_iter": 50}, {"floor": 0.1}], "init": "pca"},
    "held-out": {"solver": Descent(held_out=0.2)},
    "several": {"init": Starts(("isomap", "lle"), n_init=2, n_neighborhoods=3)},
    "kernel": {"data_kernel": Polynomial(2, coef0=1.0)},
    "l1": {"data_kernel": "l1"},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_settings_unroll_the_arc(name, arc):
    t, Y = arc
    settings = dict(SETTINGS[name])
    before = repr(settings)
    model = make(**settings).fit(Y)
    assert ordered(model, t) > 0.97
    assert repr(settings) == before
    assert -model.score(Y) < (30.0 if name == "kernel" else 2.0)
    assert model.embedding_.shape == (100, 1)
    assert np.all(np.isfinite(model.loss_curve_))


def test_default_follows_the_arc_and_not_its_noise(model):
    rng = np.random.default_rng(1)
    s = rng.uniform(0.1, 3.0, size=200)
    clean = 10 * np.column_stack([np.cos(s), np.sin(s)])
    found = model.reconstruct(clean + 0.25 * rng.normal(size=clean.shape))
    radius = np.linalg.norm(found, axis=1)
    assert abs(radius.mean() - 10) < 0.1
    assert radius.std() < 0.25


def test_projection_never_raises_the_error_of_a_training_row(arc, model):
    Y = arc[1]
    own = np.sum((model.inverse_transform(model.embedding_) - Y) ** 2, axis=1)
    projected = np.sum((model.reconstruct(Y) - Y) ** 2, axis=1)
    assert np.all(projected <= own + 1e-9)
    assert_allclose(model.score(Y), -projected.mean(), rtol=1e-6)


@pytest.mark.parametrize("solver", ["lbfgs", "rprop"])
@pytest.mark.parametrize("degree", [0, 2])
def test_the_epanechnikov_kernel_reconstructs_new_rows_as_well_as_the_quartic(solver, degree, arc):
    rng = np.random.default_rng(1)
    t = rng.uniform(0, np.pi, size=300)
    new = 10 * np.column_stack([np.cos(t), np.sin(t)]) + 0.25 * rng.normal(size=(300, 2))
    errors = {
        kernel: -make(density_kernel=kernel, solver=solver, degree=degree, max_iter=300)
        .fit(arc[1])
        .score(new)
        for kernel in ("quartic", "epanechnikov")
    }
    assert errors["epanechnikov"] < 1.2 * errors["quartic"]


def test_the_error_of_reconstruction_is_the_distance_of_what_is_reconstructed(arc, model):
    Y = arc[1][:20]
    distance = np.sum((model.reconstruct(Y) - Y) ** 2, axis=1)
    assert_allclose(model.reconstruction_error(Y), distance, rtol=1e-6)


def test_in_feature_space_the_error_needs_no_pre_image(arc):
    """Its square is k(y, y) - 2 k_y b + b G b, with weights b of the rows at the place found."""
    Y, kernel = arc[1][::2], Polynomial(3, coef0=0.0)
    model = make(data_kernel=kernel, degree=0, density_kernel="gaussian").fit(Y)
    new = arc[1][1::10] * 1.01
    Z = model.transform(new)
    W = np.exp(-0.5 * (Z - model.centres_.T) ** 2)
    B = W / W.sum(axis=1, keepdims=True)
    cross = np.sum(B * kernel(new, Y), axis=1)
    expected = kernel.diag(new) - 2 * cross + np.einsum("ij,jk,ik->i", B, kernel(Y), B)
    assert_allclose(model.reconstruction_error(new), expected, rtol=1e-6)


def test_landmarks_of_many_rows_are_as_good_as_a_full_model_of_some():
    """A Swiss roll turned into ten columns."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(10, 10)))[0][:3]

    def roll(n):
        t, height = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n)), 20 * rng.uniform(size=n)
        Y = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
        return Y @ turn + 0.3 * rng.normal(size=(n, 10))

    few, many, new = roll(400), roll(4000), roll(500)
    variance = np.sum(new.var(axis=0))
    whole = make(2).fit(few)
    sparse = make(2, n_landmarks=150).fit(many)
    assert sparse.centres_.shape == (150, 2)
    assert sparse.embedding_.shape == (4000, 2)
    assert -sparse.score(new) / variance < min(0.03, -1.1 * whole.score(new) / variance)


def test_rows_beyond_enough_join_at_their_projections(monkeypatch):
    rng = np.random.default_rng(0)
    t = rng.uniform(0, np.pi, size=600)
    Y = np.c_[np.cos(t), np.sin(t)] + 0.05 * rng.normal(size=(600, 2))
    whole = make(n_landmarks=20).fit(Y)
    monkeypatch.setattr("isthmus.manifold.ukr.learning.ENOUGH_ROWS", 200)
    monkeypatch.setattr("isthmus.manifold.ukr.learning.ROWS_OF_A_LANDMARK", 2)
    some = make(n_landmarks=20).fit(Y)
    assert len(some.starts()[0]) == 200
    assert some.embedding_.shape == whole.embedding_.shape
    errors = [
        np.mean(np.sum((model.inverse_transform(model.embedding_) - Y) ** 2, axis=1))
        for model in (whole, some)
    ]
    assert errors[1] < 1.1 * errors[0]
    apart = np.abs(some.embedding_ - some.transform(Y))[:, 0]
    assert np.count_nonzero(apart < 0.01 * np.ptp(some.embedding_)) >= 500


@pytest.mark.parametrize("landmarks", ["kmeans", "harmonic"])
def test_landmarks_of_very_many_rows_are_found_from_some(landmarks, arc, monkeypatch):
    monkeypatch.setattr("isthmus.manifold.ukr.learning.MANY_ROWS", 60)
    t, Y = arc
    model = make(n_landmarks=Landmarks(15, landmarks)).fit(Y)
    assert ordered(model, t) > 0.97
    assert -model.score(Y) < 0.5


def test_completion_keeps_what_is_known(arc, model):
    X = np.array([[0.0, np.nan], [np.nan, 3.0], [1.0, 2.0], [np.nan, np.nan]])
    found = model.complete(X)
    known = np.isfinite(X)
    assert_array_equal(found[known], X[known])
    assert np.all(np.isfinite(found))
    assert abs(found[0, 1] - 10) < 0.6
    assert abs(abs(found[1, 0]) - np.sqrt(91)) < 0.6


def test_jacobian_points_along_the_arc(model):
    Z = np.quantile(model.embedding_, [0.3, 0.5, 0.7])[:, None]
    J = model.jacobian(Z)[:, :, 0]
    values = model.inverse_transform(Z)
    cosine = np.einsum("ij,ij->i", J, values) / (
        np.linalg.norm(J, axis=1) * np.linalg.norm(values, axis=1)
    )
    assert np.all(np.abs(cosine) < 0.3)


def test_density_and_samples_live_where_the_rows_do(arc, model):
    assert np.all(model.latent_density(model.embedding_) >= model.density_floor_ - 1e-12)
    assert model.latent_density([[1e3]])[0] == 0
    assert not hasattr(model, "score_samples")
    drawn = model.sample(50, random_state=1)
    assert_array_equal(drawn, model.sample(50, random_state=1))
    assert drawn.shape == (50, 2)
    assert np.all(np.abs(np.linalg.norm(drawn, axis=1) - 10) < 1.0)


def test_a_model_comes_back_from_disk_the_same(arc, model):
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(arc[1][:9]), model.transform(arc[1][:9]))


def test_the_same_seed_gives_the_same_manifold(arc, model):
    assert_array_equal(clone(model).fit(arc[1]).embedding_, model.embedding_)


def test_parallel_runs_give_the_same_as_serial_ones(arc):
    serial, parallel = (
        make(init=Starts(("pca", "isomap"), n_init=2, n_jobs=n), max_iter=60, tol=0.05).fit(arc[1])
        for n in (None, 2)
    )
    assert_array_equal(serial.embedding_, parallel.embedding_)


def test_two_dimensions_of_digits_keep_neighbours_and_reconstruct():
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA

    Y = load_digits().data[:400]
    model = make(2).fit(Y[:300])
    pca = PCA(2).fit(Y[:300])
    flat = np.mean(np.sum((pca.inverse_transform(pca.transform(Y[300:])) - Y[300:]) ** 2, axis=1))
    assert -model.score(Y[300:]) < 0.5 * flat
    assert trustworthiness(Y[:300], model.embedding_) > 0.97
    assert model.degree_ == 0


def test_feature_space_of_a_kernel_is_kernel_pca(arc):
    Y, kernel = arc[1][::4], Polynomial(3, coef0=0.0)
    L = KernelPCA(kernel=kernel).fit_transform(Y)
    G = kernel(Y)
    X = np.linspace(0, 5, 25)[:, None]
    smoother, loo = LocalSmoother(density_kernel("gaussian")), np.arange(25)[:, None]
    found = reconstruction_error(X, X, L, L, smoother, Squared(), excluded=loo)
    K = np.exp(-0.5 * (X - X.T) ** 2) * (1 - np.eye(25))
    B = K / K.sum(axis=0) - np.eye(25)
    assert_allclose(found.value, np.trace(B.T @ G @ B) / 25, rtol=1e-8)


def test_the_l1_kernel_has_the_l1_distance(rng):
    Y = rng.normal(size=(12, 4))
    G = l1_kernel(Y, Y)
    squared = np.diag(G)[:, None] + np.diag(G) - 2 * G
    assert_allclose(squared, np.abs(Y[:, None] - Y).sum(axis=2), atol=1e-12)
    assert np.linalg.eigvalsh(G).min() > -1e-10
    shifted = KernelPCA(kernel=FunctionKernel(l1_kernel, on_vectors=True)).fit_transform(Y + 5)
    assert_allclose(np.sum((shifted[0] - shifted[1]) ** 2), squared[0, 1])


def test_feature_space_goes_back_through_a_pre_image(arc):
    Y = arc[1][::2]
    model = make(data_kernel=FeatureSpace("gaussian", preimage=CandidatePreimage())).fit(Y)
    back = model.reconstruct(Y)
    assert np.median(np.linalg.norm(back - Y, axis=1)) < 1.5
    assert model.jacobian(model.embedding_[:2]).shape[0] == 2
    with pytest.raises(ValueError, match="complete refuses data_kernel"):
        model.complete(Y)


def test_repeated_rows_count_once_and_share_their_place(arc):
    Y = np.vstack([arc[1], arc[1][:10]])
    with pytest.warns(UserWarning, match="10 repeated rows"):
        model = make().fit(Y)
    assert_array_equal(model.embedding_[:10], model.embedding_[100:])
    assert model.embedding_.shape == (110, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        make(validation=None, penalty={"extension": 1e-3}).fit(Y)


def test_too_few_steps_are_told(arc):
    with pytest.warns(ConvergenceWarning, match="has not settled after max_iter = 2"):
        make(max_iter=2).fit(arc[1])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"density_kernel": "epanechnikov", "n_landmarks": Landmarks(smoothness=0.1)},
            r"refuses Landmarks\(smoothness=...\) with density_kernel='epanechnikov'",
        ),
        ({"n_landmarks": Landmarks(10, "som")}, "'method' parameter of Landmarks must be one of"),
        ({"density_kernel": "box"}, "must be one of"),
        ({"n_landmarks": 10, "validation": "loo"}, "refuses n_landmarks with validation='loo'"),
        ({"n_landmarks": 10, "loss": "epsilon"}, "refuses n_landmarks with loss"),
        ({"homotopy": True}, "'homotopy' parameter.*Got True"),
        ({"init": None}, "'init' parameter.*Got None"),
        ({"init": []}, r"'init' parameter.*Got \[\]"),
        ({"n_landmarks": Landmarks(smoothness=0.1)}, "with density_kernel='quartic'"),
        (
            {
                "n_landmarks": Landmarks(smoothness=0.1),
                "density_kernel": "gaussian",
                "degree": 2,
            },
            "with degree=2",
        ),
        ({"data_kernel": "linear", "loss": "huber"}, "'ball' without a tube have a meaning there"),
        ({"data_kernel": "linear", "loss": "epsilon"}, "refuses data_kernel with loss='epsilon'"),
        ({"loss": "logistic"}, "'loss' parameter .* needs a loss of residuals"),
        ({"loss": "hubr"}, "Did you mean 'huber'"),
        ({"loss": Epsilon(-1.0)}, "'width' parameter of Epsilon"),
        ({"init": Starts(n_init=0)}, "'n_init' parameter of Starts"),
        ({"degree": LocalPolynomial(ridge=-1.0)}, "'ridge' parameter of LocalPolynomial"),
        ({"solver": Descent(held_out=0.9)}, "'held_out' parameter of Descent"),
        ({"data_kernel": "precomputed"}, "refuses data_kernel='precomputed'"),
        ({"validation": "cv"}, "must be one of 'auto', 'loo', an int"),
        ({"validation": 0}, r"an int in \[1, inf\)"),
        ({"penalty": {"size": 1.0}}, "Got the key 'size'"),
        ({"homotopy": [{"boxes": 1.0}]}, "Got the key 'boxes'"),
        ({"init": "tsne"}, "one of 'auto', 'pca', 'isomap'"),
        ({"init": np.zeros((3, 1))}, r"shape \(100, 1\). Got shape \(3, 1\)"),
        (
            {"degree": 3},
            r"must be 'auto', an int in \[0, 2\] or an instance of LocalPolynomial. Got 3",
        ),
        ({"solver": "adam"}, "must be one of 'lbfgs', 'rprop'"),
        ({"loss": Huber(-1.0)}, "'delta' parameter of Huber"),
        ({"n_components": 0}, "'n_components' parameter"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_and_leaves_nothing(settings, message, arc):
    model = make(**settings)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(arc[1])
    with pytest.raises(NotFittedError):
        model.transform(arc[1])


@pytest.mark.parametrize("setting", [{"penalty": "extension"}, {"homotopy": {"box": 1.0}}], ids=str)
def test_wrong_kinds_are_type_errors(setting, arc):
    with pytest.raises(TypeError, match="must be"):
        make(**setting).fit(arc[1])


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (np.ones((30, 3)), "needs rows that differ. Got constant data"),
        (np.eye(3), "needs at least 4 rows. Got n_samples = 3"),
        (np.repeat(np.eye(3), 5, axis=0), "at least 4 different rows. Got 3 among"),
        (np.array([[1.0, np.nan]] * 9), "contains NaN"),
    ],
    ids=["constant", "few", "repeated", "nan"],
)
def test_bad_rows_are_named(Y, message):
    with pytest.raises(ValueError, match=message):
        make(2).fit(Y)


def test_latent_places_of_another_dimension_are_refused(model):
    with pytest.raises(
        ValueError, match=r"expected an array of shape \(n, 1\). Got shape \(1, 2\)"
    ):
        model.inverse_transform([[0.0, 1.0]])


def test_a_manifold_of_words_gives_words_back():
    rng = np.random.default_rng(0)
    shares = np.linspace(0.05, 0.95, 40)
    words = ["".join(rng.choice(list("ab"), p=[t, 1 - t], size=14)) for t in shares]
    kernel = Normalized(Spectrum(2))
    # Words with the same pairs of letters are the same to the kernel.
    words = [w for i, w in enumerate(words) if i == 0 or kernel([w], words[:i]).max() < 1 - 1e-9]
    model = UnsupervisedKernelRegression(1, data_kernel=kernel, random_state=0).fit(words)
    share = [word.count("a") for word in words]
    assert abs(spearmanr(model.embedding_[:, 0], share).statistic) > 0.8
    assert all(word in words for word in model.inverse_transform(model.embedding_[:5]))
    assert model.transform(words[:3]).shape == (3, 1)


def test_compression_of_the_data_side_keeps_the_projections():
    t = np.linspace(0, np.pi, 80)
    Y = np.c_[np.cos(t), np.sin(t)]
    model = UnsupervisedKernelRegression(1, data_kernel=Gaussian(1.0), random_state=0).fit(Y)
    small = compress(model, 15)
    assert small.n_points_ == 15
    spread = np.ptp(model.embedding_)
    assert_allclose(small.transform(Y), model.transform(Y), atol=0.02 * spread)
    assert_allclose(small.reconstruct(Y), Y, atol=0.1)
    plain = UnsupervisedKernelRegression(1, random_state=0).fit(Y)
    with pytest.raises(TypeError, match="compress takes a fitted model with an expansion_"):
        compress(plain, 10)
    with pytest.raises(AttributeError, match="fit it with n_landmarks"):
        _ = plain.expansion_


def test_principal_components_whose_homotopy_shrinks_to_a_point_are_trained_directly():
    X, y = load_digits(return_X_y=True)
    rows = X[y == 2][:120]
    model = UnsupervisedKernelRegression(5, init="pca", degree=0, random_state=0).fit(rows)
    assert np.ptp(model.embedding_) > 0.1
    assert -model.score(rows) < 0.6 * rows.var(axis=0).sum()


@pytest.mark.parametrize(
    "options",
    [{}, {"loss": "huber"}, {"n_landmarks": 20}, {"degree": 2, "solver": "rprop"}],
    ids=str,
)
@pytest.mark.parametrize("unit", [2.0**-30, 2.0**20])
def test_the_unit_of_the_data_changes_nothing(options, unit):
    rng = np.random.default_rng(0)
    Y, new = rng.normal(size=(60, 3)), rng.normal(size=(9, 3))
    models = [
        UnsupervisedKernelRegression(1, max_iter=15, tol=1.0, random_state=0, **options).fit(u * Y)
        for u in (1.0, unit)
    ]
    assert_allclose(models[1].embedding_, models[0].embedding_, rtol=0, atol=0)
    assert_allclose(models[1].outputs_, unit * models[0].outputs_, rtol=0, atol=0)
    assert_allclose(models[1].transform(unit * new), models[0].transform(new), atol=1e-6)
    assert_allclose(models[1].objective_, unit**2 * models[0].objective_)


def test_huge_data_are_refused():
    with pytest.raises(ValueError, match=r"magnitude 1e-70 to 1e\+70"):
        UnsupervisedKernelRegression(1).fit(1e160 * np.random.default_rng(0).normal(size=(20, 2)))


def left_out_means(X, Y):
    """Each row as the weighted mean of the others, and of all, with a Gaussian kernel."""
    K = np.exp(-0.5 * (X - X.T) ** 2)
    others = K - np.diag(np.diag(K))
    return (W @ Y / W.sum(axis=1, keepdims=True) for W in (others, K))


@pytest.mark.parametrize("shape", ["cube", "ball"])
def test_an_automatic_delta_is_1345_robust_spreads_of_the_residuals_at_the_start(shape, arc):
    Y, X = arc[1], np.linspace(0, 12, 100)[:, None]
    model = make(
        loss=Huber(shape=shape), init=X, degree=0, density_kernel="gaussian", validation="loo",
        max_iter=0,
    ).fit(Y)  # fmt: skip
    left_out, full = (np.asarray(fitted) - Y for fitted in left_out_means(X, Y))
    sizes = np.linalg.norm(full, axis=1) if shape == "ball" else np.abs(full)
    delta = 1.345 * 1.4826 * np.median(sizes)
    values, _ = Huber(delta, shape=shape).row_values(left_out)
    assert_allclose(model.objective_, values.mean(), rtol=1e-9)
    assert np.any(sizes > delta)
    for wrong in (0.1 * delta, 10 * delta):
        other, _ = Huber(wrong, shape=shape).row_values(left_out)
        assert abs(other.mean() - values.mean()) > 1e-3 * values.mean()


def test_a_robust_loss_is_not_drawn_by_outliers(arc):
    rng = np.random.default_rng(3)
    Y = arc[1].copy()
    Y[::10] += rng.normal(scale=6.0, size=(10, 2))
    truth = 10 * np.column_stack([np.cos(arc[0]), np.sin(arc[0])])
    off = {
        loss: np.median(
            np.abs(np.linalg.norm(make(loss=loss).fit(Y).reconstruct(truth), axis=1) - 10)
        )
        for loss in ("squared", "huber", "huber_norm")
    }
    assert off["huber"] < 1.1 * off["squared"]
    assert off["huber_norm"] < 1.1 * off["squared"]


class Quartic:
    """A loss that a stranger wrote, in units of the data."""

    takes_residuals = True

    def evaluate(self, Y, P):
        E = P - Y
        return E**2 + 0.01 * E**4, 2 * E + 0.04 * E**3


def test_a_stranger_s_loss_is_minimised_in_the_units_of_the_data(arc):
    Y, X = arc[1], np.linspace(0, 12, 100)[:, None]
    common = {"init": X, "degree": 0, "density_kernel": "gaussian", "validation": "loo"}
    model = make(loss=Quartic(), max_iter=0, **common).fit(Y)
    residual = next(left_out_means(X, Y)) - Y
    expected = np.mean(np.sum(residual**2 + 0.01 * residual**4, axis=1))
    assert_allclose(model.objective_, expected, rtol=1e-9)
    trained = make(loss=Quartic(), **common).fit(Y)
    assert trained.objective_ < 0.9 * expected
    assert ordered(trained, arc[0]) > 0.97
