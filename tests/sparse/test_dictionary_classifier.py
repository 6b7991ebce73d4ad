"""One dictionary a class: reconstruction, competition, and its gradient."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from isthmus.sparse import KSVD, DictionaryClassifier
from isthmus.sparse.dictionary.classifier_formulas import (
    class_codes,
    competition,
    competition_gradient,
    descent,
)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)


def lines(rng, n=200):
    """Two classes, each near its own line through the origin."""
    y = rng.integers(2, size=n)
    directions = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    X = rng.normal(size=(n, 1)) * directions[y] + 0.02 * rng.normal(size=(n, 3))
    return X, y


def test_signals_on_lines_are_told_apart_whatever_their_length_and_sign(rng):
    X, y = lines(rng)
    X, y = X[np.linalg.norm(X, axis=1) > 0.3], y[np.linalg.norm(X, axis=1) > 0.3]
    model = DictionaryClassifier(1, n_nonzero=1, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.98
    assert_array_equal(model.predict(-5 * X), model.predict(X))
    assert_allclose(np.abs(model.dictionaries_[1][0]), [0.6, 0.8, 0.0], atol=0.02)


def test_without_competition_the_dictionaries_are_those_of_ksvd(digits):
    X, _, y, _ = digits
    model = DictionaryClassifier(5, n_nonzero=2, max_iter=3, random_state=np.random.RandomState(3))
    model.fit(X, y)
    rng = np.random.RandomState(3)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    for c in range(3):  # the classes draw from one generator, in turn
        ksvd = KSVD(5, n_nonzero=2, max_iter=3, rule="correlation", random_state=rng)
        assert_allclose(model.dictionaries_[c], ksvd.fit(X[y == c]).components_)
    assert len(model.objective_) == 0


def test_weak_competition_is_reconstruction(digits):
    X, _, y, _ = digits
    arguments = {"n_nonzero": 2, "max_iter": 3, "random_state": 0}
    codes_of = DictionaryClassifier(5, **arguments).fit(X, y)
    errors = codes_of.residuals(X)
    labels = np.searchsorted(codes_of.classes_, y)
    _, weights = competition(errors, labels, 1e-9)
    own = np.zeros_like(errors)
    own[np.arange(len(y)), labels] = 1
    assert_allclose(weights, own, atol=1e-8)


def test_weights_are_the_derivatives_of_the_objective(rng, assert_gradient):
    errors, labels = rng.random((6, 3)), rng.integers(3, size=6)
    assert_gradient(
        lambda e: competition(e, labels, 5.0)[0],
        lambda e: competition(e, labels, 5.0)[1],
        errors,
        rng,
    )


def test_gradient_by_the_atoms_where_supports_stay(rng, assert_gradient):
    X, labels = rng.normal(size=(12, 6)), rng.integers(2, size=12)
    dictionaries = [rng.normal(size=(4, 6)) for _ in range(2)]
    dictionaries = [D / np.linalg.norm(D, axis=1, keepdims=True) for D in dictionaries]
    supports = [c.support for c in class_codes(X, dictionaries, 2, None)]

    def value(stacked):
        errors = np.empty((12, 2))
        for c in range(2):
            for i, at in enumerate(supports[c]):
                D = stacked[c][at]
                errors[i, c] = np.sum((X[i] - np.linalg.lstsq(D.T, X[i])[0] @ D) ** 2)
        return competition(errors, labels, 3.0)[0]

    def gradient(stacked):
        codes = class_codes(X, list(stacked), 2, None)
        errors = np.column_stack([c.errors for c in codes])
        weights = competition(errors, labels, 3.0)[1]
        return np.stack(
            [competition_gradient(c, w, 4) for c, w in zip(codes, weights.T, strict=True)]
        )

    assert_gradient(value, gradient, np.stack(dictionaries), rng)


def test_descent_stays_on_the_spheres(rng):
    X, labels = rng.normal(size=(12, 6)), rng.integers(2, size=12)
    dictionaries = [np.linalg.qr(rng.normal(size=(6, 4)))[0].T for _ in range(2)]
    codes = class_codes(X, dictionaries, 2, None)
    weights = competition(np.column_stack([c.errors for c in codes]), labels, 3.0)[1]
    moves = descent(dictionaries, codes, weights)
    for D, move in zip(dictionaries, moves, strict=True):
        assert_allclose(np.sum(D * move, axis=1), 0, atol=1e-12)
    assert_allclose(max(np.linalg.norm(move, axis=1).max() for move in moves), 1)


def test_competition_lowers_its_objective_and_the_error_of_small_dictionaries(digits):
    X, X_test, y, y_test = digits
    plain = DictionaryClassifier(5, n_nonzero=2, random_state=0).fit(X, y)
    model = clone(plain).set_params(discrimination=30.0).fit(X, y)
    assert (np.diff(model.objective_) < 0).all()
    assert model.score(X_test, y_test) > plain.score(X_test, y_test)
    for D in model.dictionaries_:
        assert_allclose(np.linalg.norm(D, axis=1), 1)


def test_decision_function_agrees_with_predict(rng, digits):
    X, X_test, y, _ = digits
    model = DictionaryClassifier(5, n_nonzero=2, max_iter=2, random_state=0).fit(X, y)
    assert_array_equal(model.predict(X_test), model.decision_function(X_test).argmax(axis=1))
    X, y = lines(rng)
    labels = np.array(["a", "b"])[y]
    model = DictionaryClassifier(1, n_nonzero=1).fit(X, labels)
    assert model.decision_function(X).shape == (200,)
    assert_array_equal(model.predict(X) == "b", model.decision_function(X) > 0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_atoms": 0}, r"'n_atoms' parameter of DictionaryClassifier"),
        ({"n_nonzero": 0}, r"'n_nonzero' parameter of DictionaryClassifier"),
        ({"discrimination": -1.0}, r"'discrimination' parameter of DictionaryClassifier"),
    ],
)
def test_bad_parameters_are_named_and_leave_nothing_fitted(rng, parameters, message):
    model = DictionaryClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*lines(rng))
    assert not hasattr(model, "dictionaries_")


def test_one_class_is_refused(rng):
    with pytest.raises(ValueError, match=r"at least 2 classes\. Got 1 class: 0\.0\.$"):
        DictionaryClassifier().fit(rng.normal(size=(10, 3)), np.zeros(10))


def test_classes_of_fewer_signals_than_a_code_has_atoms(rng):
    X = rng.normal(size=(12, 45))
    y = np.repeat([0, 1, 1, 2], 3)
    for model in (DictionaryClassifier(random_state=0), DictionaryClassifier(9, n_nonzero=7)):
        assert (model.fit(X, y).predict(X) == y).mean() > 0.5


@pytest.mark.parametrize("discrimination", [1.0, 10.0])
def test_weak_competition_does_not_cost_accuracy(discrimination):
    X, y = load_digits(return_X_y=True)
    given = {"n_atoms": 10, "n_nonzero": 4, "random_state": 0}
    plain = DictionaryClassifier(**given).fit(X[:900], y[:900])
    model = DictionaryClassifier(discrimination=discrimination, **given).fit(X[:900], y[:900])
    assert model.score(X[:900], y[:900]) >= plain.score(X[:900], y[:900])
    assert model.score(X[900:], y[900:]) >= plain.score(X[900:], y[900:]) - 0.005
