"""Covariance functions of Gaussian processes, and what can be learned of a kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import erf
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process import kernels as theirs

from isthmus.kernels import (
    ARD,
    Constant,
    Exponential,
    GammaExponential,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    NeuralNetwork,
    Polynomial,
    RationalQuadratic,
    SpectralMixture,
    Spectrum,
    ToSklearn,
    as_kernel,
)
from isthmus.regression import GaussianProcess

MIXTURE = SpectralMixture(
    weights=(0.7, 0.4),
    frequencies=((0.5, 0.0, 1.2), (2.0, 0.3, 0.8)),
    deviations=((0.2, 0.1, 0.0), (0.3, 0.4, 0.1)),
)

# Kernels and how many of their parameters can be learned.
LEARNED = [
    (Gaussian(1.3), 1),
    (Laplacian(0.8), 1),
    (Exponential(0.7), 1),
    (Polynomial(3, coef0=0.5, gamma=2.0), 2),
    (Polynomial(3, coef0=0.0), 1),
    (Matern(0.5, length_scale=0.6), 1),
    (Matern(1.5, length_scale=0.6), 1),
    (Matern(2.5, length_scale=0.6), 1),
    (Matern(0.8, length_scale=0.6), 1),
    (Matern(np.inf, length_scale=0.6), 1),
    (RationalQuadratic(0.7, length_scale=0.4), 2),
    (GammaExponential(1.3, length_scale=0.5), 1),
    (NeuralNetwork(2.0, bias=0.5), 2),
    (MIXTURE, 12),
    (3.0 * Gaussian(1.0) + Constant(0.4), 3),
    (Gaussian(0.5) * (Linear() + 0.3), 2),
    (ARD(Gaussian(0.5), length_scales=(0.5, 1.0, 4.0)), 3),
    (ARD(RationalQuadratic(0.7, length_scale=1.0), length_scales=(0.5, 1.0, 4.0)), 4),
    (ARD(Linear(), length_scales=(0.5, 1.0, 4.0)), 3),
    (2.0 * ARD(NeuralNetwork(bias=0.3), length_scales=(0.5, 1.0, 4.0)), 5),
]


@pytest.mark.parametrize(("kernel", "n_parameters"), LEARNED, ids=repr)
class TestLearnedParameters:
    def test_they_go_in_and_out(self, kernel, n_parameters, rng):
        theta = kernel.log_parameters()
        assert len(theta) == n_parameters
        X = rng.uniform(size=(7, 3))
        assert_allclose(kernel.with_log_parameters(theta)(X), kernel(X), rtol=1e-12)
        assert_allclose(kernel.with_log_parameters(theta + 0.1).log_parameters(), theta + 0.1)

    def test_gradient_between_two_sets(self, kernel, n_parameters, rng, assert_gradient):
        X, Z = rng.uniform(size=(9, 3)), rng.uniform(size=(6, 3))
        W = rng.normal(size=(9, 6))
        assert_gradient(
            lambda t: np.vdot(W, kernel.with_log_parameters(t).gram(X, Z)),
            lambda t: kernel.with_log_parameters(t).parameter_gradient(X, Z, W),
            kernel.log_parameters(),
            rng,
        )

    def test_gradient_within_one_set(self, kernel, n_parameters, rng, assert_gradient):
        X, W = rng.uniform(size=(9, 3)), rng.normal(size=(9, 9))
        W = W + W.T
        assert_gradient(
            lambda t: np.vdot(W, kernel.with_log_parameters(t).gram(X, X)),
            lambda t: kernel.with_log_parameters(t).parameter_gradient(X, X, W),
            kernel.log_parameters(),
            rng,
        )

    def test_gradient_of_the_diagonal(self, kernel, n_parameters, rng, assert_gradient):
        X, w = rng.uniform(size=(9, 3)), rng.normal(size=9)
        assert_gradient(
            lambda t: w @ kernel.with_log_parameters(t).diag(X),
            lambda t: kernel.with_log_parameters(t).diag_parameter_gradient(X, w),
            kernel.log_parameters(),
            rng,
        )


def test_gradients_do_not_suffer_from_a_far_origin(rng):
    X, W = rng.uniform(size=(20, 2)), rng.normal(size=(20, 20))
    W = W + W.T
    for kernel in (ARD(Gaussian(0.5), length_scales=(0.3, 0.4)), Matern(1.5, length_scale=0.3)):
        near, far = (kernel.parameter_gradient(A, A, W) for A in (X, X + 1e5))
        assert_allclose(far, near, rtol=1e-5)


def test_a_kernel_of_strings_has_nothing_to_learn():
    kernel = Spectrum(2)
    assert kernel.log_parameters().shape == (0,)
    assert kernel.with_log_parameters(np.empty(0)) is kernel
    assert kernel.parameter_gradient(["ab"], ["ab"], np.ones((1, 1))).shape == (0,)


@pytest.mark.parametrize(
    ("ours", "sklearn_kernel"),
    [
        (Matern(0.5, length_scale=0.7), theirs.Matern(0.7, nu=0.5)),
        (Matern(1.5, length_scale=0.7), theirs.Matern(0.7, nu=1.5)),
        (Matern(2.5, length_scale=0.7), theirs.Matern(0.7, nu=2.5)),
        (Matern(1.1, length_scale=0.7), theirs.Matern(0.7, nu=1.1)),
        (Matern(np.inf, length_scale=0.7), theirs.RBF(0.7)),
        (RationalQuadratic(0.6, length_scale=0.7), theirs.RationalQuadratic(0.7, 0.6)),
        (ARD(Gaussian(0.5), length_scales=(0.3, 2.0)), theirs.RBF([0.3, 2.0])),
        (ARD(Matern(1.5, length_scale=1.0), length_scales=(0.3, 2.0)), theirs.Matern([0.3, 2.0])),
    ],
    ids=repr,
)
def test_values_are_those_of_scikit_learn(ours, sklearn_kernel, rng):
    X, Z = rng.uniform(size=(30, 2)), rng.uniform(size=(20, 2))
    assert_allclose(ours(X, Z), sklearn_kernel(X, Z), atol=1e-12)
    assert_allclose(ours(X), sklearn_kernel(X), atol=1e-12)


def test_limits_meet_in_the_gaussian_and_the_exponential(rng):
    X = rng.uniform(size=(30, 2))
    gaussian, exponential = Gaussian.from_width(0.5)(X), Matern(0.5, length_scale=0.5)(X)
    assert_allclose(Matern(50.0, length_scale=0.5)(X), gaussian, atol=1e-2)
    assert_allclose(Matern(np.inf, length_scale=0.5)(X), gaussian, atol=1e-12)
    assert_allclose(Matern(0.5 + 1e-9, length_scale=0.5)(X), exponential, atol=1e-7)
    assert_allclose(RationalQuadratic(1e6, length_scale=0.5)(X), gaussian, atol=1e-5)
    assert_allclose(GammaExponential(1.0, length_scale=0.5)(X), exponential, atol=1e-12)
    root_two = 0.5 * np.sqrt(2)
    assert_allclose(GammaExponential(2.0, length_scale=root_two)(X), gaussian, atol=1e-12)


def test_ranks_are_those_of_the_feature_spaces(rng):
    X = rng.normal(size=(200, 3))
    X.flags.writeable = False
    ranks = [
        (Constant(2.0), 1),
        (Linear(), 3),
        (Polynomial(2), 10),
        (Gaussian.from_width(0.3), 200),
        (Matern(1.5, length_scale=1.0), 200),
    ]
    for kernel, rank in ranks:
        assert np.linalg.matrix_rank(kernel(X), hermitian=True) == rank, kernel


def test_neural_network_covariance_is_that_of_random_networks(rng):
    x, z = np.array([0.4, -1.0]), np.array([1.5, 0.3])
    U = rng.normal(size=(400_000, 3)) * np.sqrt([0.5, 2.0, 2.0])
    units = erf(U @ np.array([[1, *x], [1, *z]]).T)
    drawn = np.mean(units[:, 0] * units[:, 1])
    assert_allclose(NeuralNetwork(2.0, bias=0.5)(x, z), drawn, atol=5e-3)


def test_ard_does_not_depend_on_the_units_of_columns(rng):
    X = rng.normal(size=(30, 2))
    assert_allclose(ARD(Gaussian())(X * [1000.0, 0.01]), ARD(Gaussian())(X), rtol=1e-8)
    assert as_kernel("ard") == ARD(Gaussian())


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (Matern(0.0), ValueError, r"'nu' parameter of Matern must be a float in \(0.0, 50.0\]"),
        (Matern(length_scale=-1.0), ValueError, "'length_scale' parameter of Matern"),
        (Matern(length_scale="mean"), ValueError, "must be a positive float or 'median'"),
        (RationalQuadratic(0.0), ValueError, "'exponent' parameter of RationalQuadratic"),
        (GammaExponential(2.5), ValueError, r"'exponent' .* \(0.0, 2.0\]. Got 2.5"),
        (NeuralNetwork(-1.0), ValueError, "'weight' parameter of NeuralNetwork"),
        (ARD(Gaussian(), length_scales=(1.0,)), ValueError, "each of 2 columns. Got 1"),
        (ARD(Gaussian(), length_scales=(1.0, 0.0)), ValueError, "'length_scales' parameter of ARD"),
        (ARD(Gaussian(), length_scales="mean"), ValueError, "'length_scales' parameter of ARD"),
        (ARD(Spectrum(2)), TypeError, "ARD needs a kernel that compares vectors"),
    ],
    ids=repr,
)
def test_bad_parameters_are_named(kernel, error, message):
    with pytest.raises(error, match=message):
        kernel(np.array([[0.0, 1.0], [1.0, 2.0]]))


def test_scikit_learn_classifies_by_laplace_with_our_kernel(rng):
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 0] > 1)
    y[::5] = rng.integers(3, size=8)  # noise, or the best amplitude would be infinite
    ours = theirs.ConstantKernel(4.0) * ToSklearn(Gaussian.from_width(0.8))
    native = theirs.ConstantKernel(4.0) * theirs.RBF(0.8, length_scale_bounds="fixed")
    a, b = (GaussianProcessClassifier(k).fit(X, y).predict_proba(X) for k in (ours, native))
    assert_allclose(a, b, atol=1e-6)


def test_scikit_learn_regresses_on_words_with_our_kernel():
    words, y = ["aab", "aba", "abb", "bbb"], np.arange(4.0)
    model = GaussianProcessRegressor(ToSklearn(Spectrum(1)), alpha=0.1).fit(words, y)
    K = Spectrum(1)(words)
    assert_allclose(model.predict(words), K @ np.linalg.solve(K + 0.1 * np.eye(4), y))
    assert model.predict(["ab"], return_std=True)[1].shape == (1,)


def test_a_mixture_is_the_formula(rng):
    X, Z = rng.uniform(size=(6, 3)), rng.uniform(size=(5, 3))
    tau = X[:, None] - Z[None]
    expected = 0.0
    for w, mu, sigma in zip(MIXTURE.weights, MIXTURE.frequencies, MIXTURE.deviations, strict=True):
        waves = np.cos(2 * np.pi * tau * mu) * np.exp(-2 * np.pi**2 * tau**2 * np.square(sigma))
        expected = expected + w * waves.prod(axis=2)
    assert_allclose(MIXTURE(X, Z), expected, atol=1e-12)


def test_a_mixture_without_frequencies_is_a_gaussian_and_without_deviation_periodic(rng):
    X = rng.uniform(size=(20, 2))
    plain = SpectralMixture(frequencies=np.zeros((1, 2)), deviations=[[0.3, 0.3]])
    assert_allclose(plain(X), Gaussian((0.3 * np.pi) ** 2 * 2)(X), atol=1e-12)
    waves = SpectralMixture(frequencies=[[3.0, 0.0]], deviations=np.zeros((1, 2)))
    assert_allclose(waves(X, X + np.array([1 / 3, 7.0])), waves(X, X), atol=1e-10)


def test_a_process_learns_frequencies_and_continues_a_wave(rng):
    t = np.sort(rng.uniform(0, 10, size=80))[:, None]
    y = np.sin(2 * np.pi * 0.8 * t[:, 0]) + 0.05 * rng.normal(size=80)
    model = GaussianProcess(SpectralMixture(3), n_init=4, random_state=0).fit(t, y)
    plain = GaussianProcess(n_init=2, random_state=0).fit(t, y)
    assert model.log_marginal_likelihood_ > plain.log_marginal_likelihood_ + 20
    new = np.linspace(10.5, 12.5, 30)[:, None]
    assert np.abs(model.predict(new) - np.sin(2 * np.pi * 0.8 * new[:, 0])).max() < 0.2


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (SpectralMixture(frequencies=[[1.0]]), r"of shape \(1, 2\)"),
        (SpectralMixture(weights=(1.0, 2.0), frequencies=[[1.0, 1.0]]), r"of shape \(2, 2\)"),
        (SpectralMixture(frequencies=[[-1.0, 1.0]]), "must not be negative. Got -1"),
        (SpectralMixture(0), "'n_components' parameter of SpectralMixture"),
    ],
)
def test_a_mixture_refuses_by_name(kernel, words, rng):
    with pytest.raises(ValueError, match=words):
        kernel(rng.uniform(size=(4, 2)))
