"""The front end of sparse codes over a given dictionary."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from isthmus.sparse import SparseCoder, feature_sign_search, orthogonal_matching_pursuit
from isthmus.sparse import coder as coder_module
from isthmus.sparse.coder import coordinate_descent, cosine_atoms
from isthmus.sparse.l1.feature_sign import optimality


@pytest.fixture
def signals(rng):
    D = rng.normal(size=(20, 10))
    X = rng.normal(size=(50, 10))
    return X, D / np.linalg.norm(D, axis=1, keepdims=True)


def test_auto_takes_the_pursuit_where_non_zeros_or_an_error_are_named(signals):
    X, D = signals
    assert SparseCoder(D).fit(X).algorithm_ == "feature_sign"
    assert SparseCoder(D, n_nonzero=3).fit(X).algorithm_ == "pursuit"
    assert SparseCoder(D, tol=0.1).fit(X).algorithm_ == "pursuit"


def test_codes_are_those_of_the_functions(signals):
    X, D = signals
    assert_array_equal(
        SparseCoder(D, alpha=0.2).fit(X).transform(X), feature_sign_search(X, D, alpha=0.2)
    )
    assert_array_equal(
        SparseCoder(D, n_nonzero=3).fit(X).transform(X),
        orthogonal_matching_pursuit(X, D, n_nonzero=3),
    )


@pytest.mark.parametrize("positive", [False, True])
def test_coordinate_descent_ends_at_its_duality_gap(signals, positive):
    X, D = signals
    coder = SparseCoder(D, algorithm="coordinate_descent", alpha=0.1, positive=positive, tol=1e-6)
    codes = coder.fit(X).transform(X)
    gap, _ = optimality(X, D, codes, 0.1, positive=positive)
    assert np.all(gap <= 0.5e-6 * np.sum(X**2, axis=1) * (1 + 1e-6))
    exact = feature_sign_search(X, D, alpha=0.1, positive=positive)
    assert_allclose(codes, exact, atol=0.01)
    if positive:
        assert codes.min() >= 0


def test_coordinate_descent_from_the_optimum_stays_there(signals):
    X, D = signals
    exact = feature_sign_search(X, D, alpha=0.1)
    codes = exact.copy()
    sweeps, finished = coordinate_descent(X, D, 0.1, codes, tol=1e-8)
    assert finished.all()
    assert sweeps.max() == 1
    assert_allclose(codes, exact, atol=1e-12)


def test_default_penalty_follows_the_unit_of_the_signals(signals):
    X, D = signals
    codes = SparseCoder(D).fit(X).transform(X)
    assert 0 < np.count_nonzero(codes) < codes.size
    assert_allclose(SparseCoder(D).fit(1000 * X).transform(1000 * X), 1000 * codes)


def test_cosines_are_a_basis_or_twice_as_many(rng):
    assert_allclose(cosine_atoms(9, 9) @ cosine_atoms(9, 9).T, np.eye(9), atol=1e-12)
    coder = SparseCoder().fit(rng.normal(size=(5, 9)))
    assert_allclose(np.linalg.norm(coder.components_, axis=1), np.ones(18))


def test_inverse_transform_makes_signals_of_codes(signals):
    X, D = signals
    coder = SparseCoder(D, alpha=1e-6).fit(X)
    assert_allclose(coder.inverse_transform(coder.transform(X)), X, atol=1e-4)
    with pytest.raises(ValueError, match=r"has 20 atoms.* Got 3"):
        coder.inverse_transform(np.zeros((2, 3)))


def test_works_in_a_pipeline_with_names(signals):
    X, D = signals
    chain = make_pipeline(SparseCoder(D), PCA(2)).fit(X)
    assert chain.transform(X).shape == (50, 2)
    assert chain[0].get_feature_names_out()[0] == "sparsecoder0"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"algorithm": "lars"}, ValueError, "one of 'auto', 'feature_sign'"),
        ({"alpha": -1.0}, ValueError, r"'alpha' parameter of SparseCoder.*Got -1.0"),
        ({"dictionary": "dft"}, ValueError, "must be 'dct' or an array .* Got 'dft'"),
        ({"dictionary": np.ones((3, 4))}, ValueError, "as many features as X. Got 4 and 10"),
        ({"n_nonzero": 2, "positive": True}, ValueError, "cannot keep coefficients positive"),
        (
            {"algorithm": "coordinate_descent", "tol": 0.0},
            ValueError,
            "'tol' parameter of SparseCoder",
        ),
    ],
)
def test_refused_settings_leave_nothing_fitted(signals, settings, error, message):
    X, D = signals
    coder = SparseCoder(**({"dictionary": D} | settings))
    with pytest.raises(error, match=message):
        coder.fit(X)
    assert not hasattr(coder, "components_")


def test_codes_short_of_the_optimum_are_reported(signals, monkeypatch):
    X, D = signals

    def gives_up(X, D, alpha, codes, **_):
        return np.zeros(len(X), dtype=int), np.zeros(len(X), dtype=bool)

    monkeypatch.setattr(coder_module, "coordinate_descent", gives_up)
    coder = SparseCoder(D, algorithm="coordinate_descent").fit(X)
    with pytest.warns(ConvergenceWarning, match="did not reach the optimum of 50 of 50"):
        coder.transform(X)
