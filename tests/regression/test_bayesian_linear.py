import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.linear_model import BayesianRidge, Ridge

from isthmus.kernels import FunctionKernel
from isthmus.regression import BayesianLinearRegression, GaussianProcess


def rows(rng, n=50, noise=0.3):
    X = rng.normal(size=(n, 3)) + [0.0, 2.0, -1.0]
    return X, X @ [1.0, -0.5, 2.0] + 4 + noise * rng.normal(size=n)


@pytest.fixture
def prior(rng):
    A = rng.normal(size=(3, 3))
    return A @ A.T + 0.5 * np.eye(3)


def test_identities_between_weights_and_functions(rng, prior):
    Phi, s2 = rng.normal(size=(3, 8)), 0.3  # features are rows, as in the formulas
    K = Phi.T @ prior @ Phi
    A = Phi @ Phi.T / s2 + np.linalg.inv(prior)
    left, right = Phi @ (K + s2 * np.eye(8)) / s2, A @ prior @ Phi
    assert_allclose(left, right, atol=1e-10)
    assert_allclose(
        np.linalg.solve(A, Phi) / s2, prior @ Phi @ np.linalg.inv(K + s2 * np.eye(8)), atol=1e-10
    )
    Z, U, W, V = np.eye(8) * 2, Phi.T, prior, rng.normal(size=(8, 3))
    Zi = np.linalg.inv(Z)
    inner = np.linalg.inv(np.linalg.inv(W) + V.T @ Zi @ U)
    assert_allclose(np.linalg.inv(Z + U @ W @ V.T), Zi - Zi @ U @ inner @ V.T @ Zi, atol=1e-10)


def test_posterior_is_that_of_the_formula(rng, prior):
    X, y = rows(rng)
    model = BayesianLinearRegression(prior, noise=0.3, fit_intercept=False).fit(X, y)
    A = X.T @ X / 0.09 + np.linalg.inv(prior)
    assert_allclose(model.coef_, np.linalg.solve(A, X.T @ y) / 0.09, rtol=1e-9)
    assert_allclose(0.09 * model.covariance_, np.linalg.inv(A), atol=1e-12)
    cov = X @ prior @ X.T + 0.09 * np.eye(50)
    expected = multivariate_normal(np.zeros(50), cov).logpdf(y)
    assert model.log_marginal_likelihood_ == pytest.approx(expected)


def test_it_is_a_gaussian_process_with_the_kernel_of_its_prior(rng, prior):
    X, y = rows(rng)
    T = rng.normal(size=(10, 3))
    kernel = FunctionKernel(lambda A, B: A @ prior @ B.T, on_vectors=True)
    process = GaussianProcess(kernel, noise=0.3, amplitude=1.0, center=False).fit(X, y)
    model = BayesianLinearRegression(prior, noise=0.3, fit_intercept=False).fit(X, y)
    for latent in (True, False):
        assert_allclose(
            model.predict(T, return_std=True, latent=latent),
            process.predict(T, return_std=True, latent=latent),
            rtol=1e-6,
        )
    assert model.log_marginal_likelihood_ == pytest.approx(process.log_marginal_likelihood_)


def test_a_white_prior_is_ridge_regression(rng):
    X, y = rows(rng)
    model = BayesianLinearRegression(2.0, noise=0.5).fit(X, y)
    ridge = Ridge(alpha=0.25 / 2).fit(X, y)
    assert_allclose(model.coef_, ridge.coef_)
    assert_allclose(model.intercept_, ridge.intercept_)
    assert_allclose(model.predict(X), ridge.predict(X))


def test_scikit_learn_with_fixed_precisions_agrees(rng):
    X, y = rows(rng)
    # Precisions that it has learned, given to ours: the posteriors must be the same.
    theirs = BayesianRidge(alpha_init=4.0, lambda_init=0.5, max_iter=300).fit(X, y)
    ours = BayesianLinearRegression(1 / theirs.lambda_, noise=theirs.alpha_**-0.5).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)
    assert_allclose(ours.noise_**2 * ours.covariance_, theirs.sigma_, rtol=1e-3, atol=1e-8)


