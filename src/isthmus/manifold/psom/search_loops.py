"""Compiled projections on the map through a grid of nodes, eight rows side by side.

The steps are those of :func:`isthmus.optimize.levenberg_marquardt.least_squares_rows`, for the rows
of eight lanes at once and without a jump: where rows differ in what they do, both is computed and
one is taken. A row that has ended leaves its lane to the next.
"""

from typing import NamedTuple

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lane_memory import lanes_at, number_at, put_lanes
from isthmus.linalg.lanes import (
    LANES,
    less,
    less_products,
    more,
    more_products,
    products,
    quotients,
    scaled,
    spread,
    where_larger,
)
from isthmus.manifold.psom.map_loops import fill_jets, some_left, take_windows

EPS, TINY = np.finfo(np.float64).eps, np.finfo(np.float64).tiny
# Rows of the book of lanes.
MU, FLOOR, PROMISED, N_STEPS, DONE, ENDED, N_ROWS = range(7)


class SearchRows(NamedTuple):
    """Where the parts of a search begin in the rows of its memory."""

    new: int  # systems of the trials, and their errors
    kept: int  # the same of the places
    book: int  # what is known of each row
    goal: int  # targets, then weights
    damped: int  # damped systems
    place: int
    step: int
    end: int


def search_rows_after(start: int, q: int, d: int) -> SearchRows:
    """Rows for searches in q coordinates with targets of d columns."""
    system = q * (q + 1) + 1
    starts = np.cumsum((start, system, system, N_ROWS, 2 * d, q * q, q, q))
    return SearchRows(*(int(row) for row in starts))


@njit(nogil=True, error_model="numpy", forceinline=True)
def _fill_systems(at, at_map, rows):
    """Fill in Gauss-Newton matrices with half gradients beside them, and the errors.

    Row a of a system has q + 1 entries, of which the first a + 1 and the last count; the error
    comes after all rows.
    """
    q, d, stride, jets = at_map.q, at_map.d, at_map.stride, at_map.jets
    goal, weights, new = rows.goal, rows.goal + at_map.d, rows.new
    error = spread(0.0)
    for c in range(d):
        residual = less(lanes_at(at, jets + c), 1.0, lanes_at(at, goal + c))
        weighted = products(lanes_at(at, weights + c), residual)
        error = more_products(error, weighted, residual)
    put_lanes(at, new + q * (q + 1), error)
    for a in range(q):
        slopes, gradient = jets + (a + 1) * stride, spread(0.0)
        for c in range(d):
            weighted = products(lanes_at(at, weights + c), lanes_at(at, slopes + c))
            residual = less(lanes_at(at, jets + c), 1.0, lanes_at(at, goal + c))
            gradient = more_products(gradient, weighted, residual)
        put_lanes(at, new + a * (q + 1) + q, gradient)
        for b in range(a + 1):
            entry, others = spread(0.0), jets + (b + 1) * stride
            for c in range(d):
                weighted = products(lanes_at(at, weights + c), lanes_at(at, slopes + c))
                entry = more_products(entry, weighted, lanes_at(at, others + c))
            put_lanes(at, new + a * (q + 1) + b, entry)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _accept(at, at_map, rows, tol, largest):
    """Take the trials that lower the error, and adapt the damping; tell which rows are done."""
    q, book = at_map.q, rows.book
    last, none, one = q * (q + 1), spread(0.0), spread(1.0)
    found, before = lanes_at(at, rows.new + last), lanes_at(at, rows.kept + last)
    better = where_larger(before, found, one, none)
    for r in range(last + 1):
        new, kept = lanes_at(at, rows.new + r), lanes_at(at, rows.kept + r)
        put_lanes(at, rows.kept + r, where_larger(better, none, new, kept))
    for a in range(q):
        there, here = lanes_at(at, at_map.x + a), lanes_at(at, rows.place + a)
        put_lanes(at, rows.place + a, where_larger(better, none, there, here))
    gain = less(before, 1.0, found)
    # As far as the linear model was right (Nielsen's rule); the first trial is the start.
    ratio = less(quotients(scaled(2.0, gain), lanes_at(at, book + PROMISED)), 1.0, one)
    trust = less_products(one, products(ratio, ratio), ratio)
    trust = where_larger(spread(0.2), trust, spread(0.2), trust)
    trust = where_larger(trust, spread(2.0), spread(2.0), trust)
    trust = where_larger(lanes_at(at, book + N_STEPS), none, trust, one)
    mu = products(lanes_at(at, book + MU), where_larger(better, none, trust, spread(4.0)))
    put_lanes(at, book + MU, mu)
    floor = lanes_at(at, book + FLOOR)
    least = scaled(tol, where_larger(found, floor, found, floor))
    done = where_larger(gain, least, none, better)
    put_lanes(at, book + DONE, where_larger(mu, spread(largest), one, done))


