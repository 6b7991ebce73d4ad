"""Embeddings that are kept from one fit to the next."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone

from isthmus.datasets import make_noisy_spiral
from isthmus.manifold import Starts, UnsupervisedKernelRegression
from isthmus.manifold.ukr import starts as embeddings


@pytest.fixture(scope="module")
def rows():
    return make_noisy_spiral(150, random_state=0)[0]


def fit(Y, memory=None, **options):
    init = Starts(("pca", "isomap"), 2, memory=memory)
    options = {"max_iter": 0, "random_state": 0} | options
    return clone(UnsupervisedKernelRegression(1, init=init, **options)).fit(Y)


def test_kept_embeddings_give_the_same_manifold(rows, tmp_path, monkeypatch):
    alone, first = fit(rows), fit(rows, str(tmp_path))
    monkeypatch.setattr(embeddings, "find_embeddings", None)  # nothing is embedded again
    second = fit(rows, joblib.Memory(str(tmp_path), verbose=0))
    for model in (first, second):
        assert model.start_ == alone.start_
        assert_array_equal(model.embedding_, alone.embedding_)
    fit(rows, str(tmp_path), degree=0, loss="huber", validation=3)


@pytest.mark.parametrize("change", ["rows", "seed"])
def test_other_rows_and_other_seeds_are_embedded_anew(rows, change, tmp_path, monkeypatch):
    fit(rows, str(tmp_path))
    seen = []
    monkeypatch.setattr(
        embeddings, "find_embeddings", lambda Y, q, *rest: seen.append(Y) or [("pca", Y[:, :q])]
    )
    if change == "rows":
        fit(rows[:-1], str(tmp_path))
    else:
        fit(rows, str(tmp_path), random_state=1)
    assert len(seen) == 1


def test_a_memory_must_be_a_folder_or_have_a_cache(rows):
    with pytest.raises(ValueError, match="'memory' parameter of Starts"):
        fit(rows, np.arange(3))


def test_neighbours_of_few_rows_are_those_of_a_tree(rows, monkeypatch):
    few = rows[:60]
    distance, index = embeddings.neighbor_table(few, 7)
    monkeypatch.setattr(embeddings, "FEW_OPERATIONS", 0)
    expected, numbers = embeddings.neighbor_table(few, 7)
    assert_allclose(distance, expected, rtol=1e-12)
    assert_array_equal(index, numbers)


@pytest.mark.parametrize("k", [1, 4, 11])
def test_of_neighbours_that_are_as_near_the_first_are_taken(k):
    grid = np.random.default_rng(0).integers(3, size=(40, 2)).astype(float)
    D = np.linalg.norm(grid[:, None] - grid, axis=2)
    np.fill_diagonal(D, np.inf)
    assert_array_equal(
        embeddings.neighbor_table(grid, k)[1], np.argsort(D, axis=1, kind="stable")[:, :k]
    )


@pytest.mark.parametrize("n", [2, 3, 12, 40])
def test_fewest_neighbours_connect_and_one_fewer_does_not(n):
    Y = np.random.default_rng(n).normal(size=(n, 2))
    _, index = embeddings.neighbor_table(Y, 12)

    def n_parts(k):
        graph = csr_array((np.ones(n * k), index[:, :k].ravel(), np.arange(n + 1) * k), (n, n))
        return connected_components(graph, directed=False)[0]

    fewest = embeddings.fewest_connecting_neighbors(index)
    assert n_parts(fewest) == 1
    assert all(n_parts(k) > 1 for k in range(1, fewest))
