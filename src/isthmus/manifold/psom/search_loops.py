"""Compiled projections on the map through a grid of nodes, eight rows side by side.

The steps are those of :func:`isthmus.optimize.levenberg_marquardt.least_squares_rows`, for the rows
of eight lanes at once and without a jump: where rows differ in what they do, both is computed and
one is taken. A row that has ended leaves its lane to the next.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    less,
    less_products,
    load_row,
    more,
    more_products,
    products,
    quotients,
    scaled,
    spread,
    store_row,
    where_larger,
)
from isthmus.manifold.psom.map_loops import fill_jets

EPS, TINY = np.finfo(np.float64).eps, np.finfo(np.float64).tiny
# Rows of the book of lanes.
MU, FLOOR, PROMISED, N_STEPS, DONE, ENDED, N_ROWS = range(7)


@njit(nogil=True)
def _fill_systems(jets, stride, goal, d, q, new):
    """Fill in Gauss-Newton matrices with half gradients beside them, and the errors.

    ``goal`` has targets and then weights as rows. Row a of a system has q + 1 entries, of which
    the first a + 1 and the last count; the error comes after all rows.
    """
    error = spread(0.0)
    for c in range(d):
        residual = less(load_row(jets, c, 0), 1.0, load_row(goal, c, 0))
        weighted = products(load_row(goal, d + c, 0), residual)
        error = more_products(error, weighted, residual)
    store_row(new, q * (q + 1), 0, error)
    for a in range(q):
        slopes, gradient = (a + 1) * stride, spread(0.0)
        for c in range(d):
            weighted = products(load_row(goal, d + c, 0), load_row(jets, slopes + c, 0))
            residual = less(load_row(jets, c, 0), 1.0, load_row(goal, c, 0))
            gradient = more_products(gradient, weighted, residual)
        store_row(new, a * (q + 1) + q, 0, gradient)
        for b in range(a + 1):
            entry = spread(0.0)
            for c in range(d):
                weighted = products(load_row(goal, d + c, 0), load_row(jets, slopes + c, 0))
                entry = more_products(entry, weighted, load_row(jets, (b + 1) * stride + c, 0))
            store_row(new, a * (q + 1) + b, 0, entry)


@njit(nogil=True)
def _accept(new, kept, trial, place, book, tol, largest):
    """Take the trials that lower the error, and adapt the damping; tell which rows are done."""
    last, none, one = len(new) - 1, spread(0.0), spread(1.0)
    found, before = load_row(new, last, 0), load_row(kept, last, 0)
    better = where_larger(before, found, one, none)
    for r in range(last + 1):
        entry = where_larger(better, none, load_row(new, r, 0), load_row(kept, r, 0))
        store_row(kept, r, 0, entry)
    for a in range(len(trial)):
        here = where_larger(better, none, load_row(trial, a, 0), load_row(place, a, 0))
        store_row(place, a, 0, here)
    gain = less(before, 1.0, found)
    # As far as the linear model was right (Nielsen's rule); the first trial is the start.
    ratio = less(quotients(scaled(2.0, gain), load_row(book, PROMISED, 0)), 1.0, one)
    trust = less_products(one, products(ratio, ratio), ratio)
    trust = where_larger(spread(0.2), trust, spread(0.2), trust)
    trust = where_larger(trust, spread(2.0), spread(2.0), trust)
    trust = where_larger(load_row(book, N_STEPS, 0), none, trust, one)
    mu = products(load_row(book, MU, 0), where_larger(better, none, trust, spread(4.0)))
    store_row(book, MU, 0, mu)
    floor = load_row(book, FLOOR, 0)
    least = scaled(tol, where_larger(found, floor, found, floor))
    done = where_larger(gain, least, none, better)
    store_row(book, DONE, 0, where_larger(mu, spread(largest), one, done))


@njit(nogil=True)
def _solve(A, q, x):
    """Solve A z = x in place by a factor L D L'; a pivot lost to rounding is kept above zero."""
    for a in range(q):
        diagonal, right = load_row(A, a * q + a, 0), load_row(x, a, 0)
        pivot, least = diagonal, scaled(EPS, diagonal)
        for b in range(a):
            entry = load_row(A, a * q + b, 0)
            for c in range(b):
                entry = less_products(entry, load_row(A, c * q + a, 0), load_row(A, b * q + c, 0))
            lower = products(entry, load_row(A, b * q + b, 0))
            store_row(A, b * q + a, 0, entry)  # L D
            store_row(A, a * q + b, 0, lower)
            pivot = less_products(pivot, entry, lower)
            right = less_products(right, lower, load_row(x, b, 0))
        store_row(x, a, 0, right)
        pivot = where_larger(pivot, least, pivot, least)
        store_row(A, a * q + a, 0, quotients(spread(1.0), pivot))
    for a in range(q - 1, -1, -1):
        solved = products(load_row(x, a, 0), load_row(A, a * q + a, 0))
        for c in range(a + 1, q):
            solved = less_products(solved, load_row(A, c * q + a, 0), load_row(x, c, 0))
        store_row(x, a, 0, solved)


