"""Where factorisations start, and in which precision they go on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import NMF

from isthmus.sparse import NonnegativeFactorization
from isthmus.sparse.factorization import gaps
from isthmus.sparse.factorization.drivers import Factors
from isthmus.sparse.factorization.penalties import Penalty
from isthmus.sparse.factorization.quadratic import Quadratic
from isthmus.sparse.factorization.starts import LowRank, is_short, svd_start
from isthmus.sparse.factorization.tables import FactorizationTable

PENALTIES = [(0.01, 1.0), (0.05, 0.5), (0.1, 0.0)]


def sparse_products(seed, n=60, d=20, k=5):
    rng = np.random.default_rng(seed)
    codes = rng.exponential(size=(n, k)) * (rng.random((n, k)) < 0.4)
    parts = rng.exponential(size=(k, d)) * (rng.random((k, d)) < 0.5)
    return codes @ parts + 0.01 * rng.random((n, d))


def objective(X, W, H, alpha, l1_ratio):
    def cost(F):
        return l1_ratio * F.sum() + 0.5 * (1 - l1_ratio) * (F**2).sum()

    n, d = X.shape
    return 0.5 * np.sum((X - W @ H) ** 2) + alpha * (d * cost(W) + n * cost(H))


@pytest.mark.parametrize(("alpha", "l1_ratio"), PENALTIES)
def test_penalties_do_not_cost_components_at_the_default_start(alpha, l1_ratio):
    for seed in range(10):
        X = sparse_products(seed)
        given = {"alpha_W": alpha, "l1_ratio": l1_ratio, "random_state": 0}
        peer = NMF(5, tol=1e-6, max_iter=5000, **given)
        W = peer.fit_transform(X)
        model = NonnegativeFactorization(5, **given).fit(X)
        assert model.objective_ < 1.005 * objective(X, W, peer.components_, alpha, l1_ratio)


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")  # of the peer
@pytest.mark.parametrize("alpha", [0.03, 0.1, 0.3])
@pytest.mark.parametrize("l1_ratio", [0.5, 1.0])
def test_heavy_penalties_end_no_higher_than_elsewhere_or_at_nothing(alpha, l1_ratio):
    for seed in range(20):
        X = np.random.default_rng(seed).random((60, 20))
        given = {"alpha_W": alpha, "l1_ratio": l1_ratio, "random_state": seed}
        peer = NMF(5, **given)
        W = peer.fit_transform(X)
        model = NonnegativeFactorization(5, **given).fit(X)
        nothing = 0.5 * np.sum(X**2)
        assert model.objective_ <= 1.01 * objective(X, W, peer.components_, alpha, l1_ratio)
        assert model.objective_ <= nothing * (1 + 1e-12)


@pytest.mark.parametrize("solver", ["hals", "multiplicative", "gaps", "single"])
def test_no_descent_ends_above_no_components(solver):
    X = np.random.default_rng(0).random((60, 20))
    given = {"alpha_W": 1.0, "l1_ratio": 1.0, "random_state": 0}
    if solver == "gaps":
        X[0, 0] = np.nan
    elif solver == "single":
        X = X.astype(np.float32)
    else:
        given["solver"] = solver
    model = NonnegativeFactorization(5, **given)
    codes = model.fit_transform(X)
    assert model.objective_ <= 0.5 * np.nansum(np.square(X, dtype=float)) * (1 + 1e-12)
    assert np.diff(model.objective_path_).max(initial=0) <= 0
    assert_allclose(model.transform(X), codes)


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20])  # powers of two: no rounding differs
def test_start_does_not_depend_on_the_unit_of_the_data(scale):
    X = load_digits().data[:300]
    plain = NonnegativeFactorization(8, random_state=0).fit(X)
    scaled = NonnegativeFactorization(8, random_state=0).fit(scale * X)
    assert_allclose(scaled.components_, plain.components_, atol=1e-6)


def test_sketch_multiplies_like_the_table_it_stands_for():
    X = sparse_products(0)
    sketch = LowRank.of(X, 20, np.random.default_rng(0))
    assert_allclose(sketch @ np.eye(20), X, atol=1e-12)
    assert_allclose(sketch.T @ np.eye(60), X.T, atol=1e-12)
    assert_allclose(sketch.squared_norm(), np.vdot(X, X))
    W, V = svd_start(sketch, 5, X.mean())
    assert W.min() > 0
    assert V.min() > 0


def test_sketched_start_ends_no_higher_than_a_start_without_it():
    rng = np.random.default_rng(0)
    parts = rng.gamma(1.0, size=(8, 200)) * (rng.uniform(size=(8, 200)) < 0.25)
    X = rng.gamma(0.5, size=(400, 8)) @ parts + 0.1 * rng.random((400, 200))
    sketch = LowRank.of(X, 18, np.random.default_rng(0))
    assert is_short(sketch, X.size)
    W, V = svd_start(sketch, 8, X.mean())
    plain = NonnegativeFactorization(8, init=(W, V.T)).fit(X)
    model = NonnegativeFactorization(8, random_state=0).fit(X)
    assert model.n_iter_ < plain.n_iter_
    assert model.objective_ < 1.001 * plain.objective_


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_single_precision_reaches_what_double_precision_does(load):
    X = load().data[:500]
    given = {"tol": 1e-6, "max_iter": 5000, "random_state": 0}
    double = NonnegativeFactorization(3, **given).fit(X)
    single = NonnegativeFactorization(3, **given).fit(X.astype(np.float32))
    assert single.components_.dtype == np.float32
    assert single.n_iter_ < 2 * double.n_iter_
    assert single.optimality_ <= 1e-6
    assert np.diff(single.objective_path_).max() <= 0
    assert_allclose(single.objective_, double.objective_, rtol=1e-4)


@pytest.mark.parametrize("side", [0, 1])
def test_products_in_double_precision_are_those_of_the_table_as_doubles(side):
    rng = np.random.default_rng(0)
    X = rng.random((700, 30)).astype(np.float32)
    factors = Factors(rng.random((700, 4)), rng.random((30, 4)))
    problem = Quadratic.of(X, "hals", (Penalty(), Penalty())).to_double()
    plain = Quadratic.of(X.astype(float), "hals", (Penalty(), Penalty()))
    other = factors[1 - side]
    assert_allclose(problem.product(side, other), plain.product(side, other), rtol=1e-13)


def test_products_that_a_check_reuses_belong_to_the_factors_it_is_asked_about():
    rng = np.random.default_rng(0)
    X = rng.random((40, 9))
    problem = Quadratic.of(X, "hals", (Penalty(), Penalty()))
    factors = Factors(rng.random((40, 3)), rng.random((9, 3)))
    for side in (0, 1):
        problem.improve(side, factors)
        other = Factors(factors.W + 1, factors.V + 1)
        for asked in (factors, other, factors):
            fresh = Quadratic.of(X, "hals", (Penalty(), Penalty())).gradient(side, asked)
            for ours, theirs in zip(problem.gradient(side, asked), fresh, strict=True):
                assert_allclose(ours, theirs, rtol=1e-12)


def table_with_gaps(share, seed=0):
    """Noisy sums of parts that cover a quarter of the columns, and what is hidden of them."""
    rng = np.random.default_rng(seed)
    parts = rng.gamma(1.0, size=(5, 60)) * (rng.uniform(size=(5, 60)) < 0.25)
    X = np.maximum(rng.gamma(0.5, size=(200, 5)) @ parts + 0.3 * rng.normal(size=(200, 60)), 0)
    return X, np.random.default_rng(1).uniform(size=X.shape) < share


@pytest.mark.parametrize("kind", ["double", "single", "unstored", "kullback-leibler"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
def test_what_is_not_seen_does_not_run_away(kind, share):
    X, hidden = table_with_gaps(share)
    table, given = np.where(hidden, np.nan, X), {"random_state": 0}
    if kind == "single":
        table = table.astype(np.float32)
    elif kind == "unstored":
        places = np.nonzero(~hidden)
        table, given["missing"] = csr_array((X[places], places), shape=X.shape), kind
    elif kind == "kullback-leibler":
        given |= {"divergence": kind, "tol": 1e-3, "max_iter": 3000}
    model = NonnegativeFactorization(5, **given)
    filled = model.fit_transform(table) @ model.components_
    spread = X[hidden].std()  # error of the mean
    assert np.sqrt(np.mean((filled - X)[hidden] ** 2)) < 0.55 * spread
    assert filled.max() < 1.5 * X.max()


def test_strength_with_gaps_is_chosen_in_the_units_of_the_data():
    X, hidden = table_with_gaps(0.5)
    holes = np.where(hidden, np.nan, X)
    plain = NonnegativeFactorization(5, random_state=0).fit(holes)
    scaled = NonnegativeFactorization(5, random_state=0).fit(2.0**20 * holes)
    assert plain.alpha_ > 0
    assert scaled.alpha_ == pytest.approx(2.0**20 * plain.alpha_)
    assert_allclose(scaled.components_, 2.0**10 * plain.components_, rtol=1e-6, atol=1e-3)


@pytest.mark.parametrize(("n", "n_init"), [(60, 1), (60, 2), (700, 1)])
def test_components_that_a_heavy_penalty_puts_out_come_back(n, n_init):
    rng = np.random.default_rng(0)
    whole = rng.uniform(size=(n, 3)) @ rng.uniform(size=(3, 40))  # its mean is most of it
    hidden = rng.uniform(size=whole.shape) < 0.1
    model = NonnegativeFactorization(3, n_init=n_init, random_state=0)
    found = model.fit_transform(np.where(hidden, np.nan, whole)) @ model.components_
    assert model.components_.any(axis=1).all()
    assert np.sqrt(np.mean((found - whole)[hidden] ** 2)) < 0.01


def test_strength_is_zero_for_exact_products_without_gaps_and_where_something_is_given():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(80, 3)) @ rng.exponential(size=(3, 30))
    holes = np.where(rng.uniform(size=X.shape) < 0.3, np.nan, X)
    for table, given in (
        (holes, {}),
        (X, {}),
        (holes, {"alpha_H": 0.0}),
        (holes, {"alpha_W": 0.0}),
        (holes, {"init": (None, X[:3]), "fixed": "components"}),
    ):
        model = NonnegativeFactorization(3, random_state=0, max_iter=5000, **given).fit(table)
        assert model.alpha_ == 0
    assert NonnegativeFactorization(3, alpha_W=0.5).fit(holes).alpha_ == 0.5


@pytest.mark.parametrize("form", ["array", "stored"])
def test_hidden_and_kept_entries_make_up_a_table(form):
    X, hidden = table_with_gaps(0.5)
    if form == "array":
        table = FactorizationTable.of(np.where(hidden, np.nan, X), "nan", "")
    else:
        places = np.nonzero(~hidden)
        table = FactorizationTable.of(csr_array((X[places], places), X.shape), "unstored", "")
    kept, apart = table.split(np.random.default_rng(0), 0.1)
    for whole, parts in (
        (table.values, (kept.values, apart.values)),
        (table.mask, (kept.mask, apart.mask)),
    ):
        left, right = (part if form == "array" else part.toarray() for part in parts)
        assert_allclose(left + right, whole if form == "array" else whole.toarray())
        assert not (left * right).any()
    assert 0.08 < apart.n_known / table.n_known < 0.12
    assert kept.known_entries().nnz == kept.n_known  # zeros that are known stay known


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_going_on_from_the_choice_ends_as_well_as_the_whole_path(share, monkeypatch):
    X, hidden = table_with_gaps(share)
    holes = np.where(hidden, np.nan, X)

    def error():
        model = NonnegativeFactorization(5, random_state=0)
        filled = model.fit_transform(holes) @ model.components_
        return np.sqrt(np.mean((filled - X)[hidden] ** 2))

    ours = error()
    choice = gaps.choose_by_gaps
    monkeypatch.setattr(
        "isthmus.sparse.factorization.estimator.choose_by_gaps",
        lambda *given: choice(*given)._replace(reached=None),
    )
    assert_allclose(ours, error(), rtol=0.02)
