"""Kernel machines as smoothers and as expansions: weights of the training outputs."""

import copy
import pickle

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_allclose

from isthmus.kernels import Expansion, Gaussian, Linear, Normalized, Precomputed, Spectrum
from isthmus.reduction import compress
from isthmus.regression import Committee, GaussianProcess, Inducing, KernelRidgeCV
from isthmus.typing import provides


def process(kernel=None, **parameters):
    kernel = Gaussian(2.0) if kernel is None else kernel
    known = {"noise": 0.2, "amplitude": 1.0, "learn_kernel": False}
    return GaussianProcess(kernel, **{**known, **parameters})


MODELS = {
    "ridge": KernelRidgeCV(Gaussian(2.0), alpha=0.1),
    "ridge chosen": KernelRidgeCV([Gaussian(2.0), Linear()]),
    "ridge without constant": KernelRidgeCV(Gaussian(2.0), alpha=0.1, fit_intercept=False),
    "ridge linear": KernelRidgeCV("linear", alpha=0.1),
    "ridge interpolating": KernelRidgeCV(Gaussian(50.0), alpha=0.0),
    "ridge on landmarks": KernelRidgeCV(Gaussian(2.0), alpha=0.1, n_landmarks=15),
    "ridge on landmarks chosen": KernelRidgeCV(n_landmarks=15),
    "ridge on landmarks without constant": KernelRidgeCV(
        Gaussian(2.0), alpha=0.1, n_landmarks=15, fit_intercept=False
    ),
    "ridge on landmarks linear": KernelRidgeCV("linear", alpha=0.1, n_landmarks=15),
    "process": process(),
    "process learned": GaussianProcess(n_init=1, random_state=0),
    "process without mean": process(center=False),
    "process linear": process(Linear()),
}


@pytest.fixture
def task(rng):
    X = rng.uniform(-1, 1, size=(40, 2))
    Y = np.c_[np.sin(4 * X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)] + 0.1 * rng.normal(size=(40, 3))
    return X, Y + 5, rng.uniform(-1, 1, size=(9, 2))


@pytest.mark.parametrize("name", MODELS)
def test_outputs_smoothed_are_the_prediction(name, task):
    X, Y, new = task
    model = MODELS[name].fit(X, Y)
    assert_allclose(model.smooth(new, Y), model.predict(new), atol=1e-8)
    assert_allclose(model.weights(new) @ Y, model.predict(new), atol=1e-8)
    assert model.weights(new).shape == (9, 40)


@pytest.mark.parametrize("name", MODELS)
def test_other_columns_are_smoothed_by_the_same_weights(name, task, rng):
    X, Y, new = task
    model = MODELS[name].fit(X, Y)
    G = rng.normal(size=(40, 7))
    assert_allclose(model.smooth(new, G), model.weights(new) @ G, atol=1e-7)
    column = model.smooth(new, G[:, 0])
    assert column.shape == (9,)
    assert_allclose(column, model.smooth(new, G)[:, 0])


@pytest.mark.parametrize("name", MODELS)
def test_rows_of_weights_sum_to_one_where_that_is_declared(name, task):
    X, Y, new = task
    sums = MODELS[name].fit(X, Y).weights(new).sum(axis=1)
    assert MODELS[name].sums_to_one == np.allclose(sums, 1, atol=1e-8)


def test_weights_of_ridge_are_the_formula(task):
    X, Y, new = task
    K, k = Gaussian(2.0)(X), Gaussian(2.0)(new, X)
    plain = KernelRidgeCV(Gaussian(2.0), alpha=0.1, fit_intercept=False).fit(X, Y)
    assert_allclose(plain.weights(new), k @ np.linalg.inv(K + 0.1 * np.eye(40)), atol=1e-10)
    # With a constant: minimise over (c, b) at once.
    system = np.block(
        [[K + 0.1 * np.eye(40), np.ones((40, 1))], [np.ones((1, 40)), np.zeros((1, 1))]]
    )
    slow = np.c_[k, np.ones(9)] @ np.linalg.inv(system)[:, :40]
    with_constant = KernelRidgeCV(Gaussian(2.0), alpha=0.1).fit(X, Y)
    assert_allclose(with_constant.weights(new), slow, atol=1e-10)


