"""Edges, outlines, shape contexts, codebooks and skin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage
from scipy.optimize import linprog
from scipy.spatial.distance import mahalanobis
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

from isthmus.datasets import make_imitation_scenes
from isthmus.robotics import PoseFeatures
from isthmus.robotics.pose.codebook import covering_subset, vector_codebook
from isthmus.robotics.pose.edges import difference, edge_map, fit_wall, otsu_threshold, smooth_image
from isthmus.robotics.pose.loops import farthest_points
from isthmus.robotics.pose.shape_context import outline, shape_contexts
from isthmus.robotics.pose.skin import count_by_bins, skin_colour, skin_mask


@pytest.fixture(scope="module")
def scenes():
    return make_imitation_scenes(16, random_state=0)


@pytest.fixture(scope="module")
def fitted(scenes):
    features = PoseFeatures(20, skin_pixels=scenes.skin_pixels, background=scenes.background)
    return features.fit(scenes.images)


class TestEdges:
    def test_otsu_is_the_best_of_all_levels(self, rng):
        values = np.r_[rng.normal(0, 1, 300), rng.normal(6, 1, 100)]
        level = otsu_threshold(values)

        def between(t):
            low, high = values[values <= t], values[values > t]
            return len(low) * len(high) * (high.mean() - low.mean()) ** 2

        best = max(between(t) for t in np.sort(values)[1:-1])
        assert between(level) > 0.995 * best
        assert otsu_threshold(np.ones(5)) == 1.0

    def test_brightness_of_the_background_does_not_count(self, scenes):
        wall = np.moveaxis(scenes.background, 2, 0) / 255
        assert np.abs(difference(0.8 * wall, wall)).max() < 1e-12

    def test_a_step_has_an_edge_of_its_height_and_flat_colour_none(self):
        picture = np.zeros((3, 20, 20))
        picture[0, :, 10:] = 0.5
        assert edge_map(picture, 0.4).any(axis=0).nonzero()[0].tolist() == [9, 10]
        assert not edge_map(picture, 0.6).any()
        assert not edge_map(np.full((3, 20, 20), 0.5), 0.05).any()

    def test_compiled_filters_are_those_of_scipy(self, rng):
        picture = rng.uniform(size=(3, 30, 20))
        theirs = ndimage.gaussian_filter(picture, (0, 3, 3), radius=(0, 2, 2), mode="nearest")
        assert_allclose(smooth_image(picture), theirs, atol=1e-12)
        slopes = [[ndimage.sobel(c, axis=a, mode="nearest") for c in picture] for a in (0, 1)]
        height = np.sqrt(np.sum(np.square(slopes), axis=(0, 1))) / 4
        assert_array_equal(edge_map(picture, 0.6), height > max(otsu_threshold(height), 0.6))

    def test_smoothing_keeps_the_mean_of_a_plain_picture(self):
        assert_allclose(smooth_image(np.full((3, 9, 9), 0.3)), 0.3)

    def test_a_plain_wall_is_found_behind_a_hand_in_the_border(self):
        y, x = np.mgrid[:40, :40] / 40
        wall = np.stack([0.5 + 0.1 * x, 0.4 - 0.1 * y, 0.6 + 0 * x])
        picture = wall.copy()
        picture[:, 10:15, :8] = 0.1
        assert_allclose(fit_wall(picture), wall, atol=1e-6)


class TestShapeContexts:
    @settings(max_examples=30, deadline=None)
    @given(
        seed=st.integers(0, 2**32 - 1),
        shift=st.tuples(st.integers(-50, 50), st.integers(-50, 50)),
        scale=st.sampled_from([0.5, 2.0, 3.0]),
    )
    def test_shift_and_scale_change_nothing(self, seed, shift, scale):
        points = np.random.default_rng(seed).integers(0, 100, size=(25, 2)).astype(float)
        moved = scale * points + np.array(shift)
        assert_array_equal(shape_contexts(moved), shape_contexts(points))

    def test_every_other_point_is_counted_once(self, rng):
        H = shape_contexts(rng.uniform(size=(25, 2)))
        assert H.shape == (25, 30)
        assert_allclose(H.sum(axis=1), 24)

    def test_bins_are_those_of_the_formula(self, rng):
        points = rng.uniform(size=(6, 2))
        squared = pairwise_distances(points, metric="sqeuclidean")
        squared /= squared.sum() / 30
        cuts = np.r_[np.exp(0.3 * np.arange(5)) - 1, np.inf]
        H = np.zeros((6, 5, 6))
        for i in range(6):
            for j in set(range(6)) - {i}:
                dx, dy = points[j] - points[i]
                angle = int((np.arctan2(dy, dx) % (2 * np.pi)) // (np.pi / 3))
                H[i, np.searchsorted(cuts, squared[i, j], "right") - 1, angle] += 1
        assert_array_equal(shape_contexts(points), H.reshape(6, 30))

    def test_turning_is_seen(self, rng):
        points = rng.uniform(size=(25, 2))
        turned = np.column_stack([-points[:, 1], points[:, 0]])
        assert np.abs(shape_contexts(turned) - shape_contexts(points)).sum() > 100

    def test_farthest_points_are_farthest_one_by_one(self, rng):
        points = rng.uniform(size=(40, 2))
        chosen = farthest_points(points, 10)
        D = pairwise_distances(points)
        assert chosen[0] == np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1))
        for k in range(1, 10):
            gap = D[:, chosen[:k]].min(axis=1)
            assert gap[chosen[k]] == pytest.approx(gap.max())

    def test_outline_lies_near_the_hull(self):
        disc = np.hypot(*np.mgrid[-20:21, -20:21]) < 18
        points = outline(disc, 12, 2.0)
        assert points.shape == (12, 2)
        assert (np.linalg.norm(points - 20, axis=1) > 15.5).all()

    def test_too_few_edges_or_edges_on_a_line_have_no_outline(self):
        edges = np.zeros((10, 10), dtype=bool)
        assert outline(edges, 5, 3.0).shape == (0, 2)
        edges[4] = True
        assert outline(edges, 5, 3.0).shape == (0, 2)
        assert shape_contexts(np.empty((0, 2))).shape == (0, 30)


class TestCodebook:
    def test_everything_is_covered_and_no_word_is_idle(self, rng):
        D = pairwise_distances(rng.uniform(size=(120, 2)), metric="cityblock")
        near = D <= 0.3
        words = covering_subset(near)
        cover = near[:, words].sum(axis=1)
        assert cover.min() >= 1
        for word in words:
            assert (cover[near[:, word]] == 1).any()
        # The linear program is a lower bound of any cover.
        least = linprog(np.ones(120), A_ub=-near.astype(float), b_ub=-np.ones(120)).fun
        assert least - 1e-9 <= len(words) <= 2 * least + 1

    def test_distortion_is_at_most_the_radius(self, rng):
        patterns = rng.integers(0, 5, size=(200, 6)).astype(float)
        book, radius = vector_codebook(patterns, 15)
        gaps = pairwise_distances(patterns, book, metric="cityblock").min(axis=1)
        assert len(book) == 15
        assert gaps.max() == radius

    def test_more_words_than_patterns_keep_them_all(self):
        patterns = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        book, radius = vector_codebook(patterns, 10)
        assert len(book) == 2
        assert radius == 0


class TestSkin:
    def test_distance_is_that_of_mahalanobis(self, rng):
        pixels = rng.uniform(0.2, 0.8, size=(50, 3))
        picture = rng.uniform(size=(3, 8, 8))
        skin = skin_colour(pixels)
        inverse = np.linalg.inv(np.cov(pixels.T) + np.eye(3) / (12 * 255**2))
        slow = [
            [mahalanobis(picture[:, i, j], pixels.mean(axis=0), inverse) < 2 for j in range(8)]
            for i in range(8)
        ]
        assert_array_equal(skin_mask(picture, skin, 2.0), slow)

    def test_pooling_keeps_the_count(self, rng):
        mask = rng.uniform(size=(37, 23)) < 0.3
        columns, rows = count_by_bins(mask, (slice(2, 37), slice(0, 20)), 10)
        inside = mask[2:, :20]
        assert columns.sum() == pytest.approx(inside.sum())
        assert rows.sum() == pytest.approx(inside.sum())
        assert columns[0] == inside[:, :2].sum()


class TestPoseFeatures:
    def test_rows_are_three_histograms_of_mass_one(self, fitted, scenes):
        rows = fitted.transform(scenes.images)
        assert rows.shape == (16, 40)
        for block in fitted.blocks_.values():
            assert_allclose(rows[:, block].sum(axis=1), 1)
        counts = clone(fitted).set_params(normalize=False).fit_transform(scenes.images)
        assert_allclose(counts[:, :20].sum(axis=1), 25)
        assert counts[:, 20:].sum() > 1000

    def test_place_and_size_count_less_than_pose(self, scenes):
        angles = np.repeat(np.radians([[20, 10, 20, 0], [120, 10, 90, 0]]), 8, axis=0)
        views = make_imitation_scenes(16, angles=angles, random_state=1)
        features = PoseFeatures(20, skin_pixels=scenes.skin_pixels).fit(scenes.images)
        D = pairwise_distances(features.transform(views.images), metric="cityblock")
        within = max(D[:8, :8].max(), D[8:, 8:].max())
        assert D[:8, 8:].min() > within

    def test_whole_pixels_of_shift_change_nothing_at_all(self, fitted):
        square = np.full((100, 100, 3), 0.8)
        square[30:60, 20:50] = [0.86, 0.62, 0.50]
        moved = np.roll(square, (7, 11), axis=(0, 1))
        features = clone(fitted).set_params(background=None).fit([square])
        assert_allclose(features.transform([moved]), features.transform([square]))

    def test_pictures_of_another_size_are_stretched(self, fitted, scenes):
        double = scenes.images.repeat(2, axis=1).repeat(2, axis=2)
        D = pairwise_distances(
            fitted.transform(double), fitted.transform(scenes.images), metric="cityblock"
        )
        assert (D.argmin(axis=1) == np.arange(16)).all()

    def test_floats_are_the_same_as_bytes(self, fitted, scenes):
        assert_allclose(fitted.transform(scenes.images / 255), fitted.transform(scenes.images))

    def test_an_empty_scene_has_an_empty_row(self, fitted, scenes):
        assert not fitted.transform([scenes.background]).any()

    def test_another_skin_leaves_the_colour_empty_but_not_the_words(self, fitted):
        stranger = make_imitation_scenes(1, skin=(0.1, 0.6, 0.2), random_state=0)
        row = fitted.transform(stranger.images)[0]
        assert row[:20].any()
        assert not row[20:].any()

    def test_without_skin_pixels_there_are_words_alone(self, scenes):
        features = PoseFeatures(10).fit(scenes.images)
        assert features.transform(scenes.images).shape == (16, 10)
        assert list(features.get_feature_names_out()[:2]) == ["word0", "word1"]

    def test_names_go_with_columns(self, fitted):
        names = fitted.get_feature_names_out()
        assert len(names) == 40
        assert list(names[[0, 20, 39]]) == ["word0", "column0", "row9"]

    def test_a_view_shows_what_was_seen(self, fitted, scenes):
        view = fitted.view(scenes.images[0])
        assert view.edges.shape == view.skin.shape == (100, 100)
        assert view.outline.shape == (25, 2)
        assert view.edges[view.outline[:, 1].astype(int), view.outline[:, 0].astype(int)].all()

    def test_parameters_stay_and_seeds_fix_the_codebook(self, fitted, scenes):
        small = clone(fitted).set_params(max_contexts=100)
        before = small.get_params()
        first, again = (clone(small).fit(scenes.images).codebook_ for _ in range(2))
        assert_array_equal(first, again)
        assert small.fit(scenes.images).get_params() == before

    @pytest.mark.parametrize(
        ("pictures", "error", "message"),
        [
            (np.zeros((2, 30, 30)), ValueError, r"for one picture, give \[picture\]"),
            (np.zeros((30, 30, 3)), ValueError, "array of shape"),
            ([np.zeros((30, 30, 4))], ValueError, r"Got shape \(30, 30, 4\) in X\[0\]"),
            ([np.zeros((30, 30))], ValueError, r"Got shape \(30, 30\) in X\[0\]"),
            ([], ValueError, "at least one picture"),
            ("picture.png", TypeError, "a list or an array of pictures"),
            ([np.full((30, 30, 3), 7.0)], ValueError, r"floats in \[0, 1\] in X\[0\]"),
            ([np.full((30, 30, 3), np.nan)], ValueError, r"floats in \[0, 1\]"),
            ([np.zeros((30, 30, 3), dtype=complex)], ValueError, "needs real numbers in X"),
            ([np.zeros((30, 30, 3))], ValueError, "found no figure in any of the pictures"),
        ],
    )
    def test_bad_pictures_are_named_and_leave_nothing_half_fitted(self, pictures, error, message):
        features = PoseFeatures(5)
        with pytest.raises(error, match=message):
            features.fit(pictures)
        with pytest.raises(NotFittedError):
            features.transform([np.zeros((30, 30, 3))])

    def test_bad_parameters_are_named(self, scenes):
        with pytest.raises(ValueError, match=r"'skin_pixels' parameter of PoseFeatures"):
            PoseFeatures(skin_pixels=np.zeros(3)).fit(scenes.images)
        with pytest.raises(ValueError, match=r"background\[0\]"):
            PoseFeatures(background=np.zeros((10, 10))).fit(scenes.images)
        with pytest.raises(ValueError, match="'n_codewords' parameter"):
            PoseFeatures(0).fit(scenes.images)
