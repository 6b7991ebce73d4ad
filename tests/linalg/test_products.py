"""Products on SciPy's BLAS: equal to ``@`` for every order, type and size, without copies."""

import itertools
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.linalg import (
    inner_products,
    product,
    products,
    subtract_product,
    symmetric_product,
    thin,
)
from isthmus.linalg.products import mirror_lower
from isthmus.linalg.threads import in_threads

ORDERS = ("rows", "columns", "neither")
SHAPES = ((2, 3, 4), (60, 50, 40), (1, 400, 300), (300, 400, 1))
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-4}


def laid_out(A, order):
    if order == "neither":
        return np.repeat(A, 2, axis=1)[:, ::2]
    return np.asarray(A, order="C" if order == "rows" else "F")


def matrices(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    m, k, n = shape
    return rng.normal(size=(m, k)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(ORDERS, ORDERS)))
def test_products_are_those_of_numpy(shape, dtype, left, right):
    A, B = matrices(shape, dtype)
    expected = A @ B
    scale = TOLERANCE[dtype] * np.abs(expected).max()
    A, B = laid_out(A, left), laid_out(B, right)
    found = product(A, B)
    assert found.dtype == dtype
    assert_allclose(found, expected, atol=scale)
    assert_allclose(product(A, B[:, 0]), expected[:, 0], atol=scale)
    for order in "CF":
        out = np.ones(expected.shape, dtype=dtype, order=order)
        assert product(A, B, out=out) is out
        assert_allclose(out, expected, atol=scale)
        assert subtract_product(out, A, B) is out
        assert_allclose(out, 0, atol=2 * scale)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
def test_inner_products_are_exactly_symmetric(order, dtype):
    A, _ = matrices((400, 300, 1), dtype)
    found = inner_products(laid_out(A, order))
    assert found.dtype == dtype
    assert np.array_equal(found, found.T)
    assert_allclose(found, A.T @ A, atol=TOLERANCE[dtype] * np.abs(found).max())


def test_integers_and_mixed_types_are_multiplied_too():
    A, B = np.arange(40_000).reshape(200, 200), np.eye(200, dtype=np.float32)
    assert_allclose(product(A, B), A)
    assert np.array_equal(inner_products(A), A.T @ A)
    assert product(B, np.eye(200)).dtype == np.float64


def test_shapes_that_do_not_fit_are_told():
    with pytest.raises(ValueError, match=r"\(300, 300\) and \(200, 300\)"):
        product(np.ones((300, 300)), np.ones((200, 300)))


def test_a_product_in_place_allocates_nothing_of_its_size():
    A, B = matrices((800, 20, 800), np.float64)
    out = np.zeros((800, 800))
    tracemalloc.start()
    try:
        product(A, B, out=out)
        subtract_product(out, A, B)
        assert tracemalloc.get_traced_memory()[1] < out.nbytes / 10
    finally:
        tracemalloc.stop()
    assert_allclose(out, 0, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [3, 150])
def test_product_with_a_symmetric_matrix(n, order, dtype):
    A, B = matrices((n, n, 7), dtype)
    K = A + A.T
    found = symmetric_product(laid_out(K, order), laid_out(B, order))
    assert found.dtype == dtype
    assert_allclose(found, K @ B, rtol=0, atol=TOLERANCE[dtype] * 10)


@pytest.mark.parametrize(
    "shape", [(31, 200, 2), (60, 4100, 3), (100, 193, 24), (6, 7, 5), (2, 3, 1)]
)
def test_few_columns_by_the_compiled_loop_and_by_blas(shape, monkeypatch):
    A, B = matrices(shape, np.float64)
    scale = 1e-13 * (np.abs(A) @ np.abs(B)).max()
    expected = A @ B
    assert_allclose(thin.thin_product(A, B), expected, rtol=0, atol=scale)
    A_columns = np.asfortranarray(A)
    assert_allclose(thin.thin_product(A_columns, B), expected, rtol=0, atol=scale)
    monkeypatch.setattr(thin, "LEAST_IN_THREADS", 0)
    monkeypatch.setattr(thin, "SUMMED_ROWS", 16)
    assert_allclose(thin.thin_product(A, np.asfortranarray(B)), expected, rtol=0, atol=scale)
    assert_allclose(thin.thin_product(A_columns, B), expected, rtol=0, atol=scale)


def test_few_columns_take_the_compiled_loop_where_registers_are_long(monkeypatch):
    A, B = matrices((400, 400, 16), np.float64)
    monkeypatch.setattr(thin, "has_long_registers", lambda: True)
    assert thin.is_thin(A, B)
    assert thin.is_thin(A.T, B)
    for other in (
        (A[:, ::2], B[::2]),
        (A, B[:, :1]),
        (A[:20], B),
        (A, np.tile(B, 10)),  # turning them would take longer than it saves
        (A[:30], np.tile(B, 2)),
        (A.astype(np.float32), B),
        (A, B[:, 0]),
    ):
        assert not thin.is_thin(*other)
    assert product(A, B).flags.c_contiguous
    monkeypatch.setattr(thin, "has_long_registers", lambda: False)
    assert not thin.is_thin(A, B)


def test_numbers_that_are_not_finite_spoil_only_their_own_sums():
    A, B = matrices((200, 300, 18), np.float64)
    A[3, 5], B[7, 2] = np.inf, np.nan
    A[6, 0] = A[199, 0] = -np.inf  # where a sum begins
    expected = A @ B
    for matrix in (A, np.asfortranarray(A)):
        found = thin.thin_product(matrix, B)
        assert np.array_equal(np.isnan(found), np.isnan(expected))
        assert np.array_equal(np.isinf(found), np.isinf(expected))


@pytest.mark.parametrize("n", [1, 2, 20, 64, 65, 300])
def test_a_lower_triangle_is_mirrored_to_the_bit(n):
    F = np.asfortranarray(np.random.default_rng(n).normal(size=(n, n)))
    lower = np.tril(F)
    mirror_lower(F)
    assert np.array_equal(F, lower + np.tril(lower, -1).T)


def test_products_of_work_that_threads_share_let_the_others_run(rng, monkeypatch):
    # SciPy keeps the interpreter's lock while its BLAS works.
    A, B = rng.normal(size=(300, 60)), rng.normal(size=(60, 80))
    cases = [(A, B), (np.asfortranarray(A), B), (A[::2], B[:, ::2]), (A.astype(np.float32), B)]
    expected = [product(a, b) for a, b in cases]
    squares = [inner_products(a) for a, _ in cases]
    monkeypatch.setattr(products, "blas", None)
    found = {}

    def work(i):
        a, b = cases[i]
        out = np.empty(expected[i].shape, dtype=expected[i].dtype)
        found[i] = product(a, b), product(a, b, out=out), inner_products(a)

    in_threads(work, range(len(cases)))
    for i, square in enumerate(squares):
        rtol = 1e-5 if square.dtype == np.float32 else 1e-12
        for value in found[i][:2]:
            assert_allclose(value, expected[i], rtol=rtol, atol=rtol)
            assert value.dtype == expected[i].dtype
        assert_allclose(found[i][2], square, rtol=rtol, atol=rtol)
        assert np.array_equal(found[i][2], found[i][2].T)
