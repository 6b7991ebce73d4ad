"""Regularised principal manifolds: limits, certificates, gradients, hard cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr
from sklearn.decomposition import PCA

from isthmus.datasets import make_half_circle, make_noisy_spiral
from isthmus.kernels import Delta, Gaussian, Matern, Polynomial
from isthmus.manifold import RegularizedPrincipalManifold
from isthmus.manifold.gtm.basis import lattice
from isthmus.manifold.regularized.basis import NodeBasis, make_sheet
from isthmus.manifold.regularized.learning import begin, joint_objective, joint_step, tube, two_step
from isthmus.manifold.regularized.objective import REGULARIZERS, Problem


@pytest.fixture
def basis():
    return NodeBasis(Gaussian(2.0), lattice((5, 4)), linear=True)


@pytest.fixture
def problem(rng, basis):
    Z = rng.uniform(-1, 1, size=(60, 2))
    Y = np.c_[Z, np.sin(2 * Z[:, 0]), Z[:, 0] * Z[:, 1]] + 0.05 * rng.normal(size=(60, 4))
    return lambda regularizer: Problem(Y - Y.mean(axis=0), basis, regularizer)


def test_radial_slopes_are_those_of_the_gradient(rng, basis):
    Z = rng.uniform(-1, 1, size=(7, 2))
    slow = np.moveaxis(basis.kernel.gradient(Z, basis.nodes), 2, 0)
    assert_allclose(basis.slopes(Z, basis.kernel.gram(Z, basis.nodes)), slow, atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), Polynomial(2, coef0=1.0), Matern(2.5)], ids=str)
def test_jacobian(kernel, rng, assert_gradient):
    nodes = lattice((4, 3))
    basis = NodeBasis(kernel.resolve(nodes), nodes, linear=True)
    W, d = rng.normal(size=(basis.size, 3)), rng.normal(size=3)
    z = rng.uniform(-0.9, 0.9, size=2)
    assert_gradient(
        lambda x: float(basis.combine(x[None], W, False)[0][0] @ d),
        lambda x: d @ basis.combine(x[None], W, True)[1][0],
        z,
        rng,
    )


def test_length_of_a_plane_is_its_slope(rng, basis):
    W = np.zeros((basis.size, 3))
    W[-2:] = V = rng.normal(size=(2, 3))
    assert np.vdot(W, basis.length_penalty() @ W) == pytest.approx(np.sum(V**2))


@pytest.mark.parametrize("regularizer", REGULARIZERS)
def test_weights_are_the_best_at_their_places(regularizer, problem, rng):
    problem = problem(regularizer)
    Z = rng.uniform(-1, 1, size=(60, 2))
    W = problem.best_weights(Z, 0.1)
    least = problem.value(Z, W, 0.1)
    for _ in range(10):
        step = rng.normal(size=W.shape)
        for size in (1e-3, 1e-2, 1e-1):
            assert problem.value(Z, W + size * step, 0.1) > least


@pytest.mark.parametrize("regularizer", ["kernel", "length"])
def test_gradient_of_the_joint_objective(regularizer, problem, rng, assert_gradient):
    problem = problem(regularizer)
    assert_gradient(
        lambda Z: joint_objective(problem, Z, 0.01)[0],
        lambda Z: joint_objective(problem, Z, 0.01)[1],
        rng.uniform(-0.8, 0.8, size=(60, 2)),
        rng,
    )


@pytest.mark.parametrize("regularizer", REGULARIZERS)
@pytest.mark.parametrize("step", [two_step, joint_step])
def test_no_step_raises_the_objective(step, regularizer, problem, rng):
    problem = problem(regularizer)
    state = begin(problem, rng.uniform(-1, 1, size=(60, 2)), 0.01)
    before = problem.value(state.latent, state.weights, 0.01)
    for _ in range(6):
        state = step(problem, state, 0.01)
        assert state.history[-1] <= before + 1e-9
        before = state.history[-1]


def test_tube_of_a_segment(rng):
    basis = NodeBasis(Gaussian(2.0), lattice((4,)), linear=True)
    W = np.zeros((basis.size, 3))
    W[-1] = [3.0, 0.0, 4.0]
    sheet = make_sheet(basis, W, np.linspace(-1, 1, 9)[:, None])
    assert tube(sheet, 0.02) == pytest.approx(np.log(5.0) + np.log(0.01))


def test_a_stiff_sheet_is_the_principal_plane(rng):
    Y = rng.normal(size=(80, 4)) * [3, 2, 0.5, 0.3]
    sheet = RegularizedPrincipalManifold(2, alpha=1e6, init="pca", tol=1e-8, max_iter=500).fit(Y)
    pca = PCA(2).fit(Y)
    assert_allclose(sheet.reconstruct(Y), pca.inverse_transform(pca.transform(Y)), atol=0.02)
    assert np.abs(sheet.weights_).max() < 1e-4


@pytest.mark.parametrize("regularizer", REGULARIZERS)
def test_follows_half_circle(regularizer):
    Y, angle = make_half_circle(120, noise=0.5, random_state=0)
    sheet = RegularizedPrincipalManifold(1, regularizer=regularizer).fit(Y)
    assert abs(spearmanr(sheet.embedding_[:, 0], angle)[0]) > 0.99
    assert np.mean(sheet.reconstruction_error(Y)) < 0.35
    radii = np.linalg.norm(sheet.inverse_transform(np.linspace(-0.9, 0.9, 50)[:, None]), axis=1)
    assert np.all(np.abs(radii - 10) < 0.6)


@pytest.mark.parametrize("solver", ["two-step", "joint"])
def test_follows_spiral(solver):
    Y, place = make_noisy_spiral(250, random_state=0)
    sheet = RegularizedPrincipalManifold(1, solver=solver).fit(Y)
    assert sheet.start_ != "pca"
    assert abs(spearmanr(sheet.embedding_[:, 0], place)[0]) > 0.99


def test_sparse_sheet_has_few_nodes():
    Y, _ = make_half_circle(120, noise=0.2, random_state=0)
    sheet = RegularizedPrincipalManifold(1, regularizer="sparse", alpha=0.01).fit(Y)
    used = np.any(sheet.weights_ != 0, axis=1)
    assert 0 < used.sum() < 0.7 * len(used)
    assert np.mean(sheet.reconstruction_error(Y)) < 1.0


def test_units_and_origin_do_not_matter():
    Y, _ = make_half_circle(60, noise=0.5, random_state=0)
    one = RegularizedPrincipalManifold(1).fit(Y)
    other = RegularizedPrincipalManifold(1).fit(1024.0 * Y + 4096.0)
    assert other.alpha_ == one.alpha_
    assert_allclose(other.embedding_, one.embedding_, atol=1e-5)


@pytest.mark.parametrize("shape", [(30, 1), (30, 2), (5, 3), (2, 2)])
@pytest.mark.filterwarnings("ignore:RegularizedPrincipalManifold has not settled")
def test_small_and_flat_data(shape, rng):
    Y = rng.normal(size=shape)
    sheet = RegularizedPrincipalManifold(2).fit(Y)
    assert np.isfinite(sheet.embedding_).all()
    assert np.mean(sheet.reconstruction_error(Y)) <= np.sum(Y.var(axis=0))
    if shape[1] == 2:  # as many dimensions as columns: nothing is lost
        assert np.mean(sheet.reconstruction_error(Y)) < 1e-2


def test_repeated_rows(rng):
    Y = np.repeat(rng.normal(size=(10, 3)), 6, axis=0)
    sheet = RegularizedPrincipalManifold(1).fit(Y)
    assert_allclose(sheet.embedding_[::6], sheet.embedding_[5::6], atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": Delta()}, "a kernel of vectors with a gradient"),
        ({"n_nodes": (4, 4, 4)}, "one for each latent axis"),
        ({"init": np.zeros((20, 3))}, "places of 2 columns"),
        ({"init": np.zeros((7, 2))}, "as rows"),
        ({"regularizer": "smooth"}, "regularizer"),
        ({"n_components": 30}, "grows exponentially"),
    ],
)
def test_bad_parameters(parameters, message, rng):
    with pytest.raises((ValueError, TypeError, MemoryError), match=message):
        RegularizedPrincipalManifold(**parameters).fit(rng.normal(size=(20, 3)))


def test_equal_rows_are_refused():
    with pytest.raises(ValueError, match="needs rows that differ"):
        RegularizedPrincipalManifold(1).fit(np.ones((10, 2)))


def test_completes_rows():
    Y, _ = make_half_circle(120, noise=0.2, random_state=0)
    sheet = RegularizedPrincipalManifold(1).fit(Y)
    whole = sheet.complete([[6.0, np.nan]])
    assert whole[0, 0] == 6.0
    assert abs(whole[0, 1] - 8.0) < 0.5
