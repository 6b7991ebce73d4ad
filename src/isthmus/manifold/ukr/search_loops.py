"""Compiled projections on the map of a kernel of compact support, row by row.

The steps are those of :func:`isthmus.optimize.levenberg_marquardt.least_squares_rows`. A row looks
only at the centres near its place, so that what it reads stays in the nearest cache from one
step to the next. A *system* has the Gauss-Newton matrix in its first q rows, half the gradient in
the last one, and after it the error: a lower triangle. Columns come in multiples of eight.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import LANES, load, load_row, more_products, products, spread, total
from isthmus.smoothers.pair_loops import list_point
from isthmus.smoothers.point_loops import SLOPE, SQUARED, VALUE, WEIGHT, fill_jets
from isthmus.smoothers.wide_loops import row_sums_of

TINY = np.finfo(np.float64).tiny
GOING, ENDED, CONVERGED = 0, 1, 2
MU, FLOOR, PROMISED, N_STEPS = range(4)  # what is known of a row
ALONE = -1.0  # error of a row that no centre reaches from its start


@njit(nogil=True)
def _near(trial, cells, power, indices, lists):
    """Number of the centres near a place, with weights and slopes, and the sum of the weights."""
    lines, order, starts, axes, low, scale, shape, reach, support = cells
    count = list_point(
        0, trial, lines, order, starts, axes, low, scale, shape, reach, support, indices,
        lists[SQUARED], np.uint64(0),
    )  # fmt: skip
    mass = 0.0
    for p in range(count):
        rest = 1.0 - lists[SQUARED, p]
        lower = 1.0
        for _ in range(power - 1):
            lower *= rest
        lists[VALUE, p], lists[SLOPE, p] = lower * rest, 2.0 * power * lower
        mass += lower * rest
    return count, mass


@njit(nogil=True)
def _mean_weights(count, indices, mass, place, Xc, lists, slopes):
    """Fill in the weights of means, and their derivatives by the place."""
    for p in range(count):
        lists[WEIGHT, p] = lists[VALUE, p] / mass
    for m in range(place.shape[1]):
        total_slope = 0.0
        for p in range(count):
            slope = lists[SLOPE, p] * (Xc[np.uint64(indices[p]), m] - place[0, m]) / mass
            slopes[m, p] = slope
            total_slope += slope
        for p in range(count):
            slopes[m, p] -= total_slope * lists[WEIGHT, p]


@njit(nogil=True)
def _fill_system(count, indices, b, slopes, Y, target, w, jets, system):
    """Fill in the system of a row: weights of the outputs, and their derivatives, are given."""
    q, d, none = len(slopes), Y.shape[1], np.uint64(0)
    for a in range(q + 1):
        row_sums_of(none, count, indices, b if a == 0 else slopes[a - 1], Y, a, jets)
    for k in range(d):
        jets[0, k] -= target[k]
    for a in range(q + 1):
        for c in range(a + 1):
            entry = spread(0.0)
            for k in range(0, d, LANES):
                weighted = products(load(w, k), load_row(jets, a, k))
                entry = more_products(entry, weighted, load_row(jets, c, k))
            # The residual comes last in a system, and first among the rows.
            row, column = (a - 1) % (q + 1), (c - 1) % (q + 1)
            system[max(row, column), min(row, column)] = total(entry)


@njit(nogil=True)
def _advance(feasible, systems, places, book, settings):
    """Judge a trial and make the next: whether the row goes on, has ended, or has converged.

    ``systems`` are those of the trial and of the place, and room; so are ``places``.
    """
    q = places.shape[2]
    max_iter, tol, _, largest = settings
    before, found = systems[1, q, q], systems[0, q, q]
    if feasible and found < before:
        for a in range(q + 1):
            places[1, 0, a % q] = places[0, 0, a % q]
            for b in range(a + 1):
                systems[1, a, b] = systems[0, a, b]
        if book[N_STEPS] > 0.0:  # not the start
            # As far as the linear model was right: an even promise keeps the damping (Nielsen).
            ratio = 2.0 * (before - found) / book[PROMISED] - 1.0
            book[MU] *= min(max(1.0 - ratio * ratio * ratio, 0.2), 2.0)
            if before - found <= tol * max(found, book[FLOOR]):
                return CONVERGED
    else:
        book[MU] *= 4.0
    if book[MU] > largest:
        return CONVERGED
    if book[N_STEPS] >= max_iter:
        return ENDED
    book[N_STEPS] += 1.0
    _move(systems, places, book)
    return CONVERGED if book[PROMISED] <= tol * max(systems[1, q, q], book[FLOOR]) else GOING


@njit(nogil=True)
def _move(systems, places, book):
    """Fill in the next trial of a row, and what it promises."""
    kept, A, step, q = systems[1], systems[2], places[2, 0], places.shape[2]
    trace, promised = 0.0, 0.0
    for a in range(q):
        trace += kept[a, a]
    ridge = book[MU] * max(trace, TINY**0.5)
    for a in range(q):  # a factor L D L' of the damped matrix, with L D above the diagonal
        pivot, step[a] = kept[a, a] + ridge, -kept[q, a]
        for b in range(a):
            entry = kept[a, b]
            for c in range(b):
                entry -= A[c, a] * A[b, c]
            A[b, a], A[a, b] = entry, entry / A[b, b]
            pivot -= entry * A[a, b]
            step[a] -= A[a, b] * step[b]
        A[a, a] = pivot
    for a in range(q - 1, -1, -1):
        step[a] /= A[a, a]
        for c in range(a + 1, q):
            step[a] -= A[c, a] * step[c]
    for a in range(q):
        # Without damping's part: -2 g's - s'Ns is what the linear model says.
        curved = 2.0 * kept[q, a]
        for b in range(q):
            curved += kept[max(a, b), min(a, b)] * step[b]
        promised -= step[a] * curved
        places[0, 0, a] = places[1, 0, a] + step[a]
    book[PROMISED] = promised


@njit(nogil=True)
def search_near(
    x, targets, w, floors, cells, Xc, Y, power, least, settings, room, terms, error, state
):
    """Move each row of ``x`` to where the local polynomial comes nearest to its target.

    ``w`` has a row of weights for each target, or one for all. Errors below ``floors`` are as good
    as none; places with a mean weight of all centres below ``least`` are not feasible.
    ``terms`` are None for means, which need no system of moments: they are compiled without it.
    ``settings`` are the most steps, the tolerance, the first damping and the largest. ``error``
    and ``state`` are filled in; the most steps are returned.
    """
    indices, lists, slopes, jets, systems, places, book = room
    q, most, trial = x.shape[1], 0.0, places[0]
    for i in range(len(x)):
        weights, state[i] = w[min(i, len(w) - 1)], GOING
        for a in range(q):  # entry by entry: whole rows take long to compile
            places[0, 0, a] = places[1, 0, a] = x[i, a]
        systems[1, q, q], book[MU], book[FLOOR], book[N_STEPS] = np.inf, settings[2], floors[i], 0.0
        while state[i] == GOING:
            count, mass = _near(trial, cells, power, indices, lists)
            first = book[N_STEPS] == 0.0
            feasible = mass > 0.0 and (first or mass / len(Xc) >= least)
            if feasible:
                if terms is None:
                    _mean_weights(count, indices, mass, trial, Xc, lists, slopes)
                else:
                    fill_jets(np.int64(count), indices, trial, Xc, terms, lists, slopes)
                _fill_system(
                    count, indices, lists[WEIGHT], slopes, Y, targets[i], weights, jets, systems[0]
                )
            elif first:
                systems[1, q, q] = ALONE
                break
            state[i] = _advance(feasible, systems, places, book, settings)
        error[i], most = systems[1, q, q], max(most, book[N_STEPS])
        for a in range(q):
            x[i, a] = places[1, 0, a]
    return most
