"""A row far from all others, as of a sensor that has failed, costs the others no digits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from isthmus.coreset import CoreVectorClassifier
from isthmus.dependence import hsic, mmd
from isthmus.features import KernelPCA
from isthmus.kernels import ARD, Gaussian, Matern, RationalQuadratic
from isthmus.kernels.definiteness import check_sample
from isthmus.kernels.vectors.squares import FEW, SEEN, origin_of
from isthmus.regression import GaussianProcess, GaussianProcessClassifier, KernelRidgeCV

DTYPES = [(1e9, np.float64), (1e6, np.float32)]


def with_a_far_row(rng, size, dtype, n=120):
    X = rng.normal(size=(n, 4)).astype(dtype)
    X[3, 2] = size
    return X


@pytest.mark.parametrize(("size", "dtype"), DTYPES)
@pytest.mark.parametrize("wide", [1, 20], ids=["few columns", "many columns"])
def test_values_of_the_other_rows(rng, size, dtype, wide):
    X = np.tile(with_a_far_row(rng, size, dtype), (1, wide))
    squares = cdist(X.astype(float), X.astype(float), "sqeuclidean")
    for kernel, expected in [
        (Gaussian(0.3 / wide), np.exp(-0.3 / wide * squares)),
        (RationalQuadratic(1.0, length_scale=wide**0.5), 1 / (1 + squares / (2 * wide))),
        (Matern(0.5, length_scale=wide**0.5), np.exp(-np.sqrt(squares / wide))),
    ]:
        near = 1e-12 if dtype == np.float64 else 2e-5
        for K in (kernel.gram(X, X), kernel.gram(X, X.copy()), kernel.against(X)(X)):
            off = ~np.eye(len(X), dtype=bool)
            assert K.dtype == dtype
            assert_allclose(K[off], expected[off], atol=near)


@pytest.mark.parametrize("n", [1, 2, FEW - 1, FEW, FEW + 1])
def test_few_rows_of_which_one_is_far(rng, n):
    X = rng.normal(size=(30, 3))
    Z = X[:n].copy()
    Z[0, 1] = 1e9
    for kernel, value in [
        (Gaussian(0.3), lambda s: np.exp(-0.3 * s)),
        (RationalQuadratic(1.0, length_scale=1.0), lambda s: 1 / (1 + s / 2)),
    ]:
        for A in (X, Z.copy(), Z):
            expected = value(cdist(A, Z, "sqeuclidean"))
            assert_allclose(kernel.gram(A, Z), expected, atol=1e-13)
            assert_allclose(kernel.against(Z)(A), expected, atol=1e-13)


@pytest.mark.parametrize("n", [1, SEEN - 1, SEEN, SEEN + 1, 5 * SEEN + 3])
def test_the_origin_lies_among_most_rows(rng, n):
    Z = rng.normal(size=(n, 3))
    Z[: (n - 1) // 3] = 1e9
    assert np.abs(origin_of(Z)).max() < 10
    assert origin_of(Z.astype(np.float32)).dtype == np.float32
    assert origin_of(np.arange(6).reshape(3, 2)).tolist() == [2.0, 3.0]
    assert origin_of(Z[:0]).tolist() == [0, 0, 0]


@pytest.mark.parametrize(("size", "dtype"), DTYPES)
def test_estimators_take_it(rng, size, dtype):
    X = with_a_far_row(rng, size, dtype)
    y = X[:, 0] + X[:, 1] ** 2
    assert GaussianProcess(n_init=1).fit(X, y).score(X, y) > 0.9
    assert GaussianProcess(ARD(Gaussian(0.5)), n_init=1).fit(X, y).score(X, y) > 0.9
    assert GaussianProcessClassifier(n_init=1).fit(X, y > 1).score(X, y > 1) > 0.9
    assert KernelRidgeCV("gaussian").fit(X, y).score(X, y) > 0.9
    assert KernelRidgeCV("gaussian", solver="matrix-free").fit(X, y).score(X, y) > 0.9
    assert KernelPCA(3, kernel=Gaussian() * Gaussian(0.1)).fit_transform(X).shape == (120, 3)
    assert KernelPCA(3, n_landmarks=40).fit_transform(X).shape == (120, 3)
    assert np.isfinite(hsic(X, y[:, None]))
    assert np.isfinite(mmd(X, X[:60]))


@pytest.mark.parametrize(("size", "dtype"), [(1e9, np.float64), (1e4, np.float32)])
def test_core_sets_that_begin_with_it(rng, size, dtype):
    X = with_a_far_row(rng, size, dtype)
    y = X[:, 0] + X[:, 1] ** 2 > 1
    for seed in range(12):
        machine = CoreVectorClassifier(random_state=seed).fit(X, y)
        assert np.abs(machine.dual_coef_).max() < 1e3
        assert machine.score(X, y) > 0.95


def test_samples_of_proven_kernels_need_no_test(monkeypatch, rng):
    X = rng.normal(size=(9, 2))
    monkeypatch.setattr("isthmus.kernels.definiteness.check_gram", None)
    check_sample(Gaussian(0.5), X)
