"""Feature-sign search against closed forms, other solvers and its own certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import sparse_encode
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from isthmus.sparse import feature_sign_path, feature_sign_search
from isthmus.sparse.l1 import feature_sign as _feature_sign
from isthmus.sparse.l1.feature_sign import optimality, sign_search


def problem(rng, n=40, d=12, k=30):
    D = rng.normal(size=(k, d))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    return rng.normal(size=(n, d)), D


def objective(X, D, codes, alpha):
    return 0.5 * np.sum((X - codes @ D) ** 2, axis=1) + alpha * np.abs(codes).sum(axis=1)


@pytest.mark.parametrize("solver", ["blocks", "published"])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.1, 1e-3])
def test_duality_gap_is_that_of_an_exact_solution(rng, alpha, positive, solver):
    X, D = problem(rng)
    codes, proof = feature_sign_search(
        X, D, alpha=alpha, positive=positive, solver=solver, return_certificate=True
    )
    assert proof.gap.max() < 1e-12
    assert proof.violation.max() < 1e-12
    if positive:
        assert codes.min() >= 0


def test_codes_are_those_of_the_lasso_and_of_least_angle_regression(rng):
    # The specification measured 4e-14 and 2e-15.
    X, D = problem(rng)
    alpha = 0.2
    codes = feature_sign_search(X, D, alpha=alpha)
    assert_allclose(codes, sparse_encode(X, D, algorithm="lasso_lars", alpha=alpha), atol=1e-10)
    lasso = Lasso(alpha / D.shape[1], fit_intercept=False, tol=1e-13, max_iter=100_000)
    assert_allclose(codes, lasso.fit(D.T, X.T).coef_, atol=1e-8)


def test_code_is_zero_exactly_from_the_largest_product_on(rng):
    X, D = problem(rng, n=1)
    largest = np.abs(X @ D.T).max()
    assert not feature_sign_search(X, D, alpha=1.0001 * largest).any()
    assert feature_sign_search(X, D, alpha=0.9999 * largest).any()


def test_orthogonal_atoms_give_softened_products(rng):
    D = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    X = rng.normal(size=(20, 7))
    products = X @ D.T
    soft = np.sign(products) * np.maximum(np.abs(products) - 0.3, 0)
    assert_allclose(feature_sign_search(X, D, alpha=0.3), soft, atol=1e-14)


def test_published_search_takes_more_steps_to_the_same_codes(rng):
    X, D = problem(rng, d=30, k=60)
    fast, few = feature_sign_search(X, D, alpha=0.1, return_certificate=True)
    slow, many = feature_sign_search(X, D, alpha=0.1, solver="published", return_certificate=True)
    assert_allclose(fast, slow, atol=1e-12)
    assert few.n_solved.sum() < 0.7 * many.n_solved.sum()


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(1, 8),
    k=st.integers(1, 20),
    share=st.sampled_from([0.0, 0.5, 1.0]),
    exponent=st.floats(-4, 0),
)
def test_optimal_for_any_dictionary_with_repeated_and_zero_atoms(seed, d, k, share, exponent):
    rng = np.random.default_rng(seed)
    D = rng.integers(-2, 3, size=(k, d)).astype(float)  # many atoms are dependent
    X = rng.normal(size=(5, d))
    alpha = 10.0**exponent
    codes = np.zeros((5, k))
    _, finished = sign_search(X, D, alpha, codes, share=share)
    gap, violation = optimality(X, D, codes, alpha)
    assert finished.all()
    assert gap.max() < 1e-8
    assert violation.max() < 1e-8


def test_more_atoms_than_features_at_a_tiny_penalty_is_basis_pursuit(rng):
    # At no penalty the signal is met exactly; of all codes that do, the L1 norm is smallest.
    from scipy.optimize import linprog

    X, D = problem(rng, n=5, d=6, k=15)
    codes = feature_sign_search(X, D, alpha=1e-7)
    assert_allclose(codes @ D, X, atol=1e-5)
    for x, code in zip(X, codes, strict=True):
        best = linprog(np.ones(30), A_eq=np.hstack([D.T, -D.T]), b_eq=x).fun
        assert_allclose(np.abs(code).sum(), best, rtol=1e-4)


def test_working_sets_give_the_codes_of_the_whole_gram_matrix(rng, monkeypatch):
    X, D = problem(rng, n=6, d=40, k=200)
    whole = feature_sign_search(np.repeat(X, 10, axis=0), D, alpha=0.2)[::10]
    monkeypatch.setattr(_feature_sign, "_GRAM_ATOMS", 100)
    parts, proof = feature_sign_search(X, D, alpha=0.2, return_certificate=True)
    assert_allclose(parts, whole, atol=1e-12)
    assert proof.gap.max() < 1e-12
    again = feature_sign_search(X, D, alpha=0.2, init=parts)
    assert_allclose(again, whole, atol=1e-12)


def test_start_changes_the_steps_and_not_the_codes(rng):
    X, D = problem(rng)
    cold, proof = feature_sign_search(X, D, alpha=0.1, return_certificate=True)
    near = feature_sign_search(X, D, alpha=0.12)
    warm, shorter = feature_sign_search(X, D, alpha=0.1, init=near, return_certificate=True)
    assert_allclose(warm, cold, atol=1e-12)
    assert shorter.n_solved.sum() < proof.n_solved.sum()
    far = feature_sign_search(X, D, alpha=0.1, init=rng.normal(size=cold.shape))
    assert_allclose(far, cold, atol=1e-12)


def test_path_starts_at_zero_and_each_point_is_optimal(rng):
    X, D = problem(rng)
    alphas, codes = feature_sign_path(X, D, alphas=6)
    assert codes.shape == (6, 40, 30)
    assert np.all(np.diff(alphas) < 0)
    assert np.abs(codes[0]).max() < 1e-12
    for alpha, point in zip(alphas, codes, strict=True):
        assert optimality(X, D, point, alpha)[0].max() < 1e-12
    assert feature_sign_path(X[0], D, alphas=[0.1])[1].shape == (1, 30)


def test_threads_do_not_change_a_bit(rng):
    X, D = problem(rng, n=1500, d=8, k=16)
    one = feature_sign_search(X, D, alpha=0.05)
    two = feature_sign_search(X, D, alpha=0.05, n_jobs=2)
    assert_array_equal(one, two)


def test_gap_bounds_the_excess_of_any_code(rng):
    X, D = problem(rng)
    best = objective(X, D, feature_sign_search(X, D, alpha=0.3), 0.3)
    codes = 0.2 * rng.normal(size=(40, 30))
    gap, violation = optimality(X, D, codes, 0.3)
    assert np.all(gap >= objective(X, D, codes, 0.3) - best)
    assert np.all(violation > 0)


def test_lengths_of_atoms_act_as_inverse_penalties(rng):
    X, D = problem(rng)
    assert_allclose(
        feature_sign_search(X, 2 * D, alpha=0.4), feature_sign_search(X, D, alpha=0.2) / 2
    )


def test_input_stays_as_it_is(rng):
    X, D = problem(rng)
    start = rng.normal(size=(40, 30))
    for array in (X, D, start):
        array.flags.writeable = False
    feature_sign_search(X, D, alpha=0.1, init=start)


def test_one_signal_gives_one_code(rng):
    X, D = problem(rng)
    code, proof = feature_sign_search(X[0], D, alpha=0.1, return_certificate=True)
    assert code.shape == (30,)
    assert np.ndim(proof.gap) == 0


def test_too_few_steps_are_reported(rng):
    X, D = problem(rng)
    with pytest.warns(ConvergenceWarning, match="did not reach the optimum of"):
        feature_sign_search(X, D, alpha=0.01, max_iter=1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"alpha": 0.0}, ValueError, r"'alpha' parameter of feature_sign_search .*Got 0.0"),
        ({"alpha": "1"}, TypeError, r"must be a float in \(0.0, inf\). Got '1'"),
        ({"solver": "lars"}, ValueError, r"one of 'blocks', 'published'. Got 'lars'"),
        ({"init": np.ones((2, 2))}, ValueError, r"shape \(40, 30\). Got shape \(2, 2\)"),
        ({"D": np.ones((3, 5))}, ValueError, r"atoms are rows"),
    ],
)
def test_refusals_name_what_is_wrong(rng, change, error, message):
    X, D = problem(rng)
    with pytest.raises(error, match=message):
        feature_sign_search(X, **({"D": D, "alpha": 0.1} | change))


def test_path_refuses_a_count_of_zero(rng):
    X, D = problem(rng)
    with pytest.raises(ValueError, match="'alphas' parameter of feature_sign_path"):
        feature_sign_path(X, D, alphas=0)
