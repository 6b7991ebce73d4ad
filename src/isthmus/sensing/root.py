r"""Basis pursuit with noise by few exact Lasso problems instead of a whole path.

The residual of :math:`\min_x\frac12\|b-Ax\|^2+\lambda\|x\|_1` grows with :math:`\lambda`, and the
problem asks for the :math:`\lambda` at which it is :math:`\epsilon`. While the support S and its
signs s stay, :math:`x_S=(A_S^\top A_S)^{-1}(A_S^\top b-\lambda s)` and

.. math:: \|b-Ax\|^2=\|b-P_Sb\|^2+\lambda^2\,s^\top(A_S^\top A_S)^{-1}s ,

so that each problem solved gives the next :math:`\lambda` exactly, up to changes of the support.
A path makes a step for every entry that joins or leaves, each with a product by the whole matrix.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from isthmus._progress import ProgressLine
from isthmus.sparse.l1.feature_sign import sign_search
from isthmus.typing import Array

_MAX_PROBLEMS = 60
_SAME = 1e-13  # relative change of lambda at which the support has settled


def noise_root(
    A: Array, b: Array, noise: float, *, verbose: int = 0
) -> tuple[Array, Array, int, bool]:
    r"""Solve for :math:`\|b-Ax\|=\epsilon>0`.

    Returns the solution, a dual vector, the number of Lasso problems and whether the root was
    found.

    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> x, y, n_problems, reached = noise_root(A, np.array([1.0, 1.0]), 0.1)
    >>> reached, bool(abs(np.linalg.norm(A @ x - 1.0) - 0.1) < 1e-12)
    (True, True)
    """
    atoms = np.ascontiguousarray(A.T)
    largest = float(np.abs(atoms @ b).max())
    low, high = 0.0, largest
    lam = largest * noise / float(np.linalg.norm(b))
    x = np.zeros((1, len(atoms)))
    residual, n_problems = b, 0
    with ProgressLine("basis pursuit", verbose=verbose) as line:
        while n_problems < _MAX_PROBLEMS:
            n_problems += 1
            _, finished = sign_search(b[None], atoms, lam, x)
            support = np.flatnonzero(x[0])
            if not finished[0] or not len(support):
                break
            columns, signs = atoms[support], np.sign(x[0, support])
            residual = b - x[0, support] @ columns
            r = float(np.linalg.norm(residual))
            line.update(problem=n_problems, support=len(support), residual=r)
            low, high = (low, lam) if r > noise else (lam, high)
            try:
                factor = cho_factor(columns @ columns.T)
            except np.linalg.LinAlgError:  # dependent columns: not one solution but many
                break
            least, slope = cho_solve(factor, np.stack([columns @ b, signs], axis=1)).T
            rest = b - least @ columns
            square = (noise**2 - float(rest @ rest)) / float(signs @ slope)
            # A support too small for any lambda: as if the residual were proportional to it.
            wanted = np.sqrt(square) if square > 0 else lam * min(noise / r, 0.3)
            if abs(wanted - lam) <= _SAME * largest:
                return x[0], residual / lam, n_problems, True
            lam = wanted if low < wanted < high else (low + high) / 2
            # Along the same support the next solution is known: begin there.
            ahead = least - lam * slope
            x[0, support] = np.where(ahead * signs > 0, ahead, 0.0)
    return x[0], residual / lam, n_problems, False
