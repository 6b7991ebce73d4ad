"""Run experiments one after the other; the failure of one does not stop the others."""

from __future__ import annotations

import os
import time
import traceback
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console

from isthmus_experiments.kept.draws import Store, drawing_into
from isthmus_experiments.kept.record import (
    commit_of_the_code,
    is_complete,
    read_records,
    write_record,
)
from isthmus_experiments.kept.settled import settled_rows
from isthmus_experiments.outcome import Outcome, Row, count_findings
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
    keep: str | os.PathLike[str] | None = None,
    minutes: float | None = None,
    fresh: bool = False,
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
    keep : path or None
        Folder in which results of full runs are kept, with as many draws as were published; they
        accumulate over runs. Without ids, what is kept there already is not run again.
    minutes : float or None
        How long one experiment may begin further draws; None for no limit.
    fresh : bool
        Drop the draws that are kept, and begin anew.
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
    folder = None if keep is None else Path(keep)
    if folder is not None and not ids:
        kept = read_records(folder)
        experiments = [e for e in experiments if not is_complete(kept.get(e.id), e)]
    console = console or Console()
    draw = report is not None and find_spec("matplotlib") is not None
    seconds = None if minutes is None else 60 * minutes
    results = []
    with progress_display(console, len(experiments)) as display:
        for e in experiments:
            progress = display.begin(e)
            result = (
                _run_one(e, e.quick if quick else e.full, progress, draw, seconds=seconds)
                if folder is None
                else _run_and_keep(e, folder, progress, draw, seconds=seconds, fresh=fresh)
            )
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


def _run_and_keep(
    e: Experiment,
    folder: Path,
    progress: Progress,
    draw: bool,
    *,
    seconds: float | None,
    fresh: bool,
) -> Result:
    """Run in full with as many draws as published, from those that are kept; keep the result."""
    path = folder / "draws" / f"{e.id}.json"
    if fresh:
        path.unlink(missing_ok=True)
    settings = e.kept_settings
    about = {"seed": e.seed, **{k: v for k, v in settings.items() if k not in e.draws}}
    store = Store(path, about, seconds=seconds)
    commit = commit_of_the_code()  # of what is loaded now; a long run may see another one
    result = _run_one(e, settings, progress, draw, store=store)
    if result.outcome is not None and not result.error:
        write_record(
            folder,
            result,
            draws=store.done,
            draws_wanted=store.asked,
            seconds_before=store.seconds_before,
            commit=commit,
            settled=_settled(e, settings, result.outcome, store),
        )
    return result


def _settled(
    e: Experiment, settings: Mapping[str, Any], outcome: Outcome, store: Store
) -> list[str]:
    """What the missing draws could change; nothing is said where none are missing."""
    if store.done >= store.asked:
        return []

    def judge(values: list[Any]) -> Sequence[Row]:
        # Not one draw is computed: where nothing is known of a kind, the set ends before it.
        with drawing_into(Store(None, {}, seconds=0.0, values=values)):
            return e.run(settings, e.seed, lambda share, message="": None).rows

    return settled_rows(outcome.rows, judge, store.values, store.asked, period=store.period)


def _run_one(
    e: Experiment,
    settings: Mapping[str, Any],
    progress: Progress,
    draw: bool,
    *,
    seconds: float | None = None,
    store: Store | None = None,
) -> Result:
    store = store or Store(None, {}, seconds=seconds)
    outcome, error, skipped, spent = None, "", "", 0.0
    images: dict[str, bytes] = {}
    start = time.perf_counter()
    # Warnings belong in the report, not between the lines of the progress bar.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            with drawing_into(store):
                outcome = e.run(settings, e.seed, progress)
            spent = time.perf_counter() - start  # without the pictures
            images = _draw(outcome) if draw else {}
        except FileNotFoundError as missing:
            if e.needs_data:
                skipped = "its data is not in the folder that ISTHMUS_DATA names"
            else:
                error = _describe(missing)
        except Exception as failure:
            error = _describe(failure)
    spent = spent or time.perf_counter() - start
    seen = tuple(dict.fromkeys(f"{w.category.__name__}: {_one_line(w.message)}" for w in caught))
    return Result(e, dict(settings), e.seed, spent, outcome, error, skipped, seen, images)


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
