"""Gaussian process classification: the approximation against its formulas and scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.special import expit
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessClassifier as Sklearn
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from isthmus.kernels import Gaussian, Normalized, Spectrum
from isthmus.regression import GaussianProcessClassifier
from isthmus.regression.gaussian_process.laplace import (
    average_logistic,
    find_mode,
    likelihood_weights,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    return X, (X[:, 0] + 0.5 * rng.normal(size=50) > 0).astype(int)


def covariance(X, theta):
    return np.exp(theta[0]) * Gaussian.from_width(np.exp(theta[1]))(X)


def test_the_mode_is_where_the_posterior_is_flat(rows):
    X, y = rows
    K = covariance(X, [1.0, 0.0])
    mode = find_mode(K, y)
    assert_allclose(K @ (y - expit(mode.latent)), mode.latent, atol=1e-5)
    again = find_mode(K, y, start=np.linspace(-3, 3, len(y)))
    assert_allclose(again.latent, mode.latent, atol=1e-5)


def test_likelihood_is_that_of_scikit_learn(rows):
    X, y = rows
    kernel = ConstantKernel(np.exp(0.7)) * RBF(np.exp(-0.2))
    theirs = Sklearn(kernel, optimizer=None).fit(X, y)
    ours = find_mode(covariance(X, [0.7, -0.2]), y).value
    assert ours == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-6)


def test_gradient_of_the_likelihood(rows):
    X, y = rows
    theta, step = np.array([0.7, -0.2]), 1e-5
    K = covariance(X, theta)
    M = likelihood_weights(K, find_mode(K, y))
    assert_allclose(M, M.T, atol=1e-12)
    slopes = []
    for j in range(2):
        move = step * np.eye(2)[j]
        slopes.append(covariance(X, theta + move) - covariance(X, theta - move))
    found = [np.sum(M * slope) / (2 * step) for slope in slopes]
    numeric = approx_fprime(theta, lambda t: find_mode(covariance(X, t), y).value, 1e-5)
    assert_allclose(found, numeric, rtol=1e-4)


@pytest.mark.parametrize("mean", [-10.0, -1.0, 0.3, 6.0])
@pytest.mark.parametrize("variance", [0.0, 0.5, 4.0, 24.9, 25.1, 400.0])
def test_average_logistic(mean, variance):
    def integrand(z):
        return expit(mean + np.sqrt(variance) * z) * norm.pdf(z)

    wanted = quad(integrand, -12, 12, limit=800, points=np.linspace(-11, 11, 23))[0]
    found = average_logistic(np.array([mean]), np.array([variance]))[0]
    assert found == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_at_least_as_likely_as_scikit_learn(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes][::2], y[y < n_classes][::2]
    theirs = Sklearn(ConstantKernel(1.0) * RBF(1.0), random_state=0).fit(X, y)
    ours = GaussianProcessClassifier(Gaussian.from_width(1.0), random_state=0).fit(X, y)
    assert ours.log_marginal_likelihood_ >= theirs.log_marginal_likelihood_value_ - 1e-2
    if n_classes == 3:
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.02)


def test_coarse_levels_end_where_all_rows_do():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1050, 2))
    y = np.sin(3 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=1050) > 0
    values = [
        GaussianProcessClassifier(n_init=1, coarse=coarse, random_state=0)
        .fit(X, y)
        .log_marginal_likelihood_
        for coarse in (True, False)
    ]
    assert values[0] == pytest.approx(values[1], abs=0.1)


def test_words_and_latent_functions():
    words = ["aab", "aaa", "bbb", "abb", "aba", "bab", "ccc", "cca"]
    labels = np.array(list("aabbabcc"))
    model = GaussianProcessClassifier(Normalized(Spectrum(1)), random_state=0).fit(words, labels)
    assert (model.predict(words) == labels).mean() >= 0.75
    means, deviations = model.latent(words)
    assert means.shape == deviations.shape == (8, 3)
    assert_allclose(model.predict_proba(words).sum(axis=1), 1.0)


def test_single_precision_is_computed_in_double(rng):
    # A smooth border on smooth rows asks for a wide kernel, whose matrix is nearly singular.
    t = rng.uniform(size=(80, 2))
    X = np.sin(t @ rng.uniform(1, 3, size=(2, 5))).astype(np.float32)
    y = (t[:, 0] > 0.5).astype(int)
    single, double = (
        GaussianProcessClassifier(n_init=1, random_state=0).fit(Z, y).predict_proba(Z)
        for Z in (X, X.astype(np.float64))
    )
    assert_allclose(single, double, atol=1e-12)


def test_a_kernel_that_is_given_stays(rows):
    X, y = rows
    model = GaussianProcessClassifier(Gaussian(0.3), learn_kernel=False, amplitude=2.0).fit(X, y)
    assert model.kernel_.gamma == 0.3
    assert model.amplitude_ == 2.0
    mean, deviation = model.latent(X[:5])
    mode = find_mode(4.0 * Gaussian(0.3)(X), y)
    assert_allclose(mean, mode.latent[:5], atol=1e-5)
    assert (deviation < 2.0).all()


def test_shared_among_processes(rows):
    X, _ = rows
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    one, two = (GaussianProcessClassifier(random_state=0, n_jobs=j).fit(X, y) for j in (None, 2))
    assert_allclose(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(50), "at least 2 classes.* Got 1 class, 0.0.$"),
        (np.zeros(49), "labels as objects"),
        (np.linspace(0, 1, 50), "Unknown label type"),
        (None, "requires y"),
    ],
)
def test_labels_that_are_none(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        GaussianProcessClassifier().fit(rows[0], labels)
