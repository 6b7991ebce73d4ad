"""Points that move: the gradient, the gain, and who may."""

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from isthmus.kernels import Gaussian, Laplacian, Polynomial
from isthmus.optimize.metric_lbfgs import minimize_in_metric
from isthmus.reduction import compress, gram, moving, reduce_expansion


@pytest.fixture
def expansion():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), rng.normal(size=(60, 2))


def objective(monkeypatch, *settings):
    """What a search is given: the function and the start."""
    caught = {}

    def catch(fun, x, **_):
        caught.update(fun=fun, x=x)
        raise StopIteration

    with monkeypatch.context() as patch:
        patch.setattr(moving, "minimize_in_metric", catch)
        with pytest.raises(StopIteration):
            moving.move_points(*settings)
    return caught["fun"], caught["x"]


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.3), Polynomial(2, coef0=1.0), Laplacian(0.5)], ids=str
)
@pytest.mark.parametrize("held", [2**25, 1], ids=["held", "made twice"])
def test_the_gradient_of_the_error_is_that_of_finite_differences(
    kernel, held, expansion, monkeypatch
):
    X, A = expansion
    monkeypatch.setattr(moving, "_HELD", held)
    fun, x = objective(monkeypatch, kernel, X, A, X[:5] + 0.1)
    gap = check_grad(lambda z: fun(z)[0], lambda z: fun(z)[1], x)
    assert gap < 1e-5 * np.linalg.norm(fun(x)[1])


def test_moved_points_have_a_third_less_error_than_kept_ones(expansion):
    X, A = expansion
    kept = reduce_expansion((Gaussian(0.3), X), A, n_points=6)
    moved = moving.move_points(Gaussian(0.3), X, A, X[kept.indices])
    assert moved.error < 0.67 * kept.error


def test_a_tenth_of_the_vectors_decides_nearly_as_all():
    X, y = load_digits(return_X_y=True)
    full = SVC(C=10, gamma=0.001).fit(X[:1000], y[:1000])
    n = len(full.support_) // 10
    score = full.score(X[1000:], y[1000:])
    moved, kept = (compress(full, n, points=p) for p in ("moved", "kept"))
    assert score - moved.score(X[1000:], y[1000:]) < 0.01
    assert moved.score(X[1000:], y[1000:]) > kept.score(X[1000:], y[1000:]) + 0.01
    assert moved.n_points_ == kept.n_points_ == n


