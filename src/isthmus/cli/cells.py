"""Cells that hold a text, a sequence of symbols or a series of numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

KINDS = ("text", "sequence", "series")
"""What a cell can hold besides a number or a label."""

# Symbols come again and again; the words of a sentence do not.
_USES_OF_A_SYMBOL = 10


def objects_of(cells: Sequence[str], kind: str) -> list[Any]:
    """Return what the cells hold: strings, lists of symbols, or arrays of numbers."""
    if kind == "text":
        return list(cells)
    if kind == "sequence":
        return [cell.split() for cell in cells]
    return [np.array(cell.replace(";", " ").split(), dtype=float) for cell in cells]


def cell_of(thing: Any) -> str:
    """Return the cell that holds a string, symbols or numbers; the inverse of :func:`objects_of`.

    A number is written with seven digits.
    """
    if isinstance(thing, str):
        return thing
    return " ".join(part if isinstance(part, str) else f"{part:.7g}" for part in thing)


def are_sequences(cells: Sequence[str]) -> bool:
    """Whether the cells hold symbols separated by blanks, such as ``K AE T``: few, used often."""
    parts = [cell.split() for cell in cells]
    symbols = [symbol for part in parts for symbol in part]
    several = sum(len(part) > 1 for part in parts) > len(parts) / 2
    return several and _USES_OF_A_SYMBOL * len(set(symbols)) <= len(symbols)
