"""Components that are mixtures of samples: archetypes and convex factorisation, on arrays."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from isthmus.sparse.factorization.drivers import Report
from isthmus.sparse.factorization.nnls import cone_codes, simplex_codes
from isthmus.typing import Array, IntArray

# Samples that may join the mixture of one component in one iteration.
MAX_JOINING = 10
# Iterations whose gain tells that a descent on a cone is over.
PATIENCE = 10
# A loss below this share of the squared norm of the data need not fall by shares of itself.
NEARLY_ALL = 1e-3
FLOOR = 1e-16
# A squared distance below this share of the target's square is a rounding error.
ROUNDING = 1e-24


class Mixture(NamedTuple):
    """One component as a mixture of few samples."""

    rows: IntArray
    weights: Array
    point: Array


class ConvexCourse(NamedTuple):
    """Result of a descent."""

    mixtures: list[Mixture]
    codes: Array
    losses: list[float]
    optimality: float
    n_iter: int
    converged: bool

    @property
    def components(self) -> Array:
        return np.array([m.point for m in self.mixtures])


def nearest_mixture(
    X: Array, target: Array, start: Mixture, *, simplex: bool, norms: Array
) -> Mixture:
    """Move a mixture of rows of ``X`` towards the one next to ``target``.

    The row with the most negative derivative joins, the weights are solved for exactly and rows
    without weight leave (Wolfe's method on the simplex, Lawson and Hanson's on the cone). The
    distance never grows. ``norms`` are those of the rows.
    """
    solve = simplex_codes if simplex else cone_codes
    rows, mixture = start.rows, start
    reached = ROUNDING * float(np.dot(target, target))
    for _ in range(MAX_JOINING):
        weights = solve(target[None], X[rows])[0]
        used = weights > 0
        rows, weights = rows[used], weights[used]
        mixture = Mixture(rows, weights, weights @ X[rows])
        scale = float(np.dot(mixture.point - target, mixture.point - target))
        if scale <= reached:
            break
        best, gap = _find_joining(X, mixture.point, target, simplex=simplex, norms=norms)
        if gap <= 1e-9 * scale or best in rows:
            break
        rows = np.append(rows, best)
    return mixture


def _find_joining(
    X: Array, point: Array, target: Array, *, simplex: bool, norms: Array
) -> tuple[int, float]:
    """The row to join, and what can be gained: the duality gap, or by that row alone on a cone."""
    slopes = X @ (point - target)
    if simplex:
        best = int(np.argmin(slopes))
        return best, float(point @ (point - target)) - float(slopes[best])
    slopes /= norms
    best = int(np.argmin(slopes))
    return best, 0.5 * min(float(slopes[best]), 0.0) ** 2


def mixed_descent(
    X: Array,
    start: list[Mixture],
    *,
    simplex: bool,
    tol: float,
    max_iter: int,
    report: Report,
) -> ConvexCourse:
    r"""Minimise ½‖X − C A‖² with rows of A in the hull (or cone) of the rows of X.

    Codes C are solved for exactly. In one component the loss is a multiple of the squared distance
    from :math:`a_j+c_j^\top(X-CA)/\|c_j\|^2`, so each component in turn moves to the point of the
    hull next to that. Ends where the components have no more than a share ``tol`` to gain: by
    their duality gaps, of the squared norm of ``X``; on a cone by the best row for each, of the
    loss, because one row alone gains far less than all of them together, or where an
    iteration has gained less than that, over the last ten.
    """
    solve = simplex_codes if simplex else cone_codes
    norms = np.maximum(np.linalg.norm(X, axis=1), np.finfo(float).tiny)
    mixtures = list(start)
    A = np.array([m.point for m in mixtures])
    C = solve(X, A)
    squares = float(np.vdot(X, X))
    losses = [0.5 * float(np.sum((X - C @ A) ** 2))]
    gap, step = np.inf, 0
    for step in range(1, max_iter + 1):
        G, B = C.T @ C, C.T @ X
        gap = 0.0
        for j in range(len(A)):
            if G[j, j] <= FLOOR * len(X):
                # Nobody uses it: it restarts at the row that is explained worst.
                worst = int(np.argmax(np.sum((X - C @ A) ** 2, axis=1)))
                mixtures[j] = Mixture(np.array([worst]), np.ones(1), X[worst])
                A[j] = X[worst]
                gap = np.inf
                continue
            target = A[j] + (B[j] - G[j] @ A) / G[j, j]
            gap += G[j, j] * max(
                _find_joining(X, A[j], target, simplex=simplex, norms=norms)[1], 0.0
            )
            mixtures[j] = nearest_mixture(X, target, mixtures[j], simplex=simplex, norms=norms)
            A[j] = mixtures[j].point
        C = solve(X, A)
        losses.append(0.5 * float(np.sum((X - C @ A) ** 2)))
        whole = squares if simplex else max(losses[-1], NEARLY_ALL * squares)
        gap /= max(whole, np.finfo(float).tiny)
        if not simplex and step >= PATIENCE:
            # What an iteration gained of late, where that is less: single rows may promise more.
            gain = (losses[-1 - PATIENCE] - losses[-1]) / PATIENCE
            gap = min(gap, gain / max(whole, np.finfo(float).tiny))
        report(step, losses[-1], gap)
        if gap <= tol:
            break
    return ConvexCourse(mixtures, C, losses, gap, step, gap <= tol)


def furthest_rows(X: Array, k: int, first: int) -> IntArray:
    """Rows far from each other: each has the largest sum of distances to those before.

    The first serves as a start only and is exchanged at the end (FurthestSum, [Morup2012]_).
    """
    chosen = [first]
    sums = np.zeros(len(X))
    for i in range(k):
        sums += np.linalg.norm(X - X[chosen[-1]], axis=1)
        if i == k - 1:
            sums -= np.linalg.norm(X - X[chosen[0]], axis=1)
            chosen = chosen[1:]
        open_ = np.ones(len(X), dtype=bool)
        open_[chosen] = False
        best = int(np.argmax(np.where(open_, sums, -1.0))) if open_.any() else first
        chosen.append(best)
    return np.array(chosen[:k])


def cluster_means(X: Array, labels: IntArray, k: int) -> list[Mixture]:
    """Mixtures of the rows of a cluster each, in equal shares."""
    found = []
    for j in range(k):
        rows = np.flatnonzero(labels == j)
        weights = np.full(len(rows), 1.0 / max(len(rows), 1))
        found.append(Mixture(rows, weights, weights @ X[rows]))
    return found


def hull_candidates(X: Array, n_axes: int) -> IntArray:
    """Rows that are corners of the hull in some plane of two leading principal axes.

    A corner of a projection is a corner of the whole, so these are extreme points; there are few
    of them however many rows there are [Thurau2011]_.
    """
    _, _, axes = np.linalg.svd(X.T @ X)
    Z = X @ axes[:n_axes].T
    found: set[int] = set()
    for pair in combinations(range(Z.shape[1]), 2):
        try:
            found.update(ConvexHull(Z[:, pair]).vertices.tolist())
        except QhullError:  # all points on a line
            found.update((int(np.argmin(Z[:, pair[0]])), int(np.argmax(Z[:, pair[0]]))))
    if Z.shape[1] < 2:
        found.update((int(np.argmin(Z[:, 0])), int(np.argmax(Z[:, 0]))))
    return np.array(sorted(found))


def multiplicative_convex(
    X: Array, k: int, codes: Array, *, tol: float, max_iter: int, report: Report
) -> ConvexCourse:
    """Convex non-negative factorisation by the published updates on the Gram matrix [Ding2010]_.

    With K = XX', its positive part P and negative part N, G the codes and M the mixing weights:
    G ← G √((PM + GM'NM)/(NM + GM'PM)), M ← M √((PG + NMG'G)/(NG + PMG'G)).
    Needs n × n memory. Ends where ten iterations gain less than a share ``tol``.
    """
    K = X @ X.T
    P, N = np.maximum(K, 0), np.maximum(-K, 0)
    G = codes + 0.2
    M = G / codes.sum(axis=0)
    total = float(np.trace(K))

    def loss() -> float:
        KM = K @ M
        return 0.5 * float(total - 2 * np.vdot(KM, G) + np.vdot(M.T @ KM, G.T @ G))

    losses, gain, step = [loss()], np.inf, 0
    for step in range(1, max_iter + 1):
        PM, NM = P @ M, N @ M
        G = G * np.sqrt((PM + G @ (M.T @ NM)) / np.maximum(NM + G @ (M.T @ PM), FLOOR))
        GG, PG, NG = G.T @ G, P @ G, N @ G
        M = M * np.sqrt((PG + N @ (M @ GG)) / np.maximum(NG + P @ (M @ GG), FLOOR))
        losses.append(loss())
        if step % 10 == 0:
            gain = (losses[-11] - losses[-1]) / max(losses[-11], np.finfo(float).tiny)
            report(step, losses[-1], gain)
            if gain <= tol:
                break
    everyone = np.arange(len(X))
    mixtures = [Mixture(everyone, M[:, j], M[:, j] @ X) for j in range(k)]
    return ConvexCourse(mixtures, G, losses, gain, step, gain <= tol)


def single_rows(X: Array, rows: Any) -> list[Mixture]:
    """Mixtures of one row each."""
    return [Mixture(np.array([i]), np.ones(1), X[i]) for i in rows]
