import numpy as np
import pytest

import isthmus
from isthmus.regression import KernelRidgeCV


@pytest.fixture(scope="session")
def fitted():
    X = np.random.default_rng(0).normal(size=(30, 2))
    return KernelRidgeCV().fit(X, X[:, 0] ** 2), X


@pytest.fixture(scope="session")
def whole(tmp_path_factory, fitted):
    """The bytes of a good file."""
    path = tmp_path_factory.mktemp("model") / "m.isthmus"
    isthmus.save(fitted[0], path)
    return path.read_bytes()
