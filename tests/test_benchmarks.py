"""The benchmark harness, never the times it measures."""

import sys
from pathlib import Path

import numba
import numpy as np
import pytest

pytest.importorskip("threadpoolctl")
ROOT = Path(__file__).parents[1]
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not part of this copy", allow_module_level=True)


@pytest.fixture(autouse=True)
def _root_on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]


def measured_row(contest, case=10):
    from benchmarks._harness import measured

    return measured(contest, case, repeat=1, tell=lambda what: None)


def summing_contest(peer):
    from benchmarks._harness import Contest

    return Contest(
        lambda: np.ones(1000).sum(), peer, lambda total: {"total": total}, lambda a, b: abs(a - b)
    )


def test_every_family_file_registers_benchmarks_with_cases():
    from benchmarks._harness import discover

    registry = discover()
    families = {path.stem.removeprefix("bench_") for path in (ROOT / "benchmarks").glob("bench_*")}
    assert {b.family for b in registry.values()} == families
    assert all(b.cases and b.quick and b.work and b.peer for b in registry.values())


def test_a_row_has_times_memory_quality_and_the_difference_of_both_sides():
    row = measured_row(summing_contest(lambda: np.ones(2000).sum() / 2))
    assert row.ours.quality == row.peer.quality == {"total": 1000.0}
    assert row.difference == 0
    assert row.ours.peak >= 8000
    assert row.ratio("peak") > 1.5
    assert row.ratio("cpu") > 0


def test_a_peer_that_refuses_or_is_missing_leaves_a_row_that_says_so():
    from benchmarks._harness import Unavailable
    from benchmarks._report import cells

    def refuses():
        raise ValueError("no precomputed kernels")

    def is_missing():
        raise Unavailable("not installed")

    refused = cells(measured_row(summing_contest(refuses)), "cpu")
    assert refused[-1] == "refuses: ValueError: no precomputed kernels"
    skipped = cells(measured_row(summing_contest(is_missing)), "cpu")
    assert skipped[-1] == "skipped: not installed"


def test_our_own_failure_is_not_hidden():
    from benchmarks._harness import Contest

    with pytest.raises(RuntimeError, match="Our side failed at 10: refuses: ZeroDivisionError"):
        measured_row(Contest(lambda: 1 / 0, lambda: 1))


def test_our_side_can_be_measured_once_for_several_peers():
    from benchmarks._harness import measured

    known = measured_row(summing_contest(lambda: 1000.0)).ours
    contest = summing_contest(lambda: 999.0)
    never = type(contest)(lambda: 1 / 0, contest.peer, contest.quality, contest.difference)
    row = measured(never, "other", repeat=1, tell=lambda what: None, ours=known)
    assert row.ours is known
    assert row.peer.quality == {"total": 999.0}
    assert row.difference is None


def test_a_side_of_more_than_a_minute_is_called_twice(monkeypatch):
    import benchmarks._harness as harness

    monkeypatch.setattr(harness, "MINUTE", 0.0)
    calls = []
    row = measured_row(harness.Contest(lambda: calls.append("ours"), lambda: calls.append("peer")))
    assert sorted(calls) == ["ours", "ours", "peer", "peer"]
    assert row.ours.wall > 0


def test_growth_exponent_of_a_cubic_cost_is_three_and_needs_three_sizes():
    from benchmarks._harness import growth_exponent

    assert growth_exponent([1, 2, 4, 8], [5, 40, 320, 2560]) == pytest.approx(3)
    assert growth_exponent([1, 2], [1, 8]) is None


def test_the_page_names_versions_and_no_folder():
    from benchmarks._harness import Benchmark
    from benchmarks._report import markdown

    contest = summing_contest(lambda: 1000.0)
    ours = Benchmark("sums", "a sum", "a number", (10,), (10,), "n", "", lambda n: contest)
    page = markdown("sums", {"sums": (ours, [measured_row(contest)])}, threads=1, repeat=1)
    assert "## sums" in page
    assert "numpy" in page
    assert str(ROOT) not in page


def test_only_a_family_run_whole_at_full_size_writes_its_page(monkeypatch, tmp_path, capsys):
    import benchmarks.__main__ as command
    from benchmarks._harness import Benchmark, discover

    def contest(case):
        return summing_contest(lambda: 1000.0)

    contest.__module__ = "benchmarks.bench_sums"
    both = {
        name: Benchmark(name, "a sum", "a number", (10,), (10,), "n", "", contest)
        for name in ("first", "second")
    }
    monkeypatch.setattr(command, "discover", lambda: {**discover(), **both})
    monkeypatch.setattr(command, "RESULTS", tmp_path / "benchmarks" / "results")
    command.RESULTS.mkdir(parents=True)
    assert command.main(["--only", "first", "--repeat", "1"]) == 0
    assert command.main(["--only", "sums", "--repeat", "1", "--quick"]) == 0
    assert not list(command.RESULTS.iterdir())
    assert command.main(["--only", "sums", "--repeat", "1"]) == 0
    page = (command.RESULTS / "sums.md").read_text()
    assert "## first" in page
    assert "## second" in page
    assert (
        command.main(["--only", "second", "--repeat", "2"]) == 0
    )  # a part of a page that is there
    again = (command.RESULTS / "sums.md").read_text()
    assert again.partition("## second")[0] == page.partition("## second")[0]
    assert again.count("## ") == 2
    assert again.count("Measured alone on ") == 1


