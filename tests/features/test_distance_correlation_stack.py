"""The weighted sum of regressions that can predict the coordinates of new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor

from isthmus.features import DistanceCorrelationReduction
from isthmus.features.distance_correlation import directions, relevance, stack
from isthmus.features.distance_correlation.directions import (
    DirectionRidge,
    SlopeRidge,
    slope_directions,
    slopes,
)
from isthmus.features.distance_correlation.relevance import RelevanceRidge
from isthmus.features.distance_correlation.stack import (
    StackedRegression,
    convex_weights,
    mean_weights,
)
from isthmus.regression import KernelRidgeCV


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(60, 4))
    Y = np.c_[np.sin(X[:, 0]) + X[:, 1], X[:, 2] * X[:, 3]]
    X.flags.writeable = Y.flags.writeable = False
    return X, Y


def test_one_member_of_weight_one_is_the_stack(problem):
    X, Y = problem
    model = StackedRegression((LinearRegression(),), weights=(1.0,)).fit(X, Y)
    assert_allclose(model.predict(X), LinearRegression().fit(X, Y).predict(X))


def test_convex_weights_are_those_of_a_general_solver(rng):
    E = rng.normal(size=(50, 4)) * (1, 1.5, 2, 4) + rng.normal(size=(50, 1))
    found = minimize(
        lambda w: np.sum((E @ w) ** 2),
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14},
    )
    w = convex_weights(E)
    assert_allclose(w.sum(), 1)
    assert_allclose(w, found.x, atol=1e-5)


def test_weights_are_those_of_left_out_predictions(problem, monkeypatch):
    X, Y = problem
    monkeypatch.setattr(stack, "PARTS", 1)  # one part is all rows
    monkeypatch.setattr(stack, "N_DRAWS", 1)
    members = LinearRegression(), KNeighborsRegressor(3)
    errors = []
    for member in members:
        left_out = np.empty_like(Y)
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            left_out[test] = member.fit(X[train], Y[train]).predict(X[test])
        errors.append((left_out - Y).ravel())
    expected = convex_weights(np.array(errors).T)
    assert_allclose(StackedRegression(members).fit(X, Y).weights_, expected)


def test_one_huge_error_does_not_decide_the_weights(rng):
    errors = rng.normal(size=(400, 1, 2)) * (0.1, 1.0)
    errors[7, 0] = 1e3, 1.0
    assert convex_weights(errors[:, 0])[0] < 0.01
    assert mean_weights(errors, np.random.default_rng(0))[0] > 0.8


def test_a_member_that_only_repeats_what_it_saw_gets_next_to_nothing(rng):
    X = rng.normal(size=(100, 3))
    y = X[:, 0] + rng.normal(size=100)
    model = StackedRegression((LinearRegression(), KNeighborsRegressor(1))).fit(X, y)
    assert model.weights_[0] > 0.8


def test_nothing_to_learn_gives_about_the_mean(rng):
    X, noise = rng.normal(size=(80, 3)), rng.normal(size=80)
    model = StackedRegression().fit(X, noise)
    assert np.abs(model.predict(rng.normal(size=(50, 3))) - noise.mean()).mean() < 0.5


def test_settled_copies_repeat_the_fit(problem):
    X, Y = problem
    for model in (StackedRegression(), SlopeRidge(), DirectionRidge(2)):
        predicted = model.fit(X, Y).predict(X)
        assert predicted.shape == Y.shape
        assert_allclose(model.settled().fit(X, Y).predict(X), predicted, rtol=1e-8, atol=1e-10)


def test_slopes_are_those_of_the_regression(problem):
    X, Y = problem
    model = KernelRidgeCV("gaussian").fit(X, Y)
    G = slopes(model, X, Y).reshape(2, 60, 4)
    step = 1e-5
    for column in range(4):
        shift = step * np.eye(4)[column]
        slope = (model.predict(X + shift) - model.predict(X - shift)) / (2 * step)
        # A common factor, twice gamma, is left out: only directions count.
        assert_allclose(2 * model.kernel_.gamma * G[:, :, column].T, slope, atol=1e-7)


def test_many_outputs_give_slopes_of_their_leading_combinations(rng):
    X = rng.normal(size=(40, 3))
    Y = np.sin(X[:, :1]) @ rng.normal(size=(1, 12))
    G = slopes(KernelRidgeCV("gaussian").fit(X, Y), X, Y)
    assert G.shape == (directions.MAX_OUTPUTS * 40, 3)
    assert np.argmax(np.abs(slope_directions(G)[:, 0])) == 0


def test_directions_measure_distances_by_the_root_of_the_outer_products(rng):
    for shape in ((30, 5), (5, 30)):
        G = rng.normal(size=shape)
        W = slope_directions(G)
        metric = W @ W.T
        assert_allclose(metric @ metric, G.T @ G / np.linalg.norm(G, 2) ** 2, atol=1e-10)


def test_a_flat_function_leaves_the_metric_alone():
    assert_array_equal(slope_directions(np.zeros((6, 3))), np.eye(3))


def test_slopes_find_the_one_direction_that_matters(rng):
    X = rng.normal(size=(260, 15))
    b = np.r_[np.ones(3), np.zeros(12)] / np.sqrt(3)
    y = np.sin(2 * X @ b)
    train, test = slice(0, 200), slice(200, None)
    ours = SlopeRidge().fit(X[train], y[train])
    plain = RelevanceRidge(powers=(0.0,)).fit(X[train], y[train])
    leading = ours.directions_[:, 0]
    assert abs(leading @ b) > 0.95 * np.linalg.norm(leading)
    assert ours.score(X[test], y[test]) > plain.score(X[test], y[test]) + 0.05


def test_many_rows_are_handled_in_parts(monkeypatch, problem):
    X, Y = problem
    monkeypatch.setattr(relevance, "MAX_ROWS", 50)
    monkeypatch.setattr(relevance, "N_LANDMARKS", 30)
    monkeypatch.setattr(relevance, "N_SELECTION", 40)
    model = StackedRegression().fit(X, Y)
    assert model.members_[-1].max_samples == 50 / 60
    assert model.score(X, Y) > 0.5


def test_of_very_few_rows_all_members_are_believed_alike(rng):
    X = rng.normal(size=(5, 2))
    assert_allclose(StackedRegression().fit(X, X[:, 0]).weights_, 0.2)


def test_reduction_takes_the_stack_by_name(problem):
    X, Y = problem
    reduction = DistanceCorrelationReduction(3, regressor="stacked", crossfit=3)
    Z = reduction.fit_transform(X, Y)
    assert isinstance(reduction.regressor_, StackedRegression)
    assert Z.shape == reduction.transform(X).shape == (60, 3)
    again = DistanceCorrelationReduction(3, regressor="stacked").fit(X, Y)
    assert_array_equal(again.transform(X), reduction.transform(X))


def test_other_names_are_refused(problem):
    with pytest.raises(ValueError, match=r"'regressor' parameter of .*'stacked'.*Got 'forest'"):
        DistanceCorrelationReduction(2, regressor="forest").fit(*problem)
