"""Regression of limited rank under any loss: optimality, robustness, missing outputs."""

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian
from isthmus.linalg import center_gram
from isthmus.linalg.threads import in_threads
from isthmus.losses import Absolute, Epsilon, Huber, Loss, Quantile, Squared
from isthmus.losses.absolute import TanhAbsolute
from isthmus.optimize import FixedRank, haar_sample
from isthmus.regression import ReducedRankRegression, StiefelRegression
from isthmus.regression.rank.stiefel import formulas
from isthmus.regression.rank.stiefel.formulas import objective, whiten
from isthmus.regression.rank.stiefel.published import (
    geodesic_step,
    loss_objective,
    squared_objective,
)
from isthmus.structured import DependencyEstimator


@parametrize_with_checks(
    [
        StiefelRegression(),
        StiefelRegression(1, loss="absolute"),
        StiefelRegression(loss="huber", alpha=0.1, tol=1e-10),
        StiefelRegression(loss="epsilon"),
        StiefelRegression(solver="riemannian"),
    ]
)
def test_follows_the_rules_of_scikit_learn(estimator, check):
    check(estimator)


def planted(seed=0, n=120, d=6, o=5, rank=2, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    F = rng.normal(size=(o, rank)) @ rng.normal(size=(rank, d))
    return X, X @ F.T + noise * rng.normal(size=(n, o)) - 2, F


# Closed form and Riemannian descent -----------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize("shape", [(120, 6, 5), (12, 30, 5)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_descent_under_the_squared_loss_ends_at_the_closed_form(alpha, shape, fit_intercept):
    n, d, o = shape
    X, Y, _ = planted(n=n, d=d, o=o, noise=1)
    X *= np.logspace(0, -3, d)  # collinear inputs cost nothing
    start = (haar_sample(o, 2, np.random.default_rng(0)), np.ones(2), np.eye(d, 2))
    kwargs = {"alpha": alpha, "fit_intercept": fit_intercept}
    closed = StiefelRegression(2, **kwargs).fit(X, Y)
    descent = StiefelRegression(2, solver="riemannian", init=start, tol=1e-9, **kwargs).fit(X, Y)
    assert descent.optimality_ < 1e-9
    assert descent.objective_ == pytest.approx(closed.objective_, rel=1e-9, abs=1e-9)
    assert_allclose(descent.predict(X), closed.predict(X), atol=1e-5)
    assert_allclose(closed.coef_, ReducedRankRegression(2, **kwargs).fit(X, Y).coef_)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_squared_loss_of_moments_is_that_of_all_rows(rng, fit_intercept):
    class ByRows(Squared):
        least_squares = False

    X, Y, weights = rng.normal(size=(40, 6)), rng.normal(size=(40, 4)) + 3, rng.uniform(1, 2, 40)
    problem = whiten(X, Y, weights, 0.7, fit_intercept=fit_intercept)
    point = FixedRank(haar_sample(4, 2, rng), np.array([2.0, 1.0]), haar_sample(6, 2, rng), Y[0])
    fast, slow = (objective(problem, loss)(point) for loss in (Squared(), ByRows()))
    for a, b in zip(fast, slow, strict=True):
        assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("loss", ["absolute", "huber", "epsilon", "quantile", Huber(0.5)])
def test_loss_at_the_end_is_a_local_minimum(loss):
    X, Y, _ = planted(noise=1)
    model = StiefelRegression(2, loss=loss, alpha=0.3).fit(X, Y)
    assert model.optimality_ <= 1e-5
    rng = np.random.default_rng(0)

    def value(coef, intercept):
        losses = model.loss_.evaluate(Y, X @ coef.T + intercept)[0]
        return losses.sum() + 0.3 * np.sum(coef**2)

    assert value(model.coef_, model.intercept_) == pytest.approx(model.objective_, rel=1e-9)
    A, B = model.V_ * model.s_, model.W_
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            coef = (A + size * rng.normal(size=A.shape)) @ (B + size * rng.normal(size=B.shape)).T
            moved = value(coef, model.intercept_ + size * rng.normal(size=5))
            # The smoothing of the last stage may hide a thousandth of the spread.
            assert moved >= model.objective_ * (1 - 1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_automatic_start_is_the_closed_form_on_working_outputs(fit_intercept, rng):
    X, Y = rng.normal(size=(80, 5)), rng.standard_cauchy(size=(80, 4))
    kwargs = {"loss": "huber", "alpha": 0.5, "fit_intercept": fit_intercept, "tol": 1e-9}
    found = StiefelRegression(2, **kwargs).fit(X, Y)
    working = found.loss_.working_outputs(Y)
    start = StiefelRegression(2, alpha=0.5, fit_intercept=fit_intercept).fit(X, working)
    # The constant of the start is the mean of the outputs, that of centred inputs.
    P = start.predict(X)
    loss = found.loss_.evaluate(Y, P)[0].sum() + 0.5 * np.sum(start.coef_**2)
    assert_allclose(found.loss_path_[0], loss, rtol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_inputs_white_by_a_cholesky_factor_are_those_by_a_spectrum_turned(
    fit_intercept, monkeypatch
):
    X, Y, _ = planted(n=300, d=8)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    fast = whiten(X, Y, weights, 0.0, fit_intercept=fit_intercept)
    model = StiefelRegression(2, loss="huber", tol=1e-8, fit_intercept=fit_intercept)
    coef = model.fit(X, Y, weights).coef_
    monkeypatch.setattr(formulas, "LEAST_CONDITION", np.inf)
    slow = whiten(X, Y, weights, 0.0, fit_intercept=fit_intercept)
    turn = slow.back @ fast.forth
    assert_allclose(turn @ turn.T, np.eye(8), atol=1e-12)
    assert_allclose(fast.Z @ turn.T, slow.Z, atol=1e-12)
    assert_allclose((weights[:, None] * fast.Z).T @ fast.Z, np.eye(8), atol=1e-12)
    assert_allclose(fast.back @ fast.forth, np.eye(8), atol=1e-12)
    assert_allclose(model.fit(X, Y, weights).coef_, coef, atol=1e-6)


@pytest.mark.parametrize("weighted", [True, False])
def test_blocks_of_rows_sum_to_the_whole_on_any_number_of_threads(weighted, rng, monkeypatch):
    X, Y, _ = planted(n=200, d=6, o=5)
    weights = rng.uniform(0.5, 2.0, 200) if weighted else np.ones(200)
    problem = whiten(X, Y, weights, 0.5, fit_intercept=True)
    point = FixedRank(
        haar_sample(5, 2, rng), np.ones(2), haar_sample(6, 2, rng), rng.normal(size=5)
    )
    whole = objective(problem, Huber(0.5))(point)
    monkeypatch.setattr(formulas, "BLOCK_ROWS", 30)
    parts = objective(problem, Huber(0.5))(point)
    monkeypatch.setattr(formulas, "rest_in_threads", in_threads)
    shared = objective(problem, Huber(0.5))(point)
    for one, other, third in zip(whole, parts, shared, strict=True):
        assert_allclose(other, one, rtol=1e-12)
        assert_array_equal(third, other)


def test_factors_are_orthonormal_and_the_path_never_rises():
    X, Y, _ = planted()
    model = StiefelRegression(2, loss="huber").fit(X, Y)
    assert_allclose(model.V_.T @ model.V_, np.eye(2), atol=1e-10)
    assert_allclose(model.W_.T @ model.W_, np.eye(2), atol=1e-10)
    assert_allclose((model.V_ * model.s_) @ model.W_.T, model.coef_, atol=1e-10)
    assert (np.diff(model.loss_path_) <= 1e-12 * model.objective_).all()
    assert model.loss_path_[-1] == pytest.approx(model.objective_)


@pytest.mark.parametrize("quantile", [0.5, 0.8])
def test_one_output_under_the_quantile_loss_is_the_linear_programme(quantile):
    X, Y, _ = planted(d=3, noise=1)
    y = Y[:, 0]
    loss = Quantile(quantile, sharpness=(1, 10, 100, 1000, 10000))
    ours = StiefelRegression(1, loss=loss, alpha=0.0, max_iter=3000).fit(X, y)
    exact = QuantileRegressor(quantile=quantile, alpha=0).fit(X, y)
    best = Quantile(quantile).evaluate(y, exact.predict(X))[0].sum()
    assert ours.objective_ == pytest.approx(best, rel=1e-4)
    assert ours.objective_ >= best * (1 - 1e-9)
    assert_allclose(ours.predict(X), exact.predict(X), atol=0.02)


def test_absolute_loss_is_twice_the_loss_of_the_median():
    X, Y, _ = planted(noise=1)
    absolute = StiefelRegression(2, loss="absolute", alpha=0.0).fit(X, Y)
    median = StiefelRegression(2, loss=Quantile(0.5), alpha=0.0).fit(X, Y)
    assert absolute.objective_ == pytest.approx(2 * median.objective_, rel=1e-4)
    tube = StiefelRegression(2, loss=Epsilon(0.0), alpha=0.0).fit(X, Y)
    assert absolute.objective_ == pytest.approx(tube.objective_, rel=1e-4)


def test_full_rank_logistic_loss_is_one_logistic_regression_for_each_output():
    X, Y, _ = planted(noise=3)
    labels = (Y > 0).astype(float)
    ours = StiefelRegression(5, loss="logistic", alpha=0.0, tol=1e-8).fit(X, labels)
    for j in range(5):
        alone = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(X, labels[:, j])
        assert_allclose(ours.predict(X)[:, j], alone.predict_proba(X)[:, 1], atol=1e-4)


def test_logistic_loss_predicts_probabilities_and_refuses_other_outputs():
    X, Y, _ = planted()
    model = StiefelRegression(2, loss="logistic", alpha=1.0).fit(X, (Y > 0) * 1.0)
    assert ((model.predict(X) > 0) & (model.predict(X) < 1)).all()
    with pytest.raises(ValueError, match=r"needs outputs in \[0, 1\]. Got values from"):
        StiefelRegression(2, loss="logistic").fit(X, Y)


class DerivedQuartic(Loss):
    def evaluate(self, Y, P):
        E = P - Y
        return E**2 + E**4, 2 * E + 4 * E**3


class ForeignQuartic:
    evaluate = DerivedQuartic.evaluate


@pytest.mark.parametrize("loss", [DerivedQuartic(), ForeignQuartic()])
def test_a_foreign_loss_fits_the_slot(loss):
    X, Y, F = planted()
    model = StiefelRegression(2, loss=loss).fit(X, Y)
    assert model.optimality_ <= 1e-5
    assert np.linalg.norm(model.coef_ - F) < 0.1 * np.linalg.norm(F)


@pytest.mark.parametrize("loss", ["pseudo_huber", "log_cosh"])
def test_smooth_robust_losses_come_near_to_huber(loss):
    X, Y, _ = planted(noise=1)
    Y[::15] += 50
    robust = StiefelRegression(2, loss=loss).fit(X, Y)
    huber = StiefelRegression(2, loss="huber").fit(X, Y)
    squared = StiefelRegression(2).fit(X, Y)
    gap = np.linalg.norm(robust.predict(X) - huber.predict(X))
    assert gap < 0.1 * np.linalg.norm(squared.predict(X) - huber.predict(X))


# A loss of the length of a row ------------------------------------------------------------------

BALLS = [Huber(shape="ball"), Absolute(shape="ball"), Epsilon(0.3, shape="ball")]
BALLS += [Epsilon(0.3, power=2, shape="ball")]


@pytest.mark.parametrize("loss", BALLS, ids=str)
def test_a_ball_does_not_depend_on_the_axes_of_the_outputs(loss):
    X, Y, _ = planted(noise=1)
    Q = haar_sample(5, 5, np.random.default_rng(0))
    fits = [StiefelRegression(5, loss=loss, tol=1e-7).fit(X, outputs) for outputs in (Y, Y @ Q)]
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=1e-5)
    assert_allclose(fits[0].predict(X) @ Q, fits[1].predict(X), atol=0.02)


def test_a_ball_of_one_output_is_a_cube():
    X, Y, _ = planted(noise=1)
    for shape in ("cube", "ball"):
        model = StiefelRegression(1, loss=Huber(shape=shape)).fit(X, Y[:, 0])
        if shape == "cube":
            expected = model
    assert model.loss_.delta == pytest.approx(expected.loss_.delta)
    assert_allclose(model.coef_, expected.coef_, atol=1e-6)


def test_a_ball_takes_weights_and_missing_outputs():
    X, Y, F = planted(n=300)
    loss = Huber(shape="ball")
    weights = np.random.default_rng(0).integers(0, 3, 300)
    rows = np.repeat(np.arange(300), weights)
    weighted = StiefelRegression(2, loss=loss, tol=1e-7).fit(X, Y, sample_weight=weights)
    twice = StiefelRegression(2, loss=loss, tol=1e-7).fit(X[rows], Y[rows])
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)
    holes = np.random.default_rng(0).random(Y.shape) < 0.3
    model = StiefelRegression(2, loss=loss).fit(X, np.where(holes, np.nan, Y))
    assert np.linalg.norm(model.coef_ - F) < 0.05 * np.linalg.norm(F)


def test_a_row_that_is_wild_as_a_whole_counts_once_in_a_ball():
    X, Y, F = planted(n=200, noise=0.5)
    Y[::10] += 30
    errors = [
        np.linalg.norm(StiefelRegression(2, loss=Huber(shape=shape)).fit(X, Y).coef_ - F)
        for shape in ("cube", "ball")
    ]
    assert max(errors) < 0.15 * np.linalg.norm(F)


@pytest.mark.parametrize("shape", ["cube", "ball"])
def test_a_width_of_its_own_for_each_row(shape):
    X, Y, _ = planted(noise=1)
    widths = np.full(120, 0.3)
    same = StiefelRegression(2, loss=Epsilon(widths, shape=shape)).fit(X, Y)
    one = StiefelRegression(2, loss=Epsilon(0.3, shape=shape)).fit(X, Y)
    assert_allclose(same.coef_, one.coef_, atol=1e-8)
    # A row whose tube holds everything is as if it were not there.
    widths[:40] = 1e6
    hollow = Y.copy()
    hollow[:40] = np.nan
    wide = StiefelRegression(2, loss=Epsilon(widths, shape=shape), tol=1e-7).fit(X, Y)
    without = StiefelRegression(2, loss=Epsilon(widths, shape=shape), tol=1e-7).fit(X, hollow)
    assert wide.objective_ == pytest.approx(without.objective_, rel=1e-3)
    with pytest.raises(ValueError, match=r"'width' .* or 120 of them, one for each row"):
        StiefelRegression(2, loss=Epsilon(widths[:-1], shape=shape)).fit(X, Y)


def test_parameters_of_the_loss_can_be_searched():
    X, Y, _ = planted()
    search = GridSearchCV(StiefelRegression(2, loss=Huber()), {"loss__delta": [0.1, 1.0]}, cv=3)
    assert search.fit(X, Y).best_estimator_.loss_.delta in (0.1, 1.0)
    assert clone(StiefelRegression(loss=Huber(2.0))).loss.delta == 2.0


@pytest.mark.parametrize("loss", ["absolute", "huber"])
def test_rank_and_penalty_are_chosen_also_under_a_robust_loss(loss):
    X, Y, _ = planted(n=200, d=10, o=8, rank=3)
    Y[::17, 0] += 100
    model = StiefelRegression(loss=loss, alpha=[0.01, 1e4]).fit(X, Y)
    assert (model.rank_, model.alpha_) == (3, 0.01)


# Robustness, weights, missing outputs ---------------------------------------------------------


@pytest.mark.parametrize("loss", ["absolute", "huber", "epsilon"])
def test_one_output_of_a_thousand_hardly_moves_a_robust_fit(loss):
    X, Y, F = planted(n=300, noise=0.5)
    X_test, _, _ = planted(seed=1)
    wild = Y.copy()
    wild[7, 2] = 1000

    def test_error(outputs, loss):
        model = StiefelRegression(2, loss=loss).fit(X, outputs)
        return np.mean((model.predict(X_test) - X_test @ F.T + 2) ** 2)

    clean = test_error(Y, loss)
    assert test_error(wild, loss) < 1.2 * clean
    assert test_error(wild, "squared") > 5 * clean


def test_automatic_delta_is_1345_thousandths_of_the_spread_of_the_noise():
    X, Y, _ = planted(n=2000, noise=0.5)
    Y[::50] += 100
    model = StiefelRegression(2, loss="huber").fit(X, Y)
    assert model.loss_.delta == pytest.approx(1.345 * 0.5, rel=0.2)


def test_outputs_ten_spreads_away_do_not_pull_the_automatic_huber_fit():
    # A width of thirteen spreads would count them like any other.
    X, Y, F = planted(n=400)
    far = Y.copy()
    far[::10] += 10 * 0.3

    def bias(loss):
        model = StiefelRegression(2, loss=loss).fit(X, far)
        return np.abs((model.predict(X) - X @ F.T + 2).mean(axis=0)).mean()

    assert bias("huber") < 0.35 * bias("squared")
    assert bias(Huber(13.45 * 0.3)) > 0.9 * bias("squared")


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_a_weight_of_two_is_a_row_twice(loss):
    X, Y, _ = planted(n=40, noise=1)
    weights = np.random.default_rng(0).integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weights)
    weighted = StiefelRegression(2, loss=loss, tol=1e-7).fit(X, Y, sample_weight=weights)
    twice = StiefelRegression(2, loss=loss, tol=1e-7).fit(X[rows], Y[rows])
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-6)
    assert_allclose(weighted.coef_, twice.coef_, atol=1e-3)


