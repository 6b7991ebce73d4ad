"""One engine: a quadratic program over the simplex, solved on a core set that grows."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.blocks.slices import block_slices
from isthmus.coreset.columns import KernelColumns
from isthmus.coreset.simplex import descended
from isthmus.typing import Array, IntArray

SAMPLE = 1000  # points that are looked at, at least
EXAMINED = 200  # points whose Gram matrix is looked at for negative eigenvalues
ROUNDING = 1e-5  # negative shares that single precision may leave
EXPECTED = 2000  # points of a core set for which columns are to be kept, where none is said


class CoreProblem(Protocol):
    """What is to be solved: points made of objects, their Gram matrix, a linear term."""

    @property
    def v(self) -> Array:
        """The linear term."""

    @property
    def columns(self) -> KernelColumns:
        """Kernels of the objects that the points are made of."""

    def __len__(self) -> int: ...

    def objects_of(self, points: IntArray) -> IntArray:
        """The objects that points are made of, (n_parts, n_points)."""

    def expansion(self, points: IntArray, weights: Array) -> tuple[IntArray, Array]:
        """A weighted sum of points as a sum over objects, each named once."""

    def values(self, points: IntArray, sums: Array, coefficients: Array) -> Array:
        """Inner products of points with the expansion, whose sums are at their objects."""

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
    shortfall : what was not reached, in words, or None.
    negative_share : of the Gram matrix of some points, the lowest eigenvalue below zero over the
        largest; above rounding the matrix is none of a kernel, and nothing here holds.
    """

    indices: IntArray
    weights: Array
    objective: float
    gap: float
    squared_radius: float
    n_core: int
    radii: list[float]
    shortfall: str | None = None
    negative_share: float = 0.0


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
    set; the largest one also is the duality gap of the quadratic program. Violations are looked
    for in a pool, for which kernel columns are kept: all points, if memory allows, or a
    sample. When the pool has none, all points are looked at, and those nearest to a violation are
    the next pool.

    Parameters
    ----------
    problem : what to solve.
    start : indices of the first points, at least one.
    epsilon : accuracy.
    stop : "radius" stops when all points are within :math:`(1+\epsilon)` radii, as published;
        "relative" when the gap is at most :math:`\epsilon\,\alpha^\top M\alpha`, so that a
        machine's objective, and not only its ball, is accurate.
    search : "exact" has all points in the pool; "sample" as many as there is memory for columns;
        "auto" is exact where columns of all points fit.
    batch : how many violating points are added at a time; None is one at first and then a
        share of the core set, so that there are few rounds.
    max_core : the core set grows no larger; then the solution names the gap.
    """
    m = len(problem)
    core = _Core(problem, np.unique(start))
    pool = _Pool(problem, _first_pool(problem, search, max_core, rng))
    eta = float(np.max(problem.diag() + problem.v))
    radii: list[float] = []
    shortfall = None
    tolerance = np.inf
    while True:
        core.solve(tolerance)
        quadratic, linear = core.quadratic, core.linear
        squared_radius = max(eta - linear - quadratic, 0.0)
        radii.append(float(np.sqrt(squared_radius)))
        tolerance = (
            (2 * epsilon + epsilon**2) * squared_radius
            if stop == "radius"
            else epsilon * abs(quadratic)
        )
        wanted = max(tolerance, 1e-14 * max(eta, 1.0))
        violations = core.violations(pool)
        if progress is not None:
            progress.update(
                core=len(core.points),
                objective=quadratic + linear,
                gap=float(violations.max(initial=0.0)),
            )
        full = max_core is not None and len(core.points) >= max_core
        if full or not np.any(violations > wanted):
            # The pool is satisfied: see whether all are.
            everywhere = violations if len(pool.points) == m else core.violations(None)
            gap = max(float(everywhere.max(initial=0.0)), core.own_gap())
            if not np.any(everywhere > wanted):
                break
            if full:
                shortfall = (
                    f"The core set has reached max_core={max_core} points with a gap of "
                    f"{gap:.2g}, where {tolerance:.2g} was wanted."
                )
                break
            pool = _Pool(problem, _next_pool(everywhere, len(pool.points), wanted, rng))
            violations = everywhere[pool.points]
        size = batch if batch is not None else max(1, min(len(core.points) // 4, 256))
        if max_core is not None:
            size = min(size, max_core - len(core.points))
        outside = np.flatnonzero(violations > wanted)
        core.add(_joining(pool.points, outside, violations, size, rng))
    keep = core.alpha > 0
    return CoreSolution(
        core.points[keep],
        core.alpha[keep] / core.alpha[keep].sum(),
        quadratic + linear,
        gap,
        squared_radius,
        len(core.points),
        radii,
        shortfall,
        negative_share(problem, core.points),
    )


def _first_pool(
    problem: CoreProblem, search: str, max_core: int | None, rng: np.random.RandomState
) -> IntArray:
    m, columns = len(problem), problem.columns
    room = columns.room(min(max_core or EXPECTED, columns.n))
    if search == "exact" or columns.n <= max(room, SAMPLE):
        return np.arange(m)
    parts = len(problem.objects_of(np.zeros(1, dtype=int)))  # objects a point
    size = max(room // parts, SAMPLE)
    return np.arange(m) if size >= m else np.sort(rng.choice(m, size=size, replace=False))


def _next_pool(violations: Array, size: int, wanted: float, rng: np.random.RandomState) -> IntArray:
    """The points nearest to a violation, or where more than those violate, some at random."""
    outside = np.flatnonzero(violations > wanted)
    if len(outside) <= size:
        return np.sort(np.argpartition(-violations, size - 1)[:size])
    some = rng.choice(outside, size=size - 1, replace=False)
    return np.unique(np.append(some, violations.argmax()))  # a single one is to be the worst


def _joining(
    points: IntArray, outside: IntArray, violations: Array, size: int, rng: np.random.RandomState
) -> IntArray:
    """The points that join the core set: one is the worst, of several each is the worse of two.

    The worst of all often have a wrong label. A core set that has no room for every point that
    counts would be made of them, and tell the classes apart worse than a random sample.
    """
    if 1 < size < len(outside) // 2:
        outside = rng.choice(outside, size=2 * size, replace=False)
    return points[outside[np.argsort(-violations[outside], kind="stable")[:size]]]


class _Pool:
    """Points among which violations are looked for, and where their objects are watched."""

    def __init__(self, problem: CoreProblem, points: IntArray):
        self.points = points
        objects = problem.objects_of(points)
        watched, at = np.unique(objects, return_inverse=True)
        self.at = at.reshape(objects.shape)
        problem.columns.watch(watched)


class _Core:
    """The points of the core set, their Gram matrix, and weights that solve their program."""

    def __init__(self, problem: CoreProblem, points: IntArray):
        self.problem, self.points = problem, points[:0]
        self._inside = np.zeros(len(problem), dtype=bool)
        self.alpha: Array = np.zeros(0)
        self._M: Array = np.empty((0, 0))
        self.add(points)
        self.alpha[:] = 1.0 / len(points)
        self.quadratic = float(self.alpha @ self.M @ self.alpha)
        self.linear = 0.0

    @property
    def M(self) -> Array:
        return self._M[: len(self.points), : len(self.points)]

    def add(self, new: IntArray) -> None:
        """Let points join, with weight zero; the matrix has room for more than there are."""
        old, size = len(self.points), len(self.points) + len(new)
        if size > len(self._M):
            wider = np.zeros((max(size, 3 * len(self._M) // 2),) * 2)
            wider[:old, :old] = self.M
            self._M = wider
        corner = self.problem.gram(new, new)
        corner.flat[:: len(new) + 1] += self.problem.shift(new)
        self._M[old:size, old:size] = corner
        if old:
            side = self.problem.gram(self.points, new)
            self._M[:old, old:size], self._M[old:size, :old] = side, side.T
        self.points = np.concatenate([self.points, new])
        self._inside[new] = True
        self.alpha = np.concatenate([self.alpha, np.zeros(len(new))])

    def solve(self, tolerance: float) -> None:
        """Solve the program of the core set, ten times as accurately as the whole."""
        v = self.problem.v[self.points]
        inner = 1e-3 * self.quadratic if np.isinf(tolerance) else 0.1 * tolerance
        self.alpha, _ = descended(self._M, v, self.alpha, tolerance=max(inner, 1e-15))
        values = self.M @ self.alpha
        self.quadratic, self.linear = float(self.alpha @ values), float(v @ self.alpha)
        self.gradient = 2 * values + v

    def own_gap(self) -> float:
        """What the points of the core set themselves leave to gain."""
        return max(float(2 * self.quadratic + self.linear - self.gradient.min()), 0.0)

    def violations(self, pool: _Pool | None) -> Array:
        """By how much points of the pool, or all, are outside the ball; own points by nothing."""
        problem, columns = self.problem, self.problem.columns
        used = self.alpha > 0
        objects, coefficients = problem.expansion(self.points[used], self.alpha[used])
        if pool is None:
            points: IntArray = np.arange(len(problem))
            sums = columns.sums_at_all(objects, coefficients)[problem.objects_of(points)]
        else:
            points = pool.points
            sums = columns.sums(objects, coefficients)[pool.at]
        values = problem.values(points, sums, coefficients)
        found = 2 * self.quadratic + self.linear - 2 * values - problem.v[points]
        found[self._inside[points]] = -np.inf
        return found


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
    shortfall, distance = None, np.inf
    negative = negative_share(problem, everybody)
    for _ in range(max_iter if negative < ROUNDING else 1):  # of no kernel, no step has a meaning
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
    else:
        shortfall = (
            f"The ball vector machine has made max_iter={max_iter} steps, and a point still is "
            f"{distance / np.sqrt(eta) - 1:.2g} radii outside, where {epsilon:.2g} was wanted."
        )
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
        shortfall,
        negative,
    )


def negative_share(problem: CoreProblem, points: IntArray) -> float:
    """How negative the Gram matrix of some of the points is, see :class:`CoreSolution`."""
    some = points[np.linspace(0, len(points) - 1, min(len(points), EXAMINED)).astype(int)]
    values = np.linalg.eigvalsh(problem.gram(some, some))
    return float(max(-values[0], 0.0) / max(abs(values).max(), np.finfo(float).tiny))


def column(problem: CoreProblem, index: int, rows: IntArray) -> Array:
    one = np.array([index])
    column = np.concatenate(
        [problem.gram(rows[block], one)[:, 0] for block in block_slices(len(rows), 1)]
    )
    column[index] += problem.shift(one)[0]
    return column
