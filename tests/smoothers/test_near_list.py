"""Lists of near pairs that are kept while places move."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.smoothers import near_list
from isthmus.smoothers.near_list import NearPairs
from isthmus.smoothers.pairs import list_pairs

N_PLACES = 300


def walk(rng, q, n_steps, size, n=N_PLACES):
    X = np.sqrt(n / 20) * rng.uniform(-1, 1, size=(n, q))
    for _ in range(n_steps):
        yield X
        X = X + size * rng.choice([-1.0, 1.0], size=X.shape)


def as_table(pairs, shape):
    table = np.full(shape, np.inf)
    rows = np.repeat(np.arange(shape[0]), np.diff(pairs.indptr))
    table[rows, pairs.indices] = pairs.squared
    return table


def assert_pairs(found, points, centres):
    expected = list_pairs(points, centres, 1.0)
    shape = len(points), len(centres)
    assert_allclose(as_table(found, shape), as_table(expected, shape), rtol=1e-12)


@pytest.fixture
def searches(monkeypatch):
    """Sizes of the searches that a list was made by."""
    seen = []

    def counted(points, centres, *rest):
        seen.append(len(points))
        return list_pairs(points, centres, *rest)

    monkeypatch.setattr(near_list, "list_pairs", counted)
    return seen


@pytest.mark.parametrize("n_points", [N_PLACES, 200])
@pytest.mark.parametrize("q", [1, 2, 3, 5])
def test_kept_lists_have_the_pairs_of_a_search(q, n_points, rng, searches):
    near = NearPairs()
    for X in walk(rng, q, 60, 0.01):
        with near.lent(X, n_points, 1.0) as found:
            centres = X if n_points == N_PLACES else X[n_points:]
            assert_pairs(found, X[:n_points], centres)
    assert 2 <= len(searches) <= 20


def test_places_that_jump_are_searched_anew(rng, searches):
    near = NearPairs()
    for X in walk(rng, 2, 10, 0.2):
        with near.lent(X, N_PLACES, 1.0) as found:
            assert_pairs(found, X, X)
    assert not searches  # no list would have served twice
    far = X.copy()
    far[7] += 100.0
    for places in (X, X, far, far, X):
        with near.lent(places, N_PLACES, 1.0) as found:
            assert_pairs(found, places, places)


def test_what_has_too_many_pairs_or_no_numbers_is_not_listed(rng):
    near, X = NearPairs(), 0.1 * rng.normal(size=(N_PLACES, 2))
    for places in (X, X, X):
        with near.lent(places, N_PLACES, 1.0) as found:
            assert found is None
    for places in (20 * X, 20 * X, np.full_like(X, np.nan), 20 * X[:100], 20 * X):
        with near.lent(places, len(places), 1.0) as found:
            assert (found is None) == (len(places) == 100 or np.isnan(places[0, 0]))
    with near.lent(20 * X, N_PLACES, np.inf) as found:
        assert found is None


def test_few_places_are_left_to_others(rng):
    near, X = NearPairs(), rng.normal(size=(20, 2))
    for _ in range(3):
        with near.lent(X, 20, 1.0) as found:
            assert found is None
