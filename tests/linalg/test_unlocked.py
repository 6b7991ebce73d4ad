"""BLAS and LAPACK without the interpreter's lock: as SciPy's wrappers, in place, from threads."""

from threading import Thread

import numpy as np
import pytest
from scipy import linalg
from scipy.linalg import blas, lapack

from isthmus.linalg import unlocked
from isthmus.linalg.products import inner_products, product
from isthmus.linalg.reflections import multiply_blocks
from isthmus.linalg.threads import rest_in_threads

TYPES = [np.float32, np.float64]


@pytest.fixture(params=["pointers", "wrappers"], autouse=True)
def way(request, monkeypatch):
    """Both ways to the routines; the second is for where there are no pointers."""
    if request.param == "wrappers":
        monkeypatch.setattr(unlocked, "_routine", lambda name, dtype: None)
    elif not unlocked.has_pointers():
        pytest.skip("SciPy has no such pointers here")
    return request.param


@pytest.fixture(params=TYPES, ids=lambda dtype: dtype.__name__)
def dtype(request):
    return request.param


def close(found, wanted):
    bound = 1e3 * np.finfo(found.dtype).eps * max(1.0, float(np.abs(wanted).max(initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=bound)


def matrix(rng, n, m, dtype, *, block=False):
    """In column order, alone or in the middle of a larger one."""
    if block:
        whole = np.full((n + 5, m + 3), np.nan, dtype=dtype, order="F")
        A = whole[2 : n + 2, 1 : m + 1]
    else:
        A = np.empty((n, m), dtype=dtype, order="F")
    A[...] = rng.normal(size=(n, m))
    return A


def positive(rng, n, dtype, *, block=False):
    A = matrix(rng, n, n, dtype, block=block)
    A[...] = A @ A.T + n * np.eye(n)
    return A


@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(("n", "k", "m"), [(7, 5, 3), (1, 4, 1), (2, 1, 6), (40, 70, 30)])
def test_gemm_is_the_product(rng, dtype, n, k, m, turned, block):
    A = matrix(rng, k, n, dtype, block=block).T if turned[0] else matrix(rng, n, k, dtype)
    B = matrix(rng, m, k, dtype, block=block).T if turned[1] else matrix(rng, k, m, dtype)
    C = matrix(rng, n, m, dtype, block=block)
    around, before = C.base, C.copy()
    unlocked.gemm(A, B, C, alpha=2.0, beta=-1.0)
    close(C, 2 * (A @ B) - before)
    if block:
        assert np.isnan(around).sum() == around.size - C.size
    unlocked.gemm(A, B, C)
    close(C, A @ B)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("block", [False, True])
def test_syrk_is_the_lower_half_of_the_product(rng, dtype, turned, block):
    A = matrix(rng, 8, 12, dtype).T if turned else matrix(rng, 12, 8, dtype)
    C = matrix(rng, 12, 12, dtype, block=block)
    before = C.copy()
    unlocked.syrk(A, C, alpha=-1.0, beta=0.5)
    close(np.tril(C), np.tril(before / 2 - A @ A.T))
    np.testing.assert_array_equal(np.triu(C, 1), np.triu(before, 1))


@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize("n", [1, 2, 30, 150])
def test_factors_and_what_follows_are_those_of_scipy(rng, dtype, n, block):
    A = positive(rng, n, dtype, block=block)
    full = A.copy()
    unlocked.factor(A)
    L = np.tril(A)
    close(L, linalg.cholesky(full, lower=True))
    np.testing.assert_array_equal(np.triu(A, 1), np.triu(full, 1))
    B = matrix(rng, n, 4, dtype, block=block)
    for turned in (False, True):
        X = B.copy(order="F")
        unlocked.solve_triangle(A, X, turned=turned)
        close(X, linalg.solve_triangular(L, B, lower=True, trans=int(turned)))
    X = B.copy(order="F")
    unlocked.solve_factored(A, X)
    close(X, linalg.cho_solve((L, True), B))
    unlocked.invert_factored(A)
    close(np.tril(A), np.tril(lapack.get_lapack_funcs("potri", (L,))(L, lower=1)[0]))


@pytest.mark.parametrize("block", [False, True])
@pytest.mark.parametrize("n", [1, 2, 30, 150])
def test_triangles_are_multiplied_solved_and_inverted_in_place(rng, dtype, n, block):
    A = positive(rng, n, dtype, block=block)
    unlocked.factor(A)
    L, above = np.tril(A), np.triu(A, 1)
    B, C = matrix(rng, n, 5, dtype, block=block), matrix(rng, 5, n, dtype, block=block)
    before, across = B.copy(), C.copy()
    A.flags.writeable = False  # the factor of a model that lies on disk is only read
    unlocked.multiply_triangle(A, B)
    close(B, L @ before)
    unlocked.solve_triangle(A, B)
    close(B, before)
    unlocked.solve_triangle(A, C, right=True, alpha=-2.0)
    close(C @ L, -2 * across)
    A.flags.writeable = True
    unlocked.invert_triangle(A)
    close(np.tril(A) @ L, np.eye(n, dtype=dtype))
    unlocked.square_triangle(A)
    inverse = np.linalg.inv(L)
    close(np.tril(A), np.tril(inverse.T @ inverse))
    np.testing.assert_array_equal(np.triu(A, 1), above)


def test_a_triangle_with_a_zero_on_its_diagonal_has_no_inverse(dtype):
    with pytest.raises(linalg.LinAlgError, match="singular"):
        unlocked.invert_triangle(np.array([[1, 0], [1, 0]], dtype=dtype, order="F"))


@pytest.mark.parametrize("n", [1, 2, 3, 33, 120])
def test_a_tridiagonal_form_has_the_matrix_back(rng, dtype, n):
    A = positive(rng, n, dtype)
    Q = A.copy(order="F")
    diagonal, beside, scales = unlocked.tridiagonal_form(Q)
    unlocked.multiply_reflections(Q, scales)
    T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    close(Q.T @ Q, np.eye(n, dtype=dtype))
    close(Q @ T @ Q.T, A)


@pytest.mark.parametrize("n", [1, 2, 3, 96, 97, 98, 250])
def test_long_products_multiply_reflections_as_lapack_does(rng, dtype, n):
    A = positive(rng, n, dtype)
    A[n // 2 :, : n // 3] = 0.0  # some reflections are none
    _, _, scales = unlocked.tridiagonal_form(A)
    wanted = A.copy(order="F")
    unlocked.multiply_reflections(wanted, scales)
    multiply_blocks(A, scales)
    close(A, wanted)


def test_a_matrix_that_is_not_positive_is_refused(dtype):
    with pytest.raises(linalg.LinAlgError, match="order 2 is not positive"):
        unlocked.factor(np.array([[1, 2], [2, 1]], dtype=dtype, order="F"))
    with pytest.raises(linalg.LinAlgError, match="Entry 1 of the diagonal is zero"):
        unlocked.invert_factored(np.array([[1, 0], [1, 0]], dtype=dtype, order="F"))


def test_what_a_routine_would_read_wrongly_is_refused(rng, dtype):
    rows = np.zeros((4, 4), dtype=dtype)[:, :3]
    columns = np.zeros((4, 4), dtype=dtype, order="F")
    fixed = columns.copy(order="F")
    fixed.flags.writeable = False
    for bad in (rows, columns[:, :3], columns.astype(int), columns[::2, ::2], fixed):
        with pytest.raises(ValueError, match="in column order"):
            unlocked.factor(bad)
    with pytest.raises(ValueError, match="do not fit"):
        unlocked.gemm(columns, columns[:3], columns)
    with pytest.raises(ValueError, match=r"shape \(4, 2\)"):
        unlocked.gemm(columns, columns[:, :2], columns)


def test_two_threads_at_once_compute_what_one_does(rng, dtype):
    A = [positive(rng, 200, dtype) for _ in range(8)]
    wanted, found = [M.copy(order="F") for M in A], [M.copy(order="F") for M in A]
    for M in wanted:
        unlocked.factor(M)
        unlocked.invert_factored(M)

    def work(parts):
        for M in parts:
            unlocked.factor(M)
            unlocked.invert_factored(M)

    threads = [Thread(target=work, args=(found[i::2],)) for i in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for M, W in zip(found, wanted, strict=True):
        close(M, W)


@pytest.mark.parametrize("order", ["C", "F"])
def test_products_in_shared_work_are_the_same(rng, dtype, order):
    A = np.asarray(rng.normal(size=(160, 150)), dtype=dtype, order=order)
    B = np.asarray(rng.normal(size=(150, 170)), dtype=dtype, order=order)
    found = []
    into = np.empty((160, 170), dtype=dtype)
    rest_in_threads(
        lambda i: found.append((product(A, B), product(A, B, out=into), inner_products(A))),
        range(3),
    )
    for plain, _, square in found:
        close(plain, A @ B)
        close(square, A.T @ A)
        np.testing.assert_array_equal(square, square.T)
    close(into, A @ B)


def test_a_signature_of_other_integers_is_not_read_as_ours():
    assert unlocked.arguments("void (char *, int *, x_d *)", "d") == "cir"
    assert unlocked.arguments("void (char *, int *, x_s *)", "d") == "ci?"
    assert "?" in unlocked.arguments("void (char *, npy_int64 *)", "d")
    assert unlocked.arguments("int (char *)", "d") == "?"


def test_a_pointer_of_another_signature_is_left_alone(monkeypatch, way):
    if way == "wrappers":
        pytest.skip("there is nothing to call")
    monkeypatch.setattr(unlocked, "arguments", lambda signature, prefix: "ci?")
    assert unlocked._routine.__wrapped__("potrf", np.dtype(np.float64)) is None
    monkeypatch.setattr(unlocked, "cython_lapack", object())
    assert unlocked._routine.__wrapped__("potrf", np.dtype(np.float64)) is None


def test_blas_is_that_of_the_wrappers(rng, way):
    if way == "wrappers":
        pytest.skip("they are the same")
    A = matrix(rng, 90, 80, np.float64)
    C = np.empty((90, 90), order="F")
    unlocked.gemm(A, A.T, C)
    np.testing.assert_array_equal(C, blas.dgemm(1.0, A, A, trans_b=1))
