"""Pursuit from inner products: the codes of the signals themselves, and their path."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import orthogonal_mp_gram

from isthmus.kernels import Gaussian
from isthmus.sparse import gram_pursuit, orthogonal_matching_pursuit


@pytest.fixture
def problem(rng):
    D = rng.normal(size=(25, 12)) * rng.uniform(0.5, 2.0, size=(25, 1))
    return rng.normal(size=(9, 12)), D


def products(X, D):
    return D @ D.T, X @ D.T, (X**2).sum(axis=1)


@pytest.mark.parametrize("rule", ["correlation", "residual"])
def test_codes_are_those_of_the_signals(problem, rule):
    X, D = problem
    G, B, squares = products(X, D)
    path = gram_pursuit(G, B, n_nonzero=4, squares=squares, rule=rule)
    for t in range(1, 5):
        expected = orthogonal_matching_pursuit(X, D, n_nonzero=t, rule=rule)
        assert_allclose(path.codes_after(t), expected, atol=1e-10)
        errors = ((X - expected @ D) ** 2).sum(axis=1)
        assert_allclose(path.squared_errors[:, t], errors, atol=1e-9)
    assert_array_equal(path.codes, path.codes_after(4))


def test_a_goal_ends_each_signal_by_itself(problem):
    X, D = problem
    G, B, squares = products(X, D)
    goals = np.linspace(0.3, 2.5, len(X))
    path = gram_pursuit(G, B, tol=goals, squares=squares)
    assert_allclose(path.codes, orthogonal_matching_pursuit(X, D, tol=goals), atol=1e-9)
    assert (path.squared_errors[:, -1] <= goals**2 + 1e-9).all()
    assert len(np.unique((path.support >= 0).sum(axis=1))) > 1


def test_the_path_is_that_of_scikit_learn(problem):
    X, D = problem
    D = D / np.linalg.norm(D, axis=1, keepdims=True)
    G, B, _ = products(X, D)
    for x, path in zip(B, gram_pursuit(G, B, n_nonzero=5).coefficients, strict=True):
        theirs = orthogonal_mp_gram(G, x, n_nonzero_coefs=5, return_path=True)
        support = np.flatnonzero(theirs[:, -1])
        assert_allclose(np.sort(path[-1]), np.sort(theirs[support, -1]), atol=1e-9)


def test_atoms_may_live_in_a_feature_space(rng):
    X = rng.normal(size=(20, 2))
    K = Gaussian(0.5)(X)
    target = np.zeros(20)
    target[[3, 11]] = 2.0, -1.0
    path = gram_pursuit(K, (K @ target)[None], n_nonzero=2, squares=[target @ K @ target])
    assert_allclose(path.codes[0], target, atol=1e-8)
    assert path.squared_errors[0, -1] < 1e-10


@pytest.mark.parametrize(
    ("G", "B", "settings", "words"),
    [
        (np.eye(3), np.ones((2, 4)), {}, "n_atoms, n_atoms"),
        (np.diag([1.0, -1.0]), np.ones((1, 2)), {}, "positive diagonal"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones((1, 2)), {}, "positive semi-definite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), np.ones((1, 2)), {}, "symmetric"),
        (np.eye(2), np.ones((1, 2)), {"tol": 0.1}, "needs squares"),
        (np.eye(2), np.ones((1, 2)), {"squares": [1.0, 2.0]}, "'squares'"),
        (np.eye(2), np.ones((1, 2)), {"n_nonzero": 3}, "'n_nonzero'"),
    ],
)
def test_refusals(G, B, settings, words):
    with pytest.raises(ValueError, match=words):
        gram_pursuit(G, B, **settings)
