"""Compiled steps of damped least squares for eight postures side by side.

A system of six rows is a chain of divisions, each of which waits for the one before. Eight systems
at once wait no longer than one: each has a lane of the registers, and a line of the one array ``W``
holds one number of each. Lanes never meet, so that an answer does not depend on its neighbours.
Loops stand in those that call them: an array that is handed on is counted, by an atomic step.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    aligned,
    largest,
    less,
    less_products,
    load_row,
    more,
    more_products,
    products,
    quotients,
    roots,
    scaled,
    spread,
    store_row,
    where_larger,
)
from isthmus.robotics.kinematics.angle_loops import angles, sines
from isthmus.typing import Array

# Lines of W. What is asked for: a pose, row by row; the damping; the share of the step that is
# taken; whether a trial becomes the posture.
TARGET, DAMPING, LENGTH, KEEP = 0, 12, 13, 14
# What is found: the squared error, the squared length of the move, whether there is no step.
SQUARED, MOVED, FAILED = 15, 16, 17
# Errors of the trial and of the posture, a right side, a square matrix, and the axes of the tool.
ERROR, KEPT_ERROR, RIGHT, SQUARE, AXES = 18, 24, 30, 36, 72
FIRST_JOINT = 81
# Lines of each joint from there on: values, and columns of Jacobians: that of the trial, which
# becomes that of the posture without what is held, and that of the posture.
TRIAL, HERE, STEP, WISH, FREE, AXIS, ORIGIN, COLUMN, KEPT_COLUMN = 0, 1, 2, 3, 4, 5, 8, 11, 17
PER_JOINT = 23


def workspace(n_joints: int) -> Array:
    """The array in which all steps work."""
    W = aligned(FIRST_JOINT + PER_JOINT * n_joints, LANES)
    W[:] = 0.0
    W[[DAMPING, TARGET, TARGET + 5, TARGET + 10]] = 1.0  # of lanes that are idle
    return W


@njit(nogil=True, forceinline=True)
def _turned(c, s, x, y):
    """Two axes of a frame after a turn about the third."""
    return more_products(products(c, x), s, y), less_products(products(c, y), s, x)


@njit(nogil=True, forceinline=True)
def _tip(W, at, tool, x, y, z, p):
    """Write one row of the rotation of the tool; return one coordinate of its origin."""
    for k in range(3):
        axis = more(more(scaled(tool[0, k], x), tool[1, k], y), tool[2, k], z)
        store_row(W, at + k, 0, axis)
    return more(more(more(p, tool[0, 3], x), tool[1, 3], y), tool[2, 3], z)


@njit(nogil=True, forceinline=True)
def _walk(W, n, chain):
    """Write axis and origin of each joint and the rotation of the tool; return its origin.

    The convention is "modified": a twist about x and a length along it, then the motion about z.
    """
    table, motions, base, tool, _ = chain
    x0, x1, x2 = spread(base[0, 0]), spread(base[1, 0]), spread(base[2, 0])
    y0, y1, y2 = spread(base[0, 1]), spread(base[1, 1]), spread(base[2, 1])
    z0, z1, z2 = spread(base[0, 2]), spread(base[1, 2]), spread(base[2, 2])
    p0, p1, p2 = spread(base[0, 3]), spread(base[1, 3]), spread(base[2, 3])
    for j in range(n):
        at, length = FIRST_JOINT + PER_JOINT * j, table[j, 2]
        p0, p1, p2 = more(p0, length, x0), more(p1, length, x1), more(p2, length, x2)
        c, s = spread(table[j, 0]), spread(table[j, 1])
        y0, z0 = _turned(c, s, y0, z0)
        y1, z1 = _turned(c, s, y1, z1)
        y2, z2 = _turned(c, s, y2, z2)
        store_row(W, at + AXIS, 0, z0)
        store_row(W, at + AXIS + 1, 0, z1)
        store_row(W, at + AXIS + 2, 0, z2)
        store_row(W, at + ORIGIN, 0, p0)
        store_row(W, at + ORIGIN + 1, 0, p1)
        store_row(W, at + ORIGIN + 2, 0, p2)
        q = load_row(W, at + TRIAL, 0)
        c, s = sines(more(spread(table[j, 4]), motions[j, 0], q))
        x0, y0 = _turned(c, s, x0, y0)
        x1, y1 = _turned(c, s, x1, y1)
        x2, y2 = _turned(c, s, x2, y2)
        offset = more(spread(table[j, 3]), motions[j, 1], q)
        p0, p1 = more_products(p0, offset, z0), more_products(p1, offset, z1)
        p2 = more_products(p2, offset, z2)
    p0 = _tip(W, AXES, tool, x0, y0, z0, p0)
    p1 = _tip(W, AXES + 3, tool, x1, y1, z1, p1)
    return p0, p1, _tip(W, AXES + 6, tool, x2, y2, z2, p2)


@njit(nogil=True, forceinline=True)
def _cross(a, b, c, d):
    """a d - b c."""
    return less_products(products(a, d), b, c)


@njit(nogil=True, forceinline=True)
def look(W, m, n, chain):
    """Write errors and Jacobians of the trials, and their squared errors.

    The position counts in units of the reach, the orientation in radians; m is 3 without it.
    """
    motions, share = chain[1], 1.0 / chain[4]
    p0, p1, p2 = _walk(W, n, chain)
    for j in range(n):
        at, turn, slide = FIRST_JOINT + PER_JOINT * j, motions[j, 0], motions[j, 1] * share
        z0, z1 = load_row(W, at + AXIS, 0), load_row(W, at + AXIS + 1, 0)
        z2 = load_row(W, at + AXIS + 2, 0)
        u0 = less(p0, 1.0, load_row(W, at + ORIGIN, 0))
        u1 = less(p1, 1.0, load_row(W, at + ORIGIN + 1, 0))
        u2 = less(p2, 1.0, load_row(W, at + ORIGIN + 2, 0))
        about = turn * share
        store_row(W, at + COLUMN, 0, more(scaled(slide, z0), about, _cross(z1, z2, u1, u2)))
        store_row(W, at + COLUMN + 1, 0, more(scaled(slide, z1), about, _cross(z2, z0, u2, u0)))
        store_row(W, at + COLUMN + 2, 0, more(scaled(slide, z2), about, _cross(z0, z1, u0, u1)))
        for r in range(3):
            store_row(W, at + COLUMN + 3 + r, 0, scaled(turn, load_row(W, at + AXIS + r, 0)))
    store_row(W, ERROR, 0, scaled(share, less(load_row(W, TARGET + 3, 0), 1.0, p0)))
    store_row(W, ERROR + 1, 0, scaled(share, less(load_row(W, TARGET + 7, 0), 1.0, p1)))
    store_row(W, ERROR + 2, 0, scaled(share, less(load_row(W, TARGET + 11, 0), 1.0, p2)))
    if m == 6:
        rotations(W)
    squared = spread(0.0)
    for r in range(m):
        error = load_row(W, ERROR + r, 0)
        squared = more_products(squared, error, error)
    store_row(W, SQUARED, 0, squared)


@njit(nogil=True, forceinline=True)
def rotations(W):
    """Write axis times angle of the turn A B' that leads from each tool, B, to its target, A."""
    trace = spread(-1.0)
    for r in range(3):
        a, b = (r + 2) % 3, (r + 1) % 3
        sine = spread(0.0)
        for k in range(3):
            up, down = load_row(W, TARGET + 4 * a + k, 0), load_row(W, TARGET + 4 * b + k, 0)
            sine = more_products(sine, up, load_row(W, AXES + 3 * b + k, 0))
            sine = less_products(sine, down, load_row(W, AXES + 3 * a + k, 0))
            own = load_row(W, TARGET + 4 * r + k, 0)
            trace = more_products(trace, own, load_row(W, AXES + 3 * r + k, 0))
        store_row(W, ERROR + 3 + r, 0, scaled(0.5, sine))
    cosine, sine = scaled(0.5, trace), spread(0.0)
    for r in range(3):
        part = load_row(W, ERROR + 3 + r, 0)
        sine = more_products(sine, part, part)
    sine = roots(sine)
    one, hardly = spread(1.0), spread(1e-6)
    factor = where_larger(sine, hardly, quotients(angles(cosine, sine), sine), one)
    for r in range(3):
        store_row(W, ERROR + 3 + r, 0, products(factor, load_row(W, ERROR + 3 + r, 0)))
    # Of a half turn the sines tell nothing.
    flat = where_larger(sine, hardly, spread(0.0), one)
    half = where_larger(spread(0.0), cosine, flat, spread(0.0))
    if largest(half) > 0.0:
        store_row(W, RIGHT, 0, half)
        for lane in range(LANES):
            if W[RIGHT, lane] > 0.0:
                _half_turn(W, lane)


