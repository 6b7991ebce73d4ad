"""One engine: a quadratic program over the simplex, solved on a core set that grows."""

from collections.abc import Callable

import numpy as np

from isthmus._progress import ProgressLine
from isthmus.blocks.sampling import sample_rows
from isthmus.blocks.slices import block_slices
from isthmus.coreset.growth import Grown, grow_singly
from isthmus.coreset.problems import KernelProblem
from isthmus.coreset.program import CoreProblem, CoreSolution, is_proven, negative_share
from isthmus.coreset.simplex import TIE, minimize_from
from isthmus.typing import Array, IntArray

SAMPLE = 1000  # points in a pool, at least
GROWTH, LARGEST_BATCH = 0.5, 256  # points that join at a time: a share of the core set, at most
SMALL = 100  # points of a core set that is always solved exactly
FEW = 8  # a point in so many that matters is judged alone, without those that do not
STRIDE = 4  # of the points that are looked at first to tell whether many matter
ROUNDING = 1e-11  # share of the largest kernel by which two that are computed apart may differ
EXPECTED = 2000  # size of a core set for which columns should fit in memory, where none is given


def solve_core(
    problem: CoreProblem,
    start: IntArray,
    *,
    epsilon: float,
    stop: str = "relative",
    search: str = "auto",
    batch_size: int | None = None,
    max_core: int | None = None,
    rng: np.random.RandomState,
    progress: ProgressLine | None = None,
    decided: Callable[[float, float, float], bool] | None = None,
) -> CoreSolution:
    r"""Solve on a core set, adding the points that violate the solution most.

    A point's violation is the squared distance by which it is outside the ball of the core
    set; the largest one is also the duality gap of the quadratic program. Violations are searched
    for in a pool, for which kernel columns are kept: all points, if memory allows, or a
    sample. When the pool has none, all points are examined, and those closest to a violation
    become the next pool.

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
    batch_size : number of violating points that are added at a time; None adds one at first and
        then a share of the core set, so that there are few rounds.
    max_core : maximum size of the core set; where it is reached the solution names the gap.
    decided : called with the quadratic part, the objective and its gap over all points, where they
        are all in the pool; stops as soon as it is true, however large the gap.
    """
    core = _Core(problem, np.unique(start), epsilon, stop, tie=TIE if batch_size == 1 else 0.0)
    pool = _Pool(problem, _first_pool(problem, search, max_core, rng))
    everything = len(pool.points) == len(problem)
    radii: list[float] = []
    if batch_size == 1 and everything and isinstance(problem, KernelProblem):
        radii = core.grow(problem, max_core, progress)
    while True:
        full = max_core is not None and len(core.points) >= max_core
        core.solve(exactly=full)
        violations = core.violations(pool)
        enough = decided is not None and everything and decided(*core.certificate(violations))
        if not (enough or core.exact or core.worst > core.wanted):
            core.solve(exactly=True)
            violations = core.violations(pool)
        radii.append(float(np.sqrt(core.squared_radius)))
        if progress is not None:
            progress.update(
                core=len(core.points),
                objective=core.objective,
                gap=core.worst,
            )
        if enough:
            everywhere, satisfied = violations, True
            break
        if full or not core.worst > core.wanted:
            # The pool is satisfied: see whether all points are.
            everywhere = violations if everything else core.violations(None)
            satisfied = not core.worst > core.wanted
            if full or satisfied:
                break
            pool = _Pool(problem, _next_pool(everywhere, len(pool.points), core.wanted, rng))
            violations = everywhere[pool.points]
        size = batch_size if batch_size is not None else _batch(len(core.points))
        if max_core is not None:
            size = min(size, max_core - len(core.points))
        outside = np.flatnonzero(violations > core.wanted)
        core.add(_choose_joining(pool.points, outside, violations, size, rng))
    gap = core.certificate(everywhere)[2]
    shortfall = None
    if not satisfied:
        shortfall = (
            f"The core set has reached max_core={max_core} points with a gap of {gap:.2g}, where "
            f"{core.tolerance:.2g} was asked for."
        )
    return core.solution(gap, radii, shortfall)


