r"""Descents on two levels: most steps with an inverse of low rank, few with the exact one.

An evaluation of the KL criterion is a product of :math:`g` with :math:`Q=G^{-1}`. Where
:math:`\tilde Q\approx Q` is known whose products cost little, the descent is along

.. math:: g^\top Qg\approx g^\top\tilde Qg+2e^\top g-e^\top g_0,\qquad e=(Q-\tilde Q)g_0,

which has the exact value and slope at the last point :math:`g_0` where :math:`Q` was asked. Its
minimum is the next such point, and errors shrink by that of :math:`\tilde Q` each time. A row has
converged when its exact slope says so, and one that does not come nearer goes on with the exact
criterion alone: what is found is a minimum of that in either case.
"""

from typing import Any, NamedTuple

import numpy as np

from isthmus.blocks.slices import block_slices
from isthmus.kernels.vectors.gaussian import Gaussian
from isthmus.optimize.batched_lbfgs import minimize_rows
from isthmus.structured.twin.formulas import CriterionValues, kl_criterion
from isthmus.structured.twin.inverse import (
    LandmarkInverse,
    LowRankInverse,
    OutputInverse,
    SingleInverse,
    SubsetInverse,
)
from isthmus.structured.twin.judging import QuadraticTerms, compiled_judge, pays
from isthmus.structured.twin.landscape import Landscape
from isthmus.typing import Array, BoolArray, IntArray

# Longest first step, in units of the spread of the outputs: starts are nearer to the answer.
FIRST_LENGTH = 0.3
# Slope, in the unit of a search's ``tol``, that is enough before the exact inverse is asked, and
# share of ``tol`` once it has been.
BEFORE, AFTER = 1e-3, 0.3
# Ends of one query that are nearer than this, in units of the spread, are the same minimum.
SAME = 1e-2
# Steps before the exact inverse is asked: what takes more is not like the exact criterion.
MOST_STEPS = 30
# Times that the exact inverse is asked, and the share of a slope that may be left after one.
MOST_ROUNDS, CONTRACTION = 5, 0.3
# Numbers of a block of rows g that stay in the cache from one pass over them to the next, and rows
# that a product needs to be fast.
CACHED, LEAST_BLOCK = 2**17, 64
# Tolerance and noise from which single precision is enough for the inverse of low rank.
SINGLE_TOL, SINGLE_NOISE = 1e-3, 0.1
# Rows from which two levels pay.
LEAST_ROWS = 24


# What stands for the exact inverse.
LowInverse = LowRankInverse | SubsetInverse | SingleInverse


class Levels(NamedTuple):
    """Queries of the KL criterion, by what a search on two levels asks of them."""

    u: Array
    eta: Array
    floor: float
    inverse: OutputInverse | LandmarkInverse


class Ends(NamedTuple):
    """Where descents ended, in the landscape's units."""

    x: Array
    value: Array
    converged: BoolArray


class Correction(NamedTuple):
    """What the exact inverse adds to the other at one point of each row."""

    e: Array
    at_point: Array  # e'g₀


def rough_criterion(
    levels: Levels,
    low: LowInverse,
    g: Array,
    g_yy: Array,
    queries: IntArray,
    correction: Correction | None = None,
) -> CriterionValues:
    """The criterion with the inverse of low rank, corrected to be exact at one point."""
    Qg = low.rows(g)
    explained = np.einsum("ij,ij->i", g, Qg)
    if correction is not None:
        explained += 2 * np.einsum("ij,ij->i", correction.e, g) - correction.at_point
        Qg += correction.e
    u, eta = levels.u[queries], levels.eta[queries]
    # The exact value is never below the floor. This one is by its error, and stays smooth there.
    return kl_criterion(g, g_yy, Qg, u, eta, levels.floor / 2, explained)


def single_is_enough(land: Landscape, options: dict[str, Any]) -> bool:
    """Whether a search may be in single precision: a rough one, where the noise is not small."""
    rough = options["tol"] >= SINGLE_TOL and land.noise >= SINGLE_NOISE
    return rough and type(land.kernel) is Gaussian and land.reference.dtype == np.float64


