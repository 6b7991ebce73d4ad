"""Polynomials on a line and in a plane against those of any number of coordinates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.smoothers import density_kernel
from isthmus.smoothers.fits import MomentFit, PlainFit, fit_polynomials
from isthmus.smoothers.kernel_rows import Workspace
from isthmus.smoothers.local_polynomial import LocalSmoother

N_POINTS, N_CENTRES = 150, 130  # more than are solved side by side
SHAPES = [(1, 1, True), (1, 2, True), (2, 1, True), (2, 2, False), (2, 2, True)]


def both(smoother, points, centres, rng, excluded=None):
    """Weights, masses, gradients and numbers of terms of the two."""
    found = []
    M = rng.normal(size=N_POINTS * N_CENTRES)
    for kind in (PlainFit, MomentFit):
        work = Workspace()
        rows = smoother.rows(points, centres, excluded, work=work)
        fit, by_centre = kind(smoother, rows, points, centres, work), np.zeros(centres.shape)
        by_point = fit.pull_back(M[: len(rows.K)], by_centre)
        found.append((fit.b.copy(), fit.mass, by_point, by_centre, fit.n_terms))
    return found


@pytest.mark.parametrize("background", [0.0, 0.3])
@pytest.mark.parametrize("kernel", ["gaussian", "quartic", "epanechnikov", "student"])
@pytest.mark.parametrize(("q", "degree", "cross"), SHAPES)
def test_named_moments_are_those_of_the_loops(q, degree, cross, kernel, background, rng):
    points, centres = rng.normal(size=(N_POINTS, q)), rng.normal(size=(N_CENTRES, q))
    points[3] = 50.0  # reaches nothing
    smoother = LocalSmoother(density_kernel(kernel), degree, cross, 1e-3, background)
    excluded = rng.integers(N_CENTRES, size=(N_POINTS, 4))
    for one, other in zip(*both(smoother, points, centres, rng, excluded), strict=True):
        assert_allclose(other, one, rtol=1e-7, atol=1e-9 * np.abs(one).max())


@pytest.mark.parametrize(("q", "degree", "cross"), SHAPES)
def test_what_cannot_be_fitted_has_no_weights(q, degree, cross, rng):
    points = np.arange(N_POINTS)[:, None] * np.full((1, q), 3.0)  # each reaches itself alone
    smoother = LocalSmoother(density_kernel("quartic"), degree, cross, 0.0)
    plain, named = both(smoother, points, points[:N_CENTRES], rng)
    for one, other in zip(plain, named, strict=True):
        assert_allclose(other, one)
    assert_allclose(named[0], 0.0)
    assert_allclose(named[1][:N_CENTRES], 1.0)


def test_the_fast_loops_are_taken_where_they_can_be(rng):
    X = rng.normal(size=(N_POINTS, 3))
    quartic = density_kernel("quartic")
    for q, degree, adaptive, kind in (
        (1, 1, False, MomentFit), (2, 2, False, MomentFit), (3, 1, False, PlainFit),
        (2, 2, True, PlainFit), (2, 0, True, PlainFit),
    ):  # fmt: skip
        smoother, work = LocalSmoother(quartic, degree, adaptive=adaptive), Workspace()
        places = np.ascontiguousarray(X[:, :q])
        rows = smoother.rows(places, places, work=work)
        assert isinstance(fit_polynomials(smoother, rows, places, places, work), kind)
