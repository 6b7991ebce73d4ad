"""Embeddings that are kept from one fit to the next."""

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
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
