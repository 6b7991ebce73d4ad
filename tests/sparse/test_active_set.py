"""The factor of the active atoms: compiled loops against LAPACK."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose
from scipy.linalg import cholesky, solve_triangular

from isthmus.linalg.lanes import LANES
from isthmus.sparse.l1 import active_set_loops as loops

CAPACITY = 24


def reached(loop):
    """A way in from Python to a loop that only loops call."""
    return njit(lambda *args: loop(*args))


backward, forward, gradient = map(reached, (loops.backward, loops.forward, loops.gradient))
join, remove, times = map(reached, (loops.join, loops.remove, loops.times))


def room(k=40):
    length = CAPACITY + 2 * LANES - CAPACITY % LANES
    return {
        "R": np.zeros((CAPACITY, length)),
        "active": np.zeros(CAPACITY, dtype=np.int64),
        "y": np.zeros(length),
        "W": np.zeros((CAPACITY, LANES)),
        "S": np.zeros((LANES + 1, LANES)),
    }


def factor(R, m):
    """The factor with its diagonal, zeros below it."""
    return np.triu(R[:m, :m], 1) + np.diag(1 / np.diag(R[:m, :m]))


def active_set(rng, sizes, D):
    """Atoms that joined in groups, with right-hand sides."""
    G, r = D @ D.T, room()
    order = rng.permutation(len(D))[: sum(sizes)]
    rhs, m = rng.normal(size=len(order)), 0
    for size in sizes:
        new = order[m : m + size].copy()
        m = join(
            r["R"], m, G, r["active"], new, size, rhs[m : m + size].copy(), r["y"], r["W"], r["S"]
        )
    return G, r, m, order, rhs


@pytest.mark.parametrize("sizes", [(1,), (8,), (3, 5, 1), (8, 8, 7)])
def test_joined_atoms_have_the_factor_of_their_gram_matrix(rng, sizes):
    D = rng.normal(size=(40, 30))
    G, r, m, order, rhs = active_set(rng, sizes, D)
    assert m == sum(sizes)
    upper = cholesky(G[np.ix_(order, order)])
    assert_allclose(factor(r["R"], m), upper, atol=1e-12)
    assert_allclose(r["y"][:m], solve_triangular(upper, rhs, trans="T"), atol=1e-12)
    y = r["y"].copy()
    backward(r["R"], m, y)
    assert_allclose(y[:m], np.linalg.solve(G[np.ix_(order, order)], rhs), rtol=1e-9, atol=1e-12)
    z = np.zeros_like(y)
    z[m // 2 : m] = rhs[m // 2 :]
    expected = solve_triangular(upper, z[:m], trans="T")
    forward(r["R"], m // 2, m, z)
    assert_allclose(z[:m], expected, atol=1e-12)
    times(r["R"], m, rhs, z)
    assert_allclose(z[:m], upper @ rhs, atol=1e-12)


def test_dependent_atoms_stay_out_and_so_do_those_without_room(rng):
    D = rng.normal(size=(40, 30))
    D[7] = 2 * D[3] - D[5]
    r = room()
    new = np.array([3, 5, 7, 9])
    m = join(r["R"], 0, D @ D.T, r["active"], new, 4, np.ones(4), r["y"], r["W"], r["S"])
    assert m == 3
    assert r["active"][:3].tolist() == [3, 5, 9]
    _, r, m, order, _ = active_set(rng, (8, 8, 8), rng.normal(size=(40, 30)))
    G = np.eye(40)
    assert join(r["R"], m, G, r["active"], order[:1], 1, np.ones(1), r["y"], r["W"], r["S"]) == m


@pytest.mark.parametrize("places", [(0,), (22,), (5, 11, 0, 19, 7)])
def test_atoms_leave_as_if_they_had_never_been(rng, places):
    D = rng.normal(size=(40, 30))
    G, r, m, order, rhs = active_set(rng, (8, 8, 7), D)
    a, v = np.zeros_like(r["y"]), np.zeros_like(r["y"])
    a[:m] = rng.normal(size=m)
    a[list(places)] = 0.0
    times(r["R"], m, a, v)
    signs = np.sign(a)
    left, coefficients = list(order), list(a[:m])
    for place in places:
        place = min(place, m - 1)
        while coefficients[place] != 0.0:
            place -= 1
        remove(r["R"], m, r["active"], a, signs, r["y"], v, place)
        m -= 1
        rhs = np.delete(rhs, place)
        del left[place], coefficients[place]
    assert r["active"][:m].tolist() == left
    assert_allclose(a[:m], coefficients)
    upper = cholesky(G[np.ix_(left, left)])
    found = factor(r["R"], m)
    turn = np.sign(np.diag(found))
    assert_allclose(turn[:, None] * found, upper, atol=1e-10)
    assert_allclose(turn * r["y"][:m], solve_triangular(upper, rhs, trans="T"), atol=1e-10)
    assert_allclose(turn * v[:m], upper @ a[:m], atol=1e-10)


@pytest.mark.parametrize("k", [5, 8, 64, 203])
def test_gradient_is_the_product(rng, k):
    G, b, a = rng.normal(size=(k, k)), rng.normal(size=k), rng.normal(size=4)
    active, g = rng.permutation(k)[:4], np.empty(k)
    gradient(G, b, active, a, 4, g)
    assert_allclose(g, a @ G[active] - b, atol=1e-13)
