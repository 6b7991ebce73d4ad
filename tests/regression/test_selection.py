"""How parameters are chosen: rows, folds, budget, and the same choice as by hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_predict

from isthmus.kernels import Gaussian, Linear, Polynomial
from isthmus.regression import KernelRidgeCV, ReducedRankRegression, Selection, StiefelRegression
from isthmus.regression.selection import best


def wave(rng, n=60, noise=0.1):
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.c_[np.sin(4 * X[:, 0]), X[:, 1] ** 2] + noise * rng.normal(size=(n, 2))


# The piece -----------------------------------------------------------------------------------


def test_rows_are_all_or_a_sorted_draw_that_repeats():
    few = Selection(max_rows=10)
    assert_array_equal(few.rows(8), np.arange(8))
    assert_array_equal(Selection(max_rows=None).rows(5000), np.arange(5000))
    rows = few.rows(100)
    assert len(np.unique(rows)) == 10
    assert (np.diff(rows) > 0).all()
    assert_array_equal(rows, few.rows(100))
    assert len(few.rows(100, 0.5)) == 5
    assert not np.array_equal(rows, Selection(max_rows=10, random_state=1).rows(100))


def test_splits_are_folds_in_order_single_rows_or_those_of_a_splitter():
    folds = Selection(3).splits(7)
    assert [test.tolist() for _, test in folds] == [[0, 1, 2], [3, 4], [5, 6]]
    assert len(Selection(5).splits(3)) == 3
    single = Selection().splits(4)
    assert [(train.tolist(), test.tolist()) for train, test in single][1] == ([0, 2, 3], [1])
    later = Selection(TimeSeriesSplit(2)).splits(6)
    assert [test.tolist() for _, test in later] == [[2, 3], [4, 5]]
    pairs = [(np.arange(3), np.arange(3, 5))]
    assert Selection(pairs).splits(5) == pairs
    assert_array_equal(Selection(pairs, max_rows=2).rows(5), np.arange(5))


def test_groups_are_told_apart_on_half_the_rows_and_the_winner_chosen_on_all():
    asked = []

    def errors(group, rows):
        asked.append((group, len(rows)))
        return [(group + variant, (group, variant)) for variant in (0.2, 0.1)]

    choice = Selection(max_rows=20).choose([3, 1, 2], errors, 100)
    assert choice.value == (1, 0.1)
    assert choice.error == 1.1
    assert asked == [(3, 10), (1, 10), (2, 10), (1, 20)]
    asked.clear()
    assert Selection(max_rows=20).choose([3, 1], errors, 10).value == (1, 0.1)
    assert asked == [(3, 10), (1, 10)]


def test_an_error_that_is_no_number_is_never_the_best():
    assert best([(np.nan, "a"), (2.0, "b"), (np.inf, "c"), (2.0, "d")]) == (2.0, "b")
    assert best([(np.nan, "a")]) == (np.inf, None)


def test_it_is_a_piece_that_clones_and_can_be_searched():
    model = clone(KernelRidgeCV(cv=Selection(5, max_rows=100)))
    assert model.cv == Selection(5, max_rows=100)
    assert model.set_params(cv__max_rows=50).cv.max_rows == 50


# Kernel ridge ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [4, KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_error_of_folds_is_that_of_fits_without_them(rng, cv, fit_intercept):
    X, Y = wave(rng)
    alphas = [0.01, 0.1, 1.0]
    model = KernelRidgeCV(Gaussian(2.0), alpha=alphas, cv=cv, fit_intercept=fit_intercept)
    model.fit(X, Y)
    by_hand = []
    for alpha in alphas:
        alone = KernelRidgeCV(Gaussian(2.0), alpha=alpha, fit_intercept=fit_intercept)
        left_out = cross_val_predict(alone, X, Y, cv=KFold(4) if cv == 4 else cv)
        by_hand.append(np.mean((left_out - Y) ** 2))
    assert model.alpha_ == alphas[int(np.argmin(by_hand))]
    assert model.loo_error_ == pytest.approx(min(by_hand), rel=1e-9)


def test_folds_of_single_rows_are_leave_one_out(rng):
    X, Y = wave(rng, 30)
    one = KernelRidgeCV(Gaussian(2.0), alpha=[0.01, 0.1]).fit(X, Y)
    folds = KernelRidgeCV(Gaussian(2.0), alpha=[0.01, 0.1], cv=30).fit(X, Y)
    assert folds.alpha_ == one.alpha_
    assert folds.loo_error_ == pytest.approx(one.loo_error_, rel=1e-8)


def test_the_future_is_not_used_where_a_splitter_says_so(rng):
    t = np.linspace(0, 20, 80)[:, None]
    y = np.sin(t[:, 0]) + 0.05 * np.cumsum(rng.normal(size=80))
    splitter = TimeSeriesSplit(4)
    model = KernelRidgeCV(Gaussian(1.0), alpha=[1e-3, 1e-1, 1e1], cv=splitter).fit(t, y)
    errors = []
    for alpha in (1e-3, 1e-1, 1e1):
        parts = []
        for train, test in splitter.split(t):
            fit = KernelRidgeCV(Gaussian(1.0), alpha=alpha).fit(t[train], y[train])
            parts.append((fit.predict(t[test]) - y[test]) ** 2)
        errors.append(np.mean(np.concatenate(parts)))
    assert model.alpha_ == [1e-3, 1e-1, 1e1][int(np.argmin(errors))]
    assert model.loo_error_ == pytest.approx(min(errors))


def test_a_kernel_is_chosen_on_half_the_rows_then_its_penalty_on_all(rng):
    X, Y = wave(rng, 100)
    kernels = [Linear(), Gaussian(2.0), Polynomial(2)]
    model = KernelRidgeCV(kernels, cv=Selection(max_rows=60)).fit(X, Y[:, 0])
    assert model.kernel_ == Gaussian(2.0)
    rows = Selection(max_rows=60).rows(100)
    part = KernelRidgeCV(Gaussian(2.0)).fit(X[rows], Y[rows, 0])
    assert model.alpha_ == part.alpha_
    assert model.loo_error_ == pytest.approx(part.loo_error_)


def test_rows_of_a_gram_matrix_are_left_out_with_their_columns(rng):
    X, Y = wave(rng, 50)
    K = Gaussian(2.0)(X)
    for cv in ("loo", 5, Selection(max_rows=30)):
        direct = KernelRidgeCV(Gaussian(2.0), cv=cv).fit(X, Y)
        rows = KernelRidgeCV("precomputed", cv=cv).fit(K, Y)
        assert rows.alpha_ == direct.alpha_
        assert rows.loo_error_ == pytest.approx(direct.loo_error_, rel=1e-6)


# Limited rank ----------------------------------------------------------------------------------


def low_rank(rng, n=80):
    X = rng.normal(size=(n, 6))
    F = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 6))
    return X, X @ F.T + 0.3 * rng.normal(size=(n, 5))


@pytest.mark.parametrize("criterion", [4, "loo", KFold(3)])
def test_a_budget_chooses_on_those_rows_and_fits_all(rng, criterion):
    X, Y = low_rank(rng)
    selection = Selection(criterion, max_rows=40)
    model = ReducedRankRegression(alpha=[0.1, 10.0], cv=selection).fit(X, Y)
    rows = selection.rows(80)
    part = ReducedRankRegression(alpha=[0.1, 10.0], cv=criterion).fit(X[rows], Y[rows])
    assert_allclose(model.cv_error_, part.cv_error_)
    whole = ReducedRankRegression(model.rank_, alpha=model.alpha_).fit(X, Y)
    assert_allclose(model.coef_, whole.coef_)


def test_every_estimator_of_limited_rank_takes_the_same_piece(rng):
    X, Y = low_rank(rng)
    cv = Selection("loo", max_rows=None)
    closed = ReducedRankRegression(alpha=[0.1, 10.0], cv=cv).fit(X, Y)
    stiefel = StiefelRegression(alpha=[0.1, 10.0], cv=cv).fit(X, Y)
    assert (stiefel.rank_, stiefel.alpha_) == (closed.rank_, closed.alpha_)


# Bad parameters --------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [KernelRidgeCV, ReducedRankRegression, StiefelRegression])
@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ("all", "'cv' parameter of .* must be .*'loo', an int in .*, a splitter.* Got 'all'"),
        (1, r"'cv' parameter of .* int in \[2, inf\)"),
        ([], "'cv' parameter of"),
        (None, "'cv' parameter of"),
        (Selection(max_rows=1), r"'max_rows' parameter of Selection .* int in \[2, inf\)"),
        (Selection("some"), "'c(v|riterion)' parameter of .* Got .*some|Selection"),
    ],
)
def test_what_cannot_leave_rows_out_is_refused(rng, cls, cv, message):
    with pytest.raises(ValueError, match=message):
        cls(cv=cv).fit(*wave(rng))