@njit(nogil=True)
def _half_turn(W, lane):
    """A B' = 2 u u' - I, and its largest column has the direction of u."""
    best, size = 0, -2.0
    for c in range(3):
        found = 0.0
        for k in range(3):
            found += W[TARGET + 4 * c + k, lane] * W[AXES + 3 * c + k, lane]
        if found > size:
            best, size = c, found
    norm = 0.0
    for r in range(3):
        found = 1.0 if r == best else 0.0
        for k in range(3):
            found += W[TARGET + 4 * r + k, lane] * W[AXES + 3 * best + k, lane]
        W[ERROR + 3 + r, lane] = found
        norm += found * found
    for r in range(3):
        W[ERROR + 3 + r, lane] *= np.pi / np.sqrt(norm)


@njit(nogil=True, forceinline=True)
def keep(W, n):
    """Where it is wanted the trial becomes the posture, with its error and its Jacobian."""
    wanted, half = load_row(W, KEEP, 0), spread(0.5)
    for r in range(6):
        kept = load_row(W, KEPT_ERROR + r, 0)
        store_row(W, KEPT_ERROR + r, 0, where_larger(wanted, half, load_row(W, ERROR + r, 0), kept))
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        here = load_row(W, at + HERE, 0)
        store_row(W, at + HERE, 0, where_larger(wanted, half, load_row(W, at + TRIAL, 0), here))
        for r in range(6):
            kept = load_row(W, at + KEPT_COLUMN + r, 0)
            kept = where_larger(wanted, half, load_row(W, at + COLUMN + r, 0), kept)
            store_row(W, at + KEPT_COLUMN + r, 0, kept)
            store_row(W, at + COLUMN + r, 0, kept)