def test_weights_of_a_process_are_the_formula(task):
    X, Y, new = task
    K, k = Gaussian(2.0)(X), Gaussian(2.0)(new, X)
    A = k @ np.linalg.inv(K + 0.04 * np.eye(40))
    slow = A - A.sum(axis=1, keepdims=True) / 40 + 1 / 40
    assert_allclose(process().fit(X, Y).weights(new), slow, atol=1e-10)


def test_weights_in_small_blocks_are_the_same(task, monkeypatch):
    X, Y, new = task
    model = KernelRidgeCV(Gaussian(2.0), alpha=0.1).fit(X, Y)
    whole = model.weights(new)
    pieces = [slice(i, i + 2) for i in range(0, 9, 2)]
    monkeypatch.setattr(
        "isthmus.regression.kernel_weights.block_slices", lambda n, width: iter(pieces)
    )
    assert_allclose(model.weights(new), whole, atol=1e-12)


def test_objects_that_are_no_vectors_are_smoothed_too(rng):
    words = ["".join(rng.choice(list("ab"), size=6)) for _ in range(20)]
    y = np.array([word.count("a") for word in words], dtype=float)
    kernel = Normalized(Spectrum(2))
    for model in (KernelRidgeCV(kernel, alpha=0.1), process(kernel)):
        model.fit(words, y)
        assert_allclose(model.smooth(words[:4], y), model.predict(words[:4]), atol=1e-9)
        assert "objects" in provides(model)


def test_more_rows_are_more_weights(task):
    X, Y, new = task
    model = process().fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    assert model.weights(new).shape == (9, 40)
    assert_allclose(model.smooth(new, Y), model.predict(new), atol=1e-9)


# What is declared -----------------------------------------------------------------------------


def test_capabilities_are_declared_before_the_fit():
    words = {"predict", "several_outputs", "settled", "left_out", "weights", "vectors"}
    assert provides(KernelRidgeCV()) == words
    assert provides(GaussianProcess()) == {"predict", "several_outputs", "weights", "vectors"}
    assert provides(KernelRidgeCV(["gaussian", Linear()])) >= {"weights", "vectors"}
    assert "weights" not in provides(KernelRidgeCV("precomputed"))
    assert "pairwise" in provides(KernelRidgeCV("precomputed"))
    assert provides(GaussianProcess("precomputed")) >= {"weights", "pairwise"}
    for approximation in ("inducing", "dtc", "committee", Inducing(5), Committee(2)):
        assert "weights" not in provides(GaussianProcess(approximation=approximation))
    assert "weights" in provides(GaussianProcess(approximation="exact"))
    assert "vectors" not in provides(KernelRidgeCV("no such kernel"))


def test_gram_matrices_give_weights_where_they_are_kept(task):
    X, Y, new = task
    K, k = Gaussian(2.0)(X), Gaussian(2.0)(new, X)
    rows = process("precomputed").fit(K, Y)
    assert_allclose(rows.weights(k), process().fit(X, Y).weights(new), atol=1e-10)
    with pytest.raises(TypeError, match=r"keeps none of them.*Precomputed\(matrix\)"):
        KernelRidgeCV("precomputed", alpha=0.1).fit(K, Y).weights(k)
    index = KernelRidgeCV(Precomputed(K), alpha=0.1).fit(np.arange(40), Y)
    assert_allclose(index.smooth([3, 5], Y), index.predict([3, 5]), atol=1e-10)


@pytest.mark.parametrize("approximation", ["inducing", "dtc", "committee"])
def test_an_approximation_has_no_weights(task, approximation):
    X, Y, new = task
    model = process(approximation=approximation, random_state=0).fit(X, Y)
    with pytest.raises(TypeError, match="has weights of its training outputs where it is exact"):
        model.smooth(new, Y)


