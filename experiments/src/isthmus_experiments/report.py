"""Write the report: ``index.html`` for reading, ``results.md`` for pasting."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from isthmus_experiments.machine import machine_facts
from isthmus_experiments.outcome import BAND, count_findings, format_value
from isthmus_experiments.page import page

if TYPE_CHECKING:
    from isthmus_experiments.runner import Result

__all__ = ["table_line", "write_report"]

NO_PICTURES = 'No pictures: matplotlib is not installed. pip install "isthmus[plot]"'


def write_report(
    results: Sequence[Result], directory: str | os.PathLike[str], *, quick: bool = False
) -> Path:
    """Write ``index.html`` and ``results.md`` into ``directory``; return the page's path.

    The pictures are those in ``Result.images``; without matplotlib there are none, and one
    line says so.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    facts = machine_facts()
    why = "" if find_spec("matplotlib") else NO_PICTURES
    text = page(results, facts, quick=quick, without_pictures=why)
    (folder / "index.html").write_text(text, encoding="utf-8")
    (folder / "results.md").write_text(_markdown(results, facts, quick), encoding="utf-8")
    return folder / "index.html"


def _markdown(results: Sequence[Result], facts: dict[str, str], quick: bool) -> str:
    lines = [
        f"# Published and ours ({'quick' if quick else 'full'} settings)",
        "",
        as_cell(", ".join(f"{name} {value}" for name, value in facts.items())),
        "",
        f"{count_findings([row for r in results if r.outcome for row in r.outcome.rows])}. "
        f"Reproduced: a published number within {BAND:.0%}. Holds: a published claim, or a number "
        "that is not met so closely. Observed: ours alone, nothing was published.",
        "",
        "| id | quantity | published | ours | finding | verdict |",
        "|---|---|---|---|---|---|",
    ]
    for r in results:
        if r.outcome is None:
            lines.append(table_line(r.experiment.id, "", "", "", r.status, r.verdict))
        else:
            lines += [
                table_line(
                    r.experiment.id,
                    row.quantity,
                    format_value(row.published),
                    format_value(row.ours),
                    row.finding,
                    row.verdict,
                )
                for row in r.outcome.rows
            ]
    lines += ["", "| id | document | title | seed | time | verdict |", "|---|---|---|---|---|---|"]
    for r in results:
        e = r.experiment
        lines.append(table_line(e.id, e.document, e.title, r.seed, f"{r.seconds:.1f} s", r.verdict))
    return "\n".join(lines) + "\n"


def table_line(*cells: object) -> str:
    """Return one line of a Markdown table, its cells escaped."""
    return "| " + " | ".join(map(as_cell, cells)) + " |"


def as_cell(cell: object) -> str:
    """Return a cell as Markdown that shows just this text: an error may hold anything."""
    text = " ".join(str(cell).split())
    text = re.sub(r"[\x00-\x1f\x7f-\x9f]", "\N{REPLACEMENT CHARACTER}", text)
    text = re.sub(r"([\\`*\[\]|]|(?<!\w)_|_(?!\w))", r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
