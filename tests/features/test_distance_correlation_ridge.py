"""A ridge regression inside the reduction, solved from products that are there already."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge, RidgeCV

from isthmus.features import DistanceCorrelationReduction
from isthmus.features.distance_correlation.plain_ridge import ridge_of_products


@pytest.fixture
def table(rng):
    X = rng.normal(size=(60, 5)) * [3.0, 1.0, 1.0, 0.1, 10.0] + 7
    Y = np.column_stack([np.sin(X[:, 0]) + X[:, 1], X[:, 4] ** 2])
    return X, Y


class SlowRidge(Ridge):
    """Fitted on its rows, whatever is known of them."""


@pytest.mark.parametrize("outputs", [slice(None), 0])
@pytest.mark.parametrize("alpha", [1e-3, 1, 30.0])
def test_ridge_from_products_is_the_one_fitted_on_rows(table, outputs, alpha):
    X, Y = table[0], table[1][:, outputs]
    fast, slow = (
        DistanceCorrelationReduction(3, regressor=kind(alpha=alpha)).fit(X, Y)
        for kind in (Ridge, SlowRidge)
    )
    assert_allclose(fast.transform(X), slow.transform(X), rtol=1e-9, atol=1e-12)
    assert type(fast.regressor_) is Ridge
    for name, value in vars(slow.regressor_).items():
        found = getattr(fast.regressor_, name)
        assert np.shape(found) == np.shape(value), name
        if isinstance(value, (np.ndarray, float)):
            assert_allclose(found, value, rtol=1e-9, atol=1e-9, err_msg=name)
        else:
            assert found == value, name
    assert_allclose(fast.fit_transform(X, Y), slow.fit_transform(X, Y), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "regressor",
    [
        Ridge(alpha=0.0),
        Ridge(alpha=1e-12),
        Ridge(alpha=np.array([1.0, 2.0])),
        Ridge(fit_intercept=False),
        Ridge(positive=True),
        Ridge(solver="svd"),
        RidgeCV(),
        SlowRidge(),
    ],
    ids=repr,
)
def test_what_does_more_than_normal_equations_is_left_to_itself(table, regressor):
    joint = np.column_stack(table)
    joint = joint - joint.mean(axis=0)
    assert ridge_of_products(regressor, joint.T @ joint, 5) is None
    model = DistanceCorrelationReduction(2, regressor=regressor).fit(*table)
    assert_allclose(model.regressor_.n_features_in_, 5)


@pytest.mark.parametrize("fitted", [False, True])
def test_the_regression_given_is_copied_as_clone_does(table, fitted):
    given = Ridge(alpha=2.0, tol=1e-5)
    if fitted:
        given.fit(*table).feature_names_in_ = np.array(["a"])
    before = dict(vars(given))
    joint = np.column_stack(table)
    joint = joint - joint.mean(axis=0)
    found = ridge_of_products(given, joint.T @ joint, 5)
    assert vars(given).keys() == before.keys()
    assert found.get_params() == given.get_params()
    assert not hasattr(found, "feature_names_in_")
