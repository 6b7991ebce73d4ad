"""Criteria of few trial outputs by compiled code, where calls of NumPy take most of the time."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.structured.twin.landscape import Landscape
from isthmus.typing import Array, IntArray

# References up to which compiled code is faster for any number of rows, and rows up to which it is
# for more references.
FEW_REFERENCES, FEW_ROWS = 200, 7
# Rows that are judged at a time.
BLOCK = 64


class QuadraticTerms(NamedTuple):
    r"""What a criterion has in terms of :math:`g`: a matrix, and for each query a row and a number.

    Of the divergence these are :math:`Q`, :math:`u` and :math:`\eta`, of the inverse one
    :math:`[Q,M]`, :math:`v` and :math:`k_{xx}`.
    """

    matrix: Callable[[], Array]  # made when it is asked for
    linear: Array
    own: Array
    floor: float


def pays(n_rows: int, n_references: int) -> bool:
    """Whether compiled code is faster than products by BLAS between calls of NumPy."""
    return n_references <= FEW_REFERENCES or n_rows <= FEW_ROWS


def compiled_judge(
    land: Landscape, terms: QuadraticTerms, n_rows: int
) -> Callable[[Array, IntArray], tuple[Array, Array]] | None:
    """Values and gradients of trials, in the landscape's units; None where there is no such code.

    What is compiled knows the Gaussian kernel alone, in double precision.
    """
    kernel, unit = land.kernel, land.box.unit
    arrays = (terms.linear, terms.own, land.reference)
    if type(kernel) is not Gaussian or any(part.dtype != np.float64 for part in arrays):
        return None
    if not pays(min(n_rows, FEW_ROWS), len(land.reference)):
        return None
    from isthmus.structured.twin.judging_loops import judge_trials

    # Distances are measured in the landscape's units, where the kernel has another width.
    lines = np.ascontiguousarray(land.scaled(land.reference).T)
    matrix, linear = np.ascontiguousarray(terms.matrix()), np.ascontiguousarray(terms.linear)
    fixed = lines, float(kernel.gamma) * unit**2, matrix, linear, terms.own
    levels = 1.0 + land.noise, float(terms.floor)
    size = min(n_rows, BLOCK)
    g, products = np.empty((size, len(matrix))), np.empty((size, matrix.shape[1]))

    def judge(V: Array, queries: IntArray) -> tuple[Array, Array]:
        value, slope = np.empty(len(V)), np.empty_like(V)
        judge_trials(V, queries, *fixed, *levels, g, products, value, slope)
        return value, slope

    return judge
