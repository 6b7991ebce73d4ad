"""Parameters that cannot be used, data that are too large, refits that fail, single precision."""

import numpy as np
import pytest

from isthmus.sparse import (
    KSVD,
    ConvexFactorization,
    DictionaryClassifier,
    NonnegativeFactorization,
    SparseCoder,
    SparseDictionary,
    SparseNet,
)

RNG = np.random.default_rng(0)
X = np.abs(RNG.normal(size=(30, 4)))
Y = np.arange(30) % 2
MODELS = {
    KSVD: {"max_iter": 2, "random_state": 0},
    ConvexFactorization: {"random_state": 0},
    DictionaryClassifier: {"max_iter": 2, "random_state": 0},
    NonnegativeFactorization: {"random_state": 0},
    SparseCoder: {},
    SparseDictionary: {"max_iter": 2, "random_state": 0},
    SparseNet: {"max_iter": 2, "random_state": 0},
}
each_model = pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)


@each_model
def test_wrong_parameters_are_refused_by_name_in_one_line(cls, assert_refuses_wrong_parameters):
    assert_refuses_wrong_parameters(cls, MODELS[cls], X, Y)


@pytest.mark.parametrize("init", [None, 0, [], (1, 2), ("x", "y"), (np.ones((30, 2)), None)])
def test_a_start_of_factors_must_be_a_pair_of_arrays(init):
    with pytest.raises((TypeError, ValueError), match=r"'init' parameter of Nonn.* pair \(W, H\)"):
        NonnegativeFactorization(2, init=init).fit(X)


def test_parameters_are_refused_also_where_they_are_not_used():
    with pytest.raises(ValueError, match="'alpha' parameter of SparseCoder"):
        SparseCoder(n_nonzero=2, alpha=-1).fit(X)
    with pytest.raises(ValueError, match=r"'dictionary' parameter of SparseCoder.* Got None"):
        SparseCoder(None).fit(X)


@each_model
def test_values_whose_powers_overflow_are_refused(cls):
    with pytest.raises(ValueError, match=f"{cls.__name__} needs numbers of magnitude .* rescale"):
        cls(**MODELS[cls]).fit(X * 1e160, Y)


@each_model
def test_a_refit_that_fails_leaves_the_former_fit(cls):
    model = cls(**MODELS[cls]).fit(X, Y)
    use = model.predict if hasattr(model, "predict") else model.transform
    before = use(X)
    with pytest.raises(ValueError, match="overflow"):
        model.fit(X[:, :3] * 1e160, Y)
    if cls is DictionaryClassifier:
        with pytest.raises(ValueError, match="inconsistent"):
            model.fit(X[:, :3], Y[:-3])
    assert model.n_features_in_ == 4
    np.testing.assert_array_equal(use(X), before)


@pytest.mark.parametrize("cls", [KSVD, SparseCoder, SparseDictionary, SparseNet])
def test_single_precision_comes_back_in_single_precision(cls):
    model = cls(**MODELS[cls]).fit(X.astype(np.float32))
    codes = model.transform(X.astype(np.float32))
    assert codes.dtype == model.inverse_transform(codes).dtype == np.float32
    double = model.transform(X.astype(np.float32).astype(np.float64))
    assert double.dtype == np.float64
    np.testing.assert_array_equal(double.astype(np.float32), codes)
