"""From pictures to postures, and the ways between postures."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from isthmus.datasets import make_imitation_scenes
from isthmus.kernels import Columns, HistogramIntersection
from isthmus.preimage import LearnedPreimage
from isthmus.reduction import compress
from isthmus.regression import ReducedRankRegression
from isthmus.robotics import ImitationModel, KinematicChain, PoseFeatures, PoseKernel, pa10
from isthmus.robotics.joint_path import find_way_points, neighbour_threshold, sample_evenly


@pytest.fixture(scope="module")
def scenes():
    return make_imitation_scenes(80, random_state=0)


@pytest.fixture(scope="module")
def features(scenes):
    return PoseFeatures(
        20,
        background=scenes.background,
        skin_pixels=scenes.skin_pixels,
        max_contexts=150,
    )


@pytest.fixture(scope="module")
def model(scenes, features):
    model = ImitationModel(pa10(), features=features)
    return model.fit(scenes.images[:40], scenes.postures[:40], unlabelled=scenes.images[:60])


def test_fused_extractor_is_the_two_stages(model, scenes):
    rows = model.features_.transform(scenes.images)
    two_stages = model.regressor_.predict(model.x_features_.transform(rows))
    assert_allclose(model.predict_coordinates(scenes.images), two_stages, atol=1e-10)
    assert model.extractor_.weights.shape == (60, model.rank_)


def test_fused_directions_are_orthonormal_in_feature_space(model):
    extractor = model.extractor_
    G = extractor.weights.T @ extractor.kernel(extractor.objects) @ extractor.weights
    assert_allclose(G, np.eye(model.rank_), atol=1e-10)


def test_all_points_keep_the_map_and_half_of_them_nearly(model, scenes):
    new = scenes.images[60:]
    full = model.predict_coordinates(new)
    same = compress(model, 60)
    assert_allclose(same.predict_coordinates(new), full, atol=1e-6)
    half = compress(model, 30)
    assert half.n_points_ == 30
    assert len(half.extractor_.objects) == 30
    spread = np.mean((full - full.mean(axis=0)) ** 2)
    assert np.mean((half.predict_coordinates(new) - full) ** 2) < 0.2 * spread
    # The model that was compressed is as it was.
    assert_allclose(model.predict_coordinates(new), full)


def test_predictions_are_better_than_the_mean_and_keep_the_limits(model, scenes):
    new, true = scenes.images[60:], scenes.postures[60:]
    predicted = model.predict(new)
    assert pa10().within_limits(predicted).all()
    mean = scenes.postures[:40].mean(axis=0)

    def place_error(q):
        return np.linalg.norm(pa10().positions(q) - pa10().positions(true), axis=2).mean()

    assert place_error(predicted) < 0.75 * place_error(np.tile(mean, (20, 1)))
    assert_allclose(predicted[:, 4:], 0, atol=0.2)  # a wrist that never turned stays


def test_nearest_posture_is_a_known_one(model, scenes):
    published = clone(model).set_params(preimage="nearest", alpha=0.0, rank=3)
    published.fit(scenes.images[:40], scenes.postures[:40], unlabelled=scenes.images[:60])
    assert published.rank_ == 3
    predicted = published.predict(scenes.images[60:])
    gap = np.abs(predicted[:, None] - scenes.postures[None, :40]).max(axis=2).min(axis=1)
    assert_array_equal(gap, 0)


def test_other_preimages_fit_in(model, scenes):
    learned = clone(model).set_params(preimage=LearnedPreimage())
    learned.fit(scenes.images[:40], scenes.postures[:40], unlabelled=scenes.images[:60])
    assert learned.predict(scenes.images[60:]).shape == (20, 7)


def test_unknown_pictures_get_the_neutral_posture(model, scenes):
    stranger = make_imitation_scenes(2, skin=(0.1, 0.6, 0.2), random_state=3)
    pictures = [*stranger.images, scenes.background, scenes.images[0]]
    assert model.is_known(pictures).tolist() == [False, False, False, True]
    predicted = model.predict(pictures)
    assert_allclose(predicted[:3], np.tile(model.neutral_, (3, 1)))
    assert np.abs(predicted[3] - model.neutral_).max() > 0.05
    assert pa10().within_limits(model.neutral_)


def test_one_picture_at_a_time_is_the_same(model, scenes):
    together = model.predict(scenes.images[60:65])
    alone = np.vstack([model.predict(scenes.images[i : i + 1]) for i in range(60, 65)])
    assert_allclose(together, alone, atol=1e-8)


def test_disk_changes_nothing(model, scenes):
    copy = pickle.loads(pickle.dumps(model))
    assert_allclose(copy.predict(scenes.images[:3]), model.predict(scenes.images[:3]))


def test_blocks_of_histograms_can_be_weighted(model, scenes):
    h, n = HistogramIntersection(), 20
    even = clone(model).set_params(x_kernel=Columns(h, stop=n) + Columns(h, start=n))
    even.fit(scenes.images[:40], scenes.postures[:40], unlabelled=scenes.images[:60])
    # The sum of intersections of blocks is the intersection of rows.
    assert_allclose(
        even.predict_coordinates(scenes.images), model.predict_coordinates(scenes.images), atol=1e-8
    )


def test_linear_tables_are_rank_limited_regression(rng):
    X = rng.normal(size=(40, 5))
    Y = X @ rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(40, 4))
    model = ImitationModel(
        x_kernel="linear", x_components=None, y_components=None, rank=2, alpha=0.3
    )
    plain = ReducedRankRegression(2, alpha=0.3).fit(X, Y)
    assert_allclose(model.fit(X, Y).predict(X), plain.predict(X), atol=1e-8)


def test_rows_without_postures_make_the_components(rng):
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    more = rng.normal(size=(50, 3))
    model = ImitationModel().fit(X, Y, unlabelled=more)
    assert len(model.extractor_.objects) == 50
    with pytest.raises(ValueError, match="3 features"):
        ImitationModel().fit(X, Y, unlabelled=more[:, :2])


class TestPath:
    def test_starts_and_ends_right(self, model, scenes):
        start, goal = scenes.postures[:2]
        for n_steps in (None, 10):
            way = model.path(start, goal, n_steps)
            assert_allclose(way[[0, -1]], [start, goal])
        assert way.shape == (11, 7)

    def test_without_a_threshold_to_keep_it_is_straight(self, model, scenes):
        free = clone(model).set_params(threshold=1e9)
        free.fit(scenes.images[:40], scenes.postures[:40], unlabelled=scenes.images[:60])
        assert_allclose(free.path(*scenes.postures[:2]), scenes.postures[:2])

    def test_a_way_around_a_hole_keeps_to_the_known_postures(self):
        angle = np.linspace(0, 2 * np.pi / 3, 30)
        known = np.column_stack([np.cos(angle), np.sin(angle)])
        tree = cKDTree(known)
        strayed = []
        for depth in range(6):
            way = find_way_points(
                known[0],
                known[-1],
                known,
                lambda q: q,
                tree=tree,
                threshold=neighbour_threshold(tree),
                max_depth=depth,
            )
            strayed.append(tree.query(sample_evenly(way, 200))[0].max())
        assert strayed[0] > 0.4
        assert (np.diff(strayed) <= 1e-3).all()
        assert strayed[-1] <= neighbour_threshold(tree)
        assert_allclose(np.linalg.norm(way, axis=1), 1)

    def test_even_steps(self):
        way = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 3.0]])
        assert_allclose(np.linalg.norm(np.diff(sample_evenly(way, 8), axis=0), axis=1), 0.5)
        assert_allclose(sample_evenly(way[[0, 0]], 3), 0)

    @pytest.mark.parametrize("goal", [np.zeros(6), np.full(7, np.nan), np.zeros((2, 7))])
    def test_bad_ends_are_named(self, model, goal):
        with pytest.raises(ValueError, match=r"expected goal to be one posture of 7 finite"):
            model.path(np.zeros(7), goal)


def test_bad_input_is_named_and_leaves_nothing_half_fitted(scenes, features):
    pictures, postures = scenes.images[:10], scenes.postures[:10]
    cases = [
        (ImitationModel(pa10()), postures[:, :6], "postures of 7 joints"),
        (ImitationModel(pa10(), features=features), postures[:9], "as many postures as pictures"),
        (ImitationModel(pa10(), features=features, preimage="best"), postures, "'preimage'"),
        (ImitationModel(pa10(), features=features, cv=1), postures, "'cv' parameter"),
        (ImitationModel(pa10(), features=features, threshold=-1.0), postures, "'threshold'"),
        (ImitationModel(pa10(), y_kernel=PoseKernel(pa10(), weights=[1.0])), postures, "'weights'"),
    ]
    for model, y, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(pictures, y)
        with pytest.raises(NotFittedError):
            model.predict(pictures)


def test_pictures_of_the_wrong_shape_are_refused_when_predicting(model):
    with pytest.raises(ValueError, match=r"Got shape \(20, 20\) in X\[0\]"):
        model.predict([np.zeros((20, 20))])


def test_fit_leaves_the_parameters_alone(scenes, features):
    model = ImitationModel(pa10(), features=features)
    before = repr(model.get_params())
    model.fit(scenes.images[:20], scenes.postures[:20])
    assert repr(model.get_params()) == before
    assert not hasattr(features, "codebook_")


def test_a_chain_without_lengths_is_refused_by_name(rng):
    wrist = KinematicChain(np.zeros((3, 4)))
    rows, postures = rng.normal(size=(12, 2)), rng.normal(size=(12, 3))
    with pytest.raises(ValueError, match=r"chain of ImitationModel must have lengths.*3 joints"):
        ImitationModel(wrist).fit(rows, postures)
