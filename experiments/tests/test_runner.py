import io
import warnings

import pytest
from isthmus_experiments import Outcome, Picture, Row, exit_code, experiment, run
from rich.console import Console

ABOUT = {"document": "[999]", "title": "Toy", "published": "nothing", "quick": {}, "full": {}}


def test_broken_experiment_is_recorded_and_the_others_still_run(toys, quiet):
    results = run(console=quiet)
    assert [r.status for r in results] == ["partly", "skipped", "failed"]
    assert results[2].verdict.startswith("failed: ZeroDivisionError: the toy broke (conftest.py:")
    assert exit_code(results) == 1


def test_differing_and_skipped_experiments_are_no_failure(toys, quiet):
    results = run(["T-2", "T-3"], console=quiet)
    assert exit_code(results) == 0
    assert results[0].verdict == "1 reproduced, 0 hold, 0 observed, 1 differ"
    assert results[1].verdict == "skipped: its data is not in the folder that ISTHMUS_DATA names"


def test_missing_file_of_an_experiment_that_needs_no_data_is_a_failure(toys, quiet):
    @experiment("T-4", **ABOUT)
    def loses_a_file(settings, seed, progress):
        raise FileNotFoundError("gone")

    assert run(["T-4"], console=quiet)[0].status == "failed"


def test_unknown_id_is_refused_before_anything_runs(toys, quiet):
    with pytest.raises(ValueError, match="no experiment 'nonsense'"):
        run(["T-2", "nonsense"], console=quiet)
    assert quiet.file.getvalue() == ""


def test_quick_and_full_settings_and_the_seed_reach_the_experiment(toys, quiet):
    quick, full = run(["T-2"], quick=True, console=quiet), run(["T-2"], console=quiet)
    assert quick[0].outcome.rows[1].ours == "n was 3"
    assert full[0].outcome.rows[1].ours == "n was 30"
    assert full[0].seed == 7
    assert full[0].seconds > 0


def test_id_given_twice_runs_once(toys, quiet):
    assert len(run(["T-2", "t-2"], console=quiet)) == 1


def test_pipe_gets_one_line_per_experiment_and_the_table(toys, quiet):
    run(["T-2", "T-3"], console=quiet)
    lines = quiet.file.getvalue().splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["T-2", "T-3"]
    assert any("lower" not in line and "0.2507" in line for line in lines)
    assert "\x1b" not in quiet.file.getvalue()


def test_terminal_gets_a_bar_and_the_verdicts(toys):
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    run(["T-2"], console=console)
    assert "1 reproduced, 0 hold, 0 observed, 1 differ" in console.file.getvalue()
    assert "━" in console.file.getvalue()


def test_experiment_without_judged_rows_is_measured_only(toys, quiet):
    @experiment("T-6", **ABOUT)
    def measures(settings, seed, progress):
        return Outcome([Row("size", None, 1.0, "for information")])

    result = run(["T-6"], console=quiet)[0]
    assert result.status == "measured"
    assert "nothing published" in result.verdict


def test_warnings_are_kept_with_the_result(toys, quiet):
    @experiment("T-7", **ABOUT)
    def warns(settings, seed, progress):
        warnings.warn("slow\nprogress", UserWarning, stacklevel=1)
        return Outcome([])

    assert run(["T-7"], console=quiet)[0].warnings == ("UserWarning: slow progress",)


def test_picture_that_cannot_be_drawn_fails_its_experiment_and_keeps_its_rows(
    toys, quiet, tmp_path
):
    pytest.importorskip("matplotlib")

    def spoiled():
        raise RuntimeError("no ink")

    @experiment("T-8", **ABOUT)
    def draws(settings, seed, progress):
        return Outcome([Row("a", 1, 1, "equal", True)], [Picture("p", "P", spoiled)])

    result = run(["T-8"], report=tmp_path, console=quiet)[0]
    assert result.status == "failed"
    assert "no ink" in result.verdict
    assert "equal" in (tmp_path / "results.md").read_text()
