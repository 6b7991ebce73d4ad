"""Parameters that cannot be used, data that are too large, refits that fail, stray warnings."""

import numpy as np
import pytest

from isthmus.regression import (
    BayesianLinearRegression,
    BayesianStiefelRegression,
    GaussianProcess,
    KernelRidgeCV,
    LocalPolynomialRegression,
    ReducedRankRegression,
    SequentialStiefelRegression,
    StiefelRegression,
    SupportFeatureMachine,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
Y = X @ RNG.normal(size=(3, 2)) + 0.1 * RNG.normal(size=(24, 2))
CLASSES = X[:, 0] > 0
MODELS = {
    BayesianLinearRegression: {},
    BayesianStiefelRegression: {"rank": 1, "n_chains": 2, "n_samples": 8, "random_state": 0},
    GaussianProcess: {"n_init": 1, "random_state": 0},
    KernelRidgeCV: {},
    LocalPolynomialRegression: {},
    ReducedRankRegression: {},
    SequentialStiefelRegression: {},
    StiefelRegression: {"loss": "huber"},
    SupportFeatureMachine: {"random_state": 0},
}
each_model = pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)


def outputs(cls):
    return CLASSES if cls is SupportFeatureMachine else Y


@each_model
def test_wrong_parameters_are_refused_by_name_in_one_line(cls, assert_refuses_wrong_parameters):
    assert_refuses_wrong_parameters(cls, MODELS[cls], X, outputs(cls))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (StiefelRegression(alpha=None), "alpha"),
        (ReducedRankRegression(alpha=None), "alpha"),
        (ReducedRankRegression(alpha=[0.1, None]), "alpha"),
        (KernelRidgeCV(alpha=None), "alpha"),
        (KernelRidgeCV(kernel=[]), "kernel"),
        (KernelRidgeCV(kernel=["linear", 3]), "kernel"),
        (BayesianLinearRegression(prior_covariance=True), "prior_covariance"),
        (LocalPolynomialRegression(bandwidth=True), "bandwidth"),
        (StiefelRegression(1, cv=0), "cv"),  # not used here
        (StiefelRegression(1, init=("a", "b", "c"), loss="huber"), "init"),
    ],
    ids=repr,
)
def test_values_that_only_look_right_are_refused(model, name):
    with pytest.raises((TypeError, ValueError), match=f"The '{name}' parameter of"):
        model.fit(X, Y)


@each_model
def test_values_whose_powers_overflow_are_refused(cls):
    for inputs, targets, what in ((X * 1e160, Y, "X"), (X, Y * 1e160, "y")):
        if cls is SupportFeatureMachine:
            inputs, targets, what = X * 1e160, CLASSES, "X"
        with pytest.raises(
            ValueError, match=f"{cls.__name__} needs numbers of magnitude .* in {what}: "
        ):
            cls(**MODELS[cls]).fit(inputs, targets)


def test_a_committee_refuses_them_too():
    with pytest.raises(ValueError, match="rescale"):
        GaussianProcess(approximation="committee").fit(X * 1e160, Y)


@pytest.mark.filterwarnings("ignore:The chains of BayesianStiefelRegression")
@each_model
def test_a_refit_that_fails_leaves_the_former_fit(cls):
    model = cls(**MODELS[cls]).fit(X, outputs(cls))
    before = model.predict(X)
    for inputs, targets in ((X[:, :2], outputs(cls)[:-3]), (X[:, :2] * 1e160, outputs(cls))):
        with pytest.raises(ValueError, match=r"as many outputs|inconsistent|overflow"):
            model.fit(inputs, targets)
    assert model.n_features_in_ == 3
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("rows", [np.ones((24, 3)), np.zeros((24, 3)), X[:1], X * 1e-60])
def test_rows_that_do_not_vary_are_learned_without_a_warning(rows, fit_intercept):
    model = BayesianLinearRegression(fit_intercept=fit_intercept).fit(rows, Y[: len(rows)])
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


@pytest.mark.filterwarnings("ignore:The chains of BayesianStiefelRegression")
@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
def test_outputs_that_do_not_vary_are_learned_without_a_warning(likelihood):
    model = BayesianStiefelRegression(1, likelihood=likelihood, n_samples=20, random_state=0)
    model.fit(X, np.full((24, 2), 3.0))
    assert np.abs(model.predict(X) - 3).max() < 0.1


def test_single_precision_queries_are_answered_in_single_precision():
    model = LocalPolynomialRegression(bandwidth=1.0).fit(X, Y)
    few = X.astype(np.float32)
    assert model.predict(few).dtype == model.jacobian(few).dtype == np.float32
    assert model.predict(X).dtype == np.float64
