"""Bases and measuring matrices: orthonormal, transposes of each other, incoherent as published."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.sensing import mutual_coherence, orthonormal_basis, sensing_matrix
from isthmus.sensing.wavelets import daubechies_filter

KINDS = ["identity", "dct", "fourier", "hadamard", "noiselet", "haar", "db2", "db4"]
MATRICES = [
    "gaussian", "bernoulli", "sphere", "orthonormal", "sparse",
    "dct", "fourier", "hadamard", "noiselet",
]  # fmt: skip


@pytest.mark.parametrize("shape", [1, 2, 16, (8, 8), (4, 16)])
@pytest.mark.parametrize("kind", KINDS)
def test_basis_is_orthonormal_and_its_transpose_its_inverse(kind, shape):
    D = orthonormal_basis(kind, shape)
    n = D.shape[0]
    written, transposed = D @ np.eye(n), D.T @ np.eye(n)
    assert_allclose(written.T @ written, np.eye(n), atol=1e-12)
    assert_allclose(transposed, written.T, atol=1e-12)


@pytest.mark.parametrize("n", [5, 6, 9])
def test_waves_take_any_length(n):
    for kind in ("fourier", "dct"):
        F = orthonormal_basis(kind, n) @ np.eye(n)
        assert_allclose(F.T @ F, np.eye(n), atol=1e-12)


def test_one_wave_is_one_coefficient():
    t = np.arange(20) / 20
    a = orthonormal_basis("fourier", 20).T @ np.sin(2 * np.pi * 3 * t)
    assert_allclose(np.flatnonzero(np.abs(a) > 1e-12), [6])
    assert a[6] > 0


@pytest.mark.parametrize("moments", [1, 2, 4])
def test_wavelet_filter_is_orthogonal_to_polynomials(moments):
    h = daubechies_filter(moments)
    g = h[::-1] * (-1.0) ** np.arange(len(h))
    for degree in range(moments):
        assert abs(g @ np.arange(len(h)) ** degree) < 1e-8
    assert_allclose(h.sum(), np.sqrt(2))


def test_hadamard_is_the_matrix_of_walsh():
    from scipy.linalg import hadamard

    H = orthonormal_basis("hadamard", 64) @ np.eye(64)
    assert_allclose(H, hadamard(64) / 8, atol=1e-14)


def test_coherences_are_those_of_the_theory():
    for n in (16, 64, 256):
        basis = {kind: orthonormal_basis(kind, n) for kind in KINDS}
        spikes = basis["identity"]
        assert_allclose(mutual_coherence(spikes, basis["hadamard"]), 1)
        assert_allclose(mutual_coherence(spikes, basis["fourier"]), np.sqrt(2), rtol=1e-2)
        assert_allclose(mutual_coherence(basis["haar"], basis["noiselet"]), np.sqrt(2))
        assert_allclose(mutual_coherence(basis["dct"], basis["dct"]), np.sqrt(n))
        # Smoother wavelets are less incoherent with them.
        assert np.sqrt(2) < mutual_coherence(basis["db2"], basis["noiselet"]) < 3


def test_a_random_basis_is_as_coherent_as_extreme_values_say():
    for n, typical in ((64, 3.75), (256, 4.30)):
        found = [
            mutual_coherence(np.eye(n), sensing_matrix("orthonormal", n, n, random_state=s).T)
            for s in range(5)
        ]
        assert abs(np.mean(found) - typical) < 0.35
        assert max(found) <= 2 * np.sqrt(np.log(n)) + 1
        assert np.mean(found) > np.sqrt(2 * np.log(n))  # what one row alone would have


@pytest.mark.parametrize("kind", MATRICES)
def test_columns_have_unit_norm_in_the_mean(kind):
    A = sensing_matrix(kind, 64, 128, random_state=0)
    squares = np.sum((A @ np.eye(128)) ** 2, axis=0)
    assert abs(squares.mean() - 1) < 0.1
    x, y = np.random.default_rng(0).normal(size=128), np.random.default_rng(1).normal(size=64)
    assert_allclose((A @ x) @ y, x @ (A.T @ y))


@pytest.mark.parametrize("kind", MATRICES)
def test_same_seed_same_matrix(kind):
    x = np.random.default_rng(0).normal(size=32)
    first, again, other = (sensing_matrix(kind, 16, 32, random_state=s) @ x for s in (3, 3, 4))
    assert_allclose(first, again, rtol=0)
    assert not np.allclose(first, other)


def test_scrambling_spreads_a_constant_over_all_rows():
    plain, scrambled = (
        sensing_matrix("hadamard", 64, 64, random_state=0, scramble=s) @ np.ones(64)
        for s in (False, True)
    )
    assert np.count_nonzero(np.abs(plain) > 1e-9) == 1
    assert np.abs(scrambled).max() < 4


def test_lengths_are_kept_as_johnson_and_lindenstrauss_say(rng):
    points = rng.normal(size=(40, 2000))
    for kind in ("gaussian", "bernoulli", "sparse"):
        A = sensing_matrix(kind, 800, 2000, random_state=0)
        ratio = np.linalg.norm(points @ A.T, axis=1) ** 2 / np.sum(points**2, axis=1)
        assert np.abs(ratio - 1).max() < 0.3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sensing_matrix("normal", 2, 4), "'kind'.* one of 'gaussian'.* Got 'normal'"),
        (lambda: sensing_matrix("dct", 2, 4, random_state="x"), "'random_state' .* Got 'x'"),
        (lambda: sensing_matrix("dct", 5, 4), "dimension n = 4 has no m = 5 rows"),
        (lambda: sensing_matrix("gaussian", 0, 4), r"'m' parameter of sensing_matrix .*int in \[1"),
        (lambda: orthonormal_basis("hadamard", 12), "power of two.* Got 12"),
        (lambda: orthonormal_basis("wave", 4), "'kind' .*orthonormal_basis.* Got 'wave'"),
        (lambda: orthonormal_basis([], 4), r"'kind' .*orthonormal_basis.* Got \[\]"),
        (lambda: orthonormal_basis("dct", None), "'shape' .*orthonormal_basis.* Got None"),
        (lambda: orthonormal_basis("dct", 0), r"int in \[1, inf\) or .* Got 0"),
        (lambda: mutual_coherence(None), "'A' parameter of mutual_coherence.* Got"),
        (lambda: mutual_coherence(np.eye(3), np.eye(2)), "one length. Got 3 and 2"),
        (lambda: mutual_coherence(np.eye(3)[:, [0, 1]] * [1, 0]), "Got column 1 zero"),
    ],
)
def test_refusals_say_what_was_expected(call, message):
    with pytest.raises(ValueError, match=message):
        call()
