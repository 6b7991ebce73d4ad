"""Sets with coverage: thresholds, guarantees, closed forms against refits, every kind of output."""

import pickle

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from isthmus.kernels import Gaussian, NGrams, Normalized
from isthmus.regression import KernelRidgeCV
from isthmus.structured import (
    ConformalSets,
    DependencyClassifier,
    DependencyEstimator,
    coverage_band,
)
from isthmus.structured.conformal.ranks import rank, threshold
from isthmus.structured.conformal.sets import ObjectSet, parts_of

X, Y = load_diabetes(return_X_y=True)
RNG = np.random.default_rng(0)
ORDER = RNG.permutation(len(X))
X, Y = X[ORDER], Y[ORDER]
X.flags.writeable = Y.flags.writeable = False
TWO = np.column_stack([Y, 100 * X[:, 2]])


def test_the_threshold_is_the_plain_rank():
    scores = np.random.default_rng(1).normal(size=57)
    for coverage in (0.5, 0.9, 0.95, 57 / 58):
        k = next(k for k in range(1, 59) if k / 58 >= coverage - 1e-12)
        assert rank(57, coverage) == k
        assert threshold(scores, coverage) == np.sort(scores)[k - 1]
    assert threshold(scores, 0.99) == np.inf


def test_coverage_is_beta_binomial():
    # Scores are exchangeable numbers, so no estimator is needed.
    rng = np.random.default_rng(0)
    low, high = coverage_band(40, 60, 0.8, level=0.9)
    draws = rng.normal(size=(4000, 100))
    levels = np.sort(draws[:, :40], axis=1)[:, rank(40, 0.8) - 1]
    shares = (draws[:, 40:] <= levels[:, None]).mean(axis=1)
    assert shares.mean() == pytest.approx(rank(40, 0.8) / 41, abs=0.005)
    assert 0.88 < ((shares >= low) & (shares <= high)).mean() < 0.97


@pytest.mark.parametrize("method", ["split", "cross", "loo"])
def test_coverage_over_many_splits(method):
    covered = []
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:240], order[240:]
        sets = ConformalSets(
            KernelRidgeCV("linear", alpha=0.01), method=method, cv=5, random_state=seed
        )
        sets.fit(X[train], Y[train])
        covered.append(sets.covers(X[test], Y[test]).mean())
    assert np.mean(covered) > sets.guaranteed_coverage_ - 0.02
    assert abs(np.mean(covered) - 0.9) < 0.035


def test_left_out_rows_in_closed_form_are_those_of_refits():
    machine = KernelRidgeCV("linear", alpha=0.03)
    closed = ConformalSets(machine, method="loo").fit(X[:50], Y[:50])
    refits = ConformalSets(machine, method="cross", cv=50).fit(X[:50], Y[:50])
    assert_allclose(closed.scores_, refits.scores_, rtol=1e-7)
    for a, b in zip(closed.predict(X[50:60]), refits.predict(X[50:60]), strict=True):
        assert_allclose([a.low, a.high], [b.low, b.high], rtol=1e-7)


def fold_predictions(sets, X):
    """What the models without each calibration row say of one new row."""
    cross = sets._calibrated
    return np.array([model.predict(X)[0] for model in cross.models])[cross.fold]


def test_intervals_of_left_out_models_are_their_definition():
    sets = ConformalSets(Ridge(), method="cross", cv=4).fit(X[:60], Y[:60])
    others = fold_predictions(sets, X[60:61])[:, 0]
    (interval,) = sets.predict(X[60:61])
    k = rank(60, 0.9)
    assert interval.high == pytest.approx(np.sort(others + sets.scores_)[k - 1])
    assert interval.low == pytest.approx(np.sort(others - sets.scores_)[60 - k])


def test_a_ball_holds_the_set_of_the_left_out_models():
    sets = ConformalSets(Ridge(), method="cross", cv=4).fit(X[:60], TWO[:60])
    others = fold_predictions(sets, X[60:61])
    (ball,) = sets.predict(X[60:61])
    points = ball.center + np.random.default_rng(0).normal(size=(400, 2)) * ball.radius
    for y in points:
        smaller = (sets.scores_ < np.linalg.norm(y - others, axis=1)).sum()
        assert smaller >= rank(60, 0.9) or y in ball


