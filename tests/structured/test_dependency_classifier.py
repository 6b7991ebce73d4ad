"""Classes and label sets by the square."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MultiLabelBinarizer

from isthmus.losses import CostMatrix
from isthmus.structured import DependencyClassifier, DependencyEstimator
from isthmus.structured.calibration import calibration_error

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


def test_labels_come_back_in_their_own_type():
    pandas = pytest.importorskip("pandas")
    for labels in (y, NAMES, NAMES.astype(object), y + 0.0, pandas.Series(NAMES, dtype="category")):
        model = DependencyClassifier().fit(X, labels)
        found = model.predict(X)
        assert found.dtype == model.classes_.dtype == np.unique(np.asarray(labels)).dtype
        assert (found == np.asarray(labels)).mean() > 0.94


def test_probabilities_are_calibrated_on_rows_left_out_and_hold_on_new_ones():
    A, b = load_breast_cancer(return_X_y=True)
    A, A_new, b, b_new = train_test_split(A, b, random_state=0)
    model = DependencyClassifier().fit(A, b)
    P = model.predict_proba(A_new)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    plain = DependencyClassifier(calibration=None).fit(A, b).predict_proba(A_new) + 1e-6
    plain /= plain.sum(axis=1, keepdims=True)
    assert model.calibration_.error < model.calibration_.error_before
    assert log_loss(b_new, P) < log_loss(b_new, plain)
    assert calibration_error(P, b_new) < 0.05
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(A_new))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(A_new)), P)


def test_the_decision_function_orders_classes_as_predict_does():
    model = DependencyClassifier().fit(X, NAMES)
    values = model.decision_function(X)
    np.testing.assert_array_equal(model.classes_[values.argmax(axis=1)], model.predict(X))
    two = DependencyClassifier().fit(X[:100], NAMES[:100])
    assert two.decision_function(X).shape == (150,)
    np.testing.assert_array_equal(
        two.classes_[(two.decision_function(X) > 0).astype(int)], two.predict(X)
    )


def test_class_weights_move_the_answers_and_equal_a_cost_matrix():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 1))
    b = (A[:, 0] + rng.normal(size=200) > 1).astype(int)
    plain, dear = (DependencyClassifier(class_weight=w).fit(A, b) for w in (None, {0: 1, 1: 8}))
    assert dear.predict(A).sum() > plain.predict(A).sum()
    costs = CostMatrix([[0, 8], [1, 0]], classes=[0, 1])
    same = DependencyClassifier(loss=costs).fit(A, b)
    np.testing.assert_array_equal(dear.predict(A), same.predict(A))
    balanced = DependencyClassifier(class_weight="balanced").fit(A, b)
    assert balanced.predict(A).sum() > plain.predict(A).sum()
    with pytest.raises(ValueError, match="no class_weight beside a loss"):
        DependencyClassifier(loss=costs, class_weight="balanced").fit(A, b)


@pytest.mark.parametrize("loss", [None, "f1", "jaccard"])
@pytest.mark.parametrize("kind", [False, True], ids=["dense", "sparse"])
def test_label_sets_as_the_binarizer_makes_them(loss, kind):
    sets = [{"flower", name} if i % 3 else {name} for i, name in enumerate(NAMES)]
    Y = MultiLabelBinarizer(sparse_output=kind).fit_transform(sets)
    model = DependencyClassifier(loss=loss).fit(X, Y)
    found = model.predict(X)
    assert sparse.issparse(found) == kind
    dense = found.toarray() if kind else found
    truth = Y.toarray() if kind else Y
    assert (dense == truth).mean() > 0.85
    P = model.predict_proba(X)
    assert P.shape == truth.shape
    assert (P >= 0).all()
    assert (P <= 1).all()
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_missing_a_rare_label_can_cost_more():
    Y = np.column_stack([y == 0, np.random.default_rng(0).random(150) < 0.2]).astype(int)
    plain, dear = (
        DependencyClassifier(class_weight=w).fit(X, Y).predict(X) for w in (None, {1: 20.0})
    )
    assert dear[:, 1].sum() > plain[:, 1].sum()
    balanced = DependencyClassifier(class_weight="balanced").fit(X, Y).predict(X)
    assert balanced[:, 1].sum() > plain[:, 1].sum()


def test_folds_are_stratified():
    rare = np.where(np.arange(150) % 30 == 0, "rare", "common")  # five of them
    model = DependencyClassifier(cv=5).fit(X, rare)
    criterion = model.model_.cv.criterion
    assert len(criterion) == 5
    assert all((rare[test] == "rare").sum() == 1 for _, test in criterion)


def test_the_default_is_the_square_with_the_loss_zero_one():
    model = DependencyClassifier().fit(X, y)
    square = DependencyEstimator(loss="zero_one").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), np.asarray(square.predict(X), dtype=int))


def test_a_regressor_of_others_serves_too():
    model = DependencyClassifier(regressor=RandomForestRegressor(20, random_state=0)).fit(X, NAMES)
    assert model.score(X, NAMES) > 0.95
    assert model.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (np.zeros(150), "at least 2 classes"),
        (np.arange(150) / 7, "Unknown label type"),
        (np.full((150, 2), 2), "zeros and ones"),
        (y[:120], "150"),
        (None, "requires y"),
    ],
)
def test_bad_labels_are_refused(labels, text):
    with pytest.raises(ValueError, match=text):
        DependencyClassifier().fit(X, labels)
