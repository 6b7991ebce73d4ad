"""Ridge problems in a Gram matrix without its spectrum: all penalties by a tridiagonal form."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

from isthmus.linalg.products import product
from isthmus.linalg.reflections import multiply_reflections
from isthmus.linalg.spectrum import refuse_negative
from isthmus.linalg.unlocked import tridiagonal_form
from isthmus.typing import Array

# Rows from which it pays, and columns of solutions that are formed at a time.
LEAST_ROWS, MOST_COLUMNS = 64, 256


class TridiagonalPath:
    r"""The leave-one-out errors of :class:`RidgePath`, for about half of its work.

    With :math:`K=QTQ^\top`, T tridiagonal, both the coefficients :math:`Q(T+\alpha)^{-1}Q^\top Y`
    and the diagonal of :math:`Q(T+\alpha)^{-1}Q^\top` take O(n²) for a penalty; neither the
    spectrum of T nor its eigenvectors, the other half of an eigendecomposition, are needed. With
    ``overwrite=True`` Q takes the place of ``K``, and there is no other matrix of that size.

    >>> import numpy as np
    >>> path = TridiagonalPath(np.eye(3), np.ones((3, 1)), intercept=False)
    >>> [residuals.ravel().tolist() for _, residuals, _ in path.left_out([1.0])]
    [[1.0, 1.0, 1.0]]
    """

    def __init__(self, K: Array, Y: Array, *, intercept: bool, overwrite: bool = False):
        A = K.T if K.flags.c_contiguous else np.asfortranarray(K)  # LAPACK overwrites columns
        n, self._shift = len(A), 0.0
        if intercept:
            # The constant has no length in a centred matrix, so its share 1/(nα) would hide all
            # others in the inverse: it gets the mean one.
            self._shift = float(np.trace(A)) / n
            A = np.add(A, self._shift / n, out=A if overwrite else None)
            overwrite = True
        self.Q = A if overwrite else np.array(A, order="F")
        self._diagonal, self._beside, scales = tridiagonal_form(self.Q)
        ends = [_eigenvalue(self._diagonal, self._beside, i) for i in (0, n - 1)]
        refuse_negative(np.array(ends))
        self.largest = max(ends[1], 0.0)
        multiply_reflections(self.Q, scales)
        self._rotated = np.ascontiguousarray(product(self.Q.T, Y))
        self.intercept = intercept

    @property
    def smallest_penalty(self) -> float:
        """Penalty below which rounding errors of ``K`` decide the coefficients."""
        return float(np.finfo(np.float64).eps) * self.largest

    def left_out(self, alphas: Sequence[float]) -> Iterator[tuple[float, Array, float]]:
        """Penalties, residuals of the rows left out, sums of squares of all dual coefficients."""
        from isthmus.linalg import tridiagonal_loops as loops

        q = self._rotated.shape[1]
        at_a_time = max(1, MOST_COLUMNS // max(q, 1))
        for start in range(0, len(alphas), at_a_time):
            part = np.array(alphas[start : start + at_a_time], dtype=np.float64)
            steps, shares = (np.empty((len(part), len(self.Q))) for _ in range(2))
            loops.factor(self._diagonal, self._beside, part, steps, shares)
            inner = np.empty((len(self.Q), len(part) * q))
            loops.solve(steps, shares, self._rotated, inner)
            diagonals = np.empty_like(steps)
            loops.inverse_diagonals(self.Q.T, steps, shares, diagonals)
            found = product(self.Q, inner).reshape(len(self.Q), len(part), q)
            found /= self._left(diagonals, part[:, None]).T[:, :, None]
            squares = np.einsum("ij,ij->j", inner, inner).reshape(len(part), q).sum(axis=1)
            for i, alpha in enumerate(part.tolist()):
                yield alpha, found[:, i], float(squares[i])

    def _left(self, inverse_diagonals: Array, alphas: Array) -> Array:
        """What is left of a residual beside the row's own share, over the penalties."""
        if self.intercept:
            inverse_diagonals = inverse_diagonals - 1 / (len(self.Q) * (self._shift + alphas))
        return np.maximum(inverse_diagonals, np.finfo(np.float64).eps / alphas)


def _eigenvalue(diagonal: Array, beside: Array, i: int) -> float:
    """One of a tridiagonal matrix, by bisection."""
    if len(diagonal) == 1:
        return float(diagonal[0])
    found = linalg.eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(i, i))
    return float(found[0])
