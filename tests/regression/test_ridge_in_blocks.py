"""Landmark ridge regression of rows that are read block by block."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from isthmus.kernels import Gaussian, Normalized, Spectrum
from isthmus.regression import GaussianProcess, Inducing, KernelRidgeCV, Selection

da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")


@pytest.fixture
def task(rng):
    X = rng.uniform(-1, 1, size=(300, 3))
    Y = np.c_[np.sin(3 * X[:, 0]), X[:, 1] * X[:, 2]] + 0.05 * rng.normal(size=(300, 2))
    return X, Y


@pytest.mark.parametrize(
    "model",
    [
        KernelRidgeCV(n_landmarks=30),
        KernelRidgeCV(Gaussian(1.0), alpha=0.1, n_landmarks=30, fit_intercept=False),
        KernelRidgeCV("linear", n_landmarks=30, cv=Selection(max_rows=50)),
        KernelRidgeCV("gaussian", n_landmarks=30, cv=4),
    ],
    ids=["auto", "plain", "linear", "folds"],
)
def test_a_dask_array_gives_the_model_of_the_array(model, task):
    X, Y = task
    whole = model.fit(X, Y)
    expected, alpha, error = whole.predict(X[:20]), whole.alpha_, whole.loo_error_
    chunked = model.fit(da.from_array(X, chunks=(70, 3)), da.from_array(Y, chunks=(70, 2)))
    assert chunked.alpha_ == pytest.approx(alpha, rel=1e-9)
    assert error is None or chunked.loo_error_ == pytest.approx(error, rel=1e-9)
    assert_allclose(chunked.predict(X[:20]), expected, atol=1e-10)
    assert chunked.n_features_in_ == 3
    lazy = chunked.predict(da.from_array(X[:20], chunks=(7, 3)))
    assert_allclose(lazy.compute(), expected, atol=1e-10)


def test_weights_flat_outputs_and_streams(task, rng):
    X, Y = task
    w = rng.uniform(0, 2, size=300)
    model = KernelRidgeCV("gaussian", n_landmarks=30)
    expected = model.fit(X, Y[:, 0], sample_weight=w).predict(X[:9])
    chunks = [da.from_array(A, chunks=80) for A in (Y[:, 0], w)]
    model.fit(da.from_array(X, chunks=(80, 3)), chunks[0], sample_weight=chunks[1])
    assert model.predict(X[:9]).shape == (9,)
    assert_allclose(model.predict(X[:9]), expected, atol=1e-9)
    with pytest.raises(TypeError, match="fitted to rows in blocks"):
        model.weights(X[:3])


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_single_precision_stays_single_in_blocks(task, kernel):
    X, Y = (A.astype(np.float32) for A in task)
    model = KernelRidgeCV(kernel, n_landmarks=30).fit(X, Y)
    expected, alpha = model.predict(X[:9]), model.alpha_
    model.fit(da.from_array(X, chunks=(80, 3)), da.from_array(Y, chunks=(80, 2)))
    assert model.predict(X[:9]).dtype == np.float32
    assert kernel == "linear" or model.dual_coef_.dtype == np.float32
    assert model.alpha_ == pytest.approx(alpha, rel=1e-5)
    assert_allclose(model.predict(X[:9]), expected, atol=1e-4)


def test_words_in_a_bag(rng):
    words = ["".join(rng.choice(list("abc"), size=8)) for _ in range(90)]
    y = np.array([word.count("a") for word in words], dtype=float)
    model = KernelRidgeCV(Normalized(Spectrum(2)), n_landmarks=25)
    expected = model.fit(words, y).predict(words[:5])
    model.fit(db.from_sequence(words, npartitions=4), da.from_array(y, chunks=23))
    assert_allclose(model.predict(words[:5]), expected, atol=1e-9)


def test_a_memmap_is_an_array(task, tmp_path):
    X, Y = task
    held = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    held[:] = X
    model = KernelRidgeCV(n_landmarks=30)
    expected = model.fit(X, Y).predict(X[:9])
    assert_allclose(model.fit(held, Y).predict(X[:9]), expected, atol=1e-12)
    assert_allclose(KernelRidgeCV().fit(held, Y).predict(X), KernelRidgeCV().fit(X, Y).predict(X))


def test_who_cannot_says_so(task):
    X, Y = (da.from_array(A, chunks=(100, -1)) for A in task)
    with pytest.raises(TypeError, match="n_landmarks"):
        KernelRidgeCV().fit(X, Y)
    with pytest.raises(TypeError, match="max_rows"):
        KernelRidgeCV(n_landmarks=20, cv=Selection(max_rows=None)).fit(X, Y)
    few = KernelRidgeCV("gaussian", alpha=0.1, n_landmarks=500)
    expected = few.fit(*task).predict(task[0][:4])
    assert_allclose(few.fit(X, Y).predict(task[0][:4]), expected)


# Gaussian processes -------------------------------------------------------------------------------


def test_a_process_through_inducing_objects_is_that_of_the_array(rng):
    X = rng.uniform(-1, 1, size=(260, 2))
    Y = np.c_[np.sin(3 * X[:, 0]), X[:, 1] ** 2] + 0.1 * rng.normal(size=(260, 2)) + 4
    for y in (Y, Y[:, 0]):
        options = {"approximation": Inducing(15), "n_init": 1, "max_iter": 15, "random_state": 0}
        whole = GaussianProcess(**options).fit(X, y)
        chunks = da.from_array(X, chunks=(90, 2)), da.from_array(y, chunks=(90, *y.shape[1:]))
        blocks = GaussianProcess(**options).fit(*chunks)
        assert blocks.kernel_.gamma == pytest.approx(whole.kernel_.gamma, rel=1e-6)
        for a, b in zip(
            blocks.predict(X[:9], return_std=True),
            whole.predict(X[:9], return_std=True),
            strict=True,
        ):
            assert_allclose(a, b, atol=1e-6)
        assert_allclose(blocks.log_marginal_likelihood_, whole.log_marginal_likelihood_, rtol=1e-6)
    with pytest.raises(TypeError, match="Inducing"):
        GaussianProcess().fit(*chunks)
