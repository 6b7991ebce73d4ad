import numpy as np
import pytest

from isthmus.plotting import error_bars, image_grid, png, style

matplotlib = pytest.importorskip("matplotlib")


def test_grid_has_one_image_a_cell_on_one_grey_scale():
    figure = image_grid([[np.eye(2), np.eye(3)]] * 2, titles=["a", "b"], limits=(-1, 1))
    images = [ax.images[0] for ax in figure.axes]
    assert len(images) == 4
    assert {image.get_clim() for image in images} == {(-1, 1)}
    assert [ax.get_title() for ax in figure.axes] == ["a", "b", "", ""]


@pytest.mark.parametrize("rows", [[], [[]], [[np.eye(2)], []]])
def test_grid_of_unequal_or_no_rows_is_refused(rows):
    with pytest.raises(ValueError, match=r"all equally long\. Got rows of lengths"):
        image_grid(rows)


def test_bars_have_the_lengths_of_the_values_and_the_published_marks():
    figure = error_bars(
        {"MAE": {"ours": 0.2, "theirs": 0.3}, "time": {"ours": 1.0, "theirs": 100.0}},
        spread={"MAE": {"ours": 0.01, "theirs": 0.02}},
        published={"MAE": {"theirs": 0.26}},
        log=["time"],
    )
    error, time = figure.axes
    assert [bar.get_width() for bar in error.patches] == [0.2, 0.3]
    assert error.lines[-1].get_xdata() == [0.26]
    assert time.get_xscale() == "log"


def test_figure_becomes_a_png_file():
    assert png(image_grid([[np.eye(2)]])).startswith(b"\x89PNG")


def test_style_ends_with_its_block():
    before = matplotlib.rcParams["font.size"]
    with style():
        assert matplotlib.rcParams["axes.spines.top"] is False
    assert matplotlib.rcParams["font.size"] == before
