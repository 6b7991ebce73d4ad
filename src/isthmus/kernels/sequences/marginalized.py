"""The marginalised kernel of sequences."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from isthmus._parameters import Constraint, check_parameters, choice, condition, none, real
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_list
from isthmus.linalg.threads import rest_in_threads
from isthmus.typing import Array, IntArray, Objects

# Some tenths of a second.
OPERATIONS_PER_CALL = 2e8
PARTS = 8  # of a Gram matrix at least, to be shared by threads


def _is_alphabet(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.ndim == 1 else None
    if not isinstance(value, (str, bytes, list, tuple, set, frozenset, range)) or len(value) == 0:
        return False
    return all(isinstance(symbol, Hashable) for symbol in value)


@dataclass
class MarginalizedSequence(Kernel):
    r"""Expected agreement of two random walks along two sequences [Kashima2003]_.

    A walk starts at any of the :math:`m` symbols, at each stops with probability
    :math:`\lambda` and otherwise moves on to the next; the kernel is the probability that both
    walks read the same symbols and stop,

    .. math::
        D_{ij}=\mathbb 1[a_i=b_j]\big(\lambda^2+(1-\lambda)^2D_{i+1,j+1}\big),\qquad
        k(a,b)=\frac1{mn}\sum_{ij}D_{ij}.

    It counts common substrings, each with the weight :math:`(1-\lambda)^2` to the power of its
    length. With a ``position_decay`` :math:`\rho` the sum is over :math:`\rho^{|i-j|}D_{ij}`:
    walks that start at different places count less. A walk that runs off the end does not count.
    O(mn) per pair.

    Parameters
    ----------
    stop : float in (0, 1] or "length", default=0.1
        :math:`\lambda`: small values compare long substrings, 1 single symbols. ``"length"`` is
        one over the length of each sequence.
    position_decay : float in (0, 1], default=1.0
        :math:`\rho`; with 1, places do not matter.
    alphabet : collection of symbols, "training" or None, default=None
        Symbols that are allowed; any other one is an error that says where it occurs.
        ``"training"`` allows the symbols an estimator was fitted on. None allows everything: a
        symbol that was never seen matches no other.

    Notes
    -----
    Objects are strings, lists or tuples of hashable symbols, or integer arrays; a table of integers
    holds one sequence per row. Long sequences are not more similar than short ones, since the start
    is uniform over the sequence: the kernel does not depend on the length.

    Examples
    --------
    >>> from isthmus.kernels import MarginalizedSequence
    >>> MarginalizedSequence(0.3)(["KERNELS", "KENNEL"]).round(6)
    array([[0.025447, 0.020807],
           [0.020807, 0.034767]])
    >>> MarginalizedSequence(0.3)([[1, 2, 2], (1, 2)]).shape
    (2, 2)
    """

    __module__ = "isthmus.kernels"

    stop: Any = 0.1
    position_decay: float = field(default=1.0, kw_only=True)
    alphabet: Any = field(default=None, kw_only=True)
    vectors = False
    offers = frozenset({"sequences"})

    _constraints: ClassVar[dict[str, Constraint]] = {
        "stop": real(0, 1, include_low=False) | choice("length"),
        "position_decay": real(0, 1, include_low=False),
        "alphabet": condition(
            "'training' or a collection of hashable symbols, not empty,", _is_alphabet
        )
        | none,
    }

    def check(self, X: Objects) -> Objects:
        check_parameters(self)
        X = check_list(X, "MarginalizedSequence")
        for position, item in enumerate(X):
            check_sequence(item, position, "MarginalizedSequence")
        if self.alphabet is not None and not _is_training(self.alphabet):
            refuse_foreign(X, set(self.alphabet), "MarginalizedSequence")
        return X

    def resolve(self, X: Objects) -> "MarginalizedSequence":
        check_parameters(self)
        if _is_training(self.alphabet):
            return replace(self, alphabet=alphabet_of(X))
        return self

    def gram(self, X: Objects, Z: Objects) -> Array:
        from isthmus.kernels.walk_loops import sequence_gram

        symmetric = Z is X
        flat, starts = encode([X] if symmetric else [X, Z])
        K = np.empty((len(starts[0]) - 1, len(starts[-1]) - 1))
        stops = [self._stops(s) for s in starts]
        x, z = ((flat[side], starts[side], stops[side]) for side in (0, -1))
        near = self._near(starts)
        cost = float(np.diff(starts[0]).mean() * len(flat[-1]))
        rest_in_threads(
            lambda rows: sequence_gram(*x, *z, near, rows, symmetric, K),
            row_blocks(balanced_rows(len(K)), cost),
        )
        return K

    def diag(self, X: Objects) -> Array:
        from isthmus.kernels.walk_loops import sequence_diagonal

        self.resolve(X)
        flat, starts = encode([self.check(X)])
        diagonal = np.empty(len(X))
        near = self._near(starts)
        sequence_diagonal(flat[0], starts[0], self._stops(starts[0]), near, diagonal)
        return diagonal

    def _near(self, starts: list[IntArray]) -> Array:
        """What two walks count that start this many places apart."""
        longest = max(int(np.diff(s).max()) for s in starts)
        return np.asarray(float(self.position_decay) ** np.arange(longest))

    def _stops(self, starts: IntArray) -> Array:
        if self.stop == "length":
            return 1.0 / np.diff(starts)
        return np.full(len(starts) - 1, float(self.stop))


def _is_training(alphabet: Any) -> bool:
    return isinstance(alphabet, str) and alphabet == "training"


def check_sequence(item: Any, position: int, owner: str) -> None:
    """Refuse an object that is not a sequence of symbols, and name its position."""
    if isinstance(item, np.ndarray):
        if item.ndim != 1 or item.dtype.kind not in "iubUSO":
            raise TypeError(
                f"{owner} compares sequences of symbols: an array must be of shape (length,) and "
                f"hold integers or text. Got shape {item.shape} of {item.dtype} at position "
                f"{position}."
            )
    elif not isinstance(item, (str, bytes, list, tuple)):
        raise TypeError(
            f"{owner} compares sequences (strings, lists of symbols, integer arrays). "
            f"Got {item!r:.60} of type {type(item).__name__} at position {position}."
        )
    if len(item) == 0:
        raise ValueError(f"{owner}: sequence {position} is empty; it needs at least one symbol.")


def alphabet_of(X: Objects) -> tuple[Hashable, ...]:
    """All symbols of the sequences, sorted if possible, else in order of appearance."""
    symbols = dict.fromkeys(symbol for item in X for symbol in _symbols(item))
    try:
        return tuple(sorted(symbols))
    except TypeError:
        return tuple(symbols)


def refuse_foreign(X: Objects, alphabet: set[Any], owner: str) -> None:
    """Refuse symbols outside ``alphabet``, and name symbol and position."""
    for number, item in enumerate(X):
        for place, symbol in enumerate(_symbols(item)):
            if symbol not in alphabet:
                raise ValueError(
                    f"{owner}: sequence {number} has the symbol {symbol!r} at position {place}, "
                    f"which is not in the alphabet of {len(alphabet)} symbols."
                )


def _symbols(item: Any) -> Any:
    return item.tolist() if isinstance(item, np.ndarray) else item


def balanced_rows(n: int) -> IntArray:
    """Rows in the order 0, n-1, 1, n-2, ..., so that threads get equal parts of a triangle."""
    ends = np.column_stack([np.arange(n), np.arange(n)[::-1]]).ravel()
    return np.ascontiguousarray(ends[:n])


def row_blocks(rows: IntArray, cost: float) -> list[IntArray]:
    """Rows of a Gram matrix, each of ``cost`` operations, in parts well below a second.

    Compiled code cannot be interrupted; between two parts a program can.
    """
    size = max(1, min(int(OPERATIONS_PER_CALL / max(cost, 1.0)), -(-len(rows) // PARTS)))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def encode(collections: list[Objects]) -> tuple[list[IntArray], list[IntArray]]:
    """Integer codes of all symbols, one flat array per collection, and where sequences start.

    Equal symbols have equal codes in all collections.
    """
    starts = [
        np.concatenate([[0], np.cumsum([len(item) for item in X], dtype=np.int64)])
        for X in collections
    ]
    if all(isinstance(item, str) for X in collections for item in X):
        # Characters are already numbers.
        texts = ["".join(X).encode("utf-32-le", "surrogatepass") for X in collections]
        letters: list[IntArray] = [np.frombuffer(t, np.uint32).astype(np.int64) for t in texts]
        return letters, starts
    if all(
        isinstance(item, np.ndarray) and item.dtype.kind in "iu" for X in collections for item in X
    ):
        return [np.concatenate(list(X)).astype(np.int64) for X in collections], starts
    codes: dict[Hashable, int] = {}
    flat: list[IntArray] = []
    for X in collections:
        found = np.empty(sum(len(item) for item in X), dtype=np.int64)
        place = 0
        for number, item in enumerate(X):
            for symbol in _symbols(item):
                try:
                    found[place] = codes.setdefault(symbol, len(codes))
                except TypeError as error:
                    raise TypeError(
                        f"Symbols of a sequence must be hashable. Sequence {number} holds "
                        f"{symbol!r:.60} of type {type(symbol).__name__}."
                    ) from error
                place += 1
        flat.append(found)
    return flat, starts
