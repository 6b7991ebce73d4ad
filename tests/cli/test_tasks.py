"""What is learned from the outputs: classes, sets, words, sequences, series."""

import numpy as np
import pandas as pd

from isthmus.cli.model import load_model
from tests.cli.conftest import error, predicted, smooth_table


def test_few_whole_numbers_are_learned_as_classes_and_it_is_said(fit, isthmus, tmp_path):
    frame = smooth_table()
    frame["grade"] = 1 + (frame["a"] > 0) + (frame["b"] > 0)
    result, model = fit(frame, "grade", "--inputs", "a,b")
    assert "'grade' holds 3 different whole numbers: learned as classes" in result.stderr
    assert "--task regression" in result.stderr
    assert "error rate" in result.stdout
    assert set(predicted(isthmus("predict", model, tmp_path / "train.csv"))["grade"]) <= {1, 2, 3}
    result, model = fit(frame, "grade", "--inputs", "a,b", "--task", "regression")
    assert "RMSE" in result.stdout
    result, _ = fit(frame.assign(grade=frame["grade"] * 10), "grade", "--inputs", "a,b")
    assert "RMSE" in result.stdout  # 10, 20, 30 are numbers


def test_sets_of_labels_are_learned_and_come_back_as_sets(fit, isthmus, tmp_path):
    frame = smooth_table()
    hot, wet = frame["a"] > 0, frame["b"] > 0
    frame["tags"] = [";".join(["hot"] * h + ["wet"] * w) for h, w in zip(hot, wet, strict=True)]
    result, model = fit(frame, "tags", "--inputs", "a,b")
    assert result.exit_code == 0, result.stderr
    assert "'tags' holds sets of labels, separated by ';'" in result.stderr
    assert "dependency, best F1" in result.stdout
    assert load_model(model).columns.classes == ["hot", "wet"]
    table = predicted(isthmus("predict", model, tmp_path / "train.csv")).fillna("")
    assert np.mean(table["tags"] == frame["tags"]) > 0.9
    assert "1 − F1" in isthmus("score", model, tmp_path / "train.csv").stdout


def test_words_are_learned_by_what_they_spell_and_unseen_ones_are_written(fit, isthmus, tmp_path):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), size=rng.integers(3, 6))) for _ in range(80)]
    doubled = ["".join(2 * letter for letter in word) for word in words]
    frame = pd.DataFrame({"word": words, "doubled": doubled})
    result, model = fit(frame[:65], "doubled")
    assert result.exit_code == 0, result.stderr
    assert "input column 'word' holds words" in result.stderr
    assert "learned by what they spell; --task classification takes each" in result.stderr
    assert "unique classes" not in result.stderr
    assert "edit error" in result.stdout
    assert "Chosen: dependency, fewest edits" in result.stdout
    frame[65:].to_csv(tmp_path / "new.csv", index=False)
    answers = predicted(isthmus("predict", model, tmp_path / "new.csv"))["doubled"]
    right = answers[answers.to_numpy() == frame["doubled"][65:].to_numpy()]
    assert len(right) > 2
    assert not set(right) <= set(doubled[:65])


def test_sequences_of_symbols_are_learned_symbol_by_symbol(fit, isthmus, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, size=60)
    sound = [" ".join(["HH", "AE"] * round(1 + 3 * v) + [*rng.choice(["K", "T"], 5)]) for v in x]
    frame = pd.DataFrame({"x": x, "sound": sound})
    result, model = fit(frame, "sound")
    assert result.exit_code == 0, result.stderr
    said = "'sound' holds sequences of 4 symbols, separated by blanks; --task text learns them let"
    assert said in result.stderr
    assert "sequence" in isthmus("info", model).stdout
    answers = predicted(isthmus("predict", model, tmp_path / "train.csv"))["sound"]
    assert {symbol for cell in answers for symbol in cell.split()} <= {"HH", "AE", "K", "T"}
    assert "edit error" in isthmus("score", model, tmp_path / "train.csv").stdout
    result, model = fit(frame.assign(x=sound, sound=x), "sound")
    assert "input column 'x' holds sequences of symbols: compared by common pieces" in result.stderr
    assert load_model(model).columns.objects == "sequence"


def test_series_are_predicted_as_series(fit, isthmus, tmp_path):
    rng = np.random.default_rng(0)
    pace = rng.uniform(0.2, 1.0, size=50)
    cells = [" ".join(f"{v:.3f}" for v in np.sin(p * np.arange(rng.integers(8, 12)))) for p in pace]
    frame = pd.DataFrame({"pace": pace, "signal": cells})
    result, model = fit(frame, "signal")
    assert result.exit_code == 0, result.stderr
    assert "output column 'signal' holds series: learned by their alignment" in result.stderr
    assert "Chosen: dependency, closest alignment" in result.stdout
    assert load_model(model).scores.error_rate < 0.3
    answers = predicted(isthmus("predict", model, tmp_path / "train.csv"))["signal"]
    assert all(len([float(part) for part in cell.split()]) >= 8 for cell in answers)
    (tmp_path / "bad.csv").write_text("pace,signal\n0.5,0.1 0.2 0.3\n0.6,0.1 nan 0.3\n")
    refused = isthmus("score", model, tmp_path / "bad.csv")
    error(refused, "column 'signal', row 2: expected finite numbers in the series")


def test_a_column_of_series_reaches_an_alignment_kernel(fit, isthmus, tmp_path):
    rng = np.random.default_rng(0)
    pace = rng.uniform(0.2, 1.0, size=60)
    series = [np.sin(p * np.arange(rng.integers(8, 14))) for p in pace]
    cells = [" ".join(f"{v:.3f}" for v in one) for one in series]
    frame = pd.DataFrame({"signal": cells, "pace": pace})
    result, model = fit(frame, "pace")
    assert result.exit_code == 0, result.stderr
    assert "input column 'signal' holds series: compared by global alignment" in result.stderr
    assert load_model(model).scores.quality > 0.8
    assert len(predicted(isthmus("predict", model, tmp_path / "train.csv"))) == 60
    both = fit(frame.assign(x=1.0 + pace), "pace", "--inputs", "signal,x")[0]
    error(both, "a series is learned from alone: name it as the only one in --inputs")


def test_classes_are_learned_by_the_classifier_of_the_square(fit, isthmus, tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-2, 2, size=(2, 200))
    ring = np.digitize(a**2 + b**2, [1.0, 2.5])  # no line tells them apart
    frame = pd.DataFrame({"a": a, "b": b, "ring": np.array(["in", "on", "out"])[ring]})
    _, model = fit(frame[:150], "ring")
    last = load_model(model).estimator[-1]
    assert type(last).__name__ == "DependencyClassifier"
    assert last.calibration_ is not None
    new = tmp_path / "new.csv"
    frame[150:].to_csv(new, index=False)
    rows = predicted(isthmus("predict", model, new))
    assert (rows["ring"].to_numpy() == frame["ring"][150:].to_numpy()).mean() > 0.7
