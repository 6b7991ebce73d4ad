"""A floor of the latent density: a barrier that training does not cross."""

import numpy as np
import pytest

from isthmus.manifold import UnsupervisedKernelRegression
from isthmus.manifold.ukr.barrier import descend_above, draw_together
from isthmus.manifold.ukr.density import latent_densities, log_barrier
from isthmus.manifold.ukr.descent import lbfgs, rprop
from isthmus.manifold.ukr.objective import ManifoldObjective
from isthmus.smoothers import density_kernel
from isthmus.smoothers.local_polynomial import LocalSmoother


@pytest.fixture
def arc(rng):
    t = np.linspace(0, np.pi, 60)
    return 10 * np.column_stack([np.cos(t), np.sin(t)]) + 0.25 * rng.normal(size=(60, 2))


def problem(Y, kernel="quartic", **settings):
    Y = Y - Y.mean(axis=0)
    own = np.arange(len(Y))[:, None]
    return ManifoldObjective(Y, LocalSmoother(density_kernel(kernel)), excluded=own, **settings)


def densities(X, kernel="quartic"):
    return latent_densities(X, X, density_kernel(kernel))


def test_behind_the_barrier_is_infinity():
    value, slope = log_barrier(0.3)(np.array([0.5, 0.3]))
    assert value == np.inf
    assert np.all(slope == 0)
    value, slope = log_barrier(0.3)(np.array([0.5, 1.3]))
    assert value == pytest.approx(-np.log(0.2))
    assert slope == pytest.approx([-5.0, -1.0])


def test_places_are_drawn_together_until_they_are_allowed(arc, rng):
    X = 30 * rng.normal(size=(60, 1)) + 100.0
    found = draw_together(problem(arc), X, 0.5)
    assert densities(found).min() > 0.5
    assert found.mean() == pytest.approx(X.mean())
    small = 0.01 * X
    assert draw_together(problem(arc), small, 0.5) is not None
    landmarks = problem(arc, outputs=arc[:9])
    both = np.vstack([X, 30 * rng.normal(size=(9, 1))])
    found = draw_together(landmarks, both, 0.5)
    assert latent_densities(found[:60], found[60:], density_kernel("quartic")).min() > 0.5


@pytest.mark.parametrize("solver", ["rprop", "lbfgs"])
@pytest.mark.parametrize("kernel", ["quartic", "gaussian"])
def test_training_stays_above_the_floor_and_ends_near_it(solver, kernel, arc):
    X = 0.1 * np.linspace(-1, 1, 60)[:, None]
    task = problem(arc, kernel)
    values = []
    for floor in (0.5, 0.2, 0.1):
        done = descend_above(task, X, floor, method=solver, max_iter=100, tol=0.0)
        lowest = densities(done.X, kernel).min()
        assert floor < lowest < 1.5 * floor
        X = done.X
        values.append(done.value)
    assert values == sorted(values, reverse=True)  # less constrained, less error


@pytest.mark.parametrize("minimise", [rprop, lbfgs])
def test_steps_into_a_wall_are_refused(minimise):
    seen = []

    def walled(x):
        seen.append(float(x[0, 0]))
        if x[0, 0] <= 1.0:
            return np.inf, np.zeros_like(x)
        # Falls towards the wall ever more steeply.
        return float(np.sum(x**2) - 0.01 * np.log(x[0, 0] - 1)), 2 * x - 0.01 / (x - 1)

    found = minimise(walled, np.array([[1.5]]), max_iter=200, tol=0.0)
    assert 1.0 < found.X[0, 0] < 1.02
    assert found.value == pytest.approx(walled(found.X)[0])
    assert min(seen) <= 1.0 or minimise is lbfgs  # the wall was met


def test_a_homotopy_of_floors_unrolls_the_arc_as_published(arc):
    N = len(arc)
    stages = [{"floor": k / N, "max_iter": 100} for k in (30, 16, 8, 4, 2)]
    start = 0.1 * (arc[:, :1] - arc[:, 0].mean()) / arc[:, 0].std()
    model = UnsupervisedKernelRegression(
        1, degree=0, validation="loo", solver="rprop", init=start, homotopy=stages, max_iter=200,
        tol=1e-2, random_state=0,
    ).fit(arc)  # fmt: skip
    order = np.argsort(np.argsort(model.embedding_[:, 0]))
    assert abs(np.corrcoef(order, np.arange(N))[0, 1]) > 0.97
    assert -model.score(arc) < 1.0


def test_a_floor_that_nothing_reaches_is_refused(arc):
    model = UnsupervisedKernelRegression(1, homotopy=[{"floor": 1.0}])
    with pytest.raises(ValueError, match=r"must be below 1, .* Got 1\.0 instead"):
        model.fit(arc)
    with pytest.raises(ValueError, match="Got the key 'flor'"):
        UnsupervisedKernelRegression(1, homotopy=[{"flor": 0.1}]).fit(arc)
