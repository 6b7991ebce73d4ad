"""``isthmus reproduce``."""

from typing import Annotated

import typer

from isthmus.cli.options import Quick, Report


def reproduce(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Experiments; default: all.")
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="List the experiments instead of running them.")
    ] = False,
    quick: Quick = False,
    report: Report = None,
) -> None:
    """Run published experiments again and compare with what their authors report.

    Example: isthmus reproduce --list
    """
    from rich.console import Console

    from isthmus.cli.reproduce import reproduce as run_experiments

    code = run_experiments(
        ids or [], list_only=list_only, quick=quick, report=report, console=Console()
    )
    raise typer.Exit(code)
