"""Compiled steps of damped least squares for eight postures side by side.

A system of six rows is a chain of divisions, each of which waits for the one before. Eight systems
at once wait no longer than one: each has a lane of the registers, and a line of the one array ``W``
holds one number of each; loops are given its address ``w``, which is not counted at every call.
Lanes never meet, so that an answer does not depend on its neighbours.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lane_memory import lanes_at, put_lanes
from isthmus.linalg.lanes import (
    LANES,
    aligned,
    largest,
    less,
    less_products,
    moduli,
    more,
    more_products,
    products,
    quotients,
    roots,
    scaled,
    spread,
    where_larger,
)
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

ROUNDING = 1.5 * 2.0**52  # what is added to it loses its fraction
# Half of pi in parts, of which the first have few digits: their multiples are exact.
HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)

# Of arc tangents up to tan(π/8).
AT = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)


def workspace(n_joints: int) -> Array:
    """The array in which all steps work."""
    W = aligned(FIRST_JOINT + PER_JOINT * n_joints, LANES)
    W[:] = 0.0
    W[[DAMPING, TARGET, TARGET + 5, TARGET + 10]] = 1.0  # of lanes that are idle
    return W


@njit(nogil=True, forceinline=True)
def _rounded(x):
    """The nearest whole numbers."""
    return less(more(spread(ROUNDING), 1.0, x), 1.0, spread(ROUNDING))


@njit(nogil=True, forceinline=True)
def _series(z, a, b, c, d, e, f):
    """a + b z + c z² + ..."""
    found = more(spread(e), f, z)
    found = more_products(spread(d), found, z)
    found = more_products(spread(c), found, z)
    found = more_products(spread(b), found, z)
    return more_products(spread(a), found, z)


@njit(nogil=True, forceinline=True)
def sines(x):
    """Cosines and sines: the series of fdlibm within an eighth of a turn, and quarters."""
    quarters = _rounded(scaled(2.0 / np.pi, x))
    x = less(x, HALF_PI[0], quarters)
    x = less(x, HALF_PI[1], quarters)
    x = less(x, HALF_PI[2], quarters)
    z = products(x, x)
    sine = _series(
        z,
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    )
    sine = more_products(x, products(x, z), sine)
    cosine = _series(
        z,
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    )
    cosine = more_products(more(spread(1.0), -0.5, z), products(z, z), cosine)
    # Of a quarter k = 4a + 2b + c, b is whether both change their signs, c whether they swap.
    halves = _rounded(more(spread(-0.25), 0.5, quarters))
    swapped = less(quarters, 2.0, halves)
    turned = less(halves, 2.0, _rounded(more(spread(-0.25), 0.5, halves)))
    sign, half = less(spread(1.0), 2.0, turned), spread(0.5)
    first = where_larger(swapped, half, scaled(-1.0, sine), cosine)
    second = where_larger(swapped, half, cosine, sine)
    return products(sign, first), products(sign, second)


@njit(nogil=True, forceinline=True)
def angles(cosine, sine):
    """Angles of cosines and sines that are not negative, times any length: fdlibm's series."""
    nothing, length = spread(0.0), moduli(cosine)
    small = where_larger(sine, length, length, sine)
    large = where_larger(sine, length, sine, length)
    # Within a sixteenth of a turn of an axis, or of the middle between two.
    middle = where_larger(small, scaled(np.sqrt(2.0) - 1.0, large), spread(1.0), nothing)
    over = less_products(small, middle, large)
    x = quotients(over, more_products(large, middle, small))
    z = products(x, x)
    found = more(spread(AT[9]), AT[10], z)
    for k in range(8, -1, -1):
        found = more_products(spread(AT[k]), found, z)
    found = less_products(x, products(x, z), found)
    found = more(found, 0.25 * np.pi, middle)
    found = where_larger(sine, length, less(spread(0.5 * np.pi), 1.0, found), found)
    return where_larger(nothing, cosine, less(spread(np.pi), 1.0, found), found)