def test_full_rank_with_missing_outputs_is_least_squares_on_what_is_seen():
    X, Y, _ = planted(noise=1)
    Y[np.random.default_rng(0).random(Y.shape) < 0.3] = np.nan
    model = StiefelRegression(5, alpha=0.0, tol=1e-10).fit(X, Y)
    for j in range(5):
        seen = ~np.isnan(Y[:, j])
        alone = LinearRegression().fit(X[seen], Y[seen, j])
        assert_allclose(model.coef_[j], alone.coef_, atol=1e-6)
        assert_allclose(model.intercept_[j], alone.intercept_, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_rank_fills_the_holes(loss):
    X, Y, F = planted(n=300)
    holes = np.random.default_rng(0).random(Y.shape) < 0.4
    model = StiefelRegression(2, loss=loss).fit(X, np.where(holes, np.nan, Y))
    assert np.linalg.norm(model.coef_ - F) < 0.05 * np.linalg.norm(F)


def test_a_row_without_outputs_is_as_if_it_were_not_there():
    X, Y, _ = planted()
    hollow = Y.copy()
    hollow[:10] = np.nan
    with_holes = StiefelRegression(2).fit(X, hollow)
    assert_allclose(with_holes.coef_, StiefelRegression(2).fit(X[10:], Y[10:]).coef_)
    hollow[:, 3] = np.nan
    with pytest.raises(ValueError, match="Output 3 is missing in all rows"):
        StiefelRegression(2).fit(X, hollow)


def test_outputs_without_noise_are_fitted_without_complaint():
    X, Y, F = planted(noise=0)
    for loss in ("absolute", "huber", "epsilon"):
        model = StiefelRegression(2, loss=loss).fit(X, Y)
        assert np.linalg.norm(model.coef_ - F) < 0.1 * np.linalg.norm(F)


# The published scheme ------------------------------------------------------------------------


def published_problem(kind):
    X, Y, _ = planted()
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    if kind == "squared":
        return squared_objective(X.T @ X, Y.T @ X, float(np.sum(Y**2)), 0.7)
    weights = np.random.default_rng(1).random((120, 1))
    return loss_objective(X, Y, weights, TanhAbsolute(3.0), 0.7, fit_intercept=True)


@pytest.mark.parametrize("kind", ["squared", "absolute"])
def test_published_gradients_predict_the_change_along_geodesics(kind):
    fun = published_problem(kind)
    rng = np.random.default_rng(0)
    b = np.zeros(5) if kind == "squared" else rng.normal(size=5)
    point = FixedRank(haar_sample(5, 2, rng), np.array([2.0, 1.0]), haar_sample(6, 2, rng), b)
    gradients = fun(point)
    V, W = (haar_sample(n, 2, rng) for n in (5, 6))
    other = gradients._replace(V=V, W=W, s=rng.normal(size=2), b=0 * b + (kind != "squared"))
    t = np.logspace(-1, -4, 7) * 0.1
    velocity = [
        np.vdot(gradients.V, _downhill(point.V, V)),
        np.vdot(gradients.W, _downhill(point.W, W)),
        -gradients.s @ other.s,
        -gradients.b @ other.b,
    ]
    remainder = [
        abs(fun(geodesic_step(point, other, h)).value - gradients.value - h * sum(velocity))
        for h in t
    ]
    assert np.polyfit(np.log(t), np.log(remainder), 1)[0] > 1.9


def _downhill(V, G):
    return -(G - V @ G.T @ V)


def test_squared_loss_from_moments_and_from_rows_is_the_same():
    X, Y, _ = planted()
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    rng = np.random.default_rng(0)
    point = FixedRank(
        haar_sample(5, 2, rng), np.array([2.0, 1.0]), haar_sample(6, 2, rng), np.zeros(5)
    )
    moments = squared_objective(X.T @ X, Y.T @ X, float(np.sum(Y**2)), 0.3)(point)
    rows = loss_objective(X, Y, np.ones((120, 1)), Squared(), 0.3, fit_intercept=True)(point)
    assert moments.value == pytest.approx(rows.value)
    assert_allclose(moments.s, rows.s, rtol=1e-9)
    assert_allclose(moments.W, rows.W, rtol=1e-9)
    assert_allclose(_downhill(point.V, moments.V), _downhill(point.V, rows.V), atol=1e-9)


@pytest.mark.parametrize("rank", [1, 2])
def test_published_scheme_descends_to_the_closed_form_at_low_rank(rank):
    X, Y, _ = planted()
    published = StiefelRegression(rank, solver="published").fit(X, Y)
    closed = StiefelRegression(rank).fit(X, Y)
    assert (np.diff(published.loss_path_) <= 0).all()
    assert published.objective_ >= closed.objective_ * (1 - 1e-12)
    assert published.objective_ == pytest.approx(closed.objective_, rel=1e-5)
    assert_allclose(published.V_.T @ published.V_, np.eye(rank), atol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("init", ["identity", "ridge", "pls", "auto"])
def test_published_scheme_starts_from_the_maps_of_the_documents(init):
    X, Y, F = planted()
    model = StiefelRegression(2, solver="published", loss="absolute", init=init, max_iter=100)
    model.fit(X, Y)
    assert model.loss_.smoothing == "tanh"
    assert np.linalg.norm(model.coef_ - F) < 0.1 * np.linalg.norm(F)


def test_too_few_iterations_are_reported():
    X, Y, _ = planted(noise=1)
    for solver in ("riemannian", "published"):
        model = StiefelRegression(2, loss="huber", solver=solver, max_iter=1, tol=1e-12)
        with pytest.warns(ConvergenceWarning, match=r"stopped with optimality .* Raise max_iter"):
            model.fit(X, Y)
        assert model.optimality_ > 1e-12


# Kernels on both sides ------------------------------------------------------------------------


def test_between_two_kernels_it_is_the_dual_form_of_the_documents():
    X, Y, _ = planted(n=40)
    x_kernel, y_kernel = Gaussian(0.05), Gaussian(0.02)
    alpha, rank = 0.1, 3
    model = DependencyEstimator(
        x_features=KernelPCA(kernel=x_kernel),
        y_features=KernelPCA(kernel=y_kernel),
        regressor=StiefelRegression(rank, alpha=alpha),
    ).fit(X, Y)
    ours = model.predict_coordinates(X)

    # Everything in Gram matrices: a(x) = B B' L (K + αI)⁻¹ k(x), B = L^{-1/2} C.
    K, L = center_gram(x_kernel(X))[0], center_gram(y_kernel(Y))[0]
    shrunk = np.linalg.solve(K + alpha * np.eye(40), K)
    eigenvalues, E = np.linalg.eigh(L)
    keep = eigenvalues > 1e-10 * eigenvalues[-1]
    root = E[:, keep] * np.sqrt(eigenvalues[keep])
    inverse_root = E[:, keep] / np.sqrt(eigenvalues[keep])
    C = np.linalg.eigh(root.T @ shrunk @ root)[1][:, -rank:]
    B = inverse_root @ C
    a = B @ B.T @ L @ shrunk  # coefficients over the centred outputs, a column for each row
    assert_allclose(ours @ ours.T, a.T @ L @ a, atol=1e-7)
    # The same points, not only the same inner products among themselves.
    assert_allclose(ours @ model.y_features_.transform(Y).T, a.T @ L, atol=1e-7)


def test_a_robust_loss_fits_between_kernels():
    X, Y, _ = planted(n=60)
    Y[3, 1] = 1000
    model = DependencyEstimator(
        x_features=KernelPCA(20, kernel="gaussian"),
        y_features="passthrough",
        regressor=StiefelRegression(2, loss="huber", alpha=1e-3),
    ).fit(X, Y)
    errors = np.abs(model.predict(X) - Y)
    assert np.median(errors) < 1


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"rank": 6}, ValueError, r"'rank' parameter of StiefelRegression .* int in \[1, 5\]"),
        (
            {"loss": "cubed"},
            ValueError,
            "'loss' parameter of Stiefel.* A loss must be one of 'squared'.*'cubed'",
        ),
        ({"loss": Huber}, ValueError, "'loss' parameter of StiefelRegression must be a loss"),
        ({"loss": Huber(-1.0)}, ValueError, "'delta' parameter of Huber"),
        ({"loss": Absolute(sharpness=())}, ValueError, "a list, not empty"),
        ({"loss": Absolute(smoothing="no")}, ValueError, "one of 'root', 'tanh'. Got 'no'"),
        ({"loss": Quantile(1.5)}, ValueError, "'quantile' parameter of Quantile"),
        ({"solver": "magic"}, ValueError, "'auto', 'riemannian', 'published'. Got 'magic'"),
        ({"solver": "riemannian", "init": "zero"}, ValueError, "'init' parameter"),
        (
            {"rank": 2, "solver": "riemannian", "init": (np.eye(5), np.ones(5), np.eye(6, 5))},
            ValueError,
            r"shapes \(5, 2\), \(2,\) and \(6, 2\). Got \(5, 5\)",
        ),
        ({"tol": 0.0}, ValueError, "'tol' parameter"),
        ({"max_iter": 0}, ValueError, "'max_iter' parameter"),
        ({"alpha": -1.0}, ValueError, "'alpha' parameter"),
    ],
)
def test_wrong_parameters_are_named(parameters, error, message):
    X, Y, _ = planted()
    with pytest.raises(error, match=message):
        StiefelRegression(**parameters).fit(X, Y)


def test_a_fitted_model_comes_back_from_the_safe_format():
    X, Y, _ = planted()
    for model in (StiefelRegression(2, loss="huber"), ReducedRankRegression(2)):
        stored = skops.io.dumps(model.fit(X, Y))
        types = skops.io.get_untrusted_types(data=stored)
        assert all(name.startswith("isthmus.") for name in types)
        assert_allclose(skops.io.loads(stored, trusted=types).predict(X), model.predict(X))
