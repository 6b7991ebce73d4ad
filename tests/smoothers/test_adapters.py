"""Regressors of scikit-learn as smoothers, and weights of left-out rows."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.tree import DecisionTreeRegressor

from isthmus.linalg import RidgePath
from isthmus.regression import KernelRidgeCV
from isthmus.smoothers import as_smoother, left_out_weights
from isthmus.testing import check_smoother

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))


@pytest.mark.parametrize(
    "regressor",
    [
        RandomForestRegressor(8, random_state=0),
        ExtraTreesRegressor(8, random_state=0),
        DecisionTreeRegressor(max_depth=3, random_state=0),
        KNeighborsRegressor(3),
        KNeighborsRegressor(3, weights="distance"),
        KNeighborsRegressor(3, weights=lambda d: np.exp(-d)),
        Ridge(2.0),
        Ridge(1.0, fit_intercept=False),
        RidgeCV(),
        LinearRegression(),
    ],
    ids=lambda r: type(r).__name__,
)
def test_adapter(regressor):
    check_smoother(as_smoother(regressor), X, Y)


def test_what_has_weights_is_taken_as_it_is_and_what_has_none_is_refused():
    ours = KernelRidgeCV()
    assert as_smoother(ours) is ours
    with pytest.raises(TypeError, match="'weights' of its training outputs"):
        as_smoother(MLPRegressor())


def test_left_out_weights_are_those_of_a_fit_without_the_row():
    K = X @ X.T + 1.0
    H = np.eye(40) - 1 / 40
    W = left_out_weights(RidgePath(H @ K @ H, Y, intercept=True), 0.7)
    for i in (0, 17):
        rest = np.delete(np.arange(40), i)
        ridge = as_smoother(Ridge(0.7)).fit(X[rest], Y[rest])
        np.testing.assert_allclose(W[i, rest], ridge.weights(X[i : i + 1])[0], atol=1e-10)
        assert W[i, i] == 0
