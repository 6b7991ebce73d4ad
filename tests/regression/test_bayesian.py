"""Bayesian rank-limited regression: right samplers, honest intervals, honest diagnostics."""

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose
from scipy import special, stats
from sklearn.exceptions import ConvergenceWarning

from isthmus.regression import BayesianStiefelRegression, ReducedRankRegression
from isthmus.regression.rank.bayesian.convergence import bulk_ess, split_rhat
from isthmus.regression.rank.bayesian.formulas import (
    RankPrior,
    Streams,
    laplace_weights,
    orthonormal_factors,
)
from isthmus.regression.rank.bayesian.gibbs import (
    GaussianData,
    GibbsState,
    LaplaceData,
    gibbs_chains,
)
from isthmus.regression.rank.bayesian.published import published_chain, tangent_gaussian_step

BOTH = pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])


def planted(likelihood, seed=0, n=100, d=4, o=3, rank=2, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    F = rng.normal(size=(o, rank)) @ rng.normal(size=(rank, d))
    draw = rng.standard_normal if likelihood == "gaussian" else rng.laplace
    return X, X @ F.T - 2 + noise * draw(size=(n, o)), F


# The samplers ----------------------------------------------------------------------------


def prior_states(prior, likelihood, shape, streams):
    """States drawn from the prior, one for each stream."""
    o, k, r = shape
    noise = prior.noise_rate / streams.gamma(prior.noise_shape)
    scale = prior.scale_rate / streams.gamma(prior.scale_shape)
    root = np.sqrt(scale)[:, None, None]
    return GibbsState(
        root * streams.normal(o, r),
        root * streams.normal(k, r),
        np.zeros((len(streams), o)),
        np.sqrt(noise) if likelihood == "gaussian" else noise,
        scale,
    )


@BOTH
@pytest.mark.parametrize("rank", [1, 2])
def test_gibbs_sweeps_leave_prior_times_likelihood_as_it_is(likelihood, rank):
    # Parameters from the prior, outputs from the model: each state is a draw from the posterior
    # given its outputs, and must still be one after any number of sweeps. So over many such
    # states, what was drawn from the prior must keep the law of the prior.
    prior = RankPrior(3.0, 2.0, 4.0, 3.0)
    shape, n, chains = (3, 2, rank), 5, 8000
    rng = np.random.default_rng(0)
    streams = Streams([rng] * chains)
    X = rng.normal(size=(n, 2)) * [2.0, 0.5]
    start = prior_states(prior, likelihood, shape, streams)
    noise = rng.normal if likelihood == "gaussian" else rng.laplace
    Y = (X @ start.B) @ np.swapaxes(start.A, 1, 2)
    Y += start.noise[:, None, None] * noise(size=(chains, n, 3))
    if likelihood == "gaussian":
        spectrum, Q = np.linalg.eigh(X.T @ X)
        cross = np.swapaxes(Y, 1, 2) @ (X @ Q)
        data = GaussianData(spectrum, cross, np.sum(Y * Y, axis=(1, 2)), n * 3)
        start = start._replace(B=Q.T @ start.B)
    else:
        data = LaplaceData(X, Y, False)
    state = start
    for _ in range(12):
        state = data.sweep(state, prior, streams)
    variance = state.noise**2 if likelihood == "gaussian" else state.noise
    assert stats.kstest(variance, stats.invgamma(3, scale=2).cdf).pvalue > 1e-4
    assert stats.kstest(state.scale, stats.invgamma(4, scale=3).cdf).pvalue > 1e-4
    fresh = prior_states(prior, likelihood, shape, streams)

    def summaries(state):
        F = state.A @ np.swapaxes(state.B, 1, 2)
        s = orthonormal_factors(state.A, state.B)[1]
        return [F[:, 0, 0], F[:, 2, 1], np.linalg.norm(state.A, axis=(1, 2)), s[:, 0], s[:, -1]]

    for ours, expected in zip(summaries(state), summaries(fresh), strict=True):
        assert stats.ks_2samp(ours, expected).pvalue > 1e-4
    # The test has teeth: the states did move.
    assert np.corrcoef(state.scale, start.scale)[0, 1] < 0.9


def test_noise_drawn_without_one_factor_keeps_its_law_too():
    # This step is followed by exact ones, behind which an error in it would hide.
    prior = RankPrior(3.0, 2.0, 4.0, 3.0)
    rng = np.random.default_rng(0)
    streams = Streams([rng] * 8000)
    start = prior_states(prior, "gaussian", (3, 2, 1), streams)
    spectrum = np.array([0.5, 4.0])
    X = np.diag(np.sqrt(spectrum))
    Y = (X @ start.B) @ np.swapaxes(start.A, 1, 2)
    Y += start.noise[:, None, None] * streams.normal(2, 3)
    data = GaussianData(spectrum, np.swapaxes(Y, 1, 2) @ X, np.sum(Y * Y, axis=(1, 2)), 6)
    curvature = spectrum[:, None] * np.sum(start.A**2, axis=1)[:, None]
    target = np.swapaxes(data.cross, 1, 2) @ start.A
    ridge = 1 / start.scale[:, None, None]
    noise = start.noise
    for _ in range(3):
        noise = data._noise_without_B(noise, curvature, target, ridge, prior, streams)
    assert np.mean(noise == start.noise) < 0.05
    assert stats.kstest(noise**2, stats.invgamma(3, scale=2).cdf).pvalue > 1e-3


def test_laplace_noise_with_random_weights_is_laplace_noise():
    # Residuals from the Laplace law, their weights, then residuals from the weights' Gaussians.
    rng = np.random.default_rng(0)
    streams = Streams([rng])
    error = rng.laplace(scale=0.7, size=(1, 20000))
    weights = laplace_weights(np.abs(error), np.array([[0.7]]), streams)
    again = rng.normal(size=error.shape) / np.sqrt(weights)
    assert stats.kstest(again[0], stats.laplace(scale=0.7).cdf).pvalue > 1e-3
    assert np.isfinite(laplace_weights(np.zeros((1, 100)), np.array([[0.7]]), streams)).all()


@BOTH
def test_gibbs_agrees_with_the_documents_sampler_under_the_same_prior(likelihood):
    X, Y, _ = planted(likelihood, n=8, d=3, o=2, rank=1)
    prior = RankPrior(2.0, 1.0, 5e7, 5e7)  # the scale of the factors is one, all but exactly
    common = {"likelihood": likelihood, "prior": prior, "thin": 1}
    gibbs = gibbs_chains(
        X,
        Y,
        rank=1,
        fit_intercept=False,
        n_warmup=100,
        n_samples=1000,
        streams=Streams(np.random.default_rng(0).spawn(4)),
        **common,
    )

    def log_product_of_norms(s):
        # s = |a| |b| for Gaussian vectors of 2 and 3 entries has density s^(3/2) K_½(s).
        return float(2.5 * np.log(s[0]) + np.log(special.kv(0.5, s[0])))

    chains = [
        published_chain(
            X,
            Y,
            (np.eye(2)[:, :1], np.ones(1), np.eye(3)[:, :1], 1.0),
            count=16,
            bounds=(1e-9, 1e9),
            n_warmup=300,
            n_samples=2000,
            rng=np.random.default_rng(seed),
            log_prior=log_product_of_norms,
            **common,
        )
        for seed in range(2)
    ]

    def values(V, s, W, noise):
        F = np.einsum("cior,cir,cidr->ciod", V, s, W)
        return [F[..., 0, 0], F[..., 1, 2], s[..., 0], np.log(noise)]

    ours = values(gibbs.V, gibbs.s, gibbs.W, gibbs.noise)
    theirs = values(
        *(np.stack([getattr(c, name) for c in chains]) for name in ("V", "s", "W", "noise"))
    )
    for a, b in zip(ours, theirs, strict=True):
        error = np.sqrt(a.var() / bulk_ess(a) + b.var() / bulk_ess(b))
        assert abs(a.mean() - b.mean()) < 4 * error
        assert 0.8 < a.std() / b.std() < 1.25


def test_steps_of_the_documents_sampler_leave_the_uniform_law_and_the_manifold_as_they_are():
    rng = np.random.default_rng(0)
    V = np.eye(3)[:, :2]
    second_moments = np.zeros((3, 3))
    for _ in range(4000):
        V = tangent_gaussian_step(V, 1.5, rng)
        second_moments += V @ V.T / 4000
    assert_allclose(V.T @ V, np.eye(2), atol=1e-12)
    assert_allclose(second_moments, np.eye(3) * 2 / 3, atol=0.04)


def test_step_on_the_circle_is_a_turn_by_a_normal_angle():
    rng = np.random.default_rng(0)
    V = np.array([[1.0], [0.0]])
    moved = np.array([tangent_gaussian_step(V, 0.4, rng)[:, 0] for _ in range(2000)])
    angles = np.arctan2(moved[:, 1], moved[:, 0])
    assert stats.kstest(angles, stats.norm(scale=0.4 / np.sqrt(2)).cdf).pvalue > 1e-3


# The estimator ---------------------------------------------------------------------------


@BOTH
def test_intervals_hold_nine_of_ten_new_outputs(likelihood):
    held, standardised = [], []
    for seed in range(2):
        X, Y, _ = planted(likelihood, seed, n=1060)
        model = BayesianStiefelRegression(2, likelihood=likelihood, random_state=0)
        model.fit(X[:60], Y[:60])
        low, high = model.predict_interval(X[60:], 0.9)
        held.append(np.mean((low <= Y[60:]) & (Y[60:] <= high)))
        mean, std = model.predict(X[60:], return_std=True)
        standardised.append(np.std((Y[60:] - mean) / std))
    assert 0.85 <= np.mean(held) <= 0.95
    assert 0.85 <= np.mean(standardised) <= 1.15


def test_posterior_mean_is_the_closed_form_where_noise_is_small():
    X, Y, F = planted("gaussian", n=200, noise=1e-2)
    model = BayesianStiefelRegression(2, random_state=0).fit(X, Y)
    closed = ReducedRankRegression(2).fit(X, Y)
    assert_allclose(model.coef_, closed.coef_, atol=3e-4)
    assert_allclose(model.intercept_, closed.intercept_, atol=1e-3)
    assert_allclose((model.V_ * model.s_) @ model.W_.T, model.coef_, atol=1e-4)
    assert_allclose(model.best_coef_, F, atol=0.01)
    assert model.noise_ == pytest.approx(1e-2, rel=0.1)


def test_laplace_likelihood_shrugs_at_outliers():
    X, Y, F = planted("laplace", n=150, noise=0.2)
    Y[:2] += 1000
    settings = {"n_samples": 100, "n_warmup": 100, "random_state": 0}
    model = BayesianStiefelRegression(2, likelihood="laplace", **settings).fit(X, Y)
    error = np.linalg.norm(model.coef_ - F)
    assert error < 0.1 * np.linalg.norm(F)
    assert np.linalg.norm(ReducedRankRegression(2, alpha=0.0).fit(X, Y).coef_ - F) > 50 * error


@BOTH
def test_units_of_inputs_and_outputs_do_not_matter(likelihood):
    X, Y, _ = planted(likelihood, n=40)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    # Rounding errors grow along a chain, so these are short.
    model = BayesianStiefelRegression(likelihood=likelihood, random_state=0, n_warmup=2)
    model.set_params(n_samples=10, thin=1)
    one = model._draws(X, Y, 1)
    # Powers of two scale without rounding, so the chains are the same ones.
    other = model._draws(2.0**5 * X, 2.0**-21 * Y, 1)
    assert_allclose(other.s, one.s * 2.0**-26, rtol=1e-6)
    assert_allclose(other.noise, one.noise * 2.0**-21, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The chains")  # of the published sampler are too short
@pytest.mark.parametrize("sampler", ["gibbs", "published"])
@BOTH
def test_every_draw_is_orthonormal_and_draws_make_up_the_mean(likelihood, sampler):
    X, Y, _ = planted(likelihood)
    model = BayesianStiefelRegression(
        2, likelihood=likelihood, sampler=sampler, n_samples=100, thin=1, random_state=0
    ).fit(X, Y)
    draws = model.samples_
    assert draws["V"].shape == (400, 3, 2)
    for name in ("V", "W"):
        gram = np.swapaxes(draws[name], 1, 2) @ draws[name]
        assert_allclose(gram, np.broadcast_to(np.eye(2), gram.shape), atol=1e-8)
    F = (draws["V"] * draws["s"][:, None]) @ np.swapaxes(draws["W"], 1, 2)
    assert_allclose(model.coef_, F.mean(axis=0))
    assert_allclose(model.intercept_, draws["intercept"].mean(axis=0))
    assert set(model.rhat_) == set(model.ess_)
    assert model.rhat_["coef"].shape == model.ess_["coef"].shape == (3, 4)


def test_result_does_not_depend_on_the_number_of_processes():
    X, Y, _ = planted("laplace", n=30)
    settings = {"likelihood": "laplace", "n_samples": 10, "n_warmup": 5, "random_state": 0}
    one = BayesianStiefelRegression(1, **settings)._draws(X, Y, 1)
    with parallel_config("threading"):  # processes would take seconds to start
        two = BayesianStiefelRegression(1, n_jobs=2, **settings)._draws(X, Y, 1)
    for a, b in zip(one, two, strict=True):
        assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_draws_of_outputs_have_the_mean_and_spread_of_predictions():
    X, Y, _ = planted("laplace")
    model = BayesianStiefelRegression(likelihood="laplace", random_state=0).fit(X, Y)
    mean, std = model.predict(X[:5], return_std=True)
    draws = model.sample(X[:5], 4000, random_state=0)
    assert draws.shape == (4000, 5, 3)
    assert_allclose(draws.mean(axis=0), mean, atol=0.12)
    assert_allclose(draws.std(axis=0), std, rtol=0.1)
    assert_allclose(mean, model.predict(X[:5]))
    assert not np.array_equal(model.sample(X[:5], 2, random_state=1)[0], draws[0])


def test_outputs_given_as_a_vector_come_back_as_vectors():
    X, Y, _ = planted("gaussian")
    model = BayesianStiefelRegression(1, random_state=0).fit(X, Y[:, 0])
    assert model.coef_.shape == (1, 4)
    assert model.predict(X).shape == (100,)
    assert model.sample(X, 7).shape == (7, 100)
    assert model.predict_interval(X)[0].shape == (100,)


def test_more_features_than_rows_leave_the_unseen_directions_to_the_prior():
    X, Y, _ = planted("gaussian", n=20, d=50, noise=0.1)
    model = BayesianStiefelRegression(2, random_state=0).fit(X, Y)
    unseen = np.linalg.svd(X - X.mean(axis=0))[2][-1:] * 7 + X.mean(axis=0)
    seen = X[:1]
    assert model.predict(unseen, return_std=True)[1].min() > 3 * (
        model.predict(seen, return_std=True)[1].max()
    )


def test_chains_that_have_not_met_are_reported():
    X, Y, _ = planted("gaussian", n=500, d=8, o=6, noise=0.01)
    model = BayesianStiefelRegression(
        3, sampler="published", n_warmup=5, n_samples=10, thin=1, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match=r"R-hat of '\w+' is .* Raise n_warmup"):
        model.fit(X, Y)


def test_diagnostics_see_a_trend_and_a_lost_chain_but_not_a_constant():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 400, 3))
    x[..., 1] += np.linspace(0, 3, 400)
    x[..., 2] = 5.0
    rhat = split_rhat(x)
    assert rhat[0] < 1.02
    assert rhat[1] > 1.1
    assert rhat[2] == 1
    assert_allclose(bulk_ess(x)[[0, 2]], 1600, rtol=0.2)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"likelihood": "cauchy"}, "'likelihood' parameter of BayesianStiefelRegression"),
        ({"sampler": "nuts"}, "'sampler' parameter of BayesianStiefelRegression"),
        ({"rank": 9}, r"int in \[1, 3\]"),
        ({"n_chains": 0}, "'n_chains'"),
        ({"n_samples": 2}, "'n_samples'"),
    ],
)
def test_bad_settings_are_named(settings, message):
    X, Y, _ = planted("gaussian", n=20)
    with pytest.raises(ValueError, match=message):
        BayesianStiefelRegression(**settings).fit(X, Y)