@njit(nogil=True, error_model="numpy", forceinline=True)
def _solve(at, A, q, x):
    """Solve A z = x in place by a factor L D L'; a pivot lost to rounding is kept above zero."""
    for a in range(q):
        diagonal, right = lanes_at(at, A + a * q + a), lanes_at(at, x + a)
        pivot, least = diagonal, scaled(EPS, diagonal)
        for b in range(a):
            entry = lanes_at(at, A + a * q + b)
            for c in range(b):
                upper, lower = lanes_at(at, A + c * q + a), lanes_at(at, A + b * q + c)
                entry = less_products(entry, upper, lower)
            lower = products(entry, lanes_at(at, A + b * q + b))
            put_lanes(at, A + b * q + a, entry)  # L D
            put_lanes(at, A + a * q + b, lower)
            pivot = less_products(pivot, entry, lower)
            right = less_products(right, lower, lanes_at(at, x + b))
        put_lanes(at, x + a, right)
        pivot = where_larger(pivot, least, pivot, least)
        put_lanes(at, A + a * q + a, quotients(spread(1.0), pivot))
    for a in range(q - 1, -1, -1):
        solved = products(lanes_at(at, x + a), lanes_at(at, A + a * q + a))
        for c in range(a + 1, q):
            solved = less_products(solved, lanes_at(at, A + c * q + a), lanes_at(at, x + c))
        put_lanes(at, x + a, solved)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _fill_damped(at, q, rows, low, high):
    """Fill in the damped systems of the free coordinates, with the descent as right-hand side.

    A coordinate at a border that the descent would cross is held there: its step is zero. Its
    entry of the matrix is none but the ridge.
    """
    none, one, trace, A, kept = spread(0.0), spread(1.0), spread(0.0), rows.damped, rows.kept
    for a in range(q):
        here, slope = lanes_at(at, rows.place + a), lanes_at(at, kept + a * (q + 1) + q)
        below = where_larger(here, spread(number_at(low, a)), one, none)
        above = where_larger(spread(number_at(high, a)), here, one, none)
        free = where_larger(slope, none, below, where_larger(none, slope, above, one))
        put_lanes(at, A + a * q + a, free)
        for b in range(a):
            both = products(free, lanes_at(at, A + b * q + b))
            put_lanes(at, A + a * q + b, products(both, lanes_at(at, kept + a * (q + 1) + b)))
        put_lanes(at, rows.step + a, products(free, less(none, 1.0, slope)))
        trace = more_products(trace, free, lanes_at(at, kept + a * (q + 1) + a))
    least = spread(TINY**0.5)
    ridge = products(lanes_at(at, rows.book + MU), where_larger(trace, least, trace, least))
    for a in range(q):
        free = lanes_at(at, A + a * q + a)
        entry = more_products(ridge, free, lanes_at(at, kept + a * (q + 1) + a))
        put_lanes(at, A + a * q + a, entry)


