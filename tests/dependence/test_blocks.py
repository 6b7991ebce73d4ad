import tracemalloc
from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_allclose

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
