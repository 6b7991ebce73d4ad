"""Cells of a csv file that a spreadsheet would run."""

# A spreadsheet takes a cell that begins like this for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def defused(cell: str) -> str:
    """The text, behind an apostrophe where a spreadsheet would calculate it.

    >>> [defused(cell) for cell in ("-2.5", "-2+3", "=A1", "plain")]
    ['-2.5', "'-2+3", "'=A1", 'plain']
    """
    return f"'{cell}" if cell.startswith(FORMULA) and not _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
