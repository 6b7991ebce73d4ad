"""Reduced rank regression: the global minimum, all ranks at once, exact cross-validation."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from isthmus.blocks import merge
from isthmus.linalg.threads import threads_for
from isthmus.regression import ReducedRankRegression, SequentialStiefelRegression
from isthmus.regression.rank import choice, reduced_rank_formulas
from isthmus.regression.rank.choice import generalized_errors, ridge_left_out_errors
from isthmus.regression.rank.reduced_rank_formulas import (
    about_origin,
    factors,
    joint_moments,
    part_rows,
    rank_paths,
    scatter_of,
    scatter_of_rows,
    squared_errors,
)


@parametrize_with_checks(
    [
        ReducedRankRegression(),
        ReducedRankRegression(1, alpha=0.1, fit_intercept=False),
        ReducedRankRegression(alpha=[0.1, 1.0], cv="loo"),
    ]
)
def test_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def planted(seed=0, n=60, d=6, o=5, rank=2, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    F = rng.normal(size=(o, rank)) @ rng.normal(size=(rank, d))
    return X, X @ F.T + noise * rng.normal(size=(n, o)) - 2, F


def objective(F, X, Y, alpha):
    return np.sum((Y - X @ F.T) ** 2) + alpha * np.sum(F**2)


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_no_descent_from_random_starts_finds_a_better_map(rank, alpha):
    X, Y, _ = planted(n=25, d=4, o=3, rank=3, noise=1)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    ours = objective(ReducedRankRegression(rank, alpha=alpha).fit(X, Y).coef_, X, Y, alpha)
    rng = np.random.default_rng(1)

    def of_factors(z):
        A, B = z[: 3 * rank].reshape(3, rank), z[3 * rank :].reshape(rank, 4)
        return objective(A @ B, X, Y, alpha)

    found = [minimize(of_factors, rng.normal(size=7 * rank)).fun for _ in range(10)]
    assert ours <= min(found) * (1 + 1e-9)
    assert ours == pytest.approx(min(found), rel=1e-6)


@pytest.mark.parametrize("shape", [(40, 6, 4), (40, 4, 6), (10, 30, 4), (8, 30, 12)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_full_rank_is_ridge_regression(shape, fit_intercept):
    n, d, o = shape
    X, Y, _ = planted(n=n, d=d, o=o)
    ours = ReducedRankRegression(min(d, o), alpha=0.5, fit_intercept=fit_intercept).fit(X, Y)
    ridge = Ridge(0.5, fit_intercept=fit_intercept).fit(X, Y)
    assert_allclose(ours.coef_, ridge.coef_, atol=1e-9)
    assert_allclose(ours.intercept_, ridge.intercept_, atol=1e-9)
    assert_allclose(ours.predict(X), ridge.predict(X), atol=1e-9)


def test_full_rank_without_penalty_is_least_squares_also_on_collinear_inputs():
    X, Y, _ = planted(d=4, o=3)
    X = np.c_[X, X[:, :2] @ [[1.0, 2.0], [0.5, -1.0]]]
    ours = ReducedRankRegression(3, alpha=0.0).fit(X, Y)
    assert_allclose(ours.coef_, LinearRegression().fit(X, Y).coef_, atol=1e-7)


def test_rows_span_and_features_give_the_same_map():
    X, Y, _ = planted(n=20, d=19, o=4)
    wide = np.c_[X, np.zeros((20, 5))]
    tall = ReducedRankRegression(2, alpha=0.3).fit(X, Y).coef_
    assert_allclose(ReducedRankRegression(2, alpha=0.3).fit(wide, Y).coef_[:, :19], tall, atol=1e-9)


def test_a_large_penalty_shrinks_the_map_like_its_inverse():
    X, Y, _ = planted()
    norms = [
        np.linalg.norm(ReducedRankRegression(2, alpha=a).fit(X, Y).coef_) * a for a in (1e7, 1e8)
    ]
    assert norms[0] == pytest.approx(norms[1], rel=1e-3)


def test_factors_are_orthonormal_and_compose_the_map():
    X, Y, _ = planted()
    model = ReducedRankRegression(3).fit(X, Y)
    assert_allclose(model.V_.T @ model.V_, np.eye(3), atol=1e-12)
    assert_allclose(model.W_.T @ model.W_, np.eye(3), atol=1e-12)
    assert_allclose((model.V_ * model.s_) @ model.W_.T, model.coef_, atol=1e-12)
    assert (np.diff(model.s_) <= 0).all()
    assert_allclose(
        model.predict(X), X @ model.coef_.T + model.intercept_, atol=1e-12
    )  # both ways of prediction


@given(seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=30)
def test_rotating_inputs_and_outputs_rotates_the_map(seed):
    rng = np.random.default_rng(seed)
    X, Y, _ = planted(seed=seed)
    P, Q = np.linalg.qr(rng.normal(size=(6, 6)))[0], np.linalg.qr(rng.normal(size=(5, 5)))[0]
    plain = ReducedRankRegression(2, alpha=0.2).fit(X, Y).coef_
    turned = ReducedRankRegression(2, alpha=0.2).fit(X @ P.T, Y @ Q.T).coef_
    assert_allclose(turned, Q @ plain @ P.T, atol=1e-7)


def test_one_decomposition_holds_all_ranks():
    X, Y, _ = planted()
    full = ReducedRankRegression(5, alpha=0.4).fit(X, Y)
    for rank in range(1, 6):
        alone = ReducedRankRegression(rank, alpha=0.4).fit(X, Y)
        assert_allclose(full.at_rank(rank).coef_, alone.coef_, atol=1e-10)
        assert full.at_rank(rank).rank_ == rank
        error = np.sum((Y - alone.predict(X)) ** 2) / len(X)
        assert full.rank_path_[rank - 1] == pytest.approx(error)
    assert full.rank_ == 5
    assert (np.diff(full.rank_path_) <= 1e-12).all()


def test_one_spectrum_holds_all_penalties():
    X, Y, _ = planted()
    scatter = scatter_of(joint_moments(X, Y), 6)
    alphas = [0.0, 1e-3, 1.0, 100.0]
    for alpha, path in zip(alphas, rank_paths(scatter, alphas), strict=True):
        alone = next(rank_paths(scatter, [alpha]))
        assert_allclose(path.coef(2), alone.coef(2), atol=1e-10)
        assert_allclose(path.gain, alone.gain, rtol=1e-8)


@pytest.mark.parametrize("shape", [(15, 4, 3), (15, 3, 6), (12, 20, 4)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_leave_one_out_error_is_exact(shape, fit_intercept, weighted):
    n, d, o = shape
    X, Y, _ = planted(n=n, d=d, o=o, noise=1)
    weights = np.random.default_rng(2).uniform(0.2, 2, n) if weighted else None
    alphas = [0.3, 2.0]
    model = ReducedRankRegression(alpha=alphas, cv="loo", fit_intercept=fit_intercept)
    model.fit(X, Y, sample_weight=weights)
    slow = np.zeros((n, 2, model.cv_error_.shape[1]))
    for i, (_, test) in enumerate(LeaveOneOut().split(X)):
        left = np.ones(n) if weights is None else weights.copy()
        left[i] = max(left[i] - 1, 0)  # one copy of a row that counts more
        for a, alpha in enumerate(alphas):
            part = ReducedRankRegression(1, alpha=alpha, fit_intercept=fit_intercept)
            part.fit(X, Y, left)
            for r in range(slow.shape[2]):
                error = part.at_rank(r + 1).predict(X[test]) - Y[test]
                slow[i, a, r] = np.sum(error**2)
    assert_allclose(model.cv_error_, np.average(slow, axis=0, weights=weights), rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_left_out_error_of_full_rank_is_the_closed_form_of_all_penalties(fit_intercept, weighted):
    X, Y, _ = planted(n=15, d=4, o=4, noise=1)
    weights = np.random.default_rng(2).uniform(0.2, 3, 15) if weighted else None
    alphas = [0.3, 2.0]
    model = ReducedRankRegression(alpha=alphas, cv="loo", fit_intercept=fit_intercept)
    slow = model.fit(X, Y, weights).cv_error_[:, -1]
    if fit_intercept:
        X, Y = (A - np.average(A, axis=0, weights=weights) for A in (X, Y))
    fast = ridge_left_out_errors(X, Y, weights, alphas, fit_intercept=fit_intercept)
    assert_allclose(fast, slow, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "d", "o", "n_blocks"), [(1100, 40, 30, 3), (700, 50, 1, 2), (300, 5, 300, 3)]
)
@pytest.mark.parametrize("weighted", [True, False])
def test_left_out_errors_of_blocks_are_those_of_all_rows_on_any_threads(
    n, d, o, n_blocks, weighted, rng
):
    assert -(-n // max(choice.FEW_ROWS, choice.FEW_VALUES // (d + o))) == n_blocks
    X, Y = rng.normal(size=(n, d)), rng.normal(size=(n, o))
    w = rng.uniform(0.2, 3, n) if weighted else np.ones(n)
    alphas = np.logspace(-2, 3, 7)
    X, Y = (A - np.average(A, axis=0, weights=w) for A in (X, Y))
    B, T = np.sqrt(w)[:, None] * X, np.sqrt(w)[:, None] * Y
    slow = []
    for alpha in alphas:
        H = B @ np.linalg.solve(B.T @ B + alpha * np.eye(d), B.T)
        left = 1 - (np.diagonal(H) + w / w.sum()) / np.maximum(w, 1)
        slow.append(np.sum(((T - H @ T) / left[:, None]) ** 2) / w.sum())
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"), threads_for(0):
            weights = w if weighted else None
            found.append(ridge_left_out_errors(X, Y, weights, list(alphas), fit_intercept=True))
    assert_allclose(found[0], slow, rtol=1e-9)
    assert found[0].tolist() == found[1].tolist()


def test_moments_of_folds_are_summed_once_for_all_penalties(monkeypatch):
    X, Y, _ = planted(n=3000, d=30, o=20, noise=1)
    calls = []

    def counted(*args):
        calls.append(len(args[0]))
        return joint_moments(*args)

    monkeypatch.setattr(choice, "joint_moments", counted)
    model = ReducedRankRegression(cv=5).fit(X, Y)
    assert len(model.alphas_) > 1
    assert calls == [600] * 5


def test_generalised_error_is_the_left_out_one_with_mean_leverages():
    X, Y, _ = planted(n=40, d=5, o=3, noise=1)
    scatter = scatter_of(joint_moments(X, Y), 5)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    for alpha in (0.1, 5.0):
        H = X @ np.linalg.solve(X.T @ X + alpha * np.eye(5), X.T)
        expected = np.sum((Y - H @ Y) ** 2) / 40 / (1 - (np.trace(H) + 1) / 40) ** 2
        assert_allclose(generalized_errors(scatter, 40, [alpha]), [expected], rtol=1e-9)


@pytest.mark.parametrize("model", [ReducedRankRegression(), SequentialStiefelRegression(2)])
def test_the_units_of_the_inputs_do_not_matter(model):
    X, Y, _ = planted(n=60, d=8, o=4, noise=2)
    plain = model.fit(X, Y).predict(X)
    for unit in (1e-8, 1e8):
        assert_allclose(model.fit(unit * X, Y).predict(unit * X), plain, rtol=1e-6)


def test_a_penalty_is_found_where_inputs_are_many_and_alike():
    rng = np.random.default_rng(0)
    spectra = rng.normal(size=(3, 200)).cumsum(axis=1)
    shares = rng.random((90, 3))
    X = shares @ spectra + 0.3 * rng.normal(size=(90, 200))
    train, test = slice(60), slice(60, 90)
    score = ReducedRankRegression().fit(X[train], shares[train]).score(X[test], shares[test])
    ridge = RidgeCV(np.logspace(-3, 6, 30)).fit(X[train], shares[train])
    assert score > ridge.score(X[test], shares[test]) - 0.01


@pytest.mark.parametrize("cv", [3, KFold(3), KFold(4, shuffle=True, random_state=0)])
def test_fold_error_is_that_of_fits_without_the_fold(cv):
    X, Y, _ = planted(n=31)
    model = ReducedRankRegression(alpha=[0.1, 10.0], cv=cv).fit(X, Y)
    slow = np.zeros((2, 5))
    for train, test in (KFold(cv) if isinstance(cv, int) else cv).split(X):
        for a, alpha in enumerate([0.1, 10.0]):
            part = ReducedRankRegression(1, alpha=alpha).fit(X[train], Y[train])
            slow[a] += [
                np.sum((part.at_rank(r).predict(X[test]) - Y[test]) ** 2) for r in range(1, 6)
            ]
    assert_allclose(model.cv_error_, slow / 31, rtol=1e-9)
    best = np.unravel_index(np.argmin(slow), slow.shape)
    assert (model.alpha_, model.rank_) == ([0.1, 10.0][best[0]], best[1] + 1)


@pytest.mark.parametrize("cv", [5, "loo"])
def test_cross_validation_finds_the_planted_rank(cv):
    X, Y, _ = planted(n=200, d=10, o=8, rank=3)
    assert ReducedRankRegression("cv", cv=cv).fit(X, Y).rank_ == 3


def test_a_weight_of_two_is_a_row_twice():
    X, Y, _ = planted(n=20)
    weights = np.random.default_rng(0).integers(0, 3, 20)
    repeated = np.repeat(np.arange(20), weights)
    weighted = ReducedRankRegression(2, alpha=0.1).fit(X, Y, sample_weight=weights)
    twice = ReducedRankRegression(2, alpha=0.1).fit(X[repeated], Y[repeated])
    assert_allclose(weighted.coef_, twice.coef_, atol=1e-10)
    assert_allclose(weighted.intercept_, twice.intercept_, atol=1e-10)


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 59))
@settings(deadline=None, max_examples=30)
def test_moments_of_two_parts_merge_to_those_of_the_whole(seed, cut):
    X, Y, _ = planted(seed=seed)
    whole = joint_moments(X, Y)
    both = merge(joint_moments(X[cut:], Y[cut:]), joint_moments(X[:cut], Y[:cut]))
    assert_allclose(both.scatter, whole.scatter, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_sums_that_grow_in_place_are_those_of_merged_blocks(weighted, center, monkeypatch):
    monkeypatch.setattr(reduced_rank_formulas, "FEW_ROWS", 7)
    X, Y, _ = planted()
    X, Y = np.tile(X, (8, 1)), np.tile(Y, (8, 1))
    assert 3 * part_rows(*X.shape) <= len(X) + 2  # parts that threads may share
    X, Y = X + 100.0, Y - 50.0
    weights = np.arange(len(X)) % 4.0 if weighted else None
    moments = joint_moments(X, Y, weights)
    moments = moments if center else about_origin(moments)
    found, count, means = scatter_of_rows(X, Y, weights, center=center)
    for ours, slow in zip(found, scatter_of(moments, X.shape[1]), strict=True):
        assert_allclose(ours, slow, rtol=1e-9, atol=1e-7)
    assert count == moments.count
    assert_allclose(np.concatenate(means), moments.mean)


def test_full_rank_puts_its_spectrum_off_until_somebody_asks():
    X, Y, _ = planted()
    model = ReducedRankRegression(5, alpha=0.5).fit(X, Y)
    model.predict(X)
    assert "V_" not in vars(model)
    ridge = Ridge(alpha=0.5).fit(X, Y)
    assert_allclose(model.coef_, ridge.coef_, atol=1e-10)
    lower = model.at_rank(2)
    assert_allclose(lower.coef_, ReducedRankRegression(2, alpha=0.5).fit(X, Y).coef_, atol=1e-10)
    assert_allclose((model.V_ * model.s_) @ model.W_.T, ridge.coef_, atol=1e-10)
    errors = [
        np.sum((Y - ReducedRankRegression(r, alpha=0.5).fit(X, Y).predict(X)) ** 2) / len(X)
        for r in range(1, 6)
    ]
    assert_allclose(model.rank_path_, errors)


def test_what_was_put_off_is_that_of_the_last_fit():
    X, Y, _ = planted()
    model = ReducedRankRegression(5, alpha=0.5).fit(X, Y)
    first = (model.V_ * model.s_) @ model.W_.T
    model.fit(X, 2 * Y)
    assert_allclose((model.V_ * model.s_) @ model.W_.T, 2 * first, atol=1e-10)
    again = pickle.loads(pickle.dumps(ReducedRankRegression(5, alpha=0.5).fit(X, Y)))
    assert_allclose((again.V_ * again.s_) @ again.W_.T, first, atol=1e-10)


def test_errors_from_moments_are_those_of_the_rows():
    X, Y, _ = planted()
    path = next(rank_paths(scatter_of(joint_moments(X, Y), 6), [0.5]))
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    rows = [np.sum((Yc - Xc @ path.coef(r).T) ** 2) for r in range(1, 6)]
    assert_allclose(squared_errors(path, scatter_of(joint_moments(X, Y), 6)), rows, rtol=1e-10)


def test_factors_of_a_zero_map_are_still_orthonormal():
    V, s, W = factors(np.zeros((4, 5)), np.eye(4)[:, :2])
    assert_allclose(s, 0)
    assert_allclose(V.T @ V, np.eye(2))
    assert_allclose(W.T @ W, np.eye(2))


def test_beats_partial_least_squares_on_a_planted_map():
    X, Y, F = planted(n=2000, d=50, o=30, rank=3, noise=0.5)
    ours = ReducedRankRegression(3).fit(X, Y).coef_
    pls = PLSRegression(3, scale=False).fit(X, Y).coef_
    assert np.linalg.norm(ours - F) < 0.05 * np.linalg.norm(pls - F)


def test_single_precision_comes_back_in_single_precision_and_near():
    X, Y, _ = planted()
    single = ReducedRankRegression(2).fit(X.astype(np.float32), Y.astype(np.float32))
    assert single.coef_.dtype == single.predict(X.astype(np.float32)).dtype == np.float32
    assert_allclose(single.coef_, ReducedRankRegression(2).fit(X, Y).coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"rank": 0}, ValueError, r"an int in \[1, inf\), 'cv' or None. Got 0"),
        ({"rank": 6}, ValueError, r"int in \[1, 5\]"),
        ({"rank": 1.5}, TypeError, "must be an int"),
        ({"alpha": -1.0}, ValueError, "'alpha' parameter of ReducedRankRegression"),
        ({"alpha": []}, ValueError, "a list, not empty"),
        ({"cv": "two"}, ValueError, "'loo', an int in .*, a splitter, .* Got 'two'"),
        ({"cv": 1}, ValueError, r"int in \[2, inf\)"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, message):
    X, Y, _ = planted()
    with pytest.raises(error, match=message):
        ReducedRankRegression(**parameters).fit(X, Y)


def test_unequal_lengths_and_zero_weights_are_named():
    X, Y, _ = planted()
    with pytest.raises(ValueError, match="as many outputs as inputs: expected 60, got 59"):
        ReducedRankRegression().fit(X, Y[1:])
    with pytest.raises(ValueError, match="at least one non-zero"):
        ReducedRankRegression(1).fit(X, Y, sample_weight=np.zeros(60))
