"""Lanes in rows of memory."""

import numpy as np
from numpy.testing import assert_array_equal

from isthmus._compiled import njit
from isthmus.linalg.lane_memory import address, index_at, lanes_at, number_at, put_lanes, zero_rows
from isthmus.linalg.lanes import LANES, more


@njit
def add_rows(at, weights, i, j):
    put_lanes(at, j, more(lanes_at(at, j), number_at(weights, i), lanes_at(at, i)))


@njit
def entry(start, i):
    return index_at(start, i)


def test_ints_of_32_bits_keep_their_sign():
    numbers = np.array([7, -5, 2**31 - 1], dtype=np.int32)
    assert [entry(numbers.ctypes.data, i) for i in range(3)] == numbers.tolist()


def test_rows_begin_a_line_of_the_cache():
    rows = zero_rows(3)
    assert rows.shape == (3, LANES)
    assert not rows.any()
    assert address(rows) % 64 == 0


def test_rows_and_numbers_are_those_at_the_address(rng):
    memory, weights = zero_rows(4), rng.normal(size=4)
    memory[:] = rng.integers(0, 9, size=memory.shape)
    expected = memory.copy()
    expected[3] += weights[1] * memory[1]
    add_rows(address(memory), address(weights), 1, 3)
    np.testing.assert_allclose(memory, expected, rtol=1e-15)
    add_rows(address(memory[1:]), address(weights[2:]), 0, 1)  # from the second row on
    expected[2] += weights[2] * expected[1]
    np.testing.assert_allclose(memory, expected, rtol=1e-15)
    assert_array_equal(memory[:2], expected[:2])
