"""Kernels of sequences that know where a piece stands."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import sparse

from isthmus._checks import LARGEST
from isthmus._parameters import Constraint, boolean, check_parameters, integer, real
from isthmus.kernels.sequences.places import Pieces, cut, tables
from isthmus.kernels.sequences.strings import ALPHABET, SequenceKernel
from isthmus.series.collection import Packed
from isthmus.series.symbols import SymbolCodes
from isthmus.typing import Array, IntArray, Objects

Entries = tuple[IntArray, IntArray, Array]


@dataclass
class NGrams(SequenceKernel):
    r"""Common pieces of two sequences, counted anywhere, from the start and from the end.

    .. math::
        k(s,t)=\sum_{d\le D}(1+\gamma d)^2\sum_{u:|u|=d}\Big(|s|_u|t|_u
        +\rho^2\sum_p\big[s_{p:p+d}=t_{p:p+d}=u\big]
        +\rho^2\sum_p\big[s_{-p-d:-p}=t_{-p-d:-p}=u\big]\Big),

    where :math:`|s|_u` counts how often u occurs in s. This suits the translation of sequences:
    what a piece becomes depends on the piece, and where the result stands depends on its position.
    The cost is linear in the lengths.

    Parameters
    ----------
    length : int, default=3
        Longest piece D.
    position : float, default=0.7
        Weight :math:`\rho` of a piece at its place, relative to the same piece anywhere. 0 is a
        sum of :class:`Spectrum` kernels.
    growth : float, default=0.5
        :math:`\gamma`: how much more longer pieces count.
    ends : bool, default=True
        Whether the start and the end of a sequence are symbols of their own.
    alphabet : sequence of symbols or None, default=None
        If given, a symbol outside it is an error that names the position.

    Notes
    -----
    Wrap it in :class:`Normalized` if long sequences should not count more. Sharper kernels, such as
    powers of this one, forget that two sequences may share parts with a third: they predict worse
    where the output is put together from parts.

    Examples
    --------
    >>> from isthmus.kernels import NGrams, Normalized
    >>> Normalized(NGrams(2))(["nation"], ["ration", "nature", "cat"]).round(3)
    array([[0.783, 0.518, 0.27 ]])
    """

    __module__ = "isthmus.kernels"

    length: int = 3
    position: float = field(default=0.7, kw_only=True)
    growth: float = field(default=0.5, kw_only=True)
    ends: bool = field(default=True, kw_only=True)
    alphabet: Sequence[Hashable] | None = field(default=None, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "length": integer(1),
        "position": real(0, LARGEST),
        "growth": real(0, LARGEST),
        "ends": boolean,
        "alphabet": ALPHABET,
    }

    def resolve(self, X: Objects) -> "NGrams":
        check_parameters(self)
        return self

    def gram(self, X: Objects, Z: Objects) -> Array:
        left, right = self._codes(X, Z)
        A, *B = self._counts(left) if left is right else self._counts(left, right)
        return np.asarray((A @ (B[0] if B else A).T).toarray())

    def diag(self, X: Objects) -> Array:
        check_parameters(self)
        (A,) = self._counts(SymbolCodes("NGrams", self.alphabet).pack(X))
        return np.asarray(A.multiply(A).sum(axis=1), dtype=np.float64).ravel()

    def _counts(self, *collections: Packed) -> list[sparse.csr_array]:
        blocks: list[list[Entries]] = []
        for step, parts in enumerate(cut(collections, self.length, ends=self.ends), start=1):
            weight = 1 + float(self.growth) * step
            blocks.append([(p.owner, p.number, np.full(len(p.owner), weight)) for p in parts])
            if self.position:
                farthest = 1 + max((int(p.place.max()) for p in parts if len(p.place)), default=0)
                for from_end in (False, True):
                    blocks.append(
                        [_placed(p, from_end, farthest, weight * self.position) for p in parts]
                    )
        return tables(blocks, [len(packed) for packed in collections])


def _placed(pieces: Pieces, from_end: bool, farthest: int, weight: float) -> Entries:
    keys = pieces.number * farthest + (pieces.back if from_end else pieces.place)
    return pieces.owner, keys, np.full(len(keys), weight)


@dataclass
class WeightedDegree(SequenceKernel):
    r"""Weighted-degree kernel: common pieces at the same place, or nearly so [Raetsch2005]_.

    .. math::
        k(s,t)=\sum_{d=1}^D\beta_d\sum_{|p-q|\le S}\delta_{p-q}\,[s_{p:p+d}=t_{q:q+d}],\qquad
        \beta_d=\frac{2(D-d+1)}{D(D+1)},\quad\delta_0=1,\quad\delta_r=\frac1{2(|r|+1)}.

    Places count from the start, so it suits sequences that are aligned there, such as windows
    around a site.

    Parameters
    ----------
    length : int, default=3
        Longest piece D.
    shift : int, default=0
        Maximum displacement S of a piece.
    alphabet : sequence of symbols or None, default=None
        If given, a symbol outside it is an error that names the position.

    Examples
    --------
    >>> from isthmus.kernels import WeightedDegree
    >>> WeightedDegree(2)(["GATTACA"], ["GATTACA", "CATTACA", "AGATTAC"]).round(3)
    array([[6.667, 5.667, 0.667]])
    >>> WeightedDegree(2, shift=1)(["GATTACA"], ["AGATTAC"]).round(3)
    array([[2.417]])
    """

    __module__ = "isthmus.kernels"

    length: int = 3
    shift: int = field(default=0, kw_only=True)
    alphabet: Sequence[Hashable] | None = field(default=None, kw_only=True)

    _constraints: ClassVar[dict[str, Constraint]] = {
        "length": integer(1),
        "shift": integer(0),
        "alphabet": ALPHABET,
    }

    def resolve(self, X: Objects) -> "WeightedDegree":
        check_parameters(self)
        return self

    def gram(self, X: Objects, Z: Objects) -> Array:
        left, right = self._codes(X, Z)
        A, B = self._counts(left, right)
        return np.asarray((A @ B.T).toarray())

    def diag(self, X: Objects) -> Array:
        check_parameters(self)
        packed = SymbolCodes("WeightedDegree", self.alphabet).pack(X)
        A, B = self._counts(packed, packed)
        return np.asarray(A.multiply(B).sum(axis=1), dtype=np.float64).ravel()

    def _counts(self, left: Packed, right: Packed) -> list[sparse.csr_array]:
        """Pieces at their places, and those of the second collection at all places near."""
        blocks: list[list[Entries]] = []
        total = self.length * (self.length + 1)
        offsets = np.arange(-self.shift, self.shift + 1)
        near = np.where(offsets == 0, 1.0, 0.5 / (np.abs(offsets) + 1))
        for step, parts in enumerate(cut((left, right), self.length, ends=False), start=1):
            beta = 2 * (self.length - step + 1) / total
            farthest = 1 + max((int(p.place.max()) for p in parts if len(p.place)), default=0)
            width = farthest + 2 * self.shift
            x, z = parts
            fixed = (
                x.owner,
                x.number * width + x.place + self.shift,
                np.full(len(x.owner), beta),
            )
            keys = (z.number * width + z.place + self.shift)[:, None] + offsets
            moved = (
                np.repeat(z.owner, len(offsets)),
                keys.ravel(),
                np.tile(near, len(z.owner)),
            )
            blocks.append([fixed, moved])
        return tables(blocks, [len(left), len(right)])
