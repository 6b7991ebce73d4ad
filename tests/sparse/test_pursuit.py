"""Matching pursuits: limits, guarantees, invariants, and the fast against the plain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import hadamard
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import orthogonal_mp_gram

from isthmus.sparse import matching_pursuit, orthogonal_matching_pursuit


def dictionary(rng, n_atoms=24, n_features=12):
    D = rng.normal(size=(n_atoms, n_features))
    return D / np.linalg.norm(D, axis=1, keepdims=True)


def sparse_codes(rng, n, n_atoms, n_nonzero, low=0.0):
    C = np.zeros((n, n_atoms))
    for row in C:
        at = rng.choice(n_atoms, n_nonzero, replace=False)
        row[at] = rng.choice([-1, 1], n_nonzero) * (low + rng.exponential(size=n_nonzero))
    return C


def plain_pursuit(x, D, n_nonzero, tol=0.0, rule="correlation"):
    """The definition: choose, solve least squares, repeat."""
    chosen, c = [], np.zeros(len(D))
    r = x
    while len(chosen) < n_nonzero and np.linalg.norm(r) > tol:
        if rule == "correlation":
            new = int(np.argmax(np.abs(D @ r)))
        else:
            left = [
                np.inf if j in chosen else np.linalg.lstsq(D[[*chosen, j]].T, x)[1].sum()
                for j in range(len(D))
            ]
            new = int(np.argmin(left))
        chosen.append(new)
        c[:] = 0
        c[chosen] = np.linalg.lstsq(D[chosen].T, x)[0]
        r = x - c @ D
    return c


@pytest.mark.parametrize("rule", ["correlation", "residual"])
def test_batch_pursuit_is_the_plain_one(rng, rule):
    D, X = dictionary(rng), rng.normal(size=(30, 12))
    expected = [plain_pursuit(x, D, 5, rule=rule) for x in X]
    assert_allclose(orthogonal_matching_pursuit(X, D, n_nonzero=5, rule=rule), expected, atol=1e-10)


@pytest.mark.parametrize("rule", ["correlation", "residual"])
@pytest.mark.parametrize("n_atoms", [31, 32, 33, 70])
def test_any_number_of_atoms_is_searched_as_one(rng, rule, n_atoms):
    # Loops take 32 atoms at a time.
    D, X = dictionary(rng, n_atoms, 12), rng.normal(size=(8, 12))
    expected = [plain_pursuit(x, D, 6, rule=rule) for x in X]
    assert_allclose(orthogonal_matching_pursuit(X, D, n_nonzero=6, rule=rule), expected, atol=1e-9)


@pytest.mark.parametrize("rule", ["correlation", "residual"])
def test_first_of_equal_correlations_is_chosen(rule):
    # Atoms 3 and 40 lie in different lanes, 5 and 45 in the same one.
    for first, second in ((3, 40), (5, 45), (40, 41)):
        D = np.eye(64)
        x = np.zeros(64)
        x[[first, second]] = -1.0, 1.0
        code = orthogonal_matching_pursuit(x[None], D, n_nonzero=1, rule=rule)[0]
        assert_array_equal(np.flatnonzero(code), [first])


def test_stopping_by_error_is_that_of_the_plain_pursuit(rng):
    D, X = dictionary(rng), rng.normal(size=(30, 12))
    expected = [plain_pursuit(x, D, 12, tol=1.2) for x in X]
    codes = orthogonal_matching_pursuit(X, D, tol=1.2)
    assert_allclose(codes, expected, atol=1e-10)
    assert np.linalg.norm(X - codes @ D, axis=1).max() <= 1.2
    assert len(set((codes != 0).sum(axis=1))) > 1


def test_codes_are_those_of_scikit_learn(rng):
    D, X = dictionary(rng, 60, 30), rng.normal(size=(600, 30))
    theirs = orthogonal_mp_gram(D @ D.T, D @ X.T, n_nonzero_coefs=8).T
    assert_allclose(orthogonal_matching_pursuit(X, D, n_nonzero=8), theirs, atol=1e-10)


@pytest.mark.parametrize("rule", ["correlation", "residual"])
@pytest.mark.parametrize("gaps", [False, True])
def test_threads_change_no_bit(rng, rule, gaps):
    D, X = dictionary(rng, 40, 16), rng.normal(size=(1700, 16))
    if gaps:
        if rule == "residual":
            return
        X[rng.random(X.shape) < 0.2] = np.nan
    serial = orthogonal_matching_pursuit(X, D, n_nonzero=4, rule=rule, n_jobs=1)
    for n_jobs in (None, 2, 3):
        threads = orthogonal_matching_pursuit(X, D, n_nonzero=4, rule=rule, n_jobs=n_jobs)
        assert_array_equal(serial.view(np.int64), threads.view(np.int64))
    if not gaps:
        assert_array_equal(matching_pursuit(X, D, n_jobs=2), matching_pursuit(X, D))


def test_incoherent_dictionary_gives_exact_recovery(rng):
    # [I, Hadamard / 8]: coherence 1/8, so four atoms are found if 1/8 < 1/(2·4 - 1).
    D = np.vstack([np.eye(64), hadamard(64) / 8.0])
    C = sparse_codes(rng, 200, 128, 4)
    assert_allclose(orthogonal_matching_pursuit(C @ D, D, n_nonzero=4), C, atol=1e-12)


def test_noise_below_the_bound_leaves_the_support_exact(rng):
    D = np.vstack([np.eye(64), hadamard(64) / 8.0])
    noise = rng.normal(size=(200, 64))
    b = 0.01
    noise *= b / np.linalg.norm(noise, axis=1, keepdims=True)
    C = sparse_codes(rng, 200, 128, 4, low=2 * b / (1 - 7 / 8))
    found = orthogonal_matching_pursuit(C @ D + noise, D, tol=b)
    assert_array_equal(found != 0, C != 0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_orthonormal_dictionary_keeps_the_largest_coefficients(seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(9, 9)))[0]
    x = rng.normal(size=(1, 9))
    c = x @ Q.T
    kept = np.abs(c) >= np.sort(np.abs(c))[:, -3]
    codes = orthogonal_matching_pursuit(x, Q, n_nonzero=3)
    assert_allclose(codes, np.where(kept, c, 0), atol=1e-12)
    assert_allclose(matching_pursuit(x, Q, max_iter=3), codes, atol=1e-12)


def test_residual_is_orthogonal_to_the_support_and_shrinks(rng):
    D, X = dictionary(rng), rng.normal(size=(20, 12))
    last = np.linalg.norm(X, axis=1)
    for count in range(1, 12):
        codes = orthogonal_matching_pursuit(X, D, n_nonzero=count)
        R = X - codes @ D
        assert_allclose((R @ D.T)[codes != 0], 0, atol=1e-9)
        assert ((codes != 0).sum(axis=1) == count).all()
        norms = np.linalg.norm(R, axis=1)
        assert (norms < last).all()
        last = norms


def test_tiny_tolerance_is_met_where_subtraction_of_squares_would_lose_it(rng):
    D = dictionary(rng, 80, 40)
    X = sparse_codes(rng, 50, 80, 8, low=0.1) @ D + 1e-10 * rng.normal(size=(50, 40))
    codes = orthogonal_matching_pursuit(X, D, tol=1e-9)
    assert np.linalg.norm(X - codes @ D, axis=1).max() <= 1e-9
    assert np.median((codes != 0).sum(axis=1)) == 8


def test_lengths_of_atoms_do_not_change_the_reconstruction(rng):
    D, X = dictionary(rng), rng.normal(size=(10, 12))
    scales = rng.uniform(0.1, 10, size=(24, 1))
    for pursuit, limit in (
        (orthogonal_matching_pursuit, {"n_nonzero": 4}),
        (matching_pursuit, {"max_iter": 4}),
    ):
        unit, scaled = pursuit(X, D, **limit), pursuit(X, scales * D, **limit)
        assert_allclose(unit, scaled * scales.T, atol=1e-10)


@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)
def test_dependent_and_zero_atoms_are_never_chosen_twice(rng):
    D = dictionary(rng, 6, 12)
    both = np.vstack([D, D, np.zeros((1, 12))])
    X = rng.normal(size=(5, 12))
    codes = orthogonal_matching_pursuit(X, both, n_nonzero=12)
    assert (codes[:, -1] == 0).all()
    assert ((codes != 0).sum(axis=1) <= 6).all()
    assert_allclose(codes @ both, X @ np.linalg.pinv(D) @ D, atol=1e-8)


def test_zero_signal_has_zero_code(rng):
    D = dictionary(rng)
    for pursuit in (orthogonal_matching_pursuit, matching_pursuit):
        assert_array_equal(pursuit(np.zeros((2, 12)), D), np.zeros((2, 24)))


def test_gaps_are_filled_and_a_pursuit_without_gaps_is_unchanged(rng):
    D = dictionary(rng, 40, 30)
    C = sparse_codes(rng, 40, 40, 2, low=0.5)
    X = C @ D
    holes = X.copy()
    holes[rng.random(X.shape) < 0.3] = np.nan
    codes = orthogonal_matching_pursuit(holes, D, tol=1e-8, n_nonzero=6)
    right = np.linalg.norm(codes @ D - X, axis=1) < 1e-6
    assert right.mean() > 0.9
    # One signal with a gap sends the others through the masked pursuit as well.
    X = rng.normal(size=(10, 30))
    mixed = X.copy()
    mixed[0, 0] = np.nan
    masked = orthogonal_matching_pursuit(mixed, D, n_nonzero=5)
    assert_allclose(masked[1:], orthogonal_matching_pursuit(X[1:], D, n_nonzero=5), atol=1e-10)


def test_masked_pursuit_is_a_pursuit_of_the_rescaled_visible_atoms(rng):
    D, x = dictionary(rng), rng.normal(size=12)
    seen = rng.random(12) < 0.7
    visible = D[:, seen]
    lengths = np.linalg.norm(visible, axis=1)
    expected = plain_pursuit(x[seen], visible / lengths[:, None], 3) / lengths
    holes = np.where(seen, x, np.nan)[None]
    assert_allclose(orthogonal_matching_pursuit(holes, D, n_nonzero=3)[0], expected, atol=1e-10)


def test_a_signal_without_any_observed_entry_has_zero_code(rng):
    D = dictionary(rng)
    assert_array_equal(orthogonal_matching_pursuit(np.full((1, 12), np.nan), D), np.zeros((1, 24)))


def test_matching_pursuit_loses_the_square_of_each_share(rng):
    D, x = dictionary(rng), rng.normal(size=(1, 12))
    last = x
    for steps in (1, 2, 3, 8):
        R = x - matching_pursuit(x, D, max_iter=steps) @ D
        assert np.linalg.norm(R) < np.linalg.norm(last)
        last = R
    best = np.abs(D @ x[0]).max()
    R = x - matching_pursuit(x, D, max_iter=1) @ D
    assert_allclose(np.sum(R**2), np.sum(x**2) - best**2)
    R = x - matching_pursuit(x, D, max_iter=5000, tol=1e-3) @ D
    assert np.linalg.norm(R) <= 1e-3


def test_sparse_output_is_the_dense_one(rng):
    D, X = dictionary(rng), rng.normal(size=(10, 12))
    dense = orthogonal_matching_pursuit(X, D, tol=1.0)
    codes = orthogonal_matching_pursuit(X, D, tol=1.0, sparse_output=True)
    assert_array_equal(codes.toarray(), dense)
    assert codes.has_sorted_indices


def test_one_tolerance_for_each_signal(rng):
    D, X = dictionary(rng), rng.normal(size=(2, 12))
    codes = orthogonal_matching_pursuit(X, D, tol=[0.1, 100.0])
    assert (codes[0] != 0).any()
    assert (codes[1] == 0).all()


def test_input_is_untouched(rng):
    D, X = dictionary(rng), rng.normal(size=(5, 12))
    D.flags.writeable = X.flags.writeable = False
    orthogonal_matching_pursuit(X, D)
    matching_pursuit(X, D)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_nonzero": 0}, r"'n_nonzero' parameter of orthogonal_matching_pursuit .*Got 0"),
        ({"tol": -1.0}, r"'tol' parameter .* in \[0, inf\). Got -1.0"),
        ({"tol": [1.0, 2.0]}, r"one for each of the 3 signals. Got shape \(2,\)"),
        ({"rule": "best"}, r"one of 'correlation', 'residual'. Got 'best'"),
    ],
)
def test_bad_parameters_are_named(rng, arguments, message):
    with pytest.raises(ValueError, match=message):
        orthogonal_matching_pursuit(rng.normal(size=(3, 12)), dictionary(rng), **arguments)


def test_bad_shapes_and_kinds_are_named(rng):
    D = dictionary(rng)
    with pytest.raises(
        ValueError, match=r"X.shape=\(3, 5\) and D.shape=\(24, 12\); atoms are rows"
    ):
        orthogonal_matching_pursuit(np.ones((3, 5)), D)
    with pytest.raises(TypeError, match=r"must be an int in \[1, 24\] .* Got 1.5"):
        orthogonal_matching_pursuit(np.ones((3, 12)), D, n_nonzero=1.5)
    with pytest.raises(ValueError, match="'max_iter' parameter of matching_pursuit"):
        matching_pursuit(np.ones((3, 12)), D, max_iter=0)
    with pytest.raises(ValueError, match=r"gaps .* rule='correlation' only"):
        orthogonal_matching_pursuit(np.full((3, 12), np.nan), D, rule="residual")


def test_goal_out_of_reach_is_told():
    D = np.eye(4)[:2]
    X = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 2.0, 0.0]])
    with pytest.warns(ConvergenceWarning, match=r"1 of 2 signals: .*signal 1 is 2, .*at most 0.1"):
        codes = orthogonal_matching_pursuit(X, D, tol=0.1)
    assert_allclose(codes, [[1, 1], [1, 1]])
    # A number of atoms that the caller chose may end where it does.
    orthogonal_matching_pursuit(X, D, tol=0.1, n_nonzero=1)


def test_dictionary_that_runs_out_of_atoms_is_told():
    D = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    with pytest.warns(ConvergenceWarning, match="above its goal for 1 of 1"):
        orthogonal_matching_pursuit([[1.0, 2.0, 3.0]], D, n_nonzero=3)


@pytest.mark.parametrize("pursuit", [orthogonal_matching_pursuit, matching_pursuit])
def test_equal_atoms_are_told(pursuit):
    D = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -2.0]])
    with pytest.warns(RuntimeWarning, match="Atoms 1 and 2 of the dictionary are equal"):
        pursuit([[1.0, 1.0]], D)


def test_more_nonzeros_than_atoms_are_refused():
    with pytest.raises(ValueError, match=r"'n_nonzero' .* int in \[1, 2\] \(the number of atoms\)"):
        orthogonal_matching_pursuit([[1.0, 2.0]], np.eye(2), n_nonzero=3)
