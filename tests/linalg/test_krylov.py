"""Eigenpairs and systems by products alone, against the dense solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.linalg.krylov import (
    conjugate_gradients,
    next_block,
    orthonormal,
    project,
    project_next,
    ritz_pairs,
)


@pytest.fixture
def positive():
    """A symmetric matrix whose spectrum falls slowly, so that the basis starts again."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(400, 400)))[0]
    return (Q / np.arange(1, 401) ** 0.7) @ Q.T


@pytest.mark.parametrize("n_basis", [40, 400])
def test_pairs_are_those_of_the_matrix_also_where_the_basis_starts_again(positive, n_basis):
    values, vectors = np.linalg.eigh(positive)
    found = ritz_pairs(
        lambda V: positive @ V, 400, 5, width=8, n_basis=n_basis, tol=1e-11, max_products=200
    )
    assert found.residual <= 1e-11
    assert_allclose(found.values, values[-5:], rtol=1e-12)
    assert_allclose(np.abs(np.sum(found.vectors * vectors[:, -5:], axis=0)), 1, rtol=1e-10)


def test_a_matrix_of_low_rank_has_no_pairs_beyond_it():
    A = np.zeros((100, 100))
    A[0, 0], A[1, 1] = 3.0, 2.0
    found = ritz_pairs(lambda V: A @ V, 100, 4, width=6, n_basis=60, tol=1e-10, max_products=9)
    assert_allclose(found.values, [0, 0, 2, 3], atol=1e-12)


def test_too_few_products_are_told_by_the_residual(positive):
    found = ritz_pairs(
        lambda V: positive @ V, 400, 5, width=8, n_basis=40, tol=1e-11, max_products=2
    )
    assert found.residual > 1e-11


def test_conjugate_gradients_solve_every_column(positive):
    A, B = positive + 0.01 * np.eye(400), np.random.default_rng(1).normal(size=(400, 3))
    B[:, 1] = 0
    found = conjugate_gradients(
        lambda V: A @ V, B, precondition=lambda R: R, tol=1e-12, max_iter=400
    )
    assert found.residual <= 1e-12
    assert_allclose(found.columns, np.linalg.solve(A, B), atol=1e-9)
    short = conjugate_gradients(lambda V: A @ V, B, precondition=lambda R: R, tol=1e-12, max_iter=2)
    assert short.residual > 1e-12


@pytest.mark.parametrize("rank", [60, 7])
def test_one_pass_over_the_basis_gives_the_matrix_on_it(rng, rank):
    A = rng.normal(size=(60, rank))
    K = A @ (np.logspace(0, -12, rank)[:, None] * A.T)
    width, V, S, slow = 4, np.zeros((60, 40), order="F"), np.zeros((40, 40)), np.zeros((40, 40))
    V[:, :width] = orthonormal(rng.normal(size=(60, width)))[0]
    for m in range(width, 40, width):
        basis = V[:, :m]
        project(np.asfortranarray(K @ V[:, m - width : m]), basis, slow)
        Q, _, clean = project_next(np.asfortranarray(K @ V[:, m - width : m]), basis, S)
        V[:, m : m + width] = Q if clean else next_block(Q, basis)
    assert_allclose(V.T @ V, np.eye(40), atol=1e-13)
    assert_allclose(S[:36, :36], V[:, :36].T @ K @ V[:, :36], atol=1e-13 * np.linalg.norm(K, 2))
    assert_allclose(S, slow, atol=1e-13 * np.linalg.norm(K, 2))