@pytest.mark.parametrize("shape", ["ball", "box"])
def test_sets_of_vectors_answer_for_themselves(shape):
    sets = ConformalSets(Ridge(), shape=shape).fit(X[:300], TWO[:300])
    found = sets.predict(X[300:])
    inside = [y in one for y, one in zip(TWO[300:], found, strict=True)]
    assert_array_equal(inside, sets.covers(X[300:], TWO[300:]))
    assert 0.8 < np.mean(inside) < 1
    assert found[0].size > 0


def test_boxes_do_not_depend_on_units():
    scale = np.array([1.0, 1e6])
    plain, scaled = (
        ConformalSets(Ridge(), shape="box").fit(X, T).covers(X, T) for T in (TWO, TWO * scale)
    )
    assert_array_equal(plain, scaled)


@pytest.mark.parametrize("method", ["split", "cross"])
def test_classes_are_listed_best_first(method):
    A, b = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(150)
    names = np.array(["setosa", "versicolor", "virginica"])[b][order]
    A = A[order, :2]
    sets = ConformalSets(LogisticRegression(), method=method, cv=5).fit(A[:100], names[:100])
    found = sets.predict(A[100:])
    assert all(one.complete and set(one) <= set(names) for one in found)
    assert all((np.diff(one.scores) >= 0).all() for one in found)
    inside = [y in one for y, one in zip(names[100:], found, strict=True)]
    assert_array_equal(inside, sets.covers(A[100:], names[100:]))
    assert np.mean(inside) > 0.75


def test_a_class_never_seen_is_never_inside():
    A, b = load_iris(return_X_y=True)
    keep = b < 2
    sets = ConformalSets(LogisticRegression()).fit(A[keep], b[keep])
    assert not sets.covers(A[~keep][:3], b[~keep][:3]).any()


def test_label_sets_are_all_those_close_enough():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(400, 3))
    L = (A + 0.5 * rng.normal(size=A.shape) > 0).astype(int)
    model = MultiOutputClassifier(LogisticRegression())
    sets = ConformalSets(model).fit(A[:300], L[:300])
    found = sets.predict(A[300:])
    P = np.column_stack([p[:, 1] for p in sets.estimator_.predict_proba(A[300:])])
    every = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)])
    distances = ((every[None] - P[:, None]) ** 2).sum(axis=2)
    level = threshold(sets.scores_, 0.9)
    assert_array_equal([len(one) for one in found], (distances <= level).sum(axis=1))
    assert_array_equal(
        [y in one for y, one in zip(L[300:], found, strict=True)], sets.covers(A[300:], L[300:])
    )


def test_a_label_that_training_rows_never_have():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 2))
    L = np.column_stack([A[:, 0] > 0, np.zeros(60)]).astype(int)

    class One(LogisticRegression):
        def fit(self, X, y):
            if len(np.unique(y)) > 1:
                return super().fit(X, y)
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return np.ones((len(X), 1)) if len(self.classes_) == 1 else super().predict_proba(X)

    sets = ConformalSets(MultiOutputClassifier(One())).fit(A, L)
    assert sets.covers(A, L).mean() > 0.8


WORDS = ["".join(RNG.choice(list("abcd"), size=n)) for n in RNG.integers(3, 6, size=140)]
DOUBLED = ["".join(2 * c for c in word) for word in WORDS]


def test_words_by_risk():
    machine = KernelRidgeCV(Normalized(NGrams(2)), alpha=0.03)
    model = DependencyEstimator(regressor=machine, loss="edit")
    sets = ConformalSets(model, max_size=8).fit(WORDS[:110], DOUBLED[:110])
    found = sets.predict(WORDS[110:])
    covered = sets.covers(WORDS[110:], DOUBLED[110:])
    assert covered.mean() > 0.7
    answers = sets.estimator_.predict(WORDS[110:])
    for answer, one, truth, inside in zip(answers, found, DOUBLED[110:], covered, strict=True):
        assert one.objects[0] == answer
        assert not one.complete
        assert 1 <= len(one) <= 8
        assert all(y in one for y in one)
        assert (truth in one) == inside
        assert len(set(one.objects)) == len(one)


