"""Starts and ends of projections: short ways against the orders that they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus.manifold.domain import Domain
from isthmus.manifold.projection import FEW_STARTS, Ends, first_ends, nearest_starts, order_ends


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize(("k", "q"), [(1, 1), (2, 3), (4, 1), (5, 2)])
def test_the_first_end_is_the_first_of_all_in_order(rng, k, q, periodic):
    n = 400
    spread = rng.choice([0.0, 1e-3, 5e-3, 0.5], size=(n, k, 1))  # ends that coincide or do not
    latent = rng.normal(size=(n, 1, q)) + spread * rng.normal(size=(n, k, q))
    error = rng.choice([1e-9, 1.0, 1.0 + 1e-7, 1.0 + 1e-5, 2.0], size=(n, k))
    error += rng.choice([0.0, 1e-9], size=(n, k))
    every, goal = Ends(latent, error, error > 0), np.full(n, 1e-6)
    domain, places = Domain(-2.0, 2.0, periodic=periodic), rng.normal(size=(20, q))
    start = rng.normal(size=(n, q))
    order, _ = order_ends(every, goal, start, domain, places)
    assert_array_equal(first_ends(every, goal, start, domain, places), order[:, 0])


@pytest.mark.parametrize("n_best", [1, 3, FEW_STARTS, FEW_STARTS + 1, 99])
@pytest.mark.parametrize("weighted", [False, True])
def test_nearest_starts_come_in_order(rng, n_best, weighted):
    images, targets = rng.normal(size=(30, 4)), rng.normal(size=(50, 4))
    weights = rng.uniform(size=targets.shape) if weighted else None
    p = np.ones(4) if weights is None else weights[:, None]
    distances = np.sum(p * (targets[:, None] - images) ** 2, axis=2)
    found = nearest_starts(images, targets, weights, n_best)
    assert_array_equal(found, np.argsort(distances, axis=1)[:, :n_best])
