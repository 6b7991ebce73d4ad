"""Whitening, and principal and minor components of streams."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.decomposition import PCA

from isthmus.features import CandidPCA, MinorComponents, Whitening
from isthmus.features.components import minor
from isthmus.features.components.loops import plain_minor_rows
from isthmus.features.components.minor_loops import minor_rows
from isthmus.features.components.roots import (
    Level,
    exact_root,
    grown_level,
    summed_root,
    whiten_level,
)


def rows(rng, n=4000, variances=(5.0, 3.0, 1.5, 0.7, 0.2)):
    """Gaussian rows and the axes along which they have these variances."""
    d = len(variances)
    U = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.normal(size=(n, d)) * np.sqrt(variances) @ U + 3.0, U


def test_whitened_rows_have_unit_covariance_and_come_back(rng):
    X, _ = rows(rng, 300)
    model = Whitening().fit(X)
    Z = model.transform(X)
    assert_allclose(Z.T @ Z / 300, np.eye(5), atol=1e-10)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    assert_allclose(model.inverse_transform(Z), X, atol=1e-10)


def test_whitening_is_that_of_scikit_learn_up_to_its_divisor(rng):
    X, _ = rows(rng, 50)
    Z = Whitening(3).fit_transform(X)
    theirs = PCA(3, whiten=True, svd_solver="full").fit_transform(X) * np.sqrt(50 / 49)
    assert_allclose(np.abs(Z), np.abs(theirs), atol=1e-8)


def test_a_stream_of_blocks_is_whitened_as_all_rows(rng):
    X, _ = rows(rng, 300)
    X = X + 1e4
    whole, parts = Whitening().fit(X), Whitening()
    for block in np.split(X, [3, 7, 120]):
        parts.partial_fit(block)
    assert parts.n_samples_seen_ == 300
    assert_allclose(parts.explained_variance_, whole.explained_variance_, rtol=1e-8)
    assert_allclose(parts.transform(X), whole.transform(X), atol=1e-6)
    in_blocks = Whitening().fit(X[i : i + 50] for i in range(0, 300, 50))
    assert_allclose(in_blocks.transform(X), whole.transform(X), atol=1e-6)


def test_directions_without_variance_are_left_out(rng):
    X, _ = rows(rng, 60)
    copied = np.column_stack([X, X[:, :2] @ [1.0, 2.0]])
    assert Whitening().fit(copied).components_.shape == (5, 6)
    with pytest.raises(ValueError, match="rank of the rows"):
        Whitening(6).fit(copied)
    with pytest.raises(ValueError, match="no variance"):
        Whitening().fit(np.ones((4, 2)))


def test_lengths_are_eigenvalues_and_directions_eigenvectors(rng):
    X, U = rows(rng, 20_000)
    model = CandidPCA(3, max_iter=3).fit(X)
    assert_allclose(model.explained_variance_, [5.0, 3.0, 1.5], rtol=0.06)
    assert np.abs(np.sum(model.components_ * U[:3], axis=1)).min() > 0.995
    left = X - model.inverse_transform(model.transform(X))
    assert_allclose(np.mean(np.sum(left**2, axis=1)), 0.9, rtol=0.1)


def test_a_stream_of_principal_components_goes_on_where_it_was(rng):
    X, _ = rows(rng, 500)
    whole, parts = CandidPCA(2, max_iter=1).fit(X), CandidPCA(2)
    for block in np.split(X, [1, 17, 200]):
        parts.partial_fit(block)
    assert_allclose(parts.components_, whole.components_, atol=1e-12)
    assert parts.n_samples_seen_ == whole.n_samples_seen_ == 500


def test_a_rate_that_stays_follows_a_turn(rng):
    first = rng.normal(size=(3000, 2)) * [3.0, 0.3]
    turned = rng.normal(size=(3000, 2)) * [0.3, 3.0]
    model = CandidPCA(1, min_rate=0.005).partial_fit(first).partial_fit(turned)
    assert abs(model.components_[0, 1]) > 0.95
    still = CandidPCA(1).partial_fit(first).partial_fit(turned)
    assert abs(still.components_[0, 1]) < abs(model.components_[0, 1])


def test_exact_minor_components_are_the_last_principal_ones_of_all_rows(rng):
    X = rows(rng, 4000)[0] + 1e3
    whole = MinorComponents(2).fit(X)
    pca = PCA(svd_solver="full").fit(X)
    assert_allclose(whole.explained_variance_, pca.explained_variance_[:2:-1] * 3999 / 4000)
    assert_allclose(np.abs(np.sum(whole.components_ * pca.components_[:2:-1], axis=1)), 1)
    assert_allclose(whole.mean_, pca.mean_)
    parts = MinorComponents(2)
    for block in np.split(X, [1, 4, 30, 2000]):
        parts.partial_fit(block)
    assert parts.n_samples_seen_ == 4000
    assert_allclose(parts.components_, whole.components_, atol=1e-8)
    assert_allclose(parts.explained_variance_, whole.explained_variance_, rtol=1e-9)


def test_axes_that_wait_are_in_every_answer(rng):
    X, _ = rows(rng, 300)
    model = MinorComponents(2).partial_fit(X[:100])
    before = model.components_
    model.partial_fit(X[100:])
    kept = pickle.loads(pickle.dumps(model))
    whole = MinorComponents(2).fit(X)
    for found in (kept, model):
        assert_allclose(found.components_, whole.components_, atol=1e-10)
        assert_allclose(found.transform(X), whole.transform(X), atol=1e-10)
    assert np.abs(before - model.components_).max() > 1e-6
    kept.set_params(solver="online", max_iter=2).fit(X)
    assert kept.n_samples_seen_ == 600
    assert np.abs(kept.components_ - whole.components_).max() > 1e-6


def test_few_rows_leave_directions_without_variance(rng):
    X = rng.normal(size=(3, 5))
    model = MinorComponents(4).fit(X)
    assert_allclose(model.explained_variance_[:3], 0, atol=1e-12)
    assert_allclose(model.transform(X)[:, :3], 0, atol=1e-12)
    assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)


@pytest.mark.parametrize(("d", "exact"), [(4, True), (minor.MOST_COLUMNS + 1, False)])
def test_columns_decide_whether_components_are_exact(rng, d, exact):
    X = rng.normal(size=(20, d))
    model = MinorComponents(1, max_iter=3, random_state=0).fit(X)
    assert model.n_iter_ == (1 if exact else 3)
    assert MinorComponents(1, solver="exact").fit(X).n_iter_ == 1


def test_minor_components_are_the_least_eigenvectors(rng):
    X, U = rows(rng, 4000)
    model = MinorComponents(2, solver="online", max_iter=10, random_state=0).fit(X)
    assert np.abs(np.sum(model.components_ * U[[4, 3]], axis=1)).min() > 0.97
    assert_allclose(model.explained_variance_, [0.2, 0.7], atol=0.25)
    assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (4, 1), (6, 2), (40, 3), (7, 7), (300, 4)])
def test_minor_rows_in_few_passes_are_those_of_the_formulas(rng, d, k):
    X = rng.normal(size=(700, d)) * np.linspace(0.3, 2, d) @ rng.normal(size=(d, d)) + 3
    X[1] = X[0]  # nothing varies yet
    w = np.linalg.qr(rng.normal(size=(d, k)))[0].T.copy()
    first = np.zeros(d), w, w.copy(), np.zeros(d), np.zeros(1), np.zeros(2, dtype=np.int64)
    fast, slow = (tuple(part.copy() for part in first) for _ in range(2))
    for block in np.split(X, [1, 2, 3, 200]):
        minor_rows(block, *fast, 0.01)
        plain_minor_rows(block, *slow, 0.01)
        for one, other in zip(fast, slow, strict=True):
            assert_allclose(one, other, rtol=1e-9, atol=1e-10 * max(1, np.abs(other).max()))
    products = fast[1] @ fast[1].T
    assert_allclose(products, np.diag(np.diag(products)), atol=1e-13)


def test_many_columns_do_not_turn_minor_directions_row_by_row(rng):
    X = rng.normal(size=(3000, 300)) * np.append(0.1, np.ones(299))
    # At a rate of 0.01 it is 1.4 times the least.
    model = MinorComponents(1, solver="online", random_state=0).fit(X)
    assert np.var(X @ model.components_[0]) < 1.1 * 0.1**2


@pytest.mark.parametrize("factor", [1e-6, 1e6])
@pytest.mark.parametrize(
    "model",
    [CandidPCA(2), MinorComponents(2), MinorComponents(2, solver="online", random_state=0)],
    ids=["principal", "minor", "minor, online"],
)
def test_units_change_nothing(model, factor, rng):
    X, _ = rows(rng, 300)
    plain, scaled = (clone(model).fit(f * X) for f in (1.0, factor))
    assert_allclose(np.abs(scaled.components_), np.abs(plain.components_), atol=1e-6)
    assert_allclose(scaled.explained_variance_, factor**2 * plain.explained_variance_, rtol=1e-5)


def test_a_constant_column_gets_no_weight(rng):
    X = np.column_stack([rng.normal(size=(200, 2)), np.full(200, 7.0)])
    model = CandidPCA().fit(X)
    assert_allclose(model.components_[:2, 2], 0, atol=1e-12)
    assert np.isfinite(model.transform(X)).all()


def test_single_precision_stays(rng):
    X = rows(rng, 100)[0].astype(np.float32)
    online = MinorComponents(2, solver="online", random_state=0)
    for model in (Whitening(), CandidPCA(2), MinorComponents(2), online):
        assert model.fit_transform(X).dtype == np.float32


@pytest.mark.parametrize("offset", [0.0, 0.5, 1e3, 1e9])
@pytest.mark.parametrize("d", [3, 60])
def test_a_root_of_sums_is_that_of_a_decomposition(rng, offset, d):
    X = rng.normal(size=(4000, d)) * np.geomspace(1, 1e-2, d) + offset
    shift = X[0].copy()
    fast, slow = (
        whiten_level(Level(shift, way(X, shift)), rcond=1e-12, standardize=False)
        for way in (summed_root, exact_root)
    )
    assert_allclose(fast.mean, slow.mean, rtol=1e-12, atol=1e-13)
    assert_allclose(fast.s, slow.s, rtol=1e-11)


def test_no_squares_are_summed_where_they_cost_digits(rng):
    X = rng.normal(size=(500, 4))
    shift = X[0].copy()
    assert summed_root(X[:8], shift) is None  # few rows
    assert summed_root(X * [1, 1, 1, 0], shift * [1, 1, 1, 0]) is None  # a constant column
    near = X @ np.diag([1, 1, 1, 1e-5]) @ np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert summed_root(near, near[0].copy()) is None  # columns close to dependent
    X[np.arange(500) % 8 > 0] += 1e6  # of which a sample tells nothing
    assert summed_root(X, X[0].copy()) is None
    level = grown_level(None, X)
    assert_allclose(
        whiten_level(level, rcond=1e-12, standardize=False).s,
        np.linalg.svd(X - X.mean(axis=0), compute_uv=False) / np.sqrt(500),
        rtol=1e-9,
    )


def test_rows_in_memory_have_exact_minor_components_of_many_columns(rng):
    d = minor.MOST_COLUMNS + 10
    X = rng.normal(size=(3 * d, d)) * np.linspace(0.5, 2, d)
    model = MinorComponents(2).fit(X)
    least = np.linalg.eigvalsh(np.cov(X.T, bias=True))[:2]
    assert_allclose(model.explained_variance_, least, rtol=1e-10)
    assert_allclose(model.transform(X).var(axis=0), least, rtol=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n", [20, 3000])
@pytest.mark.parametrize("made", [np.asarray, np.ndarray.tolist, np.float32])
def test_minor_components_refuse_what_is_not_finite(made, n, bad):
    X = np.random.default_rng(0).normal(size=(n, 4))
    X[n // 2, 2] = bad
    model = MinorComponents(1)
    with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
        model.fit(made(X))
    assert not hasattr(model, "components_")
