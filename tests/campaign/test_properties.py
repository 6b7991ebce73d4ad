"""Functions against references of a few plain lines, on tables that hypothesis draws."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isthmus.dependence import distance_covariance, hsic, mmd
from isthmus.kernels import Gaussian, Linear
from isthmus.regression import KernelRidgeCV
from isthmus.series import dtw
from isthmus.sparse import nonnegative_least_squares, orthogonal_matching_pursuit

NUMBERS = st.floats(-100, 100, width=32)
quick = settings(max_examples=40, deadline=None, derandomize=True)


def tables():
    shapes = st.tuples(st.integers(2, 12), st.integers(1, 3))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=NUMBERS))


def distances(X):
    return np.linalg.norm(X[:, None] - X[None], axis=2)


def centered(D):
    return D - D.mean(axis=0) - D.mean(axis=1)[:, None] + D.mean()


@quick
@given(tables())
def test_gaussian(X):
    expected = np.exp(-0.01 * distances(X) ** 2)
    assert np.allclose(Gaussian(0.01)(X), expected, atol=1e-9)


@quick
@given(tables())
def test_distance_covariance(X):
    A, B = centered(distances(X)), centered(distances(X[:, :1]))
    expected = np.sqrt(max(np.mean(A * B), 0.0))
    assert np.isclose(distance_covariance(X, X[:, :1]), expected, atol=1e-6 * (1 + expected))


@quick
@given(tables())
def test_hsic_of_linear_kernels_is_the_squared_norm_of_the_covariance(X):
    C = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) / len(X)
    found = hsic(X, X, x_kernel=Linear(), y_kernel=Linear())
    assert np.isclose(found, np.sum(C**2), rtol=1e-8, atol=1e-8)


@quick
@given(tables())
def test_mmd_of_linear_kernels_is_the_distance_of_the_means(X):
    Z = X[: max(1, len(X) // 2)] + 1.0
    expected = np.linalg.norm(X.mean(axis=0) - Z.mean(axis=0))
    assert np.isclose(mmd(X, Z, kernel=Linear()), expected, atol=1e-5 * (1 + expected))


@quick
@given(
    arrays(np.float64, st.integers(1, 7), elements=NUMBERS),
    arrays(np.float64, st.integers(1, 7), elements=NUMBERS),
)
def test_dtw(x, y):
    m = len(y)
    best = np.full((len(x) + 1, m + 1), np.inf)
    best[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(m):
            step = min(best[i, j], best[i, j + 1], best[i + 1, j])
            best[i + 1, j + 1] = (x[i] - y[j]) ** 2 + step
    assert np.isclose(dtw(x, y), best[-1, -1], rtol=1e-9, atol=1e-9)


@quick
@given(tables(), st.floats(1e-3, 10.0))
def test_kernel_ridge(X, alpha):
    y = X[:, 0]
    K = np.exp(-0.01 * distances(X) ** 2)
    expected = K @ np.linalg.solve(K + alpha * np.eye(len(X)), y)
    model = KernelRidgeCV(Gaussian(0.01), alpha=alpha, fit_intercept=False).fit(X, y)
    assert np.allclose(model.predict(X), expected, atol=1e-6 * (1 + np.abs(y).max()))


@quick
@given(arrays(np.float64, (4, 3), elements=NUMBERS), arrays(np.float64, 3, elements=NUMBERS))
def test_nonnegative_least_squares_cannot_be_improved(A, b):
    found = np.asarray(nonnegative_least_squares(b[None], A))[0]
    gradient = A @ (found @ A - b)
    slack = 1e-6 * (1 + np.abs(A).max()) * (1 + np.abs(A).max() + np.abs(b).max())
    assert np.all(found >= 0)
    assert np.all(gradient >= -slack)
    assert abs(found @ gradient) <= slack * (1 + found.sum())


@quick
@given(st.integers(0, 10_000))
def test_a_pursuit_finds_a_sparse_code_in_an_orthonormal_dictionary(seed):
    rng = np.random.default_rng(seed)
    D = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    code = np.zeros(8)
    code[rng.choice(8, 3, replace=False)] = rng.uniform(1, 2, size=3)
    found = orthogonal_matching_pursuit((code @ D)[None], D, n_nonzero=3)
    assert np.allclose(np.asarray(found)[0], code, atol=1e-10)
