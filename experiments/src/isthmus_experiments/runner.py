"""Run experiments one after the other; the failure of one does not stop the others."""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from rich.console import Console

from isthmus_experiments.outcome import Outcome, count_findings
from isthmus_experiments.registry import Experiment, Progress, get, list_experiments
from isthmus_experiments.report import write_report
from isthmus_experiments.terminal import progress_display, summary_table

__all__ = ["Result", "exit_code", "run"]


@dataclass(frozen=True)
class Result:
    """The result of one experiment: an outcome, a failure or a reason why it was skipped."""

    experiment: Experiment
    settings: Mapping[str, Any]
    seed: int
    seconds: float
    outcome: Outcome | None = None
    error: str = ""
    skipped: str = ""
    warnings: Sequence[str] = ()
    images: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """One word: agrees, partly, differs, measured, skipped or failed."""
        if self.error:
            return "failed"
        if self.outcome is None:
            return "skipped"
        judged = self._judged
        if not judged:
            return "measured"
        if all(judged):
            return "agrees"
        return "partly" if any(judged) else "differs"

    @property
    def verdict(self) -> str:
        """The verdict on the whole experiment, in words."""
        if self.error:
            return f"failed: {self.error}"
        if self.outcome is None:
            return f"skipped: {self.skipped}"
        rows = self.outcome.rows
        if not self._judged and not any(row.finding == "observed" for row in rows):
            return "nothing published to compare with"
        return count_findings(rows)

    @property
    def _judged(self) -> list[bool]:
        """Whether what was published is so; what is ours alone is no judgement."""
        rows = self.outcome.rows if self.outcome else ()
        return [row.agrees for row in rows if row.agrees is not None and row.is_published]


def run(
    ids: Iterable[str] | None = None,
    *,
    quick: bool = False,
    report: str | os.PathLike[str] | None = None,
    console: Console | None = None,
) -> list[Result]:
    """Run experiments, print a summary and return the results.

    Parameters
    ----------
    ids : iterable of str or None
        Names of experiments; None or nothing means all.
    quick : bool
        Small settings that end in seconds.
    report : path or None
        Folder for ``index.html`` and ``results.md``; made if it does not exist.
    console : rich.console.Console or None
        Where to print. A bar on a terminal, otherwise one line per experiment.

    Returns
    -------
    list of Result
        In the order of ``ids``. See :func:`exit_code`.
    """
    ids = list(ids or ())
    # All names are looked up before the first experiment runs: a wrong one costs nothing.
    experiments = list({e.id: e for e in map(get, ids)}.values()) if ids else list_experiments()
    console = console or Console()
    draw = report is not None and find_spec("matplotlib") is not None
    results = []
    with progress_display(console, len(experiments)) as display:
        for e in experiments:
            progress = display.begin(e)
            result = _run_one(e, e.quick if quick else e.full, progress, draw)
            display.end(result)
            results.append(result)
    console.print(summary_table(results))
    if report is not None:
        page = write_report(results, report, quick=quick)
        console.print(f"Report: {page}", soft_wrap=True, highlight=False)
    return results


def exit_code(results: Sequence[Result]) -> int:
    """Return 1 if an experiment failed, else 0. A finding that differs is not a failure."""
    return int(any(r.status == "failed" for r in results))


def _run_one(e: Experiment, settings: Mapping[str, Any], progress: Progress, draw: bool) -> Result:
    outcome, error, skipped, seconds = None, "", "", 0.0
    images: dict[str, bytes] = {}
    start = time.perf_counter()
    # Warnings belong in the report, not between the lines of the progress bar.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            outcome = e.run(settings, e.seed, progress)
            seconds = time.perf_counter() - start  # without the pictures
            images = _draw(outcome) if draw else {}
        except FileNotFoundError as missing:
            if e.needs_data:
                skipped = "its data is not in the folder that ISTHMUS_DATA names"
            else:
                error = _describe(missing)
        except Exception as failure:
            error = _describe(failure)
    seconds = seconds or time.perf_counter() - start
    seen = tuple(dict.fromkeys(f"{w.category.__name__}: {_one_line(w.message)}" for w in caught))
    return Result(e, dict(settings), e.seed, seconds, outcome, error, skipped, seen, images)


def _draw(outcome: Outcome) -> dict[str, bytes]:
    from isthmus.plotting import png

    return {picture.name: png(picture.draw()) for picture in outcome.pictures}


def _describe(failure: Exception) -> str:
    """Return the type, message and place of a failure, without the folders of this machine."""
    frame = traceback.extract_tb(failure.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return f"{type(failure).__name__}: {_one_line(failure)} ({place})"


def _one_line(message: object) -> str:
    return " ".join(str(message).split())