@njit(nogil=True, forceinline=True)
def step(W, m, n, lower, upper):
    """The steps of free joints that are closest to the wish and cancel the error.

    dq = d + J' (J J' + damping I)^-1 (e - J d), with d the wish. A joint at its limit whose step
    would leave it is held there, and the rest is solved again without it.
    """
    nothing, one = spread(0.0), spread(1.0)
    store_row(W, FAILED, 0, nothing)
    for j in range(n):
        store_row(W, FIRST_JOINT + PER_JOINT * j + FREE, 0, one)
    for _ in range(n):
        _fill(W, m, n)
        _solve(W, m)
        again = nothing
        for j in range(n):
            at = FIRST_JOINT + PER_JOINT * j
            free, found = load_row(W, at + FREE, 0), load_row(W, at + WISH, 0)
            for r in range(m):
                column = load_row(W, at + COLUMN + r, 0)
                found = more_products(found, column, load_row(W, RIGHT + r, 0))
            found = products(found, free)
            store_row(W, at + STEP, 0, found)
            here = load_row(W, at + HERE, 0)
            down, up = (
                where_larger(nothing, found, one, nothing),
                where_larger(found, nothing, one, nothing),
            )
            leaves = where_larger(here, spread(lower[j]), nothing, down)
            leaves = more(leaves, 1.0, where_larger(spread(upper[j]), here, nothing, up))
            store_row(W, at + FREE, 0, less(free, 1.0, leaves))
            again = more(again, 1.0, leaves)
        if largest(again) == 0.0:
            return
        _hold(W, n)


