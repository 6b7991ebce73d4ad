"""The command line ``isthmus``: fit, predict, score, reproduce, demo."""

__all__ = ["main"]


def main() -> None:
    """Run the command line with the arguments of the process."""
    from isthmus.cli.app import app

    app()
