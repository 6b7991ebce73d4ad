"""Spectra, centring, ridge paths, moments."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from numpy.testing import assert_allclose

from isthmus.blocks import block_slices, map_block, merge
from isthmus.kernels import Gaussian
from isthmus.linalg import (
    RidgePath,
    center_gram,
    fix_signs,
    inverse_root,
    leading_eigenpairs,
    positive_part,
    solve_positive,
)
from isthmus.linalg import cholesky_loops as loops
from isthmus.linalg.spectrum import (
    _block_krylov,
    _dense_pairs,
    _least_pairs,
    _pairs_for,
)
from isthmus.linalg.tridiagonal import TridiagonalPath


def reached(loop):
    """A way in from Python to a loop that only loops call."""
    return njit(lambda *args: loop(*args))


append_row, cholesky = reached(loops.append_row), reached(loops.cholesky)
cholesky_solve = reached(loops.cholesky_solve)


def gram(rng, n, d=3, gamma=0.3):
    return center_gram(Gaussian(gamma)(rng.normal(size=(n, d))))[0]


def test_centring_is_the_matrix_formula(rng):
    K = gram(rng, 12) + 1
    H = np.eye(12) - 1 / 12
    Kc, mean = center_gram(K)
    assert_allclose(Kc, H @ K @ H, atol=1e-12)
    assert_allclose(mean, K.mean(axis=0))


def test_centring_keeps_its_input_unless_told(rng):
    K = gram(rng, 8) + 1
    before = K.copy()
    center_gram(K)
    assert_allclose(K, before)
    assert center_gram(K, overwrite=True)[0] is K


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_krylov_and_dense_eigenpairs_agree(rng, dtype):
    K = gram(rng, 900).astype(dtype)
    values, U = _dense_pairs(K, 20)
    fast = _block_krylov(K, 20, 1e-8)
    assert fast is not None
    eps = np.finfo(dtype).eps
    assert_allclose(fast[0], values, rtol=1e3 * eps)
    # Bases may differ by rotation where eigenvalues are close: compare subspaces.
    overlap = np.linalg.svd(U.T @ fast[1], compute_uv=False)
    assert_allclose(overlap, 1, atol=1e-3 if dtype == np.float32 else 1e-8)


def test_centred_products_give_the_pairs_of_the_centred_matrix(rng):
    K = Gaussian(0.1)(rng.normal(size=(640, 3)))
    centred, _ = center_gram(K)
    values, U = leading_eigenpairs(K.copy(), 6, center=True)
    expected, V = _dense_pairs(centred, 6)
    assert_allclose(values, expected, rtol=1e-12)
    assert_allclose(np.abs(U.T @ V), np.eye(6), atol=1e-6)
    assert_allclose(U.sum(axis=0), 0, atol=1e-12)
    # So many that the dense solver answers.
    values, U = leading_eigenpairs(K.copy(), 60, center=True)
    assert_allclose(values, _dense_pairs(centred, 60)[0], rtol=1e-12)


def test_krylov_gives_up_rather_than_be_wrong(rng):
    # A flat spectrum has no leading pairs: the dense solver must answer.
    Q = np.linalg.qr(rng.normal(size=(600, 600)))[0]
    K = (Q * np.linspace(1, 1.0001, 600)) @ Q.T
    assert _block_krylov(K, 10, 1e-8) is None
    values, _ = leading_eigenpairs(K, 10)
    assert_allclose(values, np.linspace(1, 1.0001, 600)[::-1][:10], rtol=1e-10)


def test_krylov_survives_low_rank(rng):
    A = rng.normal(size=(800, 5))
    values, U = leading_eigenpairs(A @ A.T, 20)
    assert len(values) == 5
    assert_allclose((U * values) @ U.T, A @ A.T, atol=1e-8)


@pytest.mark.parametrize("n", [50, 2200])
@pytest.mark.parametrize("share", [0.5, 0.95, 1.0])
def test_share_of_variance_is_held_and_not_exceeded(rng, n, share):
    if n > 2000 and share == 1.0:
        return  # a full decomposition; the small case covers it
    K = gram(rng, n, gamma=0.1)
    values, _ = leading_eigenpairs(K, share=share)
    held = np.cumsum(values) / np.trace(K)
    assert held[-1] >= share - 1e-9
    assert len(held) == 1 or held[-2] < share


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("gamma", "share"), [(0.1, 0.95), (0.1, 0.5), (0.02, 0.99), (2.0, 0.3)])
def test_pairs_that_hold_a_share_are_those_of_the_dense_solver(rng, gamma, share, dtype):
    K = center_gram(gram(rng, 700, gamma=gamma))[0].astype(dtype)
    values, U = leading_eigenpairs(K, share=share)
    expected, V = _dense_pairs(K, len(values))
    assert len(values) == _pairs_for(_dense_pairs(K, None)[0], share * float(np.trace(K)))
    eps = np.finfo(dtype).eps
    assert_allclose(values, expected, rtol=1e3 * eps)
    overlap = np.linalg.svd(U.T @ V, compute_uv=False)
    assert_allclose(overlap, 1, atol=1e-3 if dtype == np.float32 else 1e-7)


def test_a_share_is_found_in_one_run_of_products_and_given_up_where_it_takes_too_many(rng):
    K = gram(rng, 700, gamma=0.1)
    held = 0.95 * np.trace(K)
    found = _block_krylov(K, 80, 1e-8, held=held)
    assert found is not None
    r = len(found[0])
    assert found[0].sum() >= held > found[0][:-1].sum()
    assert _block_krylov(K, r - 1, 1e-8, held=held) is None
    # A flat spectrum is known from its squares before there are many products.
    assert _least_pairs(np.ones(4), 600.0, 700.0) > 500
    assert len(leading_eigenpairs(np.eye(700), share=0.5)[0]) == 350


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_a_share_of_a_matrix_of_few_ranks(rng, share):
    A = rng.normal(size=(800, 5))
    K = A @ A.T
    values, U = leading_eigenpairs(K, share=share)
    expected, _ = _dense_pairs(K, None)
    assert len(values) == _pairs_for(expected, share * float(np.trace(K)))
    assert_allclose(K @ U, U * values, atol=1e-6)
    assert len(leading_eigenpairs(np.zeros((600, 600)), share=share)[0]) == 0


def test_indefinite_matrices_are_refused():
    with pytest.raises(ValueError, match=r"not positive semi-definite \(eigenvalue ratio -0.5\)"):
        leading_eigenpairs(np.diag([1.0, -0.5]))


def test_rounding_errors_are_dropped():
    values, U = positive_part(np.array([1e-13, 2.0, -1e-12]), np.eye(3))
    assert_allclose(values, [2.0])
    assert_allclose(U[:, 0], [0, 1, 0])


def test_inverse_root_whitens(rng):
    K = gram(rng, 20)
    R, values = inverse_root(K)
    assert_allclose(R.T @ K @ R, np.eye(len(values)), atol=1e-5)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_signs_do_not_depend_on_the_sign_given(seed):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(5, 3))
    flips = rng.choice([-1, 1], size=3)
    assert_allclose(fix_signs(V * flips), fix_signs(V))


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 19), shift=st.floats(-1e6, 1e6))
@settings(max_examples=25, deadline=None)
def test_moments_of_parts_merge_to_those_of_the_whole(seed, cut, shift):
    X = np.random.default_rng(seed).normal(size=(20, 3)) + shift
    both, whole = merge(map_block(X[:cut]), map_block(X[cut:])), map_block(X)
    assert both.count == 20
    assert_allclose(both.mean, whole.mean, rtol=1e-9, atol=1e-9)
    assert_allclose(both.scatter, whole.scatter, rtol=1e-6, atol=1e-6)


def test_blocks_cover_all_rows():
    slices = list(block_slices(10, 10**9))
    assert len(slices) == 10
    assert [s.start for s in slices] == list(range(10))
    with pytest.raises(ValueError, match="block_size"):
        list(block_slices(3, 3, block_size=0))


def test_work_space_changes_nothing_of_the_answer(rng):
    A = rng.normal(size=(6, 6))
    for M in (A @ A.T + np.eye(6), A[:, :3] @ A[:, :3].T):
        B = M @ rng.normal(size=(6, 2))
        kept = M.copy()
        expected = solve_positive(M, B)
        assert_allclose(M, kept)
        assert_allclose(M @ expected, B, atol=1e-10)
        assert_allclose(solve_positive(M.copy(), B, overwrite=True), expected)


def test_singular_systems_get_the_least_squares_answer(rng):
    A = np.diag([2.0, 1.0, 0.0])
    assert_allclose(solve_positive(A, np.array([[2.0], [3.0], [0.0]])), [[1], [3], [0]])


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_leave_one_out_is_that_of_leaving_one_out(rng, intercept, alpha):
    X, Y = rng.normal(size=(15, 2)), rng.normal(size=(15, 3))
    K = Gaussian(0.5)(X)
    slow = np.empty_like(Y)
    for i in range(15):
        keep = np.arange(15) != i
        slow[i] = Y[i] - ridge_prediction(K, Y, keep, i, alpha, intercept)
    if intercept:
        path = RidgePath(center_gram(K)[0], Y - Y.mean(axis=0), intercept=True)
    else:
        path = RidgePath(K, Y, intercept=False)
    assert_allclose(path.loo_residuals(alpha), slow, rtol=1e-8)


@pytest.mark.parametrize("path", [RidgePath, TridiagonalPath])
def test_leave_one_out_with_a_constant_stands_small_penalties(rng, path):
    n, alpha = 400, 1e-10
    X = rng.normal(size=(n, 20))
    K, Y = Gaussian(0.02)(X), X[:, :2]
    bordered = np.ones((n + 1, n + 1))
    bordered[:n, :n] = K + alpha * np.eye(n)
    bordered[n, n] = 0
    inverse = np.linalg.inv(bordered)[:n, :n]
    slow = inverse @ Y / inverse.diagonal()[:, None]
    found = path(center_gram(K)[0], Y - Y.mean(axis=0), intercept=True)
    for _, residuals, _ in found.left_out([alpha]):
        assert_allclose(residuals, slow, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 70, 300])
def test_a_tridiagonal_path_is_that_of_the_spectrum(rng, n, intercept):
    X, Y = rng.normal(size=(n, 2)), rng.normal(size=(n, 300))
    K = Gaussian(0.5)(X)
    if intercept:
        K, Y = center_gram(K)[0], Y - Y.mean(axis=0)
    alphas = [1e-2, 1.0, 30.0]
    expected = list(RidgePath(K, Y, intercept=intercept).left_out(alphas))
    kept = K.copy()
    found = list(TridiagonalPath(K, Y, intercept=intercept).left_out(alphas))
    assert_allclose(K, kept, rtol=0)
    for left, right in zip(found, expected, strict=True):
        assert left[0] == right[0]
        assert_allclose(left[1], right[1], rtol=1e-8, atol=1e-9)
        assert_allclose(left[2], right[2], rtol=1e-8, atol=1e-20)


def test_a_tridiagonal_path_needs_no_second_matrix(rng):
    X, Y = rng.normal(size=(500, 3)), rng.normal(size=(500, 2))
    K = Gaussian(0.2)(X)
    expected = list(TridiagonalPath(K, Y, intercept=False).left_out([0.1]))
    tracemalloc.start()
    found = list(TridiagonalPath(K, Y, intercept=False, overwrite=True).left_out([0.1]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(found[0][1], expected[0][1], rtol=1e-10)
    assert peak < 0.3 * K.nbytes


def test_a_tridiagonal_path_refuses_what_is_no_gram_matrix():
    with pytest.raises(ValueError, match="not positive semi-definite"):
        TridiagonalPath(np.diag([1.0, -1.0]), np.ones((2, 1)), intercept=False)


def ridge_prediction(K, Y, keep, i, alpha, intercept):
    """Ridge with an unpenalised constant from its own normal equations."""
    n = keep.sum()
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K[np.ix_(keep, keep)] + alpha * np.eye(n)
    B = np.zeros((n + 1, Y.shape[1]))
    B[:n] = Y[keep]
    if intercept:
        A[:n, n] = A[n, :n] = 1
    else:
        A[n, n] = 1
    solution = np.linalg.solve(A, B)
    return K[i, keep] @ solution[:n] + solution[n]


def test_the_compiled_factor_is_that_of_lapack(rng):
    A = rng.normal(size=(5, 7))
    M = A @ A.T
    L = M.copy()
    assert cholesky(L, 5, 0.0)
    assert_allclose(np.tril(L), np.linalg.cholesky(M), rtol=1e-10)
    x = rng.normal(size=5)
    z = x.copy()
    cholesky_solve(L, 5, z)
    assert_allclose(z, np.linalg.solve(M, x), rtol=1e-8)


def test_the_compiled_factor_grows_by_rows_that_add_something(rng):
    A = rng.normal(size=(3, 4))
    A = np.vstack([A, A[0] - 2 * A[1]])
    M = A @ A.T
    L = np.zeros((4, 4))
    chosen, n = np.zeros(4, dtype=int), 0
    for j in (0, 1, 3, 2):
        n += append_row(L, n, M, chosen, j, 1e-10)
    assert list(chosen[:n]) == [0, 1, 2]
    assert_allclose(np.tril(L[:3, :3]), np.linalg.cholesky(M[:3, :3]), rtol=1e-8)
    assert not cholesky(M.copy(), 4, 1e-10)


def test_a_ridge_path_in_place_of_its_matrix_is_the_same_in_two_matrices(rng):
    X, Y = rng.normal(size=(400, 3)), rng.normal(size=(400, 2))
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    expected = RidgePath(K, Y, intercept=False).loo_residuals(0.1)
    tracemalloc.start()
    found = RidgePath(K, Y, intercept=False, overwrite=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(found.loo_residuals(0.1), expected, rtol=1e-10)
    assert np.shares_memory(found.U_squared, K)
    assert peak < 1.3 * K.nbytes  # besides K: eigenvectors and rows of work space


@pytest.mark.parametrize("n_pairs", [None, 300, 20, 1])
def test_dense_pairs_in_place_of_the_matrix_are_the_same(rng, n_pairs):
    A = rng.normal(size=(301, 500))
    K = A @ A.T
    values, U = _dense_pairs(K, n_pairs)
    again, V = _dense_pairs(K.copy(), n_pairs, overwrite=True)
    assert_allclose(again, values, rtol=1e-12)
    assert_allclose(np.abs(np.einsum("ij,ij->j", U, V)), 1, rtol=1e-8)
    assert_allclose(K @ V, V * again, rtol=0, atol=1e-10 * values[0])
    assert np.all(np.diff(again) <= 0)
