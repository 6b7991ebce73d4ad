"""Points that move: the gradient, the gain, and who may."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from isthmus.kernels import Gaussian, Laplacian, Polynomial
from isthmus.reduction import compress, moving, reduce_expansion


@pytest.fixture
def expansion():
    rng = np.random.default_rng(0)
    return rng.normal(size=(60, 3)), rng.normal(size=(60, 2))


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.3), Polynomial(2, coef0=1.0), Laplacian(0.5)], ids=str
)
@pytest.mark.parametrize("held", [2**25, 1], ids=["held", "made twice"])
def test_the_gradient_of_the_error_is_that_of_finite_differences(
    kernel, held, expansion, monkeypatch
):
    X, A = expansion
    caught = {}

    def catch(fun, x, **_):
        caught.update(fun=fun, x=x)
        raise StopIteration

    monkeypatch.setattr(moving, "minimize_lbfgs", catch)
    monkeypatch.setattr(moving, "_HELD", held)
    with pytest.raises(StopIteration):
        moving.move_points(kernel, X, A, X[:5] + 0.1)
    fun, x = caught["fun"], caught["x"]
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
