"""What the machines on core sets share: their solver, their function, predictions."""

import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from isthmus._checks import check_seed
from isthmus._estimator import Estimator
from isthmus._parameters import Constraint, choice, instance, real, resolved_by, seed, verbosity
from isthmus._progress import ProgressLine
from isthmus._warnings import warn
from isthmus.blocks.fitting import open_fit, refuse_blocks
from isthmus.blocks.rows import Rows, open_rows
from isthmus.coreset.columns import KernelColumns
from isthmus.coreset.program import ROUNDING, CoreProblem, CoreSolution, is_proven
from isthmus.coreset.solver import BallVectorSolver, CoreSetSolver, as_core_solver
from isthmus.kernels.base import Kernel
from isthmus.kernels.definiteness import check_sample
from isthmus.kernels.drawn import DrawnRows
from isthmus.kernels.expansion import Expansion
from isthmus.kernels.objects import check_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.linalg.spectrum import refuse_negative
from isthmus.linalg.threads import threads_for
from isthmus.typing import Array, IntArray, Objects

A_KERNEL = resolved_by(as_kernel, "a kernel, its name or a callable")
#: The cost of errors, for all machines that have one.
COST = real(0, include_low=False)
KINDS_OF_OBJECTS = frozenset({"vectors", "objects", "sequences", "graphs", "pairwise"})


class CoreMachine(Estimator):
    """A machine whose quadratic program is solved on a core set.

    What it learned is :attr:`expansion_`; the kernel, the objects with weight and their
    coefficients are views of it.
    """

    expansion_: Expansion
    _constraints: ClassVar[dict[str, Constraint]] = {
        "kernel": A_KERNEL,
        "solver": choice("core") | instance(CoreSetSolver),
        "random_state": seed,
        "verbose": verbosity,
    }
    #: What the solver does where it leaves the choice to the machine.
    solver_defaults: ClassVar[CoreSetSolver]

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its parameters resolved."""
        return self.expansion_.kernel

    @property
    def objects_(self) -> Objects:
        """The training objects with weight."""
        return self.expansion_.objects

    @property
    def dual_coef_(self) -> Array:
        """Coefficients of the objects."""
        return self.expansion_.weights[:, 0]

    @property
    def provides(self) -> frozenset[str]:
        """What the machine can do, see :mod:`isthmus.typing`."""
        kinds = as_kernel(self.kernel).provides & KINDS_OF_OBJECTS
        return kinds | {"predict"} if callable(getattr(self, "predict", None)) else kinds

    def with_expansion(self, expansion: Expansion) -> Self:
        """A fitted copy with another function, such as a shorter one."""
        model = copy.copy(self)
        model.expansion_ = expansion
        return model

    def _check_solver(self) -> CoreSetSolver | BallVectorSolver:
        return as_core_solver(self.solver, self, self.solver_defaults)

    def _check_seed(self) -> np.random.RandomState:
        return check_seed(self.random_state, "random_state", self)

    def _check_objects(self, X: Any, *, reset: bool) -> Objects:
        kernel = as_kernel(self.kernel) if reset else self.kernel_
        return check_objects(self, X, kernel, reset=reset)

    def _open_blocks(
        self, X: Any, *labels: Any, raw: tuple[str, ...] = ("y",)
    ) -> tuple[Rows, Kernel]:
        """Rows that are read block by block, and the kernel with numbers from them."""
        kernel = as_kernel(self.kernel)
        if kernel.pairwise:
            refuse_blocks(self, "rows of a Gram matrix have as many columns as there are rows")
        if isinstance(self._check_solver(), BallVectorSolver):
            refuse_blocks(
                self, "the ball solver examines all rows at once", instead="solver='core'"
            )
        objects = not kernel.vectors
        open_fit(self, X, objects=objects).require_passes(
            "core sets first, then their certificate over all rows"
        )
        given = [part for part in labels if part is not None]  # else rows come with them
        rows = open_rows(self, X, *given, raw=raw, numbers=("y",) if objects else ("X", "y"))
        drawn = DrawnRows(rows, np.arange(1), kernel=kernel)
        return rows, drawn.resolve(kernel)

    def _solve(
        self,
        solver: CoreSetSolver | BallVectorSolver,
        problem: CoreProblem,
        start: IntArray,
        rng: np.random.RandomState,
        **options: Any,
    ) -> CoreSolution:
        # Products take turns with other steps, through which a second thread would spin.
        with threads_for(0), ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            return solver.solve(problem, start, rng, line, **options)

    def _judge(self, solutions: list[CoreSolution]) -> None:
        """Refuse an indefinite kernel; warn once of what some program did not reach."""
        ratio = max(found.negative_share for found in solutions)
        if ratio > ROUNDING:
            refuse_negative(np.array([-ratio, 1.0]), self)
        short = [found for found in solutions if found.shortfall is not None]
        if short:
            worst = max(short, key=lambda found: found.gap)
            others = f" So have {len(short) - 1} other machines." if len(short) > 1 else ""
            warn(f"{worst.shortfall}{others}", ConvergenceWarning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = as_kernel(self.kernel).pairwise
        return tags


def kernel_columns(
    kernel: Kernel, X: Objects, solver: CoreSetSolver | BallVectorSolver, owner: Any
) -> KernelColumns:
    """Kernels of the objects, kept in the memory that the solver allows."""
    if not (kernel.pairwise or is_proven(kernel)):
        check_sample(kernel, X, owner)
    return KernelColumns(kernel, X, solver.cache_size)


def single_expansion(
    kernel: Kernel, X: Objects, indices: IntArray, weights: Array, offset: float = 0.0
) -> Expansion:
    """One function over some of the training objects."""
    return Expansion(kernel, kernel.reference(X, indices), weights[:, None], np.array([offset]))