def test_learned_noise_and_scale_have_the_largest_likelihood(rng):
    X, y = rows(rng, 200)
    model = BayesianLinearRegression().fit(X, y)
    assert model.noise_ == pytest.approx(0.3, rel=0.15)
    scale = model.prior_scale_**2
    best = BayesianLinearRegression(scale, noise=model.noise_).fit(X, y).log_marginal_likelihood_
    assert best == pytest.approx(model.log_marginal_likelihood_)
    for factor in (0.9, 1.1):
        for change in ((factor * scale, model.noise_), (scale, factor * model.noise_)):
            other = BayesianLinearRegression(change[0], noise=change[1]).fit(X, y)
            assert other.log_marginal_likelihood_ < best


def test_blocks_of_rows_give_what_all_rows_give(rng, prior):
    X, y = rows(rng)
    Y = np.column_stack([y, -y + X[:, 0]])
    for parameters in ({}, {"noise": 0.4, "fit_intercept": False}):
        whole = BayesianLinearRegression(prior, **parameters).fit(X, Y)
        grown = BayesianLinearRegression(prior, **parameters)
        for part in np.array_split(np.arange(50), 7):
            grown.partial_fit(X[part], Y[part])
        assert_allclose(grown.coef_, whole.coef_, rtol=1e-5)
        assert_allclose(
            grown.predict(X, return_std=True), whole.predict(X, return_std=True), rtol=1e-5
        )
        assert grown.log_marginal_likelihood_ == pytest.approx(whole.log_marginal_likelihood_)


def test_draws_have_the_moments_that_are_predicted(rng):
    X, y = rows(rng, 12)
    model = BayesianLinearRegression(noise=0.5).fit(X, y)
    for latent in (True, False):
        mean, std = model.predict(X[:4], return_std=True, latent=latent)
        Y = model.sample(X[:4], 20_000, random_state=0, latent=latent)
        assert_allclose(Y.mean(axis=0), mean, atol=0.03)
        assert_allclose(Y.std(axis=0), std, rtol=0.03)


def test_intervals_hold_as_many_outputs_as_they_say():
    held = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        w, X = rng.normal(size=4), rng.normal(size=(120, 4))
        y = X @ w + 0.7 * rng.normal(size=120)
        model = BayesianLinearRegression(noise=0.7).fit(X[:20], y[:20])
        low, high = model.predict_interval(X[20:], 0.8)
        held.append(np.mean((low < y[20:]) & (y[20:] < high)))
    assert abs(np.mean(held) - 0.8) < 0.03


def test_more_columns_than_rows(rng):
    X = rng.normal(size=(10, 30))
    y = X[:, 0]
    model = BayesianLinearRegression(noise=0.1, fit_intercept=False).fit(X, y)
    expected = multivariate_normal(np.zeros(10), X @ X.T + 0.01 * np.eye(10)).logpdf(y)
    assert model.log_marginal_likelihood_ == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior_covariance": np.eye(2)}, r"symmetric matrix of shape \(3, 3\)"),
        ({"prior_covariance": [1.0, 2.0]}, r"symmetric matrix of shape \(3, 3\)"),
        ({"prior_covariance": -np.eye(3)}, "must be positive definite"),
        ({"prior_covariance": 0.0}, "'prior_covariance' parameter .* a float in .0, inf"),
        ({"noise": 0.0}, "'noise' parameter of BayesianLinearRegression"),
    ],
)
def test_bad_parameters_are_named(parameters, message, rng):
    model = BayesianLinearRegression(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*rows(rng))
    assert not hasattr(model, "coef_")


def test_bad_data_are_refused(rng):
    X, y = rows(rng)
    with pytest.raises(ValueError, match="y contains NaN"):
        BayesianLinearRegression().fit(X, np.where(y > 4, np.nan, y))
    model = BayesianLinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="expected 1, got 2"):
        model.partial_fit(X, np.column_stack([y, y]))
