"""The search of a twin process for the best output: minima, starts, borders, candidates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from isthmus.kernels import Delta, Gaussian, HistogramIntersection
from isthmus.structured import TwinGaussianProcess, TwinSearch
from isthmus.structured.twin.bridge import TwinSides, exact_bridge
from isthmus.structured.twin.landscape import Landscape, box_around
from isthmus.structured.twin.search import search_outputs

SIDES = TwinSides(Gaussian(1.0), Gaussian(0.7), 0.02, 0.05)


def fixed(**parameters):
    """A process with nothing left to choose."""
    settings = dict(zip(("x_kernel", "y_kernel", "alpha_x", "alpha_y"), SIDES, strict=True))
    return TwinGaussianProcess(**(settings | parameters))


def test_one_output_is_the_minimum_on_a_grid(rng):
    y = rng.uniform(size=80)
    X = (y + 0.3 * np.sin(2 * np.pi * y))[:, None]
    new = np.linspace(0.05, 0.95, 12)[:, None]
    model = TwinGaussianProcess(
        x_kernel=Gaussian(30.0),
        y_kernel=Gaussian(30.0),
        alpha_x=0.01,
        alpha_y=0.01,
        search=TwinSearch(n_init=5),
    ).fit(X, y)
    grid = np.linspace(model._box.low[0], model._box.high[0], 4001)[:, None]
    query = model._bridge_.query(new)
    table = query.table(Gaussian(30.0)(grid, y[:, None]), np.full(len(grid), 1.01))
    assert_allclose(model.predict(new), grid[table.argmin(axis=1), 0], atol=1e-3)


def test_order_of_training_pairs_does_not_matter(pairs, new, rng):
    X, Y = pairs
    order = rng.permutation(40)
    shuffled = fixed().fit(X[order], Y[order]).predict(new)
    assert_allclose(fixed().fit(X, Y).predict(new), shuffled, atol=1e-4)


def test_predictions_never_depend_on_the_rest_of_the_batch(pairs, new):
    model = fixed().fit(*pairs)
    alone = np.vstack([model.predict(x[None]) for x in new])
    assert_allclose(model.predict(new), alone, atol=1e-7)


def test_batched_solution_is_that_of_scipy(pairs, new):
    X, Y = pairs
    bridge = exact_bridge("kl", SIDES, X, Y)
    query = bridge.query(new)
    accurate = TwinSearch(n_init=1, tol=1e-7, max_iter=300)
    land = Landscape(SIDES.y_kernel, Y, 0.05, box_around(Y, 0.2))
    found = search_outputs(query, land, accurate)
    for i, x in enumerate(new):
        one = bridge.query(x[None])

        def value(y, one=one):
            g = SIDES.y_kernel.gram(y[None], Y)
            return one.criterion(g, np.array([1.05]), np.zeros(1, dtype=int)).value[0]

        box = box_around(Y, 0.2)
        bounds = list(zip(box.low, box.high, strict=True))
        slow = minimize(value, one.start[0], bounds=bounds, options={"ftol": 1e-14})
        assert found.values[i] <= slow.fun + 1e-8


def test_several_starts_find_the_better_of_two_answers(rng):
    angle = rng.uniform(0, 2 * np.pi, size=150)
    Y = np.column_stack([np.cos(angle), np.sin(angle)])
    X, new = Y[:, :1], np.linspace(-0.9, 0.9, 20)[:, None]
    settings = {"x_kernel": Gaussian(8.0), "y_kernel": Gaussian(4.0)}
    models = [fixed(**settings, search=TwinSearch(n_init=n)).fit(X, Y) for n in (1, 4)]
    one, many = (model.predict_details(new) for model in models)
    assert np.all(many.criterion <= one.criterion + 1e-9)
    assert np.abs(np.linalg.norm(many.outputs, axis=1) - 1).mean() < 0.1


def test_details_tell_unusual_inputs_and_borders(pairs):
    X, Y = pairs
    details = fixed().fit(X, Y).predict_details(np.array([[0.0, 0.0], [5.0, 5.0]]))
    assert details.input_variance[1] > 5 * details.input_variance[0]
    assert details.criterion.min() >= 0
    assert list(details.on_border) == [False, True]
    assert details.converged.all()


def test_a_constant_output_column_is_not_a_border(pairs, new):
    X, Y = pairs
    Y = np.column_stack([Y, np.ones(len(Y))])
    details = fixed().fit(X, Y).predict_details(new)
    assert not details.on_border.any()
    assert_allclose(details.outputs[:, -1], 1)


def test_words_are_searched_among_those_seen_or_given(pairs, new):
    X, _ = pairs
    words = ["high" if x > 0 else "low" for x in X[:, 0]]
    model = fixed(y_kernel=Delta()).fit(X, words)
    assert model.predict([[0.8, 0.0], [-0.8, 0.0]]).tolist() == ["high", "low"]
    assert model.score(X, words) > 0.9
    only = fixed(y_kernel=Delta(), candidates=["low"]).fit(X, words)
    assert set(only.predict(new)) == {"low"}


def test_vectors_can_be_searched_among_candidates(pairs, new):
    X, Y = pairs
    found = fixed(candidates=Y[:7]).fit(X, Y).predict(new)
    assert all(any(np.array_equal(z, y) for y in Y[:7]) for z in found)
    rough = fixed(y_kernel=HistogramIntersection(), candidates=Y**2).fit(X, Y**2)
    assert rough.predict(new).shape == (6, 3)


def test_too_few_steps_are_warned_of(pairs, new):
    with pytest.warns(ConvergenceWarning, match="have not converged"):
        fixed(search=TwinSearch(max_iter=1, tol=1e-12)).fit(*pairs).predict(new)
