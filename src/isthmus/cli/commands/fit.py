"""``isthmus fit``."""

from pathlib import Path
from typing import Annotated

import typer

from isthmus.cli.options import (
    DatesChoice,
    Decimal,
    Missing,
    MissingChoice,
    Quick,
    Sep,
    TableFile,
    TaskChoice,
)


def fit(
    table: TableFile,
    model: Annotated[Path, typer.Option(metavar="FILE", help="Where to save the best model.")],
    outputs: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Output columns: names, patterns (*_mm), positions (3 or 2:5); Y stands for "
            'Y_0, Y_1, … too; a name with a comma stands in "double quotes".',
        ),
    ] = None,
    inputs: Annotated[
        str | None, typer.Option(metavar="C,D", help="Input columns; default: all others.")
    ] = None,
    task: Annotated[
        TaskChoice, typer.Option(help="What to learn; auto says what it guessed.")
    ] = TaskChoice.auto,
    missing: Missing = MissingChoice.impute,
    dates: Annotated[
        DatesChoice, typer.Option(help="Columns of dates: stop, learn as days, or leave out.")
    ] = DatesChoice.refuse,
    sep: Sep = None,
    decimal: Decimal = None,
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds.", min=0)] = 0,
    quick: Quick = False,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A running Dask scheduler that fits several files."),
    ] = None,
) -> None:
    """Compare estimators on a table by cross-validation and save the best.

    The table is a file, a folder of files or a pattern in quotes, such as "part-*.parquet".

    Example: isthmus fit train.csv --outputs price --model price.isthmus
    """
    from rich.console import Console

    from isthmus.cli import learn
    from isthmus.cli.tables.dialect import Dialect
    from isthmus.cli.tables.select import split_names

    learn.fit(
        table,
        outputs=None if outputs is None else split_names(outputs, "--outputs"),
        inputs=None if inputs is None else split_names(inputs, "--inputs"),
        model_file=model,
        options=learn.FitOptions(
            task=task.value,
            missing=missing.value,
            dates=dates.value,
            cv=cv,
            seed=seed,
            quick=quick,
            dialect=Dialect(sep, decimal),
            scheduler=scheduler,
        ),
        console=Console(),
    )
