"""Sequences of symbols as arrays of numbers, and back to what they were."""

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from isthmus.typing import IntArray, Objects

# Cells of tables that compiled code fills at once: some tenths of a second.
CELLS_PER_CALL = 2e7


def row_parts(starts: IntArray, width: float) -> Iterator[slice]:
    """Slices of sequences whose tables of ``width`` columns are filled well within a second.

    >>> list(row_parts(np.array([0, 4, 8, 12]), 5e6))
    [slice(0, 1, None), slice(1, 2, None), slice(2, 3, None)]
    """
    n = len(starts) - 1
    each = max(1.0, float(starts[-1] - starts[0]) / max(n, 1)) * max(width, 1.0)
    size = max(1, int(CELLS_PER_CALL / each))
    for first in range(0, n, size):
        yield slice(first, min(first + size, n))


class Alphabet:
    """Numbers for symbols, given out as the symbols are met.

    >>> letters = Alphabet("EditDistance")
    >>> letters.encode(["abba"])[0].tolist()
    [0, 1, 1, 0]
    """

    def __init__(self, owner: str):
        self.owner = owner
        self.numbers: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def copy(self) -> "Alphabet":
        """Another one, which may meet symbols of its own."""
        other = Alphabet(self.owner)
        other.numbers = dict(self.numbers)
        return other

    def encode(self, sequences: Objects) -> tuple[IntArray, IntArray]:
        """All symbols of all sequences, one after another, and where each sequence starts."""
        if isinstance(sequences, (str, bytes)) or not hasattr(sequences, "__len__"):
            raise TypeError(
                f"{self.owner} compares collections of sequences. "
                f"Got {sequences!r:.60} of type {type(sequences).__name__} instead."
            )
        items = sequences.to_numpy() if hasattr(sequences, "to_numpy") else sequences
        found = [self._numbers(item, place) for place, item in enumerate(items)]
        sizes = np.array([len(numbers) for numbers in found], dtype=np.int64)
        flat = np.array([number for numbers in found for number in numbers], dtype=np.int64)
        return flat, np.concatenate([[0], np.cumsum(sizes)])

    def _numbers(self, item: Any, place: int) -> list[int]:
        if isinstance(item, np.ndarray) and item.ndim == 1 and item.dtype.kind in "iubUSO":
            item = item.tolist()
        if not isinstance(item, (str, bytes, list, tuple)):
            raise TypeError(
                f"{self.owner} compares sequences (strings, lists of symbols, integer arrays). "
                f"Got {item!r:.60} of type {type(item).__name__} at position {place}."
            )
        try:
            return [self.numbers.setdefault(symbol, len(self.numbers)) for symbol in item]
        except TypeError as error:
            raise TypeError(
                f"{self.owner} compares sequences of hashable symbols. Got {item!r:.60} at "
                f"position {place}."
            ) from error

    def decode(self, numbers: IntArray, example: Any) -> Any:
        """The sequence with these symbols, of the type of ``example``."""
        known = list(self.numbers)
        symbols: Any = [known[i] for i in numbers.tolist()]
        if isinstance(example, str):
            return "".join(symbols)
        if isinstance(example, bytes):
            return bytes(symbols)
        if isinstance(example, tuple):
            return tuple(symbols)
        if isinstance(example, np.ndarray):
            return np.array(symbols, dtype=example.dtype)
        return symbols
