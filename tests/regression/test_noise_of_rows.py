"""Noise of each row, and bounds of what a process learns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from isthmus.kernels import ARD, Gaussian
from isthmus.regression import Committee, GaussianProcess, ParameterBounds


def waves(rng, n=50):
    X = np.sort(rng.uniform(0, 6, size=(n, 1)), axis=0)
    sigma = rng.uniform(0.05, 0.6, size=n)
    return X, np.sin(X[:, 0]) + sigma * rng.normal(size=n), sigma


def fixed(**parameters):
    settings = {"noise": 1.0, "amplitude": 0.9, "learn_kernel": False, "center": False}
    return GaussianProcess(Gaussian(0.5), **settings | parameters)


def test_likelihood_and_predictions_are_those_of_scikit_learn(rng):
    X, y, sigma = waves(rng)
    T = np.linspace(-1, 7, 20)[:, None]
    ours = fixed().fit(X, y, row_noise=sigma)
    theirs = GaussianProcessRegressor(
        ConstantKernel(0.81) * RBF(1.0), alpha=sigma**2, optimizer=None
    ).fit(X, y)
    assert_allclose(ours.log_marginal_likelihood_, theirs.log_marginal_likelihood_value_)
    assert_allclose(ours.log_marginal_likelihood(), ours.log_marginal_likelihood_)
    for a, b in zip(
        ours.predict(T, return_std=True, latent=True),
        theirs.predict(T, return_std=True),
        strict=True,
    ):
        assert_allclose(a, b, atol=1e-8)


def test_equal_factors_are_a_common_noise(rng):
    X, y, _ = waves(rng)
    for settings in ({}, {"criterion": "loo"}, {"approximation": Committee(2)}):
        plain = GaussianProcess(random_state=0, n_init=2, **settings).fit(X, y)
        twice = GaussianProcess(random_state=0, n_init=2, **settings).fit(
            X, y, row_noise=np.full(50, 2.0)
        )
        assert_allclose(twice.predict(X), plain.predict(X), atol=2e-3)
        assert_allclose(2 * twice.noise_, plain.noise_, rtol=2e-2)


def test_known_noise_of_rows_explains_more(rng):
    X, y, sigma = waves(rng, 150)
    plain = GaussianProcess(random_state=0, n_init=2).fit(X, y)
    told = GaussianProcess(random_state=0, n_init=2).fit(X, y, row_noise=sigma)
    assert told.log_marginal_likelihood_ > plain.log_marginal_likelihood_ + 10
    assert 0.8 < told.noise_ < 1.25  # the factors are the deviations themselves
    errors = [np.abs(m.predict(X) - np.sin(X[:, 0])).mean() for m in (told, plain)]
    assert errors[0] < errors[1]


def test_a_noisy_row_counts_like_copies_of_a_noisier_one(rng):
    X, y, _ = waves(rng, 20)
    copies = np.repeat(np.arange(20), 4)
    many = fixed().fit(X[copies], y[copies], row_noise=np.full(80, 2.0))
    assert_allclose(many.predict(X), fixed().fit(X, y).predict(X), atol=1e-8)


@pytest.mark.parametrize("settings", [{}, {"approximation": Committee(2)}])
def test_more_rows_bring_their_noise(settings, rng):
    X, y, sigma = waves(rng)
    whole = fixed(**settings).fit(X, y, row_noise=sigma)
    parts = fixed(**settings).fit(X[:30], y[:30], row_noise=sigma[:30])
    parts.partial_fit(X[30:], y[30:], row_noise=sigma[30:])
    if not settings:
        assert_allclose(parts.predict(X), whole.predict(X), atol=1e-9)
        assert_allclose(parts.log_marginal_likelihood(), whole.log_marginal_likelihood_)
        assert_allclose(parts.loo_predict(), whole.loo_predict(), atol=1e-9)
    assert np.abs(parts.predict(X) - whole.predict(X)).max() < 0.5


@pytest.mark.parametrize(
    ("row_noise", "settings", "words"),
    [
        (np.ones(49), {}, "50 positive numbers"),
        (np.zeros(50), {}, "50 positive numbers"),
        (np.ones(50), {"approximation": "inducing"}, "without approximation"),
    ],
)
def test_noise_of_rows_is_refused_by_name(row_noise, settings, words, rng):
    X, y, _ = waves(rng)
    with pytest.raises(ValueError, match=words):
        GaussianProcess(**settings).fit(X, y, row_noise=row_noise)


def test_parameters_stay_within_their_bounds(rng):
    X, y, _ = waves(rng, 80)
    free = GaussianProcess(random_state=0, n_init=2).fit(X, y)
    low, high = 2 * free.kernel_.gamma, 5 * free.kernel_.gamma
    bounds = ParameterBounds(kernel=(low, high), noise=(0.01, 0.5 * free.noise_))
    model = GaussianProcess(bounds=bounds, random_state=0, n_init=2).fit(X, y)
    assert low * (1 - 1e-9) <= model.kernel_.gamma <= high * (1 + 1e-9)
    assert_allclose(model.noise_, 0.5 * free.noise_)
    assert model.log_marginal_likelihood_ < free.log_marginal_likelihood_
    wide = ParameterBounds(noise=(1e-3, 10.0), amplitude=(1e-2, 1e2), kernel=[(1e-4, 1e4)])
    same = GaussianProcess(bounds=wide, random_state=0, n_init=2).fit(X, y)
    assert_allclose(same.log_marginal_likelihood_, free.log_marginal_likelihood_, atol=1e-2)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            GaussianProcess(ARD(Gaussian(0.5)), bounds=ParameterBounds(kernel=[(0.1, 1)] * 2)),
            "each of the 1 learned",
        ),
        (GaussianProcess(noise=0.1, bounds=ParameterBounds(noise=(0.1, 1))), "Give one of them"),
        (GaussianProcess(bounds=(0.1, 1)), "'bounds' parameter of GaussianProcess"),
        (GaussianProcess(bounds=ParameterBounds(noise=(1, 0.1))), "'noise'"),
        (GaussianProcess(bounds=ParameterBounds(noise=(0, 0.1))), "'noise'"),
    ],
)
def test_bounds_are_refused_by_name(model, words, rng):
    X, y, _ = waves(rng, 20)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_left_out_densities_use_the_noise_of_the_row(rng):
    X, y, sigma = waves(rng, 12)
    model = fixed().fit(X, y, row_noise=sigma)
    total = 0.0
    for i in range(12):
        rest = np.arange(12) != i
        part = fixed().fit(X[rest], y[rest], row_noise=sigma[rest])
        mean, std = part.predict(X[[i]], return_std=True, latent=True)
        total += stats.norm.logpdf(y[i], mean[0], np.hypot(std[0], sigma[i]))
    assert_allclose(model.loo_log_likelihood(), total)
