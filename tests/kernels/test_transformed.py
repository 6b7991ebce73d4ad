"""Polynomials of kernels: recursions, the condition under which they are kernels, repair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian, Laplacian, Linear, Normalized, Precomputed, Transformed
from isthmus.kernels.algebra.polynomials import (
    gegenbauer_at_one,
    gegenbauer_norm,
    is_kernel,
    polynomial,
    polynomial_slope,
    polynomial_terms,
    schoenberg_coefficients,
)
from isthmus.preimage import FixedPointPreimage, GradientPreimage

T = np.linspace(-1, 1, 41)


def sphere(rng, n, r):
    X = rng.normal(size=(n, r))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("lam", [0.01, 0.51, 5.0, 200.0])
def test_recursion_is_that_of_scipy(lam):
    for i, values in enumerate(polynomial_terms(T, 11, lam), start=1):
        expected = special.eval_gegenbauer(i, lam, T) / gegenbauer_at_one(i, lam)
        assert_allclose(values, expected, atol=1e-9)


@pytest.mark.parametrize("lam", [0.0, 0.3, 0.5, 1.0, 5.0])
def test_orthonormal_polynomials_are_orthonormal(lam):
    nodes, weights = special.roots_gegenbauer(12, lam)
    terms = [
        P / gegenbauer_norm(i, lam) for i, P in enumerate(polynomial_terms(nodes, 6, lam), start=1)
    ]
    products = np.array([[(weights * P) @ Q for Q in terms] for P in terms])
    assert_allclose(products, np.eye(6), atol=1e-10)


def test_scalings_are_the_same_kernel_with_other_coefficients(rng):
    X, a = sphere(rng, 9, 4), np.array([0.5, 0.2, 0.3])
    base, degrees = Normalized(Linear()), range(1, 4)
    unit = Transformed(base, tuple(a), basis="gegenbauer")
    for scaling, at_one in (("raw", gegenbauer_at_one), ("orthonormal", gegenbauer_norm)):
        scales = np.array([at_one(i, 1.0) for i in degrees])
        scales = 1 / scales if scaling == "raw" else scales
        other = Transformed(base, tuple(a * scales), basis="gegenbauer", scaling=scaling)
        assert_allclose(other(X), unit(X), rtol=1e-12)


def test_index_zero_is_chebyshev_and_a_large_one_gives_powers():
    for i, values in enumerate(polynomial_terms(T, 11, 0.0), start=1):
        assert_allclose(values, special.eval_chebyt(i, T), atol=1e-12)
    for i, values in enumerate(polynomial_terms(T, 11, 1e4), start=1):
        assert_allclose(values, T**i, atol=1e-3)


@pytest.mark.parametrize("lam", [None, 0.0, 0.51, 5.0])
def test_slope_is_the_derivative(lam, rng):
    a = tuple(rng.uniform(size=7))
    h = 1e-6
    numeric = (polynomial(T + h, a, lam) - polynomial(T - h, a, lam)) / (2 * h)
    assert_allclose(polynomial_slope(T, a, lam), numeric, atol=1e-6)
    assert_allclose(polynomial_slope(T, a[:1], lam), a[0])


def test_slope_is_the_polynomial_of_the_next_index():
    lam = 0.51
    for i in range(2, 9):
        a = tuple(np.eye(i)[-1] * gegenbauer_at_one(i, lam))
        expected = 2 * lam * special.eval_gegenbauer(i - 1, lam + 1, T)
        assert_allclose(polynomial_slope(T, a, lam), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("r", [2, 3, 4, 6, 10])
def test_all_degrees_are_kernels_on_a_sphere_exactly_from_the_index_of_its_dimension(r):
    for lam in (0.0, 0.5, 1.0, 2.0, 4.0, 6.0):
        all_degrees = all(is_kernel(tuple(np.eye(8)[i]), lam, r) for i in range(8))
        assert all_degrees == (lam >= (r - 2) / 2)


@pytest.mark.parametrize(("r", "valid"), [(3, True), (10, False)])
def test_the_condition_says_what_the_spectrum_shows(r, valid, rng):
    X = sphere(rng, 200, r)
    kernel = Transformed(Linear(), (0.0, 1.0), basis="gegenbauer", lam=0.5, scaling="raw")
    kernel.validity = "ignore"
    smallest = np.linalg.eigvalsh(kernel(X)).min()
    if valid:
        assert smallest > -1e-8
    else:
        assert -80 < smallest < -60  # -69 at 200 points
        kernel.validity = "refuse"
        with pytest.raises(ValueError, match=r"unit sphere of 10 dimensions.* -0.35 at degree 0"):
            kernel(X)


def test_expansions_on_the_sphere_add_up_to_the_polynomial(rng):
    a = tuple(rng.normal(size=6))
    for lam in (None, 0.7):
        for r in (3, 7):
            found = schoenberg_coefficients(a, lam, r)
            index = (r - 2) / 2
            total = found[0] + polynomial(T, found[1:], index)
            assert_allclose(total, polynomial(T, a, lam), atol=1e-10)
        powers = schoenberg_coefficients(a, lam, np.inf)
        assert_allclose(np.polyval(powers[::-1], T), polynomial(T, a, lam), atol=1e-9)


def test_gegenbauer_polynomials_of_a_gaussian_are_refused(points):
    kernel = Transformed(Gaussian(1.0), (1.0, 1.0), basis="gegenbauer", lam=0.51)
    with pytest.raises(ValueError, match=r"unbounded dimension.*at degree 0"):
        kernel(points)


def test_a_combination_with_non_negative_powers_is_accepted(points):
    # t + (R_3 + 3t)/4, where R_3 = (5t³ - 3t)/2 is Legendre's
    kernel = Transformed(Gaussian(1.0), (1.75, 0.0, 0.25), basis="gegenbauer", lam=0.5)
    assert np.linalg.eigvalsh(kernel(points)).min() > -1e-10


def test_index_follows_the_dimension_where_it_is_known(rng):
    X = rng.normal(size=(30, 7))
    kernel = Transformed(Normalized(Linear()), (0.0, 1.0, 1.0), basis="gegenbauer")
    assert kernel.resolve(X).lam == 2.5
    assert np.linalg.eigvalsh(kernel(X)).min() > -1e-10
    with pytest.raises(ValueError, match="'lam' parameter of Transformed must be given"):
        Transformed(Gaussian(1.0), basis="gegenbauer")(X)


def test_powers_of_a_gaussian_are_narrower_gaussians(points):
    kernel = Transformed(Gaussian(0.7), (0.2, 0.0, 0.8))
    expected = 0.2 * Gaussian(0.7)(points) + 0.8 * Gaussian(2.1)(points)
    assert_allclose(kernel(points), expected, atol=1e-14)
    assert_allclose(kernel.diag(points), 1)


def test_raw_scale_multiplies_by_the_value_at_one(points):
    raw = Transformed(Gaussian(1.0), (1.0,), basis="gegenbauer", lam=0.51, scaling="raw")
    assert_allclose(raw(points), 1.02 * Gaussian(1.0)(points))


def test_clipping_keeps_the_positive_part_and_extends_it(rng, assert_gradient):
    X, new = rng.uniform(size=(40, 2)), rng.uniform(size=(5, 2))
    loose = Transformed(Gaussian(4.0), (0.0, 1.0), basis="gegenbauer", lam=0.51, validity="ignore")
    eigenvalues, U = np.linalg.eigh(loose(X))
    assert eigenvalues[0] < -0.1
    clipped = Transformed(
        Gaussian(4.0), (0.0, 1.0), basis="gegenbauer", lam=0.51, validity="clip"
    ).resolve(X)
    assert_allclose(clipped(X), (U * np.maximum(eigenvalues, 0)) @ U.T, atol=1e-6)
    both = np.vstack([X, new])
    assert np.linalg.eigvalsh(clipped.gram(both, both)).min() > -1e-9
    assert_allclose(clipped.diag(new), np.diag(clipped.gram(new, new)))
    W = rng.normal(size=(5, 40))
    assert_gradient(
        lambda Z: (W * clipped.gram(Z, X)).sum(),
        lambda Z: clipped.weighted_gradient(Z, X, W),
        new,
        rng,
    )
    assert_gradient(lambda Z: clipped.diag(Z).sum(), clipped.diag_gradient, new, rng)


def test_pre_images_work_through_a_transform(points):
    pca = KernelPCA(kernel=Transformed(Gaussian(1.0), (0.5, 0.3, 0.2))).fit(points)
    for preimage in (FixedPointPreimage(), GradientPreimage()):
        found = preimage.fit(points, pca).solve(pca.transform(points[:4]))
        assert_allclose(found, points[:4], atol=1e-3)


def test_works_on_gram_matrices_and_other_bases(points):
    K = Gaussian(1.0)(points)
    expected = 0.5 * K + 0.5 * K**2
    assert_allclose(Transformed(Precomputed(), (0.5, 0.5))(K), expected)
    L = Laplacian(1.0)
    assert_allclose(Transformed(L, (0.5, 0.5))(points), 0.5 * L(points) + 0.5 * L(points) ** 2)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Transformed(Gaussian(1.0), ()), "'coefficients' parameter of Transformed"),
        (Transformed(Gaussian(1.0), (np.nan,)), "'coefficients' parameter of Transformed"),
        (Transformed(Gaussian(1.0), (1.0, -0.5)), "in powers of the base is -0.5 at degree 2"),
        (Transformed(Gaussian(1.0), basis="legendre"), "'basis' parameter of Transformed"),
        (Transformed(Gaussian(1.0), validity="hope"), "'validity' parameter of Transformed"),
        (Transformed(Linear(), basis="gegenbauer", lam=-1.0), "'lam' parameter of Transformed"),
        (Transformed(Linear(), basis="gegenbauer", lam=1.0), "needs a base with unit diagonal"),
    ],
)
def test_what_is_wrong_is_named(kernel, message, points):
    with pytest.raises(ValueError, match=message):
        kernel(points)


def test_clipping_refuses_rows_of_a_gram_matrix(points):
    K = Gaussian(1.0)(points)
    kernel = Transformed(Precomputed(), (0.0, 1.0), basis="gegenbauer", lam=0.51, validity="clip")
    with pytest.raises(TypeError, match="Precomputed\\(matrix\\)"):
        kernel(K)
