"""Every door at which a Gram matrix enters refuses what is none."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

from isthmus.coreset import (
    CoreVectorClassifier,
    CoreVectorOutlierDetector,
    CoreVectorRegressor,
    MinimumEnclosingBall,
)
from isthmus.dependence import coco, hsic, mmd
from isthmus.features import KernelPCA
from isthmus.kernels import FunctionKernel, Gaussian, Precomputed, SpectrumRepair, definiteness
from isthmus.kernels.definiteness import check_gram, checked_gram, refuse_indefinite, symmetric
from isthmus.linalg import leading_eigenpairs
from isthmus.linalg.threads import most_threads
from isthmus.reduction import reduce_expansion
from isthmus.regression import GaussianProcess, KernelRidgeCV
from isthmus.structured import DependencyEstimator, TwinGaussianProcess

N = 60
REPAIRS = (
    r"not positive semi-definite \(eigenvalue ratio -.*SpectrumRepair\(kernel.*repair_spectrum"
)
CROOKED = "not symmetric: entries differ by up to"


def indefinite(n=N, seed=0):
    """Most of the spectrum is fine: a diagonal above zero, and |k(x, z)| ≤ 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return np.tanh(2 * X @ X.T - 1) * 0.9 + 0.1 * np.eye(n)


def test_the_factor_that_decides_has_one_thread(monkeypatch):
    threads = []

    class Watched:
        @staticmethod
        def dpotrf(*args, **kwargs):
            threads.append(most_threads())
            return lapack.dpotrf(*args, **kwargs)

    monkeypatch.setattr(definiteness, "lapack", Watched)
    with threadpool_limits(2, user_api="blas"):
        refuse_indefinite(np.eye(500))
        assert most_threads() == 2
    assert threads == [1]


def crooked(n=N):
    K = np.exp(-0.5 * np.square(np.subtract.outer(np.arange(n), np.arange(n)) / 5.0))
    return K + 1e-6 * np.triu(np.ones((n, n)), 1)


X = np.random.default_rng(1).normal(size=(N, 2))
y = X[:, 0]
labels = (y > 0).astype(int)
sigmoid = FunctionKernel(lambda A, B: np.tanh(2 * A @ B.T - 1), on_vectors=True)
lopsided = FunctionKernel(lambda A, B: A @ B.T + 1e-3 * A[:, :1], on_vectors=True)

FITS = {
    "KernelPCA": lambda k, X: KernelPCA(kernel=k).fit(X),
    "KernelPCA, few": lambda k, X: KernelPCA(3, kernel=k).fit(X),
    "KernelPCA, a share": lambda k, X: KernelPCA(0.5, kernel=k).fit(X),
    "KernelPCA, landmarks": lambda k, X: KernelPCA(2, kernel=k, n_landmarks=40).fit(X),
    "KernelRidgeCV": lambda k, X: KernelRidgeCV(k, alpha=[0.1, 1.0]).fit(X, y),
    "KernelRidgeCV, one penalty": lambda k, X: KernelRidgeCV(k, alpha=5.0).fit(X, y),
    "GaussianProcess": lambda k, X: GaussianProcess(k).fit(X, y),
    "MinimumEnclosingBall": lambda k, X: MinimumEnclosingBall(kernel=k).fit(X),
    "CoreVectorClassifier": lambda k, X: CoreVectorClassifier(kernel=k).fit(X, labels),
    "CoreVectorRegressor": lambda k, X: CoreVectorRegressor(kernel=k).fit(X, y),
    "CoreVectorOutlierDetector": lambda k, X: CoreVectorOutlierDetector(kernel=k).fit(X),
    "hsic": lambda k, X: hsic(X, y, x_kernel=k),
    "coco": lambda k, X: coco(X, y, x_kernel=k),
}
OBJECTS_ONLY = {
    "TwinGaussianProcess": lambda k, X: TwinGaussianProcess(x_kernel=k, tune=None).fit(X, y),
    "TwinGaussianProcess, hsic": lambda k, X: TwinGaussianProcess(
        x_kernel=k, criterion="hsic", tune=None
    ).fit(X, y),
    "TwinGaussianProcess, neighbours": lambda k, X: TwinGaussianProcess(
        x_kernel=k, n_neighbors=10, tune=None
    ).fit(X, y),
    "DependencyEstimator": lambda k, X: DependencyEstimator(x_features=k).fit(X, y),
    "reduce_expansion": lambda k, X: reduce_expansion((k, X), np.ones(N), n_points=3),
    "mmd": lambda k, X: mmd(X[:30], X[30:], kernel=k),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize(("matrix", "why"), [(indefinite(), REPAIRS), (crooked(), CROOKED)])
def test_a_matrix_that_is_no_gram_matrix_is_refused(name, matrix, why):
    before = matrix.copy()
    with pytest.raises(ValueError, match=why):
        FITS[name]("precomputed", matrix)
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("name", FITS | OBJECTS_ONLY)
@pytest.mark.parametrize(("kernel", "why"), [(sigmoid, REPAIRS), (lopsided, CROOKED)])
def test_a_function_that_is_no_kernel_is_refused(name, kernel, why):
    with pytest.raises(ValueError, match=why):
        (FITS | OBJECTS_ONLY)[name](kernel, X)


def test_the_repair_that_the_message_names_helps():
    found = KernelPCA(3, kernel=SpectrumRepair(sigmoid)).fit_transform(X)
    assert np.isfinite(found).all()
    indices = np.arange(N)[:, None]
    with pytest.raises(ValueError, match=REPAIRS):
        KernelPCA(3, kernel=Precomputed(indefinite())).fit(indices)
    assert KernelPCA(3, kernel=SpectrumRepair(Precomputed(indefinite()))).fit(indices)


def test_rounding_errors_of_symmetry_are_removed():
    K = crooked() - 1e-6 * np.triu(np.ones((N, N)), 1)
    K[2, 5] *= 1 + 1e-12
    before = K.copy()
    found = check_gram(K, overwrite=False)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(K, before)
    np.testing.assert_allclose(found, K, rtol=1e-11, atol=1e-15)
    assert symmetric(found) is found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gram_matrices_of_low_rank_pass(dtype):
    A = np.random.default_rng(0).normal(size=(900, 3)).astype(dtype)
    check_gram(A @ A.T)
    check_gram(np.zeros((5, 5), dtype=dtype))
    check_gram(np.ones((5, 5), dtype=dtype))


def test_the_tolerance_is_that_of_the_largest_eigenvalue():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 50)))[0]
    for worst, refused in [(-2e-6, True), (-0.5e-6, False)]:
        K = (Q * np.r_[worst, np.linspace(0, 1, 49)]) @ Q.T
        K = (K + K.T) / 2
        if refused:
            with pytest.raises(ValueError, match="eigenvalue ratio -2e-06"):
                refuse_indefinite(K)
        else:
            refuse_indefinite(K)


