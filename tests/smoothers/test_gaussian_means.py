"""Gaussian means over all pairs, in compiled passes, against the matrix products."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from isthmus.linalg import threads
from isthmus.smoothers import density_kernel, gaussian_means, pull_back
from isthmus.smoothers.local_polynomial import LocalSmoother

N_POINTS, N_CENTRES, D = 301, 120, 3


def found(by, rng_seed=0, q=2, background=0.0, excluded=None, slopes=True, d=D):
    rng = np.random.default_rng(rng_seed)
    points, centres = 2 * rng.normal(size=(N_POINTS, q)), 2 * rng.normal(size=(N_CENTRES, q))
    points[5], points[17] = 300.0, -400.0  # so far from all that every weight vanishes
    outputs, targets = rng.normal(size=(N_CENTRES, d)), rng.normal(size=(N_POINTS, d))

    def slope_of(F, rows):
        return 2 * (F - targets[rows]) if slopes else None

    return by(points, centres, outputs, slope_of, excluded, background, True)


def products(points, centres, outputs, slope_of, excluded, background, by_output):
    smoother = LocalSmoother(density_kernel("gaussian"), background=background)
    return pull_back._all_pairs(smoother, points, centres, outputs, slope_of, excluded, by_output)


@pytest.mark.parametrize("background", [0.0, 0.1])
@pytest.mark.parametrize("left_out", [0, 1, 4])
@pytest.mark.parametrize("q", [1, 2, 5])
def test_compiled_passes_are_the_matrix_products(q, left_out, background, rng):
    excluded = rng.integers(N_CENTRES, size=(N_POINTS, left_out)) if left_out else None
    options = {"q": q, "background": background, "excluded": excluded}
    expected, compiled = (
        found(products, **options),
        found(gaussian_means.pull_back_means, **options),
    )
    for one, other in zip(expected, compiled, strict=True):
        assert_allclose(other, one, rtol=1e-8, atol=1e-9 * np.abs(one).max())


@pytest.mark.parametrize("d", [1, 16, 37, 300])
def test_outputs_of_any_width_fill_their_panels(d):
    expected, compiled = found(products, d=d), found(gaussian_means.pull_back_means, d=d)
    for one, other in zip(expected, compiled, strict=True):
        assert_allclose(other, one, rtol=1e-8, atol=1e-9 * np.abs(one).max())


def test_values_alone_need_no_slopes():
    expected = found(products, slopes=False)
    compiled = found(gaussian_means.pull_back_means, slopes=False)
    assert_allclose(compiled.values, expected.values, rtol=1e-12, atol=1e-12)


def test_the_result_does_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(gaussian_means, "BLOCK", 1)
    monkeypatch.setattr(gaussian_means, "LEAST_POINTS", 20)
    monkeypatch.setattr(threads, "LEAST_SECONDS", 0.0)
    alone = found(gaussian_means.pull_back_means)
    monkeypatch.setattr(threads._limits, "outside", lambda: 3)
    for one, other in zip(alone, found(gaussian_means.pull_back_means), strict=True):
        assert_array_equal(one, other)
