"""What the machines on core sets share: parameters of the engine, and predictions."""

import copy
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from isthmus._checks import check_choice, check_float, check_int
from isthmus._progress import ProgressLine
from isthmus.coreset.columns import KernelColumns
from isthmus.coreset.engine import ROUNDING, CoreProblem, CoreSolution, ball_vectors, solve_core
from isthmus.kernels.base import Kernel
from isthmus.kernels.objects import check_objects, n_objects
from isthmus.kernels.resolve import as_kernel
from isthmus.typing import Array, IntArray


class CoreMachine(BaseEstimator):
    """A machine whose quadratic program is solved on a core set."""

    kernel_: Kernel

    def _checked_engine(self) -> dict[str, Any]:
        return {
            "epsilon": check_float(self.epsilon, "epsilon", self, low=0.0),
            "stop": check_choice(self.stop, "stop", self, ("relative", "radius")),
            "search": check_choice(self.search, "search", self, ("auto", "exact", "sample")),
            "batch": None if self.batch is None else check_int(self.batch, "batch", self, low=1),
            "max_core": None
            if self.max_core is None
            else check_int(self.max_core, "max_core", self, low=2),
            "rng": check_random_state(self.random_state),
        }

    def _columns(self, kernel: Kernel, X: Any) -> KernelColumns:
        return KernelColumns(
            kernel, X, check_float(self.cache_size, "cache_size", self, include_low=False)
        )

    def _solved(self, problem: CoreProblem, start: IntArray, **engine: Any) -> CoreSolution:
        if getattr(self, "solver", "core") == "ball":
            return ball_vectors(problem, int(start[0]), epsilon=engine["epsilon"])
        with ProgressLine(type(self).__name__, verbose=self.verbose) as line:
            return solve_core(problem, start, **engine, progress=line)

    def _judged(self, solutions: list[CoreSolution]) -> None:
        """Refuse what is no kernel; warn once of what was not reached by some machine."""
        ratio = max(found.negative_share for found in solutions)
        if ratio > ROUNDING:
            raise ValueError(
                f"The kernel matrix of {type(self).__name__} is not positive semi-definite "
                f"(eigenvalue ratio {-ratio:.2g}), so its program has no solution that means "
                "anything. Put SpectrumRepair(kernel) of isthmus.kernels around the kernel, or "
                "repaired_spectrum around the matrix."
            )
        short = [found for found in solutions if found.shortfall is not None]
        if short:
            worst = max(short, key=lambda found: found.gap)
            others = f" So have {len(short) - 1} other machines." if len(short) > 1 else ""
            warnings.warn(f"{worst.shortfall}{others}", ConvergenceWarning, stacklevel=3)

    def _checked_objects(self, X: Any, *, reset: bool) -> Any:
        kernel = as_kernel(self.kernel) if reset else self.kernel_
        return check_objects(self, X, kernel, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = as_kernel(self.kernel).pairwise
        return tags

    def _expansion_values(self, X: Any, coefficients: Array) -> Array:
        """``k(X, objects_) @ coefficients``, block by block."""
        blocks = self.kernel_.blocks(X, self.objects_)
        return np.concatenate([K @ coefficients for _, K in blocks])

    # Reduced sets: see isthmus.reduction.compress --------------------------------------

    def _kernel_expansion(self) -> tuple[Kernel, Any, Array]:
        if self.kernel_.pairwise:
            raise ValueError(
                f"{type(self).__name__} on a Gram matrix knows no objects: use reduce_expansion "
                "on the matrix and dual_coef_."
            )
        return self.kernel_, self.objects_, np.atleast_2d(self.dual_coef_).T

    def _with_kernel_expansion(self, objects: Any, coefficients: Array) -> "CoreMachine":
        model = copy.copy(self)
        model.objects_ = objects
        model.dual_coef_ = coefficients.T.reshape(
            (n_objects(objects),) if self.dual_coef_.ndim == 1 else (-1, n_objects(objects))
        )
        return model
