"""The demo leads with the job, fits on a screen and leaves files that the commands take."""

import re

import pandas as pd
import pytest

from isthmus.cli.demo import run
from isthmus.cli.demo.page import Remade, demo_page


@pytest.fixture(scope="module")
def shown(isthmus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "80")
        patch.setattr(run, "_N_TRAIN", 200)
        patch.setattr(run, "EXPERIMENTS", {"E-12": run.EXPERIMENTS["E-12"]})
        result = isthmus("demo", "--report", "report")
    assert result.exit_code == 0, result.stderr
    return folder, result.stdout


def test_the_demo_fits_on_one_screen_without_broken_words(shown):
    _, text = shown
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) + len(run.EXPERIMENTS) <= 45
    assert lines[0].startswith("A map learned from pairs")
    headings = [line for line in lines if line and not line.startswith(" ")]
    assert headings[-2].startswith("Published results")
    assert headings[-1] == "Where to go next"


def test_every_line_about_an_experiment_fits(shown):
    for id, claim in run.EXPERIMENTS.items():
        assert len(id) <= 15
        assert len(claim) <= 51


def test_the_command_that_the_demo_shows_uses_its_model(shown, isthmus, monkeypatch):
    folder, text = shown
    monkeypatch.chdir(folder)
    joined = re.sub(r" \\\n +", " ", text)
    command = re.search(r"isthmus (predict .*)", joined).group(1).split()
    result = isthmus(*command, "--output", "predicted.csv")
    assert result.exit_code == 0, result.stderr
    predicted, truth = pd.read_csv("predicted.csv"), pd.read_csv("report/digits_test.csv")
    assert len(predicted) == len(truth)
    assert all(name.startswith("bottom_") for name in predicted)
    commands = re.findall(r"isthmus (fit report.*)", joined)
    assert len(commands) == 2
    assert all("--model report/" in command for command in commands)


def test_the_page_shows_picture_commands_and_links(shown):
    folder, _ = shown
    page = (folder / "report" / "index.html").read_text()
    assert "data:image/png;base64," in page
    assert "isthmus predict report/digits.isthmus report/digits_test.csv" in page
    assert 'href="reproductions/index.html#E-12"' in page
    assert 'id="E-12"' in (folder / "report" / "reproductions" / "index.html").read_text()


def test_without_the_experiments_the_demo_still_shows_the_map(monkeypatch, capsys):
    from rich.console import Console

    monkeypatch.setattr("isthmus.cli.reproduce.entry_points", lambda group: [])
    remade, code = run._repeat(None, run._Screen(Console()))
    assert (remade, code) == ([], 0)
    assert "pip install isthmus-experiments" in capsys.readouterr().out
    assert "not installed" in demo_page([], b"", "", remade)


def test_the_page_escapes_what_it_shows():
    page = demo_page([], b"", "<use>", [Remade("<id>", "<claim>", "<b>", 1.0)])
    assert "<claim>" not in page
    assert "&lt;claim&gt;" in page
