"""Regression through coordinates of largest distance correlation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

from isthmus.features import DistanceCorrelationReduction
from isthmus.structured import DistanceCorrelationRegressor


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(160, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=160)
    X.flags.writeable = y.flags.writeable = False
    return X, y


def test_default_explains_unseen_diabetes_patients():
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(DistanceCorrelationRegressor(), X, y, cv=3).mean() > 0.4


def test_predictions_do_not_change_with_targets_of_other_rows(problem):
    X, y = problem
    train = slice(0, 100)
    one = DistanceCorrelationRegressor(3).fit(X[train], y[train]).predict(X[100:])
    y_other = y.copy()
    y_other[100:] = 0
    other = DistanceCorrelationRegressor(3).fit(X[train], y_other[train]).predict(X[100:])
    assert_array_equal(one, other)


def test_fit_on_optimal_coordinates_is_too_good_to_be_true(problem, rng):
    X, _ = problem
    noise = rng.normal(size=160)  # nothing to learn
    published = DistanceCorrelationRegressor(3, crossfit=None).fit(X, noise)
    honest = DistanceCorrelationRegressor(3, crossfit=5).fit(X, noise)
    own = published.regressor_.predict(published.reduction_.embedding_).ravel()
    assert np.std(own - noise) < 0.3 * noise.std()
    Z = clone(honest.reduction_).fit_transform(X, noise)
    assert np.std(honest.regressor_.predict(Z).ravel() - noise) > 0.8 * noise.std()


def test_five_components_or_as_many_as_there_are(problem):
    X, y = problem
    assert DistanceCorrelationRegressor().fit(X, y).n_components_ == 5
    model = DistanceCorrelationRegressor().fit(X[:, :2], y)
    assert model.n_components_ == 3
    assert model.predict_coordinates(X[:4, :2]).shape == (4, 3)


def test_given_parts_are_used_and_left_untouched(problem):
    X, y = problem
    reduction = DistanceCorrelationReduction(2, y_weight=0.8)
    model = DistanceCorrelationRegressor(reduction=reduction, regressor=LinearRegression())
    model.fit(X, y)
    assert model.n_components_ == 2
    assert reduction.labels == "auto"
    assert not hasattr(reduction, "embedding_")
    Z = model.predict_coordinates(X[:5])
    expected = Z @ model.regressor_.coef_.T + model.regressor_.intercept_
    assert_allclose(model.predict(X[:5]), expected[:, 0])


def test_number_of_components_wins_over_that_of_the_reduction(problem):
    model = DistanceCorrelationRegressor(3, reduction=DistanceCorrelationReduction(2))
    assert model.fit(*problem).n_components_ == 3


@pytest.mark.parametrize("mapping", ["learned", "linear"])
@pytest.mark.parametrize("crossfit", [3, None])
def test_true_distance_correlation_fits_the_slot(problem, mapping, crossfit):
    X, y = problem
    reduction = DistanceCorrelationReduction(
        3, solver="gradient", mapping=mapping, n_landmarks=90, random_state=0
    )
    model = DistanceCorrelationRegressor(reduction=reduction, crossfit=crossfit).fit(X, y)
    assert model.score(X, y) > 0.2


def test_outputs_keep_their_shape(problem):
    X, y = problem
    Y = np.c_[y, X[:, 0]]
    assert DistanceCorrelationRegressor(2).fit(X, Y).predict(X[:3]).shape == (3, 2)
    assert DistanceCorrelationRegressor(2).fit(X, y).predict(X[:3]).shape == (3,)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 9}, ValueError, r"'n_components' .* int in \[1, 7\]"),
        ({"crossfit": 1}, ValueError, "'crossfit' .* Got 1"),
        ({"reduction": LinearRegression()}, TypeError, "must be a DistanceCorrelationReduction"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_fitted(problem, parameters, error, message):
    model = DistanceCorrelationRegressor(**parameters)
    with pytest.raises(error, match=message):
        model.fit(*problem)
    assert not hasattr(model, "reduction_")
