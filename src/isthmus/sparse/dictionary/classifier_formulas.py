r"""Dictionaries that compete for signals, as functions on arrays.

With :math:`R_c(x)=\min_a\|x-aD_c\|^2` over codes with few non-zeros, training seeks

.. math:: \min\sum_i R_{y_i}(x_i)+\log\sum_c\exp\bigl(-\lambda(R_c(x_i)-R_{y_i}(x_i))\bigr):

signals near to the dictionary of their class, and nearer to it than to the others. At
:math:`\lambda=0` it is reconstruction alone.
"""

import numpy as np
from scipy.special import logsumexp, softmax

from isthmus.sparse.dictionary.ksvd.formulas import SparseCodes, pursue_codes
from isthmus.sparse.pursuit.matching import as_sparse
from isthmus.typing import Array, IntArray


def class_codes(
    X: Array, dictionaries: list[Array], n_nonzero: int, n_jobs: int | None
) -> list[SparseCodes]:
    """Codes of all signals over the dictionary of each class."""
    goals = np.zeros(len(X))
    return [pursue_codes(X, D, min(n_nonzero, len(D)), goals, n_jobs=n_jobs) for D in dictionaries]


def competition(errors: Array, labels: IntArray, strength: float) -> tuple[float, Array]:
    """The objective, and its derivatives by the errors, both of shape (n_signals, n_classes).

    >>> import numpy as np
    >>> value, weights = competition(np.array([[0.2, 0.2]]), np.array([1]), strength=2.0)
    >>> weights
    array([[-1.,  2.]])
    """
    rows = np.arange(len(errors))
    own = errors[rows, labels]
    contrast = logsumexp(-strength * (errors - own[:, None]), axis=1)
    weights = -strength * softmax(-strength * errors, axis=1)
    weights[rows, labels] += 1 + strength
    return float(np.sum(own + contrast)), weights


def n_wrong(codes: list[SparseCodes], labels: IntArray) -> int:
    """Number of signals that another dictionary represents better than that of their class."""
    errors = np.column_stack([c.errors for c in codes])
    return int(np.sum(errors.argmin(axis=1) != labels))


def competition_gradient(codes: SparseCodes, weights: Array, n_atoms: int) -> Array:
    r"""Gradient of :math:`\sum_iw_iR(x_i)` by the atoms, shape (n_atoms, n_features).

    Coefficients are at their least-squares optimum, so they need not be differentiated:
    :math:`-2\sum_iw_ia_i^\top r_i`.
    """
    A = as_sparse(codes.support, codes.coef, n_atoms)
    return -2 * np.asarray(A.T @ (weights[:, None] * codes.residual))


def descent(dictionaries: list[Array], codes: list[SparseCodes], weights: Array) -> list[Array]:
    """Directions of descent on the spheres of the atoms, the longest of length one."""
    moves = []
    for D, c, w in zip(dictionaries, codes, weights.T, strict=True):
        gradient = competition_gradient(c, w, len(D))
        along = np.einsum("ij,ij->i", gradient, D)
        moves.append(along[:, None] * D - gradient)
    longest = max(float(np.linalg.norm(move, axis=1).max()) for move in moves)
    return [move / longest if longest > 0 else move for move in moves]
