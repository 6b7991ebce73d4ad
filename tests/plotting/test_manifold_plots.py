"""Figures of manifolds show what they are given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.plotting import decoded_plane, latent_map, manifold_through

pytest.importorskip("matplotlib")
Z = np.random.default_rng(0).normal(size=(40, 2))


def test_latent_map_shades_the_panels_that_have_a_density():
    figure = latent_map(
        {"shaded": Z, "plain": 2 * Z},
        labels=np.arange(40) % 3,
        names={0: "a", 1: "b", 2: "c"},
        density={"shaded": lambda z: np.exp(-(z**2).sum(axis=1))},
    )
    shaded, plain = figure.axes
    assert len(shaded.images) == 1
    assert not plain.images
    assert [t.get_text() for t in plain.get_legend().get_texts()] == ["a", "b", "c"]


def test_latent_map_colours_numbers_by_a_scale():
    figure = latent_map({"": Z}, labels=np.linspace(0, 1, 40))
    assert len(figure.axes) == 2  # the plot and its scale


def test_more_classes_than_colours_of_the_palette_are_told_apart():
    (ax,) = latent_map({"": Z}, labels=np.arange(40) % 10).axes
    colours = {tuple(c.get_facecolor()[0]) for c in ax.collections}
    assert len(colours) == 10


def test_a_curve_is_drawn_through_the_plane_with_its_truth():
    t = np.linspace(0, 1, 30)
    curve = np.column_stack([t, t**2])
    (ax,) = manifold_through({"": (Z, curve)}, truth=curve).axes
    assert_allclose(ax.lines[1].get_xydata(), curve)


def test_a_sheet_is_drawn_along_both_axes():
    a, b = np.meshgrid(np.arange(4.0), np.arange(6.0))
    sheet = np.stack([a, b, a * b], axis=-1)
    (ax,) = manifold_through({"": (np.random.default_rng(0).normal(size=(9, 3)), sheet)}).axes
    assert len(ax.lines) == 4 + 6


def test_decoded_images_stand_where_their_latent_points_are():
    figure = decoded_plane(
        lambda z: np.repeat(z[:, :1] + 10 * z[:, 1:], 6, axis=1),
        x=[0.0, 1.0, 2.0],
        y=[0.0, 1.0],
        image_shape=(2, 3),
        valid=lambda z: z[:, 0] < 1.5,
        limits=(0, 12),
    )
    (image,) = figure.axes[0].images
    mosaic = np.ma.filled(image.get_array(), np.nan)
    assert mosaic.shape == (6, 12)  # an empty pixel after each image
    assert_allclose(mosaic[:2, :3], 10.0)  # the upper row is the larger second coordinate
    assert_allclose(mosaic[3:5, 4:7], 1.0)
    assert np.isnan(mosaic[:, 7:]).all()
    assert image.get_extent() == [-0.5, 2.5, -0.5, 1.5]
