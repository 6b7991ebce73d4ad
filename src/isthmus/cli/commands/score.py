"""``isthmus score``."""

from isthmus.cli.options import (
    Decimal,
    Missing,
    MissingChoice,
    ModelFile,
    Sep,
    TableFile,
    Unseen,
    UnseenChoice,
)


def score(
    model: ModelFile,
    table: TableFile,
    missing: Missing = MissingChoice.impute,
    unseen: Unseen = UnseenChoice.ignore,
    sep: Sep = None,
    decimal: Decimal = None,
) -> None:
    """Show the errors of a model on a table that also has the outputs.

    Example: isthmus score price.isthmus test.csv
    """
    from rich.console import Console

    from isthmus.cli import apply
    from isthmus.cli.tables.dialect import Dialect

    options = apply.ApplyOptions(missing.value, unseen.value, None, Dialect(sep, decimal))
    apply.score(model, table, options=options, console=Console())
