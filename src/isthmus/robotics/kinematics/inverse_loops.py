"""Compiled ways from postures to targets, eight at a time.

Each lane is somewhere on its own way. What the lanes share is a step, in
:mod:`~isthmus.robotics.kinematics.damped_loops`; between two steps each is told whether to take it,
and a lane whose way has ended takes the next posture.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    largest,
    less,
    load_row,
    more,
    more_products,
    products,
    scaled,
    spread,
    store_row,
    where_larger,
)
from isthmus.robotics.kinematics.damped_loops import (
    DAMPING,
    ERROR,
    FAILED,
    FIRST_JOINT,
    HERE,
    KEEP,
    KEPT_COLUMN,
    KEPT_ERROR,
    LENGTH,
    MOVED,
    PER_JOINT,
    SQUARED,
    STEP,
    TARGET,
    TRIAL,
    WISH,
    advance,
    keep,
    look,
    step,
)
from isthmus.typing import Array

STANDSTILL = 1e-28  # squared step, in radians or shares of the reach: lost in rounding
HARDLY = 1e-3  # share of the error that a useful step removes

# Lines of S, where each lane is: the row of its posture or -1; whether it has ended, and reached
# the target; steps, and steps in vain in a row; the squared error, and the share of it that is
# damping; of settling: the merit, the weight of the error in it, the square of the step.
ROW, ENDED, DONE, COUNT, DULL, NOW, FACTOR, MERIT, WEIGHT, SLOPE, N_LINES = range(11)


def lanes_at_rest() -> Array:
    """The lines of S where no lane has a posture."""
    S = np.zeros((N_LINES, LANES))
    S[ROW], S[ENDED] = -1.0, 1.0
    return S


@njit(nogil=True)
def approach(poses, which, m, chain, limits, options, found, W, S):
    """Move each posture towards its target by damped least squares, until its way has ended.

    ``found`` = postures (k, n), at which the ways begin and which they overwrite, errors (k, 6),
    steps (k,), reached (k,); their targets are ``poses[which]``, without orientation if ``m`` is 3
    and not 6. ``options`` = the squared tolerance, most steps, most steps in vain in a row, and
    whether every step is taken. ``limits`` are lowest and highest values.
    """
    tol_squared, most, patience, anywhere = options
    lower, upper = limits
    n, taken = len(lower), 0
    while True:
        taken = _refill(taken, poses, which, found, W, S)
        if largest(load_row(S, ROW, 0)) < 0.0:
            return
        look(W, m, n, chain)
        _judge(W, S, tol_squared, most, patience, anywhere)
        keep(W, n)
        step(W, m, n, lower, upper)
        advance(W, n, lower, upper)
        ended = where_larger(
            load_row(W, FAILED, 0), spread(0.0), spread(1.0), load_row(S, ENDED, 0)
        )
        if not anywhere:
            ended = where_larger(spread(STANDSTILL), load_row(W, MOVED, 0), spread(1.0), ended)
        store_row(S, ENDED, 0, ended)


@njit(nogil=True)
def settle(poses, which, m, chain, limits, preferred, most, found, W, S):
    """Slide from postures that reach their targets, along those that do, to ``preferred``.

    Minimises |q - preferred|² with an exact penalty for the error, large enough for every step to
    lead downhill. ``preferred`` has a row for each target; else as for :func:`approach`.
    """
    lower, upper = limits
    n, taken = len(lower), 0
    while True:
        taken = _refill(taken, poses, which, found, W, S)
        if largest(load_row(S, ROW, 0)) < 0.0:
            return
        look(W, m, n, chain)
        for lane in range(LANES):
            W[KEEP, lane] = 0.0
            if not S[ENDED, lane]:
                _judge_settling(lane, n, preferred[which[int(S[ROW, lane])]], W, S)
                if W[LENGTH, lane] < 1e-3 or S[COUNT, lane] + 1 >= most:
                    S[ENDED, lane] = 1.0
        keep(W, n)
        for lane in range(LANES):
            if W[KEEP, lane]:
                _wish(lane, m, n, preferred[which[int(S[ROW, lane])]], W)
        step(W, m, n, lower, upper)
        for lane in range(LANES):
            if W[KEEP, lane]:
                _weigh(lane, n, W, S)
            if W[FAILED, lane]:
                S[ENDED, lane] = 1.0
        advance(W, n, lower, upper)


@njit(nogil=True)
def _refill(taken, poses, which, found, W, S):
    """Write down ways that have ended, and begin the next; return how many have begun."""
    Q, errors, steps, reached = found
    n = Q.shape[1]
    for lane in range(LANES):
        if not S[ENDED, lane]:
            continue
        i = int(S[ROW, lane])
        if i >= 0:
            for j in range(n):
                Q[i, j] = W[FIRST_JOINT + PER_JOINT * j + HERE, lane]
            for r in range(6):
                errors[i, r] = W[KEPT_ERROR + r, lane]
            steps[i], reached[i] = int(S[COUNT, lane]), S[DONE, lane] > 0.0
        S[ROW, lane] = -1.0
        if taken < len(which):
            for k in range(12):
                W[TARGET + k, lane] = poses[which[taken], k // 4, k % 4]
            for r in range(6):  # of a posture whose error cannot be told from infinity
                W[KEPT_ERROR + r, lane] = np.inf if r < 3 else 0.0
            for j in range(n):
                at = FIRST_JOINT + PER_JOINT * j
                W[at + TRIAL, lane] = W[at + HERE, lane] = Q[taken, j]
                W[at + WISH, lane] = 0.0
            S[ROW, lane], S[ENDED, lane], S[DONE, lane], W[LENGTH, lane] = taken, 0.0, 0.0, 1.0
            S[COUNT, lane], S[DULL, lane], S[FACTOR, lane] = -1.0, -1.0, 0.03
            S[NOW, lane], S[MERIT, lane] = np.inf, np.inf
            S[WEIGHT, lane], S[SLOPE, lane] = 0.0, 0.0
            taken += 1
    return taken


@njit(nogil=True, forceinline=True)
def _judge(W, S, tol_squared, most, patience, anywhere):
    """Take or refuse the trials of an approach, and set the damping of the next steps.

    Damping is in proportion to the squared error: heavy far away, none at the target. A step that
    is only taken where the error falls ends in the nearest valley, and a wall on the way may hide
    the target behind it. ``anywhere`` takes every step as if it helped. Lanes that have ended stay
    as they are.
    """
    nothing, one = spread(0.0), spread(1.0)
    going = less(one, 1.0, load_row(S, ENDED, 0))
    now, new, dull = load_row(S, NOW, 0), load_row(W, SQUARED, 0), load_row(S, DULL, 0)
    factor, count = load_row(S, FACTOR, 0), more(load_row(S, COUNT, 0), 1.0, going)
    taken = going if anywhere else where_larger(now, new, going, nothing)
    in_vain, position, turn = more(dull, 1.0, one), nothing, nothing
    useful = where_larger(new, scaled(1.0 - HARDLY, now), in_vain, nothing)
    dull = where_larger(taken, nothing, useful, in_vain)
    lighter, least = scaled(0.3, factor), spread(1e-6)
    lighter = where_larger(lighter, least, lighter, least)
    factor = where_larger(taken, nothing, lighter, scaled(6.0, factor))
    now = where_larger(taken, nothing, new, now)
    for r in range(3):
        error, angle = load_row(W, ERROR + r, 0), load_row(W, ERROR + 3 + r, 0)
        position = more_products(position, error, error)
        turn = more_products(turn, angle, angle)
    there = where_larger(spread(np.inf), new, one, nothing)
    there = where_larger(position, spread(tol_squared), nothing, there)
    there = where_larger(turn, spread(tol_squared), nothing, there)
    done = where_larger(taken, nothing, there, nothing)
    if anywhere:
        factor, dull = spread(0.5), spread(-1.0)
    damping = where_larger(going, nothing, products(factor, now), load_row(W, DAMPING, 0))
    ended = where_larger(spread(patience), dull, less(one, 1.0, going), one)
    ended = where_larger(spread(most), count, ended, one)
    store_row(W, KEEP, 0, taken)
    store_row(W, DAMPING, 0, damping)
    store_row(S, NOW, 0, now)
    store_row(S, DULL, 0, dull)
    store_row(S, COUNT, 0, count)
    store_row(S, FACTOR, 0, factor)
    store_row(S, DONE, 0, done)
    store_row(S, ENDED, 0, where_larger(done, nothing, one, ended))


@njit(nogil=True)
def _judge_settling(lane, n, wanted, W, S):
    """Take the trial or shorten the step, on the way along the postures that reach the target."""
    near = 0.0
    for j in range(n):
        near += (W[FIRST_JOINT + PER_JOINT * j + TRIAL, lane] - wanted[j]) ** 2
    error = np.sqrt(W[SQUARED, lane])
    merit = near + S[WEIGHT, lane] * error
    if merit < S[MERIT, lane] - 1e-4 * W[LENGTH, lane] * S[SLOPE, lane]:
        W[KEEP, lane] = W[LENGTH, lane] = 1.0
        S[NOW, lane], S[MERIT, lane] = error, near
    else:
        W[LENGTH, lane] *= 0.5
    S[COUNT, lane] += 1.0


@njit(nogil=True)
def _wish(lane, m, n, wanted, W):
    """Where a lane that settles would go, with next to no damping."""
    trace = 0.0
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        W[at + WISH, lane] = wanted[j] - W[at + HERE, lane]
        for r in range(m):
            trace += W[at + KEPT_COLUMN + r, lane] ** 2
    W[DAMPING, lane] = 1e-12 * trace


@njit(nogil=True)
def _weigh(lane, n, W, S):
    """The merit of a posture that was taken, with the weight of the error that a step needs."""
    change = slope = 0.0
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        move = W[at + STEP, lane]
        change += (move - 2 * W[at + WISH, lane]) * move
        slope += move * move
    S[SLOPE, lane] = slope
    if slope < 1e-18:
        S[ENDED, lane] = 1.0
    if S[NOW, lane] > 0:
        S[WEIGHT, lane] = max(S[WEIGHT, lane], 2 * change / S[NOW, lane])
    S[MERIT, lane] += S[WEIGHT, lane] * S[NOW, lane]
