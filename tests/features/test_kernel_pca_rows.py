"""Kernel PCA of weighted rows, of sparse rows and of rows in blocks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian, Normalized, Precomputed, Spectrum
from isthmus.preimage import LearnedPreimage


@pytest.fixture
def X(rng):
    return rng.normal(size=(80, 5)) + 2


@pytest.mark.parametrize("kernel", [Gaussian(0.1), "linear"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_an_object_of_weight_three_is_three_objects(X, rng, kernel, center, n_landmarks):
    counts = rng.integers(0, 4, size=80)
    copies = X[np.repeat(np.arange(80), counts)]
    options = {"kernel": kernel, "center": center, "random_state": 0}
    weighted = KernelPCA(3, n_landmarks=n_landmarks, **options).fit(X, sample_weight=counts * 1.0)
    if n_landmarks is None:
        repeated = KernelPCA(3, **options).fit(copies)
        assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8)
        ratio = repeated.explained_variance_ratio_
        assert_allclose(weighted.explained_variance_ratio_, ratio, rtol=1e-8)
        expected = repeated.transform(X)
        signs = np.sign(np.sum(expected * weighted.transform(X), axis=0))
        assert_allclose(weighted.transform(X) * signs, expected, atol=1e-8)
        assert_allclose(weighted.coordinates_, weighted.transform(X), atol=1e-8)
    # Σ w c c' is diagonal, and the weighted mean is the origin.
    Z = weighted.transform(X)
    scatter = (counts[:, None] * Z).T @ Z
    assert_allclose(scatter, np.diag(weighted.eigenvalues_), atol=1e-7 * scatter.max())
    if center:
        assert_allclose(counts @ Z, 0, atol=1e-7)
    axes = KernelPCA(3, n_landmarks=n_landmarks, **options)
    again = axes.fit_transform(X, sample_weight=counts * 1.0)
    assert_allclose(again, Z, atol=1e-9)


def test_wide_weighted_rows(rng):
    X = rng.normal(size=(12, 30))
    counts = rng.integers(1, 4, size=12)
    weighted = KernelPCA(3, kernel="linear").fit(X, sample_weight=counts * 1.0)
    repeated = KernelPCA(3, kernel="linear").fit(np.repeat(X, counts, axis=0))
    assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8)
    assert_allclose(abs(weighted.transform(X)), abs(repeated.transform(X)), atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_sparse_rows_give_what_dense_ones_do(kernel, n_landmarks):
    S = sparse.random(90, 40, density=0.1, random_state=0, format="csr")
    options = {"kernel": kernel, "n_landmarks": n_landmarks, "random_state": 0}
    thick = KernelPCA(4, **options).fit(S.toarray())
    thin = KernelPCA(4, **options).fit(S)
    assert sparse.issparse(thin.objects_)
    assert_allclose(thin.eigenvalues_, thick.eigenvalues_, rtol=1e-6)
    assert_allclose(abs(thin.transform(S)), abs(thick.transform(S.toarray())), atol=1e-6)
    with pytest.raises(TypeError, match="sparse rows by a kernel that can"):
        KernelPCA(kernel="laplacian").fit(S)


# Blocks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_a_dask_array_gives_the_axes_of_the_array(X, kernel):
    da = pytest.importorskip("dask.array")
    model = KernelPCA(3, kernel=kernel, n_landmarks=25, random_state=0).fit(X)
    Z, ratio = model.transform(X), model.explained_variance_ratio_
    chunked = da.from_array(X, chunks=(33, 5))
    model.fit(chunked)
    assert_allclose(model.transform(X), Z, atol=1e-10)
    assert_allclose(model.explained_variance_ratio_, ratio, rtol=1e-10)
    lazy = model.fit_transform(chunked)
    assert lazy.chunks[0] == chunked.chunks[0]
    assert_allclose(lazy.compute(), Z, atol=1e-10)


def test_weighted_words_and_a_pre_image_in_blocks(X, rng):
    da, db = pytest.importorskip("dask.array"), pytest.importorskip("dask.bag")
    words = ["".join(rng.choice(list("abc"), size=8)) for _ in range(60)]
    w = rng.uniform(size=60)
    model = KernelPCA(3, kernel=Normalized(Spectrum(2)), n_landmarks=20, random_state=0)
    expected = model.fit(words, sample_weight=w).transform(words)
    bag = db.from_sequence(words, npartitions=3)
    model.fit(bag, sample_weight=da.from_array(w, chunks=20))
    assert_allclose(model.transform(words), expected, atol=1e-9)
    back = KernelPCA(
        3, kernel="gaussian", n_landmarks=30, random_state=0, preimage=LearnedPreimage()
    ).fit(da.from_array(X, chunks=(40, 5)))
    assert back.inverse_transform(back.transform(X[:4])).shape == (4, 5)


def test_who_cannot_says_so(X):
    da = pytest.importorskip("dask.array")
    chunked = da.from_array(X, chunks=(33, 5))
    with pytest.raises(TypeError, match=r"KernelPCA .*n_landmarks"):
        KernelPCA().fit(chunked)
    with pytest.raises(TypeError, match="n_landmarks"):
        KernelPCA(kernel="precomputed", n_landmarks=5).fit(da.from_array(X @ X.T, chunks=(33, 80)))
    few = KernelPCA(3, n_landmarks=200).fit(chunked)
    assert_allclose(few.transform(X), KernelPCA(3).fit(X).transform(X), atol=1e-10)
    index = KernelPCA(2, kernel=Precomputed(Gaussian(0.1)(X)), n_landmarks=20, random_state=0)
    assert index.fit(np.arange(80)).transform([0, 1]).shape == (2, 2)
