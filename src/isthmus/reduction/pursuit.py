r"""Approximation of an expansion by points chosen one after the other.

The points chosen so far span a subspace with an orthonormal basis :math:`q_1,\dots,q_r`, built
as in a pivoted Cholesky decomposition: row r of the basis has the values
:math:`\langle q_r,\varphi(x_i)\rangle` at all points. A step needs one column of the Gram matrix
and O(N r) operations, and no system is solved before the end, when triangular ones give the
coefficients of every model along the path.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from isthmus._checks import check_choice, check_float, check_int
from isthmus.reduction.gram import Gram, as_gram, check_coefficients
from isthmus.typing import Array, IntArray

# A point whose image is this close to the span of those chosen (as a share of its squared length)
# adds nothing but huge coefficients.
PIVOT = 1e-10

MANY = 4  # functions from which the residual is updated by a compiled loop

SELECTIONS = ("least_squares", "matching", "pivot")


class PursuitPath(NamedTuple):
    """Points in the order chosen, what each adds, and the errors of all models.

    ``triangle`` holds the chosen points in the basis, ``components`` the expansion in it (r, p).
    """

    indices: IntArray
    triangle: Array
    components: Array
    errors: Array

    def coefficients(self, n_points: int) -> Array:
        """The best coefficients over the first ``n_points`` points, (n_points, p)."""
        L = self.triangle[:n_points, :n_points]
        return linalg.solve_triangular(L.T, self.components[:n_points], lower=False)


def pursue(
    K: Any,
    A: Any,
    *,
    n_points: int,
    max_error: float = 0.0,
    select: str = "least_squares",
) -> PursuitPath:
    r"""Choose points until there are ``n_points`` of them or the error is at most ``max_error``.

    Parameters
    ----------
    K : Gram matrix of the N points, or a pair ``(kernel, objects)``.
    A : coefficients (N,) or (N, p) of p functions, approximated over the same points.
    n_points : maximum number of points.
    max_error : squared error at which to stop, as a share of the squared length of the functions.
    select : "least_squares" takes the point after which the error is smallest,
        :math:`\max_z\sum_j\langle\rho_j,\varphi(z)\rangle^2/\|\varphi(z)_\perp\|^2`;
        "matching" divides by :math:`k(z,z)` instead, as published; "pivot" takes the point
        farthest from the span, whatever the functions are.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.reduction import pursue
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> path = pursue(X @ X.T, np.ones(50), n_points=3)
    >>> len(path.indices), bool(path.errors[-1] < 1e-9)
    (3, True)
    """
    gram = as_gram(K, "pursue")
    A, _ = check_coefficients(A, len(gram), "pursue")
    check_int(n_points, "n_points", "pursue", low=1, high=len(gram), why="number of points")
    check_float(max_error, "max_error", "pursue")
    check_choice(select, "select", "pursue", SELECTIONS)
    return _pursue(gram, A, n_points, max_error, select)


def _pursue(gram: Gram, A: Array, n_points: int, max_error: float, select: str) -> PursuitPath:
    N, p = A.shape
    take_off = _take_off
    if p >= MANY:
        from isthmus.reduction.pursuit_loops import take_off  # compiled on first use
    residual = np.ascontiguousarray(gram.dot(A))  # ⟨ρ_j, φ(x_i)⟩
    squares = np.einsum("ij,ij->i", residual, residual)
    total = max(float(np.sum(A * residual)), np.finfo(float).tiny)
    lengths = gram.diag()
    least = PIVOT * np.maximum(lengths, np.finfo(float).tiny)
    outside = lengths.copy()  # squared distances from the span
    score, inverse = np.empty(N), 1.0 / np.where(lengths > 0, lengths, 1.0)
    basis = np.empty((min(n_points, 64), N))
    indices: list[int] = []
    components, errors, error = [], [], 1.0
    # The error is a difference of sums and rounds to zero too early; at zero the pivots decide.
    while len(indices) < n_points and (error > max_error or max_error == 0):
        closed = outside <= least
        if select == "pivot":
            score[:] = outside
        else:
            if select == "matching":
                np.multiply(squares, inverse, out=score)
            else:
                np.divide(squares, outside, out=score, where=~closed)
        score[closed] = -1.0
        z = int(score.argmax())
        if score[z] < 0:
            break
        r = len(indices)
        if r == len(basis):
            basis = np.concatenate([basis, np.empty((min(r, n_points - r), N))])
        root = np.sqrt(outside[z])
        row = basis[r]
        np.matmul(basis[:r, z], basis[:r], out=row)
        np.subtract(gram.columns(np.array([z]))[:, 0], row, out=row)
        row /= root
        component = residual[z] / root
        take_off(residual, row, component, squares)
        outside -= row * row
        outside[z] = 0.0
        indices.append(z)
        components.append(component)
        error = max(error - float(component @ component) / total, 0.0)
        errors.append(error)
    chosen = np.array(indices, dtype=np.intp)
    return PursuitPath(
        chosen,
        np.tril(basis[: len(chosen), chosen].T),
        np.array(components).reshape(len(chosen), p),
        np.array(errors),
    )


def _take_off(residual: Array, row: Array, component: Array, squares: Array) -> None:
    """Subtract the outer product of a row and a component; the squared lengths that are left."""
    residual -= row[:, None] * component
    np.einsum("ij,ij->i", residual, residual, out=squares)


def backfit(K: Any, A: Any, indices: Any) -> tuple[IntArray, Array, float]:
    """The best coefficients over given points, without points that repeat others.

    Parameters
    ----------
    K : Gram matrix of the N points, or a pair ``(kernel, objects)``.
    A : coefficients (N,) or (N, p) of p functions.
    indices : the points to keep.

    Returns
    -------
    The points kept, their coefficients (|Z|, p), and the squared error as a share.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.reduction import backfit
    >>> kept, coefficients, error = backfit(np.eye(3), [1.0, 2.0, 2.0], [1, 2])
    >>> kept, coefficients.ravel(), round(error, 6)
    (array([1, 2]), array([2., 2.]), 0.111111)
    """
    gram = as_gram(K, "backfit")
    A, _ = check_coefficients(A, len(gram), "backfit")
    indices = np.atleast_1d(np.asarray(indices))
    n = len(gram)
    kind = indices.dtype.kind
    if indices.ndim != 1 or kind not in "iu" or not len(indices) or not np.all(indices < n):
        raise ValueError(
            f"backfit expected indices of points, ints in [0, {n - 1}]. Got {indices!r:.80}."
        )
    columns = gram.columns(indices)  # (N, |Z|)
    right = columns.T @ A
    own = columns[indices]
    # Pivoted Cholesky: near-repetitions come last, and are cut off once pivots are rounding errors.
    factor, pivots, rank, _ = linalg.lapack.dpstrf(own, tol=PIVOT * own.diagonal().max(), lower=1)
    kept = pivots[:rank] - 1
    L = np.tril(factor)[:rank, :rank]
    half = linalg.solve_triangular(L, right[kept], lower=True)
    B = linalg.solve_triangular(L.T, half, lower=False)
    total = max(float(np.sum(A * gram.dot(A))), np.finfo(float).tiny)
    order = np.argsort(indices[kept])
    error = max(1.0 - float(np.sum(half**2)) / total, 0.0)
    return indices[kept][order], B[order], error
