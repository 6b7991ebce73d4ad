"""The page of one work: its tables and figures, and what each experiment on it found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from isthmus_experiments.coverage.table import Coverage
from isthmus_experiments.kept.record import Record, findings_table
from isthmus_experiments.outcome import FINDINGS, Row, format_value
from isthmus_experiments.registry import Experiment
from isthmus_experiments.report import as_cell, table_line

__all__ = ["DOCUMENTS", "anchor", "document_page", "home_of", "items_text", "link", "raw_line"]

DOCUMENTS = {
    "000": "Bakir, *Extensions to Kernel Dependency Estimation* (2006)",
    "001": "Bakir and others, *Multivariate Regression with Stiefel Constraints* (2004)",
    "002": "Hammer, *Modern Data Analysis* (2014)",
    "003": "Tonde, *Supervised Feature Learning via Dependency Maximization* (2016)",
    "004": "Klanke, *Learning Manifolds with the Parametrized Self-Organizing Map and "
    "Unsupervised Kernel Regression* (2007)",
}
SHOWN = 8  # rows that differ for one reason, above which they unfold


def document_page(
    number: str,
    records: Mapping[str, Record],
    experiments: Iterable[Experiment],
    covered: Iterable[Coverage],
) -> str:
    """Return the page of the work with this number as MyST Markdown."""
    homes = {e.id: home_of(e.document) for e in experiments}
    lines = [
        f"# [{number}] {DOCUMENTS[number]}",
        "",
        "[All works](../published.md)",
        "",
        "## Tables and figures",
        "",
        table_line("table or figure", "what it shows", "remade", "data", "by", "why"),
        "|---|---|---|---|---|---|",
    ]
    for c in covered:
        if c.published.item.startswith(number):
            ids = dict.fromkeys(id for id, _ in c.declared)
            lines.append(
                raw_line(
                    as_cell(c.published.item.partition(" ")[2]),
                    as_cell(c.published.title),
                    f"{c.results} of {c.published.results}",
                    {"full": "as published", "other data": "other"}.get(c.level, ""),
                    ", ".join(_link_to(id, records, homes, number) for id in ids),
                    as_cell(c.why),
                )
            )
    for e in experiments:
        if homes[e.id] == number and e.id in records:
            lines += ["", *_section(records[e.id], e)]
    return "\n".join(lines) + "\n"


def home_of(document: str) -> str:
    """The number of the work that an experiment stands under: the first that it names."""
    named = re.findall(r"\[(\d{3})\]", document)
    return next((number for number in named if number in DOCUMENTS), next(iter(DOCUMENTS)))


def items_text(e: Experiment, number: str) -> tuple[str, list[tuple[int, str]]]:
    """What an experiment remakes of a work, in words, and a key to sort by.

    >>> from isthmus_experiments import get
    >>> items_text(get("E-06"), "001")[0]
    'table 3 (other data)'
    """
    labels: dict[str, list[str]] = {}
    ways: dict[str, set[str]] = {}
    for c in e.covers:
        document, kind, label = c.item.split()
        if document == number:
            labels.setdefault(kind, [])
            if label not in labels[kind]:
                labels[kind].append(label)
            ways.setdefault(f"{kind} {label}", set()).add(c.way)
    names = [
        f"{kind}{'s' if len(some) > 1 else ''} {', '.join(some)}" for kind, some in labels.items()
    ]
    other = [name for name, way in ways.items() if "other data" in way]
    text = "; ".join(names)
    if other:
        which = "" if len(other) == len(ways) else f" for {', '.join(other)}"
        text += f" (other data{which})"
    first = next(iter(labels.values()))[0] if labels else "~"
    key = [(int(p), "") if p.isdigit() else (10**6, p) for p in first.split(".")]
    return text, key


def anchor(record: Record) -> str:
    """The anchor that a heading gets, as GitHub and MyST make it."""
    kept = re.sub(r"[^\w\- ]", "", _heading(record).lower())
    return kept.replace(" ", "-")


def link(text: str, target: str) -> str:
    """Return a Markdown link."""
    return f"[{text}]({target})"


def raw_line(*cells: str) -> str:
    """Return one line of a Markdown table whose cells are Markdown already."""
    return "| " + " | ".join(cells) + " |"


def _link_to(id: str, records: Mapping[str, Record], homes: Mapping[str, str], number: str) -> str:
    if id not in records:
        return id
    page = "" if homes[id] == number else f"{homes[id]}.md"
    return link(id, f"{page}#{anchor(records[id])}")


def _heading(record: Record) -> str:
    return f"{record.id}: {record.title}"


def _section(record: Record, e: Experiment) -> list[str]:
    draws = f", {record.draws} of {record.draws_wanted} draws" if record.draws_wanted else ""
    rows = record.findings
    counts = [(word, sum(row.finding == word for row in rows)) for word in FINDINGS]
    lines = [
        f"## {_heading(record)}",
        "",
        f"{record.document}. {record.published}",
        "",
        "**" + (", ".join(f"{n} {word}" for word, n in counts if n) or "nothing is judged") + ".**",
        "",
        *_differences(record, e),
    ]
    n = len(rows) - dict(counts)["differs"]
    if n:
        words = f"{n} row{'s' if n > 1 else ''}"
        title = f"the other {words}" if n < len(rows) else f"all {words}"
        lines += _folded(title, findings_table(record, leave_out="differs"))
    run = (
        f"Seed {record.seed}{draws}, {record.seconds:.0f} s, commit {record.commit}, {record.date}."
    )
    return lines + _folded("notes", [*(f"- {note}" for note in record.notes), "", run])


def _differences(record: Record, e: Experiment) -> list[str]:
    """The rows that differ, those of one reading together."""
    left = record.settled or [""] * len(record.rows)
    groups: dict[str, list[tuple[Row, str]]] = {}
    for row, word in zip(record.findings, left, strict=True):
        if row.finding == "differs":
            groups.setdefault(e.reading_of(row.quantity), []).append((row, word))
    names = ["differs", "published", "ours", "verdict", *["missing draws"] * bool(record.settled)]
    lines = []
    for why, some in groups.items():
        if why:
            lines += [f"Differs: {as_cell(why)}.", ""]
        table = [table_line(*names), "|" + "---|" * len(names)]
        for row, word in some:
            values = format_value(row.published), format_value(row.ours)
            cells = (row.quantity, *values, row.verdict, word)
            table.append(table_line(*cells[: len(names)]))
        table.append("")
        lines += table if len(some) <= SHOWN else _folded(f"{len(some)} rows that differ", table)
    return lines


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [
        f"<details><summary>{escape(title, quote=False)}</summary>",
        "",
        *lines,
        "",
        "</details>",
        "",
    ]
