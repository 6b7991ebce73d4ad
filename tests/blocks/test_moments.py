"""Moments of a block: the formula, whatever shares of it threads take."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from isthmus.blocks import checks, moments
from isthmus.linalg import threads


@pytest.mark.parametrize("n", [1, 7, 90, 2000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("overwrite", [False, True])
def test_parts_of_a_block_give_the_formula(n, weighted, overwrite, rng, monkeypatch):
    monkeypatch.setattr(moments, "BLOCK_VALUES", 100)
    X = rng.normal(size=(n, 5)) + 3
    w = rng.uniform(size=n) if weighted else np.ones(n)
    mean = w @ X / w.sum()
    expected = (X - mean).T @ ((X - mean) * w[:, None])
    found = moments.map_block(X.copy(), w if weighted else None, overwrite_x=overwrite)
    assert_allclose(found.count, w.sum())
    assert_allclose(found.mean, mean)
    assert_allclose(found.scatter, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_does_not_change_the_moments(dtype, rng, monkeypatch):
    monkeypatch.setattr(threads, "LEAST_SECONDS", 0.0)
    X, found = rng.normal(size=(30_000, 20)).astype(dtype), []
    for n in (1, 2):
        with threadpool_limits(n, user_api="blas"):
            found.append(moments.map_block(X).scatter)
    assert found[0].dtype == dtype
    assert np.array_equal(*found)


def test_products_with_threads_of_their_own_are_not_shared(rng, monkeypatch):
    X = rng.normal(size=(3000, 50))
    expected = moments.map_block(X).scatter
    monkeypatch.setattr(moments, "LEAST_OPERATIONS", 0.0)
    assert_allclose(moments.map_block(X).scatter, expected, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("bad", [None, np.nan, np.inf, -np.inf, 1e80])
@pytest.mark.parametrize("place", [0, 17, 99])
def test_the_ends_of_a_block_are_found_in_parts(bad, place, rng, monkeypatch):
    monkeypatch.setattr(checks, "PART", 8)
    A = rng.normal(size=(25, 4))
    if bad is not None:
        A.flat[place] = bad
    ends = checks._ends(A)
    assert np.array_equal(ends, (np.max(A), np.min(A)), equal_nan=True)
    check = checks.BlockCheck("doubling")
    if bad is None:
        assert check(A, "block 0") is A
    else:
        with pytest.raises(ValueError, match="block 0"):
            check(A, "block 0")
