"""Differences of evenly spaced numbers, each looked at once."""

import numpy as np
import pytest

from isthmus.kernels import SpectralMixture
from isthmus.kernels.vectors import spectral
from isthmus.kernels.vectors.lags import common_lags

MIXTURE = SpectralMixture(weights=(1.0, 0.5), frequencies=[[0.0], [1.5]], deviations=[[0.2], [0.1]])


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("rows", [np.arange(300), np.r_[0:150, 170:290:3, 299]])
def test_table_of_distances_is_the_formula(monkeypatch, width, rows):
    rng = np.random.default_rng(0)
    t = np.linspace(-3, 9, 300)[rows][rng.permutation(len(rows))][:, None]
    others = t if width == 1 else np.linspace(9, 12, 76)[:-1, None] + 0.04 * width
    W = rng.normal(size=(len(t), len(others)))
    W = W + W.T if others is t else W
    assert common_lags(t[:, 0], t[:, 0]) is not None
    K, slope = MIXTURE.gram(t, others), MIXTURE.parameter_gradient(t, others, W)
    monkeypatch.setattr(spectral, "MOST_AT_ONCE", 0)  # one component after the other
    np.testing.assert_allclose(K, MIXTURE.gram(t, others), atol=1e-14)
    np.testing.assert_allclose(slope, MIXTURE.parameter_gradient(t, others, W), rtol=1e-12)
    monkeypatch.setattr(spectral, "common_lags", lambda x, z: None)
    np.testing.assert_allclose(K, MIXTURE.gram(t, others), atol=1e-12)
    np.testing.assert_allclose(slope, MIXTURE.parameter_gradient(t, others, W), rtol=1e-10)


def test_pairs_before_the_diagonal_stand_for_two(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    kernel = SpectralMixture(3).resolve(X)
    W = rng.normal(size=(90, 90))
    W += W.T
    monkeypatch.setattr(spectral, "BLOCK_NUMBERS", 2 * 90 * 16)
    K = kernel.gram(X, X)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, kernel.gram(X, X.copy()), atol=1e-14)
    whole = kernel.parameter_gradient(X, X.copy(), W)
    np.testing.assert_allclose(kernel.parameter_gradient(X, X, W), whole, rtol=1e-10)


@pytest.mark.parametrize(
    "x",
    [
        np.sort(np.random.default_rng(0).uniform(size=40)),
        np.r_[np.arange(30.0), 30.0 + 1e-9],
        np.arange(30.0, dtype=np.float32),
        np.zeros(30),
        np.r_[np.arange(30.0), 1e6],
    ],
    ids=["uneven", "nearly even", "single precision", "one number", "far"],
)
def test_other_numbers_have_no_grid(x):
    assert common_lags(x, x) is None
    K = MIXTURE.gram(x[:, None], x[:, None])
    np.testing.assert_allclose(K, MIXTURE.gram(x[:, None], x[:, None].copy()), rtol=1e-5)


def test_numbers_off_the_grid_by_rounding_are_on_it():
    x = np.array([0.1 * i for i in range(50)]) + 1950.0
    lags = common_lags(x, x)
    np.testing.assert_allclose(lags.distances, np.arange(50) * 0.1, atol=1e-12)
    np.testing.assert_array_equal(lags.left, np.arange(50))
