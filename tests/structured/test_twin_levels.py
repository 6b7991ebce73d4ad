"""Searches on two levels: the same minima as with the exact inverse alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.kernels import Gaussian, Transformed
from isthmus.structured import TwinGaussianProcess, TwinSearch
from isthmus.structured.twin import inverse as inverses
from isthmus.structured.twin.bridge import TwinSides, exact_bridge
from isthmus.structured.twin.inverse import OutputInverse, low_rank_inverse, subset_inverse
from isthmus.structured.twin.landmarks import feature_root
from isthmus.structured.twin.landscape import Landscape, box_around
from isthmus.structured.twin.levels import (
    Correction,
    descend,
    exact_descent,
    rough_criterion,
    rough_descent,
    single_is_enough,
)

KERNELS = [Gaussian(0.5), Transformed(Gaussian(0.3), (0.6, 0.4))]


@pytest.fixture
def pairs(rng):
    X = rng.uniform(-1, 1, size=(320, 3))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)])
    return X, Y + 0.3 * rng.normal(size=Y.shape)


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_all_outputs_as_landmarks_it_is_the_inverse(kernel, pairs):
    Y = pairs[1][:60]
    low = low_rank_inverse(kernel, Y, 0.3, 60)
    exact = np.linalg.inv(kernel(Y) + 0.3 * np.eye(60))
    assert_allclose(low.rows(np.eye(60)), exact, atol=1e-6)


@pytest.mark.parametrize("n", [320, 1100])
def test_products_with_the_inverse_formed_or_not(n, rng):
    Y = rng.normal(size=(n, 4))
    g = Gaussian(0.2)(rng.normal(size=(5, 4)), Y)
    exact = np.linalg.solve(Gaussian(0.2)(Y) + 0.5 * np.eye(n), g.T).T
    assert_allclose(OutputInverse(Gaussian(0.2), Y, 0.5).rows(g), exact, atol=1e-10)


def test_error_without_a_factor_is_that_with_one_to_first_order(pairs):
    for noise, share in ((5.0, 0.5), (50.0, 0.1)):  # the next order is smaller by the noise
        one, other = (OutputInverse(Gaussian(0.5), pairs[1], noise) for _ in range(2))
        low = low_rank_inverse(Gaussian(0.5), pairs[1], noise, 32)
        other.factor  # noqa: B018
        assert one.error_of(low) == pytest.approx(other.error_of(low), rel=share)


def test_landmarks_are_not_trusted_where_the_noise_is_small(pairs):
    assert OutputInverse(Gaussian(0.5), pairs[1], 5.0).low_rank is not None
    assert OutputInverse(Gaussian(50.0), pairs[1], 1e-3).low_rank is None


@pytest.mark.parametrize("kernel", KERNELS)
def test_corrected_criterion_is_exact_where_the_inverse_was_asked(kernel, pairs, rng):
    X, Y = pairs
    bridge = exact_bridge("kl", TwinSides(Gaussian(1.0), kernel, 0.02, 1.0), X, Y)
    query, rows = bridge.query(X[:6]), np.arange(6)
    low = low_rank_inverse(kernel, Y, 1.0, 8)
    points = Y[:6] + 0.1 * rng.normal(size=(6, 3))
    g, g_yy = kernel.gram(points, Y), kernel.diag(points) + 1.0
    e = bridge.inverse.rows(g) - low.rows(g)
    correction = Correction(e, np.einsum("ij,ij->i", e, g))
    rough = rough_criterion(query.levels, low, g, g_yy, rows, correction)
    for one, other in zip(rough, query.criterion(g, g_yy, rows), strict=True):
        assert_allclose(one, other, atol=1e-11)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("noise", [0.1, 1.0, 10.0])
def test_single_precision_ends_where_double_does(noise, offset, pairs, monkeypatch):
    X, Y = pairs[0], pairs[1] + offset
    bridge = exact_bridge("kl", TwinSides(Gaussian(1.0), Gaussian(0.5), 0.02, noise), X, Y)
    query, land = bridge.query(X[:40]), Landscape(Gaussian(0.5), Y, noise, box_around(Y, 0.2))
    starts, options = land.scaled(query.start), {"tol": 1e-2, "max_iter": 60}
    fixed = starts, np.arange(40), options
    for low in filter(None, (bridge.inverse.single, bridge.inverse.low_rank)):
        assert single_is_enough(land, options)
        fast = rough_descent(land, query.levels, low, *fixed)
        monkeypatch.setattr("isthmus.structured.twin.levels.SINGLE_TOL", np.inf)
        slow = rough_descent(land, query.levels, low, *fixed)
        monkeypatch.undo()
        assert fast.converged.all()
        assert slow.converged.all()
        assert_allclose(fast.x, slow.x, atol=2e-3)
        assert_allclose(fast.value, slow.value, atol=1e-4)


def test_inverse_in_single_precision_is_the_inverse(pairs):
    inverse = OutputInverse(Gaussian(0.5), pairs[1], 0.1)
    single = inverse.single.rows(np.eye(320, dtype=np.float32))
    assert single.dtype == np.float32
    assert_allclose(single, inverse.matrix, atol=1e-4 * np.abs(inverse.matrix).max())


def test_single_precision_is_not_enough_for_small_noise_small_tolerance_or_other_kernels(pairs):
    box = box_around(pairs[1], 0.2)
    for kernel, noise, tol in (
        (Gaussian(0.5), 0.01, 1e-2),
        (Gaussian(0.5), 1.0, 1e-5),
        (KERNELS[1], 1.0, 1e-2),
    ):
        assert not single_is_enough(Landscape(kernel, pairs[1], noise, box), {"tol": tol})


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("noise", "rank"), [(5.0, 32), (1.0, 32), (1.0, 4), (0.05, 8)])
def test_two_levels_end_in_minima_of_the_exact_criterion(kernel, noise, rank, pairs, rng):
    X, Y = pairs
    bridge = exact_bridge("kl", TwinSides(Gaussian(1.0), kernel, 0.02, noise), X[:280], Y[:280])
    query, land = bridge.query(X[280:]), Landscape(kernel, Y[:280], noise, box_around(Y, 0.2))
    low = low_rank_inverse(kernel, Y[:280], noise, rank)
    starts = land.scaled(query.start)
    rows, options = np.arange(40), {"tol": 1e-5, "max_iter": 300}
    fast = descend(land, query.criterion, query.levels, low, starts, rows, options)
    slow = exact_descent(land, query.criterion, starts, rows, options)
    assert fast.converged.all()
    points, g, g_yy = land.rows(fast.x)
    found = query.criterion(g, g_yy, rows)
    assert_allclose(found.value, fast.value, atol=1e-12)
    assert land.optimality(fast.x, land.slope(points, g, found)).max() <= 1e-5
    same = np.abs(fast.x - slow.x).max(axis=1) < 1e-3
    assert_allclose(fast.value[same], slow.value[same], atol=1e-8)
    assert same.mean() >= 0.9  # others ended in another valley, from a start between two
    assert fast.value.mean() <= slow.value.mean() + 1e-3


def test_ends_that_coincide_are_followed_once(pairs):
    X, Y = pairs
    bridge = exact_bridge("kl", TwinSides(Gaussian(1.0), Gaussian(0.5), 0.02, 5.0), X, Y)
    query, land = bridge.query(X[:30]), Landscape(Gaussian(0.5), Y, 5.0, box_around(Y, 0.2))
    low = bridge.inverse.low_rank
    starts = land.scaled(query.start)
    queries, options = np.tile(np.arange(30), 2), {"tol": 1e-5, "max_iter": 200}
    twice = np.concatenate([starts, starts + 1e-3])
    ends = descend(land, query.criterion, query.levels, low, twice, queries, options)
    assert np.isfinite(ends.value[:30]).all()
    assert np.isinf(ends.value[30:]).all()


@pytest.mark.parametrize("alpha_y", [None, 10.0, 0.01])
def test_choice_and_predictions_are_those_of_the_exact_inverse(alpha_y, pairs, monkeypatch):
    X, Y = pairs
    model = TwinGaussianProcess(alpha_y=alpha_y, search=TwinSearch(n_init=3))
    fast = model.fit(X[:280], Y[:280])
    settings = fast.x_kernel_, fast.y_kernel_, fast.alpha_x_, fast.alpha_y_
    error, found = fast.cv_error_, fast.predict_details(X[280:])
    monkeypatch.setattr(inverses, "RANKS", ())
    slow = model.fit(X[:280], Y[:280])
    assert settings == (slow.x_kernel_, slow.y_kernel_, slow.alpha_x_, slow.alpha_y_)
    assert error == pytest.approx(slow.cv_error_, rel=2e-3)
    expected = slow.predict_details(X[280:])
    assert_allclose(found.criterion, expected.criterion, atol=1e-6)
    assert_allclose(found.outputs, expected.outputs, atol=1e-3)


def test_a_subset_of_all_landmarks_is_the_matrix_itself(pairs, rng):
    Z = pairs[1][:60]
    Q = rng.normal(size=(60, 60))
    Q = Q @ Q.T
    found = subset_inverse(Gaussian(5.0), Z, Q, 60)
    assert_allclose(found.rows(np.eye(60)), Q, atol=1e-4 * np.abs(Q).max())


def test_landmarks_are_searched_on_two_levels_with_the_same_answers(pairs, rng, monkeypatch):
    X, Y = pairs
    new = rng.uniform(-1, 1, size=(40, 3))
    settings = {"x_kernel": Gaussian(0.5), "y_kernel": Gaussian(0.5), "alpha_x": 0.05}
    model = TwinGaussianProcess(**settings, alpha_y=5.0, n_landmarks=200).fit(X, Y)
    fast = model.predict_details(new)
    assert model._bridge_.inverse.low_rank is not None
    monkeypatch.setattr(inverses, "TRUSTED", -1.0)
    again = TwinGaussianProcess(**settings, alpha_y=5.0, n_landmarks=200).fit(X, Y)
    slow = again.predict_details(new)
    assert again._bridge_.inverse.low_rank is None
    assert_allclose(fast.outputs, slow.outputs, atol=1e-4)
    assert_allclose(fast.criterion, slow.criterion, atol=1e-8)


def test_features_by_a_triangle_are_those_of_the_whole_matrix(rng):
    Z = rng.normal(size=(30, 3))
    Z[7] = Z[2]  # which is left out
    root = feature_root(Gaussian(0.3), Z)
    k = Gaussian(0.3)(rng.normal(size=(9, 3)), Z)
    assert len(root.order) < 30
    assert_allclose(root.features(k), k @ root.full(30), atol=1e-9)
    assert_allclose(root.features(k) @ root.features(Gaussian(0.3)(Z)).T, k, atol=1e-6)
