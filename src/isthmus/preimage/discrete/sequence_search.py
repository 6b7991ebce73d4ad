"""Sequences as codes: kernel products, neighbours, and permutations."""

from typing import Any

import numpy as np

from isthmus.kernels.algebra.normalized import Normalized
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import n_objects
from isthmus.kernels.sequences.marginalized import MarginalizedSequence
from isthmus.typing import Array, IntArray

# A collection of sequences: all symbols in one array, and where each sequence starts.
Batch = tuple[IntArray, IntArray]

# Bytes that a tree of all substrings may take; beyond that, kernels are computed pair by pair.
TRIE_BYTES = 256 * 2**20


def batch_of(sequences: Any) -> Batch:
    """A batch of integer arrays, or of the rows of a table."""
    if isinstance(sequences, np.ndarray):
        n, m = sequences.shape
        return sequences.ravel(), np.arange(n + 1) * m
    starts = np.concatenate([[0], np.cumsum([len(s) for s in sequences], dtype=np.int64)])
    return np.concatenate(sequences), starts


def cut(batch: Batch, i: int) -> IntArray:
    """The ``i``-th sequence of a batch."""
    flat, starts = batch
    return flat[starts[i] : starts[i + 1]]


class SequenceProducts:
    r"""Products :math:`\sum_jk(z,x_j)C_{j\cdot}` of candidates with columns, and :math:`k(z,z)`.

    For the marginalised kernel they are sums over the substrings of :math:`z`, precomputed in a
    tree of the substrings of all :math:`x_j`: a candidate costs its length times the number of
    columns and the length of common substrings. Other kernels are evaluated.
    """

    def __init__(self, kernel: Kernel, reference: Any, columns: Array, codes: Any):
        self.kernel, self.reference, self.columns, self.codes = kernel, reference, columns, codes
        self.trie = self._trie(kernel, reference, columns)

    def _trie(self, kernel: Kernel, reference: Any, columns: Array) -> Any:
        self.normalized = isinstance(kernel, Normalized)
        base = kernel.base if isinstance(kernel, Normalized) else kernel
        if type(base) is not MarginalizedSequence or base.stop == "length":
            return None
        if base.position_decay != 1:  # a tree of substrings does not know where they stand
            return None
        from isthmus.preimage.discrete.sequence_loops import build_trie

        flat, starts = batch_of(self.codes.encode(reference))
        lengths = np.diff(starts)
        n_substrings = 1 + int(np.sum(lengths * (lengths + 1) // 2))
        per_node = 4 * len(self.codes.alphabet) + 8 * (columns.shape[1] + 1)
        capacity = min(n_substrings, TRIE_BYTES // per_node)
        if self.normalized:
            columns = columns / np.sqrt(base.diag(reference))[:, None]
        self.stop = float(base.stop)
        children, values = build_trie(
            flat,
            starts,
            np.ascontiguousarray(columns, dtype=np.float64),
            self.stop,
            len(self.codes.alphabet),
            capacity,
        )
        return (children, values) if len(children) else None

    def __call__(self, batch: Batch) -> tuple[Array, Array]:
        """Products (n, r) and squared norms (n,) of the candidates."""
        if self.trie is None:
            return self._evaluate(batch)
        from isthmus.kernels.walk_loops import sequence_diagonal
        from isthmus.preimage.discrete.sequence_loops import trie_products

        flat, starts = batch
        found: Array = trie_products(*self.trie, flat, starts)
        diagonal = np.empty(len(found))
        near = np.ones(int(np.diff(starts).max()))
        sequence_diagonal(flat, starts, np.full(len(found), self.stop), near, diagonal)
        if self.normalized:
            return found / np.sqrt(diagonal)[:, None], np.ones(len(found))
        return found, diagonal

    def _evaluate(self, batch: Batch) -> tuple[Array, Array]:
        objects = [self.codes.decode(cut(batch, i)) for i in range(len(batch[1]) - 1)]
        blocks = self.kernel.blocks(objects, self.reference)
        return np.concatenate([K @ self.columns for _, K in blocks]), self.kernel.diag(objects)


class SequenceCodes:
    """Symbols as indices into an alphabet, and back to the type of object that was given."""

    def __init__(self, alphabet: Any, example: Any):
        self.alphabet = tuple(alphabet)
        self.numbers = {symbol: i for i, symbol in enumerate(self.alphabet)}
        self.example = example

    # A model file has no dictionaries by tuples or numbers.

    def __getstate__(self) -> dict[str, Any]:
        return {"alphabet": self.alphabet, "example": self.example}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def encode(self, objects: Any) -> list[IntArray]:
        """One integer array per object."""
        return [
            np.array([self.numbers[s] for s in symbols_of(item)], dtype=np.int64)
            for item in (objects[i] for i in range(n_objects(objects)))
        ]

    def decode(self, code: IntArray) -> Any:
        """The object with these symbols."""
        symbols = [self.alphabet[i] for i in code.tolist()]
        if isinstance(self.example, str):
            return "".join(symbols)
        if isinstance(self.example, bytes):
            return bytes(symbols)
        if isinstance(self.example, tuple):
            return tuple(symbols)
        if isinstance(self.example, np.ndarray):
            return np.array(symbols, dtype=self.example.dtype)
        return symbols


def symbols_of(item: Any) -> Any:
    """The symbols of a sequence as Python objects."""
    return item.tolist() if isinstance(item, np.ndarray) else item


def neighbours(code: IntArray, n_symbols: int, low: int, high: int) -> list[IntArray]:
    """Tables of sequences one move away, one table per length.

    Moves: exchange two symbols, move one elsewhere, replace one; within the range of lengths also
    delete or insert one.
    """
    m = len(code)
    first, second = np.nonzero(code[:, None] != code)
    once = first < second
    a, b = first[once], second[once]
    swapped = np.tile(code, (len(a), 1))
    swapped[np.arange(len(a)), a], swapped[np.arange(len(a)), b] = code[b], code[a]
    same_length = [swapped]
    if n_symbols > 1:
        place, shift = np.indices((m, n_symbols - 1)).reshape(2, -1)
        replaced = np.tile(code, (len(place), 1))
        replaced[np.arange(len(place)), place] = (code[place] + 1 + shift) % n_symbols
        same_length.append(replaced)
    without = _delete_one(code)
    if m > 2:
        # Symbol i is removed and inserted before position j of the rest, but not where it was.
        i, j = np.nonzero(np.abs(np.arange(m)[:, None] - np.arange(m)) > 1)
        same_length.append(_insert(without[i], j, code[i]))
    tables = [np.concatenate(same_length)]
    if m > max(low, 1):
        tables.append(without)
    if m < high:
        place, symbol = np.indices((m + 1, n_symbols)).reshape(2, -1)
        tables.append(_insert(np.tile(code, (len(place), 1)), place, symbol))
    return [table for table in tables if len(table)]


def _delete_one(code: IntArray) -> IntArray:
    m = len(code)
    keep = ~np.eye(m, dtype=bool)
    return np.tile(code, (m, 1))[keep].reshape(m, m - 1)


def _insert(rows: IntArray, place: IntArray, symbol: IntArray) -> IntArray:
    n, m = rows.shape
    found = np.empty((n, m + 1), dtype=np.int64)
    positions = np.arange(m + 1)
    hole = positions == place[:, None]
    found[hole] = symbol
    found[~hole] = rows.ravel()
    return found


def permutation_code(code: IntArray) -> tuple[IntArray, IntArray]:
    """Sorted symbols and inversion counts of a sequence, which determine its order.

    >>> symbols, counts = permutation_code(np.array([0, 1, 4, 3, 1, 2, 5]))  # "Kernels"
    >>> symbols.tolist(), counts.tolist()
    ([0, 1, 1, 2, 3, 4, 5], [0, 0, 2, 2, 1, 0, 0])
    """
    from isthmus.preimage.discrete.sequence_loops import insertion_codes

    order = np.argsort(code, kind="stable")
    return code[order], insertion_codes(code, order)


def rescale_code(counts: IntArray, length: int) -> Array:
    """Success probabilities for permutations of another length, similar to ``counts``."""
    m = len(counts)
    room = np.maximum(m - 1 - np.arange(m), 1)
    return np.interp(np.linspace(0, 1, length), np.linspace(0, 1, m), counts / room)
