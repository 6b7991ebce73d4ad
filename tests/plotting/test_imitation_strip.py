import numpy as np
import pytest

pytest.importorskip("matplotlib")

from isthmus.plotting import imitation_strip, png


def test_strip_has_a_picture_and_its_arms_for_each_frame():
    images = np.zeros((3, 8, 8, 3), dtype=np.uint8)
    arm = np.random.default_rng(0).normal(size=(3, 4, 2))
    figure = imitation_strip(images, {"robot": arm, "true": arm}, titles=["a", "b", "c"])
    tops, bottoms = figure.axes[:3], figure.axes[3:]
    assert [ax.get_title() for ax in tops] == ["a", "b", "c"]
    assert all(len(ax.images) == 1 for ax in tops)
    assert all(len(ax.lines) == 3 for ax in bottoms)  # two arms and the shoulder
    assert png(figure).startswith(b"\x89PNG")


def test_as_many_postures_as_pictures_are_needed():
    with pytest.raises(ValueError, match="needs as many postures as its 2 pictures"):
        imitation_strip(np.zeros((2, 8, 8, 3)), {"robot": np.zeros((3, 4, 2))})
