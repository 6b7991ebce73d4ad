"""Alignments with gaps: distances of series and sequences, and local scores."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from isthmus._checks import check_float
from isthmus.series.bands import NO_WINDOW, check_feasible, window_code
from isthmus.series.collection import Packed, pack_both
from isthmus.series.pairs import n_lanes, pair_matrix
from isthmus.series.symbols import SymbolCodes
from isthmus.typing import Array, IntArray, Objects


def alignment_matrix(
    X: Objects,
    Z: Objects = None,
    *,
    gap: Any = 0.0,
    window: Any = None,
    n_jobs: int | None = None,
) -> Array:
    r"""Global alignment distances of series, a metric.

    .. math::
        D(i,j)=\min\{D(i-1,j-1)+\|x_i-y_j\|,\;D(i-1,j)+\|x_i-g\|,\;D(i,j-1)+\|y_j-g\|\}

    Elements that are left out are compared with the value :math:`g` instead of a neighbour, so
    that the triangle inequality holds, which dynamic time warping lacks (edit distance with real
    penalty [ChenNg2004]_).

    Parameters
    ----------
    X, Z : collections of series
        As in :func:`dtw_matrix`.
    gap : float or array of shape (channels,), default=0.0
        The value :math:`g`; 0 suits series of mean zero.
    window : None, int, float, SakoeChiba or Itakura, default=None
        Which elements may meet, as in :func:`dtw`: less time, and no longer a metric.
    n_jobs : int or None, default=None

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from isthmus.series import alignment_matrix
    >>> alignment_matrix([[1.0, 2.0, 3.0], [1.0, 3.0]])
    array([[0., 2.],
           [2., 0.]])
    """
    from isthmus.series.alignment_loops import SERIES

    left, right = pack_both(X, Z, owner="alignment_matrix")
    n_channels = left.values.shape[1]
    level = np.broadcast_to(np.asarray(gap, dtype=np.float64), (n_channels,)).copy()
    if not np.isfinite(level).all():
        raise ValueError(
            f"The 'gap' parameter of alignment_matrix must be finite. Got {gap!r} instead."
        )
    code = window_code(window)
    check_feasible(code, left.lengths, right.lengths, owner="alignment_matrix")
    return _matrix(SERIES, left, right, n_jobs, level=level, window=code)


def edit_matrix(
    X: Objects,
    Z: Objects = None,
    *,
    mismatch: float = 1.0,
    gap: float = 1.0,
    alphabet: Sequence[Hashable] | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Weighted edit distances of sequences: substitutions, insertions and deletions.

    A metric for positive weights.

    Parameters
    ----------
    X, Z : collections of sequences
        Strings, lists of symbols or arrays of integers.
    mismatch, gap : float, default=1.0
        Costs of a substitution and of a symbol left out.
    alphabet : sequence of symbols or None, default=None
        Where given, a symbol outside of it is an error.
    n_jobs : int or None, default=None

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from isthmus.series import edit_matrix
    >>> edit_matrix(["kitten"], ["sitting", "kitten"])
    array([[3., 0.]])
    """
    from isthmus.series.alignment_loops import EDITS

    for name, value in (("mismatch", mismatch), ("gap", gap)):
        check_float(value, name, "edit_matrix", include_low=False)
    left, right = _codes(X, Z, "edit_matrix", alphabet)
    return _matrix(EDITS, left, right, n_jobs, costs=(0.0, float(mismatch), float(gap)))


def local_alignment_matrix(
    X: Objects,
    Z: Objects = None,
    *,
    match: float = 2.0,
    mismatch: float = 1.0,
    gap: float = 1.0,
    alphabet: Sequence[Hashable] | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Scores of the best local alignments of sequences [SmithWaterman1981]_.

    The score of the two pieces that agree best: matches count ``match``, substitutions
    ``-mismatch``, symbols left out ``-gap``. A similarity, but no kernel: see
    :class:`~isthmus.kernels.SpectrumRepair`. Parameters are as in :func:`edit_matrix`.

    Examples
    --------
    >>> from isthmus.series import local_alignment_matrix
    >>> local_alignment_matrix(["xxharborxx"], ["a harbour", "zzz"])
    array([[11.,  0.]])
    """
    from isthmus.series.alignment_loops import PIECES

    for name, value in (("match", match), ("mismatch", mismatch), ("gap", gap)):
        check_float(value, name, "local_alignment_matrix", include_low=False)
    left, right = _codes(X, Z, "local_alignment_matrix", alphabet)
    costs = (float(match), float(mismatch), float(gap))
    return _matrix(PIECES, left, right, n_jobs, costs=costs)


def _codes(
    X: Objects, Z: Objects, owner: str, alphabet: Sequence[Hashable] | None
) -> tuple[Packed, Packed]:
    codes = SymbolCodes(owner, alphabet)
    left = codes.pack(X)
    return left, left if Z is None or Z is X else codes.pack(Z, "Z")


def _matrix(
    kind: int,
    left: Packed,
    right: Packed,
    n_jobs: int | None,
    *,
    level: Array | None = None,
    costs: tuple[float, float, float] = (0.0, 0.0, 0.0),
    window: tuple[int, float] = (NO_WINDOW, 0.0),
) -> Array:
    from isthmus.series.alignment_loops import pair_values
    from isthmus.series.elastic_loops import gap_pairs

    reference = np.zeros(1) if level is None else level
    longest = int(max(left.lengths.max(), right.lengths.max()))

    def compute(first: IntArray, second: IntArray) -> Array:
        out = np.empty(len(first))
        if level is not None and window[0] == NO_WINDOW:  # many pairs side by side
            lanes = n_lanes(len(first))
            gap_pairs(left.parts, right.parts, first, second, level, longest, lanes, out)
            return out
        pair_values(kind, left.parts, right.parts, first, second, reference, costs, window, out)
        return out

    z_lengths = None if left is right else right.lengths
    return pair_matrix(left.lengths, z_lengths, compute, n_jobs=n_jobs)
