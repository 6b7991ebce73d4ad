"""``isthmus reproduce``."""

from pathlib import Path
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
    coverage: Annotated[
        bool,
        typer.Option(
            "--coverage", help="Count which published tables and figures are remade, and how."
        ),
    ] = False,
    quick: Quick = False,
    report: Report = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            "--keep",
            metavar="DIR",
            help="Keep results and draws of full runs here; a stopped run goes on. Without ids, "
            "only what is not kept yet.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", help="How long one experiment may begin further draws.", min=0),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Drop the draws that --keep has kept before.")
    ] = False,
) -> None:
    """Run published experiments again and compare with what their authors report.

    Example: isthmus reproduce --list
    """
    from rich.console import Console

    from isthmus.cli.reproduce import Options
    from isthmus.cli.reproduce import reproduce as run_experiments

    options = Options(list_only, coverage, quick, report, keep, minutes, fresh)
    raise typer.Exit(run_experiments(ids or [], options, console=Console()))
