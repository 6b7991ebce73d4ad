"""How good is a sparse solution? Duality says it without knowing the best one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isthmus.typing import Array


@dataclass(frozen=True)
class RecoveryCertificate:
    r"""What is known about a solution of basis pursuit.

    Any :math:`y` with :math:`\|A^\top y\|_\infty\le1` proves that no admissible vector has an l1
    norm below :math:`b^\top y-\epsilon\|y\|`.

    Attributes
    ----------
    residual : float
        :math:`\|Ax-b\|`, to be compared with the noise allowed.
    gap : float
        Share of :math:`\|x\|_1` by which it can at most be above the minimum; rounding may make it
        slightly negative.
    n_iter : int
        Steps of the solver.
    solver : str
        The one that found the solution.
    """

    __module__ = "isthmus.sensing"

    residual: float
    gap: float
    n_iter: int
    solver: str


def certify(
    A: Any, b: Array, noise: float, x: Array, y: Array, *, n_iter: int, solver: str
) -> RecoveryCertificate:
    """The certificate of ``x`` by the dual vector ``y``, shrunk until it is admissible."""
    size = float(np.abs(x).sum())
    y = y / max(1.0, float(np.abs(A.T @ y).max(initial=0.0)))
    bound = float(b @ y) - noise * float(np.linalg.norm(y))
    gap = float(size - bound) / size if size else 0.0
    return RecoveryCertificate(float(np.linalg.norm(A @ x - b)), gap, n_iter, solver)
