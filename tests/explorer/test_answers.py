"""What a map from inputs to outputs says of one input, and why."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from isthmus.explorer.answers import answers_of
from isthmus.explorer.rows import DoesNotFit, make_rows
from isthmus.features import KernelPCA
from isthmus.kernels import Spectrum
from isthmus.regression import GaussianProcess
from isthmus.structured import ConformalSets, DependencyEstimator


@pytest.fixture(scope="module")
def pairs():
    X = np.linspace(0, 1, 40)[:, None]
    return X, np.c_[np.sin(6 * X), np.cos(6 * X)]


def test_output_and_training_pairs_that_count(pairs):
    X, Y = pairs
    model = DependencyEstimator().fit(X, Y)
    answer = answers_of(model, make_rows(X), Y).ask(np.array([0.5]))
    assert_allclose(answer.output, model.predict([[0.5]])[0])
    assert len(answer.pairs) > 1
    weights = np.abs([weight for _, weight in answer.pairs])
    assert (np.diff(weights) <= 0).all()
    own = np.ravel(model.regressor_.weights(model.transform_inputs([[0.5]])))
    assert answer.pairs[0][0] == int(np.argmax(np.abs(own)))


def test_rival_solvers_are_ordered_by_distance(pairs):
    X, Y = pairs
    model = DependencyEstimator(y_features=KernelPCA(0.95)).fit(X, Y)
    rivals = answers_of(model, make_rows(X), Y).rivals(np.array([0.5]))
    assert {"FixedPoint", "Learned", "Candidate"} <= {rival.name for rival in rivals}
    distances = [rival.distance for rival in rivals]
    assert distances == sorted(distances)
    goal = model.predict_coordinates([[0.5]])
    away = model.y_features_.transform(rivals[0].output[None]) - goal
    assert_allclose(distances[0], np.linalg.norm(away))


def test_sets_of_numbers_and_of_words(pairs):
    X, Y = pairs
    sets = ConformalSets(Ridge(), coverage=0.8).fit(X, Y[:, 0])
    answer = answers_of(sets, make_rows(X), Y[:, 0]).ask(X[3])
    own = sets.predict(X[3:4])[0]
    assert_allclose([answer.ends[0][0], answer.ends[1][0]], [own.low, own.high])
    assert "at least 0.8" in answer.guarantee
    words = ["low" if x < 0.5 else "high" for x in X[:, 0]]
    model = ConformalSets(DependencyEstimator(y_features="delta"), coverage=0.8).fit(X, words)
    asked = answers_of(model, make_rows(X), words).ask(X[0])
    assert asked.members[0] == "low"
    assert asked.ends is None


def test_a_process_tells_two_standard_deviations(pairs):
    X, Y = pairs
    model = GaussianProcess(n_init=1).fit(X, Y[:, 0])
    answer = answers_of(model, make_rows(X), Y[:, 0]).ask(X[5])
    mean, std = model.predict(X[5:6], return_std=True)
    assert_allclose(answer.ends[1] - answer.ends[0], 4 * std)
    assert_allclose(answer.output, mean[0])


def test_tables_with_text_and_half_widths():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "kind": ["x", "y", "x", "y"]})

    class ByKind:
        def predict(self, X):
            return np.c_[X["a"].to_numpy() + 10 * (X["kind"] == "y")]

    asked = answers_of(
        ByKind(), make_rows(frame), None, frame=frame, half_widths={"0.9": [0.5]}
    ).ask([2.5, "y"])
    assert_allclose(asked.output, [12.5])
    assert_allclose(np.ravel(asked.ends), [12.0, 13.0])


def test_words_are_asked_about():
    words = ["abab", "baba", "abba", "cccc", "ccdd", "dccd"]
    model = DependencyEstimator(x_features=KernelPCA(kernel=Spectrum(2))).fit(
        words, [[0.0], [0], [0], [1], [1], [1]]
    )
    answers = answers_of(model, make_rows(words), np.array([[0.0], [0], [0], [1], [1], [1]]))
    assert answers.ask("ccccdd").output[0] > 0.5
    assert answers.x_artist.kind.name == "sequence"


def test_what_does_not_fit_is_refused(pairs):
    X, Y = pairs
    model = Ridge().fit(X, Y)
    with pytest.raises(DoesNotFit, match="give a table of them"):
        answers_of(model, None, None)
    with pytest.raises(DoesNotFit, match="3 outputs for 40 inputs"):
        answers_of(model, make_rows(X), Y[:3])
    with pytest.raises(DoesNotFit, match="does not fit the model"):
        answers_of(model, make_rows(np.zeros((4, 5))), None)
    with pytest.raises(DoesNotFit, match="predicts nothing"):
        answers_of(object(), make_rows(X), None)
