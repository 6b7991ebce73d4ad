"""Maps learned from rows alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from isthmus.manifold import Annealing, SmoothPSOM
from isthmus.manifold.psom.grid import make_grid
from isthmus.manifold.psom.learn import principal_plane
from isthmus.manifold.psom.roughness import roughness_matrix
from isthmus.structured import DependencyEstimator


def arc(n=150, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.uniform(0.0, 1.5 * np.pi, n)
    return np.c_[np.cos(a), np.sin(a)] + noise * rng.normal(size=(n, 2)), a


def test_objective_never_rises_at_one_smoothness():
    Y, _ = arc()
    grid = make_grid("test", (10,), bounds=None, basis="chebyshev")
    M, state, lam = roughness_matrix(grid), principal_plane(grid, Y), 0.05
    values = []
    for _ in range(12):
        state.cycle(lam)
        W = state.weights
        values.append(len(Y) * state.error + lam * np.trace(W.T @ M @ W))
    assert np.all(np.diff(values) <= 1e-9 * values[0])


def test_start_is_the_principal_plane_and_holds_the_data():
    Y = np.random.default_rng(0).normal(size=(50, 4)) * [3, 2, 1, 0.5]
    grid = make_grid("test", (6, 6), bounds=None, basis="chebyshev")
    state = principal_plane(grid, Y)
    assert abs(state.latent).max() <= 1 + 1e-12
    pca = PCA(2).fit(Y)
    planar = pca.inverse_transform(pca.transform(Y))
    assert_allclose(state.error, np.mean(np.sum((planar - Y) ** 2, axis=1)), rtol=1e-9)


def test_much_smoothness_leaves_the_principal_plane():
    Y = np.random.default_rng(0).normal(size=(80, 3)) * [3, 1.5, 0.3]
    model = SmoothPSOM((5, 5), smoothness=1e6, annealing=Annealing(1e7, n_cycles=15)).fit(Y)
    pca = PCA(2).fit(Y)
    planar = np.mean(np.sum((pca.inverse_transform(pca.transform(Y)) - Y) ** 2, axis=1))
    assert_allclose(-model.score(Y), planar, rtol=1e-3)


def test_curve_on_a_noisy_line_is_the_principal_axis():
    rng = np.random.default_rng(0)
    Y = np.outer(rng.uniform(-3, 3, 200), [2.0, 1.0]) + 0.1 * rng.normal(size=(200, 2))
    model = SmoothPSOM((6,), smoothness=1e3).fit(Y)
    direction = np.diff(model.inverse_transform([[-1.0], [1.0]]), axis=0)[0]
    axis = PCA(1).fit(Y).components_[0]
    assert abs(direction @ axis) / np.linalg.norm(direction) > 1 - 1e-5


def test_held_out_rows_stop_before_the_noise_is_fitted():
    Y, _ = arc(noise=0.15)
    fresh, _ = arc(400, noise=0.15, seed=1)
    model = SmoothPSOM((16,), random_state=0).fit(Y)
    errors = [row["held_out_error"] for row in model.history_]
    assert np.argmin(errors) < len(errors) - 1 or len(errors) == Annealing().max_iter
    wild = SmoothPSOM((16,), smoothness=model.smoothness_ * 1e-4).fit(Y)

    def off_the_arc(m):
        return np.mean(abs(np.linalg.norm(m.reconstruct(fresh), axis=1) - 1))

    assert off_the_arc(model) < off_the_arc(wild)


def test_given_validation_rows_choose_the_step():
    Y, _ = arc()
    held_out, _ = arc(seed=2)
    model = SmoothPSOM((10,), annealing=Annealing(patience=2)).fit(Y, X_valid=held_out)
    errors = [row["held_out_error"] for row in model.history_]
    assert_allclose(model.smoothness_, model.history_[int(np.argmin(errors))]["smoothness"])
    assert_allclose(-model.score(held_out), min(errors), rtol=1e-3)


def test_annealing_unfolds_what_a_fixed_smoothness_folds():
    rng = np.random.default_rng(0)
    t = rng.uniform(size=300)
    Y = (t[:, None] + 0.2) * np.c_[np.sin(3 * np.pi * t), np.cos(3 * np.pi * t)]
    annealed, fixed = (
        SmoothPSOM((14,), smoothness=1e-4, annealing=annealing).fit(Y)
        for annealing in (Annealing(factor=0.7), Annealing(1e-4, factor=0.7, n_cycles=25))
    )
    assert annealed.score(Y) > fixed.score(Y)


def test_missing_columns_are_recalled_from_a_learned_curve():
    Y, _ = arc(noise=0.0)
    model = SmoothPSOM((12,), smoothness=1e-4).fit(Y)
    upper = Y[(Y[:, 0] > 0.2) & (Y[:, 0] < 0.95)]  # not where the curve turns back
    asked = np.c_[upper[:, 0], np.full(len(upper), np.nan)]
    found = model.complete(asked)
    assert np.array_equal(found[:, 0], upper[:, 0])
    assert_allclose(abs(found[:, 1]), abs(upper[:, 1]), atol=0.05)


@pytest.mark.parametrize("slot", ["x_features", "y_features"])
def test_serves_in_both_slots_of_the_dependency_estimator(slot):
    Y, a = arc(120, noise=0.01)
    X = np.c_[a, np.sqrt(a)]
    curve = SmoothPSOM((10,), smoothness=1e-3)
    inputs, outputs = (Y, X) if slot == "x_features" else (X, Y)
    model = DependencyEstimator(**{slot: curve}).fit(inputs[:90], outputs[:90])
    assert model.score(inputs[90:], outputs[90:]) > 0.98


def test_latent_dimensions_that_the_data_lack_do_no_harm():
    Y, _ = arc(60)
    assert SmoothPSOM((6, 4), smoothness=0.1).fit(Y[:, :1]).transform(Y[:, :1]).shape == (60, 2)
