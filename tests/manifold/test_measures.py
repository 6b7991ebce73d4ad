"""Measures of embeddings by ranks, and of manifolds by rows that they have not seen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import manifold as sklearn_manifold
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold

from isthmus.manifold import (
    SmoothPSOM,
    continuity,
    coranking_matrix,
    held_out_reconstruction,
    neighborhood_scores,
    trustworthiness,
)
from isthmus.manifold.measures import ranks as ranks_module


def slow_ranks(X):
    """Rank of every row among the neighbours of every other; ties by number, the row first."""
    D = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(D, -1.0)
    order = np.argsort(D, axis=1, kind="stable")
    R = np.empty_like(order)
    np.put_along_axis(R, order, np.arange(len(X))[None], axis=1)
    return R


def slow_scores(X, Z, K):
    """All measures, pair by pair."""
    n = len(X)
    rho, r = slow_ranks(X), slow_ranks(Z)
    off = ~np.eye(n, dtype=bool)
    Q = np.zeros((n - 1, n - 1), dtype=int)
    np.add.at(Q, (rho[off] - 1, r[off] - 1), 1)
    scale = 2 / (n * K * (2 * n - 3 * K - 1))
    T = 1 - scale * np.sum((rho - K)[(r <= K) & (rho > K)])
    C = 1 - scale * np.sum((r - K)[(rho <= K) & (r > K)])
    q = np.array([Q[:k, :k].sum() / (k * n) for k in range(1, n - 1)])
    k = np.arange(1, n - 1)
    R = ((n - 1) * q - k) / (n - 1 - k)
    return Q, T, C, q, R, np.sum(R / k) / np.sum(1 / k)


@pytest.fixture
def pair(rng):
    X = rng.normal(size=(83, 5))
    return X, X[:, :2] + 0.3 * rng.normal(size=(83, 2))


@pytest.mark.parametrize("K", [1, 5, 20])
def test_all_measures_are_the_slow_ones(pair, K):
    X, Z = pair
    Q, T, C, q, R, area = slow_scores(X, Z, K)
    assert_array_equal(coranking_matrix(X, Z), Q)
    found = neighborhood_scores(X, Z, n_neighbors=K)
    assert found.trustworthiness == pytest.approx(T, abs=1e-12)
    assert found.continuity == pytest.approx(C, abs=1e-12)
    assert_allclose(found.q_nx, q, atol=1e-12)
    assert_allclose(found.r_nx, R, atol=1e-12)
    assert found.area == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("K", [1, 5, 30])
def test_trustworthiness_is_scikit_learn_s(pair, K):
    X, Z = pair
    theirs = sklearn_manifold.trustworthiness(X, Z, n_neighbors=K)
    assert trustworthiness(X, Z, n_neighbors=K) == pytest.approx(theirs, abs=1e-12)
    other = sklearn_manifold.trustworthiness(Z, X, n_neighbors=K)
    assert continuity(X, Z, n_neighbors=K) == pytest.approx(other, abs=1e-12)


def test_nothing_lost_and_all_lost(rng):
    X = rng.normal(size=(200, 3))
    rotated = 7 * X @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + 100
    perfect = neighborhood_scores(X, rotated)
    assert perfect.trustworthiness == perfect.continuity == 1.0
    assert_allclose(perfect.r_nx, 1.0)
    chance = neighborhood_scores(X, rng.normal(size=(200, 2)))
    assert abs(chance.area) < 0.05
    assert chance.r_nx.min() > -0.2


def test_tables_of_pairs_add_up(pair):
    X, Z = pair
    Q = coranking_matrix(X, Z)
    assert_array_equal(Q.sum(axis=0), 83)
    assert_array_equal(Q.sum(axis=1), 83)
    assert_array_equal(coranking_matrix(Z, X), Q.T)


def test_duplicates_and_units(rng):
    X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)
    Z = X[:, :2]
    Q = slow_scores(X, Z, 5)[0]
    assert_array_equal(coranking_matrix(X, Z), Q)
    near, far = neighborhood_scores(X, Z), neighborhood_scores(1e6 * X + 1e8, 1e-9 * Z)
    assert near.area == pytest.approx(far.area, abs=1e-3)
    same = neighborhood_scores(np.ones((20, 2)), rng.normal(size=(20, 1)))
    assert np.isfinite(same.area)


def test_blocks_threads_and_some_of_the_rows(rng, monkeypatch):
    X = rng.normal(size=(400, 4))
    Z = X[:, :2]
    whole = neighborhood_scores(X, Z)

    monkeypatch.setattr(ranks_module, "BLOCK_KEYS", 37 * len(X))
    for found in (neighborhood_scores(X, Z), neighborhood_scores(X, Z, n_jobs=2)):
        assert found.area == whole.area
        assert found.trustworthiness == whole.trustworthiness
    some = neighborhood_scores(X, Z, max_rows=200, random_state=1)
    assert some.area == pytest.approx(whole.area, abs=0.03)
    assert some.area != whole.area


def test_what_cannot_be_compared_is_named(rng):
    X = rng.normal(size=(20, 3))
    with pytest.raises(ValueError, match="as many rows in Z as in X: expected 20, got 19"):
        neighborhood_scores(X, X[1:])
    with pytest.raises(ValueError, match=r"n_neighbors.* must be an int in \[1, 9\]"):
        trustworthiness(X, X, n_neighbors=10)
    with pytest.raises(ValueError, match="NaN"):
        coranking_matrix(X, np.full((20, 1), np.nan))
    with pytest.raises(TypeError, match="needs a model with reconstruct"):
        held_out_reconstruction(KFold(), X)


def test_held_out_rows(rng):
    X = rng.normal(size=(50, 3)) * [3.0, 1.0, 0.2]
    found = held_out_reconstruction(PCA(1), X, cv=KFold(5))
    for (train, test), lost in zip(KFold(5).split(X), found, strict=True):
        pca = PCA(1).fit(X[train])
        near = pca.inverse_transform(pca.transform(X[test]))
        mean = X[train].mean(axis=0)
        assert lost == pytest.approx(np.sum((near - X[test]) ** 2) / np.sum((X[test] - mean) ** 2))
    assert_allclose(held_out_reconstruction(PCA(3), X), 0.0, atol=1e-12)
    a = rng.uniform(0, np.pi, 80)
    arc = np.c_[np.cos(a), np.sin(a)]
    assert held_out_reconstruction(SmoothPSOM((8,), random_state=0), arc, cv=2).max() < 0.01
