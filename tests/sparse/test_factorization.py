"""Non-negative factorisation as an estimator."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from isthmus.sparse import (
    HoyerSparseness,
    NonnegativeFactorization,
    ParkSparsity,
    hoyer_sparseness,
    nonnegative_least_squares,
)

EUCLIDEAN = ("hals", "anls", "multiplicative")


def planted(seed=0, n=60, d=40, k=4, noise=0.0):
    """A product of sparse factors, with relative noise."""
    rng = np.random.default_rng(seed)
    W, H = rng.gamma(0.5, size=(n, k)), rng.gamma(0.5, size=(k, d))
    X = W @ H * (1 + noise * rng.uniform(-1, 1, size=(n, d)))
    X.flags.writeable = False
    return X, W, H


def fitted(X, k=4, **parameters):
    return NonnegativeFactorization(k, random_state=0, **parameters).fit(X)


@pytest.mark.parametrize("solver", ["hals", "anls"])
def test_result_is_stationary(solver):
    X, _, _ = planted(noise=0.2)
    model = NonnegativeFactorization(4, solver=solver, tol=1e-8, max_iter=20_000, random_state=0)
    W = model.fit_transform(X)
    H = model.components_
    size = np.linalg.norm(X @ H.T)
    for factor, slope in ((W, (W @ H - X) @ H.T), (H, W.T @ (W @ H - X))):
        assert factor.min() >= 0
        assert slope.min() > -1e-6 * size
        assert abs(factor * slope).max() < 1e-6 * size


@pytest.mark.parametrize("solver", EUCLIDEAN)
def test_objective_never_rises_and_is_the_loss_at_the_end(solver):
    X, _, _ = planted(noise=0.2)
    model = NonnegativeFactorization(4, solver=solver, tol=1e-3, max_iter=5000, random_state=0)
    W = model.fit_transform(X)
    assert np.diff(model.objective_path_).max() <= 0
    residual = np.linalg.norm(X - W @ model.components_)
    assert model.reconstruction_err_ == pytest.approx(residual)
    assert model.objective_ == pytest.approx(0.5 * residual**2)
    # Codes are solved for once more at the end.
    assert model.objective_ <= model.objective_path_[-1] * (1 + 1e-12)


@pytest.mark.parametrize("divergence", ["kullback-leibler", "itakura-saito"])
@pytest.mark.parametrize("solver", ["extrapolated", "multiplicative"])
def test_divergences_fall_to_those_of_scikit_learn(divergence, solver):
    X, _, _ = planted(noise=0.2)
    X = X + 0.01
    model = fitted(X, divergence=divergence, solver=solver, max_iter=5000, tol=1e-3)
    assert np.diff(model.objective_path_).max() <= 0
    peer = NMF(
        4, solver="mu", beta_loss=divergence, init="nndsvda", tol=1e-6, max_iter=5000,
        random_state=0,
    ).fit(X)  # fmt: skip
    assert model.reconstruction_err_ <= peer.reconstruction_err_ * 1.001


def test_extrapolation_is_ahead_of_the_plain_updates():
    X, _, _ = planted(n=150, d=60, noise=0.3)
    for divergence, fast in (("euclidean", "hals"), ("kullback-leibler", "extrapolated")):
        with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
            models = [
                fitted(X, 8, divergence=divergence, solver=solver, max_iter=60, tol=0.0)
                for solver in (fast, "multiplicative")
            ]
        assert models[0].objective_ < models[1].objective_


def test_penalised_objective_is_that_of_scikit_learn():
    X, _, _ = planted(noise=0.2)
    penalties = {"alpha_W": 0.01, "alpha_H": 0.02, "l1_ratio": 0.3}
    ours = fitted(X, tol=1e-7, **penalties)
    peer = NMF(
        4, init="nndsvda", tol=1e-9, max_iter=10_000, random_state=0, **penalties
    ).fit(X)  # fmt: skip
    assert_allclose(ours.components_, peer.components_, atol=1e-4)
    assert ours.reconstruction_err_ == pytest.approx(peer.reconstruction_err_, rel=1e-5)


def test_codes_are_exact_and_each_row_is_by_itself():
    X, _, _ = planted(noise=0.2)
    for divergence in ("euclidean", "kullback-leibler"):
        model = NonnegativeFactorization(4, divergence=divergence, random_state=0, max_iter=5000)
        codes = model.fit_transform(X)
        assert_allclose(model.transform(X), codes, atol=1e-3 * codes.max())
        alone = np.vstack([model.transform(x[None]) for x in X[:5]])
        assert_allclose(alone, model.transform(X)[:5], atol=1e-10)
    exact = nonnegative_least_squares(X, fitted(X).components_)
    assert_allclose(fitted(X).transform(X), exact, atol=1e-10)


@pytest.mark.parametrize(
    ("divergence", "share"), [("euclidean", 0.5), ("kullback-leibler", 0.4), ("itakura-saito", 0.3)]
)
def test_missing_entries_of_an_exact_product_are_recovered(divergence, share):
    X, _, _ = planted()
    X = X + 0.05  # rank 5
    rng = np.random.default_rng(1)
    holes = np.where(rng.uniform(size=X.shape) < share, np.nan, X)
    model = fitted(holes, 5, divergence=divergence, tol=1e-5, max_iter=20_000)
    hidden = np.isnan(holes)
    filled = model.inverse_transform(model.transform(holes))
    error = np.linalg.norm((filled - X)[hidden]) / np.linalg.norm(X[hidden])
    assert error < 0.02


def test_rows_and_columns_without_any_entry_are_borne():
    X, _, _ = planted()
    X = X.copy()
    X[3], X[:, 5] = np.nan, np.nan
    for divergence in ("euclidean", "kullback-leibler"):
        model = fitted(X, divergence=divergence, tol=1e-3, max_iter=5000)
        assert np.isfinite(model.components_).all()
        assert_allclose(model.transform(X)[3], 0)


def test_sparse_tables_are_factored_without_being_filled():
    X, _, _ = planted()
    X = np.where(X > 0.5, X, 0)
    for divergence in ("euclidean", "kullback-leibler"):
        dense = fitted(X, divergence=divergence, max_iter=5000)
        stored = fitted(csr_array(X), divergence=divergence, max_iter=5000)
        assert stored.objective_ == pytest.approx(dense.objective_, rel=1e-6)
        assert_allclose(stored.transform(csr_array(X)), stored.transform(X), atol=1e-6)


def test_sparseness_of_components_and_codes_is_what_was_asked():
    X, _, _ = planted(noise=0.3)
    for solver in ("hals", "multiplicative"):
        model = fitted(X, sparsity=0.6, solver=solver, max_iter=5000)
        assert_allclose(hoyer_sparseness(model.components_), 0.6, atol=1e-6)
        assert np.diff(model.objective_path_).max() <= 1e-9
    both = NonnegativeFactorization(4, sparsity=HoyerSparseness(0.5, 0.3), random_state=0)
    codes = both.fit_transform(X)
    assert_allclose(hoyer_sparseness(both.components_), 0.5, atol=1e-6)
    assert_allclose(hoyer_sparseness(codes.T), 0.3, atol=1e-6)
    by_sample = HoyerSparseness(None, 0.4, "sample")
    model = NonnegativeFactorization(4, sparsity=by_sample, tol=1e-2, random_state=0)
    codes = model.fit_transform(X)
    assert_allclose(hoyer_sparseness(codes), 0.4, atol=1e-6)


def test_hoyer_without_any_target_is_the_multiplicative_solver():
    X, W, H = planted(noise=0.2)
    rng = np.random.default_rng(0)
    start = (rng.uniform(size=W.shape), rng.uniform(size=H.shape))
    free = HoyerSparseness(None, None)
    parameters = {"solver": "multiplicative", "init": start, "max_iter": 30, "tol": 0.0}
    with pytest.warns(ConvergenceWarning):
        plain, hoyer = (fitted(X, sparsity=s, **parameters) for s in (None, free))
    assert_allclose(hoyer.components_, plain.components_, rtol=1e-10)


def test_exact_components_do_not_lose_to_hoyers_steps():
    X, _, _ = planted(noise=0.3)
    ours, published = (
        fitted(X, sparsity=0.6, solver=solver, max_iter=5000, tol=1e-7)
        for solver in ("hals", "multiplicative")
    )
    assert ours.objective_ <= published.objective_ * 1.001
    assert ours.n_iter_ < published.n_iter_


def test_squared_sums_make_codes_sparse_and_without_them_it_is_anls():
    X, _, _ = planted(noise=0.2)
    codes = [
        NonnegativeFactorization(
            4, sparsity=ParkSparsity(beta, eta=0.1), random_state=0, max_iter=5000
        ).fit_transform(X)
        for beta in (0.0, 1.0, 10.0)
    ]
    zeros = [float(np.mean(c < 1e-10)) for c in codes]
    assert zeros[0] < zeros[1] < zeros[2]
    free = fitted(X, sparsity=ParkSparsity(0.0, eta=0.0), solver="anls")
    assert_allclose(free.components_, fitted(X, solver="anls").components_, atol=1e-10)


def test_planted_modules_are_found_as_clusters():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [19, 8, 11])
    centres = rng.gamma(2.0, size=(3, 200)) * (rng.uniform(size=(3, 200)) < 0.3)
    X = centres[labels] + 0.3 * rng.uniform(size=(38, 200))
    codes = NonnegativeFactorization(3, sparsity="park", random_state=0).fit_transform(X)
    groups = codes.argmax(axis=1)
    assert len({(g, c) for g, c in zip(groups, labels, strict=True)}) == 3


def test_scale_of_components_is_fixed_without_penalties():
    X, _, _ = planted(noise=0.2)
    assert_allclose(np.linalg.norm(fitted(X).components_, axis=1), 1)
    counts = fitted(X, divergence="kullback-leibler", max_iter=5000)
    assert_allclose(counts.components_.sum(axis=1), 1)


def test_more_starts_are_no_worse():
    X, _, _ = planted(noise=0.5, k=6)
    one, five = (
        NonnegativeFactorization(6, init="random", n_init=n, random_state=1).fit(X) for n in (1, 5)
    )
    assert five.objective_ <= one.objective_


def test_single_precision_stays_and_agrees():
    X, _, _ = planted(noise=0.2)
    single = fitted(X.astype(np.float32))
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    double = fitted(X)
    assert single.reconstruction_err_ == pytest.approx(double.reconstruction_err_, rel=1e-3)


def test_a_table_of_zeros_and_more_components_than_features_are_borne():
    model = NonnegativeFactorization(2).fit(np.zeros((5, 3)))
    assert_array_equal(model.transform(np.zeros((1, 3))), [[0, 0]])
    X, _, _ = planted(d=3, k=2)
    assert fitted(X, 5).components_.shape == (5, 3)


def test_same_seed_same_result_and_parameters_stay():
    X, _, _ = planted(noise=0.2)
    sparsity = HoyerSparseness(0.5)
    model = NonnegativeFactorization(3, sparsity=sparsity, init="random", random_state=3)
    before = repr(model)
    first = model.fit_transform(X)
    assert_array_equal(clone(model).fit_transform(X), first)
    assert repr(model) == before
    assert model.sparsity is sparsity


def test_searched_over_in_a_pipeline():
    X, _, _ = planted()
    y = X[:, 0] > np.median(X[:, 0])
    from sklearn.linear_model import LogisticRegression

    model = make_pipeline(
        MaxAbsScaler(),
        NonnegativeFactorization(4, sparsity=ParkSparsity(), random_state=0),
        LogisticRegression(),
    )
    grid = {"nonnegativefactorization__sparsity__beta": [0.01, 1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.6


REFUSED = [
    ({"n_components": 0}, ValueError, r"'n_components' parameter of NonnegativeFactorization"),
    ({"n_components": 2.5}, TypeError, r"an int in \[1, inf\)"),
    ({"divergence": "cosine"}, ValueError, "'divergence' parameter"),
    ({"solver": "extrapolated"}, ValueError, "'auto' or one of 'hals', 'anls', 'multiplicative'"),
    ({"solver": "hals", "divergence": "kullback-leibler"}, ValueError, "or one of 'extrapolated'"),
    ({"sparsity": "lasso"}, ValueError, "'sparsity' parameter of NonnegativeFactorization"),
    ({"sparsity": 1.5}, ValueError, r"a float in \[0, 1\]"),
    ({"sparsity": 0.5, "divergence": "kullback-leibler"}, ValueError, "must be None with"),
    ({"sparsity": 0.5, "alpha_W": 0.1}, ValueError, "either a Hoyer constraint or penalties"),
    ({"sparsity": ParkSparsity(beta=-1.0)}, ValueError, "'beta' parameter of ParkSparsity"),
    ({"alpha_W": -1.0}, ValueError, "'alpha_W' parameter"),
    ({"l1_ratio": 2.0}, ValueError, "'l1_ratio' parameter"),
    ({"missing": "zero"}, ValueError, "'missing' parameter"),
    ({"missing": "unstored"}, TypeError, "needs a sparse table"),
    ({"init": "pca"}, ValueError, "'init' parameter"),
    ({"init": "svd", "n_components": 50}, ValueError, "more components than 40"),
    ({"init": (np.ones((2, 4)), np.ones((4, 40)))}, ValueError, r"shapes \(60, 4\)"),
    ({"tol": -1.0}, ValueError, "'tol' parameter"),
    ({"max_iter": 0}, ValueError, "'max_iter' parameter"),
]


@pytest.mark.parametrize(("parameters", "error", "words"), REFUSED)
def test_bad_parameters_are_named_and_leave_nothing_fitted(parameters, error, words):
    X, _, _ = planted()
    model = NonnegativeFactorization(**({"n_components": 4} | parameters))
    with pytest.raises(error, match=words):
        model.fit(X)
    assert not hasattr(model, "components_")
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_bad_tables_are_named():
    X, _, _ = planted()
    for bad, words in ((X - 1, "Negative values in data passed"), (X * np.inf, "infinity|NaN")):
        with pytest.raises(ValueError, match=words):
            NonnegativeFactorization(2).fit(bad)
    holes = np.where(X > 1, np.nan, X)
    with pytest.raises(ValueError, match="contains NaN"):
        NonnegativeFactorization(2, sparsity=0.5).fit(holes)
    with pytest.raises(ValueError, match="positive entries"):
        NonnegativeFactorization(2, divergence="itakura-saito").fit(np.where(X > 1, X, 0))
    with pytest.raises(ValueError, match="one column for each of its 2 components"):
        fitted(X, 2).inverse_transform(np.ones((1, 3)))


@pytest.mark.parametrize("divergence", ["euclidean", "kullback-leibler"])
def test_table_without_a_known_entry_is_refused(divergence):
    with pytest.raises(ValueError, match="at least one known entry"):
        NonnegativeFactorization(2, divergence=divergence).fit(np.full((4, 3), np.nan))


def test_none_is_no_missing_entry():
    X = np.ones((4, 3), dtype=object)
    X[0, 0] = None
    with pytest.raises(ValueError, match="takes NaN for a missing entry"):
        NonnegativeFactorization(2).fit(X)
