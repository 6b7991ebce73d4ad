"""The quadratic program of a machine, and a solution of it on a core set."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.coreset.columns import KernelColumns
from isthmus.typing import Array, IntArray

EXAMINED = 200  # points whose Gram matrix is searched for negative eigenvalues
ROUNDING = 1e-5  # negative shares that single precision may leave


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

    def values(self, points: IntArray | slice, sums: Array, coefficients: Array) -> Array:
        """Inner products of points with the expansion, given its sums at their objects."""

    def gram(self, rows: IntArray, columns: IntArray) -> Array:
        """Block of M without what is on its diagonal alone."""

    def shift(self, rows: IntArray) -> Array:
        """What is on the diagonal alone, such as 1/C."""

    def diag(self) -> Array:
        """The diagonal of M, with the shift."""


@dataclass(frozen=True)
class CoreSolution:
    """Weights on a core set, and how close to the optimum they are.

    Attributes
    ----------
    indices, weights : the points with weight, and their weights, which sum to one.
    objective : value of the quadratic program.
    gap : bound on how far the objective is above the optimum.
    squared_radius : of the ball.
    n_core : number of points that were ever in the core set.
    radii : the radius after every step.
    shortfall : what was not reached, in words, or None.
    negative_share : for the Gram matrix of some points, the size of its most negative eigenvalue
        divided by that of its largest. Above rounding the matrix does not belong to a kernel, and
        nothing here holds.
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


def is_proven(kernel: Any) -> bool:
    """Whether the kernel is positive semi-definite for all objects; a stranger's claims nothing."""
    return bool(getattr(kernel, "certain", False))


def negative_share(problem: CoreProblem, points: IntArray) -> float:
    """How negative the Gram matrix of some of the points is, see :class:`CoreSolution`."""
    if is_proven(problem.columns.kernel):
        return 0.0
    some = points[np.linspace(0, len(points) - 1, min(len(points), EXAMINED)).astype(int)]
    values = np.linalg.eigvalsh(problem.gram(some, some))
    return float(max(-values[0], 0.0) / max(abs(values).max(), np.finfo(float).tiny))


def gram_column(problem: CoreProblem, index: int) -> Array:
    """The column of M that belongs to one point, with the shift."""
    one, rows = np.array([index]), np.arange(len(problem))
    column = np.concatenate(
        [problem.gram(rows[block], one)[:, 0] for block in block_slices(len(rows), 1)]
    )
    column[index] += problem.shift(one)[0]
    return column
