import tracemalloc
from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.blocks.slices import block_slices
from isthmus.dependence import distance_correlation
from isthmus.dependence.gram_sums import finish, gram_sums, map_block, merge
from isthmus.dependence.sides import distance_side, kernel_side


@pytest.mark.parametrize("width", [1, 7, 60, 100])
def test_strips_of_any_height_in_any_order_add_up(points, rng, width):
    sides = [distance_side(points, 1, name="X"), kernel_side(points**2, "gaussian", name="Y")]
    starts = rng.permutation(np.arange(0, 60, width))
    strips = [slice(s, min(s + width, 60)) for s in starts]
    sums = reduce(merge, (map_block(sides, rows, width=width) for rows in strips))
    for unbiased in (False, True):
        whole = finish(gram_sums(sides), unbiased=unbiased)
        assert_allclose(finish(sums, unbiased=unbiased), whole, rtol=1e-9, atol=1e-12)


def test_memory_does_not_hold_a_matrix(rng):
    X, Y = rng.normal(size=(3000, 3)), rng.normal(size=(3000, 2))
    distance_correlation(X[:300], Y[:300])
    tracemalloc.start()
    distance_correlation(X, Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000**2 * 8 / 8


@pytest.mark.parametrize("n", [2, 3, 5, 8, 63, 64, 65, 131, 300])
def test_one_pass_over_distances_is_that_over_tiles(rng, n):
    tables = [rng.normal(size=(n, d)) for d in (1, 3, 4)]
    tables[1][n // 2] = tables[1][0]
    tables[2] *= 1e-140
    tables += [1e8 + rng.normal(size=(n, 2)), np.full((n, 2), 0.1)]
    sides = [distance_side(X, 1, name="X") for X in tables]
    strips = list(block_slices(n, 1, block_size=64))
    for some in (sides[:2], sides[1:4], sides[3:]):
        expected = reduce(merge, (map_block(some, rows, width=64) for rows in strips))
        found = gram_sums(some)
        size = np.sqrt(np.diag(expected.products))
        gap = np.abs(found.products - expected.products)
        assert np.all(gap <= 1e-12 * np.outer(size, size))
        assert np.all(np.abs(found.rows - expected.rows) <= 1e-13 * n * size[:, None])
        assert_allclose(found.diagonals, expected.diagonals)
