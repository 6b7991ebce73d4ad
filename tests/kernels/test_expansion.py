"""Linear functionals of a feature space: values, geometry, other expansions."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.kernels import Delta, Expansion, Gaussian, Linear, Polynomial


@pytest.fixture
def parts(rng):
    return rng.normal(size=(12, 3)), rng.normal(size=(12, 4)), rng.normal(size=4)


KERNELS = [Gaussian(0.3), Polynomial(2), Linear()]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_are_the_kernel_times_the_weights(parts, rng, kernel):
    X, A, b = parts
    New = rng.normal(size=(5, 3))
    assert_allclose(Expansion(kernel, X, A, b)(New), kernel(New, X) @ A + b, atol=1e-12)
    assert_allclose(Expansion(kernel, X, A)(New), kernel(New, X) @ A, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_offset_counts_in_no_inner_product(parts, rng, kernel):
    X, A, b = parts
    Z, B = rng.normal(size=(6, 3)), rng.normal(size=(6, 2))
    f, g = Expansion(kernel, X, A, b), Expansion(kernel, Z, B, np.ones(2))
    assert_allclose(f.inner(g), A.T @ kernel(X, Z) @ B, atol=1e-10)
    assert_allclose(f.inner(), A.T @ kernel(X) @ A, atol=1e-10)
    assert_allclose(f.squared_norms(), np.diag(A.T @ kernel(X) @ A), atol=1e-10)


def test_a_linear_map_behind_it_is_one_expansion(parts, rng):
    X, A, b = parts
    f = Expansion(Gaussian(0.3), X, A, b)
    M, c, New = rng.normal(size=(4, 2)), rng.normal(size=2), rng.normal(size=(5, 3))
    assert_allclose(f.then(M, c)(New), f(New) @ M + c, atol=1e-12)
    assert_allclose(f.then(M)(New), f(New) @ M, atol=1e-12)


def test_some_functions_over_the_same_objects(parts, rng):
    X, A, b = parts
    f = Expansion(Gaussian(0.3), X, A, b)
    New = rng.normal(size=(5, 3))
    f.inner()  # known before and after
    two = f.take([2, 0])
    assert_allclose(two(New), f(New)[:, [2, 0]])
    assert_allclose(two.inner(), f.inner()[np.ix_([2, 0], [2, 0])])
    assert two.objects is X
    assert len(two) == 2


def test_objects_that_no_function_uses_go(parts):
    X, A, b = parts
    A = A.copy()
    A[[1, 5]] = 0
    f = Expansion(Gaussian(0.3), X, A, b)
    short = f.without_zeros()
    assert len(short.objects) == 10
    assert_allclose(short(X), f(X), atol=1e-14)
    assert short.without_zeros() is short


def test_what_is_made_on_the_way_is_neither_compared_nor_pickled(parts):
    X, A, b = parts
    f, g = Expansion(Linear(), X, A, b), Expansion(Linear(), X.copy(), A, b)
    before = len(pickle.dumps(g))
    f(X), f.inner()
    assert f == g
    assert len(pickle.dumps(f)) == before
    again = pickle.loads(pickle.dumps(f))
    assert again == f
    assert_array_equal(again(X), f(X))
    assert f != Expansion(Linear(), X, A, b + 1)
    assert f != "f"


def test_any_objects():
    f = Expansion(Delta(), ["a", "b"], np.array([[1.0], [3.0]]))
    assert_allclose(f(["b", "c"]), [[3.0], [0.0]])
    assert f == Expansion(Delta(), ["a", "b"], np.array([[1.0], [3.0]]))
    assert f != Expansion(Delta(), ["a", "c"], np.array([[1.0], [3.0]]))