def test_words_by_distance_in_feature_space():
    model = DependencyEstimator(x_features=NGrams(2), y_features=Normalized(NGrams(2)))
    for method in ("split", "cross"):
        sets = ConformalSets(model, method=method, cv=3).fit(WORDS[:110], DOUBLED[:110])
        assert len(sets.predict(WORDS[110:])) == 30
    split = ConformalSets(model).fit(WORDS[:110], DOUBLED[:110])
    inside = [y in s for y, s in zip(DOUBLED[110:], split.predict(WORDS[110:]), strict=True)]
    assert_array_equal(inside, split.covers(WORDS[110:], DOUBLED[110:]))


def test_groups_are_covered_each():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1200, 1))
    groups = np.array(["calm", "wild"])[rng.integers(2, size=1200)]
    b = A[:, 0] + np.where(groups == "wild", 5.0, 0.5) * rng.normal(size=1200)
    sets = ConformalSets(Ridge()).fit(A[:800], b[:800], groups=groups[:800])
    covered = sets.covers(A[800:], b[800:], groups=groups[800:])
    for group in ("calm", "wild"):
        assert 0.82 < covered[groups[800:] == group].mean() < 0.97
    sizes = np.array([s.size for s in sets.predict(A[800:], groups=groups[800:])])
    assert sizes[groups[800:] == "wild"].min() > 3 * sizes[groups[800:] == "calm"].max()
    assert sets.predict(A[:1], groups=["other"])[0].size == np.inf
    with pytest.raises(ValueError, match="needs those of new rows"):
        sets.predict(A[:1])


def test_too_few_rows_hold_everything_and_say_so():
    with pytest.warns(UserWarning, match=r"8 calibration rows are too few .* 9 or more"):
        sets = ConformalSets(Ridge()).fit(X[:32], Y[:32])
    assert sets.predict(X[:1])[0].size == np.inf


def test_what_a_method_cannot_do_is_said():
    with pytest.raises(ValueError, match="does not pass through"):
        ConformalSets(KernelRidgeCV("gaussian", alpha=1e-14), method="loo").fit(X[:30], Y[:30])
    with pytest.raises(ValueError, match=r"ConformalSets needs at least 2 rows\. Got none"):
        ConformalSets().fit(X[:0], Y[:0])
    with pytest.raises(TypeError, match="'weights' and 'settled'"):
        ConformalSets(KNeighborsRegressor(), method="loo").fit(X, Y)
    with pytest.raises(TypeError, match="in closed form for DependencyClassifier"):
        ConformalSets(LogisticRegression(), method="loo").fit(X, Y > 100)
    with pytest.raises(ValueError, match="'scale' parameter of ConformalSets"):
        ConformalSets(KernelRidgeCV(), method="loo", scale="local").fit(X, Y)
    with pytest.raises(ValueError, match="'scale' parameter of ConformalSets"):
        ConformalSets(LogisticRegression(), scale="local").fit(X, Y > 100)
    with pytest.raises(TypeError, match="given sample_weight, and KNeighborsRegressor"):
        ConformalSets(KNeighborsRegressor()).fit(X, Y, sample_weight=np.ones(len(X)))
    with pytest.raises(TypeError, match="unexpected arguments colour"):
        ConformalSets(Ridge()).fit(X, Y, colour=3)
    with pytest.raises(ValueError, match="'shape' parameter"):
        ConformalSets(Ridge(), shape="interval").fit(X, TWO)
    with pytest.raises(ValueError, match="'coverage' parameter of ConformalSets"):
        ConformalSets(Ridge(), coverage=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="finite numbers in y"):
        ConformalSets(Ridge()).fit(X, np.where(Y > 300, np.nan, Y))
    with pytest.raises(TypeError, match=r"a table or a list of inputs. Got \{1, 2\} of type set"):
        ConformalSets(Ridge()).fit({1, 2}, [1.0, 2.0])
    with pytest.raises(ValueError, match="outputs as inputs"):
        ConformalSets(Ridge()).fit(X, Y[:-1])


def ends(sets):
    return np.array([[one.low, one.high] for one in sets])


