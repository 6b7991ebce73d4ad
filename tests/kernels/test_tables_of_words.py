"""Words in a column of a table are words, and where vectors are wanted they are refused as text."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from isthmus.kernels import Spectrum
from isthmus.regression import KernelRidgeCV
from isthmus.structured import DependencyEstimator

pd = pytest.importorskip("pandas")

WORDS = ["wishlist", "hello", "abc", "cab", "bca", "abcab", "list", "bc"]
LENGTHS = [len(word) for word in WORDS]
FORMS = {
    "frame": pd.DataFrame({"word": WORDS}),
    "series": pd.Series(WORDS),
    "array": np.array(WORDS),
    "column": np.array(WORDS)[:, None],
    "column of objects": np.array(WORDS, dtype=object)[:, None],
}


@pytest.mark.parametrize("words", FORMS.values(), ids=FORMS)
def test_a_column_of_words_is_the_list_of_them(words):
    expected = KernelRidgeCV(Spectrum(2)).fit(WORDS, LENGTHS).predict(WORDS)
    assert np.ptp(expected) > 1
    assert_array_equal(KernelRidgeCV(Spectrum(2)).fit(words, LENGTHS).predict(words), expected)
    model = DependencyEstimator(x_features=Spectrum(2), y_features=Spectrum(2)).fit(words, words)
    assert set(model.predict(words)) <= set(WORDS)


@pytest.mark.parametrize("words", [FORMS["series"], FORMS["array"]], ids=["series", "array"])
def test_words_are_refused_where_vectors_are_compared(words):
    with pytest.raises(ValueError, match="KernelRidgeCV got text, but its kernel"):
        KernelRidgeCV().fit(words, LENGTHS)
    with pytest.raises(ValueError, match="DependencyEstimator got text as outputs"):
        DependencyEstimator().fit(np.arange(8.0)[:, None], words)


def test_a_column_of_categories_is_named():
    table = pd.DataFrame({"a": np.arange(8.0), "kind": pd.Categorical(list("xyxyxyxy"))})
    with pytest.raises(ValueError, match="Got: 'x' in row 0 of column 'kind'"):
        KernelRidgeCV().fit(table, LENGTHS)
