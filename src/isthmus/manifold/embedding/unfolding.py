r"""Maximum variance unfolding, with a certificate: by an interior point or low-rank factors.

The semidefinite program

.. math:: \max_K\operatorname{tr}K\quad\text{s.t. }K\succeq0,\ \textstyle\sum_{ij}k_{ij}=0,\
          k_{ii}-2k_{ij}+k_{jj}\le D_{ij}^2\ \text{(or }=\text{) for pairs of neighbours}

is solved by an interior point where the pairs are few, otherwise over factors :math:`K=XX^\top` of
r columns by augmented Lagrangians. With multipliers :math:`w_e` of the pairs and their Laplacian
:math:`L_w`, any w for which the second smallest eigenvalue :math:`\lambda_2` of :math:`L_w` is
positive bounds the optimum: :math:`\operatorname{tr}K\le\sum_ew_eD_e^2/\lambda_2`. Where the bound
meets the variance found, the factor is the solution of the program, whatever its rank. No two rows
can be farther apart than the path between them, which bounds the variance whatever the multipliers.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from isthmus.manifold.embedding.interior import interior_unfolding, spans
from isthmus.optimize.lbfgs import minimize_lbfgs
from isthmus.typing import Array, IntArray

# Up to here an interior point, whose answer is exact, is taken.
INTERIOR_ROWS, INTERIOR_PAIRS, INTERIOR_STEPS = 1000, 3000, 100
# Multipliers are updated at most this often, after at most so many steps.
ROUNDS = 60
STEPS = 500
# The weight of the constraints grows by this where violations do not fall by that.
GROWTH, FALL = 2.0, 0.3
DENSE_ROWS = 1500
NUDGE = 1e-3
# Rounds in a row that change nothing before the search ends, bound or no bound.
PATIENCE = 25


class Unfolded(NamedTuple):
    """Centred factor (n, r), its variance, the bound of the program, and the largest violation.

    The violation is of squared distances, relative to their mean.
    """

    factor: Array
    variance: float
    bound: float
    violation: float
    n_iter: int


def with_common_neighbors(pairs: IntArray, n: int) -> IntArray:
    """Pairs of neighbours and of rows that share one, i < j: then angles are kept too."""
    i, j = pairs.T
    A = sparse.csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    A = A + A.T
    both = sparse.triu(A + A @ A, k=1).tocoo()
    return np.column_stack([both.row, both.col])


def incidence(pairs: IntArray, n: int) -> sparse.csr_array:
    """The matrix (m, n) that takes differences along pairs."""
    m = len(pairs)
    entries = np.concatenate([np.ones(m), -np.ones(m)])
    rows = np.concatenate([np.arange(m), np.arange(m)])
    return sparse.csr_array((entries, (rows, pairs.T.ravel())), shape=(m, n))


def augmented_lagrangian(
    X: Array, M: sparse.csr_array, squares: Array, w: Array, weight: float, *, at_most: bool
) -> tuple[float, Array]:
    r"""Minus the variance with multipliers and a penalty of the constraints, and its gradient.

    With :math:`c_e=\|x_i-x_j\|^2-D_e^2` and :math:`p_e=w_e+\rho c_e`, at least 0 where distances
    are kept at most, it is :math:`-\|X-\bar x\|^2+\frac1{2\rho}\sum_e(p_e^2-w_e^2)`.
    """
    centred = X - X.mean(axis=0)
    steps = M @ X
    pull = w + weight * (np.einsum("mr,mr->m", steps, steps) - squares)
    if at_most:
        pull = np.maximum(pull, 0.0)
    value = -float(np.sum(centred**2)) + float(pull @ pull - w @ w) / (2 * weight)
    return value, -2 * centred + 2 * (M.T @ (pull[:, None] * steps))


def dual_bound(M: sparse.csr_array, squares: Array, w: Array) -> tuple[float, Array]:
    """The bound of the program that multipliers give, infinite where they give none.

    And the direction (n,) along which rows are held least: the second eigenvector of the
    Laplacian.
    """
    L = (M.T @ sparse.diags_array(w) @ M).tocsr()
    n = L.shape[0]
    # The constant vector has eigenvalue zero; it is lifted out of the way.
    lift = float(np.abs(L.diagonal()).max()) + 1.0
    if n <= DENSE_ROWS:
        values, V = linalg.eigh(L.toarray() + lift / n, subset_by_index=(0, 0))
    else:
        operator = LinearOperator(
            (n, n), matvec=lambda v: L @ v.ravel() + lift * v.mean(), dtype=np.float64
        )
        values, V = eigsh(operator, k=1, which="SA", tol=1e-4)
    lowest = float(values[0])
    return float(w @ squares / lowest) if lowest > 1e-9 * lift else np.inf, V[:, 0]


def exact_unfolding(
    M: sparse.csr_array, squares: Array, *, at_most: bool = True, max_iter: int, tol: float
) -> Unfolded:
    """The solution by an interior point.

    Its gap and its violations are at most the share ``tol``. Columns of hardly any variance are
    left out where distances may shrink.
    """
    K, w, n_iter = interior_unfolding(
        M, squares, at_most=at_most, max_iter=min(max_iter, INTERIOR_STEPS), tol=tol / 2
    )
    values, V = linalg.eigh(K)
    kept = values > (tol if at_most else 1e-12) / len(K) * values[-1]
    X = (V[:, kept] * np.sqrt(values[kept]))[:, ::-1]
    gaps = spans(M, X @ X.T) - squares
    wrong = float(np.max(np.maximum(gaps, 0.0) if at_most else np.abs(gaps))) / squares.mean()
    return Unfolded(X, float(np.sum(X**2)), dual_bound(M, squares, w)[0], float(wrong), n_iter)


def unfold_variance(
    start: Array,
    pairs: IntArray,
    squares: Array,
    *,
    at_most: bool,
    max_iter: int,
    tol: float,
) -> Unfolded:
    """Raise the variance of places (n, r) with squared distances along pairs held.

    Ends where no constraint is violated by more than ``tol`` of the mean square and the bound is
    within the share ``10 tol`` of the variance, where rounds change nothing more, or after
    ``max_iter`` steps in all.
    """
    X = np.array(start)
    M = incidence(pairs, len(X))
    unit = float(squares.mean())
    w = np.zeros(len(squares))
    weight, before, n_iter = len(X) / unit, np.inf, 0
    highest, n_still, bound = 0.0, 0, np.inf
    for _ in range(ROUNDS):

        def objective(flat: Array, w: Array = w, weight: float = weight) -> tuple[float, Array]:
            value, slope = augmented_lagrangian(
                flat.reshape(start.shape), M, squares, w, weight, at_most=at_most
            )
            return value, slope.ravel()

        found = minimize_lbfgs(
            objective,
            X.ravel(),
            maxiter=min(STEPS, max_iter),
            maxcor=30,
            ftol=1e-12,
            gtol=1e-7,
        )
        X = found.x.reshape(start.shape)
        X -= X.mean(axis=0)
        n_iter += int(found.nit)
        c = np.sum((M @ X) ** 2, axis=1) - squares
        w = np.maximum(w + weight * c, 0.0) if at_most else w + weight * c
        # A pair that pulls must be at its distance; one that does not may be nearer.
        wrong = np.where(w > 0, np.abs(c), np.maximum(c, 0.0)) if at_most else np.abs(c)
        violation, variance = float(wrong.max()) / unit, float(np.sum(X**2))
        above, loose = dual_bound(M, squares, w)
        bound = min(bound, above)
        if (violation <= tol and bound <= (1 + 10 * tol) * variance) or n_iter >= max_iter:
            break
        n_still = n_still + 1 if abs(variance - highest) <= tol * variance else 0
        highest = variance
        if violation <= tol and n_still >= PATIENCE:
            break
        if violation <= tol:
            # A factor may rest where the program does not: it is nudged where rows are held least.
            X[:, -1] += NUDGE * np.sqrt(variance) * loose
        if violation > max(FALL * before, tol):
            weight *= GROWTH
        before = violation
    return Unfolded(X, variance, bound, violation, n_iter)