@pytest.mark.parametrize("name", ["ridge", "process"])
def test_columns_of_another_length_are_refused(task, name):
    X, Y, new = task
    model = MODELS[name].fit(X, Y)
    with pytest.raises(ValueError, match=r"smooth needs columns of 40 numbers.*shape \(39, 3\)"):
        model.smooth(new, Y[:-1])
    with pytest.raises(ValueError, match="smooth needs columns of 40 numbers"):
        model.smooth(new, np.array(["a"] * 40))
    assert_allclose(model.smooth(new, np.arange(40)), model.smooth(new, np.arange(40.0)))


# The expansion --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_expansion_is_the_prediction(name, task):
    X, Y, new = task
    model = MODELS[name].fit(X, Y)
    assert isinstance(model.expansion_, Expansion)
    assert_allclose(model.expansion_(new), model.predict(new), atol=1e-10)
    by_hand = model.kernel_(new, model.objects_) @ model.dual_coef_ + model.intercept_
    assert_allclose(by_hand, model.predict(new), atol=1e-7)


@pytest.mark.parametrize("name", ["ridge", "process"])
def test_one_output_stays_flat(name, task):
    X, Y, new = task
    model = MODELS[name].fit(X, Y[:, 0])
    assert model.dual_coef_.shape == (40,)
    assert isinstance(model.intercept_, float)
    assert model.expansion_(new).shape == (9, 1)
    assert_allclose(model.expansion_(new)[:, 0], model.predict(new))
    assert_allclose(model.smooth(new, Y[:, 0]), model.predict(new), atol=1e-9)


@pytest.mark.parametrize("name", ["ridge", "process"])
def test_another_expansion_predicts_what_it_is_and_has_no_weights(name, task):
    X, Y, new = task
    model = MODELS[name].fit(X, Y)
    before = model.predict(new)
    other = Expansion(Gaussian(1.0), X[:5], np.ones((5, 3)), np.array([1.0, 2.0, 3.0]))
    changed = model.with_expansion(other)
    assert type(changed) is type(model)
    assert_allclose(changed.predict(new), other(new))
    assert_allclose(changed.dual_coef_, other.weights)
    assert_allclose(changed.intercept_, other.offset)
    assert changed.kernel_ == Gaussian(1.0)
    assert_allclose(changed.objects_, X[:5])
    with pytest.raises(TypeError, match="compressed"):
        changed.smooth(new, Y)
    assert_allclose(model.predict(new), before)
    assert_allclose(model.smooth(new, Y), before, atol=1e-8)


@pytest.mark.parametrize("name", ["ridge", "process"])
def test_compress_shortens_it(name, task):
    X, Y, new = task
    model = MODELS[name].fit(X, Y)
    small = compress(model, 20)
    assert len(small.expansion_.weights) == 20
    error = np.mean((small.predict(new) - model.predict(new)) ** 2)
    assert error < 0.05 * np.var(model.predict(new))


def test_a_committee_holds_no_single_expansion(task):
    X, Y, _ = task
    model = process(approximation=Committee(2), random_state=0).fit(X, Y)
    assert not hasattr(model, "expansion_")
    again = model.set_params(approximation=None).fit(X, Y)
    assert hasattr(again, "expansion_")
    assert not hasattr(again.set_params(approximation=Committee(2)).fit(X, Y), "expansion_")


@pytest.mark.parametrize("name", ["ridge", "process"])
def test_it_comes_back_from_disk_without_the_factor_it_can_make_again(name, task):
    X, Y, new = task
    model = MODELS[name].fit(X, Y)
    plain = len(pickle.dumps(model))
    smoothed = model.smooth(new, Y)
    assert len(pickle.dumps(model)) == plain
    stored = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=stored)
    assert all(kind.startswith("isthmus.") for kind in types)
    for back in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(stored, trusted=types),
        copy.deepcopy(model),
    ):
        assert_allclose(back.predict(new), model.predict(new))
        assert_allclose(back.smooth(new, Y), smoothed, atol=1e-10)
