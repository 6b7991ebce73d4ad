"""Kernel PCA and kernel ridge without their Gram matrix: the same answers in little memory."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from isthmus.features import KernelPCA
from isthmus.kernels import Delta, Gaussian, Linear
from isthmus.kernels.operator import GramOperator
from isthmus.linalg import center_gram
from isthmus.regression import KernelRidgeCV
from isthmus.regression.ridge import matrix_free


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(700, 3))
    return X, np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=700)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_products_are_those_with_the_matrix(rows, rng, weighted, center):
    X, V = rows
    counts = rng.integers(1, 4, 700).astype(float) if weighted else None
    shares = np.full(700, 1 / 700) if counts is None else counts / counts.sum()
    K = Gaussian(0.3)(X)
    mean = K @ shares
    if center:
        K, _ = center_gram(K, shares=shares)
    if weighted:
        K = np.sqrt(counts)[:, None] * K * np.sqrt(counts)
    operator = GramOperator(Gaussian(0.3), X, center=center, counts=counts, tile=300)
    assert_allclose(operator(V), K @ V, atol=1e-11)
    assert_allclose(operator.mean, mean, atol=1e-13)
    assert_allclose(operator.trace, np.trace(K))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_components", "center"), [(5, True), (4, False), (0.6, True)])
def test_axes_are_those_of_the_matrix(rows, rng, n_components, center, weighted):
    X, _ = rows
    w = rng.integers(1, 4, 700) if weighted else None
    dense, free = (
        KernelPCA(n_components, center=center, solver=solver).fit(X, sample_weight=w)
        for solver in ("dense", "matrix-free")
    )
    assert_allclose(free.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    assert_allclose(free.explained_variance_ratio_, dense.explained_variance_ratio_, rtol=1e-10)
    assert_allclose(free.transform(X[:50]), dense.transform(X[:50]), atol=1e-8)
    assert_allclose(free.fit_transform(X, sample_weight=w), free.transform(X), atol=1e-8)


def test_words_have_axes_without_a_matrix(rng):
    words = [str(rng.integers(6)) for _ in range(600)]
    dense, free = (
        KernelPCA(3, kernel=Delta(), solver=solver).fit(words)
        for solver in ("dense", "matrix-free")
    )
    assert_allclose(free.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    with pytest.raises(ValueError, match="found no variance"):
        KernelPCA(3, kernel=Delta(), solver="matrix-free").fit(["a"] * 600)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Linear()])
def test_the_function_is_that_of_the_matrix(rows, rng, kernel, fit_intercept):
    X, Y = rows
    w = rng.integers(1, 4, 700)
    dense, free = (
        KernelRidgeCV(kernel, alpha=1e-2, fit_intercept=fit_intercept, solver=solver)
        for solver in ("dense", "matrix-free")
    )
    for weights in (None, w):
        dense.fit(X, Y, sample_weight=weights)
        free.fit(X, Y, sample_weight=weights)
        assert_allclose(free.predict(X), dense.predict(X), atol=1e-8)
    assert_allclose(free.weights(X[:3]), dense.weights(X[:3]), atol=1e-8)
    assert_allclose(free.smooth(X[:3], Y), dense.smooth(X[:3], Y), atol=1e-8)


def test_kernel_and_penalty_are_chosen_alike(rows):
    X, Y = rows
    dense, free = (KernelRidgeCV(solver=s).fit(X, Y) for s in ("dense", "matrix-free"))
    assert (free.kernel_, free.alpha_, free.loo_error_) == (
        dense.kernel_,
        dense.alpha_,
        dense.loo_error_,
    )
    assert_allclose(free.predict(X), dense.predict(X), atol=1e-7)


def test_too_few_iterations_are_told(rows, monkeypatch):
    monkeypatch.setattr(matrix_free, "_MAX_ITER", 1)
    with pytest.warns(ConvergenceWarning, match="after 1 conjugate gradients. Raise alpha"):
        KernelRidgeCV(Gaussian(), alpha=1e-9, solver="matrix-free").fit(*rows)


def test_it_is_taken_where_the_matrix_does_not_fit_and_needs_little(rng, monkeypatch):
    # 4200 rows have a matrix of 135 MiB; of a narrow basis a tile is most.
    monkeypatch.setattr("isthmus._memory.available_bytes", lambda: 120 * 2**20)
    monkeypatch.setattr(matrix_free, "LANDMARKS", 100)
    X = rng.normal(size=(4200, 2))
    peaks = []
    for model in (KernelPCA(3), KernelRidgeCV(Gaussian(), alpha=1.0)):
        tracemalloc.start()
        model.fit(X, X[:, 0])
        peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
        tracemalloc.stop()
    assert max(peaks) < 90
    with pytest.raises(MemoryError, match="Set n_landmarks"):
        KernelPCA().fit(X)


def test_the_basis_grows_where_conjugate_gradients_are_slow(rows, monkeypatch):
    X, Y = rows
    monkeypatch.setattr(matrix_free, "PATIENCE", 5)
    K = GramOperator(Gaussian(0.3), X, center=False)
    solve = matrix_free.GrowingSolver(K, 1e-4, 20, "owner")
    found = solve(np.c_[Y, np.zeros(700)])
    assert_allclose(K(found) + 1e-4 * found, np.c_[Y, np.zeros(700)], atol=1e-9)
    assert 20 < solve._m <= 350
    assert_allclose(solve(Y), found[:, :2], rtol=1e-5, atol=1e-5 * np.abs(found).max())