def _first_pool(
    problem: CoreProblem, search: str, max_core: int | None, rng: np.random.RandomState
) -> IntArray:
    m, columns = len(problem), problem.columns
    room = columns.room(min(max_core or EXPECTED, columns.n))
    if search == "exact" or columns.n <= max(room, SAMPLE):
        return np.arange(m)
    parts = len(problem.objects_of(np.zeros(1, dtype=int)))  # objects per point
    return sample_rows(m, max(room // parts, SAMPLE), rng)


def _next_pool(violations: Array, size: int, wanted: float, rng: np.random.RandomState) -> IntArray:
    """The points closest to a violation; where more than ``size`` violate, some at random."""
    outside = np.flatnonzero(violations > wanted)
    if len(outside) <= size:
        return np.sort(np.argpartition(-violations, size - 1)[:size])
    some = outside[sample_rows(len(outside), size - 1, rng, sort=False)]
    return np.unique(np.append(some, violations.argmax()))  # a pool of one must be the worst


def _choose_joining(
    points: IntArray, outside: IntArray, violations: Array, size: int, rng: np.random.RandomState
) -> IntArray:
    """The points that join the core set: one is the worst, of several each is the worse of two.

    The worst points of all often have a wrong label. A core set without room for every point that
    counts would consist of them, and separate the classes worse than a random sample.
    """
    if 1 < size < len(outside) // 2:
        outside = outside[sample_rows(len(outside), 2 * size, rng, sort=False)]
    if size == 1:
        return points[outside[violations[outside].argmax()], None]
    return points[outside[np.argsort(-violations[outside], kind="stable")[:size]]]


def _batch(size: int) -> int:
    """Number of points that join a core set of the given size, where it is not set."""
    return max(1, min(int(GROWTH * size), LARGEST_BATCH))


def _can_be_bounded(problem: CoreProblem) -> bool:
    """Whether lengths bound inner products, and rounding does not matter."""
    columns = problem.columns
    double = getattr(columns.objects, "dtype", None) == np.float64
    return double and is_proven(columns.kernel)


class _Pool:
    """Points among which violations are searched for, and where their objects are watched."""

    def __init__(self, problem: CoreProblem, points: IntArray):
        self.points = points
        objects = problem.objects_of(points)
        named = np.zeros(problem.columns.n, dtype=bool)
        named[objects] = True
        watched = np.flatnonzero(named)
        self.at = objects if len(watched) == len(named) else (np.cumsum(named) - 1)[objects]
        problem.columns.watch(watched)


class _Core:
    """The points of the core set, their Gram matrix, and weights that solve their program."""

    def __init__(
        self, problem: CoreProblem, points: IntArray, epsilon: float, stop: str, *, tie: float
    ):
        self.problem, self.points = problem, points[:0]
        self._epsilon, self._stop, self._tie = epsilon, stop, tie
        diagonal, v = problem.diag(), problem.v
        self._eta = float(np.max(diagonal + v))
        squares = np.maximum(diagonal - problem.shift(np.arange(len(problem))), 0.0)
        self._lengths = np.sqrt(squares) if _can_be_bounded(problem) else None
        self._judged: tuple[Array, Array] | None = None  # all values, with which weights
        self._inside = np.zeros(len(problem), dtype=bool)
        self.alpha: Array = np.zeros(0)
        self.gradient: Array = np.zeros(0)  # of the objective, once it was computed
        self._M: Array = np.empty((0, 0))
        self.add(points)
        self.alpha[:] = 1.0 / len(points)
        self.quadratic = float(self.alpha @ self.M @ self.alpha)
        self.linear = 0.0
        self.tolerance = np.inf  # gap at which the whole program counts as solved
        self.exact, self.worst = False, 0.0
        self._products: Array = np.zeros(0)  # of the matrix with the weights
        self._grown: Grown | None = None  # what a compiled loop has left

    @property
    def M(self) -> Array:
        return self._M[: len(self.points), : len(self.points)]

    @property
    def objective(self) -> float:
        return self.quadratic + self.linear

    @property
    def squared_radius(self) -> float:
        return max(self._eta - self.linear - self.quadratic, 0.0)

    @property
    def wanted(self) -> float:
        """Violation up to which a point is accepted: the tolerance, but not below rounding."""
        return max(self.tolerance, 1e-14 * max(self._eta, 1.0))

    def add(self, new: IntArray) -> None:
        """Let points join, with weight zero; the matrix has room for more than there are."""
        old, size = len(self.points), len(self.points) + len(new)
        if size > len(self._M):
            from isthmus.linalg.lanes import LANES, aligned  # compiled on first use

            room = max(size, min(2 * size, len(self.problem)) if old else 0)
            wider = aligned(room, -(-room // LANES) * LANES)  # what is not filled is not read
            wider[:old, :old] = self.M
            self._M = wider
        rows = self._M[old:size, :size]
        rows[:] = self.problem.gram(new, np.concatenate([self.points, new]))
        rows[:, old:].flat[:: len(new) + 1] += self.problem.shift(new)
        if old:
            if len(self.gradient):
                own = 2 * (rows[:, :old] @ self.alpha) + self.problem.v[new]
                self.gradient = np.concatenate([self.gradient, own])
            for part in block_slices(old, 1, block_size=64):  # what is turned stays in the cache
                self._M[part, old:size] = rows[:, part].T
        self.points = np.concatenate([self.points, new])
        self._inside[new] = True
        self.alpha = np.concatenate([self.alpha, np.zeros(len(new))])

    def solve(self, *, exactly: bool) -> None:
        """Solve the program of the core set, ten times as accurately as the whole.

        Or less ``exactly``, to a tenth of the worst violation, while that is larger and the core
        set is so large that it takes time.
        """
        v = self.problem.v[self.points]
        inner = 1e-3 * self.quadratic if np.isinf(self.tolerance) else 0.1 * self.tolerance
        self.exact = exactly or len(v) < SMALL or inner >= 0.1 * self.worst
        inner = inner if self.exact else 0.1 * self.worst
        # Of few points it is computed afresh: their path is then the same in all units.
        known = self.gradient if len(v) >= SMALL and len(self.gradient) else None
        self.alpha, _ = minimize_from(
            self._M, v, self.alpha, tol=max(inner, 1e-15), tie=self._tie, gradient=known
        )
        self._evaluate()

    def _evaluate(self) -> None:
        """Both parts of the objective, its gradient, and the gap that may be left."""
        v = self.problem.v[self.points]
        values = self._products = self.M @ self.alpha
        self.quadratic, self.linear = float(self.alpha @ values), float(v @ self.alpha)
        self.gradient = 2 * values + v
        epsilon = self._epsilon
        self.tolerance = (
            (2 * epsilon + epsilon**2) * self.squared_radius
            if self._stop == "radius"
            else epsilon * abs(self.quadratic)
        )

    def grow(
        self, problem: KernelProblem, max_core: int | None, progress: ProgressLine | None
    ) -> list[float]:
        """Let the worst of all points join one by one; the radius before the last, and so on."""

        def tell(size: int, worst: float) -> None:
            if progress is not None:
                progress.update(core=size, objective=self.objective, gap=max(worst, 0.0))

        self.solve(exactly=False)
        by_radius = 2 * self._epsilon + self._epsilon**2
        shares = (by_radius, 0.0) if self._stop == "radius" else (0.0, self._epsilon)
        grown = grow_singly(
            problem,
            Grown(self.points, self.alpha, self._M, [], np.empty(0)),
            terms=(self._eta, *shares),
            max_core=max_core,
            small=SMALL,
            tell=tell,
        )
        if grown is None:
            return []
        self.points, self.alpha, self._M = grown.points, grown.alpha.copy(), grown.M
        self._inside[self.points] = True
        self._grown = grown
        self._evaluate()
        return grown.radii[:-1]

    def own_gap(self) -> float:
        """What the points of the core set themselves leave to gain."""
        return max(float(2 * self.quadratic + self.linear - self.gradient.min()), 0.0)

    def certificate(self, everywhere: Array) -> tuple[float, float, float]:
        """The quadratic part, the objective, and how far that is above the optimum at most."""
        gap = max(float(everywhere.max(initial=0.0)), self.own_gap())
        return self.quadratic, self.objective, gap

    def violations(self, pool: _Pool | None) -> Array:
        """How far points of the pool, or all, are outside the ball; core points never are."""
        everything = pool is not None and len(pool.points) == len(self.problem)
        points = slice(None) if pool is None or everything else pool.points
        some = self._that_matter() if everything else None
        if some is None:
            values = self._values(pool, points)
            if everything:
                self._judged = values, self.alpha.copy()
            found = self._outside(points, values)
        else:
            found = np.full(len(self.problem), -np.inf)
            found[some] = self._outside(some, self._values_at(some))
        found[self._inside[points]] = -np.inf
        self.worst = float(found.max(initial=0.0))
        return found

    def _outside(self, points: IntArray | slice, values: Array) -> Array:
        found = values * -2.0
        found -= self.problem.v[points]
        found += 2 * self.quadratic + self.linear
        return found

    def _that_matter(self) -> IntArray | None:
        r"""The points that may be outside the ball, if few; None if all are to be judged.

        Since all were judged the centre has moved by :math:`\delta`, and no inner product of it
        with a point by more than :math:`\|\delta\|` times its length.
        """
        if self._judged is None or self._lengths is None or len(self.points) < SMALL:
            return None
        problem, (values, alpha) = self.problem, self._judged
        moved = self.alpha.copy()
        moved[: len(alpha)] -= alpha
        now = self._products - problem.shift(self.points) * self.alpha
        square = float(moved @ (now - values[self.points]))
        square += ROUNDING * float(np.abs(moved).sum()) * float(self._lengths.max()) ** 2
        apart = 2 * np.sqrt(max(square, 0.0))
        most = problem.columns.n // FEW
        for part in (slice(None, None, STRIDE), slice(None)):  # a part is most often too many
            bound = self._outside(part, values[part]) + apart * self._lengths[part]
            some = np.flatnonzero((bound > -1e-12 * abs(self._eta)) & ~self._inside[part])
            if len(some) > most:
                return None
        return some

    def _values_at(self, points: IntArray) -> Array:
        """Inner products of some points with the centre, from kernels that are not kept."""
        problem, used = self.problem, self.alpha > 0
        objects, coefficients = problem.expansion(self.points[used], self.alpha[used])
        parts = problem.objects_of(points)
        compared, at = np.unique(parts, return_inverse=True)
        sums = problem.columns.sums_at(compared, objects, coefficients)
        return problem.values(points, sums[at.reshape(parts.shape)], coefficients)

    def _values(self, pool: _Pool | None, points: IntArray | slice) -> Array:
        """Inner products of points with the centre."""
        if self._grown is not None and np.array_equal(self._grown.alpha, self.alpha):
            return self._grown.values
        problem, columns = self.problem, self.problem.columns
        used = self.alpha > 0
        objects, coefficients = problem.expansion(self.points[used], self.alpha[used])
        if pool is None:
            parts = problem.objects_of(np.arange(len(problem)))
            sums = columns.sums_at_all(objects, coefficients)[parts]
        else:
            sums = columns.sums(objects, coefficients)[pool.at]
        return problem.values(points, sums, coefficients)

    def solution(self, gap: float, radii: list[float], shortfall: str | None) -> CoreSolution:
        keep = self.alpha > 0
        return CoreSolution(
            self.points[keep],
            self.alpha[keep] / self.alpha[keep].sum(),
            self.objective,
            gap,
            self.squared_radius,
            len(self.points),
            radii,
            shortfall,
            negative_share(self.problem, self.points),
        )
