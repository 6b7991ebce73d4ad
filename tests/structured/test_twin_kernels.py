"""Twin kernel learning: the matrix of dependences, its maximisers, degrees, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from isthmus.dependence import cka, hsic
from isthmus.kernels import Delta, Gaussian, Precomputed
from isthmus.structured import TwinKernelLearner
from isthmus.structured.twin import learner_formulas
from isthmus.structured.twin.learner_formulas import (
    aligned_pair,
    alignment,
    leading_pair,
    nonnegative_pair,
    term_products,
)


@pytest.fixture
def s_shape(rng):
    y = rng.uniform(size=250)
    x = y + 0.3 * np.sin(2 * np.pi * y) + 0.05 * rng.normal(size=250)
    return x[:, None], y[:, None]


def fitted(pairs, **parameters):
    learner = TwinKernelLearner(x_kernel=Gaussian(1.0), y_kernel=Gaussian(1.0), **parameters)
    return learner.fit(*pairs)


def test_products_of_terms_are_those_of_centred_matrices(rng):
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    K, G = Gaussian(0.5)(X), Gaussian(0.5)(Y)
    terms = [K, K**2, K**3, G, G**2]
    H = np.eye(30) - 1 / 30
    slow = [[np.sum((H @ A @ H) * (H @ B @ H)) / 900 for A in terms] for B in terms]
    assert_allclose(term_products(K, G, 3, 2, None, None), slow, atol=1e-14)


@pytest.mark.parametrize("lam", [None, 1.5])
def test_products_of_terms_do_not_depend_on_tiles(rng, monkeypatch, lam):
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    K, G = Gaussian(0.5)(X), Gaussian(0.5)(Y)
    whole = term_products(K, G, 3, 2, lam, lam)
    monkeypatch.setattr(learner_formulas, "TILE", 7)
    assert_allclose(term_products(K, G, 3, 2, lam, lam), whole, atol=1e-15)


def test_products_survive_kernels_that_are_nearly_constant(rng):
    X = 1e-5 * rng.normal(size=(40, 1))
    K = Gaussian(1.0)(X)
    H = np.eye(40) - 1 / 40
    exact = np.sum((H @ (K - 1) @ H) ** 2) / 1600
    assert_allclose(term_products(K, K, 1, 1, None, None)[0, 1], exact, rtol=1e-4)


@pytest.mark.parametrize("basis", ["monomial", "gegenbauer"])
def test_objective_is_the_dependence_of_the_learned_kernels(s_shape, basis):
    learner = fitted(
        s_shape, basis=basis, validity="ignore", normalize=False, x_degree=5, y_degree=4
    )
    value = hsic(*s_shape, x_kernel=learner.x_kernel_, y_kernel=learner.y_kernel_)
    assert learner.objective_ == pytest.approx(value, rel=1e-9)
    assert_allclose(np.linalg.norm(learner.x_coefficients_), 1)


def test_weights_rise_with_the_degree_on_the_s_shape(s_shape):
    learner = fitted(s_shape, normalize=False)
    assert np.all(np.diff(learner.x_coefficients_) > 0)
    assert np.all(np.diff(learner.y_coefficients_) > 0)
    n = len(s_shape[0])
    scale = (n / (n - 1)) ** 2  # the specification divides by (n - 1)²
    assert learner.C_[0, 0] * scale == pytest.approx(0.0043, rel=0.2)
    assert learner.C_[10, 10] * scale == pytest.approx(0.0360, rel=0.2)
    assert_allclose(learner.x_coefficients_[[0, -1]], [0.104, 0.380], atol=0.02)


def test_singular_pair_is_the_best_of_all_and_the_iteration_finds_it(rng):
    C = rng.uniform(0.1, 1, size=(4, 6))
    a, b = leading_pair(C)
    assert a.min() > 0
    assert b.min() > 0
    again = nonnegative_pair(C, rng)
    assert_allclose(again[0], a, atol=1e-5)
    assert_allclose(again[1], b, atol=1e-5)
    for _ in range(200):
        p, q = rng.uniform(size=4), rng.uniform(size=6)
        assert p @ C @ q <= np.linalg.norm(p) * np.linalg.norm(q) * (a @ C @ b) + 1e-12


def test_iteration_keeps_signs_where_the_matrix_has_negative_entries(rng):
    C = rng.normal(size=(4, 5))
    a, b = nonnegative_pair(C, rng)
    assert a.min() >= 0
    assert b.min() >= 0
    grid = np.abs(rng.normal(size=(3000, 9)))
    values = [(p[:4] @ C @ p[4:]) / (np.linalg.norm(p[:4]) * np.linalg.norm(p[4:])) for p in grid]
    assert a @ C @ b >= max(values) - 1e-12
    lonely = nonnegative_pair(-np.ones((2, 3)) - np.eye(2, 3), rng)
    assert lonely[0] @ (-np.ones((2, 3)) - np.eye(2, 3)) @ lonely[1] == pytest.approx(-1)


def test_alignment_is_at_least_that_of_the_dependence(s_shape):
    by_hsic, by_alignment = fitted(s_shape), fitted(s_shape, criterion="alignment")
    values = [
        cka(*s_shape, x_kernel=m.x_kernel_, y_kernel=m.y_kernel_) for m in (by_hsic, by_alignment)
    ]
    assert values[1] > values[0]
    assert by_alignment.objective_ == pytest.approx(values[1], rel=1e-9)
    assert by_alignment.score(*s_shape) == pytest.approx(values[1], rel=1e-9)


def test_alignment_beats_random_coefficients(rng):
    A = rng.normal(size=(7, 20))
    products = A @ A.T
    a, b = aligned_pair(products[:3, 3:], products[:3, :3], products[3:, 3:])
    best = alignment(products, a, b)
    for _ in range(300):
        assert alignment(products, rng.uniform(size=3), rng.uniform(size=4)) <= best + 1e-9


def test_degree_one_changes_nothing(s_shape):
    learner = fitted(s_shape, x_degree=1, y_degree=1)
    assert_allclose(learner.x_kernel_(s_shape[0]), Gaussian(1.0)(s_shape[0]))
    assert_allclose(learner.y_coefficients_, [1])


def test_one_output_degree_weighs_terms_by_their_dependence(s_shape):
    learner = fitted(s_shape, x_degree=4, y_degree=1)
    assert_allclose(learner.x_coefficients_, learner.C_[:, 0] / learner.C_[:, 0].sum())


def test_degrees_are_chosen_by_left_out_alignment(s_shape):
    learner = fitted(s_shape, x_degree=(1, 3), y_degree=(1, 2), criterion="alignment")
    assert learner.x_degree_ in (1, 3)
    assert len(learner.y_coefficients_) == learner.y_degree_


def test_gegenbauer_of_a_gaussian_is_refused_clipped_or_let_through(s_shape):
    with pytest.raises(ValueError, match="not a kernel on features of unbounded dimension"):
        fitted(s_shape, basis="gegenbauer", x_degree=5, y_degree=5, validity="refuse")
    with pytest.warns(UserWarning, match="does not make a kernel of Gaussian: only"):
        clipped = fitted(s_shape, basis="gegenbauer", x_degree=5, y_degree=5)
    assert np.linalg.eigvalsh(clipped.x_kernel_(s_shape[0])).min() > -1e-9


def test_learns_from_part_of_many_pairs(s_shape):
    some, all_of_them = fitted(s_shape, max_rows=150), fitted(s_shape)
    assert_allclose(some.x_coefficients_, all_of_them.x_coefficients_, atol=0.02)


def test_takes_objects_that_are_not_vectors(rng):
    X = rng.normal(size=(40, 2))
    words = ["high" if x > 0 else "low" for x in X[:, 0]]
    learner = TwinKernelLearner(y_kernel=Delta(), x_degree=3, y_degree=1).fit(X, words)
    assert learner.objective_ > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"x_degree": 0}, "'x_degree' parameter of TwinKernelLearner must be an int"),
        ({"y_degree": ()}, "'y_degree' parameter of TwinKernelLearner must be an int"),
        ({"x_degree": "many"}, "'x_degree' parameter of TwinKernelLearner"),
        ({"basis": "fourier"}, "'basis' parameter of TwinKernelLearner"),
        ({"criterion": "luck"}, "'criterion' parameter of TwinKernelLearner"),
        ({"solver": "qp"}, "'solver' parameter of TwinKernelLearner"),
        ({"basis": "gegenbauer", "lam": (1.0,)}, "'lam' parameter of TwinKernelLearner"),
        ({"max_rows": 1}, "'max_rows' parameter of TwinKernelLearner"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_behind(parameters, message, s_shape):
    learner = TwinKernelLearner(**parameters)
    with pytest.raises(ValueError, match=message):
        learner.fit(*s_shape)
    with pytest.raises(NotFittedError):
        learner.score(*s_shape)


def test_bad_data_are_named(s_shape):
    X, Y = s_shape
    with pytest.raises(ValueError, match="as many outputs as inputs: expected 250, got 249"):
        TwinKernelLearner().fit(X, Y[1:])
    with pytest.raises(ValueError, match="requires y"):
        TwinKernelLearner().fit(X, None)
    with pytest.raises(ValueError, match=r"x_kernel=Precomputed\(matrix\)"):
        TwinKernelLearner(x_kernel=Precomputed()).fit(np.eye(250), Y)
