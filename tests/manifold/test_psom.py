"""Maps through grid nodes: exactness, derivatives, both directions, recall, bad input."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from isthmus.linalg.lane_memory import address, zero_rows
from isthmus.manifold import PSOM, grid_points
from isthmus.manifold.projection import Search, search_from
from isthmus.manifold.psom.grid import BASES, make_grid, node_axis
from isthmus.manifold.psom.map import GridMap, map_jets, map_values
from isthmus.manifold.psom.map_loops import axis_tables, fill_jets, map_rows, take_windows
from isthmus.structured import DependencyEstimator

BOX = [(0.0, 1.5), (0.2, 1.8)]


def hand(angles):
    a, b = angles.T
    return np.c_[np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)]


def arm(n=8, basis="chebyshev", **parameters):
    """A planar arm with two joints, as components (two angles, hand)."""
    angles = grid_points((n, n), bounds=BOX, basis=basis)
    nodes = np.c_[angles, hand(angles)]
    return PSOM(nodes, grid=(n, n), bounds=BOX, basis=basis, **parameters).fit()


@pytest.fixture
def postures():
    low, high = np.array(BOX).T
    return low + (high - low) * np.random.default_rng(1).uniform(0.02, 0.98, size=(40, 2))


@pytest.mark.parametrize("basis", BASES)
def test_passes_through_its_nodes(basis):
    grid = make_grid("test", (5, 4, 3), bounds=None, basis=basis)
    W = np.random.default_rng(0).normal(size=(5, 4, 3, 2))
    model = PSOM(W, grid=(5, 4, 3), basis=basis).fit()
    assert_allclose(model.inverse_transform(grid.points), W.reshape(-1, 2), atol=1e-12)
    assert_allclose(model.transform(W.reshape(-1, 2)), grid.points, atol=1e-12)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("n", [3, 8, 15])
def test_polynomials_and_their_slopes_are_exact_up_to_the_degree(basis, n):
    axis = node_axis(n, -0.5, 2.0, basis)
    x = np.linspace(-0.5, 2.0, 31)
    p = np.polynomial.Polynomial(np.random.default_rng(n).normal(size=n))
    ell = axis.basis(x)
    scale = abs(p(x)).max()
    assert_allclose(ell @ p(axis.nodes), p(x), atol=1e-11 * scale)
    assert_allclose(ell.sum(axis=1), 1.0, atol=1e-11)
    slopes = p.deriv()(x)
    assert_allclose(
        ell @ axis.differentiation @ p(axis.nodes), slopes, atol=1e-11 * abs(slopes).max() * n
    )


def test_contraction_of_axes_is_the_plain_sum_over_all_nodes():
    rng = np.random.default_rng(0)
    grid = make_grid("test", (4, 5, 3), bounds=[(0, 1), (-1, 2), (3, 4)], basis="chebyshev")
    W = rng.normal(size=(*grid.shape, 2))
    points = grid.low + (grid.high - grid.low) * rng.uniform(size=(9, 3))
    slow = np.zeros((9, 2))
    for g in np.ndindex(grid.shape):
        product = np.ones(9)
        for axis, i, x in zip(grid.axes, g, points.T, strict=True):
            for j, node in enumerate(axis.nodes):
                if j != i:
                    product *= (x - node) / (axis.nodes[i] - node)
        slow += product[:, None] * W[g]
    assert_allclose(map_values(grid, W, points), slow, atol=1e-12)
    assert_allclose(grid.basis_matrix(points) @ W.reshape(-1, 2), slow, atol=1e-12)


@pytest.mark.parametrize("local", [None, 3])
def test_jacobian_is_the_slope_of_the_map(local):
    rng = np.random.default_rng(0)
    grid = make_grid("test", (6, 5), bounds=None, basis="chebyshev")
    W = rng.normal(size=(6, 5, 3))
    x = rng.uniform(-0.9, 0.9, size=(20, 2))
    d = rng.normal(size=2)
    slope = map_jets(grid, W, x, local=local)[1] @ d
    steps = np.array([1e-2, 1e-3])
    wrong = []
    for t in steps:
        # A step must not leave the window of its point.
        moved = map_values(grid, W, x + t * 1e-2 * d, local=local)
        here = map_values(grid, W, x, local=local)
        wrong.append(np.median(abs(moved - here - t * 1e-2 * slope)))
    assert np.log10(wrong[0] / wrong[1]) > 1.9


@pytest.mark.parametrize("basis", BASES)
def test_window_of_all_nodes_is_the_full_map(basis):
    rng = np.random.default_rng(0)
    grid = make_grid("test", (5, 5), bounds=None, basis=basis)
    W = rng.normal(size=(5, 5, 2))
    x = rng.uniform(-1, 1, size=(30, 2))
    for full, local in zip(map_jets(grid, W, x), map_jets(grid, W, x, local=5), strict=True):
        assert_allclose(local, full, atol=1e-11)


def test_stretching_an_axis_with_its_nodes_changes_nothing():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(6, 4, 2))
    x = rng.uniform(size=(10, 2))
    unit = PSOM(W, bounds=(0, 1)).fit().inverse_transform(x)
    moved = PSOM(W, bounds=[(-3, 7), (5, 5.5)]).fit()
    assert_allclose(moved.inverse_transform(x * [10, 0.5] + [-3, 5]), unit, atol=1e-11)


def test_chebyshev_nodes_do_not_ring_where_regular_ones_do():
    x = np.linspace(-1, 1, 401)[:, None]
    worst = {}
    for basis in ("lagrange", "chebyshev"):
        nodes = 1 / (1 + 25 * grid_points((13,), basis=basis) ** 2)
        model = PSOM(nodes, grid=(13,), basis=basis).fit()
        worst[basis] = abs(model.inverse_transform(x) - 1 / (1 + 25 * x**2)).max()
    assert worst["chebyshev"] < 0.1 < 1 < worst["lagrange"]


def test_legendre_nodes_have_the_smaller_mean_and_chebyshev_nodes_the_smaller_largest_error():
    x = np.linspace(-1, 1, 2001)[:, None]
    wrong = {}
    for basis in ("chebyshev", "legendre"):
        model = PSOM(np.cos(6 * grid_points((9,), basis=basis)), basis=basis).fit()
        wrong[basis] = abs(model.inverse_transform(x) - np.cos(6 * x))
    assert wrong["legendre"].mean() < wrong["chebyshev"].mean()
    assert wrong["legendre"].max() > wrong["chebyshev"].max()


def test_projection_of_an_image_is_its_latent_point(postures):
    model = arm()
    assert_allclose(model.transform(model.inverse_transform(postures)), postures, atol=1e-7)
    assert_allclose(
        model.reconstruct(model.inverse_transform(postures)),
        model.inverse_transform(postures),
        atol=1e-7,
    )


@pytest.mark.parametrize(
    ("shape", "local"), [((4,), None), ((3, 4), None), ((3, 2, 3), None), ((6,), 3), ((5, 4), 3)]
)
def test_compiled_search_ends_where_the_batch_does(shape, local, monkeypatch):
    rng = np.random.default_rng(0)
    q = len(shape)
    places = grid_points(shape)
    nodes = np.c_[places, np.sin(places @ rng.normal(size=(q, 5)))]
    psom = PSOM(nodes, grid=shape, local=local).fit()
    # Images of places in the box and of its nodes, others beside the map, and far away.
    X = np.vstack([psom.inverse_transform(rng.uniform(-1, 1, size=(90, q))), nodes])
    X = np.vstack([X, X + 0.1 * rng.normal(size=X.shape), 5 * X[:3]])
    gaps = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    for targets in (X, gaps, X[:1]):
        found = psom.project(targets)
        monkeypatch.setattr("isthmus.manifold.psom.map.SMALL_MAP", 0)
        expected = psom.project(targets)
        monkeypatch.undo()
        assert_allclose(found.error, expected.error, rtol=1e-7, atol=1e-13)
        assert found.converged.mean() >= expected.converged.mean() - 0.01
        alike = np.abs(found.latent - expected.latent).max(axis=1) < 1e-4
        assert alike.mean() > 0.97  # places of equal errors aside


@pytest.mark.parametrize("small", [0, 2**14])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_row_without_a_finite_error_ends_at_its_start(small, bad, monkeypatch):
    monkeypatch.setattr("isthmus.manifold.psom.map.SMALL_MAP", small)
    rng = np.random.default_rng(0)
    grid = make_grid("test", (4, 5), bounds=None, basis="lagrange")
    found = GridMap(grid, rng.normal(size=(4, 5, 3)))
    targets, start = rng.normal(size=(60, 3)), rng.uniform(-0.9, 0.9, size=(60, 2))
    lost = np.arange(60) % 4 == 1  # after other rows and before them
    spoilt = targets.copy()
    spoilt[lost, 1] = bad
    with np.errstate(all="ignore"):
        ends = search_from(found, spoilt, None, start, Search())
    assert_array_equal(ends.x[lost], start[lost])
    assert not ends.converged[lost].any()
    assert not np.isfinite(ends.error[lost]).any()
    others = search_from(found, targets, None, start, Search())
    assert_allclose(ends.x[~lost], others.x[~lost], atol=1e-8)
    assert_array_equal(ends.converged[~lost], others.converged[~lost])


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_compiled_search_reads_weights_of_any_kind(dtype, order):
    rng = np.random.default_rng(0)
    grid = make_grid("test", (4, 5), bounds=None, basis="lagrange")
    W = np.array(10 * rng.normal(size=(4, 5, 3)), dtype=dtype, order=order)
    targets = W.reshape(-1, 3).astype(np.float64)
    found = GridMap(grid, W).search_rows(targets, None, grid.points, Search())
    assert_allclose(found.error, 0.0, atol=1e-20)


@pytest.mark.parametrize(("shape", "local"), [((5,), None), ((4, 3, 5), None), ((7, 6), 3)])
def test_compiled_values_and_slopes_are_those_of_the_formula(shape, local):
    rng = np.random.default_rng(1)
    grid = make_grid("test", shape, bounds=(-3.0, 40.0), basis="chebyshev")
    W = rng.normal(size=(*shape, 3))
    points = rng.uniform(-3, 40, size=(8, len(shape)))
    points[0] = grid.points[1]  # a node, and the corners of the box
    points[1], points[2] = grid.low, grid.high
    tables = axis_tables(grid, local)
    rows = map_rows(tables, 3)
    memory = zero_rows(rows.end)
    scale = np.abs(W).max()
    for some in (points, points[::-1]):  # a lane keeps its window for as long as it is the one
        memory[rows.x : rows.x + len(shape)] = some.T
        take_windows(memory, rows, W.ravel(), *tables)
        fill_jets(address(memory), rows, address(W), address(tables.scale))
        values, jacobian = map_jets(grid, W, some, local=local)
        jets = memory[rows.jets : rows.end].reshape(len(shape) + 1, rows.stride, 8)[:, :3]
        assert_allclose(jets[0].T, values, atol=1e-12 * scale)
        assert_allclose(jets[1:].T, jacobian, atol=1e-11 * scale)


def test_products_that_could_vanish_are_left_to_the_batch():
    close = make_grid("test", [np.r_[0.0, 1e-10, 1.0]], bounds=None, basis="lagrange")
    assert axis_tables(close, None) is None
    many = make_grid("test", (40,), bounds=None, basis="chebyshev")
    assert axis_tables(many, None) is None
    assert axis_tables(many, 3) is not None


def test_one_model_answers_every_direction(postures):
    model = arm(n=10)
    truth = np.c_[postures, hand(postures)]
    for known in ([0, 1], [2, 3], [0, 2]):
        asked = np.full_like(truth, np.nan)
        asked[:, known] = truth[:, known]
        found, error = model.complete(asked, return_error=True)
        assert np.array_equal(found[:, known], truth[:, known])
        assert error.max() < 1e-12
        assert_allclose(model.inverse_transform(found[:, :2])[:, known], truth[:, known], atol=1e-5)
    forward = model.complete(np.c_[postures, np.full((40, 2), np.nan)])
    assert_allclose(forward[:, 2:], hand(postures), atol=1e-6)


def test_rows_may_know_different_components(postures):
    model = arm(n=10)
    truth = np.c_[postures, hand(postures)]
    mixed = truth.copy()
    mixed[::2, :2] = np.nan
    mixed[1::2, 2:] = np.nan
    alone = np.empty_like(truth)
    alone[::2], alone[1::2] = model.complete(mixed[::2]), model.complete(mixed[1::2])
    assert_allclose(model.complete(mixed), alone, atol=1e-9)


def test_target_out_of_reach_gets_the_nearest_point_and_a_flag():
    model = arm(n=10)
    asked = np.array(
        [[np.nan, np.nan, 5.0, 5.0], [np.nan, np.nan, *hand(np.array([[0.5, 1.0]]))[0]]]
    )
    found = model.project(asked)
    assert found.reached.tolist() == [False, True]
    assert found.error[0] > 16
    assert found.error[1] < 1e-12
    dense = grid_points((300, 300), bounds=BOX)
    nearest = np.sum((model.inverse_transform(dense)[:, 2:] - 5) ** 2, axis=1).min()
    assert found.error[0] <= nearest + 1e-9
    filled, error = model.complete(asked, return_error=True)
    assert_allclose(error, found.error)
    assert np.array_equal(filled[0, 2:], [5.0, 5.0])


def test_latent_points_stay_in_the_domain():
    model = arm()
    far = np.random.default_rng(0).normal(scale=20, size=(30, 4))
    found = model.transform(far)
    assert np.all(found >= model.grid_.low)
    assert np.all(found <= model.grid_.high)


def test_heavier_component_is_met_better():
    model = arm()
    asked = np.array([[0.3, 1.0, 1.5, 0.2]])
    light = model.project(asked, weights=[1, 1, 1, 1]).values[0]
    heavy = model.project(asked, weights=[1e-4, 1e-4, 1, 1]).values[0]
    assert np.linalg.norm(heavy[2:] - asked[0, 2:]) < np.linalg.norm(light[2:] - asked[0, 2:])


def three_joints(n=7):
    """A redundant planar arm; the last component is a cost, the distance to a rest posture."""
    box = (-0.2, 1.4)
    q = grid_points((n,) * 3, bounds=box, basis="chebyshev")
    angles = np.cumsum(q, axis=1)
    tip = np.c_[np.cos(angles).sum(axis=1), np.sin(angles).sum(axis=1)]
    cost = np.sum((q - 0.6) ** 2, axis=1)
    return PSOM(np.c_[tip, q, cost], grid=(n,) * 3, bounds=box, basis="chebyshev").fit()


def test_redundant_arm_moves_little_from_its_start():
    model = three_joints()
    start = np.array([[0.3, 0.6, 0.5]])
    goal = np.full((1, 6), np.nan)
    goal[:, :2] = model.inverse_transform(start)[:, :2] + 0.05
    near = model.project(goal, start=start)
    far = model.project(goal, start=[[1.2, 0.0, 0.9]])
    assert near.reached.all()
    assert far.reached.all()
    assert np.linalg.norm(near.latent - start) < np.linalg.norm(far.latent - start)


def test_cost_component_with_a_small_weight_picks_the_cheap_solution():
    model = three_joints()
    goal = np.full((1, 6), np.nan)
    goal[:, :2] = model.inverse_transform([[0.2, 0.9, 0.3]])[:, :2]
    plain = model.project(goal, start=[[0.2, 0.9, 0.3]])
    goal[:, 5] = 0.0
    cheap = model.project(goal, weights=[1, 1, 1, 1, 1, 1e-3], start=[[0.2, 0.9, 0.3]])
    assert cheap.values[0, 5] < plain.values[0, 5] - 0.01
    assert np.linalg.norm(cheap.values[0, :2] - goal[0, :2]) < 0.01


def test_path_is_followed_without_jumps():
    model = three_joints()
    t = np.linspace(0, 1, 15)[:, None]
    joints = np.array([0.2, 0.9, 0.3]) + t * np.array([0.4, -0.3, 0.5])
    goal = np.full((15, 6), np.nan)
    goal[:, :2] = model.inverse_transform(joints)[:, :2]
    found = model.project(goal, start="previous")
    assert found.reached.all()
    assert np.abs(np.diff(found.latent, axis=0)).max() < 0.2


def test_local_map_recalls_with_the_error_of_what_it_returns(postures):
    model = arm(n=9, local=3)
    asked = np.full((40, 4), np.nan)
    asked[:, 2:] = hand(postures)
    found = model.project(asked)
    images = model.inverse_transform(found.latent)
    assert_allclose(np.sum((images[:, 2:] - asked[:, 2:]) ** 2, axis=1), found.error, atol=1e-12)
    assert np.median(found.error) < 1e-12


def test_rows_of_fit_are_nodes_where_none_are_given():
    nodes = np.random.default_rng(0).normal(size=(12, 3))
    model = PSOM(grid=(3, 4)).fit(nodes)
    assert_allclose(model.weights_, nodes.reshape(3, 4, 3))
    assert_allclose(model.transform(nodes), model.embedding_, atol=1e-12)
    curve = PSOM().fit(nodes[:5])
    assert curve.embedding_.shape == (5, 1)


def test_given_axes_are_used_as_they_are():
    axes = [np.array([0.0, 0.1, 1.0]), np.array([2.0, 3.0])]
    points = grid_points(axes)
    model = PSOM(points, grid=axes).fit()
    assert_allclose(model.inverse_transform([[0.7, 2.2]]), [[0.7, 2.2]], atol=1e-14)
    chebyshev = node_axis(6, 0.0, 4.0, "chebyshev").nodes
    model = PSOM(grid_points([chebyshev]), grid=[chebyshev], basis="chebyshev").fit()
    assert_allclose([model.grid_.low[0], model.grid_.high[0]], [0, 4], atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"nodes": np.zeros((6, 2)), "grid": (2, 4)},
            r"expected shape \(2, 4, 'd'\) or \(8, 'd'\)",
        ),
        ({"nodes": np.zeros((3, 3, 2)), "grid": (9, 1)}, "at least 2 nodes per axis"),
        ({"nodes": np.zeros((3, 2)), "grid": [[0, 2, 1]]}, "increasing nodes"),
        ({"nodes": np.full((3, 2), np.nan)}, "NaN"),
        ({"nodes": np.zeros((3, 2)), "basis": "fourier"}, "'lagrange', 'chebyshev', 'legendre'"),
        ({"nodes": np.zeros((3, 2)), "bounds": (1, 0)}, "low < high"),
        ({"nodes": np.zeros((3, 2)), "bounds": [(0, 1), (0, 1)]}, "each of its 1 axes"),
        ({"nodes": np.zeros((3, 2)), "grid": [[0, 1, 2]], "bounds": (0, 1)}, "must hold its nodes"),
        (
            {"nodes": np.eye(4), "grid": [[0, 1, 2, 5]], "basis": "chebyshev"},
            "nodes that basis='chebyshev'",
        ),
        ({"nodes": np.zeros((3, 2)), "local": 1}, r"an int in \[2, inf\)"),
        ({"nodes": None}, "needs its nodes"),
        ({"nodes": "x"}, "'nodes' parameter of PSOM must be .* Got 'x'"),
        ({"nodes": np.zeros((3, 2)), "bounds": "x"}, "'bounds' parameter of PSOM .* Got 'x'"),
        ({"nodes": np.zeros((3, 2)), "grid": "x"}, "'grid' parameter of PSOM must .* Got 'x'"),
        ({"nodes": np.zeros((3, 2)), "grid": ["x"]}, r"'grid' parameter of PSOM .* Got \['x'\]"),
        ({"nodes": np.full((3, 2), 1e160)}, "values of at most .* in nodes: .* rescale"),
    ],
)
def test_bad_input_is_named_and_nothing_is_left_fitted(parameters, message):
    model = PSOM(**parameters)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit()
    assert not hasattr(model, "weights_")
    assert not hasattr(model, "n_features_in_")


def test_a_window_of_two_nodes_warns_of_nothing_on_a_node():
    nodes = np.random.default_rng(0).normal(size=(3, 3, 2))
    model = PSOM(nodes, local=2).fit()
    assert_allclose(model.inverse_transform(model.embedding_), nodes.reshape(9, 2))
    assert np.isfinite(model.transform(np.random.default_rng(1).normal(size=(20, 2)))).all()


def test_a_refit_that_fails_leaves_the_former_fit():
    rows = np.random.default_rng(0).normal(size=(6, 3))
    model = PSOM(grid=(2, 3)).fit(rows)
    with pytest.raises(ValueError, match="needs nodes that match its grid"):
        model.fit(rows[:5, :2])
    assert model.n_features_in_ == 3
    assert_allclose(model.reconstruct(rows), rows, atol=1e-9)


def test_single_precision_comes_back_in_single_precision():
    model = arm()
    rows = model.weights_.reshape(-1, 4)[:5].astype(np.float32)
    latent = model.transform(rows)
    holes = np.where(np.arange(4) < 2, rows, np.float32(np.nan))
    found = latent, model.inverse_transform(latent), model.reconstruct(rows), model.complete(holes)
    assert {part.dtype for part in found} == {np.dtype(np.float32)}
    assert np.array_equal(found[3][:, :2], rows[:, :2])
    assert_allclose(found[3], rows, atol=1e-5)
    assert model.jacobian(latent).dtype == np.float32
    assert model.transform(rows.astype(float)).dtype == np.float64


def test_bad_queries_are_named():
    model = arm()
    with pytest.raises(ValueError, match="non-negative, of shape"):
        model.project(np.zeros((2, 4)), weights=[1, -1, 0, 0])
    with pytest.raises(ValueError, match="2 latent dimensions"):
        model.inverse_transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="as many starts as rows: expected 2, got 1"):
        model.project(np.zeros((2, 4)), start=[[1.0, 1.0]])
    with pytest.raises(ValueError, match="'previous' or an array"):
        model.project(np.zeros((2, 4)), start="best")
    with pytest.raises(ValueError, match="contains NaN"):
        model.transform(np.full((1, 4), np.nan))
    with pytest.raises(ValueError, match=r"nodes of 4 components. Got X with 3"):
        clone(model).fit(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="in row 1 instead"):
        clone(model).set_params(outside="raise").fit().inverse_transform([[1, 1], [9, 9]])


def test_outside_the_domain_the_border_answers_unless_asked_otherwise():
    model = arm()
    border = model.inverse_transform([[1.5, 1.0]])
    assert_allclose(model.inverse_transform([[2.5, 1.0]]), border)
    wild = clone(model).set_params(outside="extrapolate").fit()
    assert not np.allclose(wild.inverse_transform([[2.5, 1.0]]), border)


def test_serves_as_output_features_and_pre_image():
    rng = np.random.default_rng(0)
    model = arm()
    X = rng.uniform(size=(80, 2))
    Y = model.inverse_transform(np.array(BOX)[:, 0] + X * np.diff(BOX, axis=1).T)
    bridge = DependencyEstimator(y_features=clone(model)).fit(X[:60], Y[:60])
    assert bridge.score(X[60:], Y[60:]) > 0.999
    as_input = DependencyEstimator(x_features=clone(model)).fit(Y[:60], X[:60])
    assert as_input.score(Y[60:], X[60:]) > 0.99


def test_a_model_is_the_same_before_and_after_it_was_asked():
    model = PSOM().fit(np.linspace(0.0, 1.0, 5)[:, None] * np.ones(2))
    before = pickle.dumps(model)
    model.transform(np.array([[0.3, 0.4]]))
    assert pickle.dumps(model) == before
