"""The command line ``isthmus``: fit, predict, score, reproduce, demo.

It needs the extra ``app`` (``pip install "isthmus[app]"``); without it, one line says so.
"""

import sys
from importlib.util import find_spec

__all__ = ["main"]

_NEEDED = ("pandas", "typer", "rich", "skops", "packaging")


def main() -> None:
    """Run the command line with the arguments of the process."""
    missing = [package for package in _NEEDED if find_spec(package) is None]
    if missing:
        print(
            f"isthmus: error: the command line needs {', '.join(missing)}: "
            'pip install "isthmus[app]"',
            file=sys.stderr,
        )
        sys.exit(2)
    from isthmus.cli.app import app

    app()
