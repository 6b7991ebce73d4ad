"""Whether a matrix can be the Gram matrix of a kernel: symmetric and positive semi-definite.

Both facts are tested in time that does not matter beside what follows: symmetry tile by tile, and
definiteness on at most :data:`EXAMINED` rows. By interlacing, a principal submatrix with a negative
eigenvalue proves that the whole has one. Callers that have the whole spectrum test it too, see
:func:`isthmus.linalg.spectrum.refuse_negative`.
"""

from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from isthmus.blocks.slices import block_slices
from isthmus.kernels.objects import n_objects, take
from isthmus.linalg.spectrum import indefinite_tolerance, name_of_matrix, refuse_negative
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array, Objects

#: Differences across the diagonal up to this share of the largest entry are rounding errors.
ASYMMETRY = 1e-10
#: Rows whose Gram matrix is searched for negative eigenvalues.
EXAMINED = 400
# Rows and columns of a tile: two of them fit in the fast memory of a processor.
TILE = 256


def check_gram(K: Array, owner: Any = None, *, overwrite: bool = True, exact: bool = True) -> Array:
    r"""Return ``K``, made symmetric, or raise what keeps it from being a Gram matrix.

    Refused are entries that are not finite, differences :math:`|K_{ij}-K_{ji}|` above ``1e-10`` of
    the largest entry (in single precision above its rounding errors), and an eigenvalue below
    ``-1e-6`` of the largest on at most 400 rows, spread over all.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    owner : object or str, optional
        Whose matrix it is, for the message.
    overwrite : bool, default=True
        Whether rounding errors of the symmetry may be removed in ``K`` itself; a matrix that is
        symmetric already is returned as it is.
    exact : bool, default=True
        Unless, the two halves may differ by rounding errors, and ``K`` is never copied.

    Examples
    --------
    >>> import numpy as np
    >>> check_gram(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> check_gram(np.array([[0.0, 2.0], [2.0, 0.0]]), "KernelPCA")
    Traceback (most recent call last):
    ValueError: The kernel matrix of KernelPCA is not positive semi-definite...
    """
    K = symmetric(K, owner, overwrite=overwrite, exact=exact)
    refuse_indefinite(K, owner)
    return K


def checked_gram(
    kernel: Any, X: Objects, objects: Objects, owner: Any = None, *, exact: bool = True
) -> Array:
    """Gram matrix of ``X`` with itself, ``objects`` to the kernel; tested where nothing is proven.

    Unless ``exact``, the two halves of a proven one may differ by rounding errors.

    >>> import numpy as np
    >>> from isthmus.kernels import Gaussian
    >>> X = np.eye(2)
    >>> checked_gram(Gaussian(0.5), X, X).shape
    (2, 2)
    """
    K = kernel.gram(X, objects)
    # A stranger's kernel claims nothing.
    if not getattr(kernel, "certain", False):
        return check_gram(K, owner)
    # The mean of a number and itself is that number: a pass over the matrix for nothing.
    mirrored = X is objects and kernel.mirrors(X)
    return _with_equal_halves(K) if exact and not mirrored else K


def symmetric(K: Array, owner: Any = None, *, overwrite: bool = True, exact: bool = True) -> Array:
    """``K`` with equal entries across the diagonal, where they differ by rounding errors only."""
    peak = max(float(K.max(initial=0.0)), -float(K.min(initial=0.0)))
    if not np.isfinite(peak):
        row, column = np.argwhere(~np.isfinite(K))[0]
        raise ValueError(
            f"{name_of_matrix(owner)} is not finite: {K[row, column]} in row {row}, column "
            f"{column}. The kernel has no value there, or its inputs are too large."
        )
    gap = _asymmetry(K)
    if gap > max(ASYMMETRY, 1000 * float(np.finfo(K.dtype).eps)) * peak:
        raise ValueError(
            f"{name_of_matrix(owner)} is not symmetric: entries differ by up to {gap:.3g} from "
            f"those across the diagonal, where the largest is {peak:.3g}. Symmetrise the "
            "similarity, (K + K.T) / 2."
        )
    if gap == 0 or not exact:
        return K
    return _with_equal_halves(K if overwrite and K.flags.writeable else K.copy())


def _with_equal_halves(K: Array) -> Array:
    """The mean of both halves, in place."""
    for rows in block_slices(len(K), 1, block_size=TILE):
        for columns in block_slices(rows.stop, 1, block_size=TILE):
            mean = (K[rows, columns] + K[columns, rows].T) / 2
            K[rows, columns], K[columns, rows] = mean, mean.T
    return K


def _asymmetry(K: Array) -> float:
    return max(
        float(np.abs(K[rows, columns] - K[columns, rows].T).max())
        for rows in block_slices(len(K), 1, block_size=TILE)
        for columns in block_slices(rows.stop, 1, block_size=TILE)
    )


def refuse_indefinite(K: Array, owner: Any = None) -> None:
    r"""Refuse a symmetric ``K`` that has clearly negative eigenvalues on some of its rows.

    One Cholesky factorisation of :math:`K+\varepsilon\lambda I` decides nearly always, where
    :math:`\lambda` is a lower bound of the largest eigenvalue; if it fails, the spectrum tells.
    """
    some = spread(len(K))
    # A copy, of which the transpose is factorised in place: equal halves, and no second copy.
    A = np.asarray(K[np.ix_(some, some)], dtype=np.float64, order="C")
    largest = max(float(A.diagonal().max()), float(A.sum()) / len(A), np.finfo(np.float64).tiny)
    A.flat[:: len(A) + 1] += indefinite_tolerance(K.dtype) * largest
    # On a busy machine a second thread would wait for its processor longer than the work takes.
    with threads_for(len(A) ** 3 / 3):
        failed = lapack.dpotrf(A.T, lower=1, clean=0, overwrite_a=1)[1]
    if failed:
        A = np.array(K[np.ix_(some, some)], dtype=np.float64)
        values = linalg.eigvalsh(A, check_finite=False, overwrite_a=True)
        refuse_negative(values, owner, rtol=indefinite_tolerance(K.dtype))


def check_sample(kernel: Any, X: Objects, owner: Any = None) -> None:
    """Test the Gram matrix of some objects, for those who never form the whole."""
    if getattr(kernel, "certain", False):
        return
    some = spread(n_objects(X))
    objects = kernel.reference(X, some)
    # One set of objects where it can be: kernels then make equal halves.
    K = kernel.gram(take(X, some) if getattr(kernel, "pairwise", False) else objects, objects)
    check_gram(np.array(K), owner)


def spread(n: int) -> Array:
    """At most :data:`EXAMINED` of ``n`` rows, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, EXAMINED)).astype(int))
