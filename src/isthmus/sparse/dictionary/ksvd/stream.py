r"""K-SVD on a stream: the power step of an atom needs sums over the signals and nothing else.

With the codes of the past held fixed, :math:`E^\top a` of atom j is
:math:`B_j-A_jD+A_{jj}d_j`, where :math:`A=\sum_ic_i^\top c_i` and :math:`B=\sum_ic_i^\top x_i`:
memory does not grow with the stream. The sums are made by :func:`map_block`, put together by
:func:`merge`, and used by :func:`atoms_from_sums`.
"""

from typing import NamedTuple

import numpy as np

from isthmus.sparse.dictionary.ksvd.formulas import SparseCodes
from isthmus.sparse.pursuit.matching import as_contiguous
from isthmus.typing import Array, IntArray


class CodeSums(NamedTuple):
    """Sums over coded signals: how many used each atom, C'C and C'X."""

    usage: Array
    codes: Array
    cross: Array


def map_block(X: Array, codes: SparseCodes, n_atoms: int) -> CodeSums:
    """The sums of one block of signals.

    >>> import numpy as np
    >>> codes = SparseCodes(np.array([[1, -1]]), np.array([[2.0, 0.0]]), np.zeros((1, 3)))
    >>> map_block(np.ones((1, 3)), codes, n_atoms=2).cross
    array([[0., 0., 0.],
           [2., 2., 2.]])
    """
    from isthmus.sparse.dictionary.ksvd.loops import add_codes  # compiled on first use

    sums = CodeSums(
        np.zeros(n_atoms), np.zeros((n_atoms, n_atoms)), np.zeros((n_atoms, X.shape[1]))
    )
    add_codes(as_contiguous(X), codes.support, codes.coef, *sums)
    return sums


def merge(a: CodeSums, b: CodeSums, *, keep: float = 1.0) -> CodeSums:
    """Sums of both, the first counting ``keep`` times what it did."""
    return CodeSums(*(keep * old + new for old, new in zip(a, b, strict=True)))


def atoms_from_sums(D: Array, sums: CodeSums, order: IntArray, n_passes: int) -> None:
    """Power steps for all used atoms in turn, in place."""
    from isthmus.sparse.dictionary.ksvd.loops import power_steps  # compiled on first use

    for _ in range(n_passes):
        power_steps(D, sums.codes, sums.cross, order)


def forget_atoms(sums: CodeSums, gone: IntArray) -> None:
    """Take atoms out of the sums, in place: what replaces them has no past."""
    sums.usage[gone] = 0.0
    sums.codes[gone] = 0.0
    sums.codes[:, gone] = 0.0
    sums.cross[gone] = 0.0
