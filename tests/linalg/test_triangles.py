"""Triangular systems and inverses: the same as SciPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from isthmus.kernels import Gaussian
from isthmus.linalg.triangles import inverse_half, inverse_lower, solve_lower


@pytest.mark.parametrize("n", [1, 31, 32, 33, 100, 200, 450])
@pytest.mark.parametrize("order", ["C", "F"])
def test_it_is_substitution(n, order, rng):
    A = rng.normal(size=(n, n))
    L = np.asfortranarray(linalg.cholesky(A @ A.T + n * np.eye(n), lower=True))
    B = np.array(rng.normal(size=(n, 3 * n)), order=order)
    kept = B.copy()
    found = solve_lower(L, B)
    assert found.flags.c_contiguous
    assert_allclose(found, linalg.solve_triangular(L, B, lower=True), rtol=1e-10, atol=1e-12)
    assert_allclose(B, kept, atol=0)


def test_what_lies_above_the_diagonal_is_not_read(rng):
    L = np.tril(rng.normal(size=(70, 70))) + 5 * np.eye(70)
    B, above = rng.normal(size=(70, 200)), np.triu(np.full((70, 70), np.nan), 1)
    assert_allclose(solve_lower(L + above, B), solve_lower(L, B), atol=0)


def scattered(rng):
    return rng.normal(size=(200, 4)), rng.normal(size=(500, 4))


def in_a_row(rng):
    """Neighbours follow one another: blocks of the diagonal are nearly singular too."""
    return np.linspace(0.0, 9.0, 200)[:, None], rng.uniform(0.0, 9.0, size=(500, 1))


@pytest.mark.parametrize("drawn", [scattered, in_a_row])
def test_errors_are_those_of_substitution_where_the_factor_is_nearly_singular(drawn, rng):
    Z, X = drawn(rng)
    K = Gaussian(0.05)(Z) + 1e-12 * np.eye(200)
    L, B = linalg.cholesky(K, lower=True), Gaussian(0.05)(Z, X)
    exact, wide = np.empty((200, 500), np.longdouble), L.astype(np.longdouble)
    for i in range(200):
        exact[i] = (B[i] - wide[i, :i] @ exact[:i]) / wide[i, i]
    substituted = np.abs(linalg.solve_triangular(L, B, lower=True) - exact).max()
    assert np.abs(solve_lower(L, B) - exact).max() < 4 * substituted


def test_a_singular_factor_is_refused():
    L = np.eye(70)
    L[40, 40] = 0.0
    with pytest.raises(linalg.LinAlgError, match="40"):
        solve_lower(L, np.ones((70, 200)))


@pytest.mark.parametrize("n", [1, 2, 64, 65, 130, 301])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_inverse_by_halves_is_that_of_lapack(n, dtype, order, rng):
    A = rng.normal(size=(n, n))
    L = linalg.cholesky(A @ A.T + n * np.eye(n), lower=True).astype(dtype, order="F")
    tolerance = 100 * np.finfo(dtype).eps
    inverse, _ = linalg.lapack.dtrtri(L.astype(np.float64), lower=1)
    with_above = np.array(L + np.triu(np.full((n, n), np.nan, dtype), 1), order=order)
    found = inverse_lower(with_above)
    assert found.dtype == dtype
    assert found.flags.f_contiguous
    assert_allclose(found, inverse, atol=tolerance * np.abs(inverse).max())
    whole = inverse.T @ inverse
    half = inverse_half(np.array(L, order="F"))
    assert_allclose(np.tril(half), np.tril(whole), atol=tolerance * np.abs(whole).max())


@pytest.mark.parametrize("drawn", [scattered, in_a_row])
def test_errors_of_an_inverse_are_those_of_lapack_where_the_factor_is_nearly_singular(drawn, rng):
    Z, _ = drawn(rng)
    L = linalg.cholesky(Gaussian(0.05)(Z) + 1e-12 * np.eye(200), lower=True)
    exact, wide = np.zeros((200, 200), np.longdouble), L.astype(np.longdouble)
    for i in range(200):
        exact[i] = (np.eye(200)[i] - wide[i, :i] @ exact[:i]) / wide[i, i]
    whole = np.tril(exact.T @ exact)
    of_lapack = np.abs(np.tril(linalg.lapack.dpotri(L, lower=1)[0]) - whole).max()
    found = np.tril(inverse_half(L.copy(order="F")))
    assert np.abs(found - whole).max() < 4 * of_lapack
    of_lapack = np.abs(linalg.lapack.dtrtri(L, lower=1)[0] - exact).max()
    assert np.abs(inverse_lower(L) - exact).max() < 4 * of_lapack


def test_an_inverse_of_many_rows_is_lapacks_own(rng):
    n = 1501
    L = np.asfortranarray(np.tril(rng.normal(size=(n, n)) / n) + np.eye(n))
    assert_allclose(inverse_lower(L), linalg.lapack.dtrtri(L, lower=1)[0], atol=0)


@pytest.mark.parametrize("row", [3, 90])
def test_a_singular_matrix_has_no_inverse(row):
    L = np.asfortranarray(np.eye(100))
    L[row, row] = 0.0
    with pytest.raises(linalg.LinAlgError, match="singular"):
        inverse_lower(L)
    with pytest.raises(linalg.LinAlgError, match="singular"):
        inverse_half(L)
