"""Pieces of sequences and where they stand, as columns of sparse tables."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from isthmus.series.collection import Packed
from isthmus.typing import Array, IntArray


class Pieces(NamedTuple):
    """All pieces of one length in a collection: their sequence, number and place.

    Equal pieces have equal numbers in all collections that were cut together; ``place`` counts from
    the start of the sequence, ``back`` from its end.
    """

    owner: IntArray
    number: IntArray
    place: IntArray
    back: IntArray


def cut(collections: tuple[Packed, ...], length: int, *, ends: bool) -> list[list[Pieces]]:
    """Pieces of 1 to ``length`` symbols of every collection, a list for each length.

    With ``ends``, a mark stands before the first symbol and another after the last one.
    """
    codes, owners, sizes = [], [], []
    for packed in collections:
        symbols = packed.values[:, 0].astype(np.int64)
        lengths = packed.lengths
        if ends:
            symbols = np.insert(symbols + 2, packed.starts, 0)
            symbols = np.insert(symbols, np.cumsum(lengths + 1), 1)
            lengths = lengths + 2
        codes.append(symbols)
        owners.append(np.repeat(np.arange(len(lengths)), lengths))
        sizes.append(lengths)
    n_symbols = 1 + max(int(c.max()) for c in codes)
    words, found = codes, []
    for step in range(length):
        if step:
            # Pieces as numbers, renumbered at each length, so that none overflows.
            words = [
                w[: max(0, len(c) - step)] * n_symbols + c[step:]
                for w, c in zip(words, codes, strict=True)
            ]
            numbers = np.unique(np.concatenate(words), return_inverse=True)[1]
            words = np.split(numbers, np.cumsum([len(w) for w in words])[:-1])
        parts = zip(words, owners, sizes, strict=True)
        found.append([_inside(w, owner, size, step + 1) for w, owner, size in parts])
    return found


def _inside(words: IntArray, owner: IntArray, sizes: IntArray, length: int) -> Pieces:
    """The pieces that do not run into the next sequence."""
    starts = np.cumsum(sizes) - sizes
    keep = np.flatnonzero(owner[: len(words)] == owner[length - 1 :][: len(words)])
    of = owner[keep]
    place = keep - starts[of]
    return Pieces(of, words[keep], place, sizes[of] - length - place)


def tables(blocks: list[list[tuple[IntArray, IntArray, Array]]], n_rows: list[int]) -> list:  # type: ignore[type-arg]
    """Sparse tables of entries (row, key, value), with the same columns for all collections.

    ``blocks`` holds, for each kind of column, the entries of every collection; the keys of one kind
    are those of no other.
    """
    columns: list[list[IntArray]] = [[] for _ in n_rows]
    width = 0
    for block in blocks:
        keys, numbers = np.unique(np.concatenate([k for _, k, _ in block]), return_inverse=True)
        cuts = np.cumsum([len(k) for _, k, _ in block])[:-1]
        for own, part in zip(columns, np.split(numbers + width, cuts), strict=True):
            own.append(part)
        width += len(keys)
    found = []
    for number, n in enumerate(n_rows):
        rows = np.concatenate([block[number][0] for block in blocks])
        values = np.concatenate([block[number][2] for block in blocks])
        entries = (values, (rows, np.concatenate(columns[number])))
        found.append(sparse.csr_array(sparse.coo_array(entries, shape=(n, max(width, 1)))))
    return found
