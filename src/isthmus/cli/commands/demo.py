"""``isthmus demo``."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    report: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the report, the tables and the model.")
    ],
) -> None:
    """Learn a map from a shipped table, in both directions, and repeat a few published results.

    Example: isthmus demo --report report
    """
    from rich.console import Console

    from isthmus.cli.demo.run import demo as run_demo

    raise typer.Exit(run_demo(report, console=Console()))
