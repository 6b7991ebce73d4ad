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


def test_many_small_blocks_of_a_fit_are_compiled_like_a_large_one(rng, monkeypatch):
    X, Z = rng.normal(size=(4, 3)), rng.normal(size=(40, 3))
    kernel, work = Gaussian(0.3), 4 * 40 * 5
    monkeypatch.setattr(gaussian, "COMPILED", 2 * work)
    found = []
    known = gaussian._exponentials
    monkeypatch.setattr(
        gaussian, "_exponentials", lambda *given: found.append(given[-1]) or known(*given)
    )
    in_fit, alone = kernel.against_in_fit(Z), kernel.against(Z)
    expected = np.exp(-0.3 * cdist(X, Z, "sqeuclidean"))
    for values in (in_fit, alone):
        for _ in range(3):
            assert_allclose(values(X), expected, rtol=1e-12)
    assert found == [work, 2 * work, 3 * work, work, work, work]


def test_a_kernel_of_its_own_is_itself_in_a_fit(rng):
    class Twice(Gaussian):
        def gram(self, X, Z):
            return 2 * super().gram(X, Z)

    class Offset(Gaussian):
        def against(self, Z):
            return lambda X: self.gram(X, Z) + 1

    X, Z = rng.normal(size=(4, 3)), rng.normal(size=(40, 3))
    plain = Gaussian(0.3).gram(X, Z)
    assert_allclose(Twice(0.3).against_in_fit(Z)(X), 2 * plain, rtol=1e-12)
    assert_allclose(Offset(0.3).against_in_fit(Z)(X), plain + 1, rtol=1e-12)
