"""The whole square: limiting cases, any piece in any slot, objects, bad input."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from isthmus.features import DistanceCorrelationReduction, KernelPCA, SlowFeatureAnalysis
from isthmus.kernels import Delta, FunctionKernel, Gaussian, Linear, Precomputed
from isthmus.preimage import (
    AnalyticPreimage,
    CandidatePreimage,
    FixedPointPreimage,
    GradientPreimage,
    LearnedPreimage,
    NeighborPreimage,
)
from isthmus.regression import KernelRidgeCV
from isthmus.structured import DependencyEstimator


@pytest.fixture
def pairs(rng):
    X = rng.uniform(-1, 1, size=(80, 2))
    angle = 3 * X[:, 0]
    Y = np.column_stack([np.cos(angle), np.sin(angle), X[:, 1]])
    return X, Y


@pytest.fixture
def new(rng):
    return rng.uniform(-0.9, 0.9, size=(15, 2))


# Limiting cases -----------------------------------------------------------------------


def test_linear_output_kernel_with_all_components_is_kernel_ridge(pairs, new):
    X, Y = pairs
    reference = KernelRidge(alpha=0.1, kernel="rbf", gamma=2.0).fit(X, Y).predict(new)
    for regressor in (
        KernelRidge(alpha=0.1, kernel="rbf", gamma=2.0),
        KernelRidgeCV(Gaussian(2.0), alpha=0.1, fit_intercept=False),
    ):
        model = DependencyEstimator(
            y_features=KernelPCA(kernel="linear", center=False), regressor=regressor
        )
        assert_allclose(model.fit(X, Y).predict(new), reference, atol=1e-8)


def test_centred_outputs_are_kernel_ridge_about_the_mean(pairs, new):
    X, Y = pairs
    ridge = KernelRidge(alpha=0.1, kernel="rbf", gamma=2.0)
    reference = ridge.fit(X, Y - Y.mean(axis=0)).predict(new) + Y.mean(axis=0)
    model = DependencyEstimator(regressor=clone(ridge)).fit(X, Y)
    assert_allclose(model.predict(new), reference, atol=1e-8)


def test_input_coordinates_with_ridge_are_kernel_ridge(pairs, new):
    X, Y = pairs
    through = DependencyEstimator(
        x_features=KernelPCA(kernel=Gaussian(2.0)), regressor=Ridge(alpha=0.1)
    ).fit(X, Y)
    direct = DependencyEstimator(regressor=KernelRidgeCV(Gaussian(2.0), alpha=0.1)).fit(X, Y)
    assert_allclose(through.predict(new), direct.predict(new), atol=1e-6)


def test_linear_kernels_on_both_sides_are_ridge(pairs, new):
    X, Y = pairs
    model = DependencyEstimator(x_features="linear", regressor=Ridge(alpha=0.5)).fit(X, Y)
    assert_allclose(model.predict(new), Ridge(alpha=0.5).fit(X, Y).predict(new), atol=1e-10)


def test_labels_through_delta_are_least_squares_one_against_the_rest(pairs, new):
    X, _ = pairs
    labels = np.where(X[:, 0] > 0.3, "a", np.where(X[:, 1] > 0, "b", "c"))
    one_hot = OneHotEncoder(sparse_output=False).fit(labels[:, None])
    ridge = KernelRidgeCV(Gaussian(2.0), alpha=0.1)
    scores = ridge.fit(X, one_hot.transform(labels[:, None])).predict(new)
    expected = one_hot.categories_[0][scores.argmax(axis=1)]
    model = DependencyEstimator(y_features=Delta(), regressor=clone(ridge)).fit(X, labels)
    assert (model.predict(new) == expected).all()


def test_more_components_never_fit_the_training_outputs_worse(pairs):
    X, Y = pairs
    errors = []
    for r in (1, 2, 3):
        model = DependencyEstimator(y_features=KernelPCA(r, kernel="linear")).fit(X, Y)
        errors.append(np.mean((model.predict(X) - Y) ** 2))
    assert errors == sorted(errors, reverse=True)


def test_candidates_return_the_training_output_at_its_input(pairs):
    X, Y = pairs
    model = DependencyEstimator(
        y_features=Gaussian(2.0),
        regressor=KernelRidgeCV(Gaussian(50.0), alpha=1e-10),
        preimage=CandidatePreimage(),
    ).fit(X, Y)
    assert_allclose(model.predict(X), Y)


# Any piece in any slot -----------------------------------------------------------------

X_SLOTS = [None, "gaussian", KernelPCA(20, kernel="gaussian"), StandardScaler(), "passthrough"]
REGRESSORS = [None, Ridge(alpha=1e-3), KNeighborsRegressor(3), KernelRidgeCV()]
Y_SLOTS = [None, Gaussian(), KernelPCA(0.99, kernel="gaussian"), PCA(2), StandardScaler()]
PREIMAGES = [
    None,
    LearnedPreimage(),
    CandidatePreimage(),
    NeighborPreimage(8),
    FixedPointPreimage(),
    GradientPreimage(),
]


def fits(y_features, preimage):
    """Whether the pre-image can be had for these output features."""
    if isinstance(preimage, FixedPointPreimage):
        return isinstance(y_features, Gaussian) or (
            isinstance(y_features, KernelPCA) and y_features.kernel == "gaussian"
        )
    if isinstance(preimage, GradientPreimage):
        return not isinstance(y_features, (PCA, StandardScaler))
    return True


@pytest.mark.parametrize("preimage", PREIMAGES, ids=repr)
@pytest.mark.parametrize("y_features", Y_SLOTS, ids=repr)
def test_any_output_side(pairs, new, y_features, preimage):
    model = DependencyEstimator(y_features=y_features, preimage=preimage)
    if not fits(y_features, preimage):
        with pytest.raises(TypeError):
            model.fit(*pairs)
        return
    predicted = model.fit(*pairs).predict(new)
    angle = 3 * new[:, 0]
    truth = np.column_stack([np.cos(angle), np.sin(angle), new[:, 1]])
    # Two principal components of three outputs lose something; candidates are coarse.
    bound = 0.6 if isinstance(y_features, PCA) else 0.25
    assert np.sqrt(np.mean((predicted - truth) ** 2)) < bound


@pytest.mark.parametrize("regressor", REGRESSORS, ids=repr)
@pytest.mark.parametrize("x_features", X_SLOTS, ids=repr)
def test_any_input_side(pairs, new, x_features, regressor):
    model = DependencyEstimator(
        x_features=x_features, regressor=regressor, y_features=Gaussian()
    ).fit(*pairs)
    assert model.predict(new).shape == (15, 3)
    linear = isinstance(regressor, Ridge) and x_features in (None, "passthrough")
    linear = linear or (isinstance(regressor, Ridge) and isinstance(x_features, StandardScaler))
    assert model.score(*pairs) > (0.4 if linear else 0.85)


def test_a_map_that_inverts_itself_is_its_own_preimage(pairs, new):
    model = DependencyEstimator(y_features=PCA(3)).fit(*pairs)
    assert model.preimage_ is None
    assert_allclose(model.predict(new), DependencyEstimator().fit(*pairs).predict(new), atol=1e-8)
    own = KernelPCA(0.99, kernel="gaussian", preimage=NeighborPreimage(5))
    model = DependencyEstimator(y_features=own).fit(*pairs)
    assert model.preimage_ is None
    named = DependencyEstimator(y_features="gaussian", preimage=NeighborPreimage(5)).fit(*pairs)
    assert_allclose(model.predict(new), named.predict(new), atol=1e-8)


def test_outputs_may_pass_as_they_are(pairs, new):
    X, Y = pairs
    forest = RandomForestRegressor(10, random_state=0)
    model = DependencyEstimator(regressor=forest, y_features="passthrough").fit(X, Y)
    assert_allclose(model.predict(new), clone(forest).fit(X, Y).predict(new))


def test_one_output_stays_flat(pairs, new):
    X, Y = pairs
    for y_features in (None, "gaussian", "passthrough"):
        model = DependencyEstimator(y_features=y_features).fit(X, Y[:, 2])
        assert model.predict(new).shape == (15,)
        assert model.score(X, Y[:, 2]) > 0.95


# Within scikit-learn ------------------------------------------------------------------


def test_grid_search_reaches_into_the_slots(pairs):
    grid = GridSearchCV(
        DependencyEstimator(
            x_features=Gaussian(1.0), y_features=KernelPCA(kernel=Gaussian()), preimage=None
        ),
        {
            "x_features__gamma": [2.0, 1e3],
            "y_features__kernel__gamma": [0.5, 1.0],
            "y_features__n_components": [2, 0.99],
            "preimage": [None, LearnedPreimage()],
        },
        cv=2,
    ).fit(*pairs)
    assert grid.best_params_["x_features__gamma"] == 2.0
    assert grid.best_score_ > 0.9


def test_pipelines_and_folds(pairs):
    X, Y = pairs
    pipe = make_pipeline(StandardScaler(), DependencyEstimator())
    predicted = cross_val_predict(pipe, X, Y, cv=4)
    assert predicted.shape == Y.shape
    assert cross_val_score(pipe, X, Y, cv=4).min() > 0.9


def test_lists_of_objects_on_both_sides():
    names = ["red apple", "green apple", "red pear", "green pear"] * 6
    colours = [name.split()[0] for name in names]
    words = FunctionKernel(
        lambda a, b: float(len(set(a.split()) & set(b.split()))), pairwise_calls=True
    )
    model = DependencyEstimator(x_features=words, y_features=Delta())
    assert model.fit(names, colours).predict(["green plum"])[0] == "green"
    folds = KFold(3, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, names, colours, cv=folds)
    assert (predicted == np.array(colours)).all()
    assert cross_val_score(model, names, colours, cv=folds).min() > 0.9
    assert clone(model).fit(names, colours).score(names, colours) > 0.9


def test_series_of_unequal_length_as_outputs(rng):
    X = rng.uniform(size=(30, 1))
    series = [np.full(3 + (x > 0.5), x > 0.5, dtype=float) for x in X[:, 0]]
    by_length = FunctionKernel(lambda a, b: float(len(a) == len(b)), pairwise_calls=True)
    model = DependencyEstimator(y_features=by_length)
    predicted = cross_val_predict(model, X, series, cv=3)
    assert predicted.dtype == object
    assert np.mean([len(p) == len(s) for p, s in zip(predicted, series, strict=True)]) > 0.9


def test_indices_of_a_gram_matrix_as_outputs(pairs):
    X, Y = pairs
    gram = Gaussian(2.0)(Y)
    model = DependencyEstimator(y_features=Precomputed(gram)).fit(X, np.arange(80))
    chosen = model.predict(X)
    assert np.sqrt(np.mean((Y[chosen] - Y) ** 2)) < 0.1


def test_gram_matrix_of_inputs(pairs):
    X, Y = pairs
    K = Gaussian(2.0)(X)
    model = DependencyEstimator(x_features="precomputed")
    assert cross_val_score(model, K, Y, cv=4).min() > 0.9
    direct = DependencyEstimator(x_features=Gaussian(2.0)).fit(X, Y)
    assert_allclose(model.fit(K, Y).predict(K[:5]), direct.predict(X[:5]), atol=1e-8)


def test_fitted_estimators_survive_the_disk(pairs, new, tmp_path):
    model = DependencyEstimator(y_features="gaussian", preimage=NeighborPreimage(5)).fit(*pairs)
    joblib.dump(model, tmp_path / "model")
    assert_allclose(joblib.load(tmp_path / "model").predict(new), model.predict(new))


def test_float32_stays_float32(pairs, new):
    X, Y = (a.astype(np.float32) for a in pairs)
    model = DependencyEstimator(y_features="gaussian").fit(X, Y)
    assert model.predict(new.astype(np.float32)).dtype == np.float32


def test_scores_before_and_after_the_preimage(pairs):
    X, Y = pairs
    model = DependencyEstimator(y_features="gaussian").fit(X, Y)
    assert 0.9 < model.score_coordinates(X, Y) <= 1
    linear = DependencyEstimator(y_features=Linear()).fit(X, Y)
    weights = Y.var(axis=0) / Y.var(axis=0).sum()
    residual = ((linear.predict(X) - Y) ** 2).mean(axis=0)
    expected = 1 - residual.sum() / Y.var(axis=0).sum()
    assert linear.score_coordinates(X, Y) == pytest.approx(expected, rel=1e-8)
    assert weights.sum() == pytest.approx(1)


# Digits: what the method is for ---------------------------------------------------------


def test_digit_completion_beats_neighbours_and_kernel_ridge():
    D = load_digits().data / 16
    X, Y = D[:, :32], D[:, 32:]
    train, test = slice(0, 900), slice(900, None)
    predicted = {
        "neighbour": KNeighborsRegressor(1).fit(X[train], Y[train]).predict(X[test]),
        "ridge": GridSearchCV(
            KernelRidge(kernel="rbf"), {"gamma": [0.03, 0.1, 0.3], "alpha": [1e-2, 1e-1, 1.0]}, cv=3
        )
        .fit(X[train], Y[train])
        .predict(X[test]),
        "ours": DependencyEstimator(y_features="gaussian", preimage=LearnedPreimage())
        .fit(X[train], Y[train])
        .predict(X[test]),
    }
    error = {name: np.mean((P - Y[test]) ** 2) for name, P in predicted.items()}
    assert error["ours"] < error["neighbour"]
    assert error["ours"] <= error["ridge"]


def test_a_learned_preimage_learns_from_left_out_predictions(rng):
    X = rng.uniform(-1, 1, size=(150, 2))
    Y = np.column_stack([np.sin(3 * X), X[:, :1] * X[:, 1:]]) + 0.3 * rng.normal(size=(150, 3))
    New = rng.uniform(-1, 1, size=(300, 2))
    truth = np.column_stack([np.sin(3 * New), New[:, :1] * New[:, 1:]])
    errors = {}
    for crossfit in (None, 5):
        model = DependencyEstimator(
            y_features=KernelPCA(3, kernel="gaussian"),
            preimage=LearnedPreimage(),
            crossfit=crossfit,
        ).fit(X, Y)
        errors[crossfit] = np.mean((model.predict(New) - truth) ** 2)
    assert errors[5] < errors[None]
    with pytest.raises(ValueError, match=r"'crossfit' parameter .* int in \[2, inf\)"):
        clone(model).set_params(crossfit=1).fit(X, Y)


def test_other_preimages_know_outputs_by_their_own_coordinates(pairs, new):
    predicted = [
        DependencyEstimator(y_features="gaussian", preimage=NeighborPreimage(5), crossfit=c)
        .fit(*pairs)
        .predict(new)
        for c in (None, 5)
    ]
    assert_allclose(*predicted)


# Bad input -----------------------------------------------------------------------------


def test_slots_say_what_they_want(pairs):
    for params, message in [
        ({"regressor": PCA()}, "'regressor' slot .* provides 'predict'"),
        ({"x_features": Ridge()}, "'x_features' slot .* provides 'transform'"),
        ({"y_features": Ridge()}, "'y_features' slot .* provides 'transform'"),
        ({"preimage": PCA()}, "'preimage' slot .* provides 'solve'"),
        ({"regressor": Ridge}, "Call it to make one"),
    ]:
        with pytest.raises(TypeError, match=message):
            DependencyEstimator(**params).fit(*pairs)
    with pytest.raises(ValueError, match="Unknown kernel 'gausian'"):
        DependencyEstimator(x_features="gausian").fit(*pairs)
    with pytest.raises(ValueError, match="needs output features"):
        DependencyEstimator(y_features="passthrough", preimage=LearnedPreimage()).fit(*pairs)


def test_bad_data_is_named(pairs):
    X, Y = pairs
    with pytest.raises(ValueError, match="as many outputs as inputs: expected 80, got 79"):
        DependencyEstimator().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="Column 0 of the outputs has no value"):
        DependencyEstimator().fit(X, np.full_like(Y, np.nan))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        DependencyEstimator().fit(np.full_like(X, np.nan), Y)
    with pytest.raises(ValueError, match="found no variance"):
        DependencyEstimator().fit(X, np.ones_like(Y))
    with pytest.raises(ValueError, match="2 features"):
        DependencyEstimator().fit(X, Y).predict(X[:, :1])


def test_text_without_a_kernel_gets_a_hint(pairs):
    X, Y = pairs
    words = ["a"] * 40 + ["b"] * 40
    with pytest.raises(ValueError, match=r"got text as outputs.*in y_features: \"delta\""):
        DependencyEstimator().fit(X, words)
    with pytest.raises(ValueError, match=r"got text as inputs.*in x_features"):
        DependencyEstimator().fit(words, Y)


def test_rows_of_a_gram_matrix_are_no_outputs(pairs):
    X, Y = pairs
    with pytest.raises(ValueError, match=r"y_features=Precomputed\(matrix\)"):
        DependencyEstimator(y_features="precomputed").fit(X, Gaussian(1.0)(Y))


def test_functions_and_foreign_kernels_fit_the_slots(pairs, new):
    X, Y = pairs
    ours = DependencyEstimator(x_features=Gaussian(0.5)).fit(X, Y).predict(new)
    for kernel in (lambda A, B: Gaussian(0.5)(A, B), RBF(1.0)):
        model = DependencyEstimator(x_features=kernel, y_features=Linear()).fit(X, Y)
        assert_allclose(model.predict(new), ours, atol=1e-6)


def test_a_failed_fit_leaves_the_old_one_alone(pairs, new):
    X, Y = pairs
    model = DependencyEstimator().fit(X, Y)
    before = model.predict(new)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.full_like(Y, np.nan))
    assert_allclose(model.predict(new), before)


def test_parameters_are_not_changed_by_fit(pairs):
    parts = {
        "x_features": KernelPCA(5, kernel=Gaussian()),
        "y_features": KernelPCA(kernel=Gaussian()),
        "regressor": LinearRegression(),
        "preimage": AnalyticPreimage(),
    }
    parts["preimage"] = NeighborPreimage(4)
    model = DependencyEstimator(**parts).fit(*pairs)
    for name, part in parts.items():
        assert getattr(model, name) is part
    assert parts["y_features"].kernel.gamma == "median"
    assert not hasattr(parts["regressor"], "coef_")


def test_a_function_of_the_outputs_as_features(pairs, new):
    logs = FunctionTransformer(np.arctanh, np.tanh, check_inverse=False)
    X, Y = pairs
    model = DependencyEstimator(y_features=logs).fit(X, 0.9 * Y)
    assert np.abs(model.predict(new)).max() < 1


# The outputs teach φ, and objects without a partner teach both sides ---------------------


def test_slow_features_in_the_slot_are_no_kernel_map(pairs, new):
    X, Y = pairs
    model = DependencyEstimator(x_features=SlowFeatureAnalysis()).fit(X, Y)
    assert isinstance(model.regressor_, KernelRidgeCV)
    assert model.score(X, Y) > 0.99


@pytest.mark.parametrize(
    "features", [DistanceCorrelationReduction(2), PLSRegression(2)], ids=lambda f: type(f).__name__
)
@pytest.mark.parametrize("crossfit", [None, 5])
def test_supervised_features_learn_from_the_outputs(rng, features, crossfit):
    X = rng.normal(size=(160, 8))
    Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]])
    model = DependencyEstimator(x_features=features, crossfit=crossfit).fit(X[:120], Y[:120])
    assert model.score(X[120:], Y[120:]) > 0.9


def test_a_regression_behind_supervised_features_learns_from_left_out_coordinates(rng):
    # Sixty columns for eighty rows: scores of the training rows hold their very outputs.
    X, y = rng.normal(size=(80, 60)), rng.normal(size=80)
    new = rng.normal(size=(400, 60))
    spread = {
        crossfit: DependencyEstimator(x_features=PLSRegression(5), crossfit=crossfit)
        .fit(X, y)
        .predict(new)
        .std()
        for crossfit in (None, 5)
    }
    # There is nothing to be learned: the honest one says so.
    assert spread[5] < 0.5 * spread[None]


def test_a_map_of_one_output_says_that_there_are_several(pairs):
    with pytest.raises(TypeError, match="does not provide 'several_outputs'"):
        DependencyEstimator(x_features=SelectKBest(f_regression, k=1)).fit(*pairs)
    X, Y = pairs
    model = DependencyEstimator(x_features=SelectKBest(f_regression, k=1)).fit(X, Y[:, 2])
    assert model.score(X, Y[:, 2]) > 0.9


def test_supervised_output_features_are_refused(pairs):
    with pytest.raises(TypeError, match="'supervised', that is, it asks for outputs"):
        DependencyEstimator(y_features=PLSRegression(2)).fit(*pairs)


def test_one_regressor_for_each_coordinate_where_it_knows_one_alone(pairs, new):
    X, Y = pairs
    model = DependencyEstimator(regressor=SVR(C=100.0), y_features="passthrough").fit(X, Y)
    expected = np.column_stack([SVR(C=100.0).fit(X, y).predict(new) for y in Y.T])
    assert_allclose(model.predict(new), expected)
    one = DependencyEstimator(regressor=SVR(C=100.0), y_features="passthrough").fit(X, Y[:, 0])
    assert_allclose(one.predict(new), expected[:, 0])


def test_a_classifier_is_no_regressor(pairs):
    with pytest.raises(TypeError, match="predicts classes"):
        DependencyEstimator(regressor=SVC()).fit(*pairs)


def test_unlabelled_objects_shape_both_feature_maps(pairs, rng):
    X, Y = pairs
    more_X, more_Y = rng.uniform(-1, 1, size=(40, 2)), rng.uniform(-1, 1, size=(30, 3))
    model = DependencyEstimator(
        x_features=KernelPCA(kernel=Gaussian(2.0)),
        y_features=KernelPCA(0.99, kernel=Gaussian(1.0)),
        preimage=CandidatePreimage(),
    ).fit(X, Y, unlabelled=more_X, unlabelled_outputs=more_Y)
    assert len(model.x_features_.objects_) == 120
    assert len(model.y_features_.objects_) == 110
    assert len(model.preimage_.objects_) == 110
    expected = KernelPCA(kernel=Gaussian(2.0)).fit(np.vstack([X, more_X])).transform(X)
    assert_allclose(model.x_features_.transform(X), expected, atol=1e-10)
    learned = DependencyEstimator(y_features="gaussian", preimage=LearnedPreimage())
    assert learned.fit(X, Y, unlabelled_outputs=Y[:30]).score(X, Y) > 0.9
    words = DependencyEstimator(y_features="delta")
    labels = ["a" if x > 0 else "b" for x in X[:, 0]]
    words.fit(X, labels, unlabelled_outputs=["c", "a"])
    assert len(words.y_features_.objects_) == 82


class WeightedMean(BaseEstimator):
    """A pre-image by a stranger, which is given weights over the training outputs."""

    needs = frozenset({"weights", "vectors"})
    provides = frozenset({"solve"})

    def fit(self, objects, feature_map, coordinates=None):
        self.objects_ = objects
        return self

    def solve(self, weights, start=None):
        return weights @ self.objects_


def test_a_preimage_may_ask_for_weights_over_the_training_outputs(pairs, new):
    X, Y = pairs
    ridge = KernelRidgeCV(Gaussian(2.0), alpha=0.1)
    expected = clone(ridge).fit(X, Y).predict(new)
    for y_features in (None, "gaussian", "passthrough"):
        model = DependencyEstimator(
            regressor=ridge, y_features=y_features, preimage=WeightedMean()
        ).fit(X, Y)
        assert_allclose(model.predict(new), expected, atol=1e-8)
    with pytest.raises(TypeError, match="does not provide 'weights'"):
        DependencyEstimator(regressor=Ridge(), preimage=WeightedMean()).fit(X, Y)
