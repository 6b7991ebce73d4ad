import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isthmus.cli.errors import UserError
from isthmus.cli.tables.dialect import Dialect
from isthmus.cli.tables.read import SUFFIXES, read_batches, read_table
from isthmus.cli.tables.select import split_names
from isthmus.cli.tables.table import Table
from isthmus.cli.tables.write import without_formulas, write_table
from isthmus.cli.task import find_task

PATH = Path("table.csv")
FRAME = pd.DataFrame({"a": [1.5, 2.0, 1e-7], "b": [4, 5, 6], "kind": ["x", "y", "x"]})


def table_of(frame):
    return Table(frame, PATH, Dialect(",", "."))


def column_of(cells):
    return table_of(pd.DataFrame({"a": cells}))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_comes_back_from_every_format(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    path = tmp_path / f"table{suffix}"
    write_table(FRAME, path)
    for again in (read_table(path), *read_batches(path, ["kind", "b", "a"])):
        assert_array_equal(again.numbers("a"), FRAME["a"])
        assert_array_equal(again.numbers("b"), FRAME["b"])
        assert list(again.text("kind")) == ["x", "y", "x"]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_an_array_with_columns_is_a_group_that_one_name_stands_for(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, X=np.arange(6.0).reshape(3, 2), y=np.arange(3.0))
    table = read_table(path)
    assert table.names == ["X_0", "X_1", "y"]
    assert find_task(table, None, ["X"])[0].outputs == ["X_0", "X_1"]


def written(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "table.csv", "is empty"),
        ("a,b\n", "table.csv", "is empty"),
        ("a,b,a\n1,2,3\n", "table.csv", "column 'a' occurs 2 times"),
        (",b\n0,2\n", "table.csv", "column 1 has no name"),
        (" ,b\n0,2\n", "table.csv", "column 1 has no name"),
        ("a,b\n1,2,3\n", "table.csv", "header names 2 columns, but row 1 has 3 cells"),
        ("a,b\n1,2\n1,2,3\n", "table.csv", "header names 2 columns, but row 2 has 3 cells"),
        ("a,b\n" + "1,2\n" * 80 + "1,2,3\n", "table.csv", "cannot be read.* line 82"),
        ("a\0b,c\n1,2\n", "table.csv", "header holds a NUL character"),
        (b"a,b\n\xff\xfe,2\n", "table.csv", "cannot be read"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "table.csv.gz", "cannot be read"),
        ("no archive", "table.npz", "cannot be read"),
        ("no parquet", "table.parquet", "cannot be read"),
        ("a,b\n", "table.xlsx", "expected one of .csv, .csv.gz, .parquet, .npz"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path, text, name, message):
    path = written(tmp_path, text, name)
    with pytest.raises(UserError, match=message):
        read_table(path)
    with pytest.raises(UserError, match=message):
        list(read_batches(path, None))


def test_arrays_of_unequal_length_are_refused(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, a=np.zeros(3), b=np.zeros(4))
    with pytest.raises(UserError, match="different numbers of rows"):
        read_table(path)
    np.savez(path, a=np.zeros((2, 2, 2)))
    with pytest.raises(UserError, match=r"'a' has shape \(2, 2, 2\)"):
        read_table(path)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "2", "three", "4"], "column 'a', row 3: expected a number, got the text 'three'"),
        (["1", "4,5"], "got the text '4,5'; if the decimal sign is a comma, use --decimal ,"),
        (["1", "1_000"], "row 2: expected a number, got the text '1_000'"),
        (["1", "-inf"], "column 'a', row 2: expected a finite number, got infinity"),
        (pd.to_datetime(["2020-01-01"]), "column 'a', row 1: expected a number"),
    ],
)
def test_a_bad_cell_is_named_with_column_and_row(cells, message):
    with pytest.raises(UserError, match=message):
        column_of(cells).numbers("a")


def test_empty_cells_are_found_however_they_are_written():
    table = column_of(["1", "", "NaN", " n/a ", "NULL", "None"])
    assert_array_equal(table.cells("a").missing, [False, True, True, True, True, True])
    assert np.isnan(table.numbers("a")[1:]).all()
    assert_array_equal(column_of([1.0, np.nan]).cells("a").missing, [False, True])


def test_a_column_is_text_only_where_most_cells_are_words():
    assert column_of(["x", "y", "1"]).is_text("a")
    assert not column_of(["1", "2", "x"]).is_text("a")
    assert not column_of(["1", " 2.5 ", "1e-3", ""]).cells("a").words.any()
    assert not column_of([True, False]).cells("a").words.any()


