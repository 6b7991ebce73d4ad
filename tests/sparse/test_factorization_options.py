"""Further solvers of the Euclidean loss, beta divergences, and a factor that is held."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning

from isthmus.linalg import threads
from isthmus.sparse import HoyerSparseness, NonnegativeFactorization, nonnegative_least_squares
from isthmus.sparse.factorization import divergence, drivers
from isthmus.sparse.factorization.divergence import Divergence
from isthmus.sparse.factorization.drivers import Factors, alternate_keeping_best
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.quadratic import Quadratic

NO_PENALTIES = Penalty(), Penalty()
BETAS = [0.0, 0.5, 1.0, 1.5, 2.5]


def planted(rng, n=30, d=20, k=3, noise=0.0):
    W, H = rng.exponential(size=(n, k)), rng.exponential(size=(k, d))
    return np.maximum(W @ H + noise * rng.normal(size=(n, d)), 1e-3)


def start(rng, X, k=3):
    return Factors(rng.uniform(0.5, 1, (len(X), k)), rng.uniform(0.5, 1, (X.shape[1], k)))


def test_the_compiled_extrapolation_gives_what_numpy_does(rng, monkeypatch):
    now, before = rng.uniform(size=(2, 31, 5))
    now[3, 2] = np.nan  # which must not become zero
    found = drivers._onwards(now, before, 0.7)
    assert (found == 0).any()
    monkeypatch.setattr(drivers, "LONG", 1)
    assert_array_equal(drivers._onwards(now, before, 0.7), found)
    assert_array_equal(drivers._onwards(np.asfortranarray(now), before, 0.7), found)


def test_a_projected_step_lowers_the_loss_and_is_the_formula(rng):
    X = planted(rng, noise=0.3)
    problem, now = Quadratic.of(X, "projected", NO_PENALTIES), start(rng, X)
    G, B = now.V.T @ now.V, X @ now.V
    expected = np.maximum(now.W - (now.W @ G - B) / np.linalg.eigvalsh(G)[-1], 0)
    W, _ = problem.improve(0, now)
    assert_allclose(W, expected)
    assert problem.loss(Factors(W, now.V)) < problem.loss(now)


def test_clipped_least_squares_are_the_formula_and_revive_a_dead_component(rng):
    X = planted(rng, noise=0.3)
    problem, now = Quadratic.of(X, "als", NO_PENALTIES), start(rng, X)
    expected = np.maximum(np.linalg.lstsq(now.V, X.T, rcond=None)[0].T, 0)
    assert_allclose(problem.improve(0, now)[0], expected, atol=1e-10)
    dead = problem.improve(0, Factors(now.W, now.V * [1, 1, 0]))[0]
    assert dead[:, 2].any()


def test_the_best_of_clipped_iterates_is_kept(rng):
    X = planted(rng, noise=1.0)
    problem = Quadratic.of(X, "als", NO_PENALTIES)
    course = alternate_keeping_best(
        problem, start(rng, X), tol=0.0, max_iter=60, report=lambda *_: None
    )
    assert (np.diff(course.losses) < 0).all()
    assert_allclose(problem.loss(course.factors), course.losses[-1], rtol=1e-9)


@pytest.mark.parametrize(
    "descent",
    [drivers.alternate, drivers.alternate_keeping_best, drivers.alternate_extrapolated],
)
def test_a_descent_ends_where_a_step_gains_little(descent, rng):
    X = planted(rng, noise=0.3)
    problem, first = Quadratic.of(X, "hals", NO_PENALTIES), start(rng, X)
    course = descent(problem, first, tol=0.0, max_iter=500, least_gain=1e-3)
    gains = -np.diff(course.losses) / course.losses[1:]
    assert course.converged
    assert course.n_iter < 100
    assert gains[-1] <= 1e-3
    assert (gains[:-1] > 1e-3).all()
    short = descent(problem, first, tol=0.0, max_iter=3, least_gain=1e-3)
    assert not short.converged
    assert short.n_iter == 3


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # als may cycle
@pytest.mark.parametrize(("solver", "max_iter"), [("als", 200), ("projected", 2000)])
def test_solvers_explain_exact_low_rank(solver, max_iter, rng):
    X = planted(rng)
    model = NonnegativeFactorization(3, solver=solver, max_iter=max_iter, random_state=0).fit(X)
    assert model.reconstruction_err_ < 0.03 * np.linalg.norm(X)


@pytest.mark.parametrize("beta", BETAS)
class TestBeta:
    def test_divergence_is_zero_at_the_data_and_its_gradient_is_right(
        self, beta, rng, assert_gradient
    ):
        X = planted(rng, 6, 5)
        now = start(rng, X)
        problem = Divergence.of(X, beta, NO_PENALTIES)
        assert_allclose(
            Divergence.of(now.W @ now.V.T, beta, NO_PENALTIES).divergence(now), 0, atol=1e-12
        )
        assert_gradient(
            lambda w: problem.divergence(Factors(w.reshape(now.W.shape), now.V)),
            lambda w: problem.gradient(0, Factors(w.reshape(now.W.shape), now.V))[0].ravel(),
            now.W.ravel(),
            rng,
        )

    def test_updates_descend(self, beta, rng):
        X = planted(rng, noise=0.5)
        problem, now = Divergence.of(X, beta, NO_PENALTIES), start(rng, X)
        for _ in range(20):
            before = problem.loss(now)
            now = Factors(problem.improve(0, now)[0], now.V)
            now = Factors(now.W, problem.improve(1, now)[0])
            assert problem.loss(now) <= before * (1 + 1e-12)

    def test_updates_are_those_of_scikit_learn(self, beta, rng):
        X = planted(rng, noise=0.3)
        now = start(rng, X)
        theirs = non_negative_factorization(
            X, now.W.copy(), now.V.T.copy(), n_components=3, init="custom", solver="mu",
            beta_loss=beta, tol=0, max_iter=20,
        )  # fmt: skip
        problem = Divergence.of(X, beta, NO_PENALTIES)
        for _ in range(20):
            now = Factors(problem.improve(0, now)[0], now.V)
            now = Factors(now.W, problem.improve(1, now)[0])
        assert_allclose(now.W @ now.V.T, theirs[0] @ theirs[1], rtol=1e-5)

    def test_codes_of_new_rows_are_stationary(self, beta, rng):
        X = planted(rng, noise=0.3)
        model = NonnegativeFactorization(
            3, divergence=beta, tol=1e-3, max_iter=2000, random_state=0
        ).fit(X)
        codes = model.transform(X[:4])
        problem = Divergence.of(X[:4], beta, NO_PENALTIES)
        gradient, terms = problem.gradient(0, Factors(codes, model.components_.T))
        shares = codes / codes.mean(axis=1, keepdims=True)
        assert np.abs(np.minimum(gradient / terms, shares)).max() < 0.01

    def test_gaps_are_left_out(self, beta, rng):
        X = planted(rng, 8, 6)
        holes = X.copy()
        holes[2, 3] = np.nan
        mask = np.where(np.isnan(holes), 0.0, 1.0)
        now = start(rng, X)
        problem = Divergence.of(np.nan_to_num(holes), beta, NO_PENALTIES, mask)
        whole = Divergence.of(X, beta, NO_PENALTIES).divergence(now)
        one = Divergence.of(X[2:3, 3:4], beta, NO_PENALTIES)
        assert_allclose(
            problem.divergence(now), whole - one.divergence(Factors(now.W[2:3], now.V[3:4]))
        )

    @pytest.mark.parametrize("gaps", [False, True])
    @pytest.mark.parametrize("side", [0, 1])
    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_blocks_of_rows_give_the_formula(self, beta, side, gaps, n_threads, rng, monkeypatch):
        from threadpoolctl import threadpool_limits

        monkeypatch.setattr(divergence, "BLOCK_VALUES", 100)
        monkeypatch.setattr(threads, "LEAST_SECONDS", 0.0)
        X, now = planted(rng, 41, 20), start(rng, np.zeros((41, 20)))
        now.W[3:6] = 0.0  # so that their fit is cut at the floor
        mask = np.where(rng.uniform(size=X.shape) < 0.7, 1.0, 0.0) if gaps else np.ones(X.shape)
        problem = Divergence.of(X * mask, beta, NO_PENALTIES, mask if gaps else None)
        with threadpool_limits(n_threads, user_api="blas"):
            parts, loss = problem.derivative_parts(side, now), problem.divergence(now)
        fit = np.maximum(now.W @ now.V.T, divergence.FLOOR)
        tables = mask * X * fit ** (beta - 2), mask * fit ** (beta - 1)
        for found, table in zip(parts, tables, strict=True):
            expected = table @ now.V if side == 0 else table.T @ now.W
            assert_allclose(np.broadcast_to(found, expected.shape), expected, rtol=1e-12)
        entries = [
            Divergence.of(X[i : i + 1], beta, NO_PENALTIES, mask[i : i + 1]).divergence(
                Factors(now.W[i : i + 1], now.V)
            )
            for i in range(len(X))
        ]
        assert_allclose(loss, sum(entries), rtol=1e-10)


@pytest.mark.parametrize("side", [0, 1])
def test_the_compiled_pass_gives_what_numpy_does(side, rng):
    X, now = planted(rng, 41, 23), start(rng, np.zeros((41, 23)))
    now.W[3:6] = 0.0  # so that their fit is cut at the floor
    rows, columns = (Divergence.of(np.array(X, order=o), 1.5, NO_PENALTIES) for o in "CF")
    assert rows._is_compiled(now)
    assert not columns._is_compiled(now)
    parts = zip(rows.derivative_parts(side, now), columns.derivative_parts(side, now), strict=True)
    for found, expected in parts:
        assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-40, 1e-17, 1.0, 1e30, 1e60, 1e150])
def test_fits_of_any_size_have_roots(scale, rng):
    X, now = scale * planted(rng), start(rng, np.zeros((30, 20)))
    now = Factors(scale * now.W, now.V)
    ratios, roots = Divergence.of(X, 1.5, NO_PENALTIES).derivative_parts(0, now)
    fit = np.maximum(now.W @ now.V.T, divergence.FLOOR)
    assert_allclose(ratios, X / np.sqrt(fit) @ now.V, rtol=1e-13)
    assert_allclose(roots, np.sqrt(fit) @ now.V, rtol=1e-13)


@pytest.mark.parametrize("beta", [0, 1, 1.5])
def test_sums_of_a_wide_table_take_less_memory_than_the_table(beta, rng):
    X, now = (
        rng.uniform(size=(400, 4000)),
        Factors(*(rng.uniform(size=(n, 10)) for n in (400, 4000))),
    )
    problem = Divergence.of(X, beta, NO_PENALTIES)
    tracemalloc.start()
    try:
        problem.derivative_parts(1, now)
        assert tracemalloc.get_traced_memory()[1] < X.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("number", "name"), [(2, "euclidean"), (1.0, "kullback-leibler"), (0, "itakura-saito")]
)
def test_numbers_are_the_names(number, name, rng):
    X = planted(rng, noise=0.3)
    models = [
        NonnegativeFactorization(3, divergence=d, tol=1e-3, random_state=0).fit(X)
        for d in (number, name)
    ]
    assert_array_equal(models[0].components_, models[1].components_)


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler", 1.5])
def test_held_components_stay_and_codes_are_those_of_transform(divergence, rng):
    X = planted(rng, noise=0.3)
    H = rng.uniform(0.5, 2, size=(3, 20))
    model = NonnegativeFactorization(
        divergence=divergence,
        init=(None, H),
        fixed="components",
        tol=1e-3,
        max_iter=2000,
        random_state=0,
    )
    codes = model.fit_transform(X)
    assert_array_equal(model.components_, H)
    assert np.linalg.norm((codes - model.transform(X)) @ H) < 0.01 * np.linalg.norm(X)
    if divergence == "euclidean":
        assert_allclose(codes, nonnegative_least_squares(X, H), atol=1e-8)


def test_held_codes_stay_and_components_are_best(rng):
    X = planted(rng, noise=0.3)
    W = rng.uniform(0.5, 2, size=(30, 3))
    model = NonnegativeFactorization(init=(W, None), fixed="codes", tol=1e-7, random_state=0)
    assert_array_equal(model.fit_transform(X), W)
    best = nonnegative_least_squares(X.T, W.T).T
    assert_allclose(model.components_, best, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"fixed": "codes"}, "needs init"),
        ({"fixed": "codes", "init": (None, np.ones((3, 20)))}, "must be a pair"),
        ({"init": (None, np.ones((3, 20)))}, "must be a pair"),
        (
            {"fixed": "codes", "init": (np.ones((30, 3)), None), "sparsity": HoyerSparseness()},
            "no Hoyer constraint",
        ),
        ({"divergence": -0.5}, "'divergence'"),
        ({"divergence": 1.5, "solver": "als"}, "'solver'"),
        ({"fixed": "rows"}, "'fixed'"),
    ],
)
def test_refusals(settings, words, rng):
    with pytest.raises(ValueError, match=words):
        NonnegativeFactorization(3, **settings).fit(planted(rng))


def test_what_a_divergence_cannot_take_is_refused(rng):
    X = planted(rng)
    with pytest.raises(TypeError, match="needs an array"):
        NonnegativeFactorization(3, divergence=1.5).fit(csr_array(X))
    X[0, 0] = 0.0
    with pytest.raises(ValueError, match="positive entries"):
        NonnegativeFactorization(3, divergence=0).fit(X)
    with pytest.warns(ConvergenceWarning):
        NonnegativeFactorization(3, divergence=0.5, max_iter=2).fit(X)
