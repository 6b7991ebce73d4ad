"""``isthmus score``."""

from isthmus.cli.options import ModelFile, TableFile


def score(model: ModelFile, table: TableFile) -> None:
    """Show the errors of a model on a table that also has the outputs."""
    from rich.console import Console

    from isthmus.cli import work

    work.score(model, table, console=Console())
