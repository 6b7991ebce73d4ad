"""Triangular systems in row order: the same solutions as SciPy's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from isthmus.kernels import Gaussian
from isthmus.linalg.triangles import solve_lower


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
