"""Arguments and options that several commands share. Loads nothing but typer."""

from enum import StrEnum
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
Output = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Table to write; default: csv to the screen."),
]
Report = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder for an HTML page and a Markdown table.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Small settings that end in seconds.")]
Sep = Annotated[
    str | None,
    typer.Option(metavar="SIGN", help="What separates cells of a csv; default: recognised."),
]
Decimal = Annotated[
    str | None, typer.Option(metavar="SIGN", help="Decimal sign, . or , ; default: recognised.")
]


class MissingChoice(StrEnum):
    """What happens to an empty cell."""

    impute = "impute"
    drop = "drop"
    refuse = "refuse"


class UnseenChoice(StrEnum):
    """What happens to a label that the model did not learn."""

    ignore = "ignore"
    refuse = "refuse"


class TaskChoice(StrEnum):
    """What is learned."""

    auto = "auto"
    regression = "regression"
    classification = "classification"
    labels = "labels"
    text = "text"
    sequence = "sequence"
    series = "series"
    manifold = "manifold"


class DatesChoice(StrEnum):
    """What happens to a column of dates."""

    refuse = "refuse"
    days = "days"
    drop = "drop"


Missing = Annotated[
    MissingChoice,
    typer.Option(help="Empty inputs: fill in the median, leave the row out, or stop."),
]
Unseen = Annotated[
    UnseenChoice,
    typer.Option(help="Labels the model did not learn: count as none of those it knows, or stop."),
]
