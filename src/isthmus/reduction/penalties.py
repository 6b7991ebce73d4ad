r"""Which points to keep, by penalties: :math:`\ell_1` along a path, :math:`\ell_0` iteratively.

Both need the whole Gram matrix and cubic time, so they are for a few thousand points.
"""

import warnings
from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram, lasso_path

from isthmus.typing import Array, IntArray

PRUNED = 1e-8  # a coefficient below this share of the largest counts as zero


def l1_support(K: Array, A: Array, n_points: int) -> IntArray:
    r"""Points with a coefficient in :math:`\min\|w-\hat w\|^2+g\sum_i\|B_i\|`, n of them.

    For one function this is the lasso in Gram form, whose whole path is given by least angle
    regression; for several, the group lasso on a root of K, so that they share their points. Where
    the support grows by several points at once and passes ``n_points``, the strongest of those that
    join are taken. There are fewer only where the path ends before, because the others add nothing.
    """
    with warnings.catch_warnings():
        # Only the supports of the paths are used; the coefficients are fitted afterwards.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if A.shape[1] == 1:
            # Points also leave the path, so it is longer than the support.
            _, _, path = lars_path_gram(
                K @ A[:, 0], K, n_samples=len(K), method="lasso", max_iter=4 * n_points
            )
            return _first_of_path(np.abs(path), n_points)
        X = _root(K)
        Y = X @ A
        largest = np.linalg.norm(X.T @ Y, axis=1).max() / len(X)
        penalties = np.geomspace(largest, 1e-4 * largest, 100)
        _, paths, _ = lasso_path(X, Y, alphas=penalties, max_iter=300, tol=1e-3)
        # (points, penalties), penalties falling
        return _first_of_path(np.linalg.norm(paths, axis=0), n_points)


def _first_of_path(strengths: Array, n_points: int) -> IntArray:
    """The first ``n_points`` that a path reaches, by strengths (points, steps)."""
    sizes = np.count_nonzero(strengths, axis=0)
    beyond = np.flatnonzero(sizes > n_points)
    first = int(beyond[0]) if len(beyond) else len(sizes)
    last = int(sizes[:first].argmax()) if first else -1
    kept = np.flatnonzero(strengths[:, last]) if first else np.zeros(0, dtype=np.intp)
    if first < len(sizes) and len(kept) < n_points:
        order = np.argsort(-strengths[:, first], kind="stable")
        joining = order[~np.isin(order, kept) & (strengths[order, first] > 0)]
        kept = np.sort(np.concatenate([kept, joining[: n_points - len(kept)]]))
    return kept


def l0_support(
    K: Array, A: Array, *, alpha: float, solver: str = "l2", max_iter: int = 30
) -> IntArray:
    r"""Points that survive :math:`\min e(B)+g\sum_i\ln(\epsilon+|B_i|)` by linearisation.

    With :math:`D=\mathrm{diag}(v)`, each iteration solves :math:`(DKD+gI)\beta'=DKA` and sets
    :math:`v_i\leftarrow v_i\sum_j|\beta'_{ij}|`; the linear program takes the solution of
    :math:`KD\beta'=KA` with the smallest :math:`\sum_i\max_j|\beta'_{ij}|` instead. Without a
    penalty the expansion is kept exactly, and only linearly dependent points are dropped.

    [Bakir2005]_ prints the linear program and then solves the least-squares one, with the two
    matrices exchanged; :math:`v_iv_jk_{ij}` is the one to invert, :math:`v_ik_{ij}` the other.
    """
    alive: IntArray = np.arange(len(K))
    v = np.ones(len(K))
    solve = _l1_step if solver == "lp" else _l2_step
    right = K @ A
    for _ in range(max_iter):
        if not len(alive):
            break
        beta = solve(K[np.ix_(alive, alive)], right[alive], v, alpha)
        new = v * np.abs(beta).sum(axis=1)
        keep = new > PRUNED * new.max()
        settled = keep.all() and np.abs(new - v).max() <= 1e-6 * new.max()
        alive, v = alive[keep], new[keep]
        if settled:
            break
    return alive


def _l2_step(K: Array, right: Array, v: Array, alpha: float) -> Array:
    DKD = K * v * v[:, None]
    if alpha:
        DKD.flat[:: len(DKD) + 1] += alpha
        return linalg.solve(DKD, right * v[:, None], assume_a="pos")
    eigenvalues, U = linalg.eigh(DKD)
    keep = eigenvalues > 1e-12 * eigenvalues[-1]
    return (U[:, keep] / eigenvalues[keep]) @ (U[:, keep].T @ (right * v[:, None]))


def _l1_step(K: Array, right: Array, v: Array, alpha: float) -> Array:
    if alpha:
        raise ValueError(
            "reduce_expansion(solver='lp') keeps the expansion exactly: expected alpha=0. Got "
            f"{alpha!r} instead."
        )
    root = _root(K)  # as many constraints as K has rank
    # right is K A, and K = root' root, so root A is what root times the solution must be.
    target = linalg.lstsq(root.T, right)[0]
    n, p = len(K), right.shape[1]
    M = sparse.kron(sparse.csr_array(root * v), sparse.eye_array(p))
    wide = sparse.kron(sparse.eye_array(n), np.ones((p, 1)))
    one = sparse.eye_array(n * p)
    found = linprog(
        np.concatenate([np.zeros(2 * n * p), np.ones(n)]),
        A_ub=sparse.hstack([one, one, -wide]),
        b_ub=np.zeros(n * p),
        A_eq=sparse.hstack([M, -M, sparse.csr_array((M.shape[0], n))]),
        b_eq=target.ravel(),
        method="highs",
    )
    if found.x is None:
        raise ValueError(
            f"reduce_expansion(solver='lp'): the linear program has no solution: {found.message}"
        )
    return (found.x[: n * p] - found.x[n * p : 2 * n * p]).reshape(n, p)


def _root(K: Array) -> Array:
    """A matrix of rank(K) rows with ``root.T @ root = K``."""
    eigenvalues, U = linalg.eigh(K)
    keep = eigenvalues > 1e-10 * eigenvalues[-1]
    return np.sqrt(eigenvalues[keep])[:, None] * U[:, keep].T


def support_of_size(n_points: int, support: Callable[[float], IntArray], scale: float) -> IntArray:
    """The largest support of at most ``n_points`` points, over penalties tried by bisection."""
    low, high = np.log(1e-12 * scale), np.log(1e2 * scale)
    best: IntArray = np.zeros(0, dtype=np.intp)
    for _ in range(18):
        middle = (low + high) / 2
        found = support(float(np.exp(middle)))
        if len(found) > n_points:
            low = middle
        else:
            high = middle
            if len(found) > len(best):
                best = found
            if len(found) == n_points:
                break
    return best
