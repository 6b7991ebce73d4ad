"""The objective and its gradient: every combination, every path, every limit."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.losses import Epsilon, Huber, LogCosh, Squared
from isthmus.manifold.ukr.density import (
    density_functional,
    density_variance,
    latent_densities,
    log_barrier,
    log_density,
)
from isthmus.manifold.ukr.objective import ManifoldObjective, reconstruction_error
from isthmus.manifold.ukr.starts import refine_scale
from isthmus.smoothers import density_kernel
from isthmus.smoothers import pairs as near_lists
from isthmus.smoothers.kernel_rows import pair_weights
from isthmus.smoothers.local_polynomial import LocalSmoother
from isthmus.smoothers.pair_loops import weighted_sums
from isthmus.smoothers.wide_loops import wide_sums

N, Q, D = 25, 2, 4
SQUARED = Squared()
DEGREES = [(0, True), (1, True), (2, False), (2, True)]
KERNELS = ["gaussian", "epanechnikov", "quartic", "triweight", "student"]


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """Few rows take the way of many, which is the one with loops to check."""
    monkeypatch.setattr(near_lists, "FEW", 0)


@pytest.fixture
def data(rng):
    """Places and rows; no pair of places is at the border of a compact kernel.

    There the slope of the Epanechnikov kernel jumps, and differences would see both sides.
    """
    X, Y = 0.45 * rng.normal(size=(N, Q)), rng.normal(size=(N, D))
    while np.abs(np.sum((X[:, None] - X) ** 2, axis=2) - 1.0).min() < 1e-4:
        X = 0.999 * X
    return X, Y


def masks(Y):
    squared = np.sum((Y[:, None] - Y) ** 2, axis=2)
    return {"none": None, "loo": np.arange(N)[:, None], "lko": np.argsort(squared, axis=1)[:, :3]}


def losses(rng):
    return {
        "squared": Squared(),
        "huber": Huber(0.3),
        "huber_norm": Huber(0.5, shape="ball"),
        "log_cosh": LogCosh(0.4),
        "cube": Epsilon(rng.uniform(0.1, 0.5, size=(N, D)), power=2, shape="cube"),
        "ball": Epsilon(rng.uniform(0.1, 1.0, size=N), power=2, shape="ball"),
    }


def whole(X, Y, smoother, loss=SQUARED, excluded=None):
    found = reconstruction_error(X, X, Y, Y, smoother, loss, excluded=excluded)
    return found.value, found.by_point + found.by_centre


def assert_slope(fun, x, rng, rtol=1e-6, h=1e-6):
    """Central differences along a random direction, of fourth order."""
    direction = rng.normal(size=x.shape)
    near, far = (
        (fun(x + s * direction)[0] - fun(x - s * direction)[0]) / (2 * s) for s in (h, 2 * h)
    )
    differences = (4 * near - far) / 3
    gradient = fun(x)[1]
    assert abs(differences - np.vdot(gradient, direction)) < rtol * np.linalg.norm(gradient)


@pytest.mark.parametrize("path", ["listed", "dense"])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_of_every_loss_and_mask(kernel, degree, cross, path, data, rng, monkeypatch):
    monkeypatch.setattr(near_lists, "CROWDED", 2.0 if path == "listed" else 0.0)
    X, Y = data
    for background in (0.0, 0.05):
        smoother = LocalSmoother(density_kernel(kernel), degree, cross, 1e-2, background)
        for excluded, loss in itertools.product(masks(Y).values(), losses(rng).values()):
            assert_slope(lambda x: whole(x, Y, smoother, loss, excluded), X, rng)  # noqa: B023


@pytest.mark.parametrize("kernel", ["epanechnikov", "quartic", "triweight"])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
def test_lists_of_neighbours_and_matrix_products_agree(kernel, degree, cross, data, monkeypatch):
    X, Y = data
    smoother = LocalSmoother(density_kernel(kernel), degree, cross, 1e-6)
    found = []
    for crowded in (2.0, 0.0):
        monkeypatch.setattr(near_lists, "CROWDED", crowded)
        found.append(
            reconstruction_error(
                X, X, Y, Y, smoother, SQUARED, excluded=masks(Y)["lko"], by_output=True
            )
        )
    for one, other in zip(*found, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def as_table(pairs, shape):
    table = np.full(shape, np.inf)
    rows = np.repeat(np.arange(shape[0]), np.diff(pairs.indptr))
    table[rows, pairs.indices] = pairs.squared
    return table


@pytest.mark.parametrize("q", [1, 2, 5, 10])
def test_pairs_within_reach_are_those_of_all_distances(q, rng):
    points, centres = rng.normal(size=(70, q)), rng.normal(size=(40, q))
    squared = np.sum((points[:, None] - centres) ** 2, axis=2)
    support = float(np.quantile(squared, 0.1))
    expected = np.where(squared < support, squared, np.inf)
    found = near_lists.near_pairs(points, centres, support)
    assert_allclose(as_table(found, squared.shape), expected, rtol=1e-12)
    everything = near_lists.list_pairs(points, centres)
    assert_allclose(as_table(everything, squared.shape), squared, rtol=1e-12)
    assert near_lists.near_pairs(points, centres, 1e9) is None  # crowded


@pytest.mark.parametrize("support", [0.3, np.inf])
def test_few_pairs_are_picked_out_of_all(support, rng, monkeypatch):
    points, centres = rng.normal(size=(30, 2)), rng.normal(size=(20, 2))
    compiled = near_lists.list_pairs(points, centres, support)
    monkeypatch.setattr(near_lists, "FEW", 2**14)
    picked = near_lists.list_pairs(points, centres, support)
    assert_allclose(as_table(picked, (30, 20)), as_table(compiled, (30, 20)), rtol=1e-12)
    assert near_lists.list_pairs(points, centres, support, most=3) is None
    assert near_lists.near_pairs(points, centres, support) is None  # all are computed


@pytest.mark.parametrize("q", [1, 2, 3, 4])
def test_pairs_of_odd_places_are_those_of_all_distances(q, rng):
    centres = np.round(rng.normal(size=(300, q)), 1)  # many on the borders of cells
    centres[:5] *= 1e6  # far away
    centres[:, -1] += 1e3
    centres[5] = np.nan
    if q == 3:
        centres[:, 0] = 2.0  # no spread at all
    points = np.vstack([centres[::2], centres[:40] + 0.1, np.full((1, q), 1e9)])
    squared = np.sum((points[:, None] - centres) ** 2, axis=2)
    for support in (0.01, 0.045, 0.3):
        found = near_lists.list_pairs(points, centres, support)
        assert_allclose(
            as_table(found, squared.shape), np.where(squared < support, squared, np.inf), rtol=1e-12
        )


@pytest.mark.parametrize("kernel", ["epanechnikov", "quartic", "triweight"])
def test_compiled_weights_are_the_profiles(kernel, rng):
    kernel = density_kernel(kernel)
    pairs = near_lists.list_pairs(rng.normal(size=(30, 2)), rng.normal(size=(40, 2)))
    K, H = pair_weights(pairs, kernel, None)
    assert_allclose(K, kernel.profile(pairs.squared), rtol=1e-14)
    assert_allclose(H, kernel.slope(pairs.squared), rtol=1e-14)
    other = replace(kernel, profile=np.square, slope=np.sqrt)  # of someone else, by the same name
    assert_allclose(pair_weights(pairs, other, None), [pairs.squared**2, pairs.squared**0.5])


@pytest.mark.parametrize("d", [8, 10, 16, 21, 40])
def test_sums_of_wide_rows_are_those_of_any(d, rng):
    pairs = near_lists.list_pairs(rng.normal(size=(50, 2)), rng.normal(size=(40, 2)), 0.5)
    weights, Y = rng.normal(size=len(pairs.indices)), rng.normal(size=(40, d))
    fast, slow = ((np.empty(50), np.empty((50, d))) for _ in range(2))
    wide_sums(pairs.indptr, pairs.indices, weights, Y, *fast)
    weighted_sums(pairs.indptr, pairs.indices, weights, Y, *slow)
    for one, other in zip(fast, slow, strict=True):
        assert_allclose(one, other, atol=1e-13)


@pytest.mark.parametrize("degree", [0, 1])
def test_blocks_add_up(degree, data, monkeypatch):
    X, Y = np.tile(data[0], (3, 1)) + np.arange(75)[:, None] / 100, np.tile(data[1], (3, 1))
    smoother = LocalSmoother(density_kernel("gaussian"), degree)
    excluded = np.arange(75)[:, None]
    expected = whole(X, Y, smoother, excluded=excluded)
    monkeypatch.setattr("isthmus.smoothers.pull_back.BLOCK", 1)
    found = whole(X, Y, smoother, excluded=excluded)
    assert_allclose(found[0], expected[0], rtol=1e-12)
    assert_allclose(found[1], expected[1], atol=1e-13)


def design(differences, degree, cross):
    columns = [np.ones(len(differences))]
    if degree:
        columns += list(differences.T)
    if degree == 2:
        columns += list(differences.T**2)
        if cross:
            columns.append(differences[:, 0] * differences[:, 1])
    return np.column_stack(columns)


@pytest.mark.parametrize("mask", ["none", "loo", "lko"])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_masks_are_refits_without_the_rows_left_out(kernel, degree, cross, mask, data):
    X, Y = data[0] * 0.6, data[1]
    excluded = masks(Y)[mask]
    smoother = LocalSmoother(density_kernel(kernel), degree, cross, 1e-8)
    expected = np.empty((N, D))
    for j in range(N):
        keep = np.setdiff1d(np.arange(N), [] if excluded is None else excluded[j])
        differences = X[keep] - X[j]
        weight = smoother.kernel.profile(np.sum(differences**2, axis=1))
        Xi = design(differences, degree, cross)
        ridge = 1e-8 * np.diag(([0.0] + [1.0] * 4 + [0.5])[: Xi.shape[1]])
        expected[j] = np.linalg.solve(Xi.T * weight @ Xi + ridge, Xi.T * weight @ Y[keep])[0]
    found = reconstruction_error(X, X, Y, Y, smoother, SQUARED, excluded=excluded)
    assert_allclose(found.fitted, expected, rtol=1e-5 if degree == 2 else 1e-8, atol=1e-7)


def test_leaving_one_out_is_a_penalty_on_low_density(data):
    X, Y = data
    kernel = density_kernel("gaussian")
    full = reconstruction_error(X, X, Y, Y, LocalSmoother(kernel), SQUARED)
    S = kernel.profile(np.sum((X[:, None] - X) ** 2, axis=2)).sum(axis=1)
    weighted = np.sum((full.fitted - Y) ** 2, axis=1) * (S / (S - 1)) ** 2
    found = whole(X, Y, LocalSmoother(kernel), excluded=np.arange(N)[:, None])[0]
    assert_allclose(found, weighted.mean(), rtol=1e-12)


@pytest.mark.parametrize("name", ["log", "variance", "barrier"])
@pytest.mark.parametrize("path", ["listed", "dense"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_of_density_functionals(kernel, path, name, data, rng):
    X, kernel = data[0], density_kernel(kernel)
    floor = 0.5 * latent_densities(X, X, kernel).min()
    functional = {
        "log": log_density,
        "variance": density_variance,
        "barrier": log_barrier(floor),
    }[name]

    def fun(x):
        pairs = near_lists.list_pairs(x, x) if path == "listed" else None
        value, by_point, by_centre = density_functional(x, x, kernel, functional, pairs)
        return value, by_point + by_centre

    assert_slope(fun, X, rng, rtol=1e-8, h=1e-5)


@pytest.mark.parametrize("degree", [0, 2])
def test_gradient_with_penalties_and_landmarks(degree, data, rng):
    X, Y = data
    weights = {"extension": 0.3, "density": 0.2, "density_variance": 0.5}
    smoother = LocalSmoother(density_kernel("triweight"), degree, True, 1e-2)
    alone = ManifoldObjective(Y, smoother, excluded=np.arange(N)[:, None], penalties=weights)
    assert_slope(alone, X, rng)
    landmarks = ManifoldObjective(Y, smoother, outputs=Y[:9] + 0.1, penalties=weights)
    assert_slope(landmarks, np.vstack([X, X[:9] + 0.05]), rng)
    assert landmarks.value(np.vstack([X, X[:9]]), np.arange(N)) == pytest.approx(
        landmarks(np.vstack([X, X[:9]]))[0] - 0.3 / N * np.sum(X[:9] ** 2)
    )


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_gradient_by_the_outputs_of_landmarks(degree, data, rng):
    X, Y = data
    centres = 0.4 * rng.normal(size=(12, Q))
    smoother = LocalSmoother(density_kernel("gaussian"), degree)

    def fun(outputs):
        found = reconstruction_error(X, centres, Y, outputs, smoother, SQUARED, by_output=True)
        return found.value, found.by_output

    assert_slope(fun, rng.normal(size=(12, D)), rng)


def test_scale_gradient_is_the_chain_rule(data):
    X, Y = data
    problem = ManifoldObjective(
        Y, LocalSmoother(density_kernel("gaussian")), excluded=np.arange(N)[:, None]
    )
    value, scaled = refine_scale(problem, X)
    assert value <= problem(X)[0]
    slopes = np.sum(scaled * problem(scaled)[1], axis=0)
    s = scaled / X
    inside = (np.log(s[0]) > -0.59) & (np.log(s[0]) < 0.59)
    assert np.all(np.abs(slopes[inside]) < 1e-3 * problem(X)[0])
    h = 1e-5
    differences = (problem(X * [1 + h, 1])[0] - problem(X * [1 - h, 1])[0]) / (2 * h)
    assert_allclose(differences, np.sum(X * problem(X)[1], axis=0)[0], rtol=1e-7)


@pytest.mark.parametrize(("degree", "cross"), DEGREES)
def test_polynomials_of_the_degree_are_reproduced(degree, cross, data, rng):
    X = data[0]
    terms = design(X, degree, cross)
    Y = terms @ rng.normal(size=(terms.shape[1], D))
    smoother = LocalSmoother(density_kernel("gaussian"), degree, cross, 0.0)
    found = whole(X, Y, smoother, excluded=np.arange(N)[:, None])[0]
    assert found < 1e-8


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("kernel", ["gaussian", "quartic"])
def test_invariant_to_rigid_motions_of_both_spaces(kernel, degree, data, rng):
    X, Y = data
    smoother = LocalSmoother(density_kernel(kernel), degree, True, 1e-6)
    excluded = np.arange(N)[:, None]
    value, gradient = whole(X, Y, smoother, excluded=excluded)
    R = np.linalg.qr(rng.normal(size=(Q, Q)))[0]
    turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
    moved = whole(X @ R + 3.0, Y, smoother, excluded=excluded)
    assert_allclose(moved[0], value, rtol=1e-8)
    assert_allclose(moved[1], gradient @ R, atol=1e-7)
    assert_allclose(whole(X, Y @ turn, smoother, excluded=excluded)[0], value, rtol=1e-9)
    assert_allclose(whole(X, 3.0 * Y, smoother, excluded=excluded)[0], 9 * value, rtol=1e-9)


def test_squares_without_products_depend_on_the_axes(data):
    X, Y = data
    smoother = LocalSmoother(density_kernel("gaussian"), 2, False)
    turned = X @ np.array([[0.6, -0.8], [0.8, 0.6]])
    assert abs(whole(X, Y, smoother)[0] - whole(turned, Y, smoother)[0]) > 1e-4


def test_limits_of_the_scale(data):
    X, Y = data
    Y = Y - Y.mean(axis=0)
    smoother, loo = LocalSmoother(density_kernel("gaussian")), np.arange(N)[:, None]
    assert_allclose(whole(1e-6 * X, Y, smoother)[0], np.sum(Y**2) / N, rtol=1e-9)
    assert whole(1e3 * X, Y, smoother)[0] < 1e-12
    # Far apart, a row left out is its nearest neighbour, however small the weights are.
    squared = np.sum((X[:, None] - X) ** 2, axis=2) + 1e9 * np.eye(N)
    nearest = np.mean(np.sum((Y[squared.argmin(axis=1)] - Y) ** 2, axis=1))
    assert_allclose(whole(1e4 * X, Y, smoother, excluded=loo)[0], nearest, rtol=1e-9)


def test_what_nothing_reaches_is_counted_and_gets_the_mean(data):
    X, Y = data
    X = np.vstack([X, [[50.0, 50.0]]])
    Y = np.vstack([Y, np.ones((1, D))])
    smoother = LocalSmoother(density_kernel("quartic"))
    found = reconstruction_error(X, X, Y, Y, smoother, SQUARED, excluded=np.arange(N + 1)[:, None])
    assert found.n_alone >= 1
    assert_allclose(found.fitted[-1], 0.0)
    assert_allclose((found.by_point + found.by_centre)[-1], 0.0)


@pytest.mark.parametrize("degree", [0, 1])
def test_a_quick_look_at_some_rows_takes_their_own_widths(data, degree, rng):
    X, Y = data
    loss = Epsilon(rng.uniform(0.1, 1.0, size=N))
    smoother = LocalSmoother(density_kernel("quartic"), degree)
    objective = ManifoldObjective(Y, smoother, loss, excluded=masks(Y)["loo"])
    assert_allclose(objective.value(X, np.arange(N)), objective(X)[0], rtol=1e-12)
    halves = np.arange(1, N, 2), np.arange(0, N, 2)
    parts = [len(rows) * objective.value(X, rows) for rows in halves]
    assert_allclose(sum(parts) / N, objective(X)[0], rtol=1e-12)


@pytest.mark.parametrize(("degree", "cross"), DEGREES)
@pytest.mark.parametrize("q", [1, 2])
def test_far_gaussian_weights_change_no_digit(q, degree, cross, rng, monkeypatch):
    n = 200
    X, Y = 40.0 * rng.uniform(size=(n, q)), rng.normal(size=(n, D))
    X[:, 1:] *= 0.02  # of a plane, a strip: its rows have neighbours
    smoother = LocalSmoother(density_kernel("gaussian"), degree, cross, 1e-6)
    listed = ManifoldObjective(Y, smoother, excluded=np.arange(n)[:, None])
    monkeypatch.setattr("isthmus.manifold.ukr.objective.squared_reach", lambda kernel: np.inf)
    dense = ManifoldObjective(Y, smoother, excluded=np.arange(n)[:, None])
    expected = dense(X)
    monkeypatch.undo()
    monkeypatch.setattr(near_lists, "FEW", 0)
    listed(X)
    with listed.near.lent(X, n, 120.0, vanishing=False) as pairs:
        assert pairs is not None
    found = listed(X)
    assert_allclose(found[0], expected[0], rtol=1e-12)
    assert_allclose(found[1], expected[1], atol=1e-9 * np.abs(expected[1]).max())


@pytest.mark.parametrize("degree", [0, 1])
def test_a_lonely_row_of_gaussian_weights_sees_all_others(degree, rng):
    n = 200
    X, Y = 30.0 * rng.uniform(size=(n, 1)), rng.normal(size=(n, D))
    X[0] = 60.0  # its nearest neighbour weighs 1e-195 or less
    smoother = LocalSmoother(density_kernel("gaussian"), degree, True, 1e-6)
    objective = ManifoldObjective(Y, smoother, excluded=np.arange(n)[:, None])
    expected = whole(X, Y, smoother, excluded=np.arange(n)[:, None])
    for _ in range(3):
        value, gradient = objective(X)
    assert_allclose(value, expected[0], rtol=1e-12)
    assert_allclose(gradient, expected[1], atol=1e-12)
