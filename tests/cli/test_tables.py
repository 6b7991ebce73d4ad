import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from isthmus.cli import tables
from isthmus.cli.columns import find_task
from isthmus.cli.errors import UserError

PATH = Path("table.csv")
FRAME = pd.DataFrame({"a": [1.5, 2.0, 1e-7], "b": [4, 5, 6], "kind": ["x", "y", "x"]})


@pytest.mark.parametrize("suffix", tables.SUFFIXES)
def test_a_table_comes_back_from_every_format(tmp_path, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="parquet needs pyarrow")
    path = tmp_path / f"table{suffix}"
    tables.write_table(FRAME, path)
    again = tables.read_table(path)
    assert_array_equal(tables.numbers(again["a"], path), FRAME["a"])
    assert_array_equal(tables.numbers(again["b"], path), FRAME["b"])
    assert list(tables.labels(again["kind"], path)) == ["x", "y", "x"]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_an_array_with_columns_is_a_group_that_one_name_stands_for(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, X=np.arange(6.0).reshape(3, 2), y=np.arange(3.0))
    frame = tables.read_table(path)
    assert list(frame.columns) == ["X_0", "X_1", "y"]
    assert find_task(frame, None, ["X"], path).outputs == ["X_0", "X_1"]


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
        ("a,b\n1,2\n1,2,3\n", "table.csv", "cannot be read"),
        (b"a,b\n\xff\xfe,2\n", "table.csv", "cannot be read"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "table.csv.gz", "cannot be read"),
        ("no archive", "table.npz", "cannot be read"),
        ("no parquet", "table.parquet", "cannot be read"),
        ("a,b\n", "table.xlsx", "expected one of .csv, .csv.gz, .parquet, .npz"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path, text, name, message):
    with pytest.raises(UserError, match=message):
        tables.read_table(written(tmp_path, text, name))


def test_arrays_of_unequal_length_are_refused(tmp_path):
    path = tmp_path / "arrays.npz"
    np.savez(path, a=np.zeros(3), b=np.zeros(4))
    with pytest.raises(UserError, match="different numbers of rows"):
        tables.read_table(path)
    np.savez(path, a=np.zeros((2, 2, 2)))
    with pytest.raises(UserError, match=r"'a' has shape \(2, 2, 2\)"):
        tables.read_table(path)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "2", "three", "4"], "column 'a', row 3: expected a number, got the text 'three'"),
        (["1", "", "3"], "column 'a', row 2: the value is missing"),
        (["1", "2", "NaN"], "column 'a', row 3: the value is missing"),
        ([1.0, np.nan], "column 'a', row 2: the value is missing"),
        (["1", "-inf"], "column 'a', row 2: expected a finite number, got infinity"),
        (pd.to_datetime(["2020-01-01"]), "column 'a': expected numbers or text, got datetime"),
    ],
)
def test_a_bad_cell_is_named_with_column_and_row(cells, message):
    with pytest.raises(UserError, match=message):
        tables.numbers(pd.Series(cells, name="a"), PATH)


def test_a_column_is_text_only_where_most_cells_are_words():
    assert tables.is_label(pd.Series(["x", "y", "1"]), PATH)
    assert not tables.is_label(pd.Series(["1", "2", "x"]), PATH)
    assert tables.is_numeric(pd.Series(["1", " 2.5 ", "1e-3", ""]), PATH)
    assert tables.is_numeric(pd.Series([True, False]), PATH)


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(UserError, match=r'pip install "isthmus\[app\]"'):
        tables.read_table(written(tmp_path, "", "table.parquet"))


def columns(frame, outputs, inputs=None):
    return find_task(frame, inputs, outputs, path="t.csv")


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
    names = pd.DataFrame({"name": [f"n{i}" for i in range(30)], "y": range(30)})
    with pytest.raises(UserError, match="'name' has 30 different labels in 30 rows"):
        columns(names, ["y"])
    with pytest.raises(UserError, match="mixes labels and numbers, for example '7'"):
        columns(FRAME.assign(kind=["x", "y", "7"]), ["kind"])
