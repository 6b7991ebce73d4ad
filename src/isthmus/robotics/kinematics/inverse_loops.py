"""Compiled damped least squares for joint values that reach a target, target after target."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import cholesky, cholesky_solve
from isthmus.robotics.kinematics.chain_loops import fill_frames, fill_jacobians, fill_tip
from isthmus.typing import Array

PATIENCE = 6  # rejected or hardly useful steps in a row before a start is given up
STANDSTILL = 1e-28  # squared step, in radians or shares of the reach: lost in rounding
HARDLY = 1e-3  # share of the error that a useful step removes

# Rows of W, the one array in which all steps work: a dozen small ones take seconds to compile.
ERROR, STEP, TRIAL, WISH, HELD, RIGHT, KEPT_ERROR, LOWER, UPPER, HERE, FIRST, FIRST_ERROR = range(
    12
)
JACOBIAN, KEPT_JACOBIAN, SQUARE, N_ROWS = 12, 18, 24, 30


@njit(nogil=True, inline="always")
def rotation_log(A, B, out):
    """Axis times angle of A B', the turn that leads from B to A."""
    v0 = v1 = v2 = trace = 0.0
    for k in range(3):
        v0 += 0.5 * (A[2, k] * B[1, k] - A[1, k] * B[2, k])
        v1 += 0.5 * (A[0, k] * B[2, k] - A[2, k] * B[0, k])
        v2 += 0.5 * (A[1, k] * B[0, k] - A[0, k] * B[1, k])
        trace += A[0, k] * B[0, k] + A[1, k] * B[1, k] + A[2, k] * B[2, k]
    sine, cosine = np.sqrt(v0 * v0 + v1 * v1 + v2 * v2), 0.5 * (trace - 1.0)
    if sine > 1e-6:
        factor = np.arctan2(sine, cosine) / sine
        out[0], out[1], out[2] = factor * v0, factor * v1, factor * v2
    elif cosine > 0:
        out[0], out[1], out[2] = v0, v1, v2
    else:  # half a turn: A B' = 2 u u' - I, and its largest column has the direction of u
        best, size = 0, -1.0
        for c in range(3):
            d = 0.0
            for k in range(3):
                d += A[c, k] * B[c, k]
            if d > size:
                best, size = c, d
        norm = 0.0
        for r in range(3):
            out[r] = 1.0 if r == best else 0.0
            for k in range(3):
                out[r] += A[r, k] * B[best, k]
            norm += out[r] * out[r]
        for r in range(3):
            out[r] *= np.pi / np.sqrt(norm)


def workspace(lower: Array, upper: Array) -> tuple[Array, tuple[Array, Array, Array, Array]]:
    """Arrays that the steps for one target after the other share, for joints of these limits."""
    n_joints = len(lower)
    W = np.zeros((N_ROWS, max(n_joints, 6)))
    W[LOWER, :n_joints], W[UPPER, :n_joints] = lower, upper
    turns = np.empty((3, 1, n_joints))  # cosines, sines, offsets
    frames, jacobian = np.empty((1, n_joints, 4, 4)), np.empty((1, 6, n_joints))
    return W, (turns, frames, jacobian, np.empty((4, 4)))


@njit(nogil=True)
def _look(row, m, chain, target, W, arrays):
    """Fill error (m,) and Jacobian (m, n) of the posture in a row; return the squared error.

    The position counts in units of ``scale``, the orientation in radians; m is 3 without it.
    """
    table, angles, modified, base, scale, motions, tool = chain
    turns, frames, jacobian, end = arrays
    n = len(table)
    for j in range(n):
        angle = motions[j, 0] * W[row, j] + angles[j]
        turns[0, 0, j], turns[1, 0, j] = np.cos(angle), np.sin(angle)
        turns[2, 0, j] = motions[j, 1] * W[row, j] + table[j, 3]
    fill_frames(turns[0], turns[1], turns[2], table, modified, base, False, frames)
    fill_jacobians(frames, modified, base, motions, tool, jacobian)
    fill_tip(frames[0, n - 1], tool, end)
    if m == 6:
        rotation_log(target, end, W[ERROR, 3:])
    total = 0.0
    for r in range(m):
        if r < 3:
            W[ERROR, r] = (target[r, 3] - end[r, 3]) / scale
        total += W[ERROR, r] * W[ERROR, r]
        factor = 1.0 / scale if r < 3 else 1.0
        for j in range(n):
            W[JACOBIAN + r, j] = factor * jacobian[0, r, j]
    return total


