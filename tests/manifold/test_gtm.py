"""Generative topographic mapping."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from isthmus.blocks.folding import fold
from isthmus.datasets import distance_to_manifold, make_noisy_spiral
from isthmus.manifold import GaussianBasis, GenerativeTopographicMapping
from isthmus.manifold.gtm.basis import lattice, make_basis
from isthmus.manifold.gtm.em import Rules, State, learn, log_evidence, maximise
from isthmus.manifold.gtm.loops import take_powers
from isthmus.manifold.gtm.mixture import (
    Mixture,
    block_sums,
    merge_sums,
    misfit,
    posterior,
    responsibilities,
)

BASIS = GaussianBasis(6, width=1.0)


def arc(n=120, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.uniform(0, np.pi, n)
    return np.c_[np.cos(a), np.sin(a)] + noise * rng.normal(size=(n, 2)), a


def with_gaps(X, share=0.25, seed=3):
    missing = np.random.default_rng(seed).uniform(size=X.shape) < share
    missing[:, 0] &= ~missing.all(axis=1)  # something is known of every row
    return np.where(missing, np.nan, X)


@pytest.fixture
def problem(rng):
    """Rows, a mixture at random and the basis over its nodes."""
    nodes = lattice((5, 4))
    basis = make_basis((3, 2), 1.0, True)
    W = rng.normal(size=(basis.size, 3))
    Phi = basis(nodes)
    return rng.normal(size=(40, 3)), Mixture(Phi @ W, 2.5), basis, Phi, W


def plain_posterior(Y, mixture):
    """The formula, row by row, over what is known."""
    R, logs = [], []
    for y in Y:
        known = ~np.isnan(y)
        each = norm.pdf(y[known], mixture.centres[:, known], mixture.precision**-0.5).prod(axis=1)
        R.append(each / each.sum())
        logs.append(np.log(each.mean()))
    return np.array(R), np.array(logs)


@pytest.mark.parametrize("gaps", [False, True])
def test_e_step_is_the_formula(problem, gaps):
    Y, mixture = problem[:2]
    Y = with_gaps(Y) if gaps else Y
    R, logs = plain_posterior(Y, mixture)
    assert_allclose(responsibilities(Y, mixture), R, atol=1e-12)
    assert_allclose(posterior(Y, mixture)[1], logs, rtol=1e-10)
    sums = block_sums(Y, mixture)
    known = ~np.isnan(Y)
    assert_allclose(np.broadcast_to(sums.weights, sums.moments.shape), R.T @ known, rtol=1e-9)
    assert_allclose(sums.moments, R.T @ np.where(known, Y, 0.0), rtol=1e-9, atol=1e-12)
    assert sums.n_known == known.sum()
    lost = sum(
        R[i, k] * np.nansum((Y[i] - mixture.centres[k]) ** 2) for i in range(40) for k in range(20)
    )
    assert misfit(sums, mixture.centres) == pytest.approx(lost, rel=1e-9)


@pytest.mark.parametrize("gaps", [False, True])
def test_blocks_add_up(problem, gaps):
    Y, mixture = problem[:2]
    Y = with_gaps(Y) if gaps else Y
    whole = block_sums(Y, mixture)
    parts = fold(Y, lambda block: block_sums(block, mixture), merge_sums, block_size=7)
    for one, other in zip(parts, whole, strict=True):
        assert_allclose(np.broadcast_to(one, np.shape(other)), other, rtol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e3])  # with powers that vanish, too
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 2), (8, 3), (9, 4), (50, 12)])
def test_the_loop_over_rows_has_the_sums_of_the_table(rng, n, d, scale):
    Y, mixture = scale * rng.normal(size=(n, d)), Mixture(rng.normal(size=(21, d)), 2.5)
    loop = block_sums(Y, mixture)
    R, logs = posterior(Y, mixture)
    assert loop.log_likelihood == pytest.approx(logs.sum(), rel=1e-12)
    assert loop.squares == pytest.approx(np.sum(Y**2))
    assert (loop.n_rows, loop.n_known) == (n, n * d)
    assert_allclose(loop.weights[:, 0], R.sum(axis=0), rtol=1e-9, atol=1e-12)
    assert_allclose(loop.moments, R.T @ Y, rtol=1e-9, atol=1e-12 * scale)


def test_powers_of_two_are_exact_to_rounding(rng):
    exponents = rng.uniform(-300, 0, size=(20, 33))
    powers, sums = exponents.copy(), np.empty(20)
    take_powers(powers, sums)
    assert_allclose(powers, np.exp2(exponents), rtol=1e-15)
    assert_allclose(sums, np.exp2(exponents).sum(axis=1), rtol=1e-14)


def test_many_columns_have_a_table(rng):
    Y, mixture = rng.normal(size=(30, 25)), Mixture(rng.normal(size=(9, 25)), 0.3)
    R, logs = plain_posterior(Y, mixture)
    sums = block_sums(Y, mixture)
    assert sums.log_likelihood == pytest.approx(logs.sum(), rel=1e-12)
    assert_allclose(sums.moments, R.T @ Y, rtol=1e-9, atol=1e-12)


def test_likelihoods_that_underflow_are_no_trouble(problem):
    Y, mixture = problem[0] * 1e3, problem[1]
    R, logs = posterior(Y, mixture)
    assert np.isfinite(logs).all()
    assert logs.max() < -1e4
    assert_allclose(R.sum(axis=1), 1.0)
    nearest = ((Y[:, None] - mixture.centres) ** 2).sum(axis=2).argmin(axis=1)
    assert_array_equal(R.argmax(axis=1), nearest)


@pytest.mark.parametrize("gaps", [False, True])
def test_m_step_is_the_maximum(problem, gaps, rng):
    Y, mixture, basis, Phi, W = problem
    Y = with_gaps(Y) if gaps else Y
    alpha, beta = 0.7, mixture.precision
    R, known = responsibilities(Y, mixture), ~np.isnan(Y)
    filled = np.where(known, Y, 0.0)

    def expected(W, precision):
        """Expected complete log-likelihood plus the log prior."""
        F = Phi @ W
        gaps = (filled[:, None] - F) ** 2 * known[:, None]
        fit = -0.5 * precision * np.einsum("nk,nkd->", R, gaps)
        fit += 0.5 * known.sum() * np.log(precision)
        return fit - 0.5 * alpha * np.sum(W[: -basis.free] ** 2)

    state = State(W, alpha, beta)
    sums = block_sums(Y, mixture)
    found = maximise(state, sums, Phi, basis.free, Rules(alpha, None, False), evidence=False)
    for _ in range(4):
        step = 1e-4 * rng.normal(size=W.shape)
        up, down = (expected(found.weights + s * step, beta) for s in (1, -1))
        top = expected(found.weights, beta)
        assert abs(up - down) < 1e-7 * abs(top)
        assert max(up, down) < top
    at = expected(found.weights, found.beta)
    assert at > max(expected(found.weights, s * found.beta) for s in (0.99, 1.01))


def test_the_prior_s_precision_is_where_the_evidence_is_largest(problem):
    _, (centres, _), basis, Phi, W = problem
    mixture, Y = Mixture(centres, 400.0), np.tile(centres, (4, 1))
    sums, state = block_sums(Y, mixture), State(W, 1.0, mixture.precision)
    rules = Rules(None, 1 / mixture.precision)
    for _ in range(200):  # weights and responsibilities held
        alpha = maximise(state, sums, Phi, basis.free, rules, evidence=True).alpha
        new = maximise(state, sums, Phi, basis.free, rules, evidence=False).weights
        state = State(new, alpha, mixture.precision)

    def of_alpha(a):
        # The part of the evidence that depends on alpha, at weights that are the best for it.
        return log_evidence(State(state.weights, a, state.beta), sums, Phi, basis.free)

    assert of_alpha(alpha) > max(of_alpha(alpha * s) for s in (0.97, 1.03))


def test_evidence_is_that_of_a_linear_model(rng):
    """With all rows surely at one node, the mapping is a Bayesian linear regression."""
    nodes, basis = lattice((3,)), make_basis((2,), 0.8, False)
    Phi, alpha, beta = basis(nodes), 2.0, 4.0
    W = rng.normal(size=(basis.size, 1)) * 3
    mixture = Mixture(Phi @ W, beta)
    far = Mixture(mixture.centres, 1e6)  # which node a row belongs to is known
    Y = np.repeat(mixture.centres, 6, axis=0) + 0.01 * rng.normal(size=(18, 1))
    sums = block_sums(Y, far)
    B = np.repeat(Phi, 6, axis=0)
    m = len(basis.centres)
    prior = np.r_[np.full(m, alpha), 1e-9]  # nearly flat
    values = []
    for a in (alpha, 3 * alpha):
        prior[:m] = a
        cov = (B / prior) @ B.T + np.eye(18) / beta
        exact = -0.5 * (Y.T @ np.linalg.solve(cov, Y)).item() - 0.5 * np.linalg.slogdet(cov)[1]
        best = maximise(
            State(W, a, beta), sums, Phi, basis.free, Rules(a, 1 / beta), evidence=False
        )
        # The log-likelihood given the nodes, as that of the sums is for other parameters.
        fit = -0.5 * beta * misfit(sums, Phi @ best.weights)
        approx = log_evidence(best, sums._replace(log_likelihood=fit), Phi, basis.free)
        values.append((exact, approx))
    (e1, a1), (e2, a2) = values
    assert a1 - a2 == pytest.approx(e1 - e2, rel=1e-5)


def test_em_never_lowers_what_it_maximises():
    X, _ = arc()
    for gaps in (False, True):
        model = GenerativeTopographicMapping(
            1, n_nodes=30, basis=BASIS, alpha=0.3, noise="em", init="pca", tol=0, max_iter=40
        )
        with pytest.warns(ConvergenceWarning, match="has not converged in max_iter=40"):
            model.fit(with_gaps(X) if gaps else X)
        assert np.diff(model.history_).min() > -1e-12
        assert not model.converged_


def test_dense_em_of_the_textbook(rng):
    X, _ = arc(80)
    X = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).mean())
    nodes, basis = lattice((15,)), make_basis((5,), 1.0, False)
    Phi = basis(nodes)
    W0, beta0, lam = 0.1 * rng.normal(size=(basis.size, 2)), 1.5, 0.1
    W, beta = W0, beta0
    for _ in range(6):
        F = Phi @ W
        D = ((X[:, None] - F) ** 2).sum(axis=2)
        P = np.exp(-0.5 * beta * D)
        R = P / P.sum(axis=1, keepdims=True)
        prior = np.diag(np.r_[np.ones(len(W) - 1), 0.0]) * lam / beta
        W = np.linalg.solve(Phi.T @ np.diag(R.sum(axis=0)) @ Phi + prior, Phi.T @ R.T @ X)
        D = ((X[:, None] - Phi @ W) ** 2).sum(axis=2)
        beta = X.size / np.sum(R * D)
    found = learn(
        lambda mixture: block_sums(X, mixture),
        basis,
        nodes,
        State(W0, lam, beta0),
        Rules(lam, None, False),
        max_iter=6,
        tol=0,
    )
    assert_allclose(found.weights, W, rtol=1e-7)
    assert found.beta == pytest.approx(beta, rel=1e-9)


def test_noise_and_curve_are_found():
    X, a = arc(400)
    model = GenerativeTopographicMapping(1).fit(X)
    assert model.noise_ == pytest.approx(0.05, rel=0.15)
    radius = np.linalg.norm(model.reconstruct(X), axis=1)
    assert abs(radius - 1).max() < 0.06
    assert abs(np.corrcoef(model.embedding_[:, 0], a)[0, 1]) > 0.99
    Y, _ = make_noisy_spiral(300, random_state=0)
    spiral = GenerativeTopographicMapping(1).fit(Y)
    assert spiral.start_ == "isomap"
    assert distance_to_manifold(spiral.reconstruct(Y), "spiral").mean() < 0.03
    assert {t["start"] for t in spiral.trials_} == {"pca", "isomap"}


def test_a_strong_prior_leaves_the_principal_plane(rng):
    X = rng.normal(size=(300, 4)) @ np.diag([3.0, 1.5, 0.2, 0.1])
    model = GenerativeTopographicMapping(2, n_nodes=12, alpha=1e7, noise="em", init="pca").fit(X)
    J = model.jacobian(model.nodes_)
    assert_allclose(J, J[:1] + np.zeros_like(J), atol=1e-3)
    assert_allclose(
        model.magnification(model.nodes_), np.full(144, model.magnification([[0, 0]])), rtol=1e-3
    )
    plane = np.linalg.svd(X - X.mean(axis=0))[2][:2]
    found = np.linalg.qr(J[0])[0]
    assert np.linalg.svd(plane @ found)[1].min() > 0.999


def test_noise_beyond_all_structure_puts_every_row_in_the_middle():
    X, _ = arc()
    model = GenerativeTopographicMapping(1, n_nodes=21, noise=1e3, basis=BASIS, init="pca").fit(X)
    assert_allclose(model.transform(X), 0.0, atol=1e-3)
    assert model.noise_ == pytest.approx(1e3)


@pytest.fixture(scope="module")
def fitted():
    return GenerativeTopographicMapping(1, n_nodes=40, basis=BASIS).fit(arc()[0])


def test_densities_integrate_to_one_and_gaps_are_integrated_over(fitted):
    x = np.linspace(-2.5, 2.5, 251)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    p = np.exp(fitted.score_samples(grid.reshape(-1, 2))).reshape(251, 251)
    cell = (x[1] - x[0]) ** 2
    assert p.sum() * cell == pytest.approx(1.0, abs=1e-3)
    marginal = np.exp(fitted.score_samples(np.c_[x, np.full(251, np.nan)]))
    assert_allclose(marginal, p.sum(axis=1) * (x[1] - x[0]), atol=2e-3)
    at = 190  # x = 1.3
    expected = p[at] @ x / p[at].sum()
    assert fitted.complete([[x[at], np.nan]])[0, 1] == pytest.approx(expected, abs=2e-3)


def test_three_kinds_of_coordinates(fitted):
    X, _ = arc(30, seed=5)
    R = fitted.responsibilities(X)
    assert_allclose(R.sum(axis=1), 1.0)
    assert_allclose(fitted.transform(X), R @ fitted.nodes_, atol=1e-12)
    other = {}
    for kind in ("mode", "nearest"):
        model = GenerativeTopographicMapping(1, n_nodes=40, basis=BASIS, coordinates=kind)
        other[kind] = model.fit(arc()[0])
    assert_allclose(other["mode"].transform(X), fitted.nodes_[R.argmax(axis=1)])
    nearest, error = other["nearest"].transform(X, return_error=True)
    assert_allclose(error, fitted.reconstruction_error(X), rtol=1e-6)
    assert_allclose(nearest, fitted.project(X).latent, atol=1e-6)
    _, off = fitted.transform(X, return_error=True)
    assert np.all(off >= error - 1e-12)
    assert_allclose(fitted.transform(X, start=nearest), nearest, atol=1e-5)


def test_gaps_in_training_and_recall():
    X, _ = arc(300)
    gaps = with_gaps(X)
    model = GenerativeTopographicMapping(1).fit(gaps)
    assert model.noise_ == pytest.approx(0.05, rel=0.3)
    filled = model.complete(gaps)
    missing = np.isnan(gaps)
    assert_array_equal(filled[~missing], gaps[~missing])
    flat = np.nanmean(gaps, axis=0)
    # Of one column two values of the other may be as good: the second from the first is sure.
    second = missing[:, 1] & ~missing[:, 0]
    assert np.mean((filled - X)[second, 1] ** 2) < 0.1 * np.mean((flat - X)[second, 1] ** 2)
    middle = model.transform([[0.0, np.nan], [np.nan, np.nan]])
    assert abs(middle[1, 0]) < 1e-12
    assert np.isfinite(model.score_samples(gaps)).all()
    assert model.score_samples([[np.nan, np.nan]])[0] == pytest.approx(0.0, abs=1e-12)


def test_two_branches_are_both_projected_to(fitted):
    ends = fitted.project([[np.nan, 0.5]]).ends[0]
    values = fitted.inverse_transform(ends)[:, 0]
    assert values.min() < -0.7
    assert values.max() > 0.7
    assert abs(fitted.complete([[np.nan, 0.5]])[0, 0]) < 0.5  # the expectation lies between


def test_rows_in_blocks_are_rows(tmp_path):
    X, _ = arc(1200)
    model = GenerativeTopographicMapping(1, n_nodes=30, basis=BASIS, init="pca")
    whole = model.fit(X)
    images, embedding = whole.images_, whole.embedding_
    stored = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    for rows in (stored, lambda: iter(np.array_split(X, 7))):
        again = GenerativeTopographicMapping(1, n_nodes=30, basis=BASIS, init="pca").fit(rows)
        assert_allclose(again.images_, images, atol=1e-9)
        assert_allclose(again.embedding_, embedding, atol=1e-8)
    with pytest.raises(ValueError, match="once per EM step"):
        model.fit(iter([X]))
    threads = GenerativeTopographicMapping(1, n_nodes=30, basis=BASIS, init="pca", n_jobs=2).fit(X)
    assert_array_equal(threads.images_, images)


def test_units_and_origin_do_not_matter(fitted):
    X, _ = arc()
    far = GenerativeTopographicMapping(1, n_nodes=40, basis=BASIS).fit(1e3 * X + 1e6)
    assert far.noise_ == pytest.approx(1e3 * fitted.noise_, rel=1e-5)
    assert_allclose(far.embedding_, fitted.embedding_, atol=1e-5)
    shift = 2 * np.log(1e3)
    assert_allclose(
        far.score_samples(1e3 * X + 1e6), fitted.score_samples(X) - shift, rtol=1e-4, atol=1e-4
    )
    assert far.log_likelihood_ == pytest.approx(far.score_samples(1e3 * X + 1e6).mean(), rel=1e-6)


def test_samples_are_those_of_the_density(fitted):
    drawn = fitted.sample(4000, random_state=0)
    every = fitted.images_.mean(axis=0)
    assert_allclose(drawn.mean(axis=0), every, atol=0.05)
    spread = fitted.images_.var(axis=0) + fitted.noise_**2
    assert_allclose(drawn.var(axis=0), spread, rtol=0.1)
    assert_array_equal(drawn, fitted.sample(4000, random_state=0))


def test_landscapes(fitted):
    X, a = arc(200, seed=7)
    R = fitted.responsibilities(X)
    heights = fitted.landscape(X, a)
    plain = np.array([R[:, k] @ a / R[:, k].sum() for k in range(40)])
    assert_allclose(heights.values, plain, rtol=1e-9)
    new, b = arc(100, seed=8)
    assert np.corrcoef(heights.predict(new), b)[0, 1] > 0.99
    assert_allclose(heights.density, R.sum(axis=0))
    both = fitted.landscape(X, np.c_[a, -a])
    assert_allclose(both.values, np.c_[plain, -plain], rtol=1e-9)
    side = np.where(X[:, 0] > 0.5, "right", "left")
    classes = fitted.landscape(X, side)
    assert_allclose(classes.values.sum(axis=1), 1.0)
    assert_allclose(classes.predict_proba(new).sum(axis=1), 1.0)
    assert np.mean(classes.predict(new) == np.where(new[:, 0] > 0.5, "right", "left")) > 0.95
    balanced = fitted.landscape(X, side, class_weight="balanced")
    rare = list(classes.classes).index("right")
    assert np.all(balanced.values[:, rare] >= classes.values[:, rare] - 1e-12)
    with pytest.raises(AttributeError, match="no probabilities"):
        heights.predict_proba(new)
    with pytest.raises(ValueError, match=r"class_weight of Generative.* needs classes"):
        fitted.landscape(X, a, class_weight="balanced")
    with pytest.raises(ValueError, match="expected 200, got 3"):
        fitted.landscape(X, a[:3])


def test_given_latent_points_are_where_it_begins():
    Y, t = make_noisy_spiral(300, random_state=1)
    model = GenerativeTopographicMapping(1, init=np.asarray(t).reshape(-1, 1)).fit(Y)
    assert model.start_ == "given"
    assert distance_to_manifold(model.reconstruct(Y), "spiral").mean() < 0.03


def test_as_many_latent_dimensions_as_columns_and_more(rng):
    X = rng.normal(size=(40, 2))
    for q in (2, 3):
        model = GenerativeTopographicMapping(q, n_nodes=5, init="pca").fit(X)
        assert model.transform(X).shape == (40, q)
        assert np.isfinite(model.score_samples(X)).all()
    few = GenerativeTopographicMapping(2).fit(X[:3])  # fewer rows than nodes
    assert np.isfinite(few.images_).all()
    same = GenerativeTopographicMapping(1).fit(np.ones((5, 2)))
    assert_allclose(same.images_, 1.0, atol=1e-4)


def test_single_precision_stays_single():
    X = arc()[0].astype(np.float32)
    model = GenerativeTopographicMapping(1, n_nodes=20, basis=BASIS).fit(X)
    assert model.embedding_.dtype == model.transform(X).dtype == np.float32
    assert model.responsibilities(X).dtype == np.float32


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_nodes": (3, 4, 5)}, r"n_nodes.* must be None, an int, or 2 of them"),
        ({"n_nodes": 1}, r"n_nodes.* must be an int in \[2, inf\)"),
        ({"basis": GaussianBasis((3,))}, "n_centres.* of GaussianBasis must be"),
        ({"basis": GaussianBasis(width=0)}, r"width.* must be a float in \(0, inf\)"),
        ({"noise": "ml"}, "noise.* must be a float .* or one of 'evidence', 'em'"),
        ({"alpha": 0}, r"alpha.* must be a float in \(0, inf\)"),
        ({"init": np.zeros((3, 2))}, "expected 120, got 3"),
        ({"init": np.zeros((120, 3))}, "init.* latent points of 2 columns"),
        ({"coordinates": "median"}, "coordinates.* must be one of 'mean', 'mode', 'nearest'"),
    ],
)
def test_what_cannot_be_used_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        GenerativeTopographicMapping(**parameters).fit(arc()[0])


def test_columns_without_entries_and_too_many_nodes():
    X, _ = arc()
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match="nothing but NaN in column 1"):
        GenerativeTopographicMapping(1).fit(X)
    with pytest.raises(MemoryError, match="grow exponentially with n_components"):
        GenerativeTopographicMapping(40).fit(arc()[0])
