import re
from pathlib import Path

import pytest
from isthmus_experiments import coverage, list_experiments, run
from isthmus_experiments.kept.document_page import DOCUMENTS, document_page
from isthmus_experiments.kept.record import read_records
from isthmus_experiments.kept.site import published_page, published_pages

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "experiments" / "results"


def test_page_has_counts_and_what_is_not_kept_yet(toys, quiet, tmp_path):
    run(["T-2"], keep=tmp_path, console=quiet)
    text = published_page(read_records(tmp_path), list_experiments(), coverage([]))
    assert "1 of 3 experiments have a kept run" in text
    assert "**1 reproduced, 0 holds, 0 observed, 1 differs**" in text
    assert "No full run is kept yet of T-3, T-10." in text
    assert "145 tables and figures report results: 0 full" in text


def test_page_of_a_work_has_differences_and_the_other_rows(toys, quiet, tmp_path):
    run(["T-2"], keep=tmp_path, console=quiet)
    experiments = list_experiments()
    pages = [
        document_page(number, read_records(tmp_path), experiments, coverage([]))
        for number in DOCUMENTS
    ]
    (text,) = [page for page in pages if "## T-2" in page]
    assert "**1 reproduced, 1 differs.**" in text
    assert "| order | a before b | n was 30 | other order |" in text
    assert text.count("a before b") == 1
    assert "<summary>the other 2 rows</summary>" in text


def test_pages_of_the_site_are_those_of_the_kept_results():
    docs = ROOT / "docs"
    if not (docs / "published.md").exists():
        pytest.skip("an installed package has no documents")
    experiments = list_experiments()
    pages = published_pages(read_records(RESULTS), experiments, coverage(experiments))
    assert {str(p.relative_to(docs)) for p in docs.glob("published/*.md")} == set(pages) - {
        "published.md"
    }
    for path, text in pages.items():
        assert (docs / path).read_text(encoding="utf-8") == text, "run python docs/published.py"


def test_links_of_the_front_page_lead_to_headings():
    experiments = list_experiments()
    pages = published_pages(read_records(RESULTS), experiments, coverage(experiments))
    headings = {
        (path, re.sub(r"[^\w\- ]", "", line[3:].lower()).replace(" ", "-"))
        for path, text in pages.items()
        for line in text.splitlines()
        if line.startswith("## ")
    }
    links = re.findall(r"\]\((published/\d+\.md)#([^)]+)\)", pages["published.md"])
    assert len(links) >= len(read_records(RESULTS))
    assert set(links) <= headings


def test_every_experiment_with_differences_says_why_in_a_line():
    experiments = {e.id: e for e in list_experiments()}
    for id, record in read_records(RESULTS).items():
        if any(row.finding == "differs" for row in record.findings):
            assert 20 <= len(experiments[id].in_short) <= 160, id


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
