"""Pre-images within limits, and near where one is."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares
from sklearn.exceptions import ConvergenceWarning

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian, Polynomial
from isthmus.kernels.points import squared_distances
from isthmus.preimage import ConstrainedPreimage, GradientPreimage
from isthmus.preimage.vectors.constrained import coordinate_model, image_model


@pytest.fixture
def pca(points):
    return KernelPCA(5, kernel=Gaussian(5.0)).fit(points)


@pytest.fixture
def queries(pca):
    return 0.5 * (pca.coordinates_[:8] + pca.coordinates_[8:16])


def on_circle(Z):
    return 0.5 + 0.4 * (Z - 0.5) / np.linalg.norm(Z - 0.5, axis=1, keepdims=True)


@pytest.mark.parametrize("kernel", [Gaussian(3.0), Polynomial(2)], ids=repr)
def test_jacobian_of_the_coordinates(kernel, points, rng, assert_gradient):
    pca = KernelPCA(4, kernel=kernel).fit(points[:20])
    model, w = coordinate_model(pca), rng.normal(size=(3, 4))
    assert_gradient(
        lambda Z: np.sum(w * model(Z)[0]),
        lambda Z: np.einsum("mr,mrd->md", w, model(Z)[1]),
        np.array(points[20:23]),
        rng,
    )
    assert_allclose(model(points[:5])[0], pca.transform(points[:5]), atol=1e-12)


def test_solutions_in_a_box_are_those_of_scipy(pca, queries, points):
    box, lam = (0.3, 0.6), 0.05
    start = np.clip(points[:8], *box)
    found = ConstrainedPreimage(box, proximity=lam).fit(points, pca).solve(queries, points[:8])
    for beta, z0, z in zip(queries, start, found, strict=True):

        def residual(z, beta=beta, z0=z0):
            return np.r_[pca.transform(z[None])[0] - beta, np.sqrt(lam) * (z - z0)]

        theirs = least_squares(residual, z0, bounds=box, xtol=1e-12, ftol=1e-12, gtol=1e-12)
        assert np.sum(residual(z) ** 2) <= 2 * theirs.cost + 1e-8
        assert_allclose(z, theirs.x, atol=1e-3)


def test_strong_proximity_stays_and_none_solves_the_plain_problem(pca, queries, points):
    start = points[:8]
    stay = ConstrainedPreimage(proximity=1e9).fit(points, pca).solve(queries, start)
    assert_allclose(stay, start, atol=1e-6)
    solver = ConstrainedPreimage().fit(points, pca)
    weak = ConstrainedPreimage(proximity=1e-12).fit(points, pca)
    assert_allclose(weak.solve(queries), solver.solve(queries), atol=1e-4)


def test_a_projection_on_a_box_gives_what_the_box_gives(pca, queries, points):
    box = ConstrainedPreimage((0.3, 0.6), n_init=1).fit(points, pca).solve(queries)
    projected = ConstrainedPreimage(lambda Z: np.clip(Z, 0.3, 0.6), n_init=1)
    assert_allclose(projected.fit(points, pca).solve(queries), box, atol=1e-4)


def test_nothing_on_a_circle_is_nearer_than_the_solution(pca, queries, points):
    solver = ConstrainedPreimage(on_circle, n_init=8).fit(points, pca)
    found = solver.solve(queries)
    assert_allclose(np.linalg.norm(found - 0.5, axis=1), 0.4)
    angle = np.linspace(0, 2 * np.pi, 2000)
    ring = 0.5 + 0.4 * np.column_stack([np.cos(angle), np.sin(angle)])
    C = pca.transform(ring)
    best = [np.min(np.sum((C - beta) ** 2, axis=1)) for beta in queries]
    assert np.all(solver.objective(queries, found) <= np.array(best) + 1e-8)


def test_the_objective_falls_along_a_path_to_the_plain_solution(pca, points):
    start, goal = points[0], pca.transform(points[1:2])
    solver = ConstrainedPreimage(proximity=0.5).fit(points, pca)
    way = solver.path(goal, start, n_steps=200)
    assert_allclose(way[0], start)
    values = solver.objective(np.repeat(goal, len(way), axis=0), way)
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < 1e-3 * values[0]
    # A stronger pull makes smaller steps.
    strong = ConstrainedPreimage(proximity=50.0).fit(points, pca).path(goal, start, n_steps=3)
    assert np.linalg.norm(strong[1] - start) < np.linalg.norm(way[1] - start)


def test_automatic_proximity_moves_without_leaping(pca, queries, points):
    solver = ConstrainedPreimage(proximity="auto").fit(points, pca)
    plain = ConstrainedPreimage().fit(points, pca)
    start = points[:8]
    near, far = (s.solve(queries, start) for s in (solver, plain))
    assert (
        np.linalg.norm(near - start, axis=1) <= np.linalg.norm(far - start, axis=1) + 1e-6
    ).all()
    assert solver.objective(queries, near).sum() < solver.objective(queries, start).sum()


def test_stopping_early_warns(pca, queries, points):
    solver = ConstrainedPreimage(max_iter=1).fit(points, pca)
    with pytest.warns(ConvergenceWarning, match="16 of 16 problems did not converge in 1"):
        solver.solve(queries)


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        ((1.0, 0.0), r"needs low < high for every entry. Got 1 and 0 for entry 0"),
        (([0.0, 2.0], [1.0, 1.0]), "Got 2 and 1 for entry 1"),
        (([0.0] * 3, [1.0] * 3), "of numbers or of 2 bounds each"),
        ("box", "'constraint' parameter of ConstrainedPreimage must be a callable, a pair"),
        (lambda Z: Z[:, :1], r"must return rows of the same shape, here \(1, 2\)"),
    ],
)
def test_bad_constraints_are_named(pca, points, constraint, message):
    with pytest.raises(ValueError, match=message):
        ConstrainedPreimage(constraint).fit(points, pca)


def test_bad_starts_are_named(pca, queries, points):
    solver = ConstrainedPreimage().fit(points, pca)
    with pytest.raises(ValueError, match="finds vectors of 2 entries"):
        solver.solve(queries, np.zeros(3))
    with pytest.raises(ValueError, match="rows of start as of coordinates: expected 8, got 2"):
        solver.solve(queries, points[:2])
    with pytest.raises(ValueError, match="'proximity' parameter"):
        ConstrainedPreimage(proximity=-1.0).fit(points, pca)


def test_whole_images_are_least_squares_too(points, rng, assert_gradient):
    pca = KernelPCA(4, kernel=Gaussian(3.0)).fit(points)
    beta = 0.7 * pca.coordinates_[:5]
    model = image_model(pca)
    z = rng.uniform(size=(5, 2))
    residual = model(z)[0] - np.column_stack([beta, np.zeros(5)])
    expected = squared_distances(pca, z, beta)
    assert_allclose(np.sum(residual**2, axis=1), expected, atol=1e-12)

    def value(row):
        return float(np.sum((model(row[None])[0][0] - np.append(beta[0], 0.0)) ** 2))

    def gradient(row):
        c, J = model(row[None])
        return 2 * (c[0] - np.append(beta[0], 0.0)) @ J[0]

    assert_gradient(value, gradient, z[0], rng)
    solver = ConstrainedPreimage((-9.0, 9.0), criterion="full").fit(points, pca)
    unbounded = GradientPreimage("full").fit(points, pca)
    ours, theirs = solver.solve(beta), unbounded.solve(beta)
    assert np.all(solver.objective(beta, ours) <= unbounded.objective(beta, theirs) + 1e-6)