@njit(nogil=True, forceinline=True)
def _hold(W, n):
    """Leave joints out of the systems of the lanes where they are not free."""
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        free = load_row(W, at + FREE, 0)
        for r in range(6):
            store_row(W, at + COLUMN + r, 0, products(free, load_row(W, at + COLUMN + r, 0)))


@njit(nogil=True, forceinline=True)
def _fill(W, m, n):
    """J J' + damping I and e - J d, of the joints that are free."""
    for r in range(m):
        right = load_row(W, KEPT_ERROR + r, 0)
        for j in range(n):
            at = FIRST_JOINT + PER_JOINT * j
            right = less_products(right, load_row(W, at + COLUMN + r, 0), load_row(W, at + WISH, 0))
        store_row(W, RIGHT + r, 0, right)
        for c in range(r + 1):
            total = spread(0.0)
            for j in range(n):
                at = FIRST_JOINT + PER_JOINT * j
                own = load_row(W, at + COLUMN + r, 0)
                total = more_products(total, own, load_row(W, at + COLUMN + c, 0))
            store_row(W, SQUARE + 6 * r + c, 0, total)
        damped = more(load_row(W, DAMPING, 0), 1.0, load_row(W, SQUARE + 7 * r, 0))
        store_row(W, SQUARE + 7 * r, 0, damped)


@njit(nogil=True, forceinline=True)
def _solve(W, m):
    """Solve by the factors L D L': L D below the diagonal, L above it, 1/D on it."""
    nothing, one = spread(0.0), spread(1.0)
    for r in range(m):
        pivot, right = load_row(W, SQUARE + 7 * r, 0), load_row(W, RIGHT + r, 0)
        for c in range(r):
            below = load_row(W, SQUARE + 6 * r + c, 0)
            for k in range(c):
                known = load_row(W, SQUARE + 6 * r + k, 0)
                below = less_products(below, known, load_row(W, SQUARE + 6 * k + c, 0))
            above = products(below, load_row(W, SQUARE + 7 * c, 0))
            store_row(W, SQUARE + 6 * r + c, 0, below)
            store_row(W, SQUARE + 6 * c + r, 0, above)
            pivot = less_products(pivot, below, above)
            right = less_products(right, above, load_row(W, RIGHT + c, 0))
        failed = where_larger(pivot, nothing, load_row(W, FAILED, 0), one)
        store_row(W, FAILED, 0, failed)
        pivot = where_larger(pivot, nothing, pivot, one)
        store_row(W, SQUARE + 7 * r, 0, quotients(one, pivot))
        store_row(W, RIGHT + r, 0, right)
    for r in range(m - 1, -1, -1):
        right = products(load_row(W, RIGHT + r, 0), load_row(W, SQUARE + 7 * r, 0))
        for k in range(r + 1, m):
            above = load_row(W, SQUARE + 6 * r + k, 0)
            right = less_products(right, above, load_row(W, RIGHT + k, 0))
        store_row(W, RIGHT + r, 0, right)


@njit(nogil=True, forceinline=True)
def advance(W, n, lower, upper):
    """Write the next trials, within the limits, and how far they are."""
    moved, length = spread(0.0), load_row(W, LENGTH, 0)
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        here, low, high = load_row(W, at + HERE, 0), spread(lower[j]), spread(upper[j])
        trial = more_products(here, length, load_row(W, at + STEP, 0))
        trial = where_larger(low, trial, low, trial)
        trial = where_larger(trial, high, high, trial)
        store_row(W, at + TRIAL, 0, trial)
        change = less(trial, 1.0, here)
        moved = more_products(moved, change, change)
    store_row(W, MOVED, 0, moved)
