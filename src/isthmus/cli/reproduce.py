"""``isthmus reproduce``: list or run the experiments, which are a distribution of their own."""

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rich.console import Console

from isthmus.cli.errors import UserError

GROUP = "isthmus.experiments"


def reproduce(
    ids: list[str], *, list_only: bool, quick: bool, report: Path | None, console: Console
) -> int:
    """List or run the experiments of the source documents; return the exit code."""
    experiments = _load_experiments()
    try:
        chosen = [experiments.get(id) for id in ids] or experiments.list_experiments()
    except ValueError as error:
        raise UserError(str(error)) from error
    if list_only:
        for e in chosen:
            line = f"{e.id}  {e.title}  ({e.document})\n      published: {e.published}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return 0
    results = experiments.run([e.id for e in chosen], quick=quick, report=report, console=console)
    return experiments.exit_code(results)


def _load_experiments() -> Any:
    """Return the module that an installed distribution names as its entry point."""
    for found in entry_points(group=GROUP):
        return found.load()
    raise UserError(
        "the experiments are a distribution of their own: pip install isthmus-experiments"
    )
