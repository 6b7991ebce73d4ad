"""Smooth maps through grid nodes: roughness, noise, gaps, scattered data, large grids."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.manifold import PSOM, SmoothPSOM, grid_points
from isthmus.manifold.psom import smoothing
from isthmus.manifold.psom.cg import sample_adjoint, sample_values
from isthmus.manifold.psom.choice import choose_smoothness, criterion
from isthmus.manifold.psom.grid import make_grid
from isthmus.manifold.psom.map import map_values
from isthmus.manifold.psom.roughness import roughness_matrix, roughness_product
from isthmus.manifold.psom.smoothing import Samples

BOX = [(0.0, 1.0), (-1.0, 2.0), (3.0, 4.0)]


def grid_of(shape, basis="chebyshev"):
    return make_grid("test", shape, bounds=BOX[: len(shape)], basis=basis)


def linear(points, d=2):
    rng = np.random.default_rng(7)
    return points @ rng.normal(size=(points.shape[1], d)) + rng.normal(size=d)


@pytest.mark.parametrize("basis", ["lagrange", "chebyshev"])
@pytest.mark.parametrize("shape", [(6,), (5, 4), (4, 3, 5)])
def test_roughness_is_semidefinite_and_spares_linear_maps_only(shape, basis):
    grid = grid_of(shape, basis)
    M = roughness_matrix(grid)
    assert_allclose(M, M.T, atol=1e-12 * abs(M).max())
    spectrum = np.linalg.eigvalsh(M)
    assert spectrum[0] > -1e-12 * spectrum[-1]
    assert np.sum(spectrum < 1e-10 * spectrum[-1]) == len(shape) + 1
    assert abs(M @ linear(grid.points)).max() < 1e-10 * spectrum[-1]
    if len(shape) > 1:
        product = grid.points[:, 0] * grid.points[:, 1]
        assert product @ M @ product > 1e-3


def test_roughness_is_the_integral_of_squared_second_derivatives():
    grid = grid_of((5, 4))
    w = np.random.default_rng(0).normal(size=grid.size)
    t, weights = np.polynomial.legendre.leggauss(12)
    x, y = (axis.low + (axis.high - axis.low) * (t + 1) / 2 for axis in grid.axes)
    area = np.prod((grid.high - grid.low) / 2) * np.outer(weights, weights)
    values, slopes, curves = [], [], []
    for axis, points in zip(grid.axes, (x, y), strict=True):
        ell = axis.basis(points)
        values.append(ell)
        slopes.append(ell @ axis.differentiation)
        curves.append(ell @ axis.differentiation @ axis.differentiation)
    W = w.reshape(5, 4)
    xx, yy = curves[0] @ W @ values[1].T, values[0] @ W @ curves[1].T
    xy = slopes[0] @ W @ slopes[1].T
    brute = np.sum(area * (xx**2 + 2 * xy**2 + yy**2))
    assert_allclose(w @ roughness_matrix(grid) @ w, brute, rtol=1e-10)


@pytest.mark.parametrize("shape", [(6,), (5, 4), (4, 3, 5)])
def test_products_of_axes_are_products_with_the_matrix(shape):
    grid = grid_of(shape)
    W = np.random.default_rng(0).normal(size=(3, grid.size))
    M = roughness_matrix(grid)
    assert_allclose(roughness_product(grid, W), W @ M, atol=1e-11 * abs(W @ M).max())


def test_sampling_and_its_adjoint_are_transposed():
    rng = np.random.default_rng(0)
    grid = grid_of((4, 3, 5))
    points = grid.low + (grid.high - grid.low) * rng.uniform(size=(11, 3))
    W, V = rng.normal(size=(2, grid.size)), rng.normal(size=(11, 2))
    left = np.sum(sample_values(grid, points, W) * V)
    assert_allclose(left, np.sum(W * sample_adjoint(grid, points, V)), rtol=1e-12)


def noisy_nodes(grid, scale=0.1):
    rng = np.random.default_rng(3)
    x, y = grid.points.T
    clean = np.c_[np.sin(3 * x), np.cos(2 * y)]
    return clean, clean + scale * rng.normal(size=clean.shape)


def test_no_smoothness_is_the_psom_and_much_is_the_linear_fit():
    grid = grid_of((6, 5))
    _, noisy = noisy_nodes(grid)
    exact = SmoothPSOM((6, 5), smoothness=0.0, bounds=BOX[:2]).fit_nodes(noisy)
    assert_allclose(
        exact.weights_, PSOM(noisy, grid=(6, 5), basis="chebyshev").fit().weights_, atol=1e-12
    )
    flat = SmoothPSOM((6, 5), smoothness=1e7, bounds=BOX[:2]).fit_nodes(noisy)
    A = np.c_[np.ones(30), grid.points]
    plane = A @ np.linalg.lstsq(A, noisy, rcond=None)[0]
    assert_allclose(flat.weights_.reshape(-1, 2), plane, atol=1e-5)


def test_missing_nodes_of_a_linear_map_come_back():
    grid = grid_of((5, 5))
    truth = linear(grid.points)
    gaps = truth.copy()
    gaps[np.random.default_rng(0).permutation(25)[:15]] = np.nan
    model = SmoothPSOM((5, 5), smoothness=0.0, bounds=BOX[:2]).fit_nodes(gaps)
    assert_allclose(model.weights_.reshape(-1, 2), truth, atol=1e-9)


def test_filled_nodes_are_the_smoothest():
    grid = grid_of((6, 5))
    clean, _ = noisy_nodes(grid)
    gaps = clean.copy()
    missing = np.random.default_rng(0).permutation(30)[:8]
    gaps[missing] = np.nan
    W = SmoothPSOM((6, 5), smoothness=0.0, bounds=BOX[:2]).fit_nodes(gaps).weights_.reshape(-1, 2)
    known = np.setdiff1d(np.arange(30), missing)
    assert_allclose(W[known], clean[known], atol=1e-12)
    assert abs((roughness_matrix(grid) @ W)[missing]).max() < 1e-7


def test_smoothing_by_node_reduces_to_equal_smoothing_and_to_filling():
    grid = grid_of((6, 5))
    _, noisy = noisy_nodes(grid)
    M = roughness_matrix(grid)
    equal = smoothing.smooth_nodes(grid, noisy, np.full(30, 0.02))
    assert_allclose(equal, np.linalg.solve(np.eye(30) + 0.02 * M, noisy), atol=1e-9)
    rng = np.random.default_rng(0)
    each = rng.uniform(0.001, 0.1, size=30)
    each[:4] = 0.0
    published = np.linalg.solve(np.eye(30) + each[:, None] * M, noisy)
    assert_allclose(smoothing.smooth_nodes(grid, noisy, each), published, atol=1e-9)
    missing = np.where(np.arange(30) < 7, np.inf, 0.0)
    gaps = noisy.copy()
    gaps[:7] = np.nan
    filled = smoothing.smooth_nodes(grid, gaps, missing)
    by_hand = -np.linalg.solve(M[:7, :7], M[:7, 7:] @ noisy[7:])
    assert_allclose(filled[:7], by_hand, atol=1e-9)


def test_one_axis_is_smoothed_like_many():
    grid = grid_of((7,))
    noisy = np.random.default_rng(0).normal(size=(7, 2))
    for lam in (0.01, 1.0):  # twice: the integrals of an axis are kept, and must not change
        expected = np.linalg.solve(np.eye(7) + lam * roughness_matrix(grid), noisy)
        assert_allclose(smoothing.smooth_nodes(grid, noisy, np.full(7, lam)), expected, atol=1e-9)


def scattered(n=60, d=2):
    rng = np.random.default_rng(5)
    grid = grid_of((6, 5))
    Z = grid.low + (grid.high - grid.low) * rng.uniform(size=(n, 2))
    Y = np.c_[np.sin(3 * Z[:, 0]), np.cos(2 * Z[:, 1])] + 0.05 * rng.normal(size=(n, d))
    return grid, Z, Y


def test_samples_on_the_nodes_are_noisy_nodes():
    grid = grid_of((6, 5))
    _, noisy = noisy_nodes(grid)
    model = SmoothPSOM((6, 5), smoothness=0.02, bounds=BOX[:2])
    on_nodes = model.fit_nodes(noisy).weights_
    assert_allclose(model.fit(noisy, latent=grid.points).weights_, on_nodes, atol=1e-9)


def test_interpolant_meets_the_samples_and_is_the_smoothest_that_does():
    grid, Z, Y = scattered(12)
    model = SmoothPSOM((6, 5), smoothness=0.0, bounds=BOX[:2]).fit(Y, latent=Z)
    assert_allclose(model.inverse_transform(Z), Y, atol=1e-10)
    B, M = grid.basis_matrix(Z), roughness_matrix(grid)
    w = model.weights_.reshape(-1, 2)
    least = np.trace(w.T @ M @ w)
    Q = np.linalg.qr(B.T, mode="complete")[0][:, 12:]
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-1):
        other = w + size * Q @ rng.normal(size=(18, 2))
        assert np.trace(other.T @ M @ other) > least
    # The printed formula has the other sign, and is rougher than its own start.
    w0 = np.linalg.pinv(B) @ Y
    printed = w0 + Q @ np.linalg.solve(Q.T @ M @ Q, Q.T @ M @ w0)
    ours = w0 - Q @ np.linalg.solve(Q.T @ M @ Q, Q.T @ M @ w0)
    assert_allclose(w, ours, atol=1e-7)
    assert np.trace(printed.T @ M @ printed) > np.trace(w0.T @ M @ w0) > least


def test_little_smoothness_tends_to_the_interpolant():
    _, Z, Y = scattered(12)
    exact = SmoothPSOM((6, 5), smoothness=0.0, bounds=BOX[:2]).fit(Y, latent=Z).weights_

    def gap(lam):
        model = SmoothPSOM((6, 5), smoothness=lam, bounds=BOX[:2]).fit(Y, latent=Z)
        return abs(model.weights_ - exact).max()

    assert_allclose(gap(1e-8) / gap(1e-9), 10, rtol=0.05)


@pytest.mark.parametrize("on_nodes", [False, True])
def test_three_solvers_agree(on_nodes):
    grid, Z, Y = scattered()
    p = np.random.default_rng(0).uniform(0.5, 2, size=60)
    nodes = None
    if on_nodes:
        nodes = np.random.default_rng(1).permutation(30)[:20]
        Z, Y, p = grid.points[nodes], Y[:20], p[:20]
    data = Samples(Z, Y, p, nodes)
    eigen, dense = smoothing.EigenSmoother(grid, data), smoothing.CholeskySmoother(grid, data)
    iterative = smoothing.IterativeSmoother(grid, data)
    B = grid.basis_matrix(Z)
    for lam in (1e-3, 1.0):
        A = (B.T * p) @ B + lam * roughness_matrix(grid)
        hat = B @ np.linalg.solve(A, B.T * p)
        for fit in (eigen.at(lam), dense.at(lam)):
            assert_allclose(fit.weights, np.linalg.solve(A, (B.T * p) @ Y), atol=1e-8)
            assert_allclose(fit.residual, Y - hat @ Y, atol=1e-8)
            assert_allclose(fit.dof, np.trace(hat), rtol=1e-8)
            assert_allclose(fit.leverage, np.diag(hat), atol=1e-8)
        assert_allclose(iterative.at(lam).weights, eigen.at(lam).weights, atol=1e-5)
    assert_allclose(eigen.scale(), dense.scale())


def test_leaving_one_out_is_refitting_without_it():
    grid, Z, Y = scattered()
    lam = 0.01
    whole = smoothing.EigenSmoother(grid, Samples(Z, Y, np.ones(60)))
    left_out = []
    for i in range(60):
        rest = np.arange(60) != i
        W = smoothing.smooth_samples(grid, Samples(Z[rest], Y[rest], np.ones(59)), lam)
        left_out.append(map_values(grid, W.reshape(6, 5, 2), Z[i : i + 1])[0] - Y[i])
    brute = np.mean(np.sum(np.square(left_out), axis=1))
    assert_allclose(criterion("loo", whole.at(lam), np.ones(60)), brute, rtol=1e-7)


@pytest.mark.parametrize("rule", ["gcv", "loo"])
def test_rules_find_their_minimum_and_beat_the_extremes(rule):
    grid, Z, Y = scattered()
    smoother = smoothing.EigenSmoother(grid, Samples(Z, Y, np.ones(60)))
    lam, history = choose_smoothness(smoother, rule, np.ones(60))
    best = criterion(rule, smoother.at(lam), np.ones(60))
    around = [criterion(rule, smoother.at(f * lam), np.ones(60)) for f in (0.1, 0.7, 1.4, 10)]
    assert best <= min(around)
    assert best <= min(row["score"] for row in history)


def test_known_noise_chooses_better_than_leaving_it_over():
    grid = grid_of((9, 8))
    clean, noisy = noisy_nodes(grid)
    wrong = {}
    for rule in ("noise", "discrepancy"):
        model = SmoothPSOM((9, 8), smoothness=rule, noise=0.1, bounds=BOX[:2]).fit_nodes(noisy)
        W = model.weights_.reshape(-1, 2)
        wrong[rule] = np.mean((W - clean) ** 2)
        assert np.isfinite(model.dof_)
    assert_allclose(np.sqrt(np.mean((W - noisy) ** 2)), 0.1, rtol=0.05)  # left over
    assert wrong["noise"] < wrong["discrepancy"] < np.mean((noisy - clean) ** 2)


def test_chosen_smoothness_takes_noise_off_nodes():
    grid = grid_of((9, 8))
    clean, noisy = noisy_nodes(grid)
    gaps = noisy.copy()
    gaps[::7] = np.nan
    W = SmoothPSOM((9, 8), bounds=BOX[:2]).fit_nodes(gaps).weights_.reshape(-1, 2)
    assert np.mean((W - clean) ** 2) < 0.5 * np.mean((noisy - clean) ** 2)


def test_node_of_no_variance_stays_and_a_noisy_one_moves():
    grid = grid_of((6, 5))
    _, noisy = noisy_nodes(grid)
    spread = np.ones(30)
    spread[3], spread[4] = 0.0, 100.0
    model = SmoothPSOM((6, 5), smoothness=1e-3, bounds=BOX[:2]).fit_nodes(noisy, variances=spread)
    moved = np.linalg.norm(model.weights_.reshape(-1, 2) - noisy, axis=1)
    assert moved[3] < 1e-12
    assert moved[4] > 0.01


@pytest.mark.parametrize("missing", [0, 30])
def test_conjugate_gradients_on_nodes_are_the_factorisation(monkeypatch, missing):
    grid = grid_of((9, 8))
    _, noisy = noisy_nodes(grid)
    lam = np.full(72, 0.01)
    if missing:
        lam[np.random.default_rng(0).permutation(72)[:missing]] = np.inf
    exact = smoothing.smooth_nodes(grid, noisy, lam)
    monkeypatch.setattr(smoothing, "DENSE_LIMIT", 10)
    monkeypatch.setattr(smoothing, "EIGEN_LIMIT", 10)
    assert_allclose(smoothing.smooth_nodes(grid, noisy, lam), exact, atol=1e-5)


def test_large_grid_is_smoothed_without_its_matrix():
    shape = (20, 20, 20)
    x, y, z = grid_points(shape, basis="chebyshev").T
    clean = np.sin(2 * x + y) * np.cos(z)
    noisy = clean + 0.1 * np.random.default_rng(0).normal(size=len(clean))
    model = SmoothPSOM(shape, smoothness=0.1).fit_nodes(noisy[:, None])
    wrong = model.weights_.ravel() - clean
    assert np.sqrt(np.mean(wrong**2)) < 0.03


def test_scattered_data_on_a_large_grid_match_the_factorisation(monkeypatch):
    _, Z, Y = scattered()
    model = SmoothPSOM((6, 5), smoothness=0.01, bounds=BOX[:2])
    exact = model.fit(Y, latent=Z).weights_
    monkeypatch.setattr(smoothing, "DENSE_LIMIT", 10)
    monkeypatch.setattr(smoothing, "EIGEN_LIMIT", 10)
    assert_allclose(model.fit(Y, latent=Z).weights_, exact, atol=1e-5)
    by_rule = SmoothPSOM((6, 5), bounds=BOX[:2]).fit(Y, latent=Z)
    assert np.isfinite(by_rule.dof_)
    with pytest.raises(ValueError, match="leverage"):
        SmoothPSOM((6, 5), smoothness="loo", bounds=BOX[:2]).fit(Y, latent=Z)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: SmoothPSOM((3, 3)).fit_nodes(np.zeros((8, 2))), r"match its grid: expected"),
        (
            lambda: SmoothPSOM((3, 3), smoothness=0.0).fit_nodes(
                np.where(np.arange(9)[:, None] < 2, 0.0, np.nan)
            ),
            r"at least 3 known nodes .* Got 2",
        ),
        (
            lambda: SmoothPSOM((3, 3)).fit(np.zeros((5, 2)), latent=np.ones((5, 2))),
            "at least 3 latent points",
        ),
        (
            lambda: SmoothPSOM((3,)).fit(np.zeros((5, 2)), latent=np.arange(4.0)[:, None]),
            "latent points as rows: expected 5, got 4",
        ),
        (
            lambda: SmoothPSOM((3,), bounds=(0, 1)).fit(np.eye(5), latent=np.arange(5.0)[:, None]),
            "must hold the latent points",
        ),
        (lambda: SmoothPSOM((3, 3), smoothness="gcv").fit(np.eye(9)), "needs latent points"),
        (lambda: SmoothPSOM((3,), smoothness=0.0).fit(np.eye(9)), r"a float in \(0.0"),
        (lambda: SmoothPSOM((3,), smoothness="noise").fit_nodes(np.eye(3)), "parameter noise"),
        (
            lambda: SmoothPSOM((3,), smoothness="best").fit(np.eye(9)),
            "'gcv', 'loo', 'noise', 'discrepancy'",
        ),
        (lambda: SmoothPSOM((3,), smoothness=-1.0).fit_nodes(np.eye(3)), r"a float in \[0, inf\)"),
        (lambda: SmoothPSOM((3,)).fit_nodes(np.eye(3), variances=[1, 2]), "must be 3 numbers"),
        (lambda: SmoothPSOM((3,)).fit_nodes(np.eye(3), variances=[0, 1, 1]), "variance 0"),
        (lambda: SmoothPSOM((3,)).fit(np.full((9, 2), np.nan)), "contains NaN"),
    ],
)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=message):
        act()


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"noise": "x"}, "noise"),  # not used here
        ({"noise": -1}, "noise"),
        ({"grid_shape": "x"}, "grid_shape"),
        ({"bounds": "x"}, "bounds"),
        ({"basis": []}, "basis"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_wrong_parameters_are_refused_by_name(parameters, name):
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = SmoothPSOM(**{"grid_shape": (4,), **parameters})
    with pytest.raises((TypeError, ValueError), match=f"The '{name}' parameter of SmoothPSOM must"):
        model.fit(X)
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("rule", ["gcv", "noise", "discrepancy"])
@pytest.mark.parametrize("box", [None, (-30.0, 30.0)])  # of the second the basis has no full rank
def test_a_root_of_many_rows_stands_for_them(rng, rule, box):
    Z = rng.uniform(-1, 1, size=(400, 2))
    X = np.c_[Z, np.sin(3 * Z[:, 0])] + 0.1 * rng.normal(size=(400, 3))
    found = SmoothPSOM((5, 5), smoothness=rule, noise=0.1, bounds=box).fit(X, latent=Z)
    assert found.embedding_.shape == (400, 2)
    all_rows = smoothing.make_smoother(found.grid_, Samples(Z, X, np.ones(400)))
    noise = None if rule == "gcv" else 0.1
    lam, history = choose_smoothness(all_rows, rule, np.ones(400), noise=noise)
    assert_allclose(found.smoothness_, lam, rtol=1e-6)
    assert len(found.history_) == len(history)
    images = X - all_rows.at(lam).residual
    assert_allclose(found.inverse_transform(Z), images, rtol=1e-6, atol=1e-8)
