"""Embeddings of distances: gradients, limiting cases, certificates, both directions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import check_grad
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import Isomap

from isthmus.datasets import make_noisy_swiss_roll
from isthmus.manifold import (
    CurvilinearComponents,
    MaximumVarianceUnfolding,
    SammonMapping,
)
from isthmus.manifold.embedding.curvilinear import curvilinear_stress, unfold
from isthmus.manifold.embedding.graph import (
    classical_scaling,
    isomap_places,
    neighbor_pairs,
    path_lengths,
    principal_places,
)
from isthmus.manifold.embedding.loops import spanning_tree
from isthmus.manifold.embedding.sammon import sammon_stress
from isthmus.manifold.embedding.sweeps import boxes_of, curvilinear_sweep
from isthmus.manifold.embedding.unfolding import (
    augmented_lagrangian,
    dual_bound,
    exact_unfolding,
    incidence,
    unfold_variance,
    with_common_neighbors,
)
from isthmus.manifold.ukr.starts import find_embeddings, neighbor_table

CLASSES = (SammonMapping, CurvilinearComponents, MaximumVarianceUnfolding)


@pytest.fixture(scope="module")
def plane():
    rng = np.random.default_rng(0)
    flat = rng.uniform(-1, 1, size=(50, 2)) * [2.0, 1.0]
    return flat @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T, flat


# Pieces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [1, 2, 3])
def test_sammon_is_the_formula_and_its_gradient(q):
    rng = np.random.default_rng(q)
    Y, X = rng.normal(size=(12, 4)), rng.normal(size=(12, q))
    D, d = pdist(Y), pdist(X)
    assert_allclose(sammon_stress(X, cdist(Y, Y))[0], np.sum((D - d) ** 2 / D) / D.sum())
    error = check_grad(
        lambda x: sammon_stress(x.reshape(X.shape), cdist(Y, Y))[0],
        lambda x: sammon_stress(x.reshape(X.shape), cdist(Y, Y))[1].ravel(),
        X.ravel(),
    )
    assert error < 1e-6


def test_curvilinear_stress_is_the_formula_and_its_gradient():
    rng = np.random.default_rng(3)
    Y, X, reach = rng.normal(size=(10, 4)), rng.normal(size=(10, 2)), 1.3
    D, d = pdist(Y), pdist(X)
    assert_allclose(
        curvilinear_stress(X, cdist(Y, Y), reach)[0], np.sum((D - d) ** 2 * (d <= reach))
    )
    error = check_grad(  # no pair crosses the reach within a tiny step
        lambda x: curvilinear_stress(x.reshape(X.shape), cdist(Y, Y), reach)[0],
        lambda x: curvilinear_stress(x.reshape(X.shape), cdist(Y, Y), reach)[1].ravel(),
        X.ravel(),
    )
    assert error < 1e-5


@pytest.mark.parametrize(
    ("n", "q", "reach"), [(9, 2, 1.5), (70, 1, 0.3), (150, 2, 0.4), (32, 3, 9)]
)
def test_a_sweep_is_the_published_rule(n, q, reach):
    rng = np.random.default_rng(4)
    Y, X = rng.normal(size=(n, 3)), rng.normal(size=(n, q))
    X[1] = X[0]  # places that coincide stay
    D, at, slow = cdist(Y, Y), boxes_of(X, cdist(Y, Y)), X.copy()
    assert np.array_equal(at.places(), X)
    for _ in range(3):
        order = rng.permutation(n)
        for i in order:
            d = np.linalg.norm(slow - slow[i], axis=1)
            near = (d > 0) & (d <= reach)
            slow[near] += (0.3 * (D[i] - d) / np.maximum(d, 1e-300))[near, None] * (
                slow[near] - slow[i]
            )
        curvilinear_sweep(at, order, 0.3, reach)
        assert_allclose(at.places(), slow, rtol=1e-9, atol=1e-9)
        boxed = at.P.reshape(q, -1, 32)
        assert np.array_equal(np.nanmin(boxed, axis=2).T, at.low)
        assert np.array_equal(np.nanmax(boxed, axis=2).T, at.high)


def test_unfolding_does_not_move_a_perfect_start(plane):
    _, flat = plane
    X = unfold(flat, cdist(flat, flat), np.random.RandomState(0), max_iter=5, last=0.3)
    assert_allclose(X, flat, atol=1e-12)


@pytest.mark.parametrize("at_most", [False, True])
def test_gradient_of_the_lagrangian(at_most):
    rng = np.random.default_rng(5)
    Y, X = rng.normal(size=(10, 3)), rng.normal(size=(10, 4))
    pairs = neighbor_pairs(Y, 3)
    M = incidence(pairs, 10)
    squares = np.sum((M @ Y) ** 2, axis=1)
    w = np.abs(rng.normal(size=len(pairs)))
    error = check_grad(
        lambda x: augmented_lagrangian(x.reshape(X.shape), M, squares, w, 0.7, at_most=at_most)[0],
        lambda x: augmented_lagrangian(x.reshape(X.shape), M, squares, w, 0.7, at_most=at_most)[
            1
        ].ravel(),
        X.ravel(),
    )
    assert error < 1e-4


def test_pairs_with_common_neighbors_are_those_of_the_formula():
    pairs = neighbor_pairs(np.random.default_rng(6).normal(size=(15, 2)), 3)
    A = np.zeros((15, 15), dtype=int)
    A[tuple(pairs.T)] = 1
    A += A.T
    slow = np.argwhere(np.triu(A + A @ A > 0, k=1))
    assert {tuple(p) for p in with_common_neighbors(pairs, 15)} == {tuple(p) for p in slow}


def test_graph_hangs_together_and_paths_are_those_of_isomap():
    rng = np.random.default_rng(7)
    apart = np.vstack([rng.normal(size=(20, 2)), 100 + rng.normal(size=(20, 2))])
    assert np.all(np.isfinite(path_lengths(apart, neighbor_pairs(apart, 2))))
    Y = rng.uniform(size=(60, 2))
    ours = classical_scaling(path_lengths(Y, neighbor_pairs(Y, 8)), 2)
    peer = Isomap(n_neighbors=8, n_components=2).fit_transform(Y)
    assert_allclose(pdist(ours), pdist(peer), rtol=1e-3)


@pytest.mark.parametrize("n", [60, 500])
def test_isomap_is_that_of_scikit_learn_with_its_signs(n):
    Y = make_noisy_swiss_roll(n, random_state=0)[0]
    peer = Isomap(n_neighbors=10, n_components=2).fit_transform(Y)
    ours = isomap_places(Y, neighbor_table(Y, 10)[1], 2)
    assert_allclose(ours, peer, atol=1e-6 * np.abs(peer).max())


def test_isomap_of_a_straight_line_has_one_column():
    Y = np.linspace(0, 1, 500)[:, None] * np.ones(3)
    Z = isomap_places(Y, neighbor_table(Y, 4)[1], 3)
    assert_allclose(np.abs(np.diff(Z[:, 0])), np.sqrt(3) / 499, rtol=1e-6)
    assert not Z[:, 1:].any()
    assert not list(find_embeddings(Y, 2, ("isomap",), np.random.default_rng(0), 2))


def test_equal_rows_have_a_path_of_no_length():
    Y = np.repeat(np.random.default_rng(12).normal(size=(20, 2)), 2, axis=0)
    D = path_lengths(Y, neighbor_pairs(Y, 4))
    assert np.all(D[::2, 1::2].diagonal() == 0)
    assert np.all(np.isfinite(D))


def test_classical_scaling_of_straight_distances_is_pca(plane):
    X, _ = plane
    assert_allclose(pdist(classical_scaling(cdist(X, X), 2)), pdist(principal_places(X, 2)))


def test_the_tree_is_the_shortest():
    D = cdist(*[np.random.default_rng(9).normal(size=(40, 3))] * 2)
    tree = spanning_tree(D)
    assert_allclose(D[tree[:, 0], tree[:, 1]].sum(), minimum_spanning_tree(D).sum())
    assert connected_components(sparse.coo_array((np.ones(39), tree.T), shape=D.shape))[0] == 1


@pytest.mark.parametrize("data", ["ring", "noise"])  # equal eigenvalues, hardly different ones
def test_scaling_of_many_rows_is_that_of_the_whole_spectrum(data):
    rng = np.random.default_rng(10)
    t = 2 * np.pi * np.arange(400) / 400
    Y = np.column_stack([np.cos(t), np.sin(t)]) if data == "ring" else rng.normal(size=(400, 50))
    D = path_lengths(Y, neighbor_pairs(Y, 4))
    S = D**2 - np.mean(D**2, axis=0) - np.mean(D**2, axis=0)[:, None] + np.mean(D**2)
    values, V = np.linalg.eigh(-S / 2)
    whole = V[:, -2:] * np.sqrt(values[-2:])
    assert_allclose(pdist(classical_scaling(D, 2)), pdist(whole), atol=1e-8 * D.max())


# Certificates -------------------------------------------------------------------------------


def test_the_bound_meets_the_variance():
    # The optimum of a semidefinite program is where primal and dual meet.
    rng = np.random.default_rng(8)
    t = np.linspace(0, 4, 25)
    Y = np.column_stack([np.cos(t), np.sin(t)]) + 0.02 * rng.normal(size=(25, 2))
    pairs = neighbor_pairs(Y, 3)
    squares = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
    start = np.pad(Y, ((0, 0), (0, 4))) + 0.01 * rng.normal(size=(25, 6))
    found = unfold_variance(start, pairs, squares, at_most=True, max_iter=20_000, tol=1e-5)
    assert found.violation < 1e-5
    assert found.bound == pytest.approx(found.variance, rel=1e-3)
    # Distances that must not shrink leave less room.
    held = unfold_variance(start, pairs, squares, at_most=False, max_iter=3000, tol=1e-4)
    assert held.violation < 1e-2
    assert held.variance <= found.bound * (1 + 1e-3)


@pytest.mark.parametrize("at_most", [False, True])
def test_a_chain_is_pulled_straight(at_most):
    t = np.linspace(0, 5, 12)
    Y = np.column_stack([np.cos(t), np.sin(t)])
    pairs = np.column_stack([np.arange(11), np.arange(1, 12)])
    steps = np.linalg.norm(np.diff(Y, axis=0), axis=1)
    straight = np.concatenate([[0], np.cumsum(steps)])
    start = np.pad(Y, ((0, 0), (0, 2))) + 0.01 * np.random.default_rng(0).normal(size=(12, 4))
    found = unfold_variance(start, pairs, steps**2, at_most=at_most, max_iter=5000, tol=1e-5)
    assert found.variance == pytest.approx(12 * straight.var(), rel=1e-3)
    assert found.bound == pytest.approx(found.variance, rel=1e-2)


@pytest.mark.parametrize("n", [25, 60])
def test_an_interior_point_finds_what_factors_find(n):
    Y, _ = make_noisy_swiss_roll(n, noise=0.2, height=12, random_state=0)
    Y = (Y - Y.mean(axis=0)) / Y.std()
    pairs = neighbor_pairs(Y, 4)
    squares = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
    start = np.pad(Y, ((0, 0), (0, 4))) + 0.01 * np.random.default_rng(0).normal(size=(n, 7))
    slow = unfold_variance(start, pairs, squares, at_most=True, max_iter=20_000, tol=1e-4)
    fast = exact_unfolding(incidence(pairs, n), squares, max_iter=100, tol=1e-6)
    assert fast.n_iter < 40
    assert fast.violation <= 1e-6
    assert fast.variance <= fast.bound * (1 + 1e-9)
    assert fast.bound <= (1 + 1e-6) * fast.variance
    assert fast.variance == pytest.approx(slow.variance, rel=1e-3)
    # A gap of zero is out of reach of doubles: the best point found comes back.
    best = exact_unfolding(incidence(pairs, n), squares, max_iter=100, tol=0.0)
    assert best.variance == pytest.approx(fast.variance, rel=1e-5)


@pytest.mark.parametrize("angles", [False, True])
def test_equal_distances_are_kept_and_have_a_certificate(angles):
    Y, _ = make_noisy_swiss_roll(50, noise=0.2, height=12, random_state=0)
    Y = (Y - Y.mean(axis=0)) / Y.std()
    pairs = neighbor_pairs(Y, 4)
    if angles:
        pairs = with_common_neighbors(pairs, len(Y))
    squares = np.sum((Y[pairs[:, 0]] - Y[pairs[:, 1]]) ** 2, axis=1)
    found = exact_unfolding(
        incidence(pairs, len(Y)), squares, at_most=False, max_iter=100, tol=1e-4
    )
    X = found.factor
    kept = np.sum((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2, axis=1)
    assert_allclose(kept, squares, atol=1e-4 * squares.mean())
    assert found.bound == pytest.approx(found.variance, rel=2e-4)
    assert found.variance >= np.sum(Y**2) * (1 - 1e-4)  # the rows themselves are allowed
    start = np.pad(Y, ((0, 0), (0, 4))) + 0.01 * np.random.default_rng(0).normal(size=(50, 7))
    slow = unfold_variance(start, pairs, squares, at_most=False, max_iter=4000, tol=1e-4)
    assert slow.bound >= found.variance * (1 - 2e-4)


@pytest.mark.parametrize("constraint", ["at_most", "equal"])
def test_one_long_pair_between_two_clouds_blocks_nothing(constraint):
    rng = np.random.default_rng(0)
    Y = 0.1 * rng.normal(size=(40, 3)) + 10 * rng.integers(0, 2, (40, 1))
    model = MaximumVarianceUnfolding(2, constraint=constraint).fit(Y)
    assert model.bound_ == pytest.approx(model.variance_, rel=1e-3)


def test_rolls_have_a_certificate_and_stiff_ones_a_finite_bound():
    Y, _ = make_noisy_swiss_roll(200, noise=0.2, height=12, random_state=0)
    exact = MaximumVarianceUnfolding(2, random_state=0).fit(Y)
    assert exact.bound_ <= (1 + 1e-4) * exact.variance_
    held = MaximumVarianceUnfolding(2, constraint="equal", max_iter=5, random_state=0)
    with pytest.warns(ConvergenceWarning, match="has not settled"):
        held.fit(Y)
    assert exact.variance_ <= held.bound_ < np.inf


def test_the_bound_of_a_path_is_known():
    # Three points in a row at distance 1: pulled straight, with variance 2.
    pairs = np.array([[0, 1], [1, 2]])
    bound, _ = dual_bound(incidence(pairs, 3), np.ones(2), np.ones(2))
    assert bound == pytest.approx(2.0)
    bent = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0]])
    found = unfold_variance(bent, pairs, np.ones(2), at_most=True, max_iter=500, tol=1e-6)
    assert found.variance == pytest.approx(2.0, rel=1e-4)


def test_large_graphs_take_the_iterative_eigenvalue(monkeypatch):
    from isthmus.manifold.embedding import unfolding

    Y = np.random.default_rng(9).normal(size=(40, 2))
    pairs = neighbor_pairs(Y, 4)
    squares, w = np.ones(len(pairs)), np.ones(len(pairs))
    dense, _ = dual_bound(incidence(pairs, 40), squares, w)
    monkeypatch.setattr(unfolding, "DENSE_ROWS", 10)
    assert dual_bound(incidence(pairs, 40), squares, w)[0] == pytest.approx(dense, rel=1e-2)
    assert sparse.issparse(incidence(pairs, 40))


# Estimators ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", CLASSES)
def test_a_plane_is_kept(cls, plane):
    X, flat = plane
    model = cls(2, random_state=0).fit(X)
    slack = 0.01 if cls is SammonMapping else 0.3  # paths along the graph are longer
    assert np.mean(np.abs(pdist(model.embedding_) / pdist(flat) - 1)) < slack
    assert -model.score(X) < 0.02 * np.sum(X.var(axis=0))
    new = np.array([[0.3, 0.2], [-1.0, 0.4]]) @ np.linalg.lstsq(flat, X, rcond=None)[0]
    assert -model.score(new) < 0.02 * np.sum(X.var(axis=0))
    if cls is CurvilinearComponents:
        straight = cls(2, distance="euclidean", random_state=0).fit(X)
        assert np.mean(np.abs(pdist(straight.embedding_) / pdist(flat) - 1)) < 0.01
    back = model.inverse_transform(model.transform(X))
    assert_allclose(np.sum((back - X) ** 2, axis=1), model.reconstruction_error(X), atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [CurvilinearComponents(2, random_state=0), MaximumVarianceUnfolding(2, random_state=0)],
    ids=lambda m: type(m).__name__,
)
@pytest.mark.filterwarnings("ignore:MaximumVarianceUnfolding has not settled")
def test_a_roll_is_unrolled(model):
    Y, T = make_noisy_swiss_roll(300, noise=0.0, random_state=0)
    model.set_params(max_iter=100 if isinstance(model, CurvilinearComponents) else 2000).fit(Y)
    along = max(abs(spearmanr(z, T[:, 0])[0]) for z in model.embedding_.T)
    straight = max(abs(spearmanr(z, T[:, 0])[0]) for z in principal_places(Y, 2).T)
    assert along > 0.85
    assert along > straight + 0.3


def test_sammon_goes_below_its_starts():
    rng = np.random.default_rng(10)
    Y = rng.normal(size=(60, 6))
    Y = (Y - Y.mean(axis=0)) / np.sqrt(np.mean(np.sum((Y - Y.mean(axis=0)) ** 2, axis=1)))
    D = cdist(Y, Y)
    auto = SammonMapping(2).fit(Y)
    for name in ("pca", "isomap"):
        assert auto.stress_ <= SammonMapping(2, init=name).fit(Y).stress_ + 1e-9
    assert auto.stress_ < sammon_stress(principal_places(Y, 2), D)[0]
    assert auto.stress_ == pytest.approx(sammon_stress(auto.embedding_, D)[0], rel=1e-6)


@pytest.mark.parametrize("cls", CLASSES)
def test_repeated_rows_have_one_place(cls):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(30, 3))
    twice = cls(2, random_state=0).fit(np.vstack([X, X[::-1]]))
    assert_allclose(twice.embedding_[:30], twice.embedding_[30:][::-1])
    assert_allclose(twice.embedding_[:30], cls(2, random_state=0).fit(X).embedding_)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.filterwarnings("ignore:MaximumVarianceUnfolding has not settled")
def test_units_do_not_matter_and_places_have_those_of_the_data(cls):
    rng = np.random.default_rng(12)
    X = rng.normal(size=(40, 3))
    model, other = (cls(2, random_state=0).fit(a * X + b) for a, b in ((1, 0), (1000, 7)))
    assert_allclose(pdist(other.embedding_), 1000 * pdist(model.embedding_), rtol=1e-3, atol=1)


@pytest.mark.parametrize("cls", CLASSES)
def test_other_rows_go_to_the_map_of_the_landmarks(cls, plane):
    X, flat = plane
    model = cls(2, n_landmarks=40, random_state=0).fit(X)
    assert len(model.places_) <= 40
    assert model.embedding_.shape == (50, 2)
    assert abs(np.corrcoef(pdist(model.embedding_), pdist(flat))[0, 1]) > 0.97


@pytest.mark.parametrize("cls", CLASSES)
def test_more_components_than_columns(cls):
    X = np.random.default_rng(13).normal(size=(20, 1))
    model = cls(3, random_state=0).fit(X)
    assert model.embedding_.shape == (20, 3)
    assert np.all(np.isfinite(model.transform(X)))


@pytest.mark.parametrize("cls", CLASSES)
def test_completion(cls, plane):
    X, _ = plane
    model = cls(2, random_state=0).fit(X)
    gaps = X[:5].copy()
    gaps[:, 0] = np.nan
    filled = model.complete(gaps)
    assert_allclose(filled[:, 1:], X[:5, 1:])
    assert np.mean(np.abs(filled[:, 0] - X[:5, 0])) < 0.3 * X[:, 0].std()


@pytest.mark.parametrize("cls", CLASSES)
def test_bad_input(cls):
    X = np.random.default_rng(14).normal(size=(10, 2))
    with pytest.raises(ValueError, match="rows that differ"):
        cls().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="columns"):
        cls(2, init=np.zeros((10, 3))).fit(X)
    with pytest.raises(ValueError, match="places in init"):
        cls(2, init=np.zeros((9, 2))).fit(X)
    with pytest.raises(ValueError, match="init"):
        cls(2, init="umap").fit(X)
    with pytest.raises(ValueError, match="n_landmarks"):
        cls(2, n_landmarks=1).fit(X)
