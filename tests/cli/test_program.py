"""What the commands leave and tell, and the program as its user sees it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from isthmus.cli.app import COMMANDS
from tests.cli.conftest import error, predicted, smooth_table

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
