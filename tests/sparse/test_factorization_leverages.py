"""Errors of entries left out by leverages: against fits without them, and where they choose."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.sparse import NonnegativeFactorization
from isthmus.sparse.factorization import masked
from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.masked import Masked
from isthmus.sparse.factorization.penalties import Penalty

PENALTIES = Penalty(l2=0.7), Penalty(l2=0.3)


def problem_and_factors(rng, n=19, d=13, k=3):
    X, mask = rng.uniform(size=(n, d)), (rng.uniform(size=(n, d)) < 0.8).astype(float)
    factors = Factors(rng.uniform(size=(n, k)), rng.uniform(size=(d, k)))
    factors.W[rng.uniform(size=(n, k)) < 0.3] = 0.0
    factors.V[4] = 0.0
    return Masked.of(X * mask, mask, PENALTIES), factors


def slow_leverages(mask, W, V, strength):
    """Entry (i, j): v_j' (V' M_i V + strength)^-1 v_j over the components of row i."""
    found = np.zeros((len(W), len(V)))
    for i, row in enumerate(mask):
        used = V[:, W[i] > 0]
        G = used.T @ (row[:, None] * used) + strength * np.eye(used.shape[1])
        found[i] = np.einsum("ja,ab,jb->j", used, np.linalg.inv(G), used)
    return found


@pytest.mark.parametrize("block", [1, 2**18])
def test_errors_left_out_are_those_of_the_formula(rng, monkeypatch, block):
    monkeypatch.setattr(masked, "JUDGED_VALUES", block)
    problem, factors = problem_and_factors(rng)
    (n, d), (W, V) = problem.shape, factors
    mask, values = problem.mask[:n, :d], problem.values[:n, :d]
    by_row = slow_leverages(mask, W, V, PENALTIES[0].l2)
    by_column = slow_leverages(mask.T, V, W, PENALTIES[1].l2).T
    rest = mask * (values - W @ V.T) / ((1 - by_row) * (1 - by_column))
    assert_allclose(problem.left_out_error(factors), np.sum(rest**2), rtol=1e-10)


def test_a_leverage_tells_the_error_of_a_fit_without_the_entry(rng):
    """Of codes by least squares, exactly: the residual grows by 1 / (1 - leverage)."""
    V, x = rng.uniform(size=(12, 2)), rng.uniform(size=12)
    G = V.T @ V + PENALTIES[0].l2 * np.eye(2)
    w = np.linalg.solve(G, V.T @ x)
    assert (w > 0).all()
    leverage = slow_leverages(np.ones((1, 12)), w[None], V, PENALTIES[0].l2)[0]
    for j in range(12):
        others = np.delete(np.arange(12), j)
        G_others = V[others].T @ V[others] + PENALTIES[0].l2 * np.eye(2)
        away = np.linalg.solve(G_others, V[others].T @ x[others])
        assert_allclose(x[j] - V[j] @ away, (x[j] - V[j] @ w) / (1 - leverage[j]))


def test_components_that_depend_on_others_take_no_part(rng):
    problem, _ = problem_and_factors(rng)
    free = Masked.of(problem.values[:19, :13], problem.mask[:19, :13], (Penalty(), Penalty()))
    W, V = rng.uniform(0.1, 1, size=(19, 2)), rng.uniform(0.1, 1, size=(13, 2))
    twice = Factors(W[:, [0, 1, 1]], V[:, [0, 1, 1]] / [1, 2, 2])
    assert_allclose(free.left_out_error(twice), free.left_out_error(Factors(W, V)), rtol=1e-8)


def planted(n, d, k, share):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(n, k)) @ rng.exponential(size=(k, d))
    X += 0.3 * np.abs(rng.normal(size=X.shape))
    return X, rng.uniform(size=X.shape) < share


@pytest.mark.parametrize(("share", "levered"), [(0.2, True), (0.8, False)])
def test_leverages_choose_where_entries_are_many(monkeypatch, share, levered):
    X, hidden = planted(80, 40, 3, share)
    calls = []
    error = Masked.left_out_error
    monkeypatch.setattr(Masked, "left_out_error", lambda *given: calls.append(0) or error(*given))
    model = NonnegativeFactorization(3, random_state=0)
    filled = model.inverse_transform(model.fit_transform(np.where(hidden, np.nan, X)))
    assert bool(calls) is levered
    assert np.sqrt(np.mean((filled - X)[hidden] ** 2)) < 0.5 * np.std(X[hidden])


def test_rows_with_few_entries_are_judged_by_hiding(monkeypatch):
    """Such a row is fitted exactly, and leverages would not see how far it runs away."""
    X, hidden = planted(80, 40, 3, 0.1)
    hidden[7, 3:] = True
    monkeypatch.setattr(Masked, "left_out_error", None)
    model = NonnegativeFactorization(3, random_state=0).fit(np.where(hidden, np.nan, X))
    assert model.alpha_ >= 0