def rough_descent(
    land: Landscape,
    levels: Levels,
    low: LowInverse,
    x: Array,
    queries: IntArray,
    options: dict[str, Any],
    correction: Correction | None = None,
) -> Ends:
    """Minimise the criterion with the inverse of low rank."""

    size = max(LEAST_BLOCK, CACHED // len(land.reference))
    if single_is_enough(land, options):
        land, size, low = land.single, 2 * size, low.in_single()
        levels = levels._replace(u=levels.u.astype(np.float32))
        if correction is not None:
            correction = correction._replace(e=correction.e.astype(np.float32))
    dtype = land.reference.dtype

    def value_and_gradient(V: Array, rows: IntArray) -> tuple[Array, Array]:
        value, slope = np.empty(len(V)), np.empty_like(V)
        for block in block_slices(len(V), 1, block_size=size):
            Y, g, g_yy = land.rows(V[block].astype(dtype, copy=False))
            some = rows[block]
            here = None if correction is None else Correction(*(part[some] for part in correction))
            found = rough_criterion(levels, low, g, g_yy, queries[some], here)
            value[block], slope[block] = found.value, land.slope(Y, g, found)
        return value, slope

    result = minimize_rows(
        value_and_gradient,
        x,
        bounds=land.bounds,
        scale=1.0,  # values are of the size of kernel values, whatever the batch
        first_length=FIRST_LENGTH,
        rounding=float(np.finfo(dtype).eps),
        **options,
    )
    return Ends(result.x, result.value, result.converged)


def exact_descent(
    land: Landscape,
    criterion: Any,
    x: Array,
    queries: IntArray,
    options: dict[str, Any],
    terms: QuadraticTerms | None = None,
) -> Ends:
    """Minimise the criterion itself; where its terms are given, by compiled code if that pays."""
    judge = None if terms is None else compiled_judge(land, terms, len(x))

    def value_and_gradient(V: Array, rows: IntArray) -> tuple[Array, Array]:
        if judge is not None and pays(len(V), len(land.reference)):
            return judge(V, queries[rows])
        Y, g, g_yy = land.rows(V)
        found = criterion(g, g_yy, queries[rows])
        return found.value, land.slope(Y, g, found)

    result = minimize_rows(
        value_and_gradient,
        x,
        bounds=land.bounds,
        scale=1.0,
        first_length=FIRST_LENGTH,
        **options,
    )
    return Ends(result.x, result.value, result.converged)


def descend(
    land: Landscape,
    criterion: Any,
    levels: Levels,
    low: LowInverse,
    x: Array,
    queries: IntArray,
    options: dict[str, Any],
) -> Ends:
    """Minimise the criterion of every row; rows that end where one before did have no value."""
    tol = options["tol"]
    before = options | {
        "tol": max(tol, BEFORE),
        "max_iter": min(options["max_iter"], MOST_STEPS),
    }
    x = rough_descent(land, levels, low, x, queries, before).x
    value, converged = np.full(len(x), np.inf), np.zeros(len(x), dtype=bool)
    rows = _different(x, queries)
    last, point = np.full(len(rows), np.inf), x[rows]
    for _ in range(MOST_ROUNDS):
        Y, g, g_yy = land.rows(point)
        Qg = levels.inverse.rows(g)
        of = queries[rows]
        found = kl_criterion(g, g_yy, Qg, levels.u[of], levels.eta[of], levels.floor)
        slope = land.optimality(point, land.slope(Y, g, found))
        nearer = slope <= CONTRACTION * last
        # Others stay where they were, and are left to the exact criterion.
        better = nearer | (found.value < value[rows])
        x[rows[better]], value[rows[better]] = point[better], found.value[better]
        converged[rows] = nearer & (slope <= tol)
        go = nearer & (slope > tol)
        rows, point, last = rows[go], point[go], slope[go]
        if not len(rows):
            break
        e = Qg[go] - low.rows(g[go])
        correction = Correction(e, np.einsum("ij,ij->i", e, g[go]))
        after = options | {"tol": AFTER * tol}
        point = rough_descent(land, levels, low, point, queries[rows], after, correction).x
    open_rows = np.flatnonzero(~converged & np.isfinite(value))
    if len(open_rows):
        ends = exact_descent(land, criterion, x[open_rows], queries[open_rows], options)
        x[open_rows], value[open_rows], converged[open_rows] = ends
    return Ends(x, value, converged)


def _different(x: Array, queries: IntArray) -> IntArray:
    """Rows whose end is not that of a row before with the same query; rows go start by start."""
    n = int(queries.max(initial=-1)) + 1
    kept = np.ones(len(x), dtype=bool)
    for begin in range(n, len(x), n):
        rows = np.arange(begin, begin + n)
        for earlier in range(0, begin, n):
            there = rows - begin + earlier
            near = np.abs(x[rows] - x[there]).max(axis=1) < SAME
            kept[rows] &= ~(near & kept[there])
    return np.flatnonzero(kept)
