"""A loss in place of output features: choice by left-out loss, decoding, scale, the way back."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor

from isthmus.kernels import Gaussian, Linear
from isthmus.linalg import RidgePath
from isthmus.losses import F1, Hamming, Jaccard, LossScorer, Quantile, Squared, VectorLoss
from isthmus.preimage import CandidatePreimage, MinimumRiskPreimage
from isthmus.reduction import compress
from isthmus.regression import KernelRidgeCV, Selection
from isthmus.structured import DependencyEstimator
from isthmus.structured import by_loss as by_loss_module
from isthmus.structured.landmarks import LandmarkRidge
from isthmus.structured.left_out_risk import Judge, left_out_losses


def label_data(n=160, seed=0, m=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    noise = 0.7 * rng.normal(size=(n, m))
    return X, (np.sin(2 * X @ rng.normal(size=(4, m))) + noise > 0.6).astype(int)


X, Y = label_data()


@pytest.mark.parametrize("loss", ["f1", "hamming", "zero_one", "jaccard"])
def test_naming_a_loss_is_the_best_of_the_decodings_for_it(loss):
    train, test = slice(0, 110), slice(110, 160)
    model = DependencyEstimator(loss=loss).fit(X[train], Y[train])
    assert model.predict(X[test]).shape == Y[test].shape
    assert model.left_out_loss_ < 1
    other = "hamming" if loss in ("f1", "jaccard") else "f1"
    rival = DependencyEstimator(loss=other).fit(X[train], Y[train])
    task = model.preimage_.loss_
    ours = task.paired(model.predict(X[test]), Y[test]).mean()
    assert ours <= task.paired(rival.predict(X[test]), Y[test]).mean() + 0.02
    assert model.score(X[test], Y[test]) == pytest.approx(-ours)


@pytest.mark.parametrize("loss", [F1(), Jaccard()], ids=repr)
@pytest.mark.parametrize("criterion", ["loo", 3], ids=str)
def test_the_loss_of_left_out_rows_is_that_of_fits_without_them(loss, criterion):
    A, B = X[:24], Y[:24]
    kernel = Gaussian(0.3)
    selection = Selection(criterion)
    judge = Judge(loss, B)
    found = {a: e for e, a in left_out_losses(kernel(A), judge, np.arange(24), selection)}
    for alpha in list(found)[:3]:
        costs = np.zeros(24)
        for train, test in selection.splits(24):
            ridge = KernelRidgeCV(kernel, alpha=alpha).fit(A[train], B[train].astype(float))
            decoded = loss.decode(ridge.weights(A[test]), loss.prepare(B[train]))
            costs[test] = loss.paired(decoded.outputs, B[test])
        assert found[alpha] == pytest.approx(costs.mean(), abs=1e-9)


def test_weights_and_columns_give_the_same_answers():
    ridge = KernelRidgeCV(Gaussian(0.3), alpha=0.1)
    by_columns = DependencyEstimator(loss="f1", regressor=ridge).fit(X, Y)
    by_weights = DependencyEstimator(
        y_features="passthrough", regressor=ridge, preimage=MinimumRiskPreimage("f1")
    ).fit(X, Y.astype(float))
    np.testing.assert_array_equal(by_columns.predict(X), by_weights.predict(X))


@pytest.mark.parametrize(
    "regressor",
    [
        KNeighborsRegressor(7),
        RandomForestRegressor(20, random_state=0),
        MLPRegressor(hidden_layer_sizes=(5,)),
    ],
    ids=lambda r: type(r).__name__,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_any_regression_of_columns_serves_a_linear_loss(regressor):
    model = DependencyEstimator(loss="f1", regressor=regressor).fit(X, Y)
    decoded = model.decode(X)
    assert decoded.outputs.shape == Y.shape
    assert decoded.exact.all()


def test_a_loss_that_needs_weights_asks_for_a_smoother():
    model = DependencyEstimator(loss="jaccard", regressor=RandomForestRegressor(5, random_state=0))
    assert model.fit(X, Y).predict(X).shape == Y.shape
    with pytest.raises(TypeError, match="'weights' of its training outputs"):
        DependencyEstimator(loss="jaccard", regressor=MLPRegressor()).fit(X, Y)


def test_quantiles_cover_what_they_say():
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 2, size=(500, 1))
    y = np.sin(x[:, 0]) + (0.2 + 0.3 * (x[:, 0] > 0)) * rng.normal(size=500)
    model = DependencyEstimator(loss=Quantile(0.9)).fit(x[:300], y[:300])
    assert abs(np.mean(y[300:] <= model.predict(x[300:])) - 0.9) < 0.06
    ends = DependencyEstimator(loss="interval").fit(x[:300], y[:300]).predict(x[300:])
    inside = (ends[:, 0] <= y[300:]) & (y[300:] <= ends[:, 1])
    assert abs(inside.mean() - 0.9) < 0.08


def test_rankings_and_functions():
    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(80, 3))
    ranks = np.argsort(np.argsort(inputs @ rng.normal(size=(3, 4)), axis=1), axis=1)
    model = DependencyEstimator(loss="kendall").fit(inputs[:60], ranks[:60])
    assert -model.score(inputs[60:], ranks[60:]) < 0.15
    words = np.array(["a" * int(k) for k in 1 + np.arange(80) % 4], dtype=object)
    spread = np.array([[len(w)] for w in words]) + 0.1 * rng.normal(size=(80, 1))
    lengths = DependencyEstimator(loss=lambda a, b: abs(len(a) - len(b))).fit(spread, words)
    assert (lengths.predict(spread) == words).mean() > 0.9


def test_columns_of_different_units_are_scaled_where_the_left_out_loss_gains():
    noise = 1000 * np.random.default_rng(3).normal(size=len(X))
    wide, waves = np.column_stack([X[:, 0], noise]), (np.sin(2 * X[:, :2]) > 0).astype(int)
    waves[:, 1] = waves[:, 0]
    model = DependencyEstimator(loss="hamming").fit(wide, waves)
    assert model.x_features_ is not None
    plain = DependencyEstimator(loss="hamming", x_features="gaussian").fit(wide, waves)
    assert model.left_out_loss_ < plain.left_out_loss_


def test_sparse_inputs_stay_sparse_and_give_what_dense_ones_do():
    S = sparse.random(120, 60, density=0.1, random_state=0, format="csr")
    labels = (S @ np.random.default_rng(4).normal(size=(60, 3)) > 0.2).astype(int)
    for kernel in (Gaussian(0.5), Linear()):
        thin = DependencyEstimator(loss="f1", x_features=kernel).fit(S, labels)
        assert isinstance(thin.regressor_, LandmarkRidge)
        assert sparse.issparse(thin.regressor_.landmarks_)
        thick = DependencyEstimator(loss="f1", x_features=kernel).fit(S.toarray(), labels)
        thick.regressor_.alpha_ = thin.regressor_.alpha_
        assert (thin.predict(S) == thick.predict(S.toarray())).mean() > 0.9
    with pytest.raises(TypeError, match="Gaussian or a linear kernel"):
        DependencyEstimator(loss="f1", x_features="laplacian").fit(S, labels)


def test_all_rows_as_landmarks_are_kernel_ridge_regression():
    G, kernel = Y.astype(float), Gaussian(0.4)
    machine = LandmarkRidge(kernel, len(X)).fit(X, sparse.csr_array(G))
    machine.alpha_ = 0.3
    ridge = KernelRidgeCV(kernel, alpha=0.3).fit(X, G)
    new = X + 0.1
    np.testing.assert_allclose(machine.predict(new), ridge.predict(new), atol=1e-6)
    np.testing.assert_allclose(machine.weights(new), ridge.weights(new), atol=1e-6)
    np.testing.assert_allclose(machine.smooth(new, G), machine.predict(new), atol=1e-10)
    K = kernel(X)
    H = np.eye(len(X)) - 1 / len(X)
    path = RidgePath(H @ K @ H, G - G.mean(axis=0), intercept=True)
    rows = np.arange(7)
    expected = (G - path.loo_residuals(0.3))[rows]
    np.testing.assert_allclose(machine.left_out(rows, G, 0.3), expected, atol=1e-6)


def test_many_rows_go_through_landmarks(monkeypatch):
    monkeypatch.setattr(by_loss_module, "MOST_EXACT", 100)
    monkeypatch.setattr(by_loss_module, "N_LANDMARKS", 40)
    for loss in ("f1", "jaccard"):
        model = DependencyEstimator(loss=loss, x_features=Gaussian(0.3)).fit(X, Y)
        assert isinstance(model.regressor_, LandmarkRidge)
        assert -model.score(X, Y) < 0.75


def test_the_way_back_exchanges_the_slots():
    t = np.linspace(0, 1, 60)[:, None]
    curve = np.column_stack([t, t**2])
    model = DependencyEstimator().fit(t, curve)
    back = model.reverse()
    assert np.abs(back.predict(curve) - t).max() < 0.02
    named = DependencyEstimator(x_features=Linear(), y_features=Gaussian(1.0)).fit(t, curve)
    other = named.reverse()
    assert isinstance(other.x_features, Gaussian)
    assert isinstance(other.y_features, Linear)
    again = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="give it X and y"):
        again.reverse()
    assert np.abs(again.reverse(t, curve).predict(curve) - t).max() < 0.02


def test_the_way_back_of_words():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abc"), size=n)) for n in rng.integers(3, 6, size=24)]
    tokens = [[letter.upper() for letter in word] for word in words]
    model = DependencyEstimator(loss="edit").fit(words, tokens)
    back = model.reverse()
    assert back.loss == "edit"
    assert -back.score(tokens, words) < 0.5
    lengths = np.array([[float(len(word)), word.count("a")] for word in words])
    model = DependencyEstimator(loss="edit").fit(lengths, words)
    back = model.reverse()
    assert back.loss == "squared"
    assert np.abs(back.predict(words) - lengths).mean() < 0.3


def test_missing_outputs_and_a_loss():
    X = np.linspace(0, 1, 20)[:, None]
    Y = np.column_stack([X, X > 0.5]).astype(float)
    Y[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"needs complete outputs.*Without a loss every column"):
        DependencyEstimator(loss="absolute").fit(X, Y)


def test_outputs_with_missing_entries_train():
    t = np.linspace(0, 1, 80)[:, None]
    curve = np.column_stack([np.sin(6 * t), np.cos(6 * t)])
    holes = curve.copy()
    holes[::3, 0], holes[1::4, 1] = np.nan, np.nan
    model = DependencyEstimator().fit(t, holes)
    assert np.abs(model.predict(t) - curve).max() < 0.05
    with pytest.raises(ValueError, match="Column 1 of the outputs has no value"):
        DependencyEstimator().fit(t, np.column_stack([t, np.full(80, np.nan)]))
    with pytest.raises(ValueError, match="missing entries"):
        DependencyEstimator(y_features="gaussian").fit(t, holes)


def test_losses_serve_as_scorers():
    model = DependencyEstimator(loss="f1", x_features=Gaussian(0.3))
    scores = cross_val_score(model, X, Y, scoring=LossScorer("f1"), cv=3)
    expected = []
    for k in range(3):
        test = np.array_split(np.arange(len(X)), 3)[k]
        train = np.setdiff1d(np.arange(len(X)), test)
        found = model.fit(X[train], Y[train]).predict(X[test])
        expected.append(f1_score(Y[test], found, average="samples", zero_division=1.0) - 1)
    np.testing.assert_allclose(scores, expected, atol=1e-12)
    search = GridSearchCV(model, {"loss": ["f1", "hamming"]}, scoring=LossScorer(F1()), cv=3)
    assert search.fit(X, Y).best_params_["loss"] == "f1"


def test_a_map_of_the_inputs_may_come_first():
    model = DependencyEstimator(loss="f1", x_features=PCA(3)).fit(X, Y)
    assert model.transform_inputs(X).shape == (len(X), 3)
    assert model.predict(X).shape == Y.shape


def test_a_compressed_model_predicts_through_fewer_rows():
    model = DependencyEstimator(loss="f1", x_features=Gaussian(0.3)).fit(X, Y)
    short = compress(model, 60)
    assert len(short.expansion_.objects) == 60
    assert (short.predict(X) == model.predict(X)).mean() > 0.8


def test_vectors_of_the_squared_loss_are_kernel_ridge_regression():
    y = np.sin(X[:, 0])
    model = DependencyEstimator(loss=VectorLoss(Squared()), x_features=Gaussian(0.2)).fit(X, y)
    ridge = KernelRidgeCV(Gaussian(0.2), alpha=model.regressor_.alpha_).fit(X, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-8)


@pytest.mark.parametrize(
    ("slots", "fit", "text"),
    [
        ({"loss": "f1", "y_features": "gaussian"}, {}, "a loss or y_features, not both"),
        ({"loss": "f1", "preimage": CandidatePreimage()}, {}, "a loss or preimage, not both"),
        ({"loss": "f1"}, {"unlabelled_outputs": Y}, "unlabelled_outputs"),
        ({"loss": "no such loss"}, {}, "A task loss must be one of"),
    ],
)
def test_what_does_not_go_together_is_refused(slots, fit, text):
    with pytest.raises(ValueError, match=text):
        DependencyEstimator(**slots).fit(X, Y, **fit)
    with pytest.raises(TypeError, match="needs a loss"):
        DependencyEstimator().fit(X, Y.astype(float)).decode(X)


def test_hamming_by_name_is_hamming_by_piece():
    named, piece = (DependencyEstimator(loss=loss).fit(X, Y) for loss in ("hamming", Hamming()))
    np.testing.assert_array_equal(named.predict(X), piece.predict(X))
