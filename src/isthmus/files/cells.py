"""Cells of a csv file that a spreadsheet would run."""

# A spreadsheet takes a cell that begins like this for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def defused(cell: str) -> str:
    """The text, behind an apostrophe where a spreadsheet would calculate it.

    >>> [defused(cell) for cell in ("-2.5", "-2.5 0.3", "-2+3", "=A1", "plain")]
    ['-2.5', '-2.5 0.3', "'-2+3", "'=A1", 'plain']
    """
    return f"'{cell}" if cell.startswith(FORMULA) and not _are_numbers(cell) else cell


def _are_numbers(cell: str) -> bool:
    """Whether the cell is a number, or several with blanks between them."""
    try:
        return len([float(part) for part in cell.split(" ")]) > 0
    except ValueError:
        return False
