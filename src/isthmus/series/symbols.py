"""Sequences of symbols as integer codes."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from isthmus.series.collection import Packed
from isthmus.typing import Array, Objects


class SymbolCodes:
    """Integers for symbols, given out as the symbols are met, or fixed by an alphabet.

    >>> codes = SymbolCodes("dtw", alphabet=None)
    >>> codes.pack(["abba", "cab"]).values[:, 0].tolist()
    [0.0, 1.0, 1.0, 0.0, 2.0, 0.0, 1.0]
    """

    def __init__(self, owner: str, alphabet: Sequence[Hashable] | None = None):
        self.owner = owner
        self.fixed = alphabet is not None
        self.codes: dict[Hashable, int] = {
            symbol: i for i, symbol in enumerate(dict.fromkeys(alphabet or ()))
        }

    def encode(self, sequence: Any, name: str) -> Array:
        """One sequence as an array of codes, or what is wrong with it."""
        if isinstance(sequence, bytes) or not hasattr(sequence, "__len__"):
            raise TypeError(
                f"{self.owner} expected {name} to be a string, a list of symbols or an array of "
                f"integers. Got {sequence!r:.60} of type {type(sequence).__name__} instead."
            )
        if isinstance(sequence, np.ndarray):
            if sequence.ndim != 1 or sequence.dtype.kind == "f":
                raise TypeError(
                    f"{self.owner} expected integers of shape (length,) in {name}. "
                    f"Got {sequence.dtype} of shape {sequence.shape} instead."
                )
            sequence = sequence.tolist()
        if len(sequence) == 0:
            raise ValueError(
                f"{self.owner} expected at least one symbol in {name}. Got an empty sequence."
            )
        if not self.fixed:
            codes = self.codes
            return np.array([codes.setdefault(symbol, len(codes)) for symbol in sequence])
        for place, symbol in enumerate(sequence):
            if symbol not in self.codes:
                known = ", ".join(map(repr, list(self.codes)[:8]))
                more = ", ..." if len(self.codes) > 8 else ""
                raise ValueError(
                    f"{self.owner} expected symbols of its alphabet ({known}{more}) in {name}. "
                    f"Got {symbol!r} at position {place} instead."
                )
        return np.array([self.codes[symbol] for symbol in sequence])

    def pack(self, X: Objects, name: str = "X") -> Packed:
        """A collection of sequences, one after another."""
        if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
            raise TypeError(
                f"{self.owner} expected a collection of sequences (a list or an array). "
                f"Got {X!r:.60} of type {type(X).__name__} instead."
            )
        items = X.to_numpy() if hasattr(X, "to_numpy") else X
        if len(items) == 0:
            raise ValueError(f"{self.owner} expected at least one sequence in {name}. Got none.")
        parts = [self.encode(s, f"sequence {i} of {name}") for i, s in enumerate(items)]
        lengths = np.array([len(p) for p in parts])
        values = np.concatenate(parts)[:, None].astype(np.float64)
        return Packed(values, np.cumsum(lengths) - lengths, lengths)
