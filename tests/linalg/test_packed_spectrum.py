"""All eigenpairs beside half of the matrix."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from isthmus.linalg import packed_spectrum
from isthmus.linalg.packed_spectrum import can_be_packed, packed_eigenpairs
from isthmus.linalg.spectrum import leading_eigenpairs


def gram(rng, n, rank):
    F = rng.normal(size=(n, rank)) * np.geomspace(1, 1e-3, rank)
    return F @ F.T


@pytest.mark.parametrize(("n", "rank"), [(3, 2), (5, 5), (65, 65), (66, 20), (130, 130), (300, 40)])
def test_pairs_are_those_of_lapack(rng, n, rank):
    K = gram(rng, n, rank)
    kept = K.copy()
    values, U = packed_eigenpairs(K)
    size = values[-1]
    assert K.size == 0
    assert_allclose(values, linalg.eigvalsh(kept), atol=1e-13 * size)
    assert_allclose(U.T @ U, np.eye(n), atol=1e-11)
    assert_allclose(kept @ U, U * values, atol=1e-12 * size)


def test_a_large_matrix_is_emptied_only_where_it_may_be(rng, monkeypatch):
    monkeypatch.setattr(packed_spectrum, "LEAST_ROWS", 50)
    K = gram(rng, 60, 30)
    kept = K.copy()
    values, U = leading_eigenpairs(K)
    assert np.array_equal(K, kept)
    view = kept[:, ::-1][:, ::-1]
    assert not can_be_packed(view)
    again, V = leading_eigenpairs(kept, overwrite=True)
    assert kept.size == 0
    assert_allclose(again, values, rtol=1e-9)
    assert_allclose(np.abs(np.sum(U * V, axis=0)), 1, atol=1e-6)


def test_memory_is_one_matrix_and_a_half(rng):
    n = 1200
    K = gram(rng, n, 50)
    packed_eigenpairs(gram(rng, 100, 50))
    tracemalloc.start()
    held = np.array(K)
    del K
    packed_eigenpairs(held)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.8 * 8 * n**2
