r"""Dictionaries of bounded atoms by the Lagrange dual, and the sums they are made from.

.. math:: \min_D\tfrac12\|X-CD\|_F^2\quad\text{subject to}\quad\|d_j\|^2\le1

needs of signals and codes only the sums :math:`C^\top C`, :math:`C^\top X` and :math:`\|X\|^2`.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from isthmus.typing import Array


class CodeMoments(NamedTuple):
    """Sums over signals and their codes, from which a dictionary is made."""

    count: float  # type: ignore[assignment]  # shadows tuple.count, which nobody needs
    squares: float
    gram: Array
    cross: Array


def map_codes(X: Array, codes: Array) -> CodeMoments:
    """Sums over one block of signals.

    >>> import numpy as np
    >>> map_codes(np.array([[3.0, 4.0]]), np.array([[2.0]])).cross
    array([[6., 8.]])
    """
    return CodeMoments(len(X), float(np.vdot(X, X)), codes.T @ codes, codes.T @ X)


def merge_codes(a: CodeMoments, b: CodeMoments, *, keep: float = 1.0) -> CodeMoments:
    """Sums over two blocks, the first counting only ``keep`` as much."""
    return CodeMoments(
        keep * a.count + b.count,
        keep * a.squares + b.squares,
        keep * a.gram + b.gram,
        keep * a.cross + b.cross,
    )


class DualStep(NamedTuple):
    """A dictionary, the multipliers that prove it, and by how much it may miss the optimum."""

    dictionary: Array
    multipliers: Array
    gap: float
    n_iter: int


def fit_error(moments: CodeMoments, D: Array) -> float:
    r"""Half the squared error of a dictionary, :math:`\frac12\|X-CD\|_F^2`, from the sums."""
    explained = np.vdot(D, 2 * moments.cross - moments.gram @ D)
    return 0.5 * float(moments.squares - explained)


def dual_value(moments: CodeMoments, multipliers: Array) -> tuple[float, Array, Array]:
    r"""Dual function, its gradient and its Hessian at non-negative multipliers.

    With :math:`S=C^\top C+\Lambda` and :math:`D=S^{-1}C^\top X`

    .. math:: q(\lambda)=\tfrac12\big(\|X\|^2-\langle C^\top X,D\rangle-\sum_j\lambda_j\big),\quad
              \frac{\partial q}{\partial\lambda_j}=\tfrac12(\|d_j\|^2-1),\quad
              \nabla^2q=-(DD^\top)\circ S^{-1}.
    """
    value, D, inverse = _dual_parts(moments, multipliers)
    slope = 0.5 * (np.einsum("ij,ij->i", D, D) - 1.0)
    return value, slope, -(D @ D.T) * inverse


def dual_dictionary(
    moments: CodeMoments,
    *,
    start: Array | None = None,
    tol: float = 1e-9,
    max_iter: int = 50,
) -> DualStep:
    r"""Atoms of length at most one that fit given codes best.

    The dual [Lee2007]_ has one unknown for each atom and is concave; it is climbed by Newton's
    method. Since lengths fall about like :math:`1/\lambda_j`, the system is solved for
    :math:`1/\|d_j\|=1`, which is nearly linear, and for the gradient itself only where that does
    not climb. The duality gap of the atoms, cut to length one, ends the search.

    Parameters
    ----------
    moments : CodeMoments
        Every atom must be in use: a positive diagonal of ``gram``.
    start : ndarray of shape (n_atoms,), optional
        Multipliers of an earlier step.
    tol : float
        Duality gap at which to end, relative to half the squared signals.
    max_iter : int

    Returns
    -------
    DualStep

    Examples
    --------
    >>> import numpy as np
    >>> step = dual_dictionary(map_codes(np.array([[3.0, 4.0], [0.0, 1.0]]), np.eye(2)))
    >>> step.dictionary.round(6), step.multipliers.round(6)
    (array([[0.6, 0.8],
           [0. , 1. ]]), array([4., 0.]))
    """
    diagonal = np.diagonal(moments.gram)
    # A floor keeps the system regular where codes are dependent; any multiplier proves a bound.
    floor = 1e-12 * float(diagonal.mean())
    lam = np.maximum(diagonal * 0.1 if start is None else start, floor)
    value, D, inverse = _dual_parts(moments, lam)
    best = DualStep(_cut(D), lam, np.inf, 0)
    for n_iter in range(max_iter + 1):
        dictionary = _cut(D)
        gap = fit_error(moments, dictionary) - value
        if gap < best.gap:
            best = DualStep(dictionary, lam, gap, n_iter)
        if gap <= tol * 0.5 * moments.squares or n_iter == max_iter:
            break
        squares = np.einsum("ij,ij->i", D, D)
        slope = 0.5 * (squares - 1.0)
        free = (lam > floor) | (slope > 0)
        curvature = ((D @ D.T) * inverse)[np.ix_(free, free)]
        # A trace of ridge: atoms of zero length have no curvature.
        curvature[np.diag_indices_from(curvature)] += 1e-12 * np.trace(curvature) + 1e-300
        factor = linalg.cho_factor(curvature, check_finite=False)
        lengths = np.sqrt(squares[free])
        for wanted in (squares[free] * (lengths - 1.0), slope[free]):
            direction = np.zeros_like(lam)
            direction[free] = linalg.cho_solve(factor, wanted, check_finite=False)
            found = _climb(moments, lam, value, slope, direction, floor)
            if found is not None:
                break
        if found is None:
            break
        lam, value, D, inverse = found
    return best


def _dual_parts(moments: CodeMoments, lam: Array) -> tuple[float, Array, Array]:
    """Value of the dual, the atoms that belong to it, and the inverse of C'C + Λ."""
    S = moments.gram.copy()
    S[np.diag_indices_from(S)] += lam
    # SciPy's functions for this copy three times, and solve for the inverse in thrice the time.
    factor, failed = linalg.lapack.dpotrf(S.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise linalg.LinAlgError("C'C + Λ is not positive definite.")
    D = linalg.lapack.dpotrs(factor, moments.cross, lower=1)[0]
    inverse = np.tril(linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)[0])
    inverse += np.tril(inverse, -1).T
    value = 0.5 * float(moments.squares - np.vdot(moments.cross, D) - lam.sum())
    return value, D, inverse


def _climb(
    moments: CodeMoments, lam: Array, value: float, slope: Array, direction: Array, floor: float
) -> tuple[Array, float, Array, Array] | None:
    """The longest of some halved steps that climbs; None where none does."""
    for step in 0.5 ** np.arange(12):
        trial = np.maximum(lam + step * direction, floor)
        expected = float(slope @ (trial - lam))
        if expected <= 0:
            return None
        new, D, inverse = _dual_parts(moments, trial)
        if new >= value + 1e-4 * expected:
            return trial, new, D, inverse
    return None


def _cut(D: Array) -> Array:
    """Atoms longer than one cut to length one."""
    return D / np.maximum(1.0, np.linalg.norm(D, axis=1))[:, None]