@pytest.mark.parametrize("sep", [";", "\t", "|", ","])
@pytest.mark.parametrize("decimal", [".", ","])
def test_signs_of_a_csv_file_are_recognised(tmp_path, sep, decimal):
    path = tmp_path / "t.csv"
    FRAME.to_csv(path, sep=sep, decimal=decimal, index=False)
    asked = Dialect(None, "," if (sep, decimal) == (",", ",") else None)
    for table in (read_table(path, asked), *read_batches(path, None, asked)):
        assert table.names == ["a", "b", "kind"]
        assert_array_equal(table.numbers("a"), FRAME["a"])


@pytest.mark.parametrize(
    ("sep", "decimal", "message"),
    [
        ("", None, "--sep must be one character"),
        (";;", None, "--sep must be one character, got ';;'"),
        (None, "x", "--decimal must be . or ,"),
    ],
)
def test_signs_that_cannot_be_are_refused(sep, decimal, message):
    with pytest.raises(UserError, match=message):
        Dialect(sep, decimal)


def test_dates_become_days_and_ambiguous_ones_are_refused():
    table = column_of(["1970-01-02", "2000-03-01T12:00", ""])
    assert table.is_date("a")
    assert_array_equal(table.days("a"), [1.0, 11017.5, np.nan])
    stamps = column_of(pd.to_datetime(["1970-01-11", None]))
    assert_array_equal(stamps.days("a"), [10.0, np.nan])
    for cell, message in (("03/04/2020", "more than one way"), ("2020-02-31", "there is no day")):
        table = column_of([cell])
        assert table.is_date("a")
        with pytest.raises(UserError, match=message):
            table.days("a")


def test_names_with_commas_stand_in_quotes():
    assert split_names('a, "b, mm",c', "--inputs") == ["a", "b, mm", "c"]
    with pytest.raises(UserError, match="--inputs names no column"):
        split_names(" , ", "--inputs")


def test_text_that_a_spreadsheet_would_calculate_is_written_as_text():
    cells = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx", "-1.5", "plain", None]
    frame = without_formulas(pd.DataFrame({"=evil": cells, "n": np.arange(-4.0, 4.0)}))
    assert list(frame.columns) == ["'=evil", "n"]
    expected = ["'" + c for c in cells[:5]] + ["-1.5", "plain"]
    assert list(frame["'=evil"])[:7] == expected
    assert list(frame["n"]) == list(np.arange(-4.0, 4.0))


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UserError, match=r'pip install "isthmus\[app\]"'):
        read_table(written(tmp_path, "", "table.parquet"))


def test_a_table_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "a,b\n1,2\n")
    monkeypatch.setattr("isthmus.cli.tables.read._CSV_MEMORY", 1e18)
    with pytest.raises(MemoryError, match=r"table .* needs .* for all its rows, but only"):
        read_table(path)


def columns(frame, outputs, inputs=None, **options):
    return find_task(table_of(frame), inputs, outputs, **options)[0]


def test_inputs_are_all_other_columns_unless_named():
    assert columns(FRAME, ["b"]).inputs == ["a", "kind"]
    assert columns(FRAME, ["b"], ["a"]).inputs == ["a"]
    assert columns(FRAME, ["b"]).categories == {"kind": ["x", "y"]}
    assert columns(FRAME, ["kind"]).classes == ["x", "y"]


@pytest.mark.parametrize(
    ("outputs", "inputs", "message"),
    [
        (["kin"], None, "output column 'kin' is missing; did you mean 'kind'?"),
        (["b"], ["zzz"], "input column 'zzz' is missing; the table has 'a', 'b', 'kind'"),
        (["b"], ["a", "b"], "'b' is both input and output"),
        (["b", "b"], None, "output column 'b' is named twice"),
        (["a", "b", "kind"], None, "no column is left for the inputs"),
        (["b", "kind"], None, "'kind' holds text: labels are learned one column at a time"),
    ],
)
def test_a_wrong_choice_of_columns_is_explained(outputs, inputs, message):
    with pytest.raises(UserError, match=message):
        columns(FRAME, outputs, inputs)


def test_columns_with_nothing_to_learn_are_refused():
    constant = FRAME.assign(b=3)
    with pytest.raises(UserError, match="'b' is 3 in every row"):
        columns(constant, ["b"])
    with pytest.raises(UserError, match="'kind' is 'x' in every row"):
        columns(FRAME.assign(kind="x"), ["kind"])
    names = pd.DataFrame({"name": [f"n{i}" for i in range(30)], "y": range(30), "x": range(30)})
    with pytest.raises(UserError, match="'name' has 30 different labels in 30 rows"):
        columns(names, ["y"])
    with pytest.raises(UserError, match="mixes labels and numbers, for example '7'"):
        columns(FRAME.assign(kind=["x", "y", "7"]), ["kind"])