@njit(nogil=True, forceinline=True)
def _turned(c, s, x, y):
    """Two axes of a frame after a turn about the third."""
    return more_products(products(c, x), s, y), less_products(products(c, y), s, x)


@njit(nogil=True, forceinline=True)
def _tip(w, at, tool, x, y, z, p):
    """Write one row of the rotation of the tool; return one coordinate of its origin."""
    for k in range(3):
        axis = more(more(scaled(tool[0, k], x), tool[1, k], y), tool[2, k], z)
        put_lanes(w, at + k, axis)
    return more(more(more(p, tool[0, 3], x), tool[1, 3], y), tool[2, 3], z)


@njit(nogil=True, forceinline=True)
def _walk(w, n, chain):
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
        put_lanes(w, at + AXIS, z0)
        put_lanes(w, at + AXIS + 1, z1)
        put_lanes(w, at + AXIS + 2, z2)
        put_lanes(w, at + ORIGIN, p0)
        put_lanes(w, at + ORIGIN + 1, p1)
        put_lanes(w, at + ORIGIN + 2, p2)
        q = lanes_at(w, at + TRIAL)
        c, s = sines(more(spread(table[j, 4]), motions[j, 0], q))
        x0, y0 = _turned(c, s, x0, y0)
        x1, y1 = _turned(c, s, x1, y1)
        x2, y2 = _turned(c, s, x2, y2)
        offset = more(spread(table[j, 3]), motions[j, 1], q)
        p0, p1 = more_products(p0, offset, z0), more_products(p1, offset, z1)
        p2 = more_products(p2, offset, z2)
    p0 = _tip(w, AXES, tool, x0, y0, z0, p0)
    p1 = _tip(w, AXES + 3, tool, x1, y1, z1, p1)
    return p0, p1, _tip(w, AXES + 6, tool, x2, y2, z2, p2)


@njit(nogil=True, forceinline=True)
def _cross(a, b, c, d):
    """a d - b c."""
    return less_products(products(a, d), b, c)


@njit(nogil=True, forceinline=True)
def look(W, m, n, chain):
    """Write errors and Jacobians of the trials, and their squared errors.

    The position counts in units of the reach, the orientation in radians; m is 3 without it.
    """
    w, motions, share = W.ctypes.data, chain[1], 1.0 / chain[4]
    p0, p1, p2 = _walk(w, n, chain)
    for j in range(n):
        at, turn, slide = FIRST_JOINT + PER_JOINT * j, motions[j, 0], motions[j, 1] * share
        z0, z1 = lanes_at(w, at + AXIS), lanes_at(w, at + AXIS + 1)
        z2 = lanes_at(w, at + AXIS + 2)
        u0 = less(p0, 1.0, lanes_at(w, at + ORIGIN))
        u1 = less(p1, 1.0, lanes_at(w, at + ORIGIN + 1))
        u2 = less(p2, 1.0, lanes_at(w, at + ORIGIN + 2))
        about = turn * share
        put_lanes(w, at + COLUMN, more(scaled(slide, z0), about, _cross(z1, z2, u1, u2)))
        put_lanes(w, at + COLUMN + 1, more(scaled(slide, z1), about, _cross(z2, z0, u2, u0)))
        put_lanes(w, at + COLUMN + 2, more(scaled(slide, z2), about, _cross(z0, z1, u0, u1)))
        for r in range(3):
            put_lanes(w, at + COLUMN + 3 + r, scaled(turn, lanes_at(w, at + AXIS + r)))
    put_lanes(w, ERROR, scaled(share, less(lanes_at(w, TARGET + 3), 1.0, p0)))
    put_lanes(w, ERROR + 1, scaled(share, less(lanes_at(w, TARGET + 7), 1.0, p1)))
    put_lanes(w, ERROR + 2, scaled(share, less(lanes_at(w, TARGET + 11), 1.0, p2)))
    if m == 6:
        rotations(W)
    squared = spread(0.0)
    for r in range(m):
        error = lanes_at(w, ERROR + r)
        squared = more_products(squared, error, error)
    put_lanes(w, SQUARED, squared)


