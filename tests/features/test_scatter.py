"""Products of rows of few columns, from registers and from BLAS."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.features.components import roots, scatter
from isthmus.features.components.roots import summed_root
from isthmus.features.components.scatter import (
    fits_registers,
    scatter_about,
    scatter_of_changes,
)
from isthmus.features.slow import sums
from isthmus.features.slow.formulas import map_block
from isthmus.linalg.threads import in_threads


@pytest.mark.parametrize("k", [8, 9, 16, 20, 31, 40, 96])
@pytest.mark.parametrize("n", [1, 63, 64, 200])
def test_upper_half_of_products_and_sums_are_those_of_centred_rows(n, k, rng):
    rows, center = rng.normal(size=(n, k)), rng.normal(size=k)
    products, total = scatter_about(center, rows)
    away = rows - center
    assert_allclose(np.triu(products), np.triu(away.T @ away), atol=1e-12 * n)
    assert_allclose(total, away.sum(axis=0), atol=1e-12 * n)


@pytest.mark.parametrize("lag", [1, 3])
@pytest.mark.parametrize("k", [8, 20, 40])
def test_products_of_changes_reach_back_into_the_tail(lag, k, rng):
    signal = rng.normal(size=(150, k))
    changes = signal[lag:] - signal[:-lag]
    found = scatter_of_changes(signal[5:], signal[:5], lag)
    assert_allclose(np.triu(found), np.triu(changes[5 - lag :].T @ changes[5 - lag :]), atol=1e-11)


def test_parts_of_many_rows_sum_to_the_whole_on_any_number_of_threads(rng, monkeypatch):
    rows, center = rng.normal(size=(5000, 12)), rng.normal(size=12)
    whole = scatter_about(center, rows)
    monkeypatch.setattr(scatter, "PART", 12 * 700)
    parts = scatter_about(center, rows)
    monkeypatch.setattr(scatter, "rest_in_threads", in_threads)
    shared = scatter_about(center, rows)
    for one, other, third in zip(whole, parts, shared, strict=True):
        assert_allclose(other, one, rtol=1e-12, atol=1e-11)
        assert_array_equal(third, other)


def test_numbers_that_are_not_finite_stay_in_the_sums(rng):
    rows = rng.normal(size=(100, 10))
    rows[70, 4] = np.nan
    products, total = scatter_about(np.zeros(10), rows)
    assert np.isnan(products[4, 4])
    assert np.isnan(total[4])
    assert np.isfinite(np.delete(total, 4)).all()


def test_roots_from_registers_are_those_from_blas(rng, monkeypatch):
    X = rng.normal(size=(2000, 12)) @ rng.normal(size=(12, 12)) + 3
    monkeypatch.setattr(scatter, "has_long_registers", lambda: True)
    assert fits_registers(X)
    fast = summed_root(X, X[0])
    monkeypatch.setattr(roots, "fits_registers", lambda rows: False)
    assert_allclose(fast, summed_root(X, X[0]), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("offset", [0.0, 5.0])
@pytest.mark.parametrize("lags", [[1], [1, 3]])
def test_sums_of_a_stream_from_registers_are_those_from_blas(offset, lags, rng, monkeypatch):
    X = rng.normal(size=(4000, 10)) + offset
    first = sums.opened(map_block(X[:2000], lags))
    tail, rows = X[1990:2000], X[2000:]
    monkeypatch.setattr(sums, "fits_registers", lambda rows: True)
    fast = sums.added(first, tail, rows, lags)
    monkeypatch.setattr(sums, "fits_registers", lambda rows: False)
    slow = sums.added(first, tail, rows, lags)
    assert_allclose(fast.total, slow.total, atol=1e-10)
    for one, other in zip((fast.level, *fast.changes), (slow.level, *slow.changes), strict=True):
        assert_allclose(np.triu(one.products), np.triu(other.products), rtol=1e-10, atol=1e-9)
    monkeypatch.setattr(sums, "fits_registers", lambda rows: True)
    rows[5, 5] = np.nan
    assert sums.added(first, tail, rows, lags) is None
