"""The Gaussian Gram matrix in compiled tiles."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from isthmus.kernels import Gaussian
from isthmus.kernels.vectors import gaussian


@pytest.mark.parametrize("n", [7, 8, 9, 255, 256, 263, 600, 1101])
def test_mirrored_tiles_are_the_formula(rng, monkeypatch, n):
    monkeypatch.setattr(gaussian, "COMPILED", 0)
    X = 3 + rng.normal(size=(n, 4))
    K = Gaussian(0.3).gram(X, X)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), 1)
    assert_allclose(K, np.exp(-0.3 * cdist(X, X, "sqeuclidean")), rtol=1e-12)
    assert_allclose(Gaussian(0.3).gram(X, X[:5].copy()), K[:, :5], rtol=1e-12)


def test_tiles_do_not_depend_on_threads(rng):
    from threadpoolctl import threadpool_limits

    X = rng.normal(size=(1500, 3))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(Gaussian(0.1).gram(X, X))
    assert_array_equal(*found)


def test_numbers_that_are_not_known_stay_so(rng, monkeypatch):
    monkeypatch.setattr(gaussian, "COMPILED", 0)
    X = rng.normal(size=(20, 2))
    X[3] = np.nan
    with np.errstate(invalid="ignore"):
        K = Gaussian(0.1).gram(X, np.where(np.isnan(X), 0, X))
    assert np.isnan(K[3]).all()
    assert np.isfinite(np.delete(K, 3, axis=0)).all()
