"""What a page asks, without a page: places, objects, support, ways, colours, new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from isthmus.explorer import rows as rows_module
from isthmus.explorer.exploration import exploration_of
from isthmus.explorer.rows import DoesNotFit, make_rows
from isthmus.explorer.tables import rows_of_file
from isthmus.explorer.walks import place_rows, surely_slow, walk_of
from isthmus.explorer.ways import way_between
from isthmus.features import KernelPCA, SlowFeatureAnalysis
from isthmus.kernels import Spectrum
from isthmus.manifold import (
    CurvilinearComponents,
    GenerativeTopographicMapping,
    PrincipalCurve,
    SammonMapping,
    SmoothPSOM,
    UnsupervisedKernelRegression,
)
from isthmus.preimage import LearnedPreimage


def test_a_feature_space_is_walked(plane, digits):
    X, y = digits
    e = exploration_of(plane, make_rows(X, y))
    assert e.n_coordinates == 3
    assert e.quick is None
    place = e.places[7] + 1e-9
    look = e.look(place)
    assert_allclose(look.thing, plane.inverse_transform(place[None])[0])
    assert look.nearest == 7
    assert look.final
    assert e.support(e.places).mean() > 0.4
    assert e.support(e.places + 100).max() < 1e-3


def test_a_way_leads_from_stop_to_stop(plane, digits):
    e = exploration_of(plane, make_rows(*digits))
    stops = e.places[[3, 50, 20]]
    Z, things = e.strip(stops, 9)
    assert_allclose(Z[[0, -1]], stops[[0, 2]])
    assert_allclose(things, plane.inverse_transform(Z))
    steps = np.linalg.norm(np.diff(way_between(e.walk, stops, 400), axis=0), axis=1)
    assert steps.max() < 1.01 * np.median(steps)


def test_a_strangers_latent_map_is_walked_the_short_way_round(circle):
    model, rows = circle
    e = exploration_of(model, make_rows(rows))
    assert e.walk.is_latent
    way = way_between(e.walk, np.array([[0.2], [2 * np.pi - 0.2]]), 5)
    assert_allclose(np.cos(way[:, 0]), np.cos([0.2, 0.1, 0, 0.1, 0.2]), atol=1e-9)
    assert_allclose(e.error, 0, atol=1e-10)


def test_gaps_are_filled_in_with_all_answers(circle):
    model, rows = circle
    e = exploration_of(model, make_rows(rows))
    found = e.walk.complete(np.array([0.5, np.nan]))
    assert_allclose(np.sort(found.rows[:2, 1]), [-np.sqrt(0.75), np.sqrt(0.75)], atol=1e-4)
    assert_allclose(found.costs[:2], 0, atol=1e-3)
    alone = e.walk.complete(np.array([3.0, np.nan]))
    assert_allclose(alone.costs[0], 2, rtol=1e-3)


def test_scaling_before_a_map_is_undone():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 1, size=(40, 1))
    X = np.c_[1000 * t, 5 + t**2]
    pipe = make_pipeline(StandardScaler(), SmoothPSOM((6,))).fit(X)
    e = exploration_of(pipe, make_rows(X, names=["a", "b"]))
    assert_allclose(e.look(e.places[4]).thing, X[4], rtol=0.05)
    filled = e.walk.complete(np.array([500.0, np.nan]))
    assert abs(filled.rows[0, 1] - 5.25) < 0.1


def test_rows_of_the_fit_keep_the_places_found_there():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 3, 60)
    X = np.c_[np.cos(t), np.sin(t), t] + 0.01 * rng.normal(size=(60, 3))
    model = UnsupervisedKernelRegression(1, max_iter=30, tol=0.1, random_state=0).fit(X)
    e = exploration_of(model, make_rows(X, t))
    assert_array_equal(e.places, model.embedding_)
    other = exploration_of(model, make_rows(X[::-1]))
    assert other.error is not None  # they were projected
    assert np.median(np.abs(other.places[::-1] - e.places)) < 0.5
    gap = (e.ends[0] + 100)[None]
    assert e.support(gap)[0] < 0.01
    assert exploration_of(model, None).note.startswith("no table was given")


def test_objects_that_are_no_vectors_are_walked():
    words = ["abab", "baba", "abba", "cccc", "ccdd", "dccd"]
    e = exploration_of(
        KernelPCA(2, kernel=Spectrum(2)).fit(words), make_rows(words, list("xxxyyy"))
    )
    assert e.artist.kind.name == "sequence"
    assert str(e.look(e.places[3]).thing) == "cccc"
    assert exploration_of(KernelPCA(2, kernel=Spectrum(2)).fit(words), None).rows.objects == words


@pytest.mark.parametrize(
    "model",
    [
        GenerativeTopographicMapping(),
        PrincipalCurve(),
        SammonMapping(),
        CurvilinearComponents(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_topographic_maps_curves_and_embeddings_are_walked(model):
    t = np.linspace(0, 2, 30)
    X = np.c_[np.cos(t), np.sin(t), t] + 0.01 * np.random.default_rng(1).normal(size=(30, 3))
    e = exploration_of(model.fit(X), make_rows(X, t))
    look = e.look(e.places[9], final=True)
    assert np.linalg.norm(look.thing - X[9]) < 0.5
    assert np.isfinite(e.support(e.places)).all()
    _, things = e.strip(e.places[[2, 25]], 5)
    assert np.shape(things) == (5, 3)
    assert "density" in e.color_names()


def test_slow_features_are_walked():
    t = np.linspace(0, 12, 300)
    X = np.c_[np.sin(t) + np.cos(11 * t), np.cos(11 * t)]
    e = exploration_of(SlowFeatureAnalysis(2).fit(X), make_rows(X))
    assert_allclose(e.look(e.places[9]).thing, X[9], atol=1e-8)


def test_a_slow_object_is_guessed_at_once_and_then_computed(digits, monkeypatch):
    monkeypatch.setattr("isthmus.explorer.exploration.SLOW", -1.0)
    X, y = digits
    model = KernelPCA(8).fit(X)
    e = exploration_of(model, make_rows(X, y))
    place = e.places[11]
    e.quick.wait()
    guess, found = e.look(place), e.look(place, final=True)
    assert (guess.final, found.final) == (False, True)
    assert_allclose(found.thing, model.inverse_transform(place[None])[0])
    assert np.linalg.norm(guess.thing - found.thing) < np.linalg.norm(found.thing) / 2


def test_rows_of_the_fit_are_not_mapped_again(digits, monkeypatch):
    X, y = digits
    model = KernelPCA(3).fit(X)
    far = place_rows(walk_of(model), make_rows(X[::-1], y)).places[::-1]
    monkeypatch.setattr(KernelPCA, "transform", lambda self, X: pytest.fail("mapped again"))
    assert_allclose(place_rows(walk_of(model), make_rows(X, y)).places, far, atol=1e-10)


def test_a_large_expansion_is_known_to_be_slow_without_a_trial(digits, monkeypatch):
    monkeypatch.setattr("isthmus.explorer.walks._MANY_NUMBERS", 1000)
    X, y = digits
    model = KernelPCA(8).fit(X)
    monkeypatch.setattr("isthmus.explorer.exploration.seconds_per_object", None)
    e = exploration_of(model, make_rows(X, y))
    e.quick.wait()
    _, guessed = e.strip(e.places[[2, 25]], 4)
    Z, found = e.strip(e.places[[2, 25]], 4, final=True)
    assert_allclose(found, model.inverse_transform(Z))
    assert np.linalg.norm(found - guessed) < np.linalg.norm(found) / 2
    named = KernelPCA(8, preimage=LearnedPreimage()).fit(X)  # one matrix product
    assert not surely_slow(walk_of(named))


def test_colors_are_columns_labels_error_and_density(plane, digits):
    X, y = digits
    e = exploration_of(plane, make_rows(X[:, :64], y, names=[f"p{i}" for i in range(64)]))
    assert e.color_names()[:3] == ["label", "error", "density"]
    assert e.colors("label").labels == [str(i) for i in range(10)]
    assert_allclose(e.colors("p20").values, X[:, 20])
    error = np.linalg.norm(plane.inverse_transform(plane.transform(X)) - X, axis=1)
    assert_allclose(e.colors("error").values, error)
    dense = e.colors("density").values
    lonely = np.argmax(np.linalg.norm(e.places - e.places.mean(axis=0), axis=1))
    assert dense[lonely] < np.median(dense)
    with pytest.raises(DoesNotFit, match="no column 'nothing'"):
        e.colors("nothing")


def test_new_rows_are_projected_with_their_distance(plane, digits):
    X, _ = digits
    e = exploration_of(plane, make_rows(X))
    kept, Z, away = e.project(make_rows(X[:5] + 1.0))
    assert_allclose(Z, plane.transform(X[:5] + 1.0))
    assert (away > 0).all()
    assert len(kept) == 5


# What cannot be walked --------------------------------------------------------------------


def test_a_map_without_a_way_back_says_so(one_way):
    with pytest.raises(DoesNotFit, match="OneWay has no way back"):
        walk_of(one_way)
    with pytest.raises(DoesNotFit, match="KernelPCA has no way back"):
        walk_of(KernelPCA(2, kernel="precomputed").fit(np.eye(4)))
    with pytest.raises(DoesNotFit, match="no coordinates to walk in"):
        walk_of(object())


def test_rows_of_another_model_are_refused(plane, digits):
    with pytest.raises(DoesNotFit, match="has 3 columns of numbers, the model was fitted on 64"):
        exploration_of(plane, make_rows(np.zeros((4, 3))))
    with pytest.raises(DoesNotFit, match="9 entries for 120 rows"):
        make_rows(digits[0], np.zeros(9))
    with pytest.raises(DoesNotFit, match="empty"):
        make_rows(np.zeros((0, 3)))


def test_a_huge_table_is_refused(monkeypatch):
    monkeypatch.setattr(rows_module, "MOST_ROWS", 50)
    with pytest.raises(DoesNotFit, match="has 60 rows of 2 numbers; a page takes 50 rows"):
        make_rows(np.zeros((60, 2)))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"a,b\n1,2\n", "has no column 'c'"),
        ("t.csv", b"a,b,c\n1,2,x\n", "cells that are no numbers"),
        ("t.csv", b"", "cannot be read"),
        ("t.npz", b"PK", "cannot be read"),
        ("t.csv", b"a,b,c\n1,2,\n", "no row without gaps"),
    ],
)
def test_a_dropped_table_that_does_not_fit_says_why(name, content, message):
    like = make_rows(np.zeros((3, 3)), names=["a", "b", "c"])
    with pytest.raises(DoesNotFit, match=message):
        rows_of_file(name, content, like)


def test_a_dropped_table_is_matched_by_name():
    like = make_rows(np.zeros((3, 2)), names=["a", "b"])
    rows = rows_of_file("t.csv", b"b;other;a\n1;x;2\n3;y;4\n", like)
    assert_array_equal(rows.objects, [[2, 1], [4, 3]])
