"""What stopped a new user once: each case with its message."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isthmus.cli.model import load_model
from tests.cli.conftest import error, predicted, read_exactly, smooth_table

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