def test_sets_do_not_depend_on_the_other_rows_nor_on_a_pickle():
    for method in ("split", "cross", "loo"):
        model = ConformalSets(KernelRidgeCV("linear", alpha=0.1), method=method, cv=3)
        whole = ends(model.fit(X[:80], Y[:80]).predict(X[80:90]))
        assert_allclose(ends(model.predict(X[80:90][::-1]))[::-1], whole)
        single = [ends(model.predict(X[i : i + 1]))[0] for i in range(80, 90)]
        assert_allclose(single, whole)
        assert_allclose(ends(pickle.loads(pickle.dumps(model)).predict(X[80:90])), whole)
        assert_allclose(ends(model.fit(X[:80], Y[:80]).predict(X[80:90])), whole)


def test_a_set_is_a_part_of_what_all_rows_share():
    names, scores = ["a", "b", "c", "b"], np.array([0.1, 0.2, 0.4, 0.3])
    shared = parts_of(names, scores, [0, 2, 2, 4], True)
    alone = [ObjectSet(names[i:j], scores[i:j], True) for i, j in ((0, 2), (2, 2), (2, 4))]
    for one, other in zip(shared, alone, strict=True):
        restored = pickle.loads(pickle.dumps(one))
        assert one.objects == list(one) == other.objects == restored.objects
        assert len(one) == one.size == len(other)
        assert_array_equal(one.scores, other.scores)
        assert ("b" in one) == ("b" in other) == ("b" in restored)
        assert repr(one) == repr(other) == repr(restored)
        wider = one.accepted_by("z".__eq__)
        assert "z" in wider
        assert "b" not in wider
        assert wider.objects == one.objects
    assert len(pickle.dumps(shared[1])) < len(pickle.dumps(shared[0]))


def test_the_guarantee_is_stated():
    assert "at least 0.9" in ConformalSets(Ridge()).fit(X, Y).guarantee_
    cross = ConformalSets(Ridge(), method="cross", cv=10).fit(X, Y)
    n = len(X)
    expected = 0.8 - min(2 * 0.9 / (n / 10 + 1), (1 - 10 / n) / 11)
    assert cross.guaranteed_coverage_ == pytest.approx(expected)
    assert clone(cross).get_params()["cv"] == 10


# Boxes, groups and objects outside split ------------------------------------------------


@pytest.mark.parametrize("method", ["cross", "loo"])
def test_boxes_of_left_out_models_hold_their_set(method):
    machine = KernelRidgeCV("linear", alpha=0.1)
    sets = ConformalSets(machine, method=method, cv=60, shape="box").fit(X[:60], TWO[:60])
    (box,) = sets.predict(X[60:61])
    centers, scores = [], []
    for i in range(60):
        rows = np.delete(np.arange(60), i)
        model = clone(machine).fit(X[rows], TWO[rows])
        units = TWO[rows].std(axis=0)
        scores.append(np.max(np.abs(TWO[i] - model.predict(X[i : i + 1])[0]) / units))
        centers.append((model.predict(X[60:61])[0], units))
    assert_allclose(sets.scores_, scores, rtol=1e-6)
    middle = (box.low + box.high) / 2
    for y in middle + np.random.default_rng(0).normal(size=(300, 2)) * (box.high - box.low):
        own = np.array([np.max(np.abs(y - c) / u) for c, u in centers])
        assert (np.array(scores) < own).sum() >= rank(60, 0.9) or y in box
    wide = ConformalSets(machine, method=method, cv=5, shape="box").fit(X[:200], TWO[:200])
    assert wide.covers(X[200:], TWO[200:]).mean() > 0.85


@pytest.mark.parametrize("method", ["cross", "loo"])
def test_groups_are_covered_each_by_left_out_models(method):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(600, 1))
    groups = np.array(["calm", "wild"])[rng.integers(2, size=600)]
    b = A[:, 0] + np.where(groups == "wild", 5.0, 0.5) * rng.normal(size=600)
    machine = KernelRidgeCV("linear", alpha=0.1)
    sets = ConformalSets(machine, method=method, cv=5).fit(A[:300], b[:300], groups=groups[:300])
    covered = sets.covers(A[300:], b[300:], groups=groups[300:])
    for group in ("calm", "wild"):
        assert 0.82 < covered[groups[300:] == group].mean() < 0.98
    assert "within each group" in sets.guarantee_
    alone = ConformalSets(machine, method=method, cv=5).fit(
        A[:300], b[:300], groups=np.zeros(300, dtype=int)
    )
    plain = ConformalSets(machine, method=method, cv=5).fit(A[:300], b[:300])
    assert_allclose(
        ends(alone.predict(A[300:310], groups=np.zeros(10, dtype=int))),
        ends(plain.predict(A[300:310])),
    )
    with pytest.raises(ValueError, match="needs those of new rows"):
        sets.predict(A[:1])


