"""What stopped a new user once: each case with its message."""

import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isthmus.cli.app import COMMANDS
from isthmus.cli.model import load_model
from tests.cli.conftest import read_exactly, smooth_table


def predicted(result):
    assert result.exit_code == 0, result.stderr
    return read_exactly(io.StringIO(result.stdout))


def error(result, message):
    assert result.exit_code == 2, result.stdout
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("isthmus: error: ")
    assert message in lines[-1]
    assert len(lines[-1]) < 1000
    return lines[-1]


@pytest.fixture
def fit(isthmus, tmp_path):
    """Fit on a frame; return the result of the command and the path of the model."""

    def run(frame, outputs, *options, **writing):
        path = tmp_path / "train.csv"
        if frame is not None:
            frame.to_csv(path, index=False, **writing)
        model = tmp_path / "m.isthmus"
        named = [] if outputs is None else ["--outputs", outputs]
        return isthmus("fit", path, *named, "--model", model, "--quick", *options), model

    return run


# Empty cells ------------------------------------------------------------------------


@pytest.fixture
def gaps():
    frame = smooth_table()
    frame.loc[2, "a"] = np.nan
    frame.loc[4, "kind"] = None
    frame.loc[6, "u"] = np.nan
    return frame


def test_empty_cells_are_filled_in_and_it_is_said(fit, gaps, isthmus, tmp_path):
    result, model = fit(gaps, "u", "--inputs", "a,b,kind")
    assert result.exit_code == 0, result.stderr
    assert "2 of 90 rows with an empty cell in 'a', 'kind': numbers become the med" in result.stderr
    assert "--missing drop" in result.stderr
    assert "1 of 90 rows without an output: left out" in result.stderr
    assert load_model(model).n_rows == 89
    rows = isthmus("predict", model, tmp_path / "train.csv")
    assert "numbers become the median" in rows.stderr
    assert predicted(rows)["u"].notna().all()


def test_rows_with_empty_cells_are_dropped_on_request(fit, gaps, isthmus, tmp_path):
    result, model = fit(gaps, "u", "--inputs", "a,b,kind", "--missing", "drop")
    assert result.exit_code == 0, result.stderr
    assert "left out; --missing impute" in result.stderr
    assert load_model(model).n_rows == 87
    rows = isthmus("predict", model, tmp_path / "train.csv", "--missing", "drop")
    table = predicted(rows)
    assert len(table) == 90
    assert list(np.flatnonzero(table["u"].isna())) == [2, 4]
    assert "their predictions are left empty" in rows.stderr


def test_empty_cells_are_refused_on_request(fit, gaps, isthmus, tmp_path):
    result, _ = fit(gaps, "u", "--inputs", "a,b", "--missing", "refuse")
    error(result, "column 'a', row 3: the value is missing")
    result, _ = fit(gaps, "u", "--inputs", "b", "--missing", "refuse")
    error(result, "column 'u', row 7: the value is missing")
    result, _ = fit(gaps.assign(a=np.nan), "u")
    error(result, "input column 'a' has no value in any row")
    result, _ = fit(None, "u", "--missing", "guess")
    error(result, "--missing")


# Labels that the model has not seen -------------------------------------------------


