"""The map, its Jacobian, projections, roughness and the training loops."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from isthmus.losses import Epsilon, Squared
from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.manifold.projection import Search, best_ends, search_from
from isthmus.manifold.ukr import search
from isthmus.manifold.ukr.choice import Start
from isthmus.manifold.ukr.descent import lbfgs, rprop
from isthmus.manifold.ukr.learning import train_from_start
from isthmus.manifold.ukr.map import WHOLE_ROWS, KernelMap, latent_map, map_of_rows
from isthmus.manifold.ukr.objective import ManifoldObjective, reconstruction_error
from isthmus.manifold.ukr.roughness import (
    basis_curvatures,
    roughness_metric,
    smooth_outputs,
    smooth_outputs_by_rows,
)
from isthmus.manifold.ukr.search import FEW_CENTRES
from isthmus.manifold.ukr.settings import check_settings
from isthmus.manifold.ukr.starts import (
    fewest_connecting_neighbors,
    find_embeddings,
    neighbor_embedding,
    neighbor_table,
)
from isthmus.manifold.ukr.tubes import fit_tubes, with_width
from isthmus.smoothers import density_kernel
from isthmus.smoothers import pairs as near_lists
from isthmus.smoothers.local_polynomial import LocalSmoother, smooth
from isthmus.smoothers.loops import polynomial_weights
from isthmus.smoothers.point_loops import fill_jets, terms_of

DEGREES = [(0, True), (1, True), (2, False), (2, True)]


@pytest.fixture
def centres(rng):
    return 0.5 * rng.normal(size=(40, 2)), rng.normal(size=(40, 3))


@pytest.mark.parametrize("crowded", [0.0, 2.0])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
@pytest.mark.parametrize("kernel", ["gaussian", "triweight", "student"])
def test_jacobian_is_the_derivative_of_the_map(
    kernel, degree, cross, crowded, centres, rng, monkeypatch
):
    monkeypatch.setattr(near_lists, "CROWDED", crowded)
    smoother = LocalSmoother(density_kernel(kernel), degree, cross, 1e-3)
    Z = 0.2 * rng.normal(size=(6, 2))
    at = latent_map(Z, *centres, smoother, jacobian=True)
    h = 1e-6
    for m, step in enumerate(h * np.eye(2)):
        up, down = (latent_map(Z + s * step, *centres, smoother).f for s in (1, -1))
        assert_allclose(at.jacobian[:, :, m], (up - down) / (2 * h), atol=1e-7)
    assert_allclose(at.f, latent_map(Z, *centres, smoother).f, rtol=1e-12)


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("kernel", ["gaussian", "quartic"])
def test_map_at_the_places_is_what_training_saw(kernel, degree, centres):
    X, Y = centres
    smoother = LocalSmoother(density_kernel(kernel), degree)
    fitted = reconstruction_error(X, X, Y, Y, smoother, Squared()).fitted
    assert_allclose(latent_map(X, X, Y, smoother).f, fitted, atol=1e-8)


def test_far_from_everything_the_nearest_output_is_returned(centres):
    X, Y = centres
    far = np.array([[1e4, 0.0]])
    nearest = np.argmin(np.sum((X - far) ** 2, axis=1))
    for kernel in ("quartic", "gaussian"):
        at = latent_map(far, X, Y, LocalSmoother(density_kernel(kernel)), jacobian=True)
        assert_allclose(at.f[0], Y[nearest], atol=1e-6)
        assert np.all(np.isfinite(at.jacobian))


@pytest.mark.parametrize("degree", [0, 1])
def test_far_from_everything_there_is_no_density(degree, centres):
    X, Y = centres
    for kernel in ("quartic", "gaussian"):
        smoother = LocalSmoother(density_kernel(kernel), degree)
        assert latent_map(np.array([[90.0, 0.0]]), X, Y, smoother).density[0] < 1e-100


def grid_surface():
    """A bent sheet over a regular grid of places."""
    X = np.stack(np.meshgrid(np.arange(8.0), np.arange(8.0)), axis=2).reshape(-1, 2) / 2.0
    return X, np.column_stack([X, np.sin(X[:, 0]), np.cos(X[:, 1])])


@pytest.mark.parametrize("degree", [0, 2])
@pytest.mark.parametrize("kernel", ["gaussian", "triweight"])
def test_projection_of_a_point_of_the_manifold_is_its_place(kernel, degree, rng):
    X, Y = grid_surface()
    smoother = LocalSmoother(density_kernel(kernel), degree)
    Z = rng.uniform(1.0, 2.5, size=(20, 2))
    images = latent_map(X, X, Y, smoother).f
    targets = latent_map(Z, X, Y, smoother).f
    everywhere = KernelMap(X, Y, smoother, 0.0, X, images)
    found = best_ends(everywhere, targets, None, Search(n_init=3, max_iter=100, tol=1e-14))
    assert_allclose(found.latent, Z, atol=1e-6)
    assert np.all(found.error < 1e-12)


def test_projections_stay_where_the_density_is_high_enough(rng):
    X, Y = grid_surface()
    smoother = LocalSmoother(density_kernel("gaussian"))
    fenced = map_of_rows(X, X, Y, smoother)
    places = best_ends(fenced, 5 * Y, None, WHOLE_ROWS).latent
    assert np.all(latent_map(places, X, Y, smoother).density >= fenced.floor * (1 - 1e-12))


@pytest.mark.parametrize("kernel", ["gaussian", "triweight", "student"])
def test_second_derivatives_of_the_weights(kernel, centres):
    X, _ = centres
    kernel = density_kernel(kernel)
    Z, h = np.array([[0.1, -0.2], [0.3, 0.1]]), 1e-4
    _, second = basis_curvatures(Z, X, kernel)
    steps = h * np.eye(2)
    for m, a in enumerate(steps):
        for n, b in enumerate(steps):
            corners = [
                sign * basis_curvatures(Z + at, X, kernel)[0]
                for at, sign in ((a + b, 1), (a - b, -1), (b - a, -1), (-a - b, 1))
            ]
            assert_allclose(second[:, m, n], sum(corners) / (4 * h * h), atol=2e-6)


def test_roughness_is_a_metric_without_constants(centres):
    X, _ = centres
    M = roughness_metric(X, X[:15], density_kernel("gaussian"))
    assert_allclose(M @ np.ones(15), 0.0, atol=1e-10 * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > -1e-10 * np.abs(M).max()


def test_adapted_outputs_leave_no_slope(centres, rng):
    X, Y = centres
    kernel = density_kernel("gaussian")
    outputs = smooth_outputs(X, X[:6], Y, kernel, 0.0)
    found = reconstruction_error(
        X, X[:6], Y, outputs, LocalSmoother(kernel), Squared(), by_output=True
    )
    assert np.abs(found.by_output).max() < 1e-6
    rough, smooth = (smooth_outputs(X, X[:6], Y, kernel, s) for s in (0.0, 10.0))
    M = roughness_metric(X, X[:6], kernel)
    assert np.trace(smooth.T @ M @ smooth) < np.trace(rough.T @ M @ rough)


def test_outputs_survive_a_row_at_the_edge_of_all_kernels():
    # It lies in a gap that two landmarks barely reach across: its second derivatives, squared,
    # leave normal equations too little of the fit, and a share of them would draw all to zero.
    centres = np.concatenate([np.linspace(0, 1, 6), np.linspace(2.9998, 4, 6)])[:, None]
    t = np.append(np.concatenate([np.linspace(0, 1.5, 99), np.linspace(2.5, 4, 100)]), 1.99985)
    X, Y = t[:, None], np.column_stack([np.sin(t), 5 + np.cos(t)])
    kernel = density_kernel("triweight")
    b, second = basis_curvatures(X, centres, kernel)
    rough = np.sqrt(0.1 / len(X)) * second.reshape(-1, 12)
    assert np.abs(rough).max() > 1e5
    outputs = smooth_outputs(X, centres, Y, kernel, 0.1)
    whole, right = np.vstack([rough, b]), np.vstack([np.zeros((len(rough), 2)), Y])
    assert_allclose(b @ outputs, b @ np.linalg.lstsq(whole, right)[0], atol=1e-6)
    assert np.abs(b[:-1] @ outputs - Y[:-1]).max() < 0.3


def test_outputs_by_rows_are_those_of_the_normal_equations(centres):
    X, Y = centres
    kernel, n = density_kernel("gaussian"), 6
    for places in (X, X[:n]):
        ridge = 1e-10 * np.sum(basis_curvatures(X, X[:n], kernel)[0] ** 2) / n
        rough = np.sqrt(0.1 / len(places)), places
        by_rows = smooth_outputs_by_rows(X, X[:n], Y, kernel, rough, ridge)
        assert_allclose(by_rows, smooth_outputs(X, X[:n], Y, kernel, 0.1, places), rtol=1e-6)


def circle(rng, n=60):
    t = np.linspace(0, np.pi, n)
    return t, np.column_stack([np.cos(t), np.sin(t)]) + 0.05 * rng.normal(size=(n, 2))


@pytest.mark.parametrize("solver", [lbfgs, rprop])
def test_solvers_lower_the_error_and_return_the_best(solver, rng):
    t, Y = circle(rng)
    Y = Y - Y.mean(axis=0)
    objective = ManifoldObjective(
        Y, LocalSmoother(density_kernel("gaussian")), excluded=np.arange(60)[:, None]
    )
    X = 2 * t[:, None] + 0.01 * rng.normal(size=(60, 1))
    found = solver(objective, X, max_iter=40, tol=0.0)
    assert found.value < objective(X)[0]
    assert_allclose(found.value, objective(found.X)[0])
    assert_allclose(found.value, min(found.curve))
    boxed = solver(objective, np.clip(X, -1, 1), max_iter=10, tol=0.0, box=1.0)
    assert np.abs(boxed.X).max() <= 1.0


def test_stages_of_a_homotopy_unfold_from_small_to_large(rng):
    t, Y = circle(rng)
    objective = ManifoldObjective(Y - Y.mean(axis=0), LocalSmoother(density_kernel("gaussian")))
    X = 0.1 * t[:, None]
    stages = [{"extension": 0.1}, {"extension": 0.01}]

    def train(stages, **control):
        model = UnsupervisedKernelRegression(1, homotopy=stages, **control)
        start = Start("given", 0.0, X)
        return train_from_start([objective], start, check_settings(model), lambda **_: None, None)

    sizes = [np.sum(train(stages[:k], max_iter=30, tol=1e-3).X ** 2) for k in (1, 2)]
    assert sizes[1] > np.sum(X**2) - 1e-9
    assert len(train(stages, max_iter=5, tol=0.0).curve) > 10
    assert train(stages, max_iter=0).value == objective(X)[0]
    # A stage with iterations of its own runs even where none follow.
    boxed = train([{"box": 0.2, "max_iter": 5}], max_iter=0, tol=0.0)
    assert boxed.value < objective(X)[0]
    assert np.abs(boxed.X).max() <= 0.2


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("shape", ["ball", "cube"])
def test_tubes_shrink_the_extension_and_hold_every_row(shape, power, rng):
    t, Y = circle(rng)
    Y = Y - Y.mean(axis=0)
    smoother = LocalSmoother(density_kernel("gaussian"))
    objective = ManifoldObjective(Y, smoother, excluded=np.arange(60)[:, None])
    X = lbfgs(objective, 4 * t[:, None], max_iter=50, tol=1e-3).X
    loss = Epsilon(0.1, power=power, shape=shape)
    done = fit_tubes(objective, X, loss, max_iter=100)
    assert np.sum(done.X**2) < np.sum((X - X.mean(axis=0)) ** 2)
    assert done.value < (1e-6 if power == 2 else 1e-4)
    assert with_width(objective, X, loss) is loss
    R = objective.left_out_residuals(X)
    sizes = np.linalg.norm(R, axis=1) if shape == "ball" else np.abs(R)
    open_width = with_width(objective, X, Epsilon(power=power, shape=shape)).width
    assert_allclose(open_width, 0.7 * np.quantile(sizes, 0.95))


def test_fewest_neighbours_that_connect():
    # Points in pairs: the nearest is the other of the pair, the next leads to the pair beside. On
    # a line of equal steps the answer would depend on which of two equally near is the first.
    line = np.array([0.0, 1, 3, 4, 6, 7, 9, 10])[:, None]
    assert fewest_connecting_neighbors(neighbor_table(line, 5)[1]) == 1 + 1
    apart = np.concatenate([line, line + 1e3])
    assert fewest_connecting_neighbors(neighbor_table(apart, 7)[1]) is None


def test_clusters_have_no_spectral_starts_but_others(rng):
    Y = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + 1e3])
    names = [
        name for name, _ in find_embeddings(Y, 2, ("pca", "neighbors", "isomap", "lle"), rng, 2)
    ]
    assert names == ["pca", "neighbors"]


def test_every_start_has_unit_columns(rng):
    _, Y = circle(rng)
    names = ("pca", "neighbors", "isomap", "lle", "laplacian")
    found = dict(find_embeddings(Y, 1, names, rng, 1))
    assert {name.split("-")[0] for name in found} == set(names)
    for Z in found.values():
        assert_allclose(Z.std(axis=0), 1.0, rtol=1e-3)
        assert_allclose(Z.mean(axis=0), 0.0, atol=1e-4)


def test_neighbour_embedding_keeps_clusters_together(rng):
    Y = np.concatenate([rng.normal(size=(30, 5)) + 20 * k for k in range(3)])
    Z = neighbor_embedding(Y, 2, rng)
    squared = np.sum((Z[:, None] - Z) ** 2, axis=2) + 1e9 * np.eye(90)
    assert np.all(squared.argmin(axis=1) // 30 == np.arange(90) // 30)


def test_points_out_of_reach_of_all_centres_have_slopes_of_no_size():
    smoother = LocalSmoother(density_kernel("quartic"), 2, True, 1e-6)
    far = np.full((3, 2), 1e3)
    centres = np.random.default_rng(0).normal(size=(8, 2))
    found = smooth(smoother, far, centres, centres, jacobian=True)
    assert found.jacobian.shape == (3, 2, 2)
    assert not np.any(found.jacobian)


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("d", [3, 10, 20])
@pytest.mark.parametrize(("degree", "cross"), DEGREES)
@pytest.mark.parametrize("q", [1, 2, 3])
def test_compiled_search_ends_where_the_batch_does(q, degree, cross, d, gaps, rng, monkeypatch):
    X = rng.uniform(size=(FEW_CENTRES, q)) * np.array([5.0, 2.0, 1.0])[:q]
    Y = np.sin(X @ rng.normal(size=(q, d)))
    smoother = LocalSmoother(density_kernel("quartic"), degree, cross, 1e-3, 1e-3)
    found = map_of_rows(X, X, Y, smoother)
    targets = Y[:60] + 0.3 * rng.normal(size=(60, d))
    start = X[:60].copy()
    start[-1] = 1e3  # that no centre reaches
    weights = rng.uniform(size=targets.shape) * (rng.uniform(size=targets.shape) < 0.7)
    targets[weights == 0] = np.nan if gaps else 0.0
    settings = targets, weights if gaps else None, start, WHOLE_ROWS
    fast = found.search_rows(*settings)
    monkeypatch.setattr(KernelMap, "search_rows", lambda *args: None)
    slow = search_from(found, *settings)
    assert_allclose(fast.x, slow.x, atol=1e-6)
    # Ends of polynomials differ by what the search leaves, 1e-7 of the error.
    rtol = 1e-6 if degree else 1e-8
    assert_allclose(fast.error, slow.error, rtol=rtol, atol=1e-12)
    assert np.array_equal(fast.converged, slow.converged)


@pytest.mark.parametrize(("degree", "cross"), DEGREES)
@pytest.mark.parametrize("q", [1, 2, 3])
def test_weights_of_one_point_are_those_of_many(q, degree, cross, rng):
    n, shape = 30, (degree, cross, 1e-3, 0.0 if degree == 0 else 1e-2, False)
    X, place = rng.uniform(size=(n, q)), np.full((1, q), 0.4)
    near = np.flatnonzero(rng.uniform(size=n) < 0.6).astype(np.int32)
    m = len(near)
    K, H, lists = rng.uniform(size=m), rng.uniform(size=m), np.full((4, n + 8), np.nan)
    lists[1, :m], lists[2, :m], slopes = K, H, np.empty((q, n + 8))
    smoother = LocalSmoother(density_kernel("quartic"), *shape)
    reached = njit(lambda *args: fill_jets(*args))  # otherwise by loops alone
    reached(m, near, place, X, tuple(terms_of(smoother, q, n)), lists, slopes)
    b, expected = np.empty(m), np.empty((q, m))
    polynomial_weights(np.array([0, m], np.int32), near, K, H, place, X, shape, b, expected)
    assert_allclose(lists[3, :m], b, rtol=1e-9, atol=1e-12)
    assert_allclose(slopes[:, :m], expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("kernel", ["epanechnikov", "triweight"])
def test_compiled_search_knows_every_power(kernel, rng):
    X = 2 * rng.uniform(size=(FEW_CENTRES, 2))
    Y = np.c_[X, X[:, :1] ** 2]
    found = map_of_rows(X, X, Y, LocalSmoother(density_kernel(kernel), 1, True, 1e-3))
    ends = found.search_rows(found.images, None, X + 0.05, WHOLE_ROWS)
    assert_allclose(
        found.evaluate(ends.x).values[ends.converged], found.images[ends.converged], atol=1e-2
    )


@pytest.mark.parametrize("degree", [0, 1])
def test_a_row_without_a_finite_error_ends_at_its_start(degree, rng):
    X = 2 * rng.uniform(size=(FEW_CENTRES, 2))
    Y = np.c_[X, X[:, :1] ** 2]
    found = map_of_rows(X, X, Y, LocalSmoother(density_kernel("quartic"), degree, True, 1e-3))
    targets, start = found.images[:9].copy(), X[:9] + 0.05
    targets[4, 1] = np.nan
    ends = found.search_rows(targets, None, start, WHOLE_ROWS)
    assert_allclose(ends.x[4], start[4], rtol=0)
    assert not ends.converged[4]
    assert ends.converged[[3, 5]].all()


def test_batch_searches_where_there_is_little_to_do_or_everything_is_near(rng):
    X, Y = rng.normal(size=(FEW_CENTRES, 2)), rng.normal(size=(FEW_CENTRES, 3))
    few = map_of_rows(X[1:], X[1:], Y[1:], LocalSmoother(density_kernel("quartic")))
    everything = map_of_rows(X, X, Y, LocalSmoother(density_kernel("gaussian")))
    for found in (few, everything):
        assert found.search_rows(Y, None, X, WHOLE_ROWS) is None


@pytest.mark.parametrize("d", [7, 8, 9])
@pytest.mark.parametrize("degree", [0, 1])
def test_a_search_reads_tables_in_column_order(d, degree, rng, monkeypatch):
    monkeypatch.setattr(search, "FEW_CENTRES", 1)
    smoother = LocalSmoother(density_kernel("triweight"), degree, True, 1e-3)
    X, Y, targets = rng.normal(size=(60, 2)), rng.normal(size=(60, d)), rng.normal(size=(9, d))
    w, start = rng.uniform(0.1, 1.0, size=(9, d)), rng.normal(size=(9, 2))

    def ends(order):
        outputs, goals, weights = (np.array(A, order=order) for A in (Y, targets, w))
        the_map = KernelMap(X, outputs, smoother, 1e-6, X, outputs)
        plain = search.near_ends(the_map, goals, None, start, Search())
        return plain, search.near_ends(the_map, goals, weights, start, Search())

    for one, other in zip(ends("C"), ends("F"), strict=True):
        assert_allclose(other.x, one.x)
        assert_allclose(other.error, one.error)
