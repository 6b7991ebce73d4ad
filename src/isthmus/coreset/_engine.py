"""One engine: a quadratic program over the simplex, solved on a core set that grows."""

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._progress import ProgressLine
from isthmus.coreset._simplex import solve_simplex
from isthmus.linalg import block_slices
from isthmus.typing import Array, IntArray

# With 59 points drawn at random, the farthest is among the farthest 5 % of all with
# probability 0.95; more cost little, since kernels come as matrix products.
SAMPLE = 400


class CoreProblem(Protocol):
    """What is to be solved: as many points as it has, a Gram matrix in blocks, a linear term."""

    @property
    def v(self) -> Array:
        """The linear term."""

    def __len__(self) -> int: ...

    def gram(self, rows: IntArray, columns: IntArray) -> Array:
        """Block of M without what is on its diagonal alone."""

    def shift(self, rows: IntArray) -> Array:
        """What is on the diagonal alone, such as 1/C."""

    def diag(self) -> Array:
        """The diagonal of M, with the shift."""


@dataclass(frozen=True)
class CoreSolution:
    """Weights on a core set, and how near to the optimum they are.

    Attributes
    ----------
    indices, weights : the points with weight, and their weights, which sum to one.
    objective : of the quadratic program.
    gap : the optimum is at most so much below the objective.
    squared_radius : of the ball.
    n_core : how many points were ever in the core set.
    radii : the radius after every step.
    """

    indices: IntArray
    weights: Array
    objective: float
    gap: float
    squared_radius: float
    n_core: int
    radii: list[float]


