"""Outputs and losses that are odd or bad, from the fit to the answer."""

import numpy as np
import pytest

from isthmus.kernels import Gaussian, Linear, NGrams, Normalized, Polynomial
from isthmus.losses import EditDistance, FunctionLoss
from isthmus.preimage import MinimumRiskPreimage
from isthmus.regression import KernelRidgeCV
from isthmus.structured import ConformalSets, DependencyClassifier, DependencyEstimator

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(60, 2))
MACHINE = KernelRidgeCV(Gaussian(1.0), alpha=0.1)


def late(answer, truth):
    """To come late costs ten times as much as to come early."""
    return float(10 * max(answer - truth, 0) + max(truth - answer, 0))


def test_a_loss_that_is_not_symmetric_is_answered_on_the_cheap_side():
    times = (10 * X[:, 0] + RNG.normal(size=60)).round()
    early = DependencyEstimator(loss=late, regressor=MACHINE).fit(X, times)
    reverse = DependencyEstimator(loss=lambda a, t: late(t, a), regressor=MACHINE).fit(X, times)
    assert early.predict(X).mean() < times.mean() < reverse.predict(X).mean()
    assert early.score(X, times) > -np.mean(
        [late(t, s) for t, s in zip(times, times[::-1], strict=True)]
    )


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_loss_that_is_negative_or_no_number_is_refused(bad):
    loss = FunctionLoss(lambda y, z: bad if y == z else 1.0)
    with pytest.raises(ValueError, match="must be finite and not negative"):
        DependencyEstimator(loss=loss, regressor=MACHINE).fit(X, X[:, 0].round(1)).predict(X)


@pytest.mark.parametrize("loss", ["f1", "hamming", "jaccard"])
def test_label_sets_that_were_never_seen_are_answered_and_judged(loss):
    near = np.abs(X[:, :1] - np.linspace(-1, 1, 6)) < 0.4
    Y = (near & (RNG.random(near.shape) < 0.9)).astype(int)
    model = DependencyEstimator(loss=loss, regressor=MACHINE).fit(X[:40], Y[:40])
    answers = model.predict(X)
    new = {tuple(row) for row in answers} - {tuple(row) for row in Y[:40]}
    assert new or loss == "jaccard"
    assert np.isfinite(model.score(X[40:], 1 - Y[40:]))


def test_sets_with_coverage_hold_label_sets_that_were_never_seen():
    wide = np.hstack([c < X for c in np.linspace(-0.9, 0.9, 8)]).astype(int)  # 16 labels
    model = DependencyClassifier(regressor=MACHINE)
    for method in ("split", "cross", "loo"):
        sets = ConformalSets(model, method=method, cv=3, coverage=0.8).fit(X[:45], wide[:45])
        found = sets.predict(X[45:])
        assert not found[0].complete
        inside = [y in one for y, one in zip(wide[45:], found, strict=True)]
        np.testing.assert_array_equal(inside, sets.covers(X[45:], wide[45:]))
        assert np.mean(inside) > 0.4
        assert 1 - wide[45] not in found[0]


@pytest.mark.parametrize("loss", ["f1", "hamming", "jaccard", "zero_one"])
def test_empty_sets(loss):
    Y = (X > 0.4).astype(int)  # many rows have no label
    model = DependencyEstimator(loss=loss, regressor=MACHINE).fit(X, Y)
    assert (model.predict(X).sum(axis=1) == 0).any()
    nothing = DependencyEstimator(loss=loss, regressor=MACHINE).fit(X, np.zeros_like(Y))
    assert not nothing.predict(X).any()
    assert nothing.score(X, np.zeros_like(Y)) == pytest.approx(0, abs=1e-9)


def test_one_class_only():
    with pytest.raises(ValueError, match="only one class: 'a'"):
        DependencyClassifier().fit(X, np.full(60, "a"))
    always = DependencyEstimator(loss="zero_one").fit(X, np.full(60, "a"))
    assert set(always.predict(X)) == {"a"}
    full = DependencyClassifier().fit(X, np.column_stack([X[:, 0] > 0, np.ones(60)]).astype(int))
    assert full.predict(X)[:, 1].all()  # a label that everybody has


