"""What the command line shows: tables, a progress bar, lines on standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from isthmus.cli.errors import one_line, printable
from isthmus.cli.scores import ERRORS, Scores

if TYPE_CHECKING:  # which would load every estimator that fit compares
    from isthmus.cli.columns import TaskColumns
    from isthmus.cli.compare import Comparison

_MAX_COLUMNS = 6


def note(message: str) -> None:
    """Print one line to standard error; results go to standard output."""
    print(f"isthmus: {one_line(message)}", file=sys.stderr)


class FoldProgress:
    """A bar on a terminal, and a line for each candidate that is done; silent otherwise."""

    def __init__(self, total: int, task: str, *, announce: bool = True):
        self.console = Console(stderr=True)
        self.task = task
        self.announce = announce
        self._begun = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self._line = self._bar.add_task("", total=total)

    def __enter__(self) -> FoldProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def advance(self, name: str) -> None:
        """Show what begins now."""
        self._bar.update(self._line, description=escape(name), completed=self._begun)
        self._begun += 1

    def done(self, result: Comparison) -> None:
        """Show how a candidate did."""
        if self.announce and self.console.is_terminal:
            measure = quality_name(self.task)
            self._bar.console.print(
                f"{result.candidate.name}: {measure} {result.scores.quality:.3f}, "
                f"{result.seconds:.2f} s per fold",
                markup=False,
                highlight=False,
            )


def quality_name(task: str) -> str:
    """What the quality of a task is called."""
    return {
        "regression": "mean R²",
        "classification": "share of correct labels",
        "labels": "mean F1",
        "text": "1 − edit error",
        "sequence": "1 − edit error",
        "series": "1 − alignment error",
    }[task]


def explain_choice(results: list[Comparison], best: Comparison, task: str) -> str:
    """Say why the best is the best, beside the best of the simple ones."""
    measure = quality_name(task)
    line = f"Chosen: {best.candidate.name}, the highest cross-validated {measure}"
    line += f", {best.scores.quality:.3f}"
    others = [r for r in results if r.candidate.is_baseline and r is not best]
    if others:
        rival = max(others, key=lambda r: r.scores.quality)
        which = "next best" if best.candidate.is_baseline else "best"
        line += f"; the {which} baseline, {rival.candidate.name}, has {rival.scores.quality:.3f}"
    return line + "."


def comparison_table(results: list[Comparison], best: Comparison, columns: TaskColumns) -> Table:
    """Return the errors and times of all candidates, with the best one marked."""
    of = f" of {len(columns.outputs)} outputs" if len(columns.outputs) > 1 else ""
    table = Table(title=f"Cross-validated error{of}", title_justify="left")
    table.add_column("estimator", overflow="fold")
    for heading in _error_headings(columns):
        table.add_column(heading, justify="right", overflow="fold")
    if columns.task == "regression":
        table.add_column("mean R²", justify="right")
    table.add_column("s / fold", justify="right")
    for result in results:
        mark = " ←" if result is best else ""
        errors = [_digits(error) for error in _error_cells(result.scores)]
        r2 = [] if columns.task != "regression" else [_share(result.scores.quality)]
        cells = [result.candidate.name + mark, *errors, *r2, f"{result.seconds:.2f}"]
        table.add_row(*cells, style="bold" if result is best else "")
    return table


def score_table(scores: Scores, columns: TaskColumns, n_rows: int) -> Table:
    """Return the errors of one model, one row per output."""
    table = Table(title=f"{n_rows} rows", title_justify="left")
    table.add_column("output", overflow="fold")
    numeric = columns.task == "regression"
    for heading in ("RMSE", "R²") if numeric else (ERRORS[columns.task],):
        table.add_column(heading, justify="right")
    if not numeric:
        table.add_row(_shown(columns.outputs[0]), _digits(scores.error_rate))
        return table
    for name, rmse, r2 in zip(columns.outputs, scores.rmse, scores.r2, strict=True):
        table.add_row(_shown(name), _digits(rmse), _share(r2))
    if len(columns.outputs) > 1:
        table.add_section()
        table.add_row("mean", _digits(float(np.mean(scores.rmse))), _share(scores.quality))
    return table


def _error_headings(columns):
    if columns.task != "regression":
        return [ERRORS[columns.task]]
    if len(columns.outputs) > _MAX_COLUMNS:
        return ["mean RMSE", "largest RMSE"]
    return [f"RMSE {_shown(name)}" for name in columns.outputs]


def _error_cells(scores):
    if not scores.rmse:
        return [scores.error_rate]
    if len(scores.rmse) > _MAX_COLUMNS:
        return [float(np.mean(scores.rmse)), max(scores.rmse)]
    return scores.rmse


def _shown(name):
    return escape(printable(name)[:60])


def _digits(value):
    return f"{value:.4g}"


def _share(value):
    return "–" if np.isnan(value) else f"{value:.3f}"
