"""``isthmus warmup``."""

import typer


def warmup() -> None:
    """Compile every loop of the library once, so that first calls do not have to.

    Example: isthmus warmup
    """
    from isthmus.cli.warmup import warmup as compile_all

    raise typer.Exit(compile_all())
