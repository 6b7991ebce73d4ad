"""How the quadratic program of a machine is solved: two solvers, as pieces."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from isthmus._checks import refusal
from isthmus._parameters import Constraint, check_parameters, choice, integer, none, real
from isthmus._piece import Piece
from isthmus._progress import ProgressLine
from isthmus.coreset.ball_vectors import solve_ball
from isthmus.coreset.engine import solve_core
from isthmus.coreset.program import CoreProblem, CoreSolution
from isthmus.typing import IntArray


@dataclass(kw_only=True)
class CoreSetSolver(Piece):
    r"""How a core set grows, and when it is large enough.

    A parameter that is "auto" takes the value that suits the machine:

    ========================= ========= ========== ========== ==========
    machine                   epsilon   stop       batch_size max_core
    ========================= ========= ========== ========== ==========
    MinimumEnclosingBall      0.001     "radius"   1          None
    CoreVectorClassifier      0.05      "relative" None       2000
    CoreVectorRegressor       0.01      "relative" None       2000
    CoreVectorOutlierDetector 0.01      "relative" None       2000
    CoreVectorRanker          0.05      "relative" None       4000
    ========================= ========= ========== ========== ==========

    Parameters
    ----------
    epsilon : float or "auto", default="auto"
        Accuracy at which the core set stops growing; 0 is exact.
    stop : {"auto", "relative", "radius"}, default="auto"
        What ``epsilon`` is an accuracy of. "relative": the duality gap as a share of the objective
        (of its quadratic term, where there is a linear one). "radius": the radius of the ball, as
        published; a useful machine then needs a very small ``epsilon``.
    search : {"auto", "exact", "sample"}, default="auto"
        Where points that violate the solution are searched for. "exact": among all points.
        "sample": in a pool of as many points as there is memory for kernel columns; when the pool
        is satisfied all points are examined, and those closest to a violation become the next
        pool. "auto" is exact where the columns of all objects fit in memory.
    batch_size : int, None or "auto", default="auto"
        Number of points that join at a time. None adds one at first and later half of the core
        set, at most 256; of several points each is the worse of two drawn at random. The published
        bound on the size of a core set holds for 1, which adds the worst point.
    max_core : int, None or "auto", default="auto"
        Maximum size of the core set; where it is reached a warning tells the gap. None is no limit.
    cache_size : float, default=200.0
        Megabytes for kernel columns of the pool. They belong to objects, so that classes, both
        sides of a tube, and pairs share them. Columns that do not fit are computed each time.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import CoreSetSolver, MinimumEnclosingBall
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> rough = MinimumEnclosingBall(solver=CoreSetSolver(epsilon=0.1), random_state=0).fit(X)
    >>> bool(rough.n_core_ <= 22)
    True
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "epsilon": real(0, 1) | choice("auto"),
        "stop": choice("auto", "relative", "radius"),
        "search": choice("auto", "exact", "sample"),
        "batch_size": integer(1) | none | choice("auto"),
        "max_core": integer(2) | none | choice("auto"),
        "cache_size": real(0, include_low=False),
    }

    epsilon: Any = "auto"
    stop: str = "auto"
    search: str = "auto"
    batch_size: Any = "auto"
    max_core: Any = "auto"
    cache_size: float = 200.0

    def completed_by(self, defaults: "CoreSetSolver") -> "CoreSetSolver":
        """The solver with the values of ``defaults`` where it says "auto", all checked."""
        names = ("epsilon", "stop", "batch_size", "max_core")
        chosen = {name: getattr(defaults, name) for name in names if _is_auto(self, name)}
        check_parameters(self)
        return replace(self, **chosen)

    def solve(
        self,
        problem: CoreProblem,
        start: IntArray,
        rng: np.random.RandomState,
        progress: ProgressLine | None = None,
        decided: Callable[[float, float, float], bool] | None = None,
    ) -> CoreSolution:
        """Solve the program from the points ``start`` on; nothing may be "auto".

        It stops early where ``decided(quadratic, objective, gap)`` is true of all points.
        """
        options: dict[str, Any] = self.get_params()
        del options["cache_size"]  # whoever made the columns has used it
        return solve_core(problem, start, **options, rng=rng, progress=progress, decided=decided)


@dataclass(kw_only=True)
class BallVectorSolver(Piece):
    r"""The ball vector machine: no quadratic programs, many small steps.

    It needs a kernel whose :math:`k(x,x)` is the same for all objects, so that the radius is known
    beforehand; it is there for comparison.

    Parameters
    ----------
    epsilon : float or "auto", default="auto"
        All points end within ``1 + epsilon`` radii of the centre, as published. A value that is
        small in radii may be large for the machine, whose length is a small share of the radius:
        0.05 is near chance on two interleaved half circles, and a warning says so. "auto" measures
        in units of the machine instead: every point ends at 0.45 of its squared length or more.
    max_iter : int, default=100_000
        Maximum number of steps; about :math:`1/\epsilon^2` are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.coreset import BallVectorSolver, CoreVectorClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = CoreVectorClassifier(solver=BallVectorSolver(), random_state=0)
    >>> bool(model.fit(X, X[:, 0] > 0).score(X, X[:, 0] > 0) > 0.9)
    True
    """

    __module__ = "isthmus.coreset"

    _constraints: ClassVar[dict[str, Constraint]] = {
        "epsilon": real(0, 1) | choice("auto"),
        "max_iter": integer(1),
    }

    epsilon: Any = "auto"
    max_iter: int = 100_000

    cache_size = 0.0  # it keeps no columns

    def checked(self) -> "BallVectorSolver":
        """The solver itself, if its parameters can be used."""
        check_parameters(self)
        return self

    def solve(
        self,
        problem: CoreProblem,
        start: IntArray,
        rng: np.random.RandomState,
        progress: ProgressLine | None = None,
    ) -> CoreSolution:
        """Solve the program from the first point of ``start`` on."""
        epsilon = None if _is_auto(self, "epsilon") else self.epsilon
        return solve_ball(problem, int(start[0]), epsilon=epsilon, max_iter=self.max_iter)


def as_core_solver(
    solver: Any, owner: Any, defaults: CoreSetSolver, *, expected: str = "'core' or a CoreSetSolver"
) -> CoreSetSolver:
    """What the parameter ``solver`` of ``owner`` stands for, completed and checked."""
    if isinstance(solver, str) and solver == "core":
        return CoreSetSolver().completed_by(defaults)
    if isinstance(solver, CoreSetSolver):
        return solver.completed_by(defaults)
    kind = ValueError if isinstance(solver, str) else TypeError
    raise kind(refusal(owner, "solver", expected, solver))


def as_any_solver(
    solver: Any, owner: Any, defaults: CoreSetSolver
) -> CoreSetSolver | BallVectorSolver:
    """The same for a machine that can also be solved by a ball of known radius."""
    if isinstance(solver, str) and solver == "ball":
        return BallVectorSolver().checked()
    if isinstance(solver, BallVectorSolver):
        return solver.checked()
    expected = "'core', 'ball', a CoreSetSolver or a BallVectorSolver"
    return as_core_solver(solver, owner, defaults, expected=expected)


def _is_auto(solver: CoreSetSolver | BallVectorSolver, name: str) -> bool:
    value = getattr(solver, name)
    return isinstance(value, str) and value == "auto"
