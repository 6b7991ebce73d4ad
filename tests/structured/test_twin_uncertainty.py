"""Which predictions of a twin process can be relied on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

from isthmus.kernels import Gaussian
from isthmus.structured import TwinGaussianProcess

SETTINGS = {
    "x_kernel": Gaussian(1.0),
    "y_kernel": Gaussian(0.7),
    "alpha_x": 0.02,
    "alpha_y": 0.05,
}


def curves(X):
    return np.column_stack([np.sin(3 * X[:, 0]), np.cos(2 * X[:, 1]) + X[:, 0]])


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl"])
@pytest.mark.parametrize("size", [{}, {"n_landmarks": 40}, {"n_neighbors": 15}])
def test_uncertainty_is_the_expected_squared_distance_of_images(rng, criterion, size):
    X, new = rng.uniform(-1, 1, size=(40, 2)), rng.uniform(-2, 2, size=(7, 2))
    Y = curves(X)
    details = TwinGaussianProcess(**SETTINGS, criterion=criterion, **size).fit(X, Y)
    details = details.predict_details(new)
    x_kernel, y_kernel = SETTINGS["x_kernel"], SETTINGS["y_kernel"]
    for x, y, value in zip(new, details.outputs, details.uncertainty, strict=True):
        near = np.argsort(-x_kernel(x[None], X)[0])[: size.get("n_neighbors", len(X))]
        K = x_kernel(X[near]) + 0.02 * np.eye(len(near))
        k_x = x_kernel(x[None], X[near])[0]
        u = np.linalg.solve(K, k_x)
        distance = 1 - 2 * u @ y_kernel(y[None], Y[near])[0] + u @ y_kernel(Y[near]) @ u
        expected = 1.02 - k_x @ u + distance
        assert value == pytest.approx(expected, rel=1e-4 if "n_landmarks" in size else 1e-8)


@pytest.mark.parametrize("criterion", ["kl", "inverse_kl"])
@pytest.mark.parametrize("regime", ["half of the queries extrapolate", "noise depends on place"])
def test_uncertainty_ranks_errors_inside_and_outside_the_data(criterion, regime):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 2))
    Y = curves(X) + 0.05 * rng.normal(size=(120, 2))
    far = rng.uniform(1, 3, size=(50, 2)) * rng.choice([-1, 1], size=(50, 2))
    new = np.concatenate([rng.uniform(-1, 1, size=(50, 2)), far])
    truth = curves(new)
    if regime.startswith("noise"):
        new = rng.uniform(-1, 1, size=(100, 2))
        Y += 0.5 * (X[:, :1] > 0) * rng.normal(size=Y.shape)
        truth = curves(new) + 0.5 * (new[:, :1] > 0) * rng.normal(size=new.shape)
    model = TwinGaussianProcess(**SETTINGS, criterion=criterion).fit(X, Y)
    details = model.predict_details(new)
    error = np.abs(details.outputs - truth).mean(axis=1)
    assert spearmanr(details.uncertainty, error)[0] > 0.4


def test_uncertainty_of_words_and_under_hsic(rng):
    X = rng.normal(size=(30, 2))
    words = np.where(X[:, 0] > 0, "right", "left")
    labels = TwinGaussianProcess(y_kernel="delta", tune=None).fit(X, words)
    details = labels.predict_details([[2.0, 0.0], [0.0, 0.0], [40.0, 0.0]])
    assert details.uncertainty[2] == details.uncertainty.max()
    assert np.isfinite(details.uncertainty).all()
    hsic = TwinGaussianProcess(criterion="hsic", tune=None).fit(X, X)
    assert_allclose(hsic.predict_details(X[:3]).uncertainty, np.nan)
