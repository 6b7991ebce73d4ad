"""Experiments on factorisations: quick runs and their helpers."""

import io

import numpy as np
import pytest
from isthmus_experiments import run
from isthmus_experiments.experiments._matching import agreement, matched
from isthmus_experiments.experiments.nmf_swimmer import swimmers
from rich.console import Console

from isthmus.datasets import is_available

NEED_DATA = {
    "NMF-faces": "faces_cbcl",
    "NMF-sparse-faces": "faces_olivetti",
    "NMF-leukemia": "leukemia_golub",
    "NMF-unmixing": "unmixing",
    "NMF-topics": "ap_text",
}


def quickly(id):
    (result,) = run([id], quick=True, console=Console(file=io.StringIO()))
    return result


def test_swimmers_are_all_different_and_made_of_their_parts():
    images, limbs, torso = swimmers()
    assert images.shape == (256, 21, 21)
    assert len(np.unique(images.reshape(256, -1), axis=0)) == 256
    assert not np.any(limbs * torso)
    assert np.linalg.matrix_rank(images.reshape(256, -1)) == 13  # 16 limbs, 3 of 4 free, torso


def test_sparse_parts_have_less_of_the_torso():
    result = quickly("NMF-swimmer")
    assert result.error == ""
    assert result.warnings == ()
    (row,) = [row for row in result.outcome.rows if "torso" in row.quantity]
    assert row.agrees


def test_parts_are_matched_whatever_their_order_and_scale(rng):
    true = rng.uniform(size=(4, 9))
    order, similarity = matched(3 * true[[2, 0, 3, 1]], true)
    assert order.tolist() == [1, 3, 0, 2]
    np.testing.assert_allclose(similarity, 1)


def test_groups_agree_whatever_their_names():
    assert agreement(np.array([2, 2, 0, 1]), np.array(["a", "a", "b", "c"])) == 4
    assert agreement(np.array([0, 0, 0, 1]), np.array(["a", "a", "b", "c"])) == 3


@pytest.mark.parametrize("id", list(NEED_DATA))
def test_experiment_without_its_data_is_skipped(monkeypatch, id):
    if id == "NMF-sparse-faces":
        return  # scikit-learn may hold the faces
    monkeypatch.delenv("ISTHMUS_DATA", raising=False)
    assert quickly(id).status == "skipped"


@pytest.mark.slow
@pytest.mark.parametrize("id", list(NEED_DATA))
def test_quick_run_on_real_data_ends_without_failure(id):
    if not is_available(NEED_DATA[id]):
        pytest.skip("needs the data folder")
    result = quickly(id)
    assert result.error == ""
    assert all(row.verdict for row in result.outcome.rows)