@njit(nogil=True, forceinline=True)
def rotations(W):
    """Write axis times angle of the turn A B' that leads from each tool, B, to its target, A."""
    w, trace = W.ctypes.data, spread(-1.0)
    for r in range(3):
        a, b = (r + 2) % 3, (r + 1) % 3
        sine = spread(0.0)
        for k in range(3):
            up, down = lanes_at(w, TARGET + 4 * a + k), lanes_at(w, TARGET + 4 * b + k)
            sine = more_products(sine, up, lanes_at(w, AXES + 3 * b + k))
            sine = less_products(sine, down, lanes_at(w, AXES + 3 * a + k))
            own = lanes_at(w, TARGET + 4 * r + k)
            trace = more_products(trace, own, lanes_at(w, AXES + 3 * r + k))
        put_lanes(w, ERROR + 3 + r, scaled(0.5, sine))
    cosine, sine = scaled(0.5, trace), spread(0.0)
    for r in range(3):
        part = lanes_at(w, ERROR + 3 + r)
        sine = more_products(sine, part, part)
    sine = roots(sine)
    one, hardly = spread(1.0), spread(1e-6)
    factor = where_larger(sine, hardly, quotients(angles(cosine, sine), sine), one)
    for r in range(3):
        put_lanes(w, ERROR + 3 + r, products(factor, lanes_at(w, ERROR + 3 + r)))
    # Of a half turn the sines tell nothing.
    flat = where_larger(sine, hardly, spread(0.0), one)
    half = where_larger(spread(0.0), cosine, flat, spread(0.0))
    if largest(half) > 0.0:
        put_lanes(w, RIGHT, half)
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
def keep(w, n):
    """Where it is wanted the trial becomes the posture, with its error and its Jacobian."""
    wanted, half = lanes_at(w, KEEP), spread(0.5)
    for r in range(6):
        kept = lanes_at(w, KEPT_ERROR + r)
        put_lanes(w, KEPT_ERROR + r, where_larger(wanted, half, lanes_at(w, ERROR + r), kept))
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        here = lanes_at(w, at + HERE)
        put_lanes(w, at + HERE, where_larger(wanted, half, lanes_at(w, at + TRIAL), here))
        for r in range(6):
            kept = lanes_at(w, at + KEPT_COLUMN + r)
            kept = where_larger(wanted, half, lanes_at(w, at + COLUMN + r), kept)
            put_lanes(w, at + KEPT_COLUMN + r, kept)
            put_lanes(w, at + COLUMN + r, kept)


@njit(nogil=True, forceinline=True)
def step(w, m, n, lower, upper):
    """The steps of free joints that are closest to the wish and cancel the error.

    dq = d + J' (J J' + damping I)^-1 (e - J d), with d the wish. A joint at its limit whose step
    would leave it is held there, and the rest is solved again without it.
    """
    nothing, one = spread(0.0), spread(1.0)
    put_lanes(w, FAILED, nothing)
    for j in range(n):
        put_lanes(w, FIRST_JOINT + PER_JOINT * j + FREE, one)
    for _ in range(n):
        _fill(w, m, n)
        _solve(w, m)
        again = nothing
        for j in range(n):
            at = FIRST_JOINT + PER_JOINT * j
            free, found = lanes_at(w, at + FREE), lanes_at(w, at + WISH)
            for r in range(m):
                column = lanes_at(w, at + COLUMN + r)
                found = more_products(found, column, lanes_at(w, RIGHT + r))
            found = products(found, free)
            put_lanes(w, at + STEP, found)
            here = lanes_at(w, at + HERE)
            down, up = (
                where_larger(nothing, found, one, nothing),
                where_larger(found, nothing, one, nothing),
            )
            leaves = where_larger(here, spread(lower[j]), nothing, down)
            leaves = more(leaves, 1.0, where_larger(spread(upper[j]), here, nothing, up))
            put_lanes(w, at + FREE, less(free, 1.0, leaves))
            again = more(again, 1.0, leaves)
        if largest(again) == 0.0:
            return
        _hold(w, n)


