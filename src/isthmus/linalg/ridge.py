"""Ridge problems in a Gram matrix: one penalty by Cholesky, all by one spectrum."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from isthmus.linalg.products import inner_products, product
from isthmus.linalg.spectrum import refuse_negative
from isthmus.linalg.tridiagonal import LEAST_ROWS, TridiagonalPath
from isthmus.typing import Array, IntArray


def solve_positive(A: Array, B: Array, *, overwrite: bool = False) -> Array:
    """Solve ``A X = B`` for a symmetric positive semi-definite ``A``.

    Cholesky, and least squares through the spectrum where ``A`` is singular to working
    precision. With ``overwrite``, ``A`` is used as work space: nothing of its size is allocated.

    >>> import numpy as np
    >>> solve_positive(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([[2.0], [0.0]]))
    array([[1.],
           [0.]])
    """
    return PositiveFactor(A, overwrite=overwrite).solve(B)


class PositiveFactor:
    """A symmetric positive semi-definite matrix, factored once to solve many systems.

    >>> import numpy as np
    >>> PositiveFactor(np.diag([2.0, 4.0])).solve(np.ones(2))
    array([0.5 , 0.25])
    """

    __module__ = "isthmus.linalg"

    def __init__(self, A: Array, *, overwrite: bool = False):
        A = np.ascontiguousarray(A) if overwrite else np.array(A, order="C")
        rounding = len(A) * float(np.finfo(A.dtype).eps)
        diagonal = A.diagonal().copy()
        self.trace = float(diagonal.sum())
        try:
            # The transpose is column-major, so LAPACK factors it in place, in one triangle.
            self._factor = linalg.cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)
            pivots = np.diagonal(self._factor[0]) ** 2
            singular = bool(pivots.min() <= rounding * pivots.max())
        except linalg.LinAlgError:
            singular = True
        self._spectrum: tuple[Array, Array] | None = None
        if not singular:
            return
        # A pivot that is a rounding error passes for positive as often as not, and the solution
        # would be dominated by it. The other triangle still holds A, but for the diagonal.
        A = np.tril(A, -1)
        A += A.T
        np.fill_diagonal(A, diagonal)
        eigenvalues, U = linalg.eigh(A, check_finite=False)
        top = max(float(eigenvalues[-1]), float(np.finfo(A.dtype).tiny))
        keep = eigenvalues > rounding * top
        self._spectrum = eigenvalues[keep], U[:, keep]

    def solve(self, B: Array) -> Array:
        """The solution of ``A X = B``, the shortest one where ``A`` is singular."""
        if self._spectrum is None:
            return linalg.cho_solve(self._factor, B, check_finite=False)
        eigenvalues, U = self._spectrum
        return product(U / eigenvalues, product(U.T, B))

    @property
    def singular(self) -> bool:
        """Whether the matrix has no inverse to working precision."""
        return self._spectrum is not None

    def inverse_blocks(self, parts: Sequence[IntArray]) -> Iterator[Array]:
        r"""Blocks of the inverse, for rows and columns of each part; the factor is used up.

        With :math:`A=LL^\top` a block is :math:`(L^{-1})_{:F}^\top(L^{-1})_{:F}`: as much work as
        the factor took, and :math:`n|F|^2` for each part.

        >>> import numpy as np
        >>> next(PositiveFactor(np.diag([2.0, 4.0])).inverse_blocks([np.array([1])]))
        array([[0.25]])
        """
        if self.singular:
            raise linalg.LinAlgError("A singular matrix has no inverse.")
        trtri = lapack.get_lapack_funcs("trtri", (self._factor[0],))
        inverse, _ = trtri(self._factor[0], lower=1, overwrite_c=1)
        del self._factor
        for rows in parts:
            # Above the diagonal is what the matrix was.
            first = int(np.min(rows, initial=len(inverse)))
            columns = inverse[first:, rows]
            columns[np.arange(first, len(inverse))[:, None] < rows] = 0.0
            yield inner_products(columns)


class RidgePath:
    r"""All ridge solutions :math:`(K+\alpha I)^{-1}Y` and their leave-one-out errors.

    One eigendecomposition :math:`K = U\Lambda U^\top` gives every :math:`\alpha`:
    the coefficients are :math:`U(\Lambda+\alpha)^{-1}U^\top Y`, and leaving row :math:`i`
    out changes its residual to

    .. math:: e_i = \frac{[(K+\alpha I)^{-1}Y]_i}{[(K+\alpha I)^{-1}]_{ii}} .

    With ``intercept=True``, ``K`` and ``Y`` are centred ones; the constant that was fitted
    besides has leverage :math:`1/n`, and :math:`e_i = r_i / (1 - 1/n - h_i)`. With
    ``overwrite=True`` the squares of the eigenvectors take the place of ``K``.
    """

    __module__ = "isthmus.linalg"

    def __init__(self, K: Array, Y: Array, *, intercept: bool, overwrite: bool = False):
        A = K.T if K.flags.c_contiguous else K  # LAPACK overwrites columns
        self.eigenvalues, self.U = linalg.eigh(A, check_finite=False, overwrite_a=overwrite)
        refuse_negative(self.eigenvalues)
        np.maximum(self.eigenvalues, 0, out=self.eigenvalues)
        self.UtY = product(self.U.T, Y)
        # Of the inverse the constant is taken out before it is formed: its share 1/(nα) would
        # hide all others where the penalty is small.
        mean = self.U.mean(axis=0) if intercept else 0.0
        squared = np.subtract(self.U, mean, out=A if overwrite else None)
        self.U_squared = np.square(squared, out=squared)
        self.intercept = intercept

    @property
    def smallest_penalty(self) -> float:
        """Penalty below which rounding errors of ``K`` decide the coefficients."""
        return float(np.finfo(self.U.dtype).eps) * float(self.eigenvalues[-1])

    def coefficients(self, alpha: float) -> Array:
        """Dual coefficients for one penalty, shape (n, n_outputs)."""
        return product(self.U, self.UtY / (self.eigenvalues + alpha)[:, None])

    def squared_norm(self, alpha: float) -> float:
        """Sum of the squares of all dual coefficients."""
        return float(np.sum((self.UtY / (self.eigenvalues + alpha)[:, None]) ** 2))

    def loo_residuals(self, alpha: float) -> Array:
        """Residual of each row when it is left out of the fit."""
        # r = α c and 1 - h = α [(K+αI)⁻¹]ᵢᵢ, of which an intercept takes 1/n.
        inverse_diagonal = product(self.U_squared, 1 / (self.eigenvalues + alpha))
        floor = np.finfo(self.U.dtype).eps / alpha
        c = self.coefficients(alpha)
        if self.intercept:
            c -= c.mean(axis=0)  # the outputs are centred but for rounding, which α divides
        return c / np.maximum(inverse_diagonal, floor)[:, None]

    def left_out(self, alphas: Sequence[float]) -> Iterator[tuple[float, Array, float]]:
        """Penalties, residuals of the rows left out, sums of squares of all dual coefficients."""
        for alpha in alphas:
            yield alpha, self.loo_residuals(alpha), self.squared_norm(alpha)


class FeaturePath:
    r"""The same of rows ``Z`` of features, for :math:`K=ZZ^\top`: O(np²), and no matrix of n rows.

    Fitted values and leverages are sums over the axes of the features, along which row i has the
    coordinate :math:`q_{ij}`: :math:`h_i=\sum_jq_{ij}^2/(\lambda_j+\alpha)`.
    """

    __module__ = "isthmus.linalg"

    def __init__(self, Z: Array, Y: Array, *, intercept: bool):
        eigenvalues, V = linalg.eigh(inner_products(Z), check_finite=False)
        self.eigenvalues = np.maximum(eigenvalues, 0.0)
        self.Q, self.Y = product(Z, V), Y
        self.Q_squared, self.QtY = np.square(self.Q), product(self.Q.T, Y)
        self.constant = 1 / len(Z) if intercept else 0.0

    @property
    def smallest_penalty(self) -> float:
        """Penalty below which rounding errors decide the coefficients."""
        return float(np.finfo(self.Q.dtype).eps) * float(self.eigenvalues[-1])

    def left_out(self, alphas: Sequence[float]) -> Iterator[tuple[float, Array, float]]:
        """Penalties, residuals of the rows left out, sums of squares of all dual coefficients."""
        for alpha in alphas:
            shrink = 1 / (self.eigenvalues + alpha)
            residuals = self.Y - product(self.Q, shrink[:, None] * self.QtY)
            squared_norm = float(np.sum((residuals / alpha) ** 2))
            kept = 1 - self.constant - product(self.Q_squared, shrink)
            residuals /= np.maximum(kept, np.finfo(self.Q.dtype).eps)[:, None]
            yield alpha, residuals, squared_norm


def left_out_path(
    K: Array, Y: Array, *, intercept: bool, overwrite: bool = False
) -> "RidgePath | TridiagonalPath":
    """The path whose leave-one-out errors are had for less, by the number of rows."""
    tridiagonal = len(K) >= LEAST_ROWS and K.dtype == Y.dtype == np.float64
    make: Any = TridiagonalPath if tridiagonal else RidgePath
    found: RidgePath | TridiagonalPath = make(K, Y, intercept=intercept, overwrite=overwrite)
    return found