def test_classes_by_left_out_rows_are_those_of_refits():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(46, 2))
    places = np.digitize(A[:, 0] + 0.5 * rng.normal(size=46), [-0.4, 0.4])
    labels = np.array(["a", "b", "c"])[places]
    machine = KernelRidgeCV(Gaussian(0.5), alpha=0.3)
    model = DependencyClassifier(regressor=machine)
    sets = ConformalSets(model, method="loo", coverage=0.8).fit(A[:40], labels[:40])
    whole, number = sets.estimator_, np.searchsorted(["a", "b", "c"], labels[:40])
    others = []
    for i in range(40):
        rows = np.delete(np.arange(40), i)
        others.append(clone(machine).fit(A[rows], np.eye(3)[number[rows]]))

    def tables(i):
        return np.array([1 - whole.probabilities_from(m.predict(A[i : i + 1]))[0] for m in others])

    scores = np.array([tables(i)[i, number[i]] for i in range(40)])
    assert_allclose(sets.scores_, scores, atol=1e-6)
    for i, one in enumerate(sets.predict(A[40:])):
        inside = (scores[:, None] < tables(40 + i)).sum(axis=0) < rank(40, 0.8)
        assert set(one.objects) == set(whole.classes_[inside])
    assert one.complete


def test_words_by_left_out_rows_are_those_of_refits():
    machine = KernelRidgeCV(Normalized(NGrams(2)), alpha=0.3)
    model = DependencyEstimator(regressor=machine, loss="edit")
    sets = ConformalSets(model, method="loo", coverage=0.7).fit(WORDS[:25], DOUBLED[:25])
    loss = sets.estimator_.preimage_.loss_
    costs = loss.cost(DOUBLED[:25], DOUBLED[:25])
    risks = []
    for i in range(25):
        rows = np.delete(np.arange(25), i)
        part = clone(machine).fit([WORDS[j] for j in rows], np.zeros((24, 1)))
        risks.append((part.weights([WORDS[i]])[0] @ costs[:, rows].T, part, rows))
    scores = np.array([r[i] - r.min() for i, (r, _, _) in enumerate(risks)])
    assert_allclose(sets.scores_, np.where(scores < 1e-9, 0, scores), atol=1e-6)
    table = np.array([part.weights([WORDS[30]])[0] @ costs[:, rows].T for _, part, rows in risks])
    table -= table.min(axis=1, keepdims=True)
    inside = (scores[:, None] + 1e-9 < table).sum(axis=0) < rank(25, 0.7)
    (found,) = sets.predict([WORDS[30]])
    assert set(found.objects) == {DOUBLED[j] for j in np.flatnonzero(inside)}


def test_other_objects_by_left_out_rows():
    kernel = Normalized(NGrams(2))
    features = DependencyEstimator(x_features=kernel, y_features=kernel)
    risky = DependencyEstimator(regressor=KernelRidgeCV(kernel, alpha=0.1), loss="edit")
    for model in (features, risky):
        # Most answers are no training output: the rule decides, not the list.
        closed = ConformalSets(model, method="loo", coverage=0.8).fit(WORDS[:40], DOUBLED[:40])
        assert 0.6 < closed.covers(WORDS[60:90], DOUBLED[60:90]).mean() <= 1
        folds = ConformalSets(model, method="cross", cv=4, coverage=0.8)
        folds.fit(WORDS[:40], DOUBLED[:40])
        assert 0.6 < folds.covers(WORDS[60:90], DOUBLED[60:90]).mean() <= 1
        for sets in (closed, folds):
            for one in sets.predict(WORDS[60:64]):
                assert all(y in one for y in one)
    rng = np.random.default_rng(1)
    A = rng.normal(size=(200, 3))
    L = (A + 0.5 * rng.normal(size=A.shape) > 0).astype(int)
    model = DependencyClassifier(regressor=KernelRidgeCV(Gaussian(0.3), alpha=0.3))
    for labels in (L, sparse.csr_array(L)):
        sets = ConformalSets(model, method="loo").fit(A[:100], labels[:100])
        assert 0.8 < sets.covers(A[100:], L[100:]).mean() <= 1
    # Label sets by the risk of a loss: membership, and lists.
    risky = ConformalSets(DependencyEstimator(loss="f1")).fit(A[:150], L[:150])
    inside = [y in one for y, one in zip(L[150:], risky.predict(A[150:]), strict=True)]
    assert_array_equal(inside, risky.covers(A[150:], L[150:]))