@njit(nogil=True)
def _step_towards(m, n, damping, walls, W):
    """The step of the free joints that is closest to the wish and cancels the error.

    dq = d + J' (J J' + damping I)^-1 (e - J d), with d the wish. A joint at its limit whose step
    would leave it is held there, and the rest is solved again without it; without ``walls`` there
    are no limits.
    """
    A, y = W[SQUARE:], W[RIGHT]
    for j in range(n):
        W[HELD, j] = 0.0
    for _ in range(n):
        for r in range(m):
            y[r] = W[ERROR, r]
            for j in range(n):
                if W[HELD, j] == 0.0:
                    y[r] -= W[JACOBIAN + r, j] * W[WISH, j]
            for c in range(r + 1):
                total = 0.0
                for j in range(n):
                    if W[HELD, j] == 0.0:
                        total += W[JACOBIAN + r, j] * W[JACOBIAN + c, j]
                A[r, c] = total
            A[r, r] += damping
        if not cholesky(A, m, 0.0):
            return False
        cholesky_solve(A, m, y)
        again = False
        for j in range(n):
            step = 0.0
            if W[HELD, j] == 0.0:
                step = W[WISH, j]
                for r in range(m):
                    step += W[JACOBIAN + r, j] * y[r]
                below = W[HERE, j] <= W[LOWER, j] and step < 0
                if walls and (below or (W[HERE, j] >= W[UPPER, j] and step > 0)):
                    W[HELD, j] = 1.0
                    again = True
            W[STEP, j] = step
        if not again:
            return True
    return True


@njit(nogil=True)
def _clip(n, length, W, row):
    """Write the posture after ``length`` steps, kept within the limits, into a row."""
    for j in range(n):
        q = W[HERE, j] + length * W[STEP, j] if length > 0 else W[HERE, j]
        W[row, j] = min(max(q, W[LOWER, j]), W[UPPER, j])


@njit(nogil=True, inline="always")
def _keep(m, n, W):
    """The trial is the posture now: copy it, its error and its Jacobian."""
    for j in range(n):
        W[HERE, j] = W[TRIAL, j]
    for r in range(m):
        W[KEPT_ERROR, r] = W[ERROR, r]
        for j in range(n):
            W[KEPT_JACOBIAN + r, j] = W[JACOBIAN + r, j]


@njit(nogil=True, inline="always")
def _distance(W, posture):
    """Squared distance of the posture to another."""
    total = 0.0
    for j in range(len(posture)):
        total += (W[HERE, j] - posture[j]) ** 2
    return total


@njit(nogil=True, inline="always")
def _close_enough(m, tol_squared, W):
    """Whether position and orientation are each within tolerance."""
    position = turn = 0.0
    for r in range(3):
        position += W[ERROR, r] * W[ERROR, r]
        if m == 6:
            turn += W[ERROR, 3 + r] * W[ERROR, 3 + r]
    return position <= tol_squared and turn <= tol_squared


