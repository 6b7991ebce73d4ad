"""Compiled projections on the map of a kernel of compact support, row by row.

The steps are those of :func:`isthmus.optimize.levenberg_marquardt.least_squares_rows`. A row looks
only at the centres near its place, so that what it reads stays in the nearest cache from one
step to the next. A *system* has the Gauss-Newton matrix in its first q rows, half the gradient in
the last one, and after it the error: a lower triangle. Columns come in multiples of eight.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lane_memory import index_at, lanes_at, number_at, put_lanes
from isthmus.linalg.lanes import LANES, less, more, more_products, products, spread, total
from isthmus.smoothers.pair_loops import list_point
from isthmus.smoothers.point_loops import SLOPE, SQUARED, VALUE, WEIGHT, fill_jets

TINY = np.finfo(np.float64).tiny
GOING, ENDED, CONVERGED = 0, 1, 2
MU, FLOOR, PROMISED, N_STEPS = range(4)  # what is known of a row
ALONE = -1.0  # error of a row that no centre reaches from its start


@njit(nogil=True, error_model="numpy")
def _near(trial, cells, power, indices, lists):
    """Number of the centres near a place, with weights and slopes, and the sum of the weights."""
    lines, order, starts, axes, low, scale, shape, reach, support = cells
    count = list_point(
        0, trial, lines, order, starts, axes, low, scale, shape, reach, support, False,
        indices, lists[SQUARED], np.uint64(0),
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


@njit(nogil=True, error_model="numpy")
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


@njit(nogil=True, forceinline=True)
def _fill_sums(count, indices, weights, Y, width, out, first):
    """Fill in the outputs of the near centres times weights, two centres at a time.

    All are addresses; rows of outputs have ``width`` times eight numbers.
    """
    for c in range(width):
        even, odd = spread(0.0), spread(0.0)
        for p in range(0, count - 1, 2):
            i, k = index_at(indices, p), index_at(indices, p + 1)
            even = more(even, number_at(weights, p), lanes_at(Y, i * width + c))
            odd = more(odd, number_at(weights, p + 1), lanes_at(Y, k * width + c))
        if count % 2:
            i = index_at(indices, count - 1)
            even = more(even, number_at(weights, count - 1), lanes_at(Y, i * width + c))
        put_lanes(out, first + c, more(even, 1.0, odd))


@njit(nogil=True, error_model="numpy")
def _fill_system(count, q, indices, weights, slopes, step, Y, width, target, w, jets, system):
    """Fill in the system of a row: weights of the outputs, and their derivatives, are given.

    All but the numbers of centres, coordinates, bytes from one line of slopes to the next and
    registers of a row, and the system itself, are addresses.
    """
    _fill_sums(count, indices, weights, Y, width, jets, 0)
    for a in range(q):
        _fill_sums(count, indices, slopes + a * step, Y, width, jets, (a + 1) * width)
    for k in range(width):
        put_lanes(jets, k, less(lanes_at(jets, k), 1.0, lanes_at(target, k)))
    for a in range(q + 1):
        for c in range(a + 1):
            entry = spread(0.0)
            for k in range(width):
                weighted = products(lanes_at(w, k), lanes_at(jets, a * width + k))
                entry = more_products(entry, weighted, lanes_at(jets, c * width + k))
            # The residual comes last in a system, and first among the rows.
            row, column = (a - 1) % (q + 1), (c - 1) % (q + 1)
            system[0, max(row, column), min(row, column)] = total(entry)


@njit(nogil=True, error_model="numpy")
def _judge(feasible, systems, places, book, settings):
    """Take a trial or not: whether the row goes on, has ended, or has converged.

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
    return ENDED if book[N_STEPS] >= max_iter else GOING


@njit(nogil=True, error_model="numpy")
def _move(systems, places, book, tol):
    """Fill in the next trial of a row and what it promises: whether the row has converged.

    Entry by entry: a view of a row would be counted, which takes longer than these sums.
    """
    q, trace, promised = places.shape[2], 0.0, 0.0
    for a in range(q):
        trace += systems[1, a, a]
    ridge = book[MU] * max(trace, TINY**0.5)
    for a in range(q):  # a factor L D L' of the damped matrix, with L D above the diagonal
        pivot, step = systems[1, a, a] + ridge, -systems[1, q, a]
        for b in range(a):
            entry = systems[1, a, b]
            for c in range(b):
                entry -= systems[2, c, a] * systems[2, b, c]
            systems[2, b, a], systems[2, a, b] = entry, entry / systems[2, b, b]
            pivot -= entry * systems[2, a, b]
            step -= systems[2, a, b] * places[2, 0, b]
        systems[2, a, a], places[2, 0, a] = pivot, step
    for a in range(q - 1, -1, -1):
        step = places[2, 0, a] / systems[2, a, a]
        for c in range(a + 1, q):
            step -= systems[2, c, a] * places[2, 0, c]
        places[2, 0, a] = step
    for a in range(q):
        # Without damping's part: -2 g's - s'Ns is what the linear model says.
        curved = 2.0 * systems[1, q, a]
        for b in range(q):
            curved += systems[1, max(a, b), min(a, b)] * places[2, 0, b]
        promised -= places[2, 0, a] * curved
        places[0, 0, a] = places[1, 0, a] + places[2, 0, a]
    book[PROMISED] = promised
    book[N_STEPS] += 1.0
    return CONVERGED if promised <= tol * max(systems[1, q, q], book[FLOOR]) else GOING


@njit(nogil=True, error_model="numpy")
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
    q, most, trial, width, tol = x.shape[1], 0.0, places[0], Y.shape[1] // LANES, settings[1]
    at, near, line = Y.ctypes.data, indices.ctypes.data, 8 * Y.shape[1]
    weights, step = lists.ctypes.data + 8 * WEIGHT * lists.shape[1], 8 * slopes.shape[1]
    room_of_slopes, room_of_jets = slopes.ctypes.data, jets.ctypes.data
    for i in range(len(x)):
        state[i] = GOING
        target = targets.ctypes.data + i * line
        w_at = w.ctypes.data + min(i, len(w) - 1) * line
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
                    np.int64(count), q, near, weights, room_of_slopes, step, at, width, target,
                    w_at, room_of_jets, systems,
                )  # fmt: skip
            elif first:
                systems[1, q, q] = ALONE
                break
            state[i] = _judge(feasible, systems, places, book, settings)
            if state[i] == GOING:
                state[i] = _move(systems, places, book, tol)
        error[i], most = systems[1, q, q], max(most, book[N_STEPS])
        for a in range(q):
            x[i, a] = places[1, 0, a]
    return most
