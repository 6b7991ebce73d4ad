"""Progress while experiments run: a bar on a terminal, plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from isthmus_experiments.outcome import count_findings, format_value

if TYPE_CHECKING:
    from isthmus_experiments.registry import Experiment
    from isthmus_experiments.registry import Progress as ProgressCall
    from isthmus_experiments.runner import Result

__all__ = ["progress_display", "summary_table"]

MARKS = {
    "reproduced": "[green]reproduced[/]",
    "holds": "[green]holds[/]",
    "observed": "[cyan]observed[/]",
    "differs": "[yellow]differs[/]",
    "informs": "[dim]informs[/]",
}
COLOURS = {
    "agrees": "green",
    "partly": "yellow",
    "differs": "yellow",
    "failed": "red",
    "skipped": "dim",
}


class _Lines:
    """One line per experiment, for pipes and logs."""

    def __init__(self, console: Console):
        self.console = console

    def begin(self, experiment: Experiment) -> ProgressCall:
        return lambda share, message="": None

    def end(self, result: Result) -> None:
        line = f"{result.experiment.id}  {result.seconds:.1f} s  {result.verdict}"
        self.console.print(line, markup=False, highlight=False, soft_wrap=True)


class _Bar:
    """A bar over all experiments, moved by the progress that each one reports."""

    def __init__(self, bar: Progress, total: int):
        self.bar = bar
        self.task = bar.add_task("", total=total, message="")
        self.done = 0

    def begin(self, experiment: Experiment) -> ProgressCall:
        self.bar.update(self.task, description=escape(experiment.id), message="")

        def progress(share: float, message: str = "") -> None:
            share = min(max(share, 0.0), 1.0)
            self.bar.update(self.task, completed=self.done + share, message=escape(message))

        return progress

    def end(self, result: Result) -> None:
        self.done += 1
        self.bar.update(self.task, completed=self.done, message="")
        colour = COLOURS.get(result.status, "default")
        self.bar.console.print(
            f"[bold]{escape(result.experiment.id)}[/]  {result.seconds:.1f} s  "
            f"[{colour}]{escape(result.verdict)}[/]",
            highlight=False,
        )


@contextmanager
def progress_display(console: Console, total: int) -> Iterator[_Lines | _Bar]:
    """Yield an object with ``begin(experiment) -> progress`` and ``end(result)``."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[message]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar, total)


def summary_table(results: Sequence[Result]) -> Table:
    """Return the table of all findings: id, quantity, published, ours, verdict."""
    table = Table(title="Published and ours", title_justify="left", expand=False)
    table.add_column("id", no_wrap=True)
    table.add_column("quantity", overflow="fold")
    for name in ("published", "ours"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("finding")
    for r in results:
        rows = r.outcome.rows if r.outcome else ()
        if not rows:
            colour = COLOURS.get(r.status, "default")
            table.add_row(r.experiment.id, f"[{colour}]{escape(r.verdict)}[/]", "", "", r.status)
        for i, row in enumerate(rows):
            id = r.experiment.id if i == 0 else ""
            published, ours = escape(format_value(row.published)), escape(format_value(row.ours))
            table.add_row(id, escape(row.quantity), published, ours, MARKS[row.finding])
        table.add_section()
    table.caption = count_findings([row for r in results if r.outcome for row in r.outcome.rows])
    return table
