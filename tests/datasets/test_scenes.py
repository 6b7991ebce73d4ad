"""Pictures of a moving arm."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.datasets import make_imitation_scenes
from isthmus.robotics import pa10


def test_postures_have_the_directions_of_the_arm():
    scenes = make_imitation_scenes(50, 20, random_state=0)
    P = pa10().positions(scenes.postures)
    assert_allclose(P[:, 2] / 450, scenes.directions[:, 0], atol=1e-12)
    assert_allclose((P[:, 4] - P[:, 2]) / 500, scenes.directions[:, 1], atol=1e-12)
    assert pa10().within_limits(scenes.postures).all()


def test_a_seed_fixes_everything_and_shapes_are_as_said():
    first, again = (make_imitation_scenes(3, random_state=1) for _ in range(2))
    assert (first.images == again.images).all()
    assert first.images.shape == (3, 100, 100, 3)
    assert first.images.dtype == np.uint8
    assert first.skin_pixels.shape == (354, 3)
    assert first.background.shape == (100, 100, 3)


@pytest.mark.parametrize("motion", ["raise", "wave"])
def test_movements_are_smooth_and_come_back(motion):
    scenes = make_imitation_scenes(60, 20, motion=motion, random_state=0)
    assert_allclose(scenes.postures[0], scenes.postures[-1], atol=1e-12)
    assert np.abs(np.diff(scenes.postures, axis=0)).max() < 0.3
    assert np.ptp(scenes.postures, axis=0).max() > 0.8


def test_the_person_stands_before_the_wall_and_skin_is_theirs():
    scenes = make_imitation_scenes(1, lighting=0.0, noise=0.0, random_state=0)
    differs = np.abs(scenes.images[0].astype(int) - scenes.background).max(axis=2) > 10
    assert 0.1 < differs.mean() < 0.5
    assert_allclose(scenes.skin_pixels, np.tile([219, 158, 128], (354, 1)), atol=1)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="'motion' parameter"):
        make_imitation_scenes(2, motion="dance")
    with pytest.raises(ValueError, match=r"angles of shape \(2, 4\)"):
        make_imitation_scenes(2, angles=np.zeros((3, 4)))
