"""``isthmus fit``."""

from pathlib import Path
from typing import Annotated

import typer

from isthmus.cli.errors import UserError
from isthmus.cli.options import Quick, TableFile


def fit(
    table: TableFile,
    outputs: Annotated[
        str, typer.Option(metavar="A,B", help="Output columns; Y stands for Y_0, Y_1, … too.")
    ],
    model: Annotated[Path, typer.Option(metavar="FILE", help="Where to save the best model.")],
    inputs: Annotated[
        str | None, typer.Option(metavar="C,D", help="Input columns; default: all others.")
    ] = None,
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds.", min=0)] = 0,
    quick: Quick = False,
) -> None:
    """Compare estimators on a table by cross-validation and save the best."""
    from rich.console import Console

    from isthmus.cli import work

    work.fit(
        table,
        outputs=_names(outputs, "--outputs"),
        inputs=None if inputs is None else _names(inputs, "--inputs"),
        model_file=model,
        cv=cv,
        seed=seed,
        quick=quick,
        console=Console(),
    )


def _names(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UserError(f"{option} names no column")
    return names
