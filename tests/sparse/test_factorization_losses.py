"""Losses of two factors: derivatives, descent, invariants, sparse against dense."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, nnls
from scipy.sparse import csr_array

from isthmus.sparse.factorization.drivers import Factors, optimality
from isthmus.sparse.factorization.masked import Masked, is_full_enough
from isthmus.sparse.factorization.observed import N_SWEEPS, Observed
from isthmus.sparse.factorization.options import BETAS
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.tables import FactorizationTable

FREE = (Penalty(), Penalty())
PENALTIES = (Penalty(l1=0.3, l2=0.2), Penalty(l1=0.1, l2=0.4))
PARK = (Penalty(squared_l1=0.5), Penalty(l2=0.7))
KINDS = ("euclidean", "kullback-leibler", "itakura-saito")


def problem(X, kind, penalties=FREE, *, missing="nan", solver="hals"):
    table = FactorizationTable.of(X, missing, "test")
    if kind == "euclidean":
        return table.quadratic(solver, penalties, 3)
    return table.divergence(BETAS[kind], penalties, "test")


def data(rng, n=12, d=9, k=3, gaps=0.0):
    X = rng.gamma(2.0, size=(n, d))
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    return X, Factors(rng.uniform(0.5, 1, size=(n, k)), rng.uniform(0.5, 1, size=(d, k)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [0.0, 0.4])
@pytest.mark.parametrize("penalties", [FREE, PENALTIES, PARK])
def test_derivatives_are_those_of_the_loss(rng, assert_gradient, kind, gaps, penalties):
    X, factors = data(rng, gaps=gaps)
    p = problem(X, kind, penalties)
    for side in (0, 1):

        def at(F, side=side):
            return Factors(F, factors.V) if side == 0 else Factors(factors.W, F)

        assert_gradient(
            lambda F, at=at: p.loss(at(F)),
            lambda F, at=at, side=side: p.gradient(side, at(F))[0],
            factors[side],
            rng,
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gaps", [0.0, 0.4])
@pytest.mark.parametrize("penalties", [FREE, PENALTIES])
@pytest.mark.parametrize("solver", ["hals", "anls", "multiplicative"])
def test_no_half_step_raises_the_loss(rng, kind, gaps, penalties, solver):
    X, factors = data(rng, gaps=gaps)
    p = problem(X, kind, penalties, solver=solver)
    last = p.loss(factors)
    for _ in range(15):
        for side in (0, 1):
            F, told = p.improve(side, factors)
            factors = Factors(F, factors.V) if side == 0 else Factors(factors.W, F)
            loss = p.loss(factors)
            assert loss <= last * (1 + 1e-12)
            assert told is None or told == pytest.approx(loss, rel=1e-9)
            last = loss


def test_multiplicative_updates_are_the_published_ones(rng):
    X, (W, V) = data(rng)
    H = V.T
    p = problem(X, "euclidean", solver="multiplicative")
    assert_allclose(p.improve(0, Factors(W, V))[0], W * (X @ H.T) / (W @ H @ H.T))
    assert_allclose(p.improve(1, Factors(W, V))[0].T, H * (W.T @ X) / (W.T @ W @ H))
    kl = problem(X, "kullback-leibler")
    ratio = X / (W @ H)
    assert_allclose(kl.improve(0, Factors(W, V))[0], W * (ratio @ H.T) / H.sum(axis=1))
    assert_allclose(kl.improve(1, Factors(W, V))[0].T, H * (W.T @ ratio) / W.sum(axis=0)[:, None])


def test_kullback_leibler_updates_keep_the_sums_of_the_table(rng):
    X, (W, V) = data(rng)
    p = problem(X, "kullback-leibler")
    W, _ = p.improve(0, Factors(W, V))
    assert_allclose((W @ V.T).sum(axis=1), X.sum(axis=1), rtol=1e-13)
    V, _ = p.improve(1, Factors(W, V))
    assert_allclose((W @ V.T).sum(axis=0), X.sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize("kind", ["euclidean", "kullback-leibler"])
def test_sparse_tables_give_what_dense_ones_do(rng, kind):
    X, factors = data(rng)
    X[X < 1.5] = 0
    dense, stored = problem(X, kind), problem(csr_array(X), kind)
    assert stored.loss(factors) == pytest.approx(dense.loss(factors), rel=1e-12)
    for side in (0, 1):
        assert_allclose(stored.improve(side, factors)[0], dense.improve(side, factors)[0])
        assert_allclose(stored.gradient(side, factors)[0], dense.gradient(side, factors)[0])


@pytest.mark.parametrize("kind", ["euclidean", "kullback-leibler"])
def test_unstored_entries_are_unknown_like_nan(rng, kind):
    X, factors = data(rng, gaps=0.5)
    X[0, 0] = 0.0  # known to be zero
    known = ~np.isnan(X)
    rows, columns = np.nonzero(known)
    table = csr_array((X[known], (rows, columns)), shape=X.shape)
    by_nan, by_store = problem(X, kind), problem(table, kind, missing="unstored")
    assert by_store.loss(factors) == pytest.approx(by_nan.loss(factors), rel=1e-12)
    for side in (0, 1):
        assert_allclose(by_store.gradient(side, factors)[0], by_nan.gradient(side, factors)[0])
        if kind != "euclidean":
            assert_allclose(by_store.improve(side, factors)[0], by_nan.improve(side, factors)[0])


@pytest.mark.parametrize("penalties", [FREE, PENALTIES, PARK])
def test_products_with_the_mask_do_what_the_loop_over_known_entries_does(rng, penalties):
    X, factors = data(rng, n=21, gaps=0.5)
    X[3], X[:, 5] = np.nan, np.nan  # a row and a column of which nothing is known
    table = FactorizationTable.of(X, "nan", "test")
    fast = Masked.of(table.values, table.mask, penalties)
    slow = Observed.of(table.known_entries(), penalties)
    assert fast.loss(factors) == pytest.approx(slow.loss(factors), rel=1e-12)
    assert_allclose(fast.solve(factors.V), slow.solve(factors.V), atol=1e-10)
    for side in (0, 1):
        ours, loss = fast.sweep(side, factors, N_SWEEPS, 0.0)
        theirs, its_loss = slow.improve(side, factors)
        assert_allclose(ours, theirs, atol=1e-12)
        assert loss == pytest.approx(its_loss, rel=1e-11)
        assert fast.improve(side, factors)[1] <= loss * (1 + 1e-12)
        for one, other in zip(
            fast.gradient(side, factors), slow.gradient(side, factors), strict=True
        ):
            assert_allclose(one, other, atol=1e-12)


def test_the_mask_is_taken_where_it_is_full_and_components_are_few():
    assert is_full_enough((200, 60), 8400, 5)
    assert not is_full_enough((200, 60), 600, 5)  # loops over few entries are faster
    assert not is_full_enough((200, 60), 12_000, 50)  # pairs of components are more than columns
    assert not is_full_enough((1, 60), 60, 5)


def test_a_complete_table_through_the_loop_over_known_entries_is_the_same(rng):
    X, factors = data(rng)
    plain = problem(X, "euclidean", PARK)
    table = csr_array(X)
    listed = problem(table, "euclidean", PARK, missing="unstored")
    assert listed.loss(factors) == pytest.approx(plain.loss(factors), rel=1e-12)
    assert_allclose(listed.gradient(0, factors)[0], plain.gradient(0, factors)[0])
    assert_allclose(listed.solve(factors.V), plain.solve(factors.V), atol=1e-10)


def test_squared_sums_are_one_more_row_of_least_squares(rng):
    # min ||x - wH||² + beta (sum w)² is least squares with a row sqrt(beta) of ones.
    X, (W, V) = data(rng)
    p = problem(X, "euclidean", PARK, solver="anls")
    ours, _ = p.improve(0, Factors(W, V))
    stacked = np.vstack([V, np.sqrt(0.5) * np.ones((1, 3))])
    theirs = [nnls(stacked, np.r_[x, 0])[0] for x in X]
    assert_allclose(ours, theirs, atol=1e-9)
    ours, _ = p.improve(1, Factors(W, V))
    stacked = np.vstack([W, np.sqrt(0.7) * np.eye(3)])
    theirs = [nnls(stacked, np.r_[x, np.zeros(3)])[0] for x in X.T]
    assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.4])
@pytest.mark.parametrize("penalty", [Penalty(), Penalty(l1=0.5, l2=0.3)])
def test_kullback_leibler_codes_are_the_global_minimum(rng, gaps, penalty):
    X, (W, V) = data(rng, gaps=gaps)
    X[1] = 0.0
    p = problem(X, "kullback-leibler", (penalty, Penalty()))
    ours, unfinished = p.solve(V, tol=1e-8)
    assert unfinished == 0

    def loss(w):
        factors = Factors(w.reshape(W.shape), V)
        return p.loss(factors), p.gradient(0, factors)[0].ravel()

    found = minimize(loss, W.ravel(), jac=True, bounds=[(1e-12, None)] * W.size, tol=1e-14)
    assert p.loss(Factors(ours, V)) <= found.fun * (1 + 1e-9)
    slope, terms = p.gradient(0, Factors(ours, V))
    assert np.minimum(slope, 0).min() > -1e-6 * terms.max()


def test_optimality_is_zero_at_an_exact_factorisation_and_only_there(rng):
    _, factors = data(rng)
    X = factors.W @ factors.V.T
    for kind in KINDS:
        assert optimality(problem(X, kind), factors) < 1e-12
        assert optimality(problem(X, kind), Factors(2 * factors.W, factors.V)) > 0.1


def test_a_derivative_that_points_out_of_the_cone_does_not_count():
    # At w = 0 a row of zeros is explained best: its positive derivative is no obstacle.
    X = np.array([[1.0, 1.0], [0.0, 0.0]])
    factors = Factors(np.array([[1.0], [0.0]]), np.array([[1.0], [1.0]]))
    assert optimality(problem(X, "euclidean"), factors) < 1e-15
