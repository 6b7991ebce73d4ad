"""``isthmus complete``."""

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


def complete(
    model: ModelFile,
    table: TableFile,
    output: Output = None,
    missing: Missing = MissingChoice.impute,
    unseen: Unseen = UnseenChoice.ignore,
    sep: Sep = None,
    decimal: Decimal = None,
) -> None:
    """Fill in the empty cells of a table; all others stay as they are.

    A model of isthmus fit --task manifold fills in any of its columns, another one its outputs.

    Example: isthmus complete surface.isthmus gaps.csv --output full.csv
    """
    from isthmus.cli import apply
    from isthmus.cli.tables.dialect import Dialect

    options = apply.ApplyOptions(missing.value, unseen.value, None, Dialect(sep, decimal))
    apply.complete(model, table, output=output, options=options)