def test_values_that_are_not_finite_are_named():
    K = np.eye(4)
    K[1, 2] = np.nan
    with pytest.raises(ValueError, match="of it is not finite: nan in row 1, column 2"):
        check_gram(K, "it")


@pytest.mark.parametrize("n_pairs", [5, 60])
def test_few_leading_pairs_of_a_large_indefinite_matrix(n_pairs):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1200, 40))
    K = A @ A.T  # the leading pairs say nothing of what is below
    v = rng.normal(size=1200)
    K -= 0.05 * np.outer(v, v) * 40
    with pytest.raises(ValueError, match=REPAIRS):
        leading_eigenpairs(K, n_pairs)


def test_equal_objects_have_no_variance_and_no_spectrum():
    with pytest.raises(ValueError, match="found no variance"):
        KernelPCA(2, kernel="gaussian").fit(np.full((30, 3), 0.1))
    constant = FunctionKernel(lambda A, B: np.full((len(A), len(B)), 0.1), on_vectors=True)
    for n_components in (None, 2, 0.5):
        with pytest.raises(ValueError, match="found no variance"):
            KernelPCA(n_components, kernel=constant).fit(X)


def test_wild_rows_leave_a_gaussian_matrix_symmetric(rng):
    rows = rng.normal(size=(40, 5))
    rows[:3] *= 1e6
    rows[3] = rows[2] + 0.1
    K = Gaussian(0.1)(rows)
    assert np.array_equal(K, K.T)
    KernelRidgeCV().fit(rows, rows[:, 0])


@pytest.mark.parametrize(
    ("shape", "dtype", "mirrored"),
    [
        ((700, 10), np.float64, True),  # compiled tiles
        ((300, 80), np.float64, True),  # blocks
        ((300, 80), np.float32, True),
        ((300, 3), np.float64, False),
        ((2, 80), np.float64, False),
    ],
)
def test_mirrored_halves_are_not_made_equal_again(rng, monkeypatch, shape, dtype, mirrored):
    X = rng.normal(size=shape).astype(dtype)
    kernel, passes = Gaussian(0.1), []
    K = kernel.gram(X, X)
    assert kernel.mirrors(X) == mirrored
    assert np.array_equal(K, K.T) or not mirrored
    slow = definiteness._with_equal_halves
    monkeypatch.setattr(definiteness, "_with_equal_halves", lambda K: passes.append(1) or slow(K))
    assert np.array_equal(checked_gram(kernel, X, X), slow(K))
    assert bool(passes) != mirrored


class Liar(Gaussian):
    """A subclass whose Gram matrix is none."""

    def gram(self, X, Z):
        return np.arange(float(len(X) * len(Z))).reshape(len(X), len(Z))


def test_a_proven_kernel_is_not_tested_and_a_subclass_of_it_is(rng):
    X = rng.normal(size=(40, 3))
    K = checked_gram(Gaussian(0.5), X, X)
    assert np.array_equal(K, K.T)
    assert np.array_equal(K, check_gram(Gaussian(0.5).gram(X, X)))
    assert_allclose(checked_gram(Gaussian(0.5), X, X, exact=False), K, rtol=1e-14)
    with pytest.raises(ValueError, match="not symmetric"):
        checked_gram(Liar(0.5), X, X, "KernelPCA")
    assert not Liar(0.5).mirrors(rng.normal(size=(300, 80)))
