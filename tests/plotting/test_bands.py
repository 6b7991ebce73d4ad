import numpy as np

from isthmus.plotting import bands, png


def test_parts_that_are_given_are_drawn_and_named_once():
    x = np.linspace(0, 1, 5)
    figure = bands(
        {
            "one": {"x": x, "mean": x, "band": (x - 1, x + 1), "points": ([0.5], [0.2])},
            "two": {"x": x, "mean": x, "draws": [x, -x], "truth": x**2},
        },
        n_columns=2,
    )
    first, second = figure.axes
    assert len(first.collections) == 1
    assert len(first.lines) == 2
    assert len(second.lines) == 4
    (legend,) = figure.legends
    names = {text.get_text() for text in legend.get_texts()}
    assert names == {"band", "draws", "truth", "mean", "data"}
    assert png(figure).startswith(b"\x89PNG")


def test_panels_that_do_not_fill_the_last_row_leave_it_empty():
    figure = bands({str(i): {"x": [0, 1], "mean": [0, i]} for i in range(4)}, n_columns=3)
    assert [ax.get_visible() for ax in figure.axes] == [True] * 4 + [False] * 2
