"""Atoms without negative entries that fit given codes best."""

import numpy as np

from isthmus.sparse.dictionary.lagrange_dual import CodeMoments
from isthmus.typing import Array


def positive_dictionary(
    moments: CodeMoments, D: Array, *, tol: float = 1e-9, max_iter: int = 1000
) -> Array:
    r"""Coordinate descent over atoms :math:`d_j\ge0`, :math:`\|d_j\|\le1` from ``D``.

    With the other atoms fixed the best atom is the nearest one of that set to
    :math:`d_j+(C^\top X-C^\top CD)_j/(C^\top C)_{jj}`: negative entries cut, then shortened. Each
    step lowers the error, and the limit is the optimum, since the problem is convex and its
    constraints separate. Atoms that no code uses stay. ``tol`` is the largest change of an entry.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.sparse.dictionary.lagrange_dual import map_codes
    >>> moments = map_codes(np.array([[3.0, -4.0], [0.0, 0.5]]), np.eye(2))
    >>> positive_dictionary(moments, np.full((2, 2), 0.5))
    array([[1. , 0. ],
           [0. , 0.5]])
    """
    D, diagonal = D.copy(), np.diagonal(moments.gram)
    for _ in range(max_iter):
        change = 0.0
        for j in np.flatnonzero(diagonal > 0):
            atom = D[j] + (moments.cross[j] - moments.gram[j] @ D) / diagonal[j]
            atom = np.maximum(atom, 0.0)
            atom /= max(1.0, float(np.linalg.norm(atom)))
            change = max(change, float(np.abs(atom - D[j]).max()))
            D[j] = atom
        if change <= tol:
            break
    return D
