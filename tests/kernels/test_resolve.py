"""``as_kernel`` and the parameters of kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import GridSearchCV

from isthmus.kernels import Gaussian, Linear, Normalized, Polynomial, as_kernel
from isthmus.kernels.resolve import NAMES
from isthmus.regression import KernelRidgeCV


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"delta", "precomputed"}))
def test_every_name_is_a_kernel_on_vectors(name, points):
    K = as_kernel(name)(points)
    assert K.shape == (60, 60)


def test_scikit_learn_kernels_are_taken(points):
    k = as_kernel(RBF(0.5))
    assert k.vectors
    assert_allclose(k(points), Gaussian.from_width(0.5)(points), atol=1e-12)
    assert_allclose(k.diag(points), 1)
    noisy = as_kernel(RBF(0.5) + WhiteKernel(0.1))
    assert_allclose(noisy.diag(points), 1.1)


def test_a_kernel_is_copied():
    mine = Gaussian(1.0)
    assert as_kernel(mine) is not mine


def test_a_misspelt_name_gets_a_hint():
    with pytest.raises(ValueError, match="Did you mean 'gaussian'"):
        as_kernel("gausian")


@pytest.mark.parametrize("bad", [3, None])
def test_what_is_no_kernel_is_refused(bad):
    with pytest.raises(TypeError, match="A kernel must be a name"):
        as_kernel(bad)


def test_a_class_instead_of_an_object_gets_a_hint():
    with pytest.raises(TypeError, match=r"Call it: Gaussian\(\)"):
        as_kernel(Gaussian)


def test_nested_parameters_are_read_and_set():
    k = Normalized(Linear() + Gaussian(1.0)) * Polynomial(2)
    assert k.get_params()["left__base__right__gamma"] == 1.0
    k.set_params(left__base__right__gamma=5.0, right__degree=3)
    assert k.left.base.right.gamma == 5.0
    assert k.right.degree == 3
    with pytest.raises(ValueError, match=r"'gama' for Gaussian.*\['gamma', 'width_factor'\]"):
        Gaussian().set_params(gama=1)


def test_grid_search_over_the_width(rng):
    X = rng.uniform(size=(60, 1))
    y = np.sin(20 * X[:, 0])
    grid = GridSearchCV(
        KernelRidgeCV(Gaussian(), alpha=1e-3), {"kernel__gamma": [1e-3, 50.0]}, cv=3
    )
    assert grid.fit(X, y).best_params_ == {"kernel__gamma": 50.0}
