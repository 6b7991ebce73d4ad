"""Archetypes and convex factorisation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from isthmus.sparse import ConvexFactorization
from isthmus.sparse.factorization.convex_formulas import (
    furthest_rows,
    hull_candidates,
    multiplicative_convex,
    nearest_mixture,
    single_rows,
)


def mixtures(seed=0, n=300, k=4, d=6, noise=0.0, pure=True):
    """Shares of corners; ``pure`` puts the corners themselves among the rows."""
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(k, d))
    shares = rng.dirichlet(np.full(k, 0.5), size=n)
    if pure:
        shares[:k] = np.eye(k)
    return shares @ corners + noise * rng.normal(size=(n, d)), corners


def distance_to_nearest(A, B):
    return np.linalg.norm(A[:, None] - B, axis=2).min(axis=1)


def test_pure_rows_are_found_exactly():
    X, corners = mixtures()
    model = ConvexFactorization(4, tol=1e-12, random_state=0).fit(X)
    assert distance_to_nearest(corners, model.components_).max() < 1e-4
    assert model.reconstruction_err_ < 1e-3


@pytest.mark.parametrize("candidates", ["all", "hull"])
def test_archetypes_are_mixtures_and_on_the_hull(candidates):
    X, _ = mixtures(d=2, k=5, noise=0.2, pure=False)
    model = ConvexFactorization(3, candidates=candidates, random_state=0).fit(X)
    assert_allclose(model.mixing_ @ X, model.components_, atol=1e-10)
    assert_allclose(model.mixing_.sum(axis=1), 1)
    assert model.mixing_.data.min() > 0
    # A point of the hull's boundary: the largest of all signed distances to the facets is zero.
    facets = ConvexHull(X).equations
    outside = (model.components_ @ facets[:, :-1].T + facets[:, -1]).max(axis=1)
    assert_allclose(outside, 0, atol=1e-7)


@pytest.mark.parametrize("constraint", ["simplex", "cone"])
def test_objective_never_rises_and_codes_keep_the_constraint(constraint):
    X, _ = mixtures(noise=0.3)
    model = ConvexFactorization(4, constraint=constraint, random_state=0)
    codes = model.fit_transform(X)
    assert np.diff(model.objective_path_).max() <= 0
    assert codes.min() >= 0
    if constraint == "simplex":
        assert_allclose(codes.sum(axis=1), 1)
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(X - codes @ model.components_))
    assert model.reconstruction_err_**2 / 2 == pytest.approx(model.objective_path_[-1], rel=1e-6)
    assert_allclose(model.transform(X[:3]), codes[:3], atol=1e-10)


def test_free_sums_explain_no_less_than_shares():
    X, _ = mixtures(noise=0.3)
    errors = [
        ConvexFactorization(4, constraint=c, n_init=5, random_state=0).fit(X).reconstruction_err_
        for c in ("cone", "simplex")
    ]
    assert errors[0] <= errors[1]


@pytest.mark.parametrize("simplex", [True, False])
def test_nearest_mixture_has_no_row_that_would_lead_nearer(simplex, rng):
    X, target = rng.normal(size=(200, 5)) + 1, 4 * rng.normal(size=5)
    mixture, norms = single_rows(X, [0])[0], np.linalg.norm(X, axis=1)
    for _ in range(20):
        mixture = nearest_mixture(X, target, mixture, simplex=simplex, norms=norms)
    slopes = (X - (mixture.point if simplex else 0)) @ (mixture.point - target)
    assert slopes.min() > -1e-6
    assert mixture.weights.min() > 0
    assert_allclose(mixture.weights @ X[mixture.rows], mixture.point)


def test_published_updates_descend_and_do_not_beat_the_exact_ones():
    X, _ = mixtures(n=80, noise=0.1)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
        slow = ConvexFactorization(
            4, constraint="cone", solver="multiplicative", max_iter=300, tol=0.0, random_state=0
        ).fit(X)
    assert np.diff(slow.objective_path_).max() <= 1e-9
    exact = ConvexFactorization(4, constraint="cone", tol=1e-9, n_init=5, random_state=0).fit(X)
    assert exact.objective_path_[-1] <= slow.objective_path_[-1]


def test_published_update_is_the_formula(rng):
    X, G = rng.normal(size=(7, 3)), rng.uniform(0.5, 1, size=(7, 2))
    found = multiplicative_convex(X, 2, G, tol=0.0, max_iter=1, report=lambda *a: None)
    K = X @ X.T
    P, N = (abs(K) + K) / 2, (abs(K) - K) / 2
    codes = G + 0.2
    M = codes / G.sum(axis=0)
    expected = codes * np.sqrt((P @ M + codes @ M.T @ N @ M) / (N @ M + codes @ M.T @ P @ M))
    assert_allclose(found.codes, expected)


def test_corners_of_planes_are_corners_of_the_whole(rng):
    X = rng.normal(size=(400, 4))
    chosen = hull_candidates(X - X.mean(axis=0), 4)
    assert set(chosen) <= set(ConvexHull(X).vertices)
    line = np.outer(np.arange(5.0) - 2, [1.0, 2.0])
    assert_array_equal(hull_candidates(line, 2), [0, 4])


def test_furthest_rows_are_the_corners_of_a_square(rng):
    corners = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    X = np.vstack([4 + rng.uniform(size=(50, 2)), corners])
    assert set(furthest_rows(X, 4, 0)) == {50, 51, 52, 53}
    assert len(furthest_rows(X[:2], 2, 0)) == 2


def test_equal_rows_are_borne():
    model = ConvexFactorization(2, random_state=0).fit(np.ones((5, 3)))
    assert_allclose(model.components_, 1)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 7}, r"an int in \[1, 6\] \(the number of samples\)"),
        ({"constraint": "box"}, "'constraint' parameter of ConvexFactorization"),
        ({"solver": "multiplicative"}, "must be 'auto' with constraint='simplex'"),
        ({"candidates": "hull", "constraint": "cone"}, "must be 'all' with constraint='cone'"),
        ({"n_axes": 0}, "'n_axes' parameter"),
        ({"tol": -1.0}, "'tol' parameter"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_fitted(parameters, words):
    model = ConvexFactorization(**parameters)
    with pytest.raises(ValueError, match=words):
        model.fit(np.eye(6))
    assert not hasattr(model, "components_")


@pytest.mark.parametrize("load", [load_iris, load_wine, load_diabetes])
def test_cone_is_not_left_before_its_own_multiplicative_updates_get_lower(load):
    X = StandardScaler().fit_transform(load().data[:200])
    slow = ConvexFactorization(
        4, constraint="cone", solver="multiplicative", max_iter=1500, random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        slow.fit(X)
    for seed in range(3):
        model = ConvexFactorization(4, constraint="cone", random_state=seed).fit(X)
        assert model.reconstruction_err_ < slow.reconstruction_err_


def test_starts_on_a_cone_are_found_on_some_rows_and_on_all():
    rng = np.random.default_rng(0)
    X = rng.random((700, 4)) @ rng.random((4, 9)) + 0.05 * rng.normal(size=(700, 9))
    model = ConvexFactorization(4, constraint="cone", random_state=0).fit(X)
    few = ConvexFactorization(4, constraint="cone", random_state=0).fit(X[:400])
    # What few rows have found explains all of them hardly better than what all have found.
    error = np.linalg.norm(X - few.transform(X) @ few.components_)
    assert model.reconstruction_err_ < 1.01 * error
    assert_allclose(model.mixing_ @ X, model.components_, atol=1e-10)
