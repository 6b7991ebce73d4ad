"""Basis pursuit of complex vectors, and with prices on entries."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator
from sklearn.exceptions import ConvergenceWarning

from isthmus.sensing import basis_pursuit


def system(rng, m=24, n=60, k=4):
    A = (rng.normal(size=(m, n)) + 1j * rng.normal(size=(m, n))) / np.sqrt(2 * m)
    x = np.zeros(n, dtype=complex)
    x[rng.choice(n, k, replace=False)] = rng.normal(size=k) + 1j * rng.normal(size=k)
    return A, x


@pytest.mark.parametrize("wrap", [lambda A: A, aslinearoperator])
def test_a_sparse_complex_vector_is_found(wrap, rng):
    A, x = system(rng)
    found, certificate = basis_pursuit(wrap(A), A @ x, return_certificate=True)
    assert_allclose(found, x, atol=1e-4)
    assert abs(certificate.gap) < 1e-6


def test_fourier_rows_are_complex_measurements(rng):
    F = np.fft.fft(np.eye(64), norm="ortho")[rng.choice(64, 24, replace=False)]
    x = np.zeros(64, dtype=complex)
    x[[5, 17, 40]] = 1.0, -2j, 0.5 + 0.5j
    assert_allclose(basis_pursuit(F, F @ x), x, atol=1e-4)


def test_a_dual_vector_proves_the_solution_with_noise(rng):
    A, x = system(rng)
    noise = 0.1
    b = A @ x + noise / np.sqrt(48) * (rng.normal(size=24) + 1j * rng.normal(size=24))
    found, certificate = basis_pursuit(A, b, noise=noise, tol=1e-5, return_certificate=True)
    assert certificate.residual <= noise * (1 + 1e-3)
    assert abs(certificate.gap) <= 1e-5
    # Points nearby that agree with the measurements are no better.
    for _ in range(20):
        other = found + 1e-2 * (rng.normal(size=60) + 1j * rng.normal(size=60))
        other += np.linalg.pinv(A) @ (A @ (found - other))
        assert np.abs(other).sum() >= np.abs(found).sum() * (1 - 1e-5)


def test_a_common_phase_turns_the_solution(rng):
    A, x = system(rng)
    turned = basis_pursuit(A, 1j * (A @ x))
    assert_allclose(turned, 1j * x, atol=1e-4)


def test_real_data_as_complex_numbers_have_the_real_solution(rng):
    A = rng.normal(size=(12, 30))
    b = rng.normal(size=12)
    real = basis_pursuit(A, b)
    found = basis_pursuit(A.astype(complex), b, tol=1e-5)
    assert_allclose(np.abs(found).sum(), np.abs(real).sum(), rtol=1e-4)


def test_nothing_measured_is_nothing(rng):
    A, _ = system(rng)
    assert not basis_pursuit(A, np.zeros(24)).any()


def test_too_few_steps_are_told(rng):
    A, x = system(rng, k=9)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        basis_pursuit(A, A @ x, max_iter=3)
    with pytest.raises(ValueError, match="complex numbers takes solver"):
        basis_pursuit(A, A @ x, solver="homotopy")


@pytest.mark.parametrize("solver", ["homotopy", "linear-program", "first-order"])
@pytest.mark.parametrize("wrap", [lambda A: A, csr_array])
def test_weights_are_those_of_the_linear_program(solver, wrap, rng):
    A, b, w = rng.normal(size=(8, 20)), rng.normal(size=8), rng.uniform(0.3, 3.0, size=20)
    best = linprog(np.r_[w, w], A_eq=np.hstack([A, -A]), b_eq=b, bounds=(0, None)).fun
    found = basis_pursuit(wrap(A), b, weights=w, solver=solver)
    assert_allclose(A @ found, b, atol=1e-6)
    assert_allclose(w @ np.abs(found), best, rtol=1e-6)


def test_weights_that_know_the_support_need_fewer_measurements(rng):
    A, x = rng.normal(size=(12, 80)), np.zeros(80)
    x[[3, 20, 41, 60, 77]] = 1.0, -1.0, 2.0, 0.5, -0.7
    told = basis_pursuit(A, A @ x, weights=np.where(x, 0.1, 1.0))
    assert_allclose(told, x, atol=1e-6)
    assert np.abs(basis_pursuit(A, A @ x) - x).max() > 0.1


def test_weights_and_noise_and_complex_numbers_go_together(rng):
    A, x = system(rng)
    w = rng.uniform(0.5, 2.0, size=60)
    found, certificate = basis_pursuit(
        A, A @ x, weights=w, noise=0.01, tol=1e-5, return_certificate=True
    )
    assert w @ np.abs(found) <= w @ np.abs(x)
    assert certificate.residual <= 0.01 * (1 + 1e-3)


@pytest.mark.parametrize("weights", [np.ones(19), np.zeros(20), np.full(20, np.nan)])
def test_bad_weights_are_refused_by_name(weights, rng):
    with pytest.raises(ValueError, match="'weights' parameter of basis_pursuit"):
        basis_pursuit(rng.normal(size=(8, 20)), np.ones(8), weights=weights)
