"""Whatever a table, a name or an argument holds, it is used or refused in one plain line."""

import gzip
import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from isthmus.cli.app import COMMANDS
from isthmus.cli.columns import MISSING
from isthmus.cli.errors import UserError, one_line, printable
from isthmus.cli.learn import usable_rows
from isthmus.cli.tables.dialect import Dialect
from isthmus.cli.tables.read import read_batches, read_table
from isthmus.cli.tables.select import find_columns, split_names
from isthmus.cli.tables.write import write_csv
from isthmus.cli.task import find_task

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
# Used whenever a table is refused; an allocation that cannot be had says so itself.
REFUSALS = (UserError, MemoryError)
FUZZ = settings(
    max_examples=int(os.environ.get("ISTHMUS_FUZZ", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def use(path, dialect=None, *, task="auto", missing="impute", dates="days"):
    """Everything that is parsed before an estimator sees a number; True if it got that far."""
    try:
        table = read_table(path, dialect)
        whole = [len(batch) for batch in read_batches(path, None, dialect)]
        assert sum(whole) == len(table)
        columns, _ = find_task(table, None, [table.names[-1]], task=task, dates=dates)
        X, Y, _ = usable_rows(columns, table, missing)
        assert len(X) == len(Y)
        write_csv([table.frame], io.StringIO(), screen=True)
    except REFUSALS as error:
        line = one_line(error)
        assert line
        assert printable(line) == line
        return False
    return True


@pytest.mark.parametrize("path", CORPUS, ids=[path.name for path in CORPUS])
def test_what_once_broke_is_used_or_refused(path, isthmus, tmp_path):
    for task in ("auto", "regression", "classification", "labels", "text"):
        for missing in MISSING:
            use(path, task=task, missing=missing)
    model = tmp_path / "m"
    result = isthmus("fit", path, "--outputs", "nowhere", "--model", model)
    assert result.exit_code == 2
    told = [line for line in result.stderr.splitlines() if not line.startswith("isthmus: read ")]
    assert len(told) == 1, result.stderr
    assert told[0].startswith("isthmus: error: ")
    assert "\x1b" not in result.stderr


def test_the_corpus_holds_tables_of_both_kinds():
    used = {path.name for path in CORPUS if use(path)}
    assert {"byte_order_mark.csv", "windows_ends.csv", "semicolons.csv"} <= used
    assert {"short_header.csv", "nul_in_header.csv", "utf16.csv", "truncated.npz"}.isdisjoint(used)


CELLS = st.one_of(
    st.floats().map(repr),
    st.integers(-9, 9).map(str),
    st.sampled_from(["", "NaN", "1,5", "a", "b;a", "2020-01-31", "1 2 3", '"', "=1", "\x1b[2J"]),
    st.text(max_size=5),
)


@FUZZ
@given(
    header=st.lists(st.text(max_size=4), min_size=1, max_size=4),
    rows=st.lists(st.lists(CELLS, max_size=5), max_size=12),
    sep=st.sampled_from([",", ";", "\t", "|"]),
    task=st.sampled_from(["auto", "regression", "classification", "labels", "text"]),
    missing=st.sampled_from(MISSING),
    dates=st.sampled_from(["refuse", "days", "drop"]),
)
def test_any_cells_are_used_or_refused(header, rows, sep, task, missing, dates, tmp_path):
    path = tmp_path / "t.csv"
    lines = [sep.join(cells) for cells in (header, *rows)]
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    use(path, task=task, missing=missing, dates=dates)
    use(path, Dialect(sep, ","), task=task, missing=missing)


@FUZZ
@given(data=st.data(), n_rows=st.integers(1, 12), n_columns=st.integers(2, 4))
def test_a_regular_table_of_any_cells_is_used_or_refused(data, n_rows, n_columns, tmp_path):
    kinds = data.draw(st.lists(st.sampled_from(["number", "any"]), min_size=1, max_size=n_columns))
    frame = pd.DataFrame(
        {
            f"c{j}": data.draw(
                st.lists(
                    st.floats(-9, 9).map(str) if kinds[j % len(kinds)] == "number" else CELLS,
                    min_size=n_rows,
                    max_size=n_rows,
                )
            )
            for j in range(n_columns)
        }
    )
    path = tmp_path / "t.csv"
    text = frame.to_csv(index=False)
    path.write_text(text, encoding="utf-8", errors="replace", newline="")
    use(path)


@FUZZ
@given(
    content=st.binary(max_size=300), suffix=st.sampled_from([".csv", ".csv.gz", ".npz", ".parquet"])
)
def test_any_bytes_are_used_or_refused(content, suffix, tmp_path):
    path = tmp_path / f"t{suffix}"
    path.write_bytes(content)
    use(path)
    path.write_bytes(gzip.compress(content) if suffix == ".csv.gz" else b"a,b\n" + content)
    use(path)


@FUZZ
@given(data=st.data(), suffix=st.sampled_from([".csv.gz", ".npz", ".parquet"]))
def test_a_damaged_file_is_used_or_refused(data, suffix, tmp_path):
    from isthmus.cli.tables.write import write_table

    path = tmp_path / f"t{suffix}"
    write_table(
        pd.DataFrame({"a": np.arange(20.0), "b": list("xy") * 10, "c": np.arange(20)}), path
    )
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
    use(path)


@FUZZ
@given(text=st.text(max_size=20), names=st.lists(st.text(min_size=1, max_size=5), unique=True))
def test_any_choice_of_columns_is_found_or_refused(text, names):
    from isthmus.cli.tables.table import Table

    table = Table(pd.DataFrame([[0] * len(names)], columns=names), Path("t.csv"), Dialect())
    try:
        chosen = find_columns(table, split_names(text, "--inputs"), role="input", groups=True)
    except UserError:
        chosen = []
    assert set(chosen) <= set(names)


OPTIONS = [
    "--outputs",
    "--inputs",
    "--model",
    "--task",
    "--missing",
    "--dates",
    "--sep",
    "--decimal",
    "--cv",
    "--seed",
    "--quick",
    "--output",
    "--intervals",
    "--unseen",
    "--debug",
    "--list",
    "--",
    "-x",
]
VALUES = ["u", "a,b", "1:2", "*", "auto", "-1", "0", "1e9", "drop", ";", "no.csv", "", "\x1b[2J"]
# No program is given an argument with a NUL: it ends there.
ARGUMENT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
WORDS = st.sampled_from(OPTIONS + VALUES) | ARGUMENT


@FUZZ
@given(
    command=st.sampled_from([c for c in COMMANDS if c not in ("warmup", "demo", "reproduce")])
    | ARGUMENT,
    words=st.lists(WORDS, max_size=6),
)
def test_any_arguments_end_in_one_line_and_a_code(command, words, isthmus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = isthmus(command, *words)
    assert result.exit_code in (0, 2), result.stderr
    if result.exit_code == 2 and "--debug" not in words:
        assert len(result.stderr.splitlines()) == 1, result.stderr
        assert result.stderr.startswith("isthmus: error: ")
        assert "--debug" not in result.stderr  # that is for what nobody expected
    assert printable(result.stderr.replace("\n", "")) == result.stderr.replace("\n", "")


@given(text=st.text())
def test_a_line_is_short_and_has_nothing_that_a_terminal_obeys(text):
    line = one_line(text)
    assert len(line) <= 403
    assert printable(line) == line
    assert len(line.splitlines()) <= 1
