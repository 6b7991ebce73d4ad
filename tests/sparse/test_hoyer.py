"""Hoyer's sparseness and the projection on it."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.sparse import HoyerSparseness, hoyer_projection, hoyer_sparseness


def by_trying_all_supports(x, sparseness):
    """The largest inner product with a vector of norm 1, sum L, zero off a subset."""
    n = len(x)
    total = np.sqrt(n) - sparseness * (np.sqrt(n) - 1)
    best = -np.inf
    for size in range(1, n + 1):
        for support in combinations(range(n), size):
            part = x[list(support)]
            away, left = part - part.mean(), 1 - total**2 / size
            if left < -1e-12 or np.linalg.norm(away) < 1e-12:
                continue
            s = total / size + away / np.linalg.norm(away) * np.sqrt(max(left, 0))
            if s.min() > -1e-12:
                best = max(best, part @ s)
    return best


def test_projection_is_the_global_one_in_a_thousand_cases():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        x, target = rng.normal(size=rng.integers(3, 8)), rng.uniform(0.02, 0.98)
        s = hoyer_projection(x[None], target, norm=1.0)[0]
        assert s.min() >= 0
        assert x @ s == pytest.approx(by_trying_all_supports(x, target), abs=1e-12)
        assert hoyer_sparseness(s) == pytest.approx(target, abs=1e-9)


def test_free_length_is_the_best_length(rng):
    X = rng.uniform(size=(5, 30))
    free = hoyer_projection(X, 0.7)
    distance = np.linalg.norm(X - free, axis=1)
    for factor in (0.99, 1.01):
        fixed = hoyer_projection(X, 0.7, norm=factor * np.linalg.norm(free, axis=1))
        assert np.all(np.linalg.norm(X - fixed, axis=1) > distance)


def test_rows_do_not_see_each_other(rng):
    X = rng.normal(size=(20, 12))
    together = hoyer_projection(X, 0.5, norm=2.0)
    alone = np.vstack([hoyer_projection(x[None], 0.5, norm=2.0) for x in X])
    assert_allclose(together, alone, atol=1e-14)
    assert_allclose(np.linalg.norm(together, axis=1), 2.0)


def test_extremes_of_sparseness():
    assert_allclose(hoyer_projection([[1.0, 3.0, 2.0]], 1.0, norm=1.0), [[0, 1, 0]], atol=1e-12)
    assert_allclose(hoyer_projection([[1.0, 3.0, 2.0]], 0.0, norm=1.0), 3**-0.5, atol=1e-12)
    assert_allclose(hoyer_sparseness(hoyer_projection(np.ones((1, 9)), 0.4)), 0.4)
    assert np.isnan(hoyer_sparseness([0.0, 0.0]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hoyer_projection([[1.0]], 0.5), r"at least two entries. Got X.shape=\(1, 1\)"),
        (lambda: hoyer_projection([[1.0, 2.0]], 1.5), r"in \[0, 1\]. Got 1.5"),
        (lambda: HoyerSparseness(2.0).targets(), r"'components' parameter of HoyerSparseness"),
        (lambda: HoyerSparseness(codes_axis="row").targets(), "'codes_axis' parameter"),
    ],
)
def test_impossible_demands_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
