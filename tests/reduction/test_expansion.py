"""Reduced sets of expansions: exact where they can be, and never worse than they say."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import orthogonal_mp_gram

from isthmus.kernels import Gaussian, Linear
from isthmus.reduction import backfit, pursue, pursuit, reduce_expansion
from isthmus.reduction.gram import DenseGram, KernelGram, as_gram
from isthmus.reduction.pursuit_loops import take_off

WIDTH = Gaussian.from_width(0.6)


@pytest.fixture
def clusters(rng):
    centres = np.array([[-1, -1], [2, 1], [2, -2]])
    return centres[rng.integers(0, 3, 200)] + 0.5 * rng.normal(size=(200, 2))


def true_error(K, A, reduced):
    """The formula: ‖w - ŵ‖² over ‖w‖², from the whole Gram matrix."""
    A = A.reshape(len(K), -1)
    B = np.zeros_like(A)
    B[reduced.indices] = reduced.coefficients.reshape(len(reduced.indices), -1)
    return np.sum((A - B) * (K @ (A - B))) / np.sum(A * (K @ A))


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "pursuit", "max_error": 1e-13},
        {"method": "pursuit", "max_error": 1e-13, "select": "matching"},
        {"method": "rank", "max_error": 1e-13},
        {"method": "l0", "alpha": 0.0},
        {"method": "l0", "alpha": 0.0, "solver": "lp"},
    ],
    ids=str,
)
@pytest.mark.parametrize("p", [1, 3])
def test_a_linear_kernel_in_ten_dimensions_keeps_ten_points(rng, settings, p):
    X = rng.normal(size=(120, 10))
    A = rng.normal(size=(120, p))
    reduced = reduce_expansion(X @ X.T, A, **settings)
    assert len(reduced.indices) == 10
    assert true_error(X @ X.T, A, reduced) < 1e-10


@pytest.mark.parametrize("method", ["pursuit", "rank", "l0", "l1"])
@pytest.mark.parametrize("p", [1, 2])
def test_the_error_that_is_told_is_the_error(clusters, rng, method, p):
    K, A = WIDTH(clusters), rng.normal(size=(200, p))
    reduced = reduce_expansion(K, A, method=method, n_points=20)
    assert len(reduced.indices) <= 20
    assert reduced.error == pytest.approx(true_error(K, A, reduced), rel=1e-6)
    assert reduced.coefficients.shape == (len(reduced.indices), p)


def test_coefficients_are_the_best_for_their_points(clusters, rng):
    K, a = WIDTH(clusters), rng.normal(size=200)
    reduced = reduce_expansion(K, a, n_points=15)
    Z = reduced.indices
    np.testing.assert_allclose(
        reduced.coefficients, np.linalg.solve(K[np.ix_(Z, Z)], K[Z] @ a), rtol=1e-7
    )
    # With them the function keeps its values at the points that stay.
    np.testing.assert_allclose(K[np.ix_(Z, Z)] @ reduced.coefficients, K[Z] @ a, rtol=1e-9)


def test_matching_is_orthogonal_matching_pursuit_of_the_gram_matrix(clusters, rng):
    K, a = WIDTH(clusters), rng.normal(size=200)
    reduced = reduce_expansion(K, a, n_points=30, select="matching")
    theirs = orthogonal_mp_gram(K, K @ a, n_nonzero_coefs=30)
    assert set(reduced.indices) == set(np.flatnonzero(theirs))
    np.testing.assert_allclose(theirs[reduced.indices], reduced.coefficients, atol=1e-9)


def test_one_run_gives_every_smaller_model(clusters, rng):
    K, A = WIDTH(clusters), rng.normal(size=(200, 2))
    path = reduce_expansion(K, A, n_points=25)
    assert np.all(np.diff(path.errors) <= 0)
    for n in (1, 7, 25):
        alone = reduce_expansion(K, A, n_points=n)
        np.testing.assert_array_equal(path.at(n).indices, alone.indices)
        np.testing.assert_allclose(path.at(n).coefficients, alone.coefficients, rtol=1e-8)
        assert path.at(n).error == pytest.approx(alone.error)


def test_least_squares_selection_takes_the_best_next_point(clusters, rng):
    K, a = WIDTH(clusters), rng.normal(size=200)
    two = reduce_expansion(K, a, n_points=2).indices
    errors = [
        backfit(DenseGram(K), a[:, None], np.array([two[0], z]))[2]
        for z in range(200)
        if z != two[0]
    ]
    assert backfit(DenseGram(K), a[:, None], two)[2] == pytest.approx(min(errors))


def test_three_clusters_of_kernel_components_need_few_points(clusters):
    K = WIDTH(clusters)
    values, vectors = np.linalg.eigh(K)
    A = vectors[:, -2:] / np.sqrt(values[-2:])
    errors = reduce_expansion(K, A, n_points=10, select="matching").errors
    assert errors[2] < 0.12
    assert errors[9] < 0.025
    assert reduce_expansion(K, A, n_points=10).error < errors[9]


def test_columns_made_on_demand_give_what_the_matrix_gives(clusters, rng):
    A = rng.normal(size=(200, 2))
    A[::3] = 0
    one = reduce_expansion(WIDTH(clusters), A, n_points=12)
    other = reduce_expansion((WIDTH, clusters), A, n_points=12)
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-9)


def test_only_the_columns_needed_are_made(clusters, rng):
    asked = []

    class Watched(KernelGram):
        def columns(self, indices):
            asked.extend(indices)
            return super().columns(indices)

    gram = Watched(WIDTH, clusters)
    pursue(gram, rng.normal(size=(200, 1)), n_points=9)
    assert len(asked) == 9


@pytest.mark.parametrize("method", ["pursuit", "rank", "l0", "l1"])
def test_repeated_points_do_not_blow_up_coefficients(clusters, rng, method):
    X = np.repeat(clusters[:40], 3, axis=0)
    a = rng.normal(size=120)
    reduced = reduce_expansion(WIDTH(X), a, method=method, n_points=60)
    assert np.abs(reduced.coefficients).max() < 1e3 * np.abs(a).max()
    assert len(reduced.indices) <= 40


def test_the_penalty_of_l0_trades_points_for_error(clusters, rng):
    K, a = WIDTH(clusters), rng.normal(size=200)
    found = [reduce_expansion(K, a, method="l0", alpha=g) for g in (1e-6, 1e-4, 1e-2, 1.0)]
    sizes = [len(r.indices) for r in found]
    assert sizes == sorted(sizes, reverse=True)
    errors = [r.error for r in found]
    assert errors == sorted(errors)
    assert errors[0] < 1e-5


def test_without_penalty_a_full_rank_matrix_loses_nothing(rng):
    X = 10 * rng.normal(size=(20, 3))
    reduced = reduce_expansion(WIDTH(X), np.ones(20), method="l0", alpha=0.0)
    assert len(reduced.indices) == 20
    np.testing.assert_allclose(reduced.coefficients, 1.0, rtol=1e-6)


def test_chunks_end_in_one_fit_that_is_no_worse_than_their_sum(clusters, rng):
    K, a = WIDTH(clusters), rng.normal(size=200)
    chunks = reduce_expansion(K, a, n_points=15, n_chunks=4)
    parts = 0.0
    for rows in np.split(np.arange(200), 4):
        part = reduce_expansion(K[np.ix_(rows, rows)], a[rows], n_points=15)
        parts += np.sqrt(part.error * (a[rows] @ K[np.ix_(rows, rows)] @ a[rows]))
    assert np.sqrt(chunks.error * (a @ K @ a)) <= parts + 1e-9
    one = reduce_expansion(K, a, n_points=15, n_chunks=1)
    np.testing.assert_array_equal(one.indices, reduce_expansion(K, a, n_points=15).indices)
    with pytest.raises(ValueError, match="give a path"):
        chunks.at(3)


def test_normalised_functions_count_the_same(clusters, rng):
    K, A = WIDTH(clusters), rng.normal(size=(200, 2)) * [1.0, 1e-6]
    B = np.zeros((2, 200, 2))
    for i, normalize in enumerate([False, True]):
        reduced = reduce_expansion(K, A, n_points=25, normalize=normalize)
        B[i, reduced.indices] = reduced.coefficients
    small = [np.sum((A - b)[:, 1] * (K @ (A - b)[:, 1])) for b in B]
    assert small[1] < 0.8 * small[0]


def test_objects_of_any_kind_can_be_left_out():
    words = ["one", "two", "three", "one", "two"]
    from isthmus.kernels import Delta

    reduced = reduce_expansion((Delta(), words), np.arange(1.0, 6.0), max_error=1e-12)
    assert sorted(words[i] for i in reduced.indices) == ["one", "three", "two"]
    assert sorted(reduced.coefficients.round(9)) == [3.0, 5.0, 7.0]


@pytest.mark.parametrize(
    ("K", "a", "settings", "message"),
    [
        (np.ones((2, 3)), [1, 1], {"n_points": 1}, "a square Gram matrix, or a pair"),
        (np.eye(3), [1, 1], {"n_points": 1}, "shape (3,) or (3, p)"),
        (np.eye(3), [1, np.nan, 1], {"n_points": 1}, "finite coefficients. Got nan in row 1"),
        (np.eye(3), [0, 0, 0], {"n_points": 1}, "coefficients that are not all zero"),
        (np.array([[1, 2.0], [0, 1]]), [1, 1], {"n_points": 1}, "is not symmetric"),
        (-np.eye(2), [1, 1], {"n_points": 1}, "not positive semi-definite (eigenvalue"),
        (np.eye(3), [1, 1, 1], {"n_points": 4}, "'n_points' parameter of reduce_expansion"),
        (np.eye(3), [1, 1, 1], {}, "needs to know when to stop"),
        (np.eye(3), [1, 1, 1], {"n_points": 1, "method": "l2"}, "Got 'l2' instead"),
        (
            np.eye(3),
            [1, 1, 1],
            {"max_error": 0.1, "method": "l0"},
            "needs n_points or alpha",
        ),
        (np.eye(3), [1, 1, 1], {"alpha": 1.0, "method": "l0", "solver": "lp"}, "alpha=0"),
        (np.eye(3), [1, 1, 1], {"max_error": -1.0}, "'max_error' parameter"),
    ],
)
def test_refuses_by_name(K, a, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        reduce_expansion(K, a, **settings)


def test_an_indefinite_matrix_is_refused_and_the_repairs_are_named():
    K = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.9], [0.9, 0.9, 1.0]])  # one eigenvalue below 0
    for use in (
        lambda: reduce_expansion(K, np.ones(3), n_points=3),
        lambda: pursue(K, np.ones(3), n_points=3),
        lambda: backfit(K, np.ones(3), [0]),
    ):
        with pytest.raises(ValueError, match=r"not positive semi-definite.*SpectrumRepair"):
            use()


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize("n_points", [5, 20, 60])
def test_l1_keeps_as_many_points_as_asked_for(rng, p, n_points):
    X = rng.normal(size=(150, 8))
    A = rng.normal(size=(150, p))
    found = reduce_expansion((Gaussian(0.05), X), A, method="l1", n_points=n_points)
    assert len(found.indices) == n_points
    # No more than twice the error of the pursuit, whose points are chosen for it.
    best = reduce_expansion((Gaussian(0.05), X), A, n_points=n_points)
    assert found.error < 1.5 * best.error + 0.15


def test_pursue_and_backfit_take_what_reduce_expansion_takes(clusters, rng):
    a = rng.normal(size=200)
    K = Gaussian(0.1)(clusters)
    path = pursue(K, a, n_points=6)
    same = pursue((Gaussian(0.1), clusters), a[:, None], n_points=6)
    np.testing.assert_array_equal(path.indices, same.indices)
    whole = reduce_expansion(K, a, n_points=6)
    kept, coefficients, error = backfit((Gaussian(0.1), clusters), a, path.indices)
    np.testing.assert_array_equal(kept, np.sort(whole.indices))
    order = np.argsort(whole.indices)
    np.testing.assert_allclose(coefficients[:, 0], whole.coefficients[order], rtol=1e-6)
    assert error == pytest.approx(whole.error, abs=1e-9)
    with pytest.raises(ValueError, match="backfit expected indices of points"):
        backfit(K, a, [0.5])
    with pytest.raises(ValueError, match="'n_points' parameter of pursue"):
        pursue(K, a, n_points=0)


def test_names_and_functions_stand_for_kernels(clusters):
    known = reduce_expansion((Gaussian(), clusters), np.ones(200), n_points=5)
    named = reduce_expansion(("gaussian", clusters), np.ones(200), n_points=5)
    np.testing.assert_array_equal(named.indices, known.indices)
    written = reduce_expansion((lambda X, Z: X @ Z.T, clusters), np.ones(200), n_points=2)
    linear = reduce_expansion((Linear(), clusters), np.ones(200), n_points=2)
    np.testing.assert_array_equal(written.indices, linear.indices)


def test_as_gram_resolves_the_kernel_on_the_objects(clusters):
    gram = as_gram((Gaussian(), clusters))
    assert isinstance(gram, KernelGram)
    assert isinstance(gram.kernel.gamma, float)
    assert len(as_gram((Linear(), clusters))) == 200


@pytest.mark.parametrize("method", ["pursuit", "l0"])
def test_chunks_together_keep_no_more_points_than_asked_for(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    found = reduce_expansion(
        Gaussian(0.2)(X), rng.normal(size=90), n_points=10, n_chunks=3, method=method
    )
    assert len(found.indices) <= 10


@pytest.mark.parametrize("n_functions", [1, 4, 13])
def test_the_compiled_pass_of_a_pursuit_is_that_of_numpy(rng, n_functions):
    residual, row = rng.normal(size=(50, n_functions)), rng.normal(size=50)
    component, squares = rng.normal(size=n_functions), np.empty(50)
    left, own = residual.copy(), np.empty(50)
    pursuit._take_off(residual, row, component, squares)
    take_off(left, row, component, own)
    assert_allclose(left, residual, atol=1e-14)
    assert_allclose(own, squares, rtol=1e-12)


@pytest.mark.parametrize("select", ["least_squares", "matching"])
def test_a_pursuit_of_many_functions_takes_the_points_of_the_plain_one(rng, select, monkeypatch):
    K, A = Gaussian(0.3)(rng.normal(size=(80, 3))), rng.normal(size=(80, 9))
    fast = pursue(K, A, n_points=20, select=select)
    monkeypatch.setattr(pursuit, "MANY", 10)
    slow = pursue(K, A, n_points=20, select=select)
    assert fast.indices.tolist() == slow.indices.tolist()
    assert_allclose(fast.errors, slow.errors, rtol=1e-10)