@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2, coef0=1.0)], ids=str)
def test_in_the_metric_of_the_functions_the_search_ends_as_low_as_without(
    kernel, expansion, monkeypatch
):
    X, A = expansion
    settings = (kernel, X, A, X[:5] + 0.1)
    fun, x = objective(monkeypatch, *settings)
    plain = minimize(lambda z: fun(z)[:2], x, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    own = fun(moving.move_points(*settings).points.ravel())[0]
    assert own < 1.02 * plain.fun + 1e-6


def test_a_search_ends_where_going_on_gains_little(monkeypatch):
    gains = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, A = rng.normal(size=(100, 2)), rng.normal(size=(100, 2))
        start = X[reduce_expansion((Gaussian(0.3), X), A, n_points=8).indices]
        fun, _ = objective(monkeypatch, Gaussian(0.3), X, A, start)
        x = moving.move_points(Gaussian(0.3), X, A, start).points.ravel()
        gains.append(1 - minimize_in_metric(fun, x, tol=1e-9).value / fun(x)[0])
    assert np.sum(np.array(gains) > 0.02) <= 2


@pytest.mark.parametrize(
    ("gamma", "d", "n_points", "seed"), [(0.3, 10, 2, 3), (3.0, 10, 4, 51), (3.0, 3, 8, 78)]
)
def test_points_that_start_together_part(gamma, d, n_points, seed):
    rng = np.random.default_rng(seed)
    X, A = rng.normal(size=(80, d)), rng.normal(size=(80, 1))
    moved = moving.move_points(Gaussian(gamma), X, A, np.repeat(X[:1], n_points, axis=0))
    one = moving.move_points(Gaussian(gamma), X, A, X[:1])
    assert moved.error < 0.99 * one.error
    assert np.abs(moved.coefficients).max() < 100 * np.abs(A).max()


def test_functions_that_are_zero_are_met_without_a_step():
    X = np.random.default_rng(0).normal(size=(30, 2))
    moved = moving.move_points(Gaussian(0.3), X, np.zeros((30, 2)), X[:3])
    assert moved.error == 0.0
    np.testing.assert_array_equal(moved.points, X[:3])
    np.testing.assert_array_equal(moved.coefficients, np.zeros((3, 2)))


def test_functions_of_few_objects_each_move_points_as_if_all_had_all(expansion, monkeypatch):
    X, _ = expansion
    A = np.kron(np.eye(4), np.random.default_rng(1).normal(size=(15, 1)))
    start = X[::12] + 0.1
    monkeypatch.setattr(gram, "NEW_BLOCK", 0)
    assert len(gram.coefficient_blocks(A, 5)) == 4
    fun, x = objective(monkeypatch, Gaussian(0.3), X, A, start)
    monkeypatch.setattr(gram, "NEW_BLOCK", np.inf)
    assert len(gram.coefficient_blocks(A, 5)) == 1
    slow, _ = objective(monkeypatch, Gaussian(0.3), X, A, start)
    np.testing.assert_allclose(fun(x)[0], slow(x)[0], rtol=1e-12)
    np.testing.assert_allclose(fun(x)[1], slow(x)[1], rtol=1e-10, atol=1e-13)


def test_blocks_of_coefficients_hold_all_of_them():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(700, 9)) * (np.arange(700)[:, None] // 100 % 9 >= np.arange(9))
    A *= rng.random(A.shape) < 0.4
    found, rows_seen = np.zeros_like(A), []
    for rows, columns in gram.coefficient_blocks(A, 10_000, 64):
        found[rows, columns] += A[rows, columns]
        rows_seen += range(700)[rows]
        assert rows.stop - rows.start <= 64
    assert rows_seen == list(range(700))
    np.testing.assert_array_equal(found, A)


def test_products_of_a_gram_matrix_by_blocks_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(400, 3)), np.kron(np.eye(2), rng.normal(size=(200, 3)))
    A[::7] = 0.0
    np.testing.assert_allclose(
        gram.KernelGram(Gaussian(0.3), X).dot(A), Gaussian(0.3)(X) @ A, atol=1e-12
    )


def test_only_kernels_of_vectors_with_a_gradient_move_points(expansion):
    X, _ = expansion
    full = SVC(kernel="poly").fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="points='kept'"):
        compress(full, 5, points="moved")
    assert compress(full, 5).n_points_ <= 5


def test_an_unknown_way_of_points_is_refused(expansion):
    X, _ = expansion
    with pytest.raises(ValueError, match="'points' parameter of compress must be one of"):
        compress(SVC().fit(X, X[:, 0] > 0), 5, points="frozen")


def test_points_where_the_functions_vanish_stay():
    X, A = np.random.default_rng(0).normal(size=(60, 3)), np.ones((60, 2))
    far = X[:4] + 1e3
    moved = moving.move_points(Gaussian(0.5), X, A, far)
    assert np.array_equal(moved.points, far)
    assert moved.error == 1.0


def test_functions_that_alternate_ask_for_no_more_kernel_blocks_than_one_function():
    class Counting:
        calls = 0

        def gram(self, X, Y):
            self.calls += 1
            return Gaussian(0.3)(X, Y)

    X, A = np.random.default_rng(0).normal(size=(150_000, 2)), np.zeros((150_000, 10))
    A[np.arange(50), np.arange(50) % 10] = 1.0
    together, alone = Counting(), Counting()
    found = gram.KernelGram(together, X).dot(A)
    total = gram.KernelGram(alone, X).dot(A.sum(axis=1, keepdims=True))
    assert together.calls == alone.calls
    np.testing.assert_allclose(found.sum(axis=1), total.ravel(), rtol=1e-10)


def test_coefficients_that_are_all_zero_have_products_of_zero():
    X = np.random.default_rng(0).normal(size=(30, 2))
    np.testing.assert_array_equal(
        gram.KernelGram(Gaussian(0.3), X).dot(np.zeros((30, 2))), np.zeros((30, 2))
    )
