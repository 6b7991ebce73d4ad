"""Damped Gauss-Newton for rows: what each row must reach, and what may not happen."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from isthmus.optimize import least_squares_rows


@pytest.fixture
def problems():
    """Rosenbrock-like residuals with a coefficient of their own, from bad starts."""
    rng = np.random.default_rng(0)
    coefficient = rng.uniform(1, 10, size=40)
    start = rng.normal(size=(40, 2)) * 2
    targets = rng.normal(size=(40, 3))

    def model(x, rows):
        a = coefficient[rows]
        f = np.stack([x[:, 0], a * (x[:, 1] - x[:, 0] ** 2), np.sin(x[:, 1])], axis=1)
        J = np.zeros((len(x), 3, 2))
        J[:, 0, 0] = 1
        J[:, 1, 0], J[:, 1, 1] = -2 * a * x[:, 0], a
        J[:, 2, 1] = np.cos(x[:, 1])
        return f, J

    return model, start, targets


def test_each_row_reaches_a_stationary_point_and_never_a_larger_error(problems):
    model, start, targets = problems
    rows = np.arange(len(start))
    result = least_squares_rows(model, start, targets, max_iter=500, tol=1e-12)
    f, J = model(result.x, rows)
    gradient = np.einsum("nd,ndq->nq", f - targets, J)
    assert result.converged.all()
    assert np.abs(gradient).max() < 1e-4 * np.abs(J).max()
    assert np.all(result.error <= ((model(start, rows)[0] - targets) ** 2).sum(1))
    np.testing.assert_allclose(result.error, ((f - targets) ** 2).sum(1), rtol=1e-12)


def test_most_rows_agree_with_scipy_started_at_the_same_points(problems):
    model, start, targets = problems
    ours = least_squares_rows(model, start, targets, max_iter=500).error
    theirs = np.array(
        [
            2
            * least_squares(
                lambda x, i=i: model(x[None], np.array([i]))[0][0] - targets[i], start[i]
            ).cost
            for i in range(len(start))
        ]
    )
    assert np.mean(ours <= theirs * (1 + 1e-6)) > 0.8


def test_a_row_alone_is_the_row_in_a_batch(problems):
    model, start, targets = problems
    whole = least_squares_rows(model, start, targets)
    one = least_squares_rows(lambda x, rows: model(x, rows + 7), start[7:8], targets[7:8])
    np.testing.assert_allclose(one.x[0], whole.x[7], rtol=1e-12)


def test_weights_of_zero_leave_components_out_even_when_they_are_nan(problems):
    model, start, targets = problems
    weights = np.ones_like(targets)
    weights[:, 2] = 0
    unknown = targets.copy()
    unknown[:, 2] = np.nan
    result = least_squares_rows(model, start, unknown, weights=weights, max_iter=500)
    assert np.isfinite(result.x).all()
    assert result.error.max() < 1e-8  # two unknowns, two equations, both solvable


def test_bounds_hold_and_the_bounded_minimum_is_found():
    def model(x, rows):
        return x.copy(), np.broadcast_to(np.eye(2), (len(x), 2, 2)).copy()

    result = least_squares_rows(
        model,
        np.zeros((3, 2)),
        np.array([[2.0, 0.5], [-3.0, -3.0], [0.2, 0.1]]),
        lower=np.array([-1.0, -1.0]),
        upper=np.array([1.0, 1.0]),
    )
    np.testing.assert_allclose(result.x, [[1, 0.5], [-1, -1], [0.2, 0.1]], atol=1e-6)


def test_no_step_leaves_the_domain():
    def model(x, rows):
        return x.copy(), np.ones((len(x), 1, 1))

    result = least_squares_rows(
        model,
        np.zeros((1, 1)),
        np.array([[5.0]]),
        inside=lambda x, rows: x[:, 0] < 1.0,
        max_iter=200,
    )
    assert 0.9 < result.x[0, 0] < 1.0


def test_a_flat_model_ends_at_its_start():
    def model(x, rows):
        return np.ones((len(x), 2)), np.zeros((len(x), 2, 1))

    result = least_squares_rows(model, np.ones((2, 1)), np.zeros((2, 2)))
    np.testing.assert_array_equal(result.x, 1.0)
    assert result.converged.all()


def test_weights_of_one_are_none():
    rng = np.random.default_rng(0)
    A, start, targets = rng.normal(size=(9, 4)), rng.normal(size=(20, 4)), rng.normal(size=(20, 9))

    def model(z, rows):
        return np.sin(z @ A.T), np.cos(z @ A.T)[:, :, None] * A

    plain = least_squares_rows(model, start, targets, lower=-0.5, upper=0.5)
    weighted = least_squares_rows(model, start, targets, weights=np.ones(9), lower=-0.5, upper=0.5)
    np.testing.assert_array_equal(plain.x, weighted.x)
    np.testing.assert_array_equal(plain.error, weighted.error)
    # Rows do not know of each other.
    for i in range(20):
        one = least_squares_rows(model, start[i : i + 1], targets[i : i + 1], lower=-0.5, upper=0.5)
        np.testing.assert_allclose(one.x[0], plain.x[i], atol=1e-9)