@njit(nogil=True, forceinline=True)
def _hold(w, n):
    """Leave joints out of the systems of the lanes where they are not free."""
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        free = lanes_at(w, at + FREE)
        for r in range(6):
            put_lanes(w, at + COLUMN + r, products(free, lanes_at(w, at + COLUMN + r)))


@njit(nogil=True, forceinline=True)
def _fill(w, m, n):
    """J J' + damping I and e - J d, of the joints that are free."""
    for r in range(m):
        right = lanes_at(w, KEPT_ERROR + r)
        for j in range(n):
            at = FIRST_JOINT + PER_JOINT * j
            right = less_products(right, lanes_at(w, at + COLUMN + r), lanes_at(w, at + WISH))
        put_lanes(w, RIGHT + r, right)
        for c in range(r + 1):
            total = spread(0.0)
            for j in range(n):
                at = FIRST_JOINT + PER_JOINT * j
                own = lanes_at(w, at + COLUMN + r)
                total = more_products(total, own, lanes_at(w, at + COLUMN + c))
            put_lanes(w, SQUARE + 6 * r + c, total)
        damped = more(lanes_at(w, DAMPING), 1.0, lanes_at(w, SQUARE + 7 * r))
        put_lanes(w, SQUARE + 7 * r, damped)


@njit(nogil=True, forceinline=True)
def _solve(w, m):
    """Solve by the factors L D L': L D below the diagonal, L above it, 1/D on it."""
    nothing, one = spread(0.0), spread(1.0)
    for r in range(m):
        pivot, right = lanes_at(w, SQUARE + 7 * r), lanes_at(w, RIGHT + r)
        for c in range(r):
            below = lanes_at(w, SQUARE + 6 * r + c)
            for k in range(c):
                known = lanes_at(w, SQUARE + 6 * r + k)
                below = less_products(below, known, lanes_at(w, SQUARE + 6 * k + c))
            above = products(below, lanes_at(w, SQUARE + 7 * c))
            put_lanes(w, SQUARE + 6 * r + c, below)
            put_lanes(w, SQUARE + 6 * c + r, above)
            pivot = less_products(pivot, below, above)
            right = less_products(right, above, lanes_at(w, RIGHT + c))
        failed = where_larger(pivot, nothing, lanes_at(w, FAILED), one)
        put_lanes(w, FAILED, failed)
        pivot = where_larger(pivot, nothing, pivot, one)
        put_lanes(w, SQUARE + 7 * r, quotients(one, pivot))
        put_lanes(w, RIGHT + r, right)
    for r in range(m - 1, -1, -1):
        right = products(lanes_at(w, RIGHT + r), lanes_at(w, SQUARE + 7 * r))
        for k in range(r + 1, m):
            above = lanes_at(w, SQUARE + 6 * r + k)
            right = less_products(right, above, lanes_at(w, RIGHT + k))
        put_lanes(w, RIGHT + r, right)


@njit(nogil=True, forceinline=True)
def advance(w, n, lower, upper):
    """Write the next trials, within the limits, and how far they are."""
    moved, length = spread(0.0), lanes_at(w, LENGTH)
    for j in range(n):
        at = FIRST_JOINT + PER_JOINT * j
        here, low, high = lanes_at(w, at + HERE), spread(lower[j]), spread(upper[j])
        trial = more_products(here, length, lanes_at(w, at + STEP))
        trial = where_larger(low, trial, low, trial)
        trial = where_larger(trial, high, high, trial)
        put_lanes(w, at + TRIAL, trial)
        change = less(trial, 1.0, here)
        moved = more_products(moved, change, change)
    put_lanes(w, MOVED, moved)
