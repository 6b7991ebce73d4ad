"""``isthmus reproduce``: list or run the experiments, which are a distribution of their own."""

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rich.console import Console

from isthmus.cli.errors import UserError

GROUP = "isthmus.experiments"


@dataclass(frozen=True)
class Options:
    """What the command was told besides the ids.

    ``list_only`` and ``coverage`` print instead of running. ``keep`` is the folder of kept
    results, ``minutes`` how long one experiment may go on drawing, ``fresh`` whether kept draws
    are dropped first.
    """

    list_only: bool = False
    coverage: bool = False
    quick: bool = False
    report: Path | None = None
    keep: Path | None = None
    minutes: float | None = None
    fresh: bool = False


def reproduce(ids: list[str], options: Options, *, console: Console) -> int:
    """List, count or run the published experiments; return the exit code."""
    if options.quick and options.keep is not None:
        raise UserError("--keep is for full runs: what --quick gives is not worth keeping")
    experiments = load_experiments()
    try:
        chosen = [experiments.get(id) for id in ids] or experiments.list_experiments()
    except ValueError as error:
        raise UserError(str(error)) from error
    if options.coverage:
        text = experiments.coverage_text(chosen if ids else None)
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        return 0
    if options.list_only:
        for e in chosen:
            line = f"{e.id}  {e.title}  ({e.document})\n      published: {e.published}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return 0
    results = experiments.run(
        [e.id for e in chosen] if ids else None,
        quick=options.quick,
        report=options.report,
        keep=options.keep,
        minutes=options.minutes,
        fresh=options.fresh,
        console=console,
    )
    return experiments.exit_code(results)


def load_experiments() -> Any:
    """Return the module that an installed distribution names as its entry point."""
    for found in entry_points(group=GROUP):
        return found.load()
    raise UserError(
        "the experiments are a distribution of their own: pip install isthmus-experiments"
    )
