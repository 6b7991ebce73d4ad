"""Basis pursuit: certified optima, three solvers that agree, recovery where theory promises it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from isthmus._progress import ProgressLine
from isthmus.sensing import (
    basis_pursuit,
    guaranteed_sparsity,
    orthonormal_basis,
    recovery_constants,
    restricted_isometry,
    sensing_matrix,
)
from isthmus.sensing.first_order import first_order
from isthmus.sensing.homotopy import homotopy
from isthmus.sensing.pursuit import squared_norm
from isthmus.sensing.root import exact_root, lasso_root, newton_root


def planted(m, n, s, seed=0, kind="gaussian"):
    rng = np.random.default_rng(seed)
    A = sensing_matrix(kind, m, n, random_state=seed)
    x = np.zeros(n)
    x[rng.choice(n, s, replace=False)] = rng.normal(size=s)
    return A, x


def test_finds_the_planted_vector_exactly():
    A, x = planted(60, 200, 10)
    assert_allclose(basis_pursuit(A, A @ x), x, atol=1e-12)


def test_rounded_measurements_are_followed_hardly_further_than_exact_ones():
    A, x = planted(60, 200, 10)
    single = A.astype(np.float32)
    b = single.astype(float) @ x
    exact, certificate = basis_pursuit(single, b, return_certificate=True)
    found, rounded = basis_pursuit(single, b.astype(np.float32), return_certificate=True)
    assert rounded.n_iter <= 2 * certificate.n_iter  # to the last digit: one for each row
    assert_allclose(found, exact, atol=1e-6)
    assert np.count_nonzero(np.abs(found) > 1e-6) == 10


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_path_equals_the_linear_program_whether_or_not_the_truth_is_found(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 25))
    A, x = planted(m, int(rng.integers(m, 70)), int(rng.integers(1, m + 1)), seed)
    found, certificate = basis_pursuit(A, A @ x, solver="homotopy", return_certificate=True)
    reference = basis_pursuit(A, A @ x, solver="linear-program")
    assert_allclose(np.abs(found).sum(), np.abs(reference).sum(), rtol=1e-8)
    assert certificate.gap < 1e-8
    assert np.abs(found).sum() <= np.abs(x).sum() * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_ties_of_integer_matrices_do_no_harm(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, size=(12, 40)).astype(float)
    x = np.zeros(40)
    x[rng.choice(40, 6, replace=False)] = rng.choice([-1.0, 1.0], size=6)
    found, certificate = basis_pursuit(A, A @ x, return_certificate=True)
    assert certificate.gap < 1e-8
    assert certificate.residual < 1e-9
    reference = basis_pursuit(A, A @ x, solver="linear-program")
    assert_allclose(np.abs(found).sum(), np.abs(reference).sum(), rtol=1e-8)


@pytest.mark.parametrize("kind", ["dct", "hadamard", "gaussian"])
def test_first_order_steps_end_at_the_exact_solution_with_a_proof(kind):
    A, x = planted(128, 512, 20, kind=kind)
    found, certificate = basis_pursuit(A, A @ x, solver="first-order", return_certificate=True)
    assert_allclose(found, x, atol=1e-9)
    assert abs(certificate.gap) < 1e-9
    assert certificate.n_iter < 1000


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_noisy_solution_is_on_the_path_of_the_lasso(share):
    A, x = planted(30, 60, 6)
    b = A @ x
    noise = share * np.linalg.norm(b)
    found, certificate = basis_pursuit(A, b, noise=noise, return_certificate=True)
    assert_allclose(np.linalg.norm(A @ found - b), noise, rtol=1e-9)
    assert certificate.gap < 1e-8
    _, _, path = lars_path(A, b, method="lasso")
    residual = [np.linalg.norm(A @ p - b) for p in path.T]
    k = int(np.searchsorted(-np.array(residual), -noise))
    low, high = np.abs(path[:, k]).sum(), np.abs(path[:, k - 1]).sum()
    assert min(low, high) <= np.abs(found).sum() <= max(low, high)
    other = basis_pursuit(A, b, noise=noise, solver="first-order")
    assert_allclose(other, found, atol=1e-5)


@pytest.mark.parametrize("share", [0.9, 0.3, 0.01, 1e-5])
@pytest.mark.parametrize("shape", [(20, 60), (40, 30)])
def test_the_root_ends_where_the_path_does(shape, share):
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=shape), rng.normal(size=shape[0])
    # Of a tall matrix no vector comes nearer than least squares do.
    least = np.linalg.norm(b - A @ np.linalg.lstsq(A, b, rcond=None)[0])
    noise = least + share * (np.linalg.norm(b) - least)
    root, proof = basis_pursuit(A, b, noise=noise, solver="root", return_certificate=True)
    path = basis_pursuit(A, b, noise=noise, solver="homotopy")
    assert proof.solver == "root"
    assert_allclose(root, path, atol=1e-8 * np.abs(path).max())


@pytest.mark.parametrize("share", [0.3, 0.01, 1e-4])
def test_newton_steps_end_where_lasso_problems_do(share):
    A, x = planted(60, 200, 8)
    e = np.random.default_rng(5).normal(size=60)
    e *= share * np.linalg.norm(A @ x) / np.linalg.norm(e)
    with ProgressLine("root", verbose=0) as line:
        newton = newton_root(A, A @ x + e, float(np.linalg.norm(e)), line)
        lasso = lasso_root(A, A @ x + e, float(np.linalg.norm(e)), line)
    assert newton[3]
    assert lasso[3]
    assert_allclose(newton[0], lasso[0], atol=1e-11 * np.abs(x).max())
    assert_allclose(newton[1], lasso[1], atol=1e-8 * np.abs(lasso[1]).max())


def test_newton_steps_that_lead_nowhere_leave_the_root_to_lasso_problems():
    rng = np.random.default_rng(0)
    A = np.abs(rng.normal(size=(50, 200)))  # columns that are much alike
    b = A @ np.where(rng.random(200) < 0.03, rng.normal(size=200), 0.0)
    noise = 0.01 * np.linalg.norm(b)
    with ProgressLine("root", verbose=0) as line:
        assert not newton_root(A, b, noise, line)[3]
    found, proof = basis_pursuit(A, b, noise=noise, solver="root", return_certificate=True)
    assert proof.gap < 1e-8
    assert_allclose(np.linalg.norm(A @ found - b), noise, rtol=1e-9)


def test_equal_columns_leave_the_root_for_another_solver():
    rng = np.random.default_rng(4)
    half = rng.normal(size=(10, 8))
    A, b = np.hstack([half, half]), rng.normal(size=10)
    noise = 0.9 * np.linalg.norm(b)
    _, proof = basis_pursuit(A, b, noise=noise, return_certificate=True)
    assert proof.gap <= 1e-6


def test_noise_as_large_as_the_measurements_leaves_nothing():
    A, x = planted(20, 50, 3)
    b = A @ x
    assert not basis_pursuit(A, b, noise=np.linalg.norm(b)).any()
    assert not basis_pursuit(A, np.zeros(20)).any()


def test_square_orthonormal_matrix_is_inverted():
    D = orthonormal_basis("dct", 32)
    x = np.random.default_rng(0).normal(size=32)
    assert_allclose(basis_pursuit(D.T, D.T @ x), x, atol=1e-9)


def test_scale_of_the_data_scales_the_solution():
    A, x = planted(30, 80, 5)
    for factor in (1e-6, 1e8):
        assert_allclose(basis_pursuit(A, factor * (A @ x)), factor * x, atol=1e-10 * factor)
        found = basis_pursuit(factor * A, A @ x, solver="first-order")
        assert_allclose(found, x / factor, atol=1e-8 / factor)


def test_arrays_sparse_matrices_and_operators_give_the_same():
    A, x = planted(30, 80, 5)
    forms = (A, sparse.csr_array(A), sparse.csc_matrix(A), aslinearoperator(A), A.tolist())
    for form in forms:
        assert_allclose(basis_pursuit(form, A @ x), x, atol=1e-10)


def test_dictionary_and_measurement_are_composed_by_a_product():
    D = orthonormal_basis("haar", 256)
    a = np.zeros(256)
    a[[0, 3, 17, 100]] = 5, -2, 1, 0.5
    Phi = sensing_matrix("noiselet", 64, 256, random_state=0)
    y = Phi @ (D @ a)
    assert_allclose(basis_pursuit(Phi @ D, y), a, atol=1e-9)


def test_one_encoding_is_decoded_with_two_dictionaries():
    t = np.arange(256) / 256
    signal = np.sin(2 * np.pi * 5 * t)
    Phi = sensing_matrix("gaussian", 80, 256, random_state=0)
    y = Phi @ signal
    for kind in ("fourier", "dct"):
        D = orthonormal_basis(kind, 256)
        A = (D.T @ Phi.T).T
        found = D @ basis_pursuit(A, y)
        assert np.linalg.norm(found - signal) < 0.2 * np.linalg.norm(signal)


def test_coherence_promises_recovery_of_every_sparse_vector(rng):
    # Spikes and waves: coherence 1/8, so up to four entries wherever they are.
    A = np.hstack([np.eye(64), orthonormal_basis("hadamard", 64) @ np.eye(64)])
    assert guaranteed_sparsity(A) == 4
    for _ in range(20):
        x = np.zeros(128)
        x[rng.choice(128, 4, replace=False)] = rng.choice([-1.0, 1.0], size=4)
        assert_allclose(basis_pursuit(A, A @ x), x, atol=1e-10)


def test_one_spike_is_found_from_two_measurements(rng):
    A = rng.normal(size=(2, 50))
    A /= np.linalg.norm(A, axis=0)
    for j in range(0, 50, 7):
        assert_allclose(basis_pursuit(A, 3 * A[:, j]), 3 * np.eye(50)[j], atol=1e-9)


def test_error_of_noisy_compressible_signals_stays_below_the_bound():
    rng = np.random.default_rng(0)
    A = sensing_matrix("orthonormal", 240, 256, random_state=0)
    S, noise = 3, 0.05
    delta = restricted_isometry(A, 2 * S, n_supports=200, random_state=0).lower
    C0, C1 = recovery_constants(delta)
    for _ in range(3):
        x = rng.permutation(np.arange(1.0, 257) ** -2.0) * rng.choice([-1, 1], size=256)
        e = rng.normal(size=240)
        e *= noise / np.linalg.norm(e)
        tail = np.sort(np.abs(x))[:-S].sum()
        found = basis_pursuit(A, A @ x + e, noise=noise)
        assert np.linalg.norm(found - x) <= C0 * tail / np.sqrt(S) + C1 * noise


@pytest.mark.parametrize(("m", "low", "high"), [(30, 0, 20), (40, 25, 80), (60, 95, 100)])
def test_success_jumps_where_the_phases_meet(m, low, high):
    # n = 200, 10 non-zeros: 2, 52, 100 percent in 40 draws or more.
    found = 0
    for seed in range(40):
        A, x = planted(m, 200, 10, seed)
        found += np.abs(basis_pursuit(A, A @ x) - x).max() < 1e-6
    assert low <= 100 * found / 40 <= high


def test_squared_norm_knows_rows_of_a_basis_and_bounds_the_rest(rng):
    A = sensing_matrix("dct", 20, 50, random_state=0)
    assert_allclose(squared_norm(A), 50 / 20, rtol=1e-12)
    B = rng.normal(size=(20, 50))
    exact = np.linalg.norm(B, 2) ** 2
    assert exact <= squared_norm(B) <= 1.1 * exact


def test_what_no_vector_explains_is_refused_or_warned_about(rng):
    A = rng.normal(size=(20, 5))
    b = rng.normal(size=20)
    with pytest.raises(ValueError, match="within noise=0 of b; the best comes within"):
        basis_pursuit(A, b)
    with pytest.raises(ValueError, match="no vector with A x = b"):
        basis_pursuit(A, b, solver="linear-program")
    with pytest.raises(ValueError, match="within noise"):
        basis_pursuit(np.array([[1.0, 0], [0, 0]]), [0.0, 1.0])
    with pytest.warns(ConvergenceWarning, match="stopped after 30 steps"):
        basis_pursuit(A, b, solver="first-order", max_iter=30)


def test_inputs_are_left_alone_and_the_result_is_the_same_twice():
    A, x = planted(30, 80, 5)
    b = A @ x
    A.flags.writeable = b.flags.writeable = False
    first, again = basis_pursuit(A, b), basis_pursuit(A, b)
    assert np.array_equal(first, again)


def test_solvers_say_when_they_did_not_reach_the_end():
    A, x = planted(30, 80, 5)
    assert not homotopy(A, A @ x, max_iter=2)[3]
    assert not first_order(A, A @ x, norm2=squared_norm(A), max_iter=2).reached
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        basis_pursuit(A, A @ x, max_iter=2)  # auto turns to another solver


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda A, b: basis_pursuit(A, b[:-1]), r"expected b of shape \(6,\), got \(5,\)"),
        (lambda A, b: basis_pursuit(A[0], b), r"needs a matrix A. Got an array of shape \(9,\)"),
        (lambda A, b: basis_pursuit(A, b, noise=-1), r"'noise' parameter of basis_pursuit.*Got -1"),
        (lambda A, b: basis_pursuit(A, b, noise=None), "'noise' parameter of .* Got None"),
        (lambda A, b: basis_pursuit(A, b, solver="lp"), "'solver' parameter of basis_.*Got 'lp'"),
        (lambda A, b: basis_pursuit(A, b * np.nan), "finite measurements b"),
        (lambda A, b: basis_pursuit(A * np.inf, b), "finite matrix A"),
        (lambda A, b: basis_pursuit(A, b, noise=1.0, solver="linear-program"), "takes no noise"),
        (lambda A, b: basis_pursuit(A, b, solver="root"), "'root' needs noise above 0"),
    ],
)
def test_refusals_say_what_was_expected(call, message):
    A, b = np.eye(6, 9), np.ones(6)
    with pytest.raises((TypeError, ValueError), match=message), np.errstate(invalid="ignore"):
        call(A, b)


@pytest.mark.parametrize("n_active", [2, 6, 14])
def test_support_at_little_noise_gives_what_the_path_gives_or_says_that_it_does_not(rng, n_active):
    A = rng.normal(size=(30, 80))
    x = np.zeros(80)
    x[rng.choice(80, n_active, replace=False)] = rng.normal(size=n_active)
    b = A @ x
    with ProgressLine("basis pursuit", verbose=0) as line:
        found, y, _, reached = exact_root(A, b, line)
    path = basis_pursuit(A, b, solver="homotopy")
    if reached:
        assert_allclose(found, path, atol=1e-10)
        assert np.abs(A.T @ y).max() <= 1 + 1e-9
        assert_allclose(b @ y, np.abs(found).sum(), rtol=1e-9)
    assert reached or n_active == 14
    chosen, proof = basis_pursuit(A, b, return_certificate=True)
    assert_allclose(np.abs(chosen).sum(), np.abs(path).sum(), rtol=1e-9)
    assert abs(proof.gap) < 1e-9


def test_columns_that_occur_twice_leave_the_solution_to_the_path(rng):
    A = rng.normal(size=(20, 30))
    A = np.concatenate([A, A], axis=1)
    x = np.zeros(60)
    x[[1, 5]] = 1.0, -2.0
    found, proof = basis_pursuit(A, A @ x, return_certificate=True)
    assert_allclose(np.abs(found).sum(), 3.0, rtol=1e-9)
    assert proof.residual < 1e-9