@njit(nogil=True, inline="always")
def _approach(m, walls, chain, target, tol_squared, max_iter, patience, W, arrays):
    """Move to the target by damped least squares; return squared error, steps, success.

    Damping is in proportion to the squared error: heavy far away, none at the target. After
    ``patience`` steps in a row that were rejected or hardly helped, the start is given up.

    A step that is only taken where the error falls ends in the nearest valley, and a wall on the
    way may hide the target behind it. Without ``walls`` there are no limits, and every step is
    taken as if it helped.
    """
    n = len(chain[0])
    for j in range(n):
        W[TRIAL, j], W[WISH, j] = W[HERE, j], 0.0
    error, factor, dull, n_iter, done = np.inf, 0.03, -1, -1, False
    while n_iter < max_iter and not done:
        n_iter += 1
        new = _look(TRIAL, m, chain, target, W, arrays)
        if new < error or not walls:
            dull = dull + 1 if new > (1 - HARDLY) * error else 0
            error = new
            _keep(m, n, W)
            factor = max(0.3 * factor, 1e-6)
            done = _close_enough(m, tol_squared, W)
        else:
            dull += 1
            factor *= 6.0
            for r in range(m):
                W[ERROR, r] = W[KEPT_ERROR, r]
                for j in range(n):
                    W[JACOBIAN + r, j] = W[KEPT_JACOBIAN + r, j]
        if not walls:
            factor, dull = 0.5, -1
        if done or dull >= patience or not _step_towards(m, n, factor * error, walls, W):
            break
        if walls:
            _clip(n, 1.0, W, TRIAL)
            moved = 0.0
            for j in range(n):
                unit = 1.0 if chain[5][j, 0] != 0.0 else chain[4]  # radians, or the reach
                moved += ((W[TRIAL, j] - W[HERE, j]) / unit) ** 2
            if moved < STANDSTILL:
                break
        else:
            for j in range(n):
                W[TRIAL, j] = W[HERE, j] + W[STEP, j]
    return error, n_iter, done


@njit(nogil=True, inline="always")
def _come_back(motions, W):
    """Come back within the limits: take off whole turns, and clip what is still outside."""
    for j in range(len(motions)):
        q, low, high = W[HERE, j], W[LOWER, j], W[UPPER, j]
        if motions[j, 0] == 0:  # a joint that slides
            q = min(max(q, low), high)
        elif low > -np.inf or high < np.inf:
            anchor = low if low > -np.inf else high - 2 * np.pi
            q = anchor + (q - anchor) % (2 * np.pi)
            if q > high:  # to the nearer end, around the circle
                q = high if q - high < low + 2 * np.pi - q else low
        W[HERE, j] = q


@njit(nogil=True, inline="always")
def _settle(m, chain, target, preferred, max_iter, W, arrays):
    """Slide from a posture that reaches the target, along those that do, to ``preferred``.

    Minimises |q - preferred|² with an exact penalty for the error, large enough for every step to
    lead downhill.
    """
    n = len(preferred)
    for j in range(n):
        W[TRIAL, j] = W[HERE, j]
    merit, weight, length, slope, first = np.inf, 0.0, 1.0, 0.0, True
    for _ in range(3 * max_iter):
        new, near = np.sqrt(_look(TRIAL, m, chain, target, W, arrays)), 0.0
        for j in range(n):
            near += (W[TRIAL, j] - preferred[j]) ** 2
        if first or near + weight * new < merit - 1e-4 * length * slope:
            first, length, trace = False, 1.0, 0.0
            for j in range(n):
                W[HERE, j] = W[TRIAL, j]
                W[WISH, j] = preferred[j] - W[HERE, j]
                for r in range(m):
                    trace += W[JACOBIAN + r, j] ** 2
            if not _step_towards(m, n, 1e-12 * trace, True, W):
                return
            change = slope = 0.0
            for j in range(n):
                change += (2 * (W[HERE, j] - preferred[j]) + W[STEP, j]) * W[STEP, j]
                slope += W[STEP, j] ** 2
            if slope < 1e-18:
                return
            if new > 0:
                weight = max(weight, 2 * change / new)
            merit = near + weight * new
        else:
            length *= 0.5
            if length < 1e-3:
                return
        _clip(n, length, W, TRIAL)


