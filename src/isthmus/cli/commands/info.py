"""``isthmus info``."""

from isthmus.cli.options import ModelFile


def info(model: ModelFile) -> None:
    """Show the card of a model: its data, columns, error, versions; nothing of it is loaded.

    Example: isthmus info price.isthmus
    """
    from isthmus.cli.card import card_lines
    from isthmus.cli.errors import printable
    from isthmus.files.contents import list_contents

    for line in card_lines(list_contents(model)):
        print(printable(line)[:2000])
