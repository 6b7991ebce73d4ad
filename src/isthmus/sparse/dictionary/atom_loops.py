"""Compiled coordinate descent over the atoms of a dictionary."""

import numpy as np

from isthmus._compiled import njit


@njit(nogil=True, fastmath={"contract"})
def sweep_atoms(gram, cross, used, D, n_sweeps):
    """Improve the used rows of ``D``, of length at most one, one after another, codes fixed.

    ``gram`` is C'C and ``cross`` C'X. With the others fixed the best atom is
    d_j + (C'X - C'C D)_j / (C'C)_jj, cut to length one.
    """
    k, p = D.shape
    atom = np.empty(p)
    for sweep in range(n_sweeps * k):
        j = sweep % k
        if used[j]:
            for q in range(p):
                atom[q] = cross[j, q]
            for i in range(k):
                weight = 0.0 if i == j else gram[j, i]
                if weight != 0.0:
                    for q in range(p):
                        atom[q] -= weight * D[i, q]
            squares = 0.0
            for q in range(p):
                squares += atom[q] * atom[q]
            scale = 1.0 / max(gram[j, j], np.sqrt(squares))
            for q in range(p):
                D[j, q] = scale * atom[q]
