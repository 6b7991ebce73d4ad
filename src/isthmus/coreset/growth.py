"""A core set that grows by the worst point of all, one at a time, in a compiled loop.

A round is short: one point joins, a program of a few points is solved, and each of the other points
is looked at. Kernels are computed before they are needed, for the points that are farthest
outside: most of these join sooner or later, and several columns together cost little more than one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from isthmus.coreset.problems import KernelProblem
from isthmus.coreset.simplex import NUMBERS, TIE
from isthmus.typing import Array, IntArray

TOGETHER = 8  # points whose columns are computed together, where that costs little


class Grown(NamedTuple):
    """A core set: weights, Gram matrix (with room for more), the radius of each size, all values.

    ``values`` are the inner products of all points with the centre.
    """

    points: IntArray
    alpha: Array
    M: Array
    radii: list[float]
    values: Array


def grow_singly(
    problem: KernelProblem,
    grown: Grown,
    *,
    terms: tuple[float, float, float],
    max_core: int | None,
    small: int,
    tell: Callable[[int, float], Any],
) -> Grown | None:
    """Let the worst point join until none is outside, or memory for rows of the matrix is full.

    None where there is not even room to begin.

    Parameters
    ----------
    problem : what to solve; all its objects are watched.
    grown : the first points, with weights.
    terms : :math:`\\eta`, and the shares of the squared radius and of the quadratic part of the
        objective that a violation may have.
    max_core : maximum size of the core set.
    small : size from which a round may be solved less exactly.
    tell : called with the size of the core set and the worst violation before rows are computed.
    """
    from isthmus.coreset.growth_loops import farthest, grow  # compiled on first use

    m, first = len(problem), len(grown.points)
    room = problem.columns.room(m)
    together = TOGETHER if problem.columns.kernel.vectors else 1
    if first + together > room:
        return None
    largest = m if max_core is None else min(max_core, m)
    shifts, v = problem.shift(np.arange(m)), np.ascontiguousarray(problem.v)
    slots: IntArray = np.full(m, -1)
    core, alpha, M = grown.points, grown.alpha, grown.M
    radii: Array = np.empty(0)
    rows: Array = np.empty((0, m))
    size, known, new = first, 0, grown.points
    while True:
        if known + len(new) > len(rows):  # each row may belong to a point that joins
            width = min(room, max(known + 4 * len(new), 3 * len(rows) // 2))
            rows, core = _wider(rows, width), _wider(core, width)
            alpha, radii = _wider(alpha, width), _wider(radii, width)
            M = _wider(_wider(M[:size, :size], width).T, width)
        rows[known : known + len(new)] = problem.rows(new)
        slots[new] = np.arange(known, known + len(new))
        if not known:
            values = alpha[:size] @ rows[:size]
        known += len(new)
        most = (largest, small, max(1, NUMBERS // size))
        size, wanted, outside = grow(
            core, size, alpha, M, rows, slots, values, shifts, v, terms, most, TIE, radii
        )
        tell(size, outside)
        if wanted < 0 or known + together > room:
            break
        new = farthest(values, v, slots, wanted, together)
    weights = np.zeros(known)
    weights[slots[core[:size]]] = alpha[:size]
    values = weights @ rows[:known]  # afresh: those of the loop have gathered rounding errors
    return Grown(core[:size], alpha[:size], M, radii[first - 1 : size].tolist(), values)


def _wider(x: Any, size: int) -> Any:
    """The same with zeros behind."""
    wider = np.zeros((size, *x.shape[1:]), dtype=x.dtype)
    wider[: len(x)] = x
    return wider
