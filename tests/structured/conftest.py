"""Toys that the tests of twin processes share."""

import numpy as np
import pytest


@pytest.fixture
def pairs(rng):
    X = rng.uniform(-1, 1, size=(40, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)])
    return X, Y


@pytest.fixture
def new(rng):
    return rng.uniform(-1, 1, size=(6, 2))
