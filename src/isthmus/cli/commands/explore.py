"""``isthmus explore``."""

import gc
from pathlib import Path
from typing import Annotated

import typer

from isthmus.cli.options import Decimal, ModelFile, Sep


def explore(
    model: ModelFile,
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TABLE]", help="Rows to show: named columns in csv, csv.gz, parquet or npz."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="KIND",
            help="How an object is drawn: image:28x28, curve, bars, sequence, labels, graph, "
            "chain:pa10, strokes or numbers; default: guessed.",
        ),
    ] = None,
    input_kind: Annotated[
        str | None,
        typer.Option("--inputs-as", metavar="KIND", help="The same for inputs of a prediction."),
    ] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the table with labels.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page; default: a free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a window, or print the address.")
    ] = True,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE", help="Write one html file that needs neither Python nor a network."
        ),
    ] = None,
    sep: Sep = None,
    decimal: Decimal = None,
) -> None:
    """Walk through a learned map in the browser; closing the page ends the command.

    Example: isthmus explore surface.isthmus table.csv --as image:28x28
    """
    gc.disable()  # modules that are loaded leave no garbage; to look for it takes a while
    try:
        from isthmus.cli import look
        from isthmus.cli.tables.dialect import Dialect

        options = look.LookOptions(
            kind, input_kind, label, port, browser, export, Dialect(sep, decimal)
        )
        page = look.explore(model, table, options)
    finally:
        gc.enable()
    if page is not None:
        look.stay(page)
