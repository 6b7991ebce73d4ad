"""What the command line shows: tables, a progress bar, lines on standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from isthmus.cli.columns import TaskColumns
from isthmus.cli.compare import Comparison
from isthmus.cli.scores import Scores

_MAX_COLUMNS = 6


def note(message: str) -> None:
    """Print one line to standard error; results go to standard output."""
    print(f"isthmus: {message}", file=sys.stderr)


@contextmanager
def fold_progress(total: int) -> Iterator:
    """Yield ``advance(name)``, which moves a bar on a terminal and is silent otherwise."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=total)
        begun = 0

        def advance(name: str) -> None:
            nonlocal begun
            bar.update(task, description=escape(name), completed=begun)
            begun += 1

        yield advance


def comparison_table(results: list[Comparison], best: Comparison, columns: TaskColumns) -> Table:
    """Return the errors and times of all candidates, with the best one marked."""
    of = f" of {len(columns.outputs)} outputs" if len(columns.outputs) > 1 else ""
    table = Table(title=f"Cross-validated error{of}", title_justify="left")
    table.add_column("estimator", overflow="fold")
    for heading in _error_headings(columns):
        table.add_column(heading, justify="right", overflow="fold")
    if not columns.classes:
        table.add_column("mean R²", justify="right")
    table.add_column("s / fold", justify="right")
    for result in results:
        mark = " ←" if result is best else ""
        errors = [_digits(error) for error in _error_cells(result.scores)]
        r2 = [] if columns.classes else [_share(result.scores.quality)]
        cells = [result.candidate.name + mark, *errors, *r2, f"{result.seconds:.2f}"]
        table.add_row(*cells, style="bold" if result is best else "")
    return table


def score_table(scores: Scores, columns: TaskColumns, n_rows: int) -> Table:
    """Return the errors of one model, one row per output."""
    table = Table(title=f"{n_rows} rows", title_justify="left")
    table.add_column("output", overflow="fold")
    headings = ("error rate",) if columns.classes else ("RMSE", "R²")
    for heading in headings:
        table.add_column(heading, justify="right")
    if columns.classes:
        table.add_row(escape(columns.outputs[0]), _digits(scores.error_rate))
        return table
    for name, rmse, r2 in zip(columns.outputs, scores.rmse, scores.r2, strict=True):
        table.add_row(escape(name), _digits(rmse), _share(r2))
    if len(columns.outputs) > 1:
        table.add_section()
        table.add_row("mean", _digits(float(np.mean(scores.rmse))), _share(scores.quality))
    return table


def _error_headings(columns):
    if columns.classes:
        return ["error rate"]
    if len(columns.outputs) > _MAX_COLUMNS:
        return ["mean RMSE", "largest RMSE"]
    return [f"RMSE {escape(name)}" for name in columns.outputs]


def _error_cells(scores):
    if not scores.rmse:
        return [scores.error_rate]
    if len(scores.rmse) > _MAX_COLUMNS:
        return [float(np.mean(scores.rmse)), max(scores.rmse)]
    return scores.rmse


def _digits(value):
    return f"{value:.4g}"


def _share(value):
    return "–" if np.isnan(value) else f"{value:.3f}"
