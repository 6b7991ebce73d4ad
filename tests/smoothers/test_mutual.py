"""Means among places that are points and centres at once, against those of any points."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.losses import Huber, Squared
from isthmus.manifold.ukr.objective import ManifoldObjective, reconstruction_error
from isthmus.smoothers import density_kernel, mutual
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.smoothers.mutual import are_mutual, lent_mutual, list_mutual
from isthmus.smoothers.near_list import NearPairs
from isthmus.smoothers.pairs import list_pairs

N = 300
ITSELF = np.arange(N)[:, None]


def places(rng, q, n=N):
    return (n / 20) ** (1 / q) * rng.uniform(-1, 1, size=(n, q))


def as_table(found, n):
    """Squared distances of the listed pairs, from both sides, in the order of the rows."""
    table = np.full((n, n), np.inf)
    rows = np.repeat(np.arange(n), np.diff(found.pairs.indptr))
    i, j = found.order[rows], found.order[found.pairs.indices]
    assert np.all(np.isinf(table[i, j]))
    table[i, j] = found.pairs.squared
    assert np.all(np.isinf(table[j, i]))
    table[j, i] = found.pairs.squared
    return table


def assert_pairs(found, X):
    expected, n = list_pairs(X, X, 1.0), len(X)
    table = np.full((n, n), np.inf)
    table[np.repeat(np.arange(n), np.diff(expected.indptr)), expected.indices] = expected.squared
    np.fill_diagonal(table, np.inf)
    assert_allclose(as_table(found, n), table, rtol=1e-12)
    assert_allclose(found.places.T, X[found.order])


@pytest.mark.parametrize("q", [1, 2, 3, 5])
def test_every_near_pair_is_listed_once(q, rng):
    X = places(rng, q)
    assert_pairs(list_mutual(X, 1.0), X)
    with lent_mutual(X, 1.0) as found:
        assert_pairs(found, X)


def test_places_beside_each_other_and_far_away(rng):
    X = np.vstack([places(rng, 2, 200), [[1e3, -1e3]], np.zeros((30, 2))])
    assert_pairs(list_mutual(X, 1.0), X)
    lattice = np.stack(np.meshgrid(*[0.5 * np.arange(15.0)] * 2), axis=-1).reshape(-1, 2)
    assert_pairs(list_mutual(lattice, 1.0), lattice)  # many are just out of reach


def test_more_room_is_made_where_few_rows_promise_less(rng):
    X = 100.0 * rng.uniform(size=(3000, 2))
    some = np.arange(3000) % (1 + 3000 // 64) > 0  # those that are not counted
    X[some] *= 0.05
    assert_pairs(list_mutual(X, 1.0), X)


def test_crowds_and_what_is_no_number_are_not_listed(rng):
    X = places(rng, 2)
    for odd in (0.01 * X, np.full_like(X, np.nan), X[:100]):
        with lent_mutual(odd, 1.0) as found:
            assert found is None
    with lent_mutual(X, np.inf) as found:
        assert found is None


def test_pairs_are_mutual_only_for_means_of_near_rows_that_leave_themselves_out():
    quartic = LocalSmoother(density_kernel("quartic"))
    assert are_mutual(quartic, None, N)
    assert are_mutual(quartic, ITSELF, N)
    assert not are_mutual(quartic, ITSELF[::-1], N)
    assert not are_mutual(quartic, np.hstack([ITSELF, ITSELF[::-1]]), N)
    assert not are_mutual(replace(quartic, degree=1), ITSELF, N)
    assert not are_mutual(LocalSmoother(density_kernel("gaussian")), ITSELF, N)


@pytest.mark.parametrize("q", [1, 2, 3, 5])
@pytest.mark.parametrize("d", [1, 3, 8, 16, 21, 40])
def test_means_and_gradients_are_those_of_points_and_centres(q, d, rng, monkeypatch):
    monkeypatch.setattr(mutual, "FRESH", 50 * d)  # several blocks
    X, Y = places(rng, q), rng.normal(size=(N, d))
    X[7] = 50.0  # which nothing reaches
    for name, excluded, background in (
        ("quartic", ITSELF, 0.0),
        ("quartic", None, 0.0),
        ("epanechnikov", ITSELF, 0.01),
        ("triweight", ITSELF, 0.0),
    ):
        smoother = LocalSmoother(density_kernel(name), background=background)
        loss = Huber(0.3) if name == "triweight" else Squared()
        by_pairs = reconstruction_error(X, X, Y, Y, smoother, loss, excluded=excluded)
        found = reconstruction_error(X, None, Y, Y, smoother, loss, excluded=excluded)
        assert_allclose(found.value, by_pairs.value, rtol=1e-12)
        assert_allclose(found.fitted, by_pairs.fitted, rtol=1e-9, atol=1e-12)
        assert found.n_alone == by_pairs.n_alone
        gradient = by_pairs.by_point + by_pairs.by_centre
        assert_allclose(found.by_point, gradient, rtol=1e-8, atol=1e-12)
        assert not np.any(found.by_centre)


@pytest.mark.parametrize("kernel", ["quartic", "gaussian"])
@pytest.mark.parametrize("degree", [0, 1])
def test_points_that_are_their_own_centres_have_the_sum_of_both_gradients(kernel, degree, rng):
    X, Y, smoother = places(rng, 2), rng.normal(size=(N, 3)), LocalSmoother(density_kernel(kernel))
    smoother = replace(smoother, degree=degree, ridge=1e-2)
    for excluded in (None, np.hstack([ITSELF, np.roll(ITSELF, 1)])):
        both = reconstruction_error(X, X, Y, Y, smoother, Squared(), excluded=excluded)
        found = reconstruction_error(X, None, Y, Y, smoother, Squared(), excluded=excluded)
        assert_allclose(found.by_point, both.by_point + both.by_centre, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("q", [1, 2, 3])
def test_kept_lists_have_the_pairs_of_a_search(q, rng):
    near, X, n_kept = NearPairs(), places(rng, q), 0
    for _ in range(40):
        with near.lent(X, N, 1.0, mutual=True) as found:
            assert_pairs(found, X)
        n_kept += near._state.made_for is not None
        X = X + 0.01 * rng.choice([-1.0, 1.0], size=X.shape)
    assert n_kept > 20


def test_an_objective_goes_on_with_the_list_of_another_kind(rng):
    X, Y = places(rng, 2), rng.normal(size=(N, 4))
    smoother = LocalSmoother(density_kernel("quartic"))
    plain = ManifoldObjective(Y, smoother, excluded=ITSELF)
    dense = replace(plain, penalties={"density": 0.1, "extension": 0.01})
    fenced = replace(plain, barrier=(1e-4, 0.01))
    for step in range(12):
        X = X + 1e-3 * rng.choice([-1.0, 1.0], size=X.shape)
        for objective in (plain, dense, fenced) if step % 2 else (plain, plain):
            value, gradient = objective(X)
            anew = replace(objective, near=NearPairs())(X)
            assert_allclose(value, anew[0], rtol=1e-12)
            assert_allclose(gradient, anew[1], rtol=1e-8, atol=1e-12)