def test_an_unknown_name_lists_the_known_ones():
    from benchmarks._harness import chosen, discover

    with pytest.raises(ValueError, match=r"called nothing: expected some of .*kernel-pca"):
        chosen(discover(), ["nothing"])


def test_both_sides_are_timed_on_the_default_number_of_threads_too():
    from benchmarks.__main__ import threads_at
    from benchmarks._harness import Contest, measured
    from benchmarks._report import COLUMNS, cells

    seen = []
    contest = Contest(lambda: seen.append(numba.get_num_threads()), lambda: None)
    with threads_at(1):
        row = measured(contest, 10, repeat=1, tell=lambda what: None, widen=lambda: threads_at(2))
        assert numba.get_num_threads() == 1
    assert set(seen) == {1, min(2, numba.config.NUMBA_NUM_THREADS)}
    assert row.ours.default > 0
    assert row.peer.default > 0
    shown = dict(zip(COLUMNS, cells(row, "cpu")[1:], strict=False))
    assert shown["ratio, default"] == f"{row.ratio('default'):.2f}"


def test_cells_of_the_comparison_of_manifolds_are_kept_and_shown(tmp_path):
    from benchmarks import manifolds

    cells, page = tmp_path / "cells.jsonl", tmp_path / "page.md"
    arguments = ["--sets", "half circle", "--methods", "PCA", "Isomap", "--draws", "1"]
    for _ in range(2):  # the second time all cells are there
        manifolds.main([*arguments, "--cells", str(cells), "--page", str(page)])
    assert len(cells.read_text().splitlines()) == 2
    assert "| PCA | " in page.read_text()


def test_a_row_of_the_page_of_precisions(capsys):
    from benchmarks.precision import PAGE, main

    before = PAGE.stat().st_mtime_ns
    assert main(["--only", "Whitening"]) == 0
    page = capsys.readouterr().out
    assert "| Whitening |" in page
    assert "| float32 |" in page
    assert "Missed by none of 1 rows" in page
    assert PAGE.stat().st_mtime_ns == before


def test_a_page_says_which_ratios_moved_and_what_other_processes_took():
    from dataclasses import replace

    from benchmarks._harness import Benchmark, Row, Side
    from benchmarks._report import markdown, with_sections

    ours = Benchmark("sums", "a sum", "a number", (10, 20), (10,), "n", "", lambda n: None)

    def row(case, peer):
        return Row(case, Side(1.0, 1.0, 1.0, 1.0), Side(peer, peer, peer, 1.0), None, 0.0)

    settings = {"threads": 1, "repeat": 1}
    first = markdown("sums", {"sums": (ours, [row(10, 2.0), row(20, 2.0)])}, **settings)
    assert "page before" not in first
    assert "Other processes" not in first
    again = {"sums": (ours, [replace(row(10, 4.0), others=0.72), row(20, 2.2)])}
    for page in (
        markdown("sums", again, before=first, **settings),
        with_sections(first, again, **settings),
    ):
        assert "on the page before, where one moved by half: 10: 2.00 (2.00)." in page
        assert "Other processes took up to 0.7 processors meanwhile." in page


def test_rows_lost_are_told_from_the_pages_by_what_they_reached(tmp_path):
    from benchmarks._harness import Benchmark
    from benchmarks.standing import page, written

    head = "| n | ours s | peer s | ratio | ratio, default | quality of ours | quality of peer |"
    lines = [
        "# Benchmarks: sums",
        "",
        "## sums",
        "",
        head,
        "| --- " * 7 + "|",
        "| 10 | 1 | 2 | 2.00 | 0.90 | error 0.101, p-value 3 | error 0.1, p-value 1 |",
        "| 20 | 2 | 1 | 0.50 | – | error 0.05, tau 0.7 | error 0.1, tau 0.7 |",
        "| 30 | 2 | 1 | 0.50 | 0.50 | error 0.3, tau 0.9 | error 0.1, tau 0.7 |",
        "| 40 | 1 | – | – | – | error 0.1 | refuses: ValueError: too long |",
        "| 50 | 1 | 3 | 3.00 | 3.00 | residual 1e-9 | residual 1e-15 |",
    ]
    (tmp_path / "sums.md").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "other.md").write_text("# Another page\n\n## sums\n", encoding="utf-8")
    rows = written(tmp_path)
    assert [(row.case, row.kind, row.lost) for row in rows] == [
        ("10", "equal", True),
        ("20", "better", True),
        ("30", "mixed", True),
        ("50", "equal", False),
    ]
    sums = Benchmark("sums", "", "", (), (), "n", "", lambda case: None, why="it is longer")
    text = page(rows, {"sums": sums})
    assert "| equal | 2 | 1 |" in text
    assert "| all | 4 | 3 |" in text
    assert "| sums | 10 | 2.00 | 0.90 | it is longer |" in text


def test_goals_name_rows_of_benchmarks_that_exist():
    from benchmarks._harness import discover
    from benchmarks.standing import GOALS

    registry = discover()
    assert {name for goal in GOALS for name, _ in goal.rows} <= set(registry)
