"""Labels come back in the type in which they were given."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from isthmus.structured import DependencyEstimator
from isthmus.structured.labels import in_type, label_type

X = np.linspace(0, 1, 30)[:, None]
HIGH = X[:, 0] > 0.5
WORDS = np.where(HIGH, "high", "low")


@pytest.mark.parametrize("settings", [{"y_features": "delta"}, {"loss": "zero_one"}], ids=str)
@pytest.mark.parametrize(
    ("labels", "kind"),
    [(HIGH.astype(int), "i"), (HIGH, "b"), (WORDS, "U"), (list(WORDS), "O")],
    ids=["integers", "truth", "words", "list"],
)
def test_arrays_of_labels_keep_their_type(settings, labels, kind):
    found = DependencyEstimator(**settings).fit(X, labels).predict(X)
    assert found.dtype.kind == kind
    assert accuracy_score(labels, found) == 1.0


@pytest.mark.parametrize("settings", [{"y_features": "delta"}, {"loss": "zero_one"}], ids=str)
def test_columns_of_a_table_are_labels_whatever_their_index(settings):
    pandas = pytest.importorskip("pandas")
    index = np.arange(100, 130)
    for column in (
        pandas.Series(HIGH.astype(int), index=index),
        pandas.Series(WORDS, index=index, dtype="category"),
        pandas.Series(WORDS, index=index),
    ):
        found = DependencyEstimator(**settings).fit(X, column).predict(X)
        assert accuracy_score(column, found) == 1.0


def test_words_that_are_built_are_not_cut():
    assert label_type(np.array(["ab", "c"])) == "str"
    assert in_type(np.array(["longer than any", "c"], dtype=object), "str")[0] == "longer than any"


def test_numbers_to_regress_on_are_no_labels():
    found = DependencyEstimator().fit(X, np.arange(30)).predict(X)
    assert found.dtype == float
