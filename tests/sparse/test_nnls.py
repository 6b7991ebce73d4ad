"""Non-negative and simplex-constrained least squares: exact, and certified."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from isthmus.linalg.lanes import LANES, aligned
from isthmus.sparse import nonnegative_least_squares, simplex_least_squares
from isthmus.sparse.factorization.sweep_loops import sweep_rows


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 12), d=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_is_the_solution_of_lawson_and_hanson(seed, k, d):
    rng = np.random.default_rng(seed)
    D, X = rng.normal(size=(k, d)), rng.normal(size=(4, d))
    ours = nonnegative_least_squares(X, D)
    theirs = np.array([nnls(D.T, x)[0] for x in X])
    assert ours.min() >= 0
    # With more atoms than features codes may differ, what they explain may not.
    assert_allclose(ours @ D, theirs @ D, atol=1e-7)


def test_penalties_are_those_of_the_augmented_problem(rng):
    D, X = rng.uniform(size=(6, 9)), rng.uniform(size=(5, 9))
    ours = nonnegative_least_squares(X, D, l2=0.5)
    stacked = np.vstack([D.T, np.sqrt(0.5) * np.eye(6)])
    theirs = [nnls(stacked, np.r_[x, np.zeros(6)])[0] for x in X]
    assert_allclose(ours, theirs, atol=1e-10)
    sparse = nonnegative_least_squares(X, D, l1=0.3)
    slope = (sparse @ D - X) @ D.T + 0.3
    assert slope.min() > -1e-9
    assert_allclose(slope * sparse, 0, atol=1e-9)


def test_equal_atoms_do_not_disturb_the_solution(rng):
    D = rng.uniform(size=(3, 8))
    X = rng.uniform(size=(20, 8))
    twice = nonnegative_least_squares(X, np.vstack([D, D, np.zeros((1, 8))]))
    assert_allclose(twice @ np.vstack([D, D, np.zeros((1, 8))]), _fit(X, D), atol=1e-9)


def _fit(X, D):
    return nonnegative_least_squares(X, D) @ D


def test_coordinate_descent_goes_to_the_exact_solution(rng):
    D, X = rng.uniform(size=(6, 20)), rng.uniform(size=(30, 20))
    G, B = D @ D.T, X @ D.T
    W = np.zeros((30, 6))
    sweep_rows(W, B, G, 5000, 0.0, aligned(12, LANES))
    assert_allclose(W, nonnegative_least_squares(X, D), atol=1e-8)


def _slow_sweeps(W, G, B, n_sweeps, share):
    """Coordinate descent as it is written down, the gradient afresh for every entry."""
    for i in range(len(W)):
        gains = []
        for _ in range(n_sweeps):
            before = W[i].copy()
            gain = 0.0
            for j in np.flatnonzero(np.diag(G) > 0):
                new = max(W[i, j] - (W[i] @ G[j] - B[i, j]) / G[j, j], 0.0)
                gain += (new - W[i, j]) ** 2 * G[j, j]
                W[i, j] = new
            gains.append(gain)
            if gain <= share * gains[0] or np.array_equal(before, W[i]):
                break
    return W


def test_compiled_sweeps_are_coordinate_descent(rng):
    D, X = rng.uniform(size=(5, 12)), rng.uniform(size=(20, 12))
    D[2] = 0.0  # an atom without curvature stays where it is
    G, B, start = D @ D.T, X @ D.T, rng.uniform(size=(20, 5))
    W, slow = start.copy(), _slow_sweeps(start.copy(), G, B, 4, 0.2)
    sweep_rows(W, B, G, 4, 0.2, aligned(10, LANES))
    assert_allclose(W, slow, atol=1e-12)
    assert_allclose(W[:, 2], start[:, 2])


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 8), d=st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_no_corner_is_nearer_to_the_row_than_its_point_of_the_hull(seed, k, d):
    rng = np.random.default_rng(seed)
    D, X = rng.normal(size=(k, d)) + 3, rng.normal(size=(6, d)) + 3
    C = simplex_least_squares(X, D)
    assert C.min() >= 0
    assert_allclose(C.sum(axis=1), 1, atol=1e-12)
    P = C @ D
    # <x - p, d - p> <= 0 for every corner d says that p is the projection.
    inner = np.einsum("id,ijd->ij", X - P, D[None] - P[:, None])
    assert inner.max() < 1e-8


def test_a_point_inside_the_hull_is_met_and_a_corner_has_one_weight(rng):
    D = rng.normal(size=(4, 3))
    shares = rng.dirichlet(np.ones(4), size=10)
    assert_allclose(simplex_least_squares(shares @ D, D), shares, atol=1e-9)
    assert_allclose(simplex_least_squares(D, D), np.eye(4), atol=1e-9)


@pytest.mark.parametrize("solve", [nonnegative_least_squares, simplex_least_squares])
def test_unequal_columns_are_named(solve):
    with pytest.raises(ValueError, match=r"Got X.shape=\(1, 2\) and D.shape=\(1, 3\)"):
        solve([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="finite"):
        solve([[np.nan]], [[1.0]])


@pytest.mark.parametrize("solve", [nonnegative_least_squares, simplex_least_squares])
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_numbers_whose_products_are_none_are_refused(solve, scale):
    with pytest.raises(ValueError, match=r"magnitude 1e-70 to 1e\+70 in X.*rescale"):
        solve([[scale, 0.0]], np.eye(2))
