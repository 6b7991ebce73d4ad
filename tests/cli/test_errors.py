import subprocess
import sys

import pandas as pd
import pytest

import isthmus as library
from isthmus import cli
from isthmus.cli import reproduce as _reproduce
from isthmus.cli.app import COMMANDS


def spoilt(table, folder, change):
    frame = pd.read_csv(table).astype(object)
    path = folder / "spoilt.csv"
    change(frame).to_csv(path, index=False)
    return path


def with_cell(row, column, value):
    def change(frame):
        frame.loc[row, column] = value
        return frame

    return change


BAD_TABLES = {
    "missing column": (lambda f: f.drop(columns="b"), "input column 'b' is missing"),
    "column with another name": (lambda f: f.rename(columns={"b": "b_0"}), "'b' is missing"),
    "text cell": (with_cell(4, "a", "4,5"), "column 'a', row 5: expected a number, got the text"),
    "infinity": (with_cell(2, "b", "inf"), "column 'b', row 3: expected a finite number"),
    "no rows": (lambda f: f[:0], "is empty"),
}


def assert_one_line(stderr, message):
    lines = stderr.splitlines()
    assert len(lines) == 1, stderr
    assert lines[0].startswith("isthmus: error: ")
    assert message in lines[0]


@pytest.mark.parametrize("name", BAD_TABLES)
@pytest.mark.parametrize("command", ["predict", "score"])
def test_a_bad_table_gives_one_line_and_exit_code_2(name, command, model, table, isthmus, tmp_path):
    change, message = BAD_TABLES[name]
    result = isthmus(command, model, spoilt(table, tmp_path, change))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert_one_line(result.stderr, message)
    assert_one_line(result.stderr, f"error: table {tmp_path / 'spoilt.csv'}: ")


@pytest.mark.parametrize("n_rows", [1, 3])
def test_fit_says_how_many_rows_it_needs(n_rows, table, isthmus, tmp_path):
    few = spoilt(table, tmp_path, lambda frame: frame[:n_rows])
    result = isthmus("fit", few, "--outputs", "u", "--model", tmp_path / "m", "--cv", 4)
    assert result.exit_code == 2
    rows = "1 row" if n_rows == 1 else "3 rows"
    assert_one_line(result.stderr, f"table {few}: has {rows}; cross-validation with --cv 4 needs")
    assert_one_line(result.stderr, "at least 8")


@pytest.mark.parametrize("name", ["text cell", "infinity", "no rows"])
def test_fit_refuses_a_bad_table_and_writes_no_model(name, table, isthmus, tmp_path):
    change, message = BAD_TABLES[name]
    model = tmp_path / "m.isthmus"
    bad = spoilt(table, tmp_path, change)
    result = isthmus("fit", bad, "--outputs", "u,v", "--model", model)
    assert result.exit_code == 2
    assert_one_line(result.stderr, message)
    assert not model.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--outputs", "w"], "output column 'w' is missing"),
        (["--outputs", "u", "--inputs", "aa"], "input column 'aa' is missing; did you mean 'a'?"),
        (["--outputs", " , "], "--outputs names no column"),
        (["--outputs", "u", "--cv", "1"], "--cv must be at least 2, got 1"),
        (
            ["--outputs", "u", "--cv", "80"],
            "has 90 rows; cross-validation with --cv 80 needs at least 160",
        ),
        (["--outputs", "u", "--cv", "two"], "--cv"),
        ([], "--outputs"),
        (["--outputs", "u", "--colour"], "--colour"),
    ],
)
def test_wrong_options_of_fit_give_one_line(arguments, message, table, isthmus, tmp_path):
    result = isthmus("fit", table, "--model", tmp_path / "m", *arguments)
    assert result.exit_code == 2
    assert_one_line(result.stderr, message)


def test_a_model_that_cannot_be_written_is_refused_before_the_work(table, isthmus, tmp_path):
    result = isthmus("fit", table, "--outputs", "u", "--model", tmp_path / "no" / "m")
    assert result.exit_code == 2
    assert_one_line(result.stderr, "does not exist")
    assert_one_line(
        isthmus("fit", table, "--outputs", "u", "--model", tmp_path).stderr, "it is a folder"
    )


def test_an_unexpected_error_is_one_line_and_debug_shows_where(model, table, isthmus, monkeypatch):
    def broken(path):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("isthmus.cli.apply.load_model", broken)
    result = isthmus("score", model, table)
    assert result.exit_code == 2
    assert_one_line(result.stderr, "ZeroDivisionError: oh no (run isthmus --debug")
    assert "Traceback" in isthmus("--debug", "score", model, table).stderr


def test_the_installed_program_behaves_the_same(model, table, tmp_path):
    def run(*arguments):
        command = [sys.executable, "-m", "isthmus.cli", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    damaged = tmp_path / "damaged.isthmus"
    damaged.write_bytes(model.read_bytes()[:-300])
    bad = spoilt(table, tmp_path, BAD_TABLES["text cell"][0])
    for arguments, message in {
        (damaged, table): "damaged or not a model file",
        (model, bad): "expected a number",
    }.items():
        result = run("predict", *arguments)
        assert result.returncode == 2
        assert result.stdout == ""
        assert_one_line(result.stderr, message)
    assert run("--version").stdout == f"isthmus {library.__version__}\n"


def test_help_does_not_load_what_only_the_commands_need():
    code = (
        "import sys, isthmus.cli.app;"
        "print(sorted({'numpy', 'pandas', 'sklearn', 'numba'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "[]\n"


def test_help_names_the_commands(isthmus):
    for arguments in ([], ["--help"]):
        result = isthmus(*arguments)
        assert result.exit_code == 0
        for command in COMMANDS:
            assert command in result.stdout


@pytest.mark.parametrize("arguments", [["E-08", "--quick"], ["--list"], []])
def test_reproduce_without_the_experiments_says_what_to_install(arguments, isthmus, monkeypatch):
    monkeypatch.setattr(_reproduce, "entry_points", lambda *, group: ())
    result = isthmus("reproduce", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert_one_line(result.stderr, "pip install isthmus-experiments")


def test_command_line_without_its_extra_says_what_to_install(monkeypatch, capsys):
    absent = {"typer", "rich"}
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name in absent else name)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert_one_line(capsys.readouterr().err, 'needs typer, rich: pip install "isthmus[app]"')


def test_reproducing_one_experiment_does_not_load_the_commands_for_tables():
    code = (
        "import sys\nfrom isthmus.cli.app import app\n"
        "try:\n    app(['reproduce', 'LPR-sine', '--list'])\nexcept SystemExit:\n    pass\n"
        "print('isthmus.cli.candidates' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