@njit(nogil=True, inline="always")
def _start(k, start, others, W):
    """Start ``k``: ``start`` mixed with another posture, ever farther away; the former is kept."""
    share = min(1.0, k / 3.0)
    for j in range(len(start)):
        W[FIRST, j] = W[HERE, j]
        other = others[k - 1, j] if k > 0 else 0.0
        W[HERE, j] = (1 - share) * start[j] + share * other
    for r in range(6):
        W[FIRST_ERROR, r] = W[KEPT_ERROR, r]


@njit(nogil=True, inline="always")
def _write(m, scale, W, q, errors):
    """The posture, and the remaining distance and angle."""
    for j in range(len(q)):
        q[j] = W[HERE, j]
    position = turn = 0.0
    for r in range(3):
        position += W[KEPT_ERROR, r] ** 2
        if m == 6:
            turn += W[KEPT_ERROR, 3 + r] ** 2
    errors[0], errors[1] = np.sqrt(position) * scale, np.sqrt(turn)


@njit(nogil=True, inline="always")
def _refine(m, chain, target, q, preferred, reached, max_iter, W, arrays):
    """Go back to ``q``, turned near ``preferred``, and settle if it reaches the target.

    Returns its squared distance to ``preferred``.
    """
    for j in range(len(q)):
        W[HERE, j] = min(max(q[j], W[LOWER, j]), W[UPPER, j])
        if np.isinf(W[LOWER, j]) and np.isinf(W[UPPER, j]):  # by whole turns
            W[HERE, j] -= 2 * np.pi * np.rint((W[HERE, j] - preferred[j]) / (2 * np.pi))
    far = _distance(W, preferred)
    if reached:
        _settle(m, chain, target, preferred, max_iter, W, arrays)
    return far


@njit(nogil=True)
def solve_targets(targets, m, chain, starts, others, preferred, options, out, W, arrays):
    """Joint values for each target: from the first start that leads there, or the best found.

    ``starts`` (n, n_joints) are tried first, then mixtures of them with ``others``
    (n_init - 1, n_joints), ever farther away; each twice, the second time over hill and wall. A
    posture that reaches the target is settled if that is wanted; otherwise the closest one is
    refined patiently: one last start for both. ``m`` is 3, or 6 if orientations count.
    ``out`` = postures (n, n_joints), errors (n, 2), reached (n,), steps (n,).
    """
    tol, max_iter, wanted = options
    Q, errors, reached, steps = out
    n, end, first = starts.shape[1], 3 * (1 + len(others)), 0.0
    for i in range(len(targets)):
        best = far = np.inf
        t = 0  # three to a start: approach; wander without walls; approach from there
        while t < end or (t == end and (wanted or not reached[i])):
            last, phase = t == end, t % 3
            if last:
                far = _refine(
                    m, chain, targets[i], Q[i], preferred[i], reached[i], max_iter, W, arrays
                )
            elif phase < 2:
                _start(t // 3, starts[i], others, W)
                if phase == 0:
                    _clip(n, 0.0, W, HERE)
            walls = last or phase != 1
            many, patience = (10 * max_iter, 10 * max_iter) if last else (max_iter, PATIENCE)
            error, n_iter, done = _approach(
                m, walls, chain, targets[i], tol**2, many, patience, W, arrays
            )
            steps[i] += n_iter
            t += 1
            if not walls:
                _come_back(chain[5], W)
                continue
            if not (last or done) and phase == 0:
                first = error
                continue
            if not (last or done or error < first):
                error = first
                for j in range(n):
                    W[HERE, j] = W[FIRST, j]
                for r in range(m):
                    W[KEPT_ERROR, r] = W[FIRST_ERROR, r]
            better = done or error < best
            if reached[i]:
                better = done and _distance(W, preferred[i]) < far
            if better:
                best = error
                _write(m, chain[4], W, Q[i], errors[i])
            reached[i] = reached[i] or done
            if reached[i] and not last:
                t = end