def test_ties_are_broken_in_one_way():
    twice = np.repeat(X[:10], 2, axis=0)
    labels = np.tile(["b", "a"], 10)  # every input has both
    answers = DependencyEstimator(loss="zero_one", regressor=MACHINE).fit(twice, labels)
    again = DependencyEstimator(loss="zero_one", regressor=MACHINE).fit(twice, labels)
    np.testing.assert_array_equal(answers.predict(X), again.predict(X))
    gamma = MinimumRiskPreimage("zero_one").fit(["b", "a"])
    assert gamma.solve([[0.5, 0.5]])[0] == "b"
    assert MinimumRiskPreimage("f1").fit(np.eye(3, dtype=int)).solve([[1 / 3] * 3]).sum() > 0
    ranks = MinimumRiskPreimage("kendall").fit(np.array([[0, 1], [1, 0]]))
    assert ranks.solve([[0.5, 0.5]]).tolist() in ([[0, 1]], [[1, 0]])
    assert MinimumRiskPreimage("edit").fit(["ab", "ba"]).solve([[0.5, 0.5]])[0] in (
        "ab",
        "ba",
        "a",
        "b",
    )


def test_symbols_that_were_never_seen():
    words = ["".join(RNG.choice(list("abc"), size=4)) for _ in range(50)]
    doubled = ["".join(2 * c for c in word) for word in words]
    machine = KernelRidgeCV(Normalized(NGrams(2)), alpha=0.1)
    model = DependencyEstimator(loss="edit", regressor=machine).fit(words[:40], doubled[:40])
    assert all(set(answer) <= set("abc") for answer in model.predict(["abxy", "zzzz"]))
    assert model.score(["abca"], ["aaxxyyzz"]) <= -4  # symbols of the truth alone cost
    loss = EditDistance()
    assert loss.cost(["ab"], ["xyz"])[0, 0] == 3
    assert loss.neighbours("xyz", np.ones(40) / 40, loss.prepare(doubled[:40]))[0] == []
    sets = ConformalSets(DependencyEstimator(loss="edit", regressor=machine), coverage=0.7)
    (found,) = sets.fit(words, doubled).predict(["abca"])
    assert "qqqqqqqqqqqqqqqq" not in found


@pytest.mark.parametrize("loss", ["f1", "hamming", "jaccard", "zero_one"])
def test_negative_weights_are_used_as_they_are_or_clipped(loss):
    Y = (X[:12] > RNG.normal(size=(1, 2))).astype(int)
    W = MACHINE.fit(X[:12], Y.astype(float)).weights(X[12:30])
    assert (W < 0).any()
    signed = MinimumRiskPreimage(loss).fit(Y)
    every = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    best = (W @ signed.loss_.cost(every, Y).T).min(axis=1)
    found = signed.decode(W)
    assert (found.risk[found.exact] <= best[found.exact] + 1e-9).all()
    clipped = MinimumRiskPreimage(loss, weights="clipped").fit(Y)
    V = np.maximum(W, 0) / np.maximum(W, 0).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clipped.decode(W).risk, signed.decode(V).risk)


@pytest.mark.parametrize("value", [0.1, 3.3, 1e5 / 3])
@pytest.mark.parametrize("kernel", [None, Linear(), Polynomial(2, coef0=1.0)], ids=str)
@pytest.mark.parametrize("cv", ["loo", 5])
@pytest.mark.parametrize("weights", [None, np.repeat([1.0, 2.0], 25)], ids=["alike", "weighted"])
def test_rows_that_are_all_alike_are_answered_by_the_mean(value, kernel, cv, weights):
    rows, numbers = np.full((50, 5), value), np.random.default_rng(0).normal(size=50)
    model = DependencyEstimator(loss="squared", x_features=kernel, cv=cv)
    model.fit(rows, numbers, sample_weight=weights)
    mean = np.full(50, np.average(numbers, weights=weights))
    np.testing.assert_allclose(model.predict(rows), mean, atol=1e-5)
    assert np.all(np.abs(model.predict(rows + 1.0)) < 2.0)
