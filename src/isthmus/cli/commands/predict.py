"""``isthmus predict``."""

from pathlib import Path
from typing import Annotated

import typer

from isthmus.cli.options import ModelFile, TableFile


def predict(
    model: ModelFile,
    table: TableFile,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table to write; default: csv to the screen."),
    ] = None,
) -> None:
    """Predict the outputs for the rows of a table."""
    from isthmus.cli import work

    work.predict(model, table, output=output)
