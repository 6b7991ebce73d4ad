"""Compiled criteria of twin processes are those of the formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.kernels import Gaussian, Laplacian
from isthmus.structured.twin.bridge import TwinSides, exact_bridge
from isthmus.structured.twin.judging import BLOCK, compiled_judge
from isthmus.structured.twin.landscape import Landscape, box_around


def landscape_and_query(criterion, y_kernel, rng, n_outputs=3):
    X, Y = rng.normal(size=(60, 2)), 50 + 7 * rng.normal(size=(60, n_outputs))
    sides = TwinSides(Gaussian(0.3), y_kernel, 0.1, 0.2)
    query = exact_bridge(criterion, sides, X, Y).query(rng.normal(size=(5, 2)))
    return Landscape(y_kernel, Y, 0.2, box_around(Y, 0.2)), query


@pytest.mark.parametrize("n_rows", [1, 7, 8, BLOCK + 3])
@pytest.mark.parametrize("criterion", ["kl", "inverse_kl"])
def test_compiled_values_and_gradients_are_those_of_the_formulas(criterion, n_rows, rng):
    land, query = landscape_and_query(criterion, Gaussian(0.004), rng)
    trials, rows = 0.5 * rng.normal(size=(n_rows, 3)), rng.integers(0, 5, size=n_rows)
    value, slope = compiled_judge(land, query.terms, n_rows)(trials, rows)
    Y, g, g_yy = land.rows(trials)
    found = query.criterion(g, g_yy, rows)
    assert_allclose(value, found.value, rtol=1e-10)
    expected = land.slope(Y, g, found)
    assert_allclose(slope, expected, atol=1e-10 * np.abs(expected).max())


def test_other_kernels_have_no_compiled_criterion(rng):
    land, query = landscape_and_query("kl", Laplacian(0.1), rng)
    assert compiled_judge(land, query.terms, 5) is None
