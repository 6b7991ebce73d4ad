import numpy as np
import pandas as pd
import pytest

from isthmus.plotting import curves, rank_curves, signed_map

pytest.importorskip("matplotlib")


def test_a_method_has_the_same_colour_in_every_panel():
    x = np.arange(3)
    figure = curves({"a": {"one": (x, x), "two": (x, -x)}, "b": {"two": (x, x)}}, xlabel="t")
    left, right = figure.axes
    assert left.lines[1].get_color() == right.lines[0].get_color() != left.lines[0].get_color()
    assert [ax.get_title() for ax in figure.axes] == ["a", "b"]


def test_curves_take_logarithmic_axes():
    (ax,) = curves({"": {"one": ([1, 10], [1, 100])}}, log="xy").axes
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_signed_map_shows_zero_in_the_middle_of_its_colours():
    figure = signed_map({"one": [[1.0, -3.0], [np.nan, 0.0]]}, columns="ab", rows=[1, 2])
    assert figure.axes[0].images[0].get_clim() == (-3.0, 3.0)


def test_rank_curves_are_means_over_folds_in_the_order_of_the_table():
    table = pd.DataFrame(
        {
            "estimator": ["ridge"] * 4 + ["RRR"] * 4,
            "rank": [1, 1, 2, 2] * 2,
            "fold": [0, 1] * 4,
            "rmse": [3.0, 3.0, 3.0, 3.0, 4.0, 6.0, 1.0, 2.0],
        }
    )
    (ax,) = rank_curves(table).axes
    ridge, limited = ax.lines
    assert (ridge.get_label(), limited.get_label()) == ("ridge", "RRR")
    assert list(limited.get_ydata()) == [5.0, 1.5]
    assert ax.get_ylabel() == "RMSE"


def test_rank_curves_of_one_fold_have_no_spread():
    table = pd.DataFrame({"estimator": ["a"], "rank": [1], "fold": [0], "rmse": [2.0]})
    (ax,) = rank_curves(table, log=True).axes
    assert ax.get_yscale() == "log"
