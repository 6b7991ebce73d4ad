import numpy as np
import pytest

from isthmus.dependence import dependence_matrix
from isthmus.plotting import heat_map

pytest.importorskip("matplotlib")


def test_cells_show_the_numbers_and_names_of_a_table(points):
    M = dependence_matrix(points, names=["width", "height"])
    figure = heat_map(M, label="distance correlation")
    ax = figure.axes[0]
    assert np.array_equal(ax.images[0].get_array(), M)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["width", "height"]
    assert [text.get_text() for text in ax.texts][:2] == ["1.00", f"{M.iloc[0, 1]:.2f}"]


def test_colours_end_at_the_largest_value_off_the_diagonal():
    image = heat_map(np.array([[1.0, 0.2], [0.2, 1.0]])).axes[0].images[0]
    assert image.get_clim() == (0.0, 0.2)


def test_many_cells_have_no_numbers():
    assert not heat_map(np.eye(16)).axes[0].texts


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match=r"square matrix. Got shape \(2, 3\)"):
        heat_map(np.ones((2, 3)))
