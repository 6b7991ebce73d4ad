"""Exponentials in lanes, and blocks that are written twice."""

import numpy as np
from numpy.testing import assert_array_equal

from isthmus.kernels.vectors.decay_loops import decay, mirror_decays


def test_decays_are_exponentials_to_the_last_bits(rng):
    x = np.concatenate(
        [-700 * rng.random(5000), -rng.random(5000), -(10.0 ** -rng.integers(0, 20, 99))]
    )
    found = x.copy()
    decay(found)
    expected = np.exp(x.astype(np.longdouble))
    assert np.abs(found / expected - 1).max() < 2**-52


def test_what_is_no_negative_number():
    x = np.array([0.0, -0.0, 3.0, np.inf, -np.inf, np.nan, -707.0, -707.1, -1e300, -5e-324, -1.0])
    decay(x)
    assert_array_equal(x[:6], [1, 1, 1, 1, 0, np.nan])
    assert 0 < x[6] < 1e-306
    assert_array_equal(x[7:10], [0, 0, 1])


def test_blocks_below_the_diagonal_make_the_whole(rng):
    A = -rng.random((40, 40))
    K = np.full((40, 40), np.nan)
    for row, column in ((0, 0), (24, 0), (24, 24)):
        block = A[row : row + 24, column : column + 24]
        mirror_decays(block.copy(), row, column, K)
    lower = np.exp(np.tril(A, -1))
    assert_array_equal(K, K.T)
    assert np.abs(np.tril(K - lower, -1)).max() < 1e-15