@njit(nogil=True)
def _fill_damped(kept, place, low, high, mu, A, step):
    """Fill in the damped systems of the free coordinates, with the descent as right-hand side.

    A coordinate at a border that the descent would cross is held there: its step is zero.
    """
    q, none, one, trace = len(place), spread(0.0), spread(1.0), spread(0.0)
    for a in range(q):
        here, slope = load_row(place, a, 0), load_row(kept, a * (q + 1) + q, 0)
        below = where_larger(here, spread(low[a]), one, none)
        above = where_larger(spread(high[a]), here, one, none)
        free = where_larger(slope, none, below, where_larger(none, slope, above, one))
        store_row(A, a * q + a, 0, free)
        for b in range(a):
            both = products(free, load_row(A, b * q + b, 0))
            store_row(A, a * q + b, 0, products(both, load_row(kept, a * (q + 1) + b, 0)))
        store_row(step, a, 0, products(free, less(none, 1.0, slope)))
        trace = more_products(trace, free, load_row(kept, a * (q + 1) + a, 0))
    least = spread(TINY**0.5)
    ridge = products(mu, where_larger(trace, least, trace, least))
    for a in range(q):
        free = load_row(A, a * q + a, 0)
        entry = more_products(ridge, free, load_row(kept, a * (q + 1) + a, 0))
        store_row(A, a * q + a, 0, entry)


@njit(nogil=True)
def _move(kept, place, low, high, max_iter, tol, book, A, step, trial):
    """Fill in the next trials, and tell which rows have ended: no step left, or none of use."""
    q, none, one = len(place), spread(0.0), spread(1.0)
    _fill_damped(kept, place, low, high, load_row(book, MU, 0), A, step)
    _solve(A, q, step)
    promised = spread(0.0)
    for a in range(q):
        # Without damping's part: -2 g's - s'Ns is what the linear model says.
        curved = scaled(2.0, load_row(kept, a * (q + 1) + q, 0))
        for b in range(q):
            entry = load_row(kept, max(a, b) * (q + 1) + min(a, b), 0)
            curved = more_products(curved, entry, load_row(step, b, 0))
        promised = less_products(promised, load_row(step, a, 0), curved)
        there = more(load_row(place, a, 0), 1.0, load_row(step, a, 0))
        there = where_larger(spread(low[a]), there, spread(low[a]), there)
        there = where_larger(there, spread(high[a]), spread(high[a]), there)
        store_row(trial, a, 0, there)
    store_row(book, PROMISED, 0, promised)
    error, floor = load_row(kept, q * (q + 1), 0), load_row(book, FLOOR, 0)
    least = scaled(tol, where_larger(error, floor, error, floor))
    n_steps, done = load_row(book, N_STEPS, 0), load_row(book, DONE, 0)
    going = where_larger(spread(max_iter), n_steps, less(one, 1.0, done), none)
    store_row(book, N_STEPS, 0, more(n_steps, 1.0, going))
    settled = where_larger(promised, least, none, going)
    store_row(book, DONE, 0, more(done, 1.0, settled))
    store_row(book, ENDED, 0, where_larger(going, settled, none, one))


@njit(nogil=True)
def _enter(i, lane, x, targets, w, goal, trial, kept, book, damping):
    """Give a lane to row i."""
    d, square = targets.shape[1], 0.0
    for c in range(d):
        target, weight = targets[i, c], w[min(i, len(w) - 1), c]
        goal[c, lane], goal[d + c, lane] = target, weight
        square += weight * target * target
    for a in range(len(trial)):
        trial[a, lane] = x[i, a]
    kept[len(kept) - 1, lane] = np.inf
    book[MU, lane], book[PROMISED, lane], book[N_STEPS, lane] = damping, 1.0, 0.0
    # Rounding of an exact fit is relative to the target, not to its vanishing error.
    book[FLOOR, lane] = EPS * square + TINY


@njit(nogil=True)
def search_rows(x, targets, w, W, tables, space, low, high, settings, error, converged):
    """Move each row of ``x`` to where the map comes nearest to its target; return the most steps.

    ``W`` is flat. ``w`` has a row of weights for each target, or one for all. ``settings`` are the
    most steps, the tolerance, the first damping and the largest. ``error`` and ``converged`` are
    filled in.
    """
    (n, q), d = x.shape, targets.shape[1]
    max_iter, tol, damping, largest = settings
    last = q * (q + 1)
    new, kept, book = (
        np.zeros((last + 1, LANES)),
        np.zeros((last + 1, LANES)),
        np.ones((N_ROWS, LANES)),
    )
    goal, A = np.zeros((2 * d, LANES)), np.empty((q * q, LANES))
    trial, place, step = np.empty((q, LANES)), np.empty((q, LANES)), np.empty((q, LANES))
    row = np.full(LANES, -1)
    nodes, factors, scale, counts, offsets = tables
    own, window, basis, jets, base = space
    most, begun, active = 0.0, 0, 0
    for lane in range(LANES):
        for a in range(q):
            trial[a, lane] = low[a]  # of a lane without a row
    while True:
        for lane in range(LANES):
            i = row[lane]
            if i >= 0 and book[ENDED, lane] > 0.0:
                most = max(most, book[N_STEPS, lane])
                for a in range(q):
                    x[i, a] = place[a, lane]
                error[i], converged[i] = kept[last, lane], book[DONE, lane] > 0.0
                row[lane] = i = -1
                active -= 1
            if i < 0 and begun < n:
                _enter(begun, lane, x, targets, w, goal, trial, kept, book, damping)
                row[lane] = begun
                begun += 1
                active += 1
        if active == 0:
            return most
        stride = fill_jets(
            trial, W, d, nodes, factors, scale, counts, offsets, own, window, basis, jets, base
        )
        _fill_systems(jets, stride, goal, d, q, new)
        _accept(new, kept, trial, place, book, tol, largest)
        _move(kept, place, low, high, max_iter, tol, book, A, step, trial)
