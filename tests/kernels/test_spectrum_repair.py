"""Repair of spectra, on the training objects and beyond."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from isthmus.features import KernelPCA
from isthmus.kernels import (
    DistanceKernel,
    DTWKernel,
    FunctionKernel,
    Gaussian,
    Linear,
    Precomputed,
    SpectrumRepair,
    repair_spectrum,
)
from isthmus.kernels.algebra.spectrum_repair import METHODS
from isthmus.series import local_alignment_matrix


def indefinite(rng, n=12):
    A = rng.normal(size=(n, n))
    return A + A.T


@pytest.mark.parametrize("method", METHODS)
def test_the_repaired_matrix_is_positive(method, rng):
    G = indefinite(rng)
    K, W = repair_spectrum(G, method)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    if method != "shift":
        assert_allclose(G @ W @ G, K, atol=1e-10)


def test_clip_and_flip_by_eigenvalues(rng):
    G = indefinite(rng)
    l, U = np.linalg.eigh(G)  # noqa: E741
    clipped, flipped = (repair_spectrum(G, m)[0] for m in ("clip", "flip"))
    assert_allclose(clipped, (U * np.maximum(l, 0)) @ U.T, atol=1e-10)
    assert_allclose(flipped, (U * np.abs(l)) @ U.T, atol=1e-10)
    # Rows of training objects through P = U C U', as new rows go.
    assert_allclose(G @ ((U * (l >= 0)) @ U.T), clipped, atol=1e-10)
    assert_allclose(G @ ((U * np.sign(l)) @ U.T), flipped, atol=1e-10)


def test_clipping_is_the_nearest_positive_matrix(rng):
    G = indefinite(rng)
    K = repair_spectrum(G, "clip")[0]
    for _ in range(50):
        B = rng.normal(size=(12, 12))
        other = K + 0.1 * B @ B.T
        assert np.linalg.norm(G - K) <= np.linalg.norm(G - other)


@pytest.mark.parametrize("method", METHODS)
def test_a_kernel_stays_as_it_is(method, rng):
    X = rng.normal(size=(10, 3))
    K = SpectrumRepair(Gaussian(0.5), method=method)(X)
    expected = Gaussian(0.5)(X)
    assert_allclose(K, expected @ expected if method == "square" else expected, atol=1e-8)


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_euclidean_distances_give_the_centred_linear_kernel(method, rng):
    X, Z = rng.normal(size=(10, 3)), rng.normal(size=(4, 3))

    def distance(A, B):
        return np.sqrt(((np.asarray(A)[:, None] - np.asarray(B)) ** 2).sum(axis=2))

    repair = SpectrumRepair(DistanceKernel(distance, form="squared"), method=method, center=True)
    kernel = repair.resolve(X)
    mean = X.mean(axis=0)
    assert_allclose(kernel(X), Linear()(X - mean), atol=1e-7)
    assert_allclose(kernel(Z, X), Linear()(Z - mean, X - mean), atol=1e-7)
    assert_allclose(kernel.diag(Z), Linear().diag(Z - mean), atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_training_and_new_objects_share_a_feature_space(method, rng):
    X, Z = rng.normal(size=(25, 7)), rng.normal(size=(5, 7))
    kernel = SpectrumRepair(DTWKernel(0.3), method=method).resolve(X)
    K = kernel(np.vstack([X, Z]))
    if method != "shift":  # which is no kernel beyond the training objects
        assert np.linalg.eigvalsh(K).min() > -1e-9
    assert_allclose(kernel(Z, X), K[25:, :25], atol=1e-10)
    assert_allclose(kernel.diag(Z), np.diag(K)[25:], atol=1e-10)
    expected = SpectrumRepair(DTWKernel(0.3), method=method)(X)
    assert_allclose(K[:25, :25], expected, atol=1e-10)
    assert_allclose(kernel(X.copy(), X), expected, atol=1e-10)


def test_exponentials_of_warping_are_indefinite(rng):
    K = DTWKernel()(rng.normal(size=(30, 8)))
    assert np.linalg.eigvalsh(K).min() < -1e-3


@pytest.mark.parametrize("method", METHODS)
def test_kernel_pca_takes_it(method, rng):
    X = [rng.normal(size=n) for n in rng.integers(4, 9, 30)]
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelPCA(kernel=DTWKernel(0.3)).fit(X)
    pca = KernelPCA(kernel=SpectrumRepair(DTWKernel(0.3), method=method))
    assert_allclose(pca.fit_transform(X), pca.transform(X), atol=1e-6)


def test_local_alignment_scores_become_a_kernel():
    words = ["banana", "ananas", "bandana", "cabana", "nab", "ban", "abacab"]
    kernel = SpectrumRepair(FunctionKernel(local_alignment_matrix))
    assert np.linalg.eigvalsh(kernel(words)).min() > -1e-9


def test_a_repaired_kernel_clones(rng):
    X = rng.normal(size=(8, 4))
    kernel = SpectrumRepair(DTWKernel(0.3)).resolve(X)
    assert_allclose(clone(kernel)(X), kernel(X))
    assert repr(clone(kernel)) == repr(kernel)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="'method' parameter of SpectrumRepair must be one of"):
        SpectrumRepair(Linear(), method="mend")(np.eye(2))
    with pytest.raises(ValueError, match="'method' parameter of repair_spectrum"):
        repair_spectrum(np.eye(2), "mend")
    with pytest.raises(TypeError, match=r"give the matrix of all of them to Precomputed\(matrix\)"):
        SpectrumRepair(Precomputed())(np.eye(2))