def test_a_local_scale_makes_sets_wide_where_residuals_are_large():
    rng = np.random.default_rng(0)
    A = rng.uniform(-1, 1, size=(1500, 1))
    b = A[:, 0] + np.where(A[:, 0] > 0, 2.0, 0.2) * rng.normal(size=1500)
    quiet = A[700:, 0] < -0.1
    for method in ("split", "cross"):
        for scale in ("local", KNeighborsRegressor(40)):
            sets = ConformalSets(Ridge(), method=method, cv=4, scale=scale).fit(A[:700], b[:700])
            covered = sets.covers(A[700:], b[700:])
            assert 0.86 < covered.mean() < 0.94
            assert 0.8 < covered[quiet].mean() < 0.99
            sizes = np.array([one.size for one in sets.predict(A[700:])])
            assert sizes[~quiet].mean() > 3 * sizes[quiet].mean()
    plain = ConformalSets(Ridge()).fit(A[:700], b[:700]).covers(A[700:], b[700:])
    assert plain[quiet].mean() > 0.99


def test_sample_weights_reach_the_estimator_and_not_the_calibration():
    weights = np.where(np.arange(len(X)) % 2, 0.0, 1.0)
    sets = ConformalSets(Ridge()).fit(X, Y, sample_weight=weights)
    order = np.random.RandomState(0).permutation(len(X))
    held = int(np.ceil(0.25 * len(X)))
    rows = np.sort(order[held:])
    twin = Ridge().fit(X[rows], Y[rows], weights[rows])
    assert_allclose(sets.estimator_.coef_, twin.coef_)
    assert len(sets.scores_) == held
    with sklearn.config_context(enable_metadata_routing=True):
        asked = ConformalSets(Ridge().set_fit_request(sample_weight=True))
        assert_allclose(asked.fit(X, Y, sample_weight=weights).estimator_.coef_, twin.coef_)


def correlated_labels(n, seed=0):
    """Four labels, of which the last three nearly always agree whatever the inputs say."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    common = X[:, 1] + rng.normal(size=n) > 0
    flips = rng.random((n, 3)) < 0.03
    return X, np.column_stack([X[:, 0] + rng.normal(size=n) > 0, common[:, None] ^ flips]).astype(
        int
    )


def test_label_sets_are_measured_in_units_of_the_errors():
    X, Y = correlated_labels(600)
    base = MultiOutputClassifier(LogisticRegression())
    sets = ConformalSets(base).fit(X[:300], Y[:300])
    # The rows that were fitted, as the split draws them.
    rest = np.sort(np.random.RandomState(0).permutation(300)[75:])
    P = np.column_stack([p[:, 1] for p in sets.estimator_.predict_proba(X[rest])])
    precision = np.linalg.inv(ledoit_wolf(Y[rest] - P)[0])
    P = np.column_stack([p[:, 1] for p in sets.estimator_.predict_proba(X[300:])])
    scores = np.einsum("ij,jk,ik->i", Y[300:] - P, precision, Y[300:] - P)
    covered = sets.covers(X[300:], Y[300:])
    assert scores[covered].max() < scores[~covered].min()
    found = sets.predict(X[300:])
    assert [y in one for y, one in zip(Y[300:], found, strict=True)] == covered.tolist()
    plain = ConformalSets(base, method="cross", cv=4).fit(X[:300], Y[:300])
    assert 0.8 < plain.score(X[300:], Y[300:]) < 0.98
    # Of 16 label sets, those in which the last three disagree are seldom listed.
    assert np.mean([one.size for one in found]) < 5


def test_label_sets_of_a_model_without_errors():
    X = np.repeat(np.eye(4), 20, axis=0)
    Y = np.repeat(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), 20, axis=0)
    sets = ConformalSets(KNeighborsClassifier(1)).fit(X, Y)
    assert sets.score(X, Y) == 1
    assert {one.size for one in sets.predict(X)} == {1}
