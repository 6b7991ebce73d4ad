"""Kernels of sequences of symbols: strings, lists, arrays of integers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from isthmus._parameters import (
    Constraint,
    check_parameters,
    condition,
    integer,
    jobs,
    none,
    real,
)
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_list
from isthmus.series.collection import Packed
from isthmus.series.pairs import pair_matrix
from isthmus.series.symbols import SymbolCodes
from isthmus.typing import Array, IntArray, Objects

# Some tenths of a second of compiled code.
OPERATIONS_PER_CALL = 5e7


def _is_alphabet(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.ndim == 1 else None
    if not isinstance(value, (str, list, tuple)) or len(value) == 0:
        return False
    return all(isinstance(symbol, Hashable) for symbol in value)


ALPHABET = condition("a collection of hashable symbols, not empty,", _is_alphabet) | none


class SequenceKernel(Kernel):
    """A kernel of sequences; with an alphabet, a symbol outside it is an error."""

    alphabet: Sequence[Hashable] | None
    vectors = False
    offers = frozenset({"sequences"})

    def check(self, X: Objects) -> Objects:
        check_parameters(self)
        SymbolCodes(type(self).__name__, self.alphabet).pack(X)
        return check_list(X, type(self).__name__)

    def _codes(self, X: Objects, Z: Objects) -> tuple[Packed, Packed]:
        codes = SymbolCodes(type(self).__name__, self.alphabet)
        left = codes.pack(X)
        return left, left if Z is X else codes.pack(Z, "Z")


@dataclass
class Spectrum(SequenceKernel):
    r"""Spectrum kernel :math:`k(s,t)=\sum_u|s|_u|t|_u` over all words u of ``length`` symbols.

    :math:`|s|_u` counts how often u occurs in s without gaps [Leslie2002]_. Linear in the lengths.
    A sequence shorter than ``length`` is similar to nothing; wrap the kernel in
    :class:`Normalized` if long sequences should not count more.

    Parameters
    ----------
    length : int, default=3
    alphabet : sequence of symbols or None, default=None
        If given, a symbol outside it is an error that names the position; otherwise unknown
        symbols match no others.

    Examples
    --------
    >>> from isthmus.kernels import Spectrum
    >>> Spectrum(2)(["banana"], ["ananas", "bandana", "x"])
    array([[8., 7., 0.]])
    >>> Spectrum(2, alphabet="abn")(["banana", "bandana"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: Spectrum expected ... in sequence 1 of X. Got 'd' at position 3 instead.
    """

    __module__ = "isthmus.kernels"

    length: int = 3
    alphabet: Sequence[Hashable] | None = field(default=None, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {"length": integer(1), "alphabet": ALPHABET}

    def resolve(self, X: Objects) -> "Spectrum":
        check_parameters(self)
        return self

    def gram(self, X: Objects, Z: Objects) -> Array:
        left, right = self._codes(X, Z)
        if left is right:
            C = self._counts(left)[0]
            return np.asarray((C @ C.T).toarray())
        A, B = self._counts(left, right)
        return np.asarray((A @ B.T).toarray())

    def diag(self, X: Objects) -> Array:
        check_parameters(self)
        (C,) = self._counts(SymbolCodes("Spectrum", self.alphabet).pack(X))
        return np.asarray(C.multiply(C).sum(axis=1), dtype=np.float64).ravel()

    def _counts(self, *collections: Packed) -> list[sparse.csr_array]:
        """How often each word occurs in each sequence, with the same columns in all."""
        codes = [c.values[:, 0].astype(np.int64) for c in collections]
        n_symbols = 1 + max(int(c.max()) for c in codes)
        # Words as numbers, longer and longer; renumbered each time, so that none overflows.
        words = codes
        for step in range(1, self.length):
            words = [
                w[: max(0, len(c) - step)] * n_symbols + c[step:]
                for w, c in zip(words, codes, strict=True)
            ]
            numbers = np.unique(np.concatenate(words), return_inverse=True)[1]
            cuts = np.cumsum([len(w) for w in words])[:-1]
            words = np.split(numbers, cuts)
        n_words = 1 + max((int(w.max()) for w in words if len(w)), default=0)
        return [_count(c, w, self.length, n_words) for c, w in zip(collections, words, strict=True)]


def _count(packed: Packed, words: IntArray, length: int, n_words: int) -> sparse.csr_array:
    owner = np.repeat(np.arange(len(packed)), packed.lengths)
    # A word that would run into the next sequence does not count.
    inside = owner[: len(words)] == owner[length - 1 :][: len(words)]
    entries = (np.ones(int(inside.sum())), (owner[: len(words)][inside], words[inside]))
    return sparse.csr_array(sparse.coo_array(entries, shape=(len(packed), n_words)))


@dataclass
class Subsequence(SequenceKernel):
    r"""Gap-weighted subsequence kernel, :math:`k(s,t)=\sum_u\varphi_u(s)\varphi_u(t)`.

    .. math:: \varphi_u(s)=\sum_{i:\,s[i]=u}\lambda^{\,i_p-i_1+1},\qquad |u|=p,

    over all occurrences of u in s with gaps, each weighted by its span [Lodhi2002]_. With a
    ``position_decay`` :math:`\rho` two occurrences i in s and j in t are aligned as well: their
    product counts :math:`\prod_q\rho^{|i_q-j_q|}`, less the further apart their symbols stand.
    O(p n m) by dynamic programming. Wrap it in :class:`Normalized`, so that long sequences do not
    count more.

    Parameters
    ----------
    length : int, default=4
        Number of symbols p.
    decay : float in (0, 1], default=0.5
        :math:`\lambda`; with 1, gaps cost nothing.
    position_decay : float in (0, 1], default=1.0
        :math:`\rho`; with 1, places do not matter.
    alphabet : sequence of symbols or None, default=None
        If given, a symbol outside it is an error that names the position.
    n_jobs : int or None, default=None
        Number of threads; None is as many as numba may use.

    Examples
    --------
    >>> from isthmus.kernels import Normalized, Subsequence
    >>> Subsequence(2, decay=0.5)(["car"], ["cat", "car"])
    array([[0.0625  , 0.140625]])
    >>> Normalized(Subsequence(2, decay=0.5))(["car"], ["cat"]).round(4)  # 1 / (2 + λ²)
    array([[0.4444]])
    """

    __module__ = "isthmus.kernels"

    length: int = 4
    decay: float = field(default=0.5, kw_only=True)
    position_decay: float = field(default=1.0, kw_only=True)
    alphabet: Sequence[Hashable] | None = field(default=None, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "length": integer(1),
        "decay": real(0, 1, include_low=False),
        "position_decay": real(0, 1, include_low=False),
        "alphabet": ALPHABET,
        "n_jobs": jobs,
    }

    def resolve(self, X: Objects) -> "Subsequence":
        check_parameters(self)
        return self

    def gram(self, X: Objects, Z: Objects) -> Array:
        left, right = self._codes(X, Z)
        z_lengths = None if left is right else right.lengths
        compute = self._compute(left, right)
        return pair_matrix(left.lengths, z_lengths, compute, n_jobs=self.n_jobs)

    def diag(self, X: Objects) -> Array:
        self.resolve(X)
        packed = SymbolCodes("Subsequence", self.alphabet).pack(X)
        all_of_them = np.arange(len(packed))
        return self._compute(packed, packed)(all_of_them, all_of_them)

    def _compute(self, left: Packed, right: Packed):  # type: ignore[no-untyped-def]
        from isthmus.kernels.sequences.strings_loops import pair_subsequences

        longest = int(max(left.lengths.max(), right.lengths.max()))
        # What a match counts by how far it is out of place, times λ² for its two symbols.
        match = float(self.decay) ** 2 * float(self.position_decay) ** np.arange(longest)
        decay = float(self.decay)
        each = float(left.lengths.mean() * right.lengths.mean() * self.length)
        size = max(1, int(OPERATIONS_PER_CALL / each))

        def compute(first: IntArray, second: IntArray) -> Array:
            out = np.empty(len(first))
            # Compiled code cannot be interrupted; between two parts a program can.
            for start in range(0, len(first), size):
                some = slice(start, start + size)
                pair_subsequences(
                    left.parts,
                    right.parts,
                    first[some],
                    second[some],
                    self.length,
                    decay,
                    match,
                    out[some],
                )
            return out

        return compute
