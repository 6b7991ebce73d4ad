"""The record of one full run: everything a reader asks, as JSON and as Markdown."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus_experiments.kept.draws import plain
from isthmus_experiments.machine import machine_facts
from isthmus_experiments.outcome import Row, count_findings, format_value
from isthmus_experiments.report import table_line

if TYPE_CHECKING:
    from isthmus_experiments.registry import Experiment
    from isthmus_experiments.runner import Result

__all__ = ["Record", "commit_of_the_code", "is_complete", "read_records", "write_record"]


@dataclass(frozen=True)
class Record:
    """What is kept of a full run of one experiment.

    ``draws`` is how many draws it stands on and ``draws_wanted`` how many were published; both 0
    where the experiment does not accumulate them. ``commit`` names the code, ``seconds`` the time
    of all runs together. ``settled`` says of each row what the missing draws could change (see
    :mod:`isthmus_experiments.kept.settled`); it is empty where none are missing.
    """

    id: str
    document: str
    title: str
    published: str
    seed: int
    settings: dict[str, Any]
    rows: list[dict[str, Any]]
    notes: list[str]
    warnings: list[str]
    draws: int
    draws_wanted: int
    commit: str
    date: str
    seconds: float
    machine: dict[str, str]
    settled: list[str] = field(default_factory=list)

    @property
    def findings(self) -> list[Row]:
        """The rows as they came out of the run."""
        return [Row(**row) for row in self.rows]


def write_record(
    folder: Path,
    result: Result,
    *,
    draws: int,
    draws_wanted: int,
    seconds_before: float,
    commit: str,
    settled: list[str],
) -> Path:
    """Write ``ID.json`` and ``ID.md`` into ``folder``; return the path of the latter."""
    assert result.outcome is not None  # the runner keeps no failure
    e = result.experiment
    record = Record(
        e.id,
        e.document,
        e.title,
        e.published,
        result.seed,
        plain(result.settings),
        [plain(asdict(row)) for row in result.outcome.rows],
        list(result.outcome.notes),
        list(result.warnings),
        draws,
        draws_wanted,
        commit,
        datetime.now(UTC).strftime("%Y-%m-%d"),
        round(result.seconds + seconds_before, 1),
        machine_facts(),
        settled,
    )
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False)
    (folder / f"{e.id}.json").write_text(text + "\n", encoding="utf-8")
    path = folder / f"{e.id}.md"
    path.write_text(markdown(record), encoding="utf-8")
    return path


def read_records(folder: str | os.PathLike[str]) -> dict[str, Record]:
    """Return the records in a folder by id, in the order of their names."""
    found = {}
    for path in sorted(Path(folder).glob("*.json")):
        record = Record(**json.loads(path.read_text(encoding="utf-8")))
        found[record.id] = record
    return found


def is_complete(record: Record | None, experiment: Experiment) -> bool:
    """Whether a record is of today's settings and seed, with every draw that was published."""
    return (
        record is not None
        and record.settings == plain(experiment.kept_settings)
        and record.seed == experiment.seed
        and record.draws >= record.draws_wanted
    )


def markdown(record: Record) -> str:
    """Return the page of one record."""
    rows = record.findings
    facts = {
        "seed": record.seed,
        **({"draws": f"{record.draws} of {record.draws_wanted}"} if record.draws_wanted else {}),
        "settings": ", ".join(f"{k} = {v}" for k, v in record.settings.items()) or "none",
        "commit": record.commit,
        "date": record.date,
        "time": f"{record.seconds:.1f} s",
        "machine": ", ".join(f"{name} {value}" for name, value in record.machine.items()),
    }
    lines = [
        f"# {record.id}: {record.title}",
        "",
        f"{record.document}. {record.published}",
        "",
        f"{count_findings(rows)}.",
        "",
        *findings_table(record),
        "",
        *(f"- {note}" for note in record.notes),
        *(f"- Warning: {warning}" for warning in record.warnings),
        "",
        table_line("of the run", ""),
        "|---|---|",
        *(table_line(name, value) for name, value in facts.items()),
    ]
    return "\n".join(lines) + "\n"


def findings_table(record: Record, leave_out: str = "") -> list[str]:
    """Return the lines of a table with one row per finding.

    Where draws are missing, a column says whether they could change it. Findings of the kind
    ``leave_out`` have no row.
    """
    names = ["quantity", "published", "ours", "finding", "verdict"]
    if record.settled:
        names.append("missing draws")
    lines = [table_line(*names), "|" + "---|" * len(names)]
    for i, row in enumerate(record.findings):
        if row.finding == leave_out:
            continue
        cells = [format_value(row.published), format_value(row.ours), row.finding, row.verdict]
        lines.append(table_line(row.quantity, *cells, *record.settled[i : i + 1]))
    return lines


def commit_of_the_code() -> str:
    """Return the commit that the experiments run from, marked if files have changed since."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=here, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    try:
        root = git("rev-parse", "--show-toplevel")
        paths = [f"{root}/src", f"{root}/experiments/src"]
        changed = git("status", "--porcelain", "--untracked-files=no", "--", *paths)
        return git("rev-parse", "--short=10", "HEAD") + (" with changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