def solve_core(
    problem: CoreProblem,
    start: IntArray,
    *,
    epsilon: float,
    stop: str = "relative",
    search: str = "auto",
    batch: int | None = None,
    max_core: int | None = None,
    rng: np.random.RandomState,
    progress: ProgressLine | None = None,
) -> CoreSolution:
    r"""Solve on a core set, adding the points that violate the solution most.

    A point's violation is the squared distance by which it is outside the ball of the core
    set; the largest one also is the duality gap of the quadratic program.

    Parameters
    ----------
    problem : what to solve.
    start : indices of the first points, at least one.
    epsilon : accuracy.
    stop : "radius" stops when all points are within :math:`(1+\epsilon)` radii, as published;
        "relative" when the gap is at most :math:`\epsilon\,\alpha^\top M\alpha`, so that a
        machine's objective, and not only its ball, is accurate.
    search : "exact" looks at all points each time; "sample" at some of them, and at all
        only when no violation is found; "auto" samples beyond 2000 points.
    batch : how many violating points are added at a time; None is one at first and then a
        share of the core set, so that there are few rounds.
    max_core : the core set grows no larger; then a warning tells the gap.
    """
    m = len(problem)
    S = np.unique(start)
    inside = np.zeros(m, dtype=bool)
    inside[S] = True
    M = _grown(problem, S, S[:0], np.zeros((0, 0)))
    alpha = np.full(len(S), 1.0 / len(S))
    diagonal = problem.diag()
    eta = float(np.max(diagonal + problem.v))
    sampled = search == "sample" or (search == "auto" and m > 2000)
    radii: list[float] = []
    tolerance, gap = np.inf, np.inf
    look_at_all = not sampled
    while True:
        inner = 1e-3 * float(alpha @ M @ alpha) if np.isinf(tolerance) else 0.1 * tolerance
        alpha, _ = solve_simplex(M, problem.v[S], alpha, tolerance=max(inner, 1e-15))
        gradient = 2 * (M @ alpha) + problem.v[S]
        quadratic, linear = float(alpha @ M @ alpha), float(problem.v[S] @ alpha)
        squared_radius = max(eta - linear - quadratic, 0.0)
        radii.append(float(np.sqrt(squared_radius)))
        tolerance = (
            (2 * epsilon + epsilon**2) * squared_radius
            if stop == "radius"
            else epsilon * abs(quadratic)
        )
        used = alpha > 0
        rows = np.flatnonzero(~inside) if look_at_all else _drawn(m, inside, rng)
        violations = 2 * quadratic + linear - _gradients(problem, rows, S[used], alpha[used])
        if look_at_all:
            gap = _gap(violations, 2 * quadratic + linear - gradient)
        if progress is not None:
            progress.update(
                core=len(S),
                objective=quadratic + linear,
                gap=float(violations.max(initial=0.0)),
            )
        outside = np.flatnonzero(violations > max(tolerance, 1e-14 * max(eta, 1.0)))
        if not len(outside):
            if look_at_all:
                break
            look_at_all = True  # the sample is satisfied: see whether all are
            continue
        look_at_all = not sampled
        if max_core is not None and len(S) >= max_core:
            rows = np.flatnonzero(~inside)
            all_ = 2 * quadratic + linear - _gradients(problem, rows, S[used], alpha[used])
            gap = _gap(all_, 2 * quadratic + linear - gradient)
            warnings.warn(
                f"The core set has reached max_core={max_core} points with a gap of {gap:.2g}, "
                f"where {tolerance:.2g} was wanted.",
                ConvergenceWarning,
                stacklevel=4,
            )
            break
        wanted = batch if batch is not None else max(1, min(len(S) // 8, 256))
        if max_core is not None:
            wanted = min(wanted, max_core - len(S))
        worst = outside[np.argsort(-violations[outside], kind="stable")[:wanted]]
        new = rows[worst]
        M = _grown(problem, new, S, M)
        S, alpha = np.concatenate([S, new]), np.concatenate([alpha, np.zeros(len(new))])
        inside[new] = True
    keep = alpha > 0
    return CoreSolution(
        S[keep],
        alpha[keep] / alpha[keep].sum(),
        quadratic + linear,
        gap,
        squared_radius,
        len(S),
        radii,
    )


def _gap(outside: Array, inside: Array) -> float:
    """The largest violation: of points outside the core set, or of its own program's accuracy."""
    return max(float(outside.max(initial=0.0)), float(inside.max(initial=0.0)))


def _grown(problem: CoreProblem, new: IntArray, S: IntArray, M: Array) -> Array:
    """The Gram matrix of the core set with the new points."""
    corner = problem.gram(new, new)
    corner.flat[:: len(new) + 1] += problem.shift(new)
    if not len(S):
        return corner
    side = problem.gram(S, new)
    return np.block([[M, side], [side.T, corner]])


def _drawn(m: int, inside: np.ndarray, rng: np.random.RandomState) -> IntArray:
    rows = rng.randint(0, m, size=min(SAMPLE, m))
    return np.unique(rows[~inside[rows]])


def _gradients(problem: CoreProblem, rows: IntArray, S: IntArray, weights: Array) -> Array:
    """Derivatives of the objective along points outside the core set, block by block."""
    values = np.empty(len(rows))
    for block in block_slices(len(rows), len(S)):
        values[block] = problem.gram(rows[block], S) @ weights
    return 2 * values + problem.v[rows]


def ball_vectors(
    problem: CoreProblem,
    start: int,
    *,
    epsilon: float,
    max_iter: int = 100_000,
) -> CoreSolution:
    r"""Ball vector machine: move the centre until all points are within :math:`(1+\epsilon)r`.

    The radius :math:`r=\sqrt\eta` is known beforehand where all points have the same length,
    and no program is solved: the centre goes towards the farthest point until that touches.
    Points outside need :math:`O(1/\epsilon^2)` steps.
    """
    m = len(problem)
    everybody = np.arange(m)
    alpha = np.zeros(m)
    alpha[start] = 1.0
    diagonal = problem.diag()
    eta = float(np.max(diagonal + problem.v))
    values = column(problem, start, everybody)  # M α
    quadratic, linear, radii = float(diagonal[start]), float(problem.v[start]), []
    for _ in range(max_iter):
        squared = eta - problem.v - 2 * values + quadratic
        p = int(squared.argmax())
        radii.append(float(np.sqrt(max(squared[p], 0.0))))
        distance = np.sqrt(max(squared[p], 0.0))
        if distance <= (1 + epsilon) * np.sqrt(eta):
            break
        b = 1 - np.sqrt(eta) / distance
        towards = column(problem, p, everybody)
        alpha *= 1 - b
        alpha[p] += b
        quadratic = (1 - b) ** 2 * quadratic + 2 * b * (1 - b) * values[p] + b**2 * diagonal[p]
        values = (1 - b) * values + b * towards
        linear = (1 - b) * linear + b * problem.v[p]
    used = np.flatnonzero(alpha > 0)
    gap = max(float(2 * quadratic + linear - np.min(2 * values + problem.v)), 0.0)
    return CoreSolution(
        used,
        alpha[used],
        quadratic + linear,
        gap,
        max(eta - linear - quadratic, 0.0),
        len(used),
        radii,
    )


def column(problem: CoreProblem, index: int, rows: IntArray) -> Array:
    one = np.array([index])
    column = np.concatenate(
        [problem.gram(rows[block], one)[:, 0] for block in block_slices(len(rows), 1)]
    )
    column[index] += problem.shift(one)[0]
    return column
