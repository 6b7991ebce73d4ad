"""Sparse coding under smooth priors, the published solver beside ours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Lasso

from isthmus.sparse import SparseNet
from isthmus.sparse.dictionary.net import PRIORS, code_energy, flow_codes, smooth_codes


def laplacian(rng, n=3000, d=5):
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return rng.laplace(size=(n, d)) @ Q, Q


def overcomplete(rng, n=20, d=6, k=10):
    D = rng.normal(size=(k, d))
    return rng.normal(size=(n, d)), D / np.linalg.norm(D, axis=1, keepdims=True)


@pytest.mark.parametrize("prior", ["log", "exp"])
def test_gradient_of_the_energy_is_that_of_finite_differences(rng, assert_gradient, prior):
    X, D = overcomplete(rng, n=1)
    energy = code_energy(X, D, 0.3, PRIORS[prior])
    assert_gradient(
        lambda a: energy(a[None], np.array([0]))[0][0],
        lambda a: energy(a[None], np.array([0]))[1][0],
        rng.normal(size=10),
        rng,
    )


@pytest.mark.parametrize("prior", ["log", "exp"])
def test_energy_is_plainly_the_formula(rng, prior):
    X, D = overcomplete(rng)
    A = rng.normal(size=(20, 10))
    penalty = np.log(1 + A**2) if prior == "log" else 1 - np.exp(-(A**2))
    plain = 0.5 * np.sum((X - A @ D) ** 2, axis=1) + 0.3 * penalty.sum(axis=1)
    assert_allclose(code_energy(X, D, 0.3, PRIORS[prior])(A, np.arange(20))[0], plain)


@pytest.mark.parametrize("prior", ["log", "exp"])
def test_stated_curvature_is_the_largest(prior):
    u = np.linspace(-4, 4, 4001)
    second = np.gradient(PRIORS[prior].slope(u), u)
    assert_allclose(second.max(), PRIORS[prior].curvature, rtol=1e-3)
    least = -0.25 if prior == "log" else -4 * np.exp(-1.5)
    assert_allclose(second.min(), least, rtol=1e-3)


@pytest.mark.parametrize("prior", ["log", "exp"])
def test_codes_of_both_solvers_are_stationary_points(rng, prior):
    X, D = overcomplete(rng)
    energy = code_energy(X, D, 0.2, PRIORS[prior])
    start = np.abs(energy(np.zeros((20, 10)), np.arange(20))[1]).max()
    smooth = smooth_codes(X, D, 0.2, PRIORS[prior], tol=1e-9)
    flow = flow_codes(X, D, 0.2, PRIORS[prior], tol=1e-5)
    assert np.abs(energy(smooth, np.arange(20))[1]).max() < 1e-6 * start
    assert np.abs(energy(flow, np.arange(20))[1]).max() <= 1e-5 * start


def test_vanishing_penalty_inverts_a_square_dictionary(rng):
    X, Q = laplacian(rng, n=20)
    D = Q + 0.2
    codes = smooth_codes(X, D, 1e-9, PRIORS["log"], tol=1e-12)
    assert_allclose(codes, X @ np.linalg.inv(D), atol=1e-5)


def test_absolute_prior_is_the_lasso(rng):
    X, D = overcomplete(rng)
    net = SparseNet(prior="abs", init=D, max_iter=1, batch_size=None).fit(X)
    weight = net.alpha_ / net.scale_
    lasso = Lasso(weight / X.shape[1], fit_intercept=False, tol=1e-12, max_iter=100_000)
    assert_allclose(net.transform(X), lasso.fit(net.components_.T, X.T).coef_, atol=1e-6)


@pytest.mark.parametrize("solver", ["moments", "published"])
def test_planted_directions_are_found_from_laplacian_coefficients(rng, solver):
    X, Q = laplacian(rng)
    net = SparseNet(5, solver=solver, random_state=0, max_iter=12).fit(X)
    atoms = net.components_ / np.linalg.norm(net.components_, axis=1, keepdims=True)
    assert np.abs(atoms @ Q.T).max(axis=0).min() > 0.95


@pytest.mark.parametrize("prior", ["log", "exp", "abs"])
def test_sweeps_over_all_signals_never_raise_the_objective(rng, prior):
    X, _ = laplacian(rng, n=120)
    net = SparseNet(8, prior=prior, batch_size=None, max_iter=8, tol=0, random_state=0).fit(X)
    assert np.all(np.diff(net.objective_) <= 1e-9)


def test_stream_learns_like_batches(rng):
    X, _ = laplacian(rng, n=2000)
    stream = SparseNet(5, random_state=0)
    for start in range(0, 2000, 200):
        stream.partial_fit(X[start : start + 200])
    assert stream.n_iter_ == 10
    assert stream.objective_[-3:].mean() < stream.objective_[0]


def test_published_atoms_have_length_one(rng):
    X, _ = laplacian(rng, n=400)
    net = SparseNet(8, solver="published", max_iter=2, random_state=0).fit(X)
    assert_allclose(np.linalg.norm(net.components_, axis=1), np.ones(8))


def test_nothing_depends_on_the_unit_of_the_signals(rng):
    X, _ = laplacian(rng, n=400)
    nets = [SparseNet(5, alpha=0.22, max_iter=2, random_state=0).fit(s * X) for s in (1.0, 50.0)]
    assert_allclose(nets[0].components_, nets[1].components_, atol=1e-6)
    # At the variance 0.1 of the published images, lambda = 2 alpha is 0.14 of the deviation.
    assert_allclose(2 * nets[0].alpha * 0.1 / np.sqrt(0.1), 0.14, atol=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": "cauchy"}, "one of 'log', 'exp', 'abs'. Got 'cauchy'"),
        ({"solver": "ode"}, "one of 'moments', 'published'. Got 'ode'"),
        ({"alpha": 0.0}, "'alpha' parameter of SparseNet"),
        ({"learning_rate": -1.0}, "'learning_rate' parameter of SparseNet"),
    ],
)
def test_refused_settings_leave_nothing_fitted(rng, settings, message):
    X, _ = laplacian(rng, n=50)
    net = SparseNet(**settings)
    with pytest.raises(ValueError, match=message):
        net.fit(X)
    assert not hasattr(net, "components_")


@pytest.mark.parametrize("prior", ["log", "exp", "abs"])
@pytest.mark.parametrize("seed", range(3))
def test_every_prior_finds_planted_atoms_at_the_default_penalty(prior, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    net = SparseNet(8, prior=prior, random_state=0).fit(rng.laplace(size=(2000, 8)) @ Q)
    atoms = net.components_ / np.linalg.norm(net.components_, axis=1, keepdims=True)
    assert np.abs(atoms @ Q.T).max(axis=0).min() > 0.95
