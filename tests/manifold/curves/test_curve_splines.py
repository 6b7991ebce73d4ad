"""Smoothing splines on an interval and a circle, and the mixture along them."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from scipy.stats import norm

from isthmus.manifold.curves.banded import BandedPath
from isthmus.manifold.curves.choice import log_tube
from isthmus.manifold.curves.dense import RIDGE, SHIFT, DensePath
from isthmus.manifold.curves.generative import (
    em_step,
    first_density,
    joint_log_density,
    penalized_log_likelihood,
)
from isthmus.manifold.curves.smoothing import PENALTIES, best_penalty, spline_path
from isthmus.manifold.curves.splines import roughness, spline_basis


def test_open_basis_is_that_of_scipy():
    x = np.random.default_rng(0).uniform(size=50)
    knots = np.arange(-3, 9) / 5
    slow = BSpline.design_matrix(x, knots, 3).toarray()
    assert_allclose(spline_basis(x, 5, closed=False), slow, atol=1e-12)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("n_pieces", [2, 5, 12])
def test_derivative_and_roughness(closed, n_pieces):
    rng = np.random.default_rng(1)
    m = n_pieces if closed else n_pieces + 3
    c, x = rng.normal(size=m), rng.uniform(0.01, 0.99, size=20)
    h = 1e-6

    def value(x, derivative=False):
        return spline_basis(x, n_pieces, closed=closed, derivative=derivative) @ c

    assert_allclose(value(x, True), (value(x + h) - value(x - h)) / (2 * h), atol=1e-5)
    fine = (np.arange(n_pieces * 2000) + 0.5) / (n_pieces * 2000)
    second = (value(fine + h, True) - value(fine - h, True)) / (2 * h)
    integral = np.mean(second**2)
    assert_allclose(c @ roughness(n_pieces, closed=closed) @ c, integral, rtol=1e-4)
    if closed:
        assert_allclose(value(np.zeros(1)), value(np.ones(1)))


@pytest.mark.parametrize("closed", [False, True])
def test_path_is_penalised_least_squares_and_left_out_rows_are_left_out(closed):
    rng = np.random.default_rng(2)
    x, Y = rng.uniform(size=30), rng.normal(size=(30, 2))
    path = spline_path(x, Y, 6, closed=closed)
    B, R = spline_basis(x, 6, closed=closed), roughness(6, closed=closed)
    penalty = 1e-3
    assert_allclose(
        path.coefficients(penalty), np.linalg.solve(B.T @ B + penalty * R, B.T @ Y), rtol=1e-5
    )
    H = B @ np.linalg.solve(B.T @ B + penalty * R, B.T)
    assert_allclose(path.leverages(penalty), np.diag(H), rtol=1e-6)
    slow = 0.0
    for i in range(30):
        rest = np.arange(30) != i
        C = np.linalg.solve(B[rest].T @ B[rest] + penalty * R, B[rest].T @ Y[rest])
        slow += np.sum((Y[i] - B[i] @ C) ** 2) / 30
    assert_allclose(path.left_out_error(penalty), slow, rtol=1e-5)


def exact_leverages(x, n_pieces, penalty, *, closed):
    """The formula with forty digits, with the least penalty and the ridge of the path."""
    with localcontext(prec=40):
        B = np.vectorize(Decimal)(spline_basis(x, n_pieces, closed=closed))
        R = roughness(n_pieces, closed=closed)
        S, m = B.T @ B, len(R)
        size = np.trace(S)
        least = Decimal(SHIFT) * size / Decimal(np.trace(R))
        # Entries are whole multiples of a sixth of the third power of the number of pieces.
        unit = Decimal(n_pieces) ** 3 / 6
        R = unit * np.vectorize(Decimal)(np.round(R / float(unit)))
        A = S + max(Decimal(penalty), least) * R
        A[np.diag_indices(m)] += Decimal(RIDGE) * size / m
        system = np.hstack([A, B.T])
        for k in range(m):
            system[k] = system[k] / system[k, k]
            others = np.arange(m) != k
            system[others] -= np.outer(system[others, k], system[k])
        return np.sum(B * system[:, m:].T, axis=1).astype(float)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("spans", [(1.0, 1.0), (0.02, 0.05)])
def test_leverages_are_exact_at_all_penalties_of_the_search(closed, spans):
    rng = np.random.default_rng(0)
    # All over, or in two narrow places, between which no row sees a function.
    x = np.concatenate(
        [
            start + span * rng.uniform(size=36) / 2
            for start, span in zip((0.1, 0.5), spans, strict=True)
        ]
    )
    path = DensePath(x, rng.normal(size=(72, 2)), 24, closed=closed)
    for penalty in 72 * PENALTIES[::5]:
        exact = exact_leverages(x, 24, penalty, closed=closed)
        assert_allclose(path.leverages(penalty), exact, rtol=1e-9)


def test_freedom_is_the_sum_of_leverages():
    rng = np.random.default_rng(3)
    path = spline_path(rng.uniform(size=60), rng.normal(size=(60, 1)), 20, closed=False)
    for freedom in (3, 6, 12):
        assert_allclose(path.leverages(path.penalty_of(freedom)).sum(), freedom, rtol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "n_pieces"), [(300, 60), (40, 13), (8, 4)])
def test_factors_with_seven_diagonals_are_the_decomposition(n, n_pieces, weighted):
    rng = np.random.default_rng(8)
    x = rng.uniform(size=n)
    Y = np.column_stack([np.cos(6 * x), np.sin(6 * x)]) + 0.1 * rng.normal(size=(n, 2))
    weights = rng.uniform(0.5, 2, size=n) if weighted else None
    fast = BandedPath(x, Y, n_pieces, weights)
    slow = DensePath(x, Y, n_pieces, closed=False, weights=weights)
    assert best_penalty(fast, n) == best_penalty(slow, n)
    for freedom in (3, 5, min(n / 2, 40)):
        penalty = slow.penalty_of(freedom)
        assert fast.penalty_of(freedom) == pytest.approx(penalty, rel=1e-6)
        for name, rtol in (("coefficients", 1e-6), ("leverages", 1e-6), ("left_out_error", 1e-6)):
            one, other = getattr(fast, name)(penalty), getattr(slow, name)(penalty)
            assert_allclose(one, other, rtol=rtol, atol=rtol * np.abs(other).max())


def test_penalties_that_leave_factors_no_digits_take_the_decomposition():
    rng = np.random.default_rng(9)
    x, Y = np.concatenate([0.1 * rng.uniform(size=30), [1.0]]), rng.normal(size=(31, 2))
    fast, slow = BandedPath(x, Y, 10), DensePath(x, Y, 10, closed=False)
    for penalty in (1e14, 1e20):
        assert_allclose(fast.coefficients(penalty), slow.coefficients(penalty))
        assert_allclose(fast.leverages(penalty), slow.leverages(penalty))
        assert fast.left_out_error(penalty) == pytest.approx(slow.left_out_error(penalty))
    assert np.isfinite(fast.penalty_of(2.0001))


def test_weights_count_rows():
    rng = np.random.default_rng(4)
    x, Y = rng.uniform(size=20), rng.normal(size=(20, 2))
    twice = spline_path(np.r_[x, x], np.r_[Y, Y], 6, closed=False)
    weighted = spline_path(x, Y, 6, closed=False, weights=np.full(20, 2.0))
    assert_allclose(twice.coefficients(0.01), weighted.coefficients(0.01), rtol=1e-6)


def test_stiff_splines_are_straight_lines():
    x = np.linspace(0, 1, 40)
    y = np.sin(6 * x)
    path = spline_path(x, y[:, None], 12, closed=False)
    C = path.coefficients(1e5)
    fit = np.polyval(np.polyfit(x, y, 1), x)
    assert_allclose(spline_basis(x, 12, closed=False) @ C, fit[:, None], atol=1e-4)


def test_the_tube_is_the_likelihood_of_rows_along_a_line():
    rng = np.random.default_rng(5)
    length, sigma = 3.0, 0.1
    across = sigma * rng.normal(size=(100_000, 2))
    errors = np.sum(across**2, axis=1) / 2  # per direction
    expected = np.log(length) + np.log(sigma**2)
    assert log_tube(length, errors, np.zeros(len(errors)), 3) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("closed", [False, True])
def test_each_step_raises_the_penalised_likelihood(closed):
    rng = np.random.default_rng(6)
    x = rng.uniform(size=80)
    Y = np.column_stack([np.cos(6 * x), np.sin(6 * x)]) + 0.1 * rng.normal(size=(80, 2))
    model = first_density(Y, x, closed=closed, freedom=6.0)
    penalty = 1e-4
    values = []
    for _ in range(15):
        values.append(penalized_log_likelihood(model, Y, penalty))
        model, plain, _ = em_step(model, Y, penalty=penalty, freedom=6.0)
    assert np.all(np.diff(values[1:]) > -1e-9)
    assert plain >= values[-1]  # without what the penalty takes
    assert_allclose(model.probabilities.sum(), 1.0)


def test_density_is_a_mixture():
    rng = np.random.default_rng(7)
    C, p, v, Y = (
        rng.normal(size=(3, 2)),
        [0.2, 0.3, 0.5],
        np.array([0.5, 2.0]),
        rng.normal(size=(4, 2)),
    )
    slow = [[np.log(p[j]) + norm.logpdf(y, C[j], np.sqrt(v)).sum() for j in range(3)] for y in Y]
    assert_allclose(joint_log_density(C, np.array(p), v, Y), slow)
