"""The square fitted to rows that are read block by block, and lazy Gram matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import RidgeCV

from isthmus.features import KernelPCA
from isthmus.kernels import Gaussian, Normalized, Precomputed, Spectrum
from isthmus.preimage import LearnedPreimage
from isthmus.regression import KernelRidgeCV
from isthmus.series import dtw_matrix
from isthmus.structured import DependencyEstimator

da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")


@pytest.fixture
def task(rng):
    X = rng.uniform(-1, 1, size=(400, 2))
    return X, np.c_[np.sin(3 * X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)]


def chunked(A, size=130):
    return da.from_array(A, chunks=(size, *A.shape[1:]))


def both_sides(**options):
    return DependencyEstimator(
        x_features=KernelPCA(kernel="gaussian", n_landmarks=40, random_state=0),
        y_features=KernelPCA(6, kernel="gaussian", n_landmarks=30, random_state=0),
        **options,
    )


def test_landmarks_on_both_sides(task):
    X, Y = task
    regressor = KernelRidgeCV("linear", alpha=1e-4, n_landmarks=60)
    whole = both_sides(regressor=regressor).fit(X, Y)
    model = both_sides(regressor=regressor).fit(chunked(X), chunked(Y))
    expected = whole.predict_coordinates(X[:9])
    assert_allclose(model.predict_coordinates(X[:9]), expected, atol=1e-8)
    lazy = model.predict(chunked(X[:40], 20))
    assert_allclose(lazy.compute(), model.predict(X[:40]), atol=1e-6)
    assert model.score(X, Y) == pytest.approx(whole.score(X, Y), abs=1e-3)


def test_defaults_are_those_of_blocks(task):
    X, Y = task
    model = both_sides(preimage=LearnedPreimage()).fit(chunked(X), chunked(Y))
    assert model.score(X, Y) > 0.98
    plain = DependencyEstimator(regressor=KernelRidgeCV(n_landmarks=60))
    expected = KernelRidgeCV(n_landmarks=60).fit(X, Y).predict(X[:5])
    assert_allclose(plain.fit(chunked(X), chunked(Y)).predict(X[:5]), expected, atol=1e-9)
    flat = DependencyEstimator(regressor=KernelRidgeCV(n_landmarks=60))
    assert flat.fit(chunked(X), chunked(Y[:, 0])).predict(X[:5]).shape == (5,)
    assert flat.n_features_in_ == 2


def test_words_from_a_bag(rng):
    words = ["".join(rng.choice(list("ab"), size=7)) for _ in range(150)]
    y = np.array([[word.count("a"), len(set(word))] for word in words], dtype=float)
    model = DependencyEstimator(
        x_features=KernelPCA(kernel=Normalized(Spectrum(2)), n_landmarks=40, random_state=0)
    )
    expected = model.fit(words, y).predict(words)
    model.fit(db.from_sequence(words, npartitions=3), chunked(y, 50))
    # Both choose among the same penalties, by errors on other rows.
    assert_allclose(model.predict(words), expected, atol=0.05)


def test_who_cannot_says_so(task):
    X, Y = map(chunked, task)
    with pytest.raises(TypeError, match=r"n_landmarks"):
        DependencyEstimator().fit(X, Y)
    with pytest.raises(TypeError, match=r"y_features=KernelPCA\(kernel=…, n_landmarks=…\) can"):
        DependencyEstimator(
            x_features=KernelPCA(n_landmarks=20), y_features="gaussian", regressor=RidgeCV()
        ).fit(X, Y)
    with pytest.raises(TypeError, match=r"regressor=KernelRidgeCV"):
        DependencyEstimator(x_features=KernelPCA(n_landmarks=20), regressor=RidgeCV()).fit(X, Y)
    with pytest.raises(TypeError, match="Without a loss"):
        DependencyEstimator(loss="absolute").fit(X, Y)


# Gram matrices ------------------------------------------------------------------------------------


def test_gram_matrices_of_dask_collections_are_lazy(task, rng):
    X, _ = task
    for kernel in (Gaussian(0.5), Gaussian()):
        expected = kernel(X, X[:50])
        lazy = kernel(chunked(X), X[:50])
        assert hasattr(lazy, "dask")
        assert lazy.shape == (400, 50)
        assert_allclose(lazy.compute(), expected, atol=1e-12)
    assert_allclose(Gaussian()(chunked(X)).compute(), Gaussian()(X), atol=1e-12)
    words = ["".join(rng.choice(list("ab"), size=5)) for _ in range(20)]
    lazy = Spectrum(2)(db.from_sequence(words, npartitions=3), words[:4])
    assert_allclose(lazy.compute(), Spectrum(2)(words, words[:4]))
    series = rng.normal(size=(12, 9))
    assert_allclose(dtw_matrix(chunked(series, 5)).compute(), dtw_matrix(series))
    with pytest.raises(TypeError, match="whole Gram matrix"):
        Precomputed()(chunked(X @ X.T))
