from pathlib import Path

import pytest
from isthmus_experiments import coverage, list_experiments, run
from isthmus_experiments.kept.record import read_records
from isthmus_experiments.kept.site import published_page

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"


def test_page_has_counts_differences_and_what_is_not_kept_yet(toys, quiet, tmp_path):
    run(["T-2"], keep=tmp_path, console=quiet)
    text = published_page(read_records(tmp_path), list_experiments(), coverage([]))
    assert "1 of 3 experiments have a kept run" in text
    assert "**1 reproduced, 0 holds, 0 observed, 1 differs**" in text
    assert "| T-2 | order | a before b | n was 30 | other order |" in text
    assert "No full run is kept yet of T-3, T-10." in text
    assert "145 tables and figures report results: 0 full" in text


def test_page_of_the_site_is_that_of_the_kept_results():
    page = ROOT / "docs" / "published.md"
    if not page.exists():
        pytest.skip("an installed package has no documents")
    experiments = list_experiments()
    text = published_page(read_records(RESULTS), experiments, coverage(experiments))
    assert page.read_text(encoding="utf-8") == text, "run python docs/published.py"


def test_kept_results_are_of_known_experiments_and_have_a_page_each():
    known = {e.id for e in list_experiments()}
    for id, record in read_records(RESULTS).items():
        assert id in known
        assert (RESULTS / f"{id}.md").exists()
        assert record.rows
        assert record.commit != "unknown"
        assert record.date


def test_every_difference_has_a_reading():
    experiments = {e.id: e for e in list_experiments()}
    bare = [
        f"{id}: {row.quantity}"
        for id, record in read_records(RESULTS).items()
        for row in record.findings
        # A verdict of a few words is made from the numbers alone.
        if row.finding == "differs"
        and len(row.verdict.split()) < 5
        and not experiments[id].reading_of(row.quantity)
    ]
    assert not bare