@njit(nogil=True, error_model="numpy", forceinline=True)
def _move(at, at_map, rows, low, high, max_iter, tol):
    """Fill in the next trials, and tell which rows have ended: no step left, or none of use."""
    q, kept, book, none, one = at_map.q, rows.kept, rows.book, spread(0.0), spread(1.0)
    _fill_damped(at, q, rows, low, high)
    _solve(at, rows.damped, q, rows.step)
    promised = spread(0.0)
    for a in range(q):
        # Without damping's part: -2 g's - s'Ns is what the linear model says.
        curved = scaled(2.0, lanes_at(at, kept + a * (q + 1) + q))
        for b in range(q):
            entry = lanes_at(at, kept + max(a, b) * (q + 1) + min(a, b))
            curved = more_products(curved, entry, lanes_at(at, rows.step + b))
        step = lanes_at(at, rows.step + a)
        promised = less_products(promised, step, curved)
        there = more(lanes_at(at, rows.place + a), 1.0, step)
        least, most = spread(number_at(low, a)), spread(number_at(high, a))
        there = where_larger(least, there, least, there)
        put_lanes(at, at_map.x + a, where_larger(there, most, most, there))
    put_lanes(at, book + PROMISED, promised)
    error, floor = lanes_at(at, kept + q * (q + 1)), lanes_at(at, book + FLOOR)
    least = scaled(tol, where_larger(error, floor, error, floor))
    n_steps, done = lanes_at(at, book + N_STEPS), lanes_at(at, book + DONE)
    going = where_larger(spread(max_iter), n_steps, less(one, 1.0, done), none)
    put_lanes(at, book + N_STEPS, more(n_steps, 1.0, going))
    settled = where_larger(promised, least, none, going)
    put_lanes(at, book + DONE, more(done, 1.0, settled))
    put_lanes(at, book + ENDED, where_larger(going, settled, none, one))


@njit(nogil=True)
def _enter(i, lane, x, targets, w, memory, at_map, rows, damping):
    """Give a lane to row i.

    Until an error of the row is finite, its lane holds the start and a system without a slope, so
    that a row without one ends there.
    """
    q, d, square = at_map.q, at_map.d, 0.0
    for c in range(d):
        target, weight = targets[i, c], w[min(i, len(w) - 1), c]
        memory[rows.goal + c, lane], memory[rows.goal + d + c, lane] = target, weight
        square += weight * target * target
    for a in range(q):
        memory[at_map.x + a, lane] = memory[rows.place + a, lane] = x[i, a]
    for r in range(q * (q + 1)):
        memory[rows.kept + r, lane] = 0.0
    memory[rows.kept + q * (q + 1), lane] = np.inf
    memory[rows.book + MU, lane], memory[rows.book + N_STEPS, lane] = damping, 0.0
    memory[rows.book + PROMISED, lane] = 1.0
    # Rounding of an exact fit is relative to the target, not to its vanishing error.
    memory[rows.book + FLOOR, lane] = EPS * square + TINY


@njit(nogil=True)
def search_rows(
    x, targets, w, W, tables, memory, at_map, rows, row, low, high, settings, error, converged
):
    """Move each row of ``x`` to where the map comes nearest to its target; return the most steps.

    ``W`` is flat. ``w`` has a row of weights for each target, or one for all. ``memory`` has the
    rows of ``at_map`` and ``rows``, and ``row`` tells which row a lane has: -1 for none.
    ``settings`` are the most steps, the tolerance, the first damping and the largest. ``error``
    and ``converged`` are filled in.
    """
    (n, q), book = x.shape, rows.book
    max_iter, tol, damping, largest = settings
    nodes, factors, scale, counts, offsets = tables
    at, weights, axes = memory.ctypes.data, W.ctypes.data, scale.ctypes.data
    lowest, highest = low.ctypes.data, high.ctypes.data
    most, begun, active = 0.0, 0, 0
    for lane in range(LANES):
        for a in range(q):
            memory[at_map.x + a, lane] = low[a]  # of a lane without a row
    while True:
        for lane in range(LANES):
            i = row[lane]
            if i >= 0 and memory[book + ENDED, lane] > 0.0:
                most = max(most, memory[book + N_STEPS, lane])
                for a in range(q):
                    x[i, a] = memory[rows.place + a, lane]
                error[i] = memory[rows.kept + q * (q + 1), lane]
                converged[i] = memory[book + DONE, lane] > 0.0 and error[i] < np.inf
                row[lane] = i = -1
                active -= 1
            if i < 0 and begun < n:
                _enter(begun, lane, x, targets, w, memory, at_map, rows, damping)
                row[lane] = begun
                begun += 1
                active += 1
        if active == 0:
            return most
        if some_left(at, at_map):
            take_windows(memory, at_map, W, nodes, factors, scale, counts, offsets)
        fill_jets(at, at_map, weights, axes)
        _fill_systems(at, at_map, rows)
        _accept(at, at_map, rows, tol, largest)
        _move(at, at_map, rows, lowest, highest, max_iter, tol)
