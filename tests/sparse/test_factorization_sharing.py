"""Rows of a factorisation, in parts and as a whole."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.linalg import threads
from isthmus.sparse import NonnegativeFactorization
from isthmus.sparse.factorization import masked, sharing
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.quadratic import Quadratic


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_in_parts_are_those_of_the_whole(rng, monkeypatch, dtype):
    X = rng.normal(size=(301, 70)).astype(dtype)
    V, W = (rng.normal(size=(size, 5)).astype(dtype) for size in (70, 301))
    monkeypatch.setattr(sharing, "PART", 10_000)
    scale = 100 * np.finfo(dtype).eps
    for found, expected in (
        (sharing.product_with_rows(X, V), X @ V),
        (sharing.sum_over_rows(X, W), X.T @ W),
    ):
        assert found.dtype == dtype
        assert_allclose(found, expected, rtol=0, atol=scale * np.abs(expected).max())


@pytest.mark.parametrize("solver", ["hals", "anls"])
def test_rows_are_improved_alike_in_parts(rng, monkeypatch, solver):
    X, V = rng.uniform(size=(203, 30)), rng.uniform(size=(30, 4))
    start = rng.uniform(size=(203, 4))
    problem = Quadratic.of(X, solver, (Penalty(), Penalty()))
    G, B = problem.normal_equations(0, V)
    whole = problem.improve_factor(start, G, B)
    monkeypatch.setattr(sharing, "PART", 2000)
    assert np.array_equal(problem.improve_factor(start, G, B), whole)


def test_an_error_in_one_part_ends_all():
    def work(rows):
        if rows.start:
            raise KeyError("a part")

    with pytest.raises(KeyError, match="a part"):
        sharing.share_rows(work, np.zeros((100, 10)), 2**20)


def test_the_number_of_threads_does_not_change_a_fit(rng, monkeypatch):
    from threadpoolctl import threadpool_limits

    monkeypatch.setattr(sharing, "PART", 2**18)
    monkeypatch.setattr(threads, "LEAST_SECONDS", 0.0)
    X = rng.uniform(size=(2000, 30)) @ rng.uniform(size=(30, 60))
    found = []
    for n in (1, 2):
        with threadpool_limits(n, user_api="blas"):
            model = NonnegativeFactorization(10, tol=0.0, max_iter=3, random_state=0, init="random")
            with pytest.warns(UserWarning, match="tolerance"):
                found.append(model.fit(X).components_)
    assert np.array_equal(*found)


@pytest.mark.parametrize("side", [0, 1])
def test_normal_equations_with_gaps_are_the_same_by_either_product(rng, monkeypatch, side):
    X, mask = rng.uniform(size=(120, 100)), rng.uniform(size=(120, 100)) < 0.6
    V = rng.uniform(size=(X.shape[1 - side], 5))
    found = []
    for least in (0, 10**9):
        monkeypatch.setattr(masked, "LARGE", least)
        problem = masked.Masked.of(X * mask, mask.astype(float), (Penalty(), Penalty()))
        found.append(problem.normal_equations(side, V))
    for fast, slow in zip(*found, strict=True):
        assert_allclose(fast, slow, rtol=1e-12)
