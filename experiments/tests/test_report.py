import base64
import re
import sys
from html.parser import HTMLParser
from importlib import util

import pytest
from isthmus_experiments import report as _report
from isthmus_experiments import run
from isthmus_experiments.machine import machine_facts


class Balance(HTMLParser):
    """Note tags that are closed in another order than they were opened."""

    VOID = ("meta", "img", "br", "link")

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.fixture
def report(toys, quiet, tmp_path):
    run(quick=True, report=tmp_path / "new" / "folder", console=quiet)
    return tmp_path / "new" / "folder"


def test_page_holds_values_verdicts_seed_settings_and_notes(report):
    page = (report / "index.html").read_text()
    for text in (
        "0.2507",
        "0.26",
        "n was 3",
        "1 reproduced, 0 hold, 0 observed, 1 differ",
        "A note &amp; more",
        "[999] 1",
    ):
        assert text in page
    assert "<dt>seed</dt><dd>7</dd>" in page
    assert "<dt>n</dt><dd>3</dd>" in page
    assert "failed</span> ZeroDivisionError" in page
    assert "skipped</span> its data is not in the folder" in page
    assert "somebody" not in page


def test_page_says_that_its_settings_were_quick(report):
    assert "Quick settings" in (report / "index.html").read_text()


def test_text_of_an_experiment_is_escaped(report):
    page = (report / "index.html").read_text()
    assert "lower &lt;than&gt; published" in page
    assert "<than>" not in page


def test_page_is_well_formed_and_needs_nothing_from_outside(report):
    page = (report / "index.html").read_text()
    parser = Balance()
    parser.feed(page)
    assert (parser.open, parser.wrong) == ([], [])
    assert not re.search(r'(src|href)="(?!data:|#)', page)


def test_pictures_are_png_files_inside_the_page(report):
    pytest.importorskip("matplotlib")
    data = re.search(r"data:image/png;base64,([^\"]+)", (report / "index.html").read_text())[1]
    assert base64.b64decode(data).startswith(b"\x89PNG")


def test_markdown_has_one_line_a_finding_with_bars_escaped(report):
    lines = (report / "results.md").read_text().splitlines()
    assert (
        r"| T-2 | error \| rate | 0.26 | 0.2507 | reproduced | lower &lt;than&gt; published |"
        in lines
    )
    assert any(line.startswith("| T-10 |") and "ZeroDivisionError" in line for line in lines)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n| b |\n", r"a \| b \|"),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("![x](http://a) `c` *d* _e_ n_init", r"!\[x\](http://a) \`c\` \*d\* \_e\_ n_init"),
        ("\x1b[31mred", "\N{REPLACEMENT CHARACTER}\\[31mred"),
        ("back\\slash & co", "back\\\\slash &amp; co"),
    ],
)
def test_a_cell_of_the_markdown_shows_its_text_and_nothing_else(text, shown):
    assert _report.table_line(text) == f"| {shown} |"


def test_without_matplotlib_the_report_says_how_to_get_pictures(toys, quiet, tmp_path, monkeypatch):
    real = util.find_spec
    blind = lambda name: None if name == "matplotlib" else real(name)  # noqa: E731
    monkeypatch.setattr(sys.modules["isthmus_experiments.runner"], "find_spec", blind)
    monkeypatch.setattr(_report, "find_spec", blind)
    results = run(["T-2"], report=tmp_path, console=quiet)
    page = (tmp_path / "index.html").read_text()
    assert results[0].status == "partly"
    assert "<img" not in page
    assert "pip install &quot;isthmus[plot]&quot;" in page


def test_machine_facts_tell_no_host_and_no_folder():
    import platform

    facts = machine_facts()
    assert {"python", "numpy", "cores"} <= set(facts)
    told = " ".join(facts.values())
    assert "/" not in told
    assert not platform.node() or platform.node() not in told.split()
