import isthmus_experiments as reproduce
import pytest

from isthmus.cli.demo import run as _demo


def test_the_list_shows_every_experiment(isthmus):
    result = isthmus("reproduce", "--list")
    assert result.exit_code == 0
    for experiment in reproduce.list_experiments():
        assert experiment.id in result.stdout
        assert experiment.title in result.stdout


def test_an_unknown_id_gives_one_line(isthmus):
    result = isthmus("reproduce", "E-99", "--quick")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "no experiment 'E-99'" in result.stderr


def test_options_are_passed_on_and_a_failure_is_the_exit_code(isthmus, monkeypatch, tmp_path):
    asked = {}

    def run(ids, **options):
        asked.update(options, ids=list(ids))
        return []

    monkeypatch.setattr(reproduce, "run", run)
    monkeypatch.setattr(reproduce, "exit_code", lambda results: 1)
    result = isthmus("reproduce", "e-08", "--quick", "--report", tmp_path)
    assert result.exit_code == 1
    assert asked["ids"] == ["E-08"]
    assert asked["quick"]
    assert asked["report"] == tmp_path


def test_coverage_prints_the_totals(isthmus):
    result = isthmus("reproduce", "--coverage")
    assert result.exit_code == 0
    assert result.stdout.startswith("145 published tables and figures: ")
    one = isthmus("reproduce", "E-01", "--coverage").stdout.splitlines()
    assert [line.split("  ")[1] for line in one] == ["000 figure 2.1", "000 figure 2.2"]


def test_quick_results_are_not_kept(isthmus, tmp_path):
    result = isthmus("reproduce", "E-01", "--quick", "--keep", tmp_path)
    assert result.exit_code == 2
    assert "--keep is for full runs" in result.stderr


def test_the_demo_shows_experiments_that_need_no_data_from_elsewhere():
    shown = [reproduce.get(id) for id in _demo.EXPERIMENTS]
    assert not [e.id for e in shown if e.needs_data]


def test_the_demo_leaves_tables_a_model_and_a_picture(isthmus, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    monkeypatch.setattr(reproduce, "run", lambda ids, **options: [])
    monkeypatch.setattr(_demo, "_N_TRAIN", 120)
    report = tmp_path / "new" / "report"
    result = isthmus("demo", "--report", report)
    assert result.exit_code == 0, result.stderr
    names = {path.name for path in report.iterdir()}
    assert {"digits_train.csv", "digits_test.csv", "digits.isthmus", "digits.png"} <= names
    assert "dependency" in result.stdout
    scored = isthmus("score", report / "digits.isthmus", report / "digits_test.csv")
    assert scored.exit_code == 0, scored.stderr
