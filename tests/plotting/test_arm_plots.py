import numpy as np
import pytest

pytest.importorskip("matplotlib")

from isthmus.plotting import arm_motion, movement_strip, png
from isthmus.robotics import pa10


def test_arm_is_drawn_once_for_each_posture_with_the_same_scale_on_all_axes():
    points = pa10().positions(np.linspace(0, 1, 12)[:, None] * np.ones(7))
    figure = arm_motion({"a": points, "b": points[:1]}, path=points[:, -1], n_postures=4)
    first, second = figure.axes
    assert len(first.lines) == 1 + 2 * 4
    assert len(second.lines) == 1 + 2
    widths = [np.ptp(lim) for lim in (first.get_xlim(), first.get_ylim(), first.get_zlim())]
    np.testing.assert_allclose(widths, widths[0])
    assert png(figure).startswith(b"\x89PNG")


def test_strip_has_a_row_for_each_movement_and_a_bone_for_each_pair():
    points = np.random.default_rng(0).normal(size=(9, 4, 2))
    figure = movement_strip(
        {"one": points, "two": points[:5]}, [(0, 1), (1, 2), (2, 3)], n_frames=5, titles=["start"]
    )
    assert len(figure.axes) == 10
    assert all(len(ax.lines) == 3 for ax in figure.axes)
    assert figure.axes[0].get_title() == "start"


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: arm_motion({}), "no panel"),
        (lambda: arm_motion({"x": np.zeros((7, 3))}), r"x: \(7, 3\)"),
        (lambda: movement_strip({}, []), "no row"),
        (lambda: movement_strip({"x": np.zeros((2, 4, 3))}, []), r"x: \(2, 4, 3\)"),
    ],
)
def test_wrong_shapes_are_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
