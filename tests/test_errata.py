"""Formulas that are wrong in print: the printed one fails, the corrected one holds.

The page *Errata of the literature* names these tests.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg
from scipy.optimize import check_grad

ROOT = Path(__file__).parents[1]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def gaussian(X, Z, gamma=0.5):
    return np.exp(-gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=-1))


# --- kernels, kernel PCA, pre-images -----------------------------------------------------------


def test_kernel_pca_has_the_factor_n_on_the_other_side_and_a_centre(rng):
    # A linear kernel must give back principal components.
    X = rng.normal(size=(30, 4)) + 5.0
    n = len(X)
    centred = X - X.mean(axis=0)
    variances = np.sort(linalg.eigvalsh(centred.T @ centred / n))[::-1]
    eigenvalues = np.sort(linalg.eigvalsh(centred @ centred.T))[::-1][:4]
    assert_allclose(eigenvalues / n, variances)  # λ of the Gram matrix is N times the variance
    printed = np.sort(linalg.eigvalsh(X @ X.T))[::-1][:4] * n  # K α = (λ/N) α, not centred
    assert not np.allclose(printed, variances, rtol=0.5)


def test_coordinates_take_the_inverse_root_of_the_gram_matrix(rng):
    X = rng.normal(size=(8, 3))
    K = gaussian(X, X)
    root = linalg.sqrtm(K).real
    assert_allclose((linalg.inv(root) @ K).T @ (linalg.inv(root) @ K), K)
    assert not np.allclose((root @ K).T @ (root @ K), K)


def test_the_distance_to_an_expansion_counts_its_weights(rng):
    X, x, a = rng.normal(size=(6, 2)), rng.normal(size=(1, 2)), rng.normal(size=6)
    # With a linear kernel the distance can be computed in the input space.
    K, k, own = X @ X.T, (X @ x.T)[:, 0], float((x**2).sum())
    truth = float(np.sum((x - a @ X) ** 2))
    assert np.isclose(own - 2 * a @ k + a @ K @ a, truth)
    assert not np.isclose(own - 2 * k.sum() + a @ K @ a, truth)


def test_distances_to_the_mean_are_the_diagonal_of_the_small_product(rng):
    N = rng.normal(size=(5, 3))
    X = (N - N.mean(axis=0)).T  # columns are neighbours
    assert_allclose(np.diag(X.T @ X), ((N - N.mean(axis=0)) ** 2).sum(axis=1))
    assert np.diag(X @ X.T).shape != (5,)  # not even one number per neighbour


def test_features_of_the_squared_product_have_a_root_of_two(rng):
    y, z = rng.normal(size=(2, 2))

    def features(v, middle):
        return np.array([v[0] ** 2, middle * v[0] * v[1], v[1] ** 2])

    assert np.isclose(features(y, np.sqrt(2)) @ features(z, np.sqrt(2)), (y @ z) ** 2)
    assert not np.isclose(features(y, 1) @ features(z, 1), (y @ z) ** 2)


def test_double_centring_takes_squared_distances(rng):
    X = rng.normal(size=(12, 3))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=-1))
    H = np.eye(12) - 1 / 12
    centred = (H @ X) @ (H @ X).T
    assert_allclose(-0.5 * H @ D**2 @ H, centred, atol=1e-12)
    assert not np.allclose(-0.5 * H @ D @ H, centred, atol=0.1)


# --- regression of limited rank -----------------------------------------------------------------


def test_the_ridge_penalty_without_a_half_counts_twice(rng):
    X, y, beta = rng.normal(size=(20, 3)), rng.normal(size=20), 2.0

    def cost(w):
        return 0.5 * np.sum((y - X @ w) ** 2) + beta * w @ w

    def slope(w):
        return X.T @ (X @ w - y) + 2 * beta * w

    assert check_grad(cost, slope, np.ones(3)) < 1e-5
    right = linalg.solve(X.T @ X + 2 * beta * np.eye(3), X.T @ y)
    printed = linalg.solve(X.T @ X + beta * np.eye(3), X.T @ y)
    assert np.linalg.norm(slope(right)) < 1e-10 < 0.1 < np.linalg.norm(slope(printed))


def test_reduced_rank_regression_projects_on_left_singular_vectors(rng):
    # As in print, samples are columns: Y = F X with F of shape (outputs, inputs).
    X = rng.normal(size=(4, 50))
    Y = rng.normal(size=(3, 4)) @ X + rng.normal(size=(3, 50))
    F = Y @ X.T @ linalg.inv(X @ X.T)
    U = linalg.svd(F @ X, full_matrices=False)[0][:, :2]
    best = np.sum((Y - U @ U.T @ F @ X) ** 2)
    for _ in range(50):
        V = linalg.qr(rng.normal(size=(3, 2)), mode="economic")[0]
        assert np.sum((Y - V @ V.T @ F @ X) ** 2) >= best
    assert linalg.svd(F @ X, full_matrices=False)[2].shape == (3, 50)  # right ones do not even fit


def test_the_geodesic_leaves_in_the_direction_of_descent(rng):
    from isthmus.optimize.stiefel_geometry import geodesic

    V = linalg.qr(rng.normal(size=(5, 2)), mode="economic")[0]
    G = rng.normal(size=(5, 2))
    D = -(G - V @ G.T @ V)
    step = 1e-6
    assert_allclose((geodesic(V, D, step) - V) / step, D, atol=1e-4)
    # The printed blocks, Ĝ'V and Ĝ'V⊥: the upper one has the other sign, and the curve turns away.
    V_perp = linalg.null_space(V.T)
    upper, lower = (-D).T @ V, ((-D).T @ V_perp).T
    Z = np.block([[upper, -lower.T], [lower, np.zeros((3, 3))]])
    along = (np.c_[V, V_perp] @ linalg.expm(step * Z)[:, :2] - V) / step
    assert not np.allclose(along, D, atol=0.1)
    assert not np.allclose(along, -D, atol=0.1)


# --- dependence ---------------------------------------------------------------------------------


def test_the_golden_section_needs_a_constant_below_one():
    low, high = 0.0, 1.0
    for constant, inside in (((1 + 5**0.5) / 2, False), ((5**0.5 - 1) / 2, True)):
        probes = (high + constant * (low - high), low + constant * (high - low))
        assert all(low < probe < high for probe in probes) is inside


def test_the_dot_product_of_gegenbauer_features_needs_enough_dimensions():
    # Points on a sphere in r dimensions: positive definite from the index (r - 2)/2 on.
    from isthmus.kernels import Linear, Normalized, Transformed

    X = np.random.default_rng(1).normal(size=(60, 6))

    def smallest(index):
        coefficients = [0.0, 1.0]  # of degree two alone
        kernel = Transformed(
            Normalized(Linear()), coefficients, basis="gegenbauer", lam=index, validity="ignore"
        )
        return linalg.eigvalsh(kernel(X)).min()

    assert smallest(2.0) > -1e-10
    assert smallest(0.51) < -0.1


# --- sparse codes and factorizations -------------------------------------------------------------


def test_orthogonal_pursuit_returns_coefficients_and_not_the_projection(rng):
    D, x = rng.normal(size=(6, 2)), rng.normal(size=6)  # columns are atoms, as in print
    coefficients = linalg.solve(D.T @ D, D.T @ x)
    residual = x - D @ coefficients
    assert_allclose(D.T @ residual, 0, atol=1e-12)
    with pytest.raises(ValueError, match="broadcast"):
        x - coefficients  # the printed residual subtracts two numbers from six


def test_the_penalty_of_sparse_factors_is_a_sum_of_squares(rng):
    A, beta = rng.random(size=(3, 4)), 0.7
    stacked = np.sqrt(beta) * np.ones((1, 3)) @ A  # the row below D in the stacked problem
    assert np.isclose(np.sum(stacked**2), beta * np.sum(np.abs(A).sum(axis=0) ** 2))
    assert not np.isclose(np.sum(stacked**2), beta * np.abs(A).sum() ** 2)


def test_the_slope_of_the_divergence_of_a_factorization(rng):
    X, D, A = (rng.random(size=shape) + 0.5 for shape in ((5, 4), (5, 2), (2, 4)))

    def divergence(a):
        R = D @ a.reshape(A.shape)
        return np.sum(X * np.log(X / R) - X + R)

    def slope(a):
        R = D @ a.reshape(A.shape)
        return (D.sum(axis=0)[:, None] - D.T @ (X / R)).ravel()  # minus the printed step, A for D

    assert check_grad(divergence, slope, A.ravel()) < 1e-5


# --- sensing ------------------------------------------------------------------------------------


def test_rows_of_a_basis_need_their_length_for_a_restricted_isometry(rng):
    n, m = 256, 64
    basis = linalg.qr(rng.normal(size=(n, n)))[0]
    rows = basis[rng.choice(n, m, replace=False)]
    x = np.zeros(n)
    x[rng.choice(n, 4, replace=False)] = rng.normal(size=4)
    x /= np.linalg.norm(x)
    assert abs(np.sum((np.sqrt(n / m) * rows @ x) ** 2) - 1) < 0.5
    assert np.sum((rows @ x) ** 2) < 0.5  # as they are, three quarters of the length are lost


def test_the_sampling_theorem_has_a_period_of_half_the_inverse_band():
    band, t = 1.0, np.linspace(0, 5, 7)

    def rebuilt(period):
        n = np.arange(-4000, 4001)
        return np.sin(2 * np.pi * 0.9 * band * n * period) @ np.sinc(t / period - n[:, None])

    truth = np.sin(2 * np.pi * 0.9 * band * t)
    assert_allclose(rebuilt(1 / (2 * band)), truth, atol=0.01)
    assert not np.allclose(
        rebuilt(2 * band), truth, atol=0.5
    )  # a "rate" of 2B, taken as the period


# --- core sets ----------------------------------------------------------------------------------


def test_a_ball_around_lengthened_points_takes_squares(rng):
    X = rng.normal(size=(7, 3))
    squares = (X**2).sum(axis=1)
    lengths = np.sqrt(squares)
    assert_allclose(squares + (squares.max() - squares), squares.max())  # all equally long
    printed = lengths.max() - lengths
    assert not np.allclose(squares + printed**2, squares.max())


def test_a_tube_of_weight_one_bounds_the_function(rng):
    # Σ(α + α*) = 1, so no combination of kernels bounded by one exceeds one.
    X = rng.normal(size=(40, 1))
    K = gaussian(X, X)
    for _ in range(20):
        weights = rng.dirichlet(np.ones(80))
        assert np.abs(K @ (weights[:40] - weights[40:])).max() <= K.max()


# --- Gaussian processes -------------------------------------------------------------------------


def test_noise_counts_once(rng):
    from isthmus.kernels import Gaussian
    from isthmus.regression import GaussianProcess

    X, variance = rng.normal(size=(15, 1)), 0.3
    y = np.sin(X[:, 0])
    K, k = gaussian(X, X), gaussian(X[:3] + 0.1, X)
    model = GaussianProcess(
        Gaussian(0.5), noise=np.sqrt(variance), amplitude=1.0, learn_kernel=False, center=False
    ).fit(X, y)
    once = k @ linalg.solve(K + variance * np.eye(15), y)
    twice = k @ linalg.solve(K + 2 * variance * np.eye(15), y)
    assert_allclose(model.predict(X[:3] + 0.1), once)
    assert not np.allclose(twice, once, atol=1e-2)


def test_weights_of_features_divide_by_the_variance_of_the_noise(rng):
    X, y, deviation = rng.normal(size=(15, 3)), rng.normal(size=15), 0.5
    A = X.T @ X / deviation**2 + np.eye(3)
    weights = linalg.solve(A, X.T @ y) / deviation**2
    assert_allclose(X @ weights, X @ X.T @ linalg.solve(X @ X.T + deviation**2 * np.eye(15), y))
    printed = linalg.solve(X.T @ X / deviation + np.eye(3), X.T @ y) * deviation**2
    assert not np.allclose(printed, weights, rtol=0.1)


# --- arms ---------------------------------------------------------------------------------------


def test_the_first_joint_is_a_rigid_motion():
    c, s = np.cos(0.3), np.sin(0.3)
    right = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    printed = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]])
    assert np.isclose(linalg.det(right[:3, :3]), 1)
    assert np.isclose(linalg.det(printed[:3, :3]), 0)


def test_the_middle_of_a_joint_range_is_not_half_its_width():
    from isthmus.robotics import KinematicChain, dexterity

    arm = KinematicChain(np.eye(3)[[1, 1]], "standard", lower=[-1.0, 0.0], upper=[3.0, 1.0])
    middle, printed = dexterity(arm, [[1.0, 0.5], [2.0, 0.5]]).limit_distance
    assert middle == 0.0
    assert printed > 0.1  # half the width is the middle only where a range starts at zero


# --- the page -----------------------------------------------------------------------------------


def test_every_check_on_the_page_exists():
    page = ROOT / "docs" / "errata.md"
    if not page.exists():
        pytest.skip("an installed package has no pages")
    checks = re.findall(r"`((?:experiments/)?tests/[\w/]+\.py)::(\w+)`", page.read_text())
    assert len(checks) > 25
    for path, name in checks:
        assert f"def {name}(" in (ROOT / path).read_text(), f"{path}::{name}"
    here = set(re.findall(r"^def (test_\w+)", Path(__file__).read_text(), flags=re.MULTILINE))
    named = {name for path, name in checks if path == "tests/test_errata.py"}
    assert here - named == {"test_every_check_on_the_page_exists"}