def test_one_unseen_label_does_not_stop_a_prediction(model, table, isthmus, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[0, "kind"] = "clay"
    path = tmp_path / "new.csv"
    frame.to_csv(path, index=False)
    result = isthmus("predict", model, path)
    assert (
        "column 'kind': 1 of 90 rows with a label that the model did not learn, such as 'clay'"
        in (result.stderr)
    )
    before = predicted(isthmus("predict", model, table))
    np.testing.assert_allclose(predicted(result)[1:], before[1:])
    refused = isthmus("predict", model, path, "--unseen", "refuse")
    error(refused, "row 1: the label 'clay' was not in the table the model learned from")


# Separators, decimals, names --------------------------------------------------------


def test_semicolons_and_decimal_commas_are_recognised_and_said(fit, isthmus, tmp_path):
    frame = smooth_table()
    result, model = fit(frame, "u,v", sep=";", decimal=",")
    assert result.exit_code == 0, result.stderr
    assert "with --sep ';' --decimal ','" in result.stderr
    first = predicted(isthmus("predict", model, tmp_path / "train.csv"))
    frame.to_csv(tmp_path / "plain.csv", index=False)
    pd.testing.assert_frame_equal(
        first, predicted(isthmus("predict", model, tmp_path / "plain.csv"))
    )
    again = isthmus("predict", model, tmp_path / "train.csv", "--sep", ";", "--decimal", ",")
    pd.testing.assert_frame_equal(first, predicted(again))
    assert again.stderr == ""


def test_columns_by_pattern_position_and_in_quotes(fit):
    frame = smooth_table().rename(columns={"a": "a_mm", "b": "b_mm", "u": "depth, mm"})
    result, model = fit(frame, '"depth, mm"', "--inputs", "*_mm,3")
    assert result.exit_code == 0, result.stderr
    columns = load_model(model).columns
    assert columns.inputs == ["a_mm", "b_mm", "kind"]
    assert columns.outputs == ["depth, mm"]
    result, model = fit(frame, "4:5")
    assert load_model(model).columns.outputs == ["depth, mm", "v"]
    assert "isthmus: --outputs 4:5, counted from 1: 'depth, mm', 'v'" in result.stderr
    error(fit(frame, "v", "--inputs", "*_cm")[0], "input column '*_cm' is missing")
    error(fit(frame, "v", "--inputs", "9")[0], "there is no column 9: positions run from 1 to 5")


def test_a_table_on_its_side_is_recognised(fit, tmp_path):
    smooth_table().drop(columns="kind").T.to_csv(tmp_path / "train.csv", header=False)
    said = "has 3 rows; cross-validation with --cv 3 needs at least 6 (it has 91 columns: is it tra"
    error(fit(None, "u")[0], said)


def test_a_header_one_name_short_is_refused(fit, tmp_path):
    (tmp_path / "train.csv").write_text("a,b\n" + "1,2,3\n4,5,6\n" * 10)
    error(fit(None, "b")[0], "the header names 2 columns, but row 1 has 3 cells; give every column")


def test_a_nul_in_the_header_is_one_line(fit, tmp_path):
    (tmp_path / "train.csv").write_bytes(b"a\0,b\n" + b"1,2\n" * 20)
    error(fit(None, "b")[0], "the header holds a NUL character")


def test_a_huge_cell_is_one_short_line(fit, isthmus, tmp_path):
    cell = "x" * 5_000_000
    (tmp_path / "train.csv").write_text(f"a,b\n1,2\n{cell},3\n" + "4,5\n" * 20)
    error(fit(None, "b")[0], "column 'a', row 2: expected a number, got the text 'xxx")
    (tmp_path / "train.csv").write_text(f"{cell},b\n" + "1,2\n" * 20)
    error(fit(None, "c")[0], "output column 'c' is missing")


def test_escape_sequences_never_reach_the_terminal(fit, isthmus, tmp_path):
    frame = smooth_table().rename(columns={"u": "\x1b[2Ju", "a": "\x1b]0;evil\x07a"})
    result, model = fit(frame, "*u")
    assert result.exit_code == 0, result.stderr
    told = isthmus("info", model)
    missing = isthmus("predict", model, tmp_path / "train.csv", "--sep", ";")
    for text in (result.stdout, result.stderr, told.stdout, missing.stderr):
        assert "\x1b" not in text
        assert "\x07" not in text
    assert "[2Ju" in told.stdout


# Dates ------------------------------------------------------------------------------


def test_dates_are_named_and_learned_only_on_request(fit, isthmus, tmp_path):
    frame = smooth_table().assign(day=pd.date_range("2024-01-01", periods=90).strftime("%Y-%m-%d"))
    line = error(fit(frame, "u,v")[0], "input column 'day' holds dates, for example '2024-01-01'")
    assert "--dates days" in line
    result, model = fit(frame, "u,v", "--dates", "drop")
    assert "input column 'day' holds dates and is left out" in result.stderr
    assert "day" not in load_model(model).columns.inputs
    result, model = fit(frame, "u,v", "--dates", "days")
    assert result.exit_code == 0, result.stderr
    assert load_model(model).columns.dates == ["day"]
    assert len(predicted(isthmus("predict", model, tmp_path / "train.csv"))) == 90
    error(fit(frame, "day")[0], "output column 'day' holds dates")


# Tasks ------------------------------------------------------------------------------


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


# Size -------------------------------------------------------------------------------


def test_looking_up_columns_takes_time_in_proportion_to_their_number(tmp_path):
    from isthmus.cli.tables.read import read_table
    from isthmus.cli.task import find_task

    path = tmp_path / "wide.npz"
    np.savez(path, w=np.random.default_rng(0).normal(size=(60, 5003)))
    start = time.process_time()
    table = read_table(path)
    columns, _ = find_task(table, None, ["w_0", "w_1", "w_2"])
    assert columns.X(table).X.shape == (60, 5000)
    assert time.process_time() - start < 8  # a minute when look-up was quadratic


def test_columns_of_plain_numbers_are_parsed_as_any_other(monkeypatch):
    from isthmus.cli.tables import table as module

    columns = {
        "plain": ["1", " 2.5", "-3e4 "],
        "wide": ["١", "inf", "0"],
        "gap": ["1", "", "3"],
        "nan": ["1", "nan", "-nan"],
        "underscore": ["1_000", "2", "3"],
        "word": ["1", "two", "3"],
        "truth": [True, False, "1"],
    }
    frame = pd.DataFrame(columns)
    fast = module.Table(frame, Path("a.csv"), module.Dialect(",", "."))
    found = {name: fast.cells(name) for name in columns}
    monkeypatch.setattr(module, "_plain_numbers", lambda column, decimal: None)
    slow = module.Table(frame, Path("a.csv"), module.Dialect(",", "."))
    for name in columns:
        for ours, twin in zip(found[name], slow.cells(name), strict=True):
            np.testing.assert_array_equal(ours, twin, err_msg=name)


def test_estimators_are_compared_on_arrays_as_on_frames():
    from isthmus.cli.candidates import candidates
    from isthmus.cli.columns import TaskColumns
    from isthmus.cli.compare import compare_candidates

    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    X.iloc[::7, 1] = np.nan
    Y = X[["a"]].to_numpy() + 0.1 * rng.normal(size=(30, 1))
    tried = candidates(TaskColumns(["a", "b", "c"], ["y"]), 20)
    options = {"n_folds": 3, "random_state": 0}
    fast = compare_candidates(tried, X, Y, **options)
    slow = compare_candidates(tried, X.astype(object), Y, **options)  # stays a frame
    for ours, twin in zip(fast, slow, strict=True):
        np.testing.assert_allclose(ours.predicted, twin.predicted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_long_tables_are_predicted_in_batches(model, table, isthmus, tmp_path, monkeypatch, suffix):
    from isthmus.cli.tables.write import write_table

    monkeypatch.setattr("isthmus.cli.tables.read.BATCH_ROWS", 40)
    path = tmp_path / f"long{suffix}"
    write_table(read_exactly(table), path)
    result = isthmus("predict", model, path)
    assert result.stdout == isthmus("predict", model, table).stdout
    assert result.exit_code == 0
    output = tmp_path / "out.csv"
    isthmus("predict", model, path, "--output", output)
    assert output.read_text() == result.stdout


def test_rows_of_a_later_batch_are_counted_from_the_first(
    model, table, isthmus, tmp_path, monkeypatch
):
    monkeypatch.setattr("isthmus.cli.tables.read.BATCH_ROWS", 40)
    frame = pd.read_csv(table).astype(object)
    frame.loc[77, "a"] = "oops"
    frame.to_csv(tmp_path / "t.csv", index=False)
    error(isthmus("predict", model, tmp_path / "t.csv"), "column 'a', row 78: expected a number")


# What fit leaves and tells ------------------------------------------------------------


def test_fit_explains_its_choice_and_info_shows_the_card(fit, isthmus, tmp_path):
    result, model = fit(smooth_table(), "u,v")
    assert "Chosen: dependency" in result.stdout
    assert "; the best baseline, " in result.stdout
    told = isthmus("info", model)
    assert told.exit_code == 0
    for part in (
        "model: dependency",
        "task: regression",
        "inputs: a, b, kind",
        "outputs: u, v",
        "learned from: train.csv, 90 of 90 rows",
        "sha256 of the table: ",
        "error on rows left out: RMSE u ",
        "compared (3 folds, 90 rows): mean ",
        "versions: isthmus ",
        "classes: isthmus.",
        "foreign classes: none",
    ):
        assert part in told.stdout, told.stdout
    (tmp_path / "broken").write_text("no model")
    error(isthmus("info", tmp_path / "broken"), "damaged or not a model file")


def test_intervals_hold_the_truth_about_as_often_as_they_say(fit, isthmus, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=700)
    frame = pd.DataFrame({"x": x, "y": np.sin(x) + 0.3 * rng.normal(size=700)})
    _, model = fit(frame[:300], "y")
    new = tmp_path / "new.csv"
    frame[300:].to_csv(new, index=False)
    rows = predicted(isthmus("predict", model, new, "--intervals", "0.9"))
    assert list(rows.columns) == ["y", "y_low", "y_high"]
    truth = frame["y"][300:].to_numpy()
    assert 0.84 < np.mean((rows["y_low"] <= truth) & (truth <= rows["y_high"])) < 0.96
    error(isthmus("predict", model, new, "--intervals", "0.77"), "only for 0.5, 0.6")
    _, labels = fit(smooth_table(), "kind")
    error(
        isthmus("predict", labels, tmp_path / "train.csv", "--intervals", "0.9"), "has no intervals"
    )


def test_a_manifold_completes_whatever_is_missing(fit, isthmus, tmp_path):
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 3, size=50)
    frame = pd.DataFrame({"x": np.cos(t), "y": np.sin(t), "z": t})
    result, model = fit(frame, None, "--task", "manifold")
    assert result.exit_code == 0, result.stderr
    assert "Each column from all others" in result.stdout
    told = isthmus("info", model).stdout
    assert "columns: x, y, z" in told
    assert "outputs:" not in told
    assert "error on rows left out: RMSE x 0." in told
    holes = frame.copy()
    holes.loc[3, "z"] = np.nan
    holes.loc[5, ["x", "y"]] = np.nan
    holes.loc[7] = np.nan
    path = tmp_path / "holes.csv"
    holes.to_csv(path, index=False)
    result = isthmus("complete", model, path)
    full = predicted(result)
    assert "filled in 3 cells" in result.stderr
    assert "1 of 50 rows are empty and stay so" in result.stderr
    assert abs(full.loc[3, "z"] - frame.loc[3, "z"]) < 0.3
    assert abs(full.loc[5, "x"] - frame.loc[5, "x"]) < 0.3
    known = holes.notna().to_numpy()
    assert (full.to_numpy()[known] == holes.to_numpy()[known]).all()
    error(fit(smooth_table(), None, "--task", "manifold")[0], "column 'kind' holds text")


def test_another_model_completes_its_outputs(model, table, isthmus, tmp_path):
    frame = pd.read_csv(table)
    frame.loc[[1, 2], "u"] = np.nan
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    output = tmp_path / "full.csv"
    result = isthmus("complete", model, path, "--output", output)
    assert result.exit_code == 0, result.stderr
    assert "filled in 2 cells: 2 in 'u'" in result.stderr
    full = pd.read_csv(output)
    assert full["u"].notna().all()
    assert (full["v"] == frame["v"]).all()
    frame[["a", "b", "kind"]].to_csv(path, index=False)
    error(isthmus("complete", model, path), "none of the columns that the model can fill in")


def test_predictions_carry_no_formula_into_a_spreadsheet(fit, isthmus, tmp_path):
    frame = smooth_table()
    frame["kind"] = np.where(frame["kind"] == "iron", "=cmd()", "+wood")
    result, model = fit(frame, "kind")
    assert result.exit_code == 0, result.stderr
    output = tmp_path / "out.csv"
    isthmus("predict", model, tmp_path / "train.csv", "--output", output)
    assert set(output.read_text().split()[1:]) == {"'=cmd()", "'+wood"}
    assert set(isthmus("predict", model, tmp_path / "train.csv").stdout.split()[1:]) == {
        "'=cmd()",
        "'+wood",
    }


# The program ------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example(command, isthmus):
    result = isthmus(command, "--help")
    assert result.exit_code == 0
    assert f"Example: isthmus {command}" in " ".join(result.stdout.split())
    assert "Example: isthmus fit train.csv" in " ".join(isthmus("--help").stdout.split())


def test_the_examples_of_the_help_run(isthmus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = smooth_table().rename(columns={"u": "price"})
    for name in ("train.csv", "new.csv", "test.csv"):
        frame.to_csv(name, index=False)
    frame.drop(columns="kind").assign(b=frame["b"].where(frame["b"] > -1)).to_csv(
        "gaps.csv", index=False
    )
    isthmus("fit", "gaps.csv", "--task", "manifold", "--model", "surface.isthmus")
    for command in ("fit", "predict", "score", "info", "complete"):
        text = " ".join(isthmus(command, "--help").stdout.replace("│", " ").split())
        example = text.split("Example: isthmus ")[1].split(" ╭")[0].split(" Arguments")[0]
        words = example.split(" ╰")[0].split()
        result = isthmus(*words[: words.index("Usage:") if "Usage:" in words else None])
        assert result.exit_code == 0, (words, result.stderr)
    assert {"price.isthmus", "predicted.csv", "full.csv"} <= set(os.listdir())


def test_shell_completion_is_offered(tmp_path):
    environment = {
        **os.environ,
        "_ISTHMUS_COMPLETE": "complete_bash",
        "COMP_WORDS": "isthmus pre",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv = ['isthmus']; from isthmus.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == ["predict"], done.stderr


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="only Linux has /dev/full, a device that is always full"
)
def test_a_full_disk_behind_a_redirection_is_one_line(model, table):
    command = [sys.executable, "-m", "isthmus.cli", "predict", str(model), str(table)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "isthmus: error: cannot write the result: No space left on device\n"


def test_fit_shows_a_line_for_each_candidate_on_a_terminal(table, tmp_path):
    pty = pytest.importorskip("pty")
    command = [sys.executable, "-m", "isthmus.cli", "fit", str(table), "--outputs", "u,v"]
    command += ["--model", str(tmp_path / "m.isthmus"), "--quick"]
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # nobody writes any more
            break
        if not part:
            break
        shown += part
    text = shown.decode()
    for candidate in ("mean", "ridge", "dependency, kernel ridge", "dependency, fixed point"):
        assert re.search(rf"{candidate}: mean R² -?\d\.\d{{3}}, \d+\.\d\d s per fold", text), (
            candidate
        )
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "s per fold" not in piped.stderr


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
