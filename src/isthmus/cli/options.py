"""Arguments and options that several commands share. Loads nothing but typer."""

from pathlib import Path
from typing import Annotated

import typer

TableFile = Annotated[
    Path, typer.Argument(metavar="TABLE", help="Named columns in csv, csv.gz, parquet or npz.")
]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="File written by isthmus fit or by isthmus.save."),
]
Report = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for an HTML page and a Markdown table.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Small settings that end in seconds.")]
