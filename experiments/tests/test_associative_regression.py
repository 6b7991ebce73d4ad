"""Regressions of every output on the other outputs, and the point at which they agree."""

import numpy as np
from isthmus_experiments.experiments._soar import (
    associate,
    learn_ridge,
    learn_support_vectors,
    predict,
)
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR


def made_up(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    latent = np.sin(X @ rng.normal(size=(3, 2)))
    return X, latent @ rng.normal(size=(2, 4)) + 0.05 * rng.normal(size=(n, 4))


def input_kernel(model, X):
    return np.exp(-model.gamma_x * cdist(X, model.X, "sqeuclidean"))


def test_slopes_are_those_of_the_values():
    X, Y = made_up()
    model = learn_ridge(X, Y, 0.3, 0.2, 0.1)
    K, Z = input_kernel(model, X[:5]), Y[:5] + 0.3
    J = associate(model, K, Z)[1]
    for k, step in enumerate(1e-5 * np.eye(4)):
        both = [associate(model, K, Z + sign * step)[0] for sign in (1, -1)]
        assert_allclose(J[:, :, k], (both[0] - both[1]) / 2e-5, atol=1e-7)


def test_without_weight_on_the_outputs_it_is_kernel_ridge_and_support_vectors():
    X, Y = made_up()
    start = np.zeros((10, 4))
    ridge = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.3).fit(X, Y - Y.mean(axis=0))
    found = predict(learn_ridge(X, Y, 0.3, 0.0, 0.1), X[:10], start)
    assert_allclose(found, ridge.predict(X[:10]) + Y.mean(axis=0), atol=1e-6)
    found = predict(learn_support_vectors(X, Y, 0.3, 0.0), X[:10], start)
    machine = SVR(C=10.0, epsilon=0.05, gamma=0.3).fit(X, Y[:, 2])
    assert_allclose(found[:, 2], machine.predict(X[:10]), atol=1e-2)


def test_all_regressions_agree_at_the_prediction():
    X, Y = made_up()
    model = learn_ridge(X[:50], Y[:50], 0.3, 0.1, 0.1)
    start = np.repeat(Y[:50].mean(axis=0)[None], 10, axis=0)
    found = predict(model, X[50:], start)
    K = input_kernel(model, X[50:])
    before, after = (np.sum((associate(model, K, Z)[0] - Z) ** 2, axis=1) for Z in (start, found))
    assert np.all(after <= before)
    assert np.median(after) < 1e-9
