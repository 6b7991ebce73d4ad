"""Eight doubles side by side, in compiled loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    aligned,
    fetch_row,
    larger_modulus,
    largest,
    less,
    less_products,
    load,
    load_row,
    moduli,
    more,
    more_products,
    products,
    quotients,
    scaled,
    spread,
    store,
    store_row,
    total,
    where_larger,
)


@njit
def all_of_them(a, B, x, out):
    first, second = load(a, 1), load_row(B, 1, 2)
    fetch_row(B, 1, 2)
    fetch_row(B, 1, 10**6)  # beyond the end: it is asked for, and nothing comes
    store_row(out, 0, 0, more(first, x, second))
    store_row(out, 1, 0, less(first, x, second))
    store_row(out, 2, 0, more_products(scaled(x, first), first, second))
    store_row(out, 3, 0, larger_modulus(spread(0.5), second))
    store(out[4], 0, spread(x))
    out[5, 0] = total(first)
    out[5, 1] = largest(first)
    store_row(out, 6, 0, less_products(products(first, first), first, second))
    store_row(out, 7, 0, quotients(moduli(first), second))
    store_row(out, 8, 0, where_larger(first, second, first, spread(x)))


@pytest.fixture
def numbers(rng):
    return rng.normal(size=12), rng.normal(size=(3, 13))


def test_lanes_compute_what_slices_do(numbers):
    a, B = numbers
    out = np.zeros((9, LANES))
    all_of_them(a, B, 0.7, out)
    first, second = a[1:9], B[1, 2:10]
    assert_allclose(out[0], first + 0.7 * second, rtol=1e-14)
    assert_allclose(out[1], first - 0.7 * second, rtol=1e-13)
    assert_allclose(out[2], 0.7 * first + first * second, rtol=1e-13)
    assert_array_equal(out[3], np.maximum(0.5, np.abs(second)))
    assert_array_equal(out[4], 0.7)
    assert_allclose(out[5, 0], first.sum(), rtol=1e-14)
    assert out[5, 1] == first.max()
    assert_allclose(out[6], first * first - first * second, rtol=1e-13, atol=1e-15)
    assert_array_equal(out[7], np.abs(first) / second)
    assert_array_equal(out[8], np.where(first > second, first, 0.7))


def test_aligned_rows_begin_lines_of_the_cache():
    for n in range(1, 20):
        matrix = aligned(n, 16)
        assert matrix.shape == (n, 16)
        assert matrix.flags.c_contiguous
        assert matrix.ctypes.data % 64 == 0


def test_rows_of_a_view_are_found_by_its_strides(numbers):
    a, B = numbers
    whole, part = np.zeros((9, LANES)), np.zeros((9, LANES))
    all_of_them(a, np.ascontiguousarray(B[1:]), 0.7, whole)
    wide = np.zeros((2, 40))
    wide[:, :13] = B[1:]
    all_of_them(a, wide[:, :13], 0.7, part)
    assert_array_equal(whole, part)
