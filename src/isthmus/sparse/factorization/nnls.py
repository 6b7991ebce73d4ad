"""Non-negative and simplex-constrained least squares for many right-hand sides, exactly."""

from typing import Any

import numpy as np

from isthmus._checks import LARGEST
from isthmus._door import with_door
from isthmus.typing import Array

__all__ = ["nonnegative_least_squares", "simplex_least_squares"]


@with_door
def nonnegative_least_squares(X: Any, D: Any, *, l1: float = 0.0, l2: float = 0.0) -> Array:
    r"""Return the non-negative codes of rows in a dictionary.

    .. math:: \min_{C\ge0}\ \tfrac12\|X-CD\|_F^2
              +\lambda_1\sum_{ij}C_{ij}+\tfrac{\lambda_2}2\|C\|_F^2

    Every row is solved exactly, by block principal pivoting [KimPark2011]_ on the normal
    equations, compiled; O(n·d·k) for the products and O(k³) a pivot for each row.
    With dependent atoms a solution with few of them is returned.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    D : array of shape (n_atoms, n_features)
        Atoms are rows.
    l1, l2 : float, default=0.0
        Weights of the two penalties.

    Returns
    -------
    array of shape (n_samples, n_atoms)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import nonnegative_least_squares
    >>> nonnegative_least_squares([[2.0, -1.0], [3.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]])
    array([[2., 0.],
           [2., 1.]])
    """
    X, D = _check_rows("nonnegative_least_squares", X, D)
    return cone_codes(X, D, l1=l1, l2=l2)


def cone_codes(X: Array, D: Array, *, l1: float = 0.0, l2: float = 0.0) -> Array:
    """:func:`nonnegative_least_squares` of rows that have been checked."""
    from isthmus.sparse.factorization.nnls_loops import solve_rows

    G = D @ D.T
    G.flat[:: len(G) + 1] += l2
    B = X @ D.T - l1
    # Started from the atoms that point towards the row.
    C = np.maximum(B, 0.0)
    solve_rows(C, B, G)
    return C


@with_door
def simplex_least_squares(X: Any, D: Any) -> Array:
    r"""Return the weights of the points of a convex hull that are next to given rows.

    .. math:: \min_C\ \|X-CD\|_F^2\quad\text{subject to}\quad C\ge0,\ \sum_jC_{ij}=1

    Every row is solved exactly: the point of a hull next to :math:`x` is a non-negative least
    squares problem in the differences :math:`d_j-x` with one more coordinate.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    D : array of shape (n_atoms, n_features)
        The corners.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse import simplex_least_squares
    >>> simplex_least_squares([[0.5, 0.25], [2.0, 2.0]], [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    array([[0.25, 0.5 , 0.25],
           [0.  , 0.5 , 0.5 ]])
    """
    return simplex_codes(*_check_rows("simplex_least_squares", X, D))


def simplex_codes(X: Array, D: Array) -> Array:
    """:func:`simplex_least_squares` of rows that have been checked."""
    from isthmus.sparse.factorization.nnls_loops import solve_simplex_rows

    # About the mean of the corners no digits are lost to a common offset.
    middle = D.mean(axis=0)
    X, D = X - middle, D - middle
    C = np.zeros((len(X), len(D)))
    distances = np.einsum("ij,ij->i", D, D) - 2 * X @ D.T
    C[np.arange(len(X)), distances.argmin(axis=1)] = 1.0
    solve_simplex_rows(C, X @ D.T, D @ D.T, np.einsum("ij,ij->i", X, X))
    return C


def _check_rows(owner: str, X: Any, D: Any) -> tuple[Array, Array]:
    X, D = (np.asarray(a, dtype=np.float64) for a in (X, D))
    if X.ndim != 2 or D.ndim != 2 or X.shape[1] != D.shape[1] or not len(D):
        raise ValueError(
            f"{owner} needs X and D with the same number of columns. "
            f"Got X.shape={X.shape} and D.shape={D.shape}."
        )
    if not (np.isfinite(X).all() and np.isfinite(D).all()):
        raise ValueError(f"{owner} needs finite numbers. Got NaN or infinity.")
    for name, values in (("X", X), ("D", D)):
        peak = float(np.abs(values).max(initial=0.0))
        if peak > LARGEST or 0 < peak < 1 / LARGEST:
            raise ValueError(
                f"{owner} needs numbers of magnitude {1 / LARGEST:g} to {LARGEST:g} in {name}: "
                f"their products overflow or vanish. Got {peak:.3g} as the largest; rescale them."
            )
    return X, D
