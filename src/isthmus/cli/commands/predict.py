"""``isthmus predict``."""

from typing import Annotated

import typer

from isthmus.cli.options import (
    Decimal,
    Missing,
    MissingChoice,
    ModelFile,
    Output,
    Sep,
    TableFile,
    Unseen,
    UnseenChoice,
)


def predict(
    model: ModelFile,
    table: TableFile,
    output: Output = None,
    intervals: Annotated[
        float | None,
        typer.Option(
            metavar="COVERAGE",
            help="Add columns _low and _high that hold the truth with this probability, such as "
            "0.9.",
        ),
    ] = None,
    missing: Missing = MissingChoice.impute,
    unseen: Unseen = UnseenChoice.ignore,
    sep: Sep = None,
    decimal: Decimal = None,
) -> None:
    """Predict the outputs for the rows of a table.

    Example: isthmus predict price.isthmus new.csv --output predicted.csv
    """
    from isthmus.cli import apply
    from isthmus.cli.tables.dialect import Dialect

    options = apply.ApplyOptions(missing.value, unseen.value, intervals, Dialect(sep, decimal))
    apply.predict(model, table, output=output, options=options)
