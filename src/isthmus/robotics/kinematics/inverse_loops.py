"""Compiled damped least squares for joint values that reach a target, target after target."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import cholesky, cholesky_solve
from isthmus.robotics.kinematics.chain_loops import fill_frames, fill_jacobians, fill_tip

PATIENCE = 6  # rejected or hardly useful steps in a row before a start is given up
HARDLY = 1e-3  # share of the error that a useful step removes


@njit(nogil=True)
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


@njit(nogil=True)
def _look(q, chain, target, work):
    """Fill error (m,) and Jacobian (m, n) of one posture; return the squared error.

    The position counts in units of ``scale``, the orientation in radians; m is 3 without it.
    """
    table, angles, modified, base, scale, motions, tool = chain
    cosines, sines, frames, jacobian, e, J = work[:6]
    offsets, end = work[15:17]
    n = len(q)
    for j in range(n):
        angle = motions[j, 0] * q[j] + angles[j]
        cosines[0, j], sines[0, j] = np.cos(angle), np.sin(angle)
        offsets[0, j] = motions[j, 1] * q[j] + table[j, 3]
    fill_frames(cosines, sines, offsets, table, modified, base, False, frames)
    fill_jacobians(frames, modified, base, motions, tool, jacobian)
    fill_tip(frames[0, n - 1], tool, end)
    m = len(e)
    total = 0.0
    if m == 6:
        rotation_log(target, end, e[3:])
    for r in range(m):
        if r < 3:
            e[r] = (target[r, 3] - end[r, 3]) / scale
        total += e[r] * e[r]
        factor = 1.0 / scale if r < 3 else 1.0
        for j in range(n):
            J[r, j] = factor * jacobian[0, r, j]
    return total


@njit(nogil=True)
def _step_towards(q, wish, damping, limits, work, step):
    """The step of the free joints that is closest to ``wish`` and cancels the error.

    dq = d + J' (J J' + damping I)^-1 (e - J d), with d the wish. A joint at its limit whose step
    would leave it is held there, and the rest is solved again without it.
    """
    e, J, held, A, y = work[4:9]
    lower, upper = limits
    m, n = J.shape
    for j in range(n):
        held[j] = False
    for _ in range(n):
        for r in range(m):
            y[r] = e[r]
            for j in range(n):
                if not held[j]:
                    y[r] -= J[r, j] * wish[j]
            for c in range(r + 1):
                total = 0.0
                for j in range(n):
                    if not held[j]:
                        total += J[r, j] * J[c, j]
                A[r, c] = total
            A[r, r] += damping
        if not cholesky(A, m, 0.0):
            return False
        cholesky_solve(A, m, y)
        again = False
        for j in range(n):
            step[j] = 0.0
            if held[j]:
                continue
            step[j] = wish[j]
            for r in range(m):
                step[j] += J[r, j] * y[r]
            if (q[j] <= lower[j] and step[j] < 0) or (q[j] >= upper[j] and step[j] > 0):
                held[j] = True
                again = True
        if not again:
            return True
    return True


@njit(nogil=True)
def _clipped_sum(q, step, length, limits, out):
    """Write ``q + length * step``, kept within the limits, into ``out``."""
    lower, upper = limits
    for j in range(len(q)):
        out[j] = min(max(q[j] + length * step[j], lower[j]), upper[j])


@njit(nogil=True)
def _keep(q, e, J, q_kept, e_kept, J_kept):
    """Copy a posture, its error and its Jacobian (in loops, which compile faster than slices)."""
    for j in range(len(q)):
        q_kept[j] = q[j]
    for r in range(len(e)):
        e_kept[r] = e[r]
        for j in range(len(q)):
            J_kept[r, j] = J[r, j]


@njit(nogil=True)
def _distance(a, b):
    """Squared distance of two postures."""
    total = 0.0
    for j in range(len(a)):
        total += (a[j] - b[j]) ** 2
    return total


@njit(nogil=True)
def _close_enough(e, tol_squared):
    """Whether position and orientation are each within tolerance."""
    position = e[0] * e[0] + e[1] * e[1] + e[2] * e[2]
    turn = 0.0
    if len(e) == 6:
        turn = e[3] * e[3] + e[4] * e[4] + e[5] * e[5]
    return position <= tol_squared and turn <= tol_squared


@njit(nogil=True)
def _approach(q, chain, target, limits, tol_squared, max_iter, patience, work):
    """Move ``q`` to the target by damped least squares; return squared error, steps, success.

    Damping is in proportion to the squared error: heavy far away, none at the target. After
    ``patience`` steps in a row that were rejected or hardly helped, the start is given up.
    """
    step, trial, wish, e_here, J_here = work[9:14]
    e, J = work[4:6]
    for j in range(len(q)):
        trial[j], wish[j] = q[j], 0.0
    error, factor, dull = np.inf, 0.03, -1
    for n_iter in range(max_iter + 1):
        new = _look(trial, chain, target, work)
        if new < error:
            dull = dull + 1 if new > (1 - HARDLY) * error else 0
            error = new
            _keep(trial, e, J, q, e_here, J_here)
            factor = max(0.3 * factor, 1e-6)
            if _close_enough(e, tol_squared):
                return error, n_iter, True
        else:
            dull += 1
            factor *= 6.0
            _keep(q, e_here, J_here, q, e, J)
        if dull >= patience or not _step_towards(q, wish, factor * error, limits, work, step):
            break
        _clipped_sum(q, step, 1.0, limits, trial)
    return error, n_iter, False


@njit(nogil=True)
def _wander(q, chain, target, limits, tol_squared, max_iter, work):
    """Move ``q`` as if there were no limits and every step helped, and bring it back within them.

    A step that is only taken where the error falls ends in the nearest valley, and a wall on the
    way may hide the target behind it. This one passes over both; where it arrives, whole turns
    are taken off, and what is then still outside is clipped.
    """
    step, _, wish, _, _ = work[9:14]
    lower, upper = limits
    for j in range(len(q)):
        wish[j] = 0.0
    nowhere, n_iter = work[14], 0
    for _ in range(max_iter):
        error = _look(q, chain, target, work)
        if _close_enough(work[4], tol_squared) or not _step_towards(
            q, wish, 0.5 * error, nowhere, work, step
        ):
            break
        for j in range(len(q)):
            q[j] += step[j]
        n_iter += 1
    for j in range(len(q)):
        if chain[5][j, 0] == 0:  # a joint that slides
            q[j] = min(max(q[j], lower[j]), upper[j])
        elif lower[j] > -np.inf or upper[j] < np.inf:
            anchor = lower[j] if lower[j] > -np.inf else upper[j] - 2 * np.pi
            q[j] = anchor + (q[j] - anchor) % (2 * np.pi)
            if q[j] > upper[j]:  # to the nearer end, around the circle
                q[j] = upper[j] if q[j] - upper[j] < lower[j] + 2 * np.pi - q[j] else lower[j]
    return n_iter


@njit(nogil=True)
def _settle(q, chain, target, preferred, limits, max_iter, work):
    """Slide ``q``, which reaches the target, along the postures that do, to ``preferred``.

    Minimises |q - preferred|² with an exact penalty for the error, large enough for every step to
    lead downhill.
    """
    step, trial, wish, e_here, J_here = work[9:14]
    e, J = work[4:6]
    n = len(q)
    _keep(q, e, J, trial, e_here, J_here)
    merit, weight, length, slope, first = np.inf, 0.0, 1.0, 0.0, True
    far = error = 0.0
    for _ in range(3 * max_iter):
        new, near = np.sqrt(_look(trial, chain, target, work)), _distance(trial, preferred)
        if first or near + weight * new < merit - 1e-4 * length * slope:
            first = False
            _keep(trial, e, J, q, e_here, J_here)
            far, error, length = near, new, 1.0
            trace = 0.0
            for j in range(n):
                wish[j] = preferred[j] - q[j]
                for r in range(len(e)):
                    trace += J[r, j] ** 2
            if not _step_towards(q, wish, 1e-12 * trace, limits, work, step):
                return
            change = slope = 0.0
            for j in range(n):
                change += (2 * (q[j] - preferred[j]) + step[j]) * step[j]
                slope += step[j] ** 2
            if slope < 1e-18:
                return
            if error > 0:
                weight = max(weight, 2 * change / error)
            merit = far + weight * error
        else:
            length *= 0.5
            if length < 1e-3:
                return
        _clipped_sum(q, step, length, limits, trial)


@njit(nogil=True)
def _workspace(m, n_joints):
    """Arrays that the steps for one target after the other share."""
    return (
        np.empty((1, n_joints)),  # cosines
        np.empty((1, n_joints)),  # sines
        np.empty((1, n_joints, 4, 4)),  # frames
        np.empty((1, 6, n_joints)),  # Jacobian in units of the chain
        np.empty(m),  # error
        np.empty((m, n_joints)),  # Jacobian of the error
        np.zeros(n_joints, dtype=np.bool_),  # joints held at a limit
        np.empty((m, m)),  # J J'
        np.empty(m),
        np.empty(n_joints),  # step
        np.empty(n_joints),  # trial
        np.empty(n_joints),  # wish
        np.empty(m),  # error at the last posture accepted
        np.empty((m, n_joints)),  # and its Jacobian
        (np.full(n_joints, -np.inf), np.full(n_joints, np.inf)),  # no limits
        np.empty((1, n_joints)),  # offsets
        np.empty((4, 4)),  # pose of the tool
    )


@njit(nogil=True)
def solve_targets(targets, with_rotation, chain, limits, starts, others, preferred, options, out):
    """Joint values for each target: from the first start that leads there, or the best found.

    ``starts`` (n, n_joints) are tried first, then mixtures of them with ``others``
    (n_init - 1, n_joints), ever farther away. A posture that reaches the target is settled if that
    is wanted; otherwise the closest one is refined patiently: one last start for both.
    ``out`` = postures (n, n_joints), errors (n, 2), reached (n,), steps (n,).
    """
    tol, max_iter, wanted = options
    Q, errors, reached, steps = out
    m, n_joints = (6 if with_rotation else 3), starts.shape[1]
    work = _workspace(m, n_joints)
    q, q2 = np.empty(n_joints), np.empty(n_joints)
    share, n_starts = 0.0, 1 + len(others)
    for i in range(len(targets)):
        best, far = np.inf, np.inf
        k = 0
        while k <= n_starts:
            last = k == n_starts
            if last and (wanted or not reached[i]):
                _clipped_sum(Q[i], q, 0.0, limits, q)
                for j in range(n_joints):  # a joint that may turn is brought near by whole turns
                    if np.isinf(limits[0][j]) and np.isinf(limits[1][j]):
                        q[j] -= 2 * np.pi * np.round((q[j] - preferred[i, j]) / (2 * np.pi))
                if reached[i]:
                    far = _distance(q, preferred[i])
                    _settle(q, chain, targets[i], preferred[i], limits, max_iter, work)
            elif last:
                break
            else:
                share = min(1.0, k / 3.0)
                for j in range(n_joints):
                    other = others[k - 1, j] if k > 0 else 0.0
                    q[j] = (1 - share) * starts[i, j] + share * other
                _clipped_sum(q, q, 0.0, limits, q)
            many, patience = (10 * max_iter, 10 * max_iter) if last else (max_iter, PATIENCE)
            error, n_iter, done = _approach(
                q, chain, targets[i], limits, tol**2, many, patience, work
            )
            steps[i] += n_iter
            if not (done or last):
                # The same start once more, over hill and wall.
                for j in range(n_joints):
                    other = others[k - 1, j] if k > 0 else 0.0
                    q2[j] = (1 - share) * starts[i, j] + share * other
                steps[i] += _wander(q2, chain, targets[i], limits, tol**2, max_iter, work)
                again, n_iter, done = _approach(
                    q2, chain, targets[i], limits, tol**2, many, patience, work
                )
                steps[i] += n_iter
                if done or again < error:
                    error = again
                    _clipped_sum(q2, q2, 0.0, limits, q)
            better = done or error < best
            if reached[i]:
                better = done and _distance(q, preferred[i]) < far
            if better:
                best = error
                _clipped_sum(q, q, 0.0, limits, Q[i])
                _look(q, chain, targets[i], work)
                e = work[4]
                errors[i, 0] = np.sqrt(e[0] ** 2 + e[1] ** 2 + e[2] ** 2) * chain[4]
                if with_rotation:
                    errors[i, 1] = np.sqrt(e[3] ** 2 + e[4] ** 2 + e[5] ** 2)
            reached[i] = reached[i] or done
            k = n_starts if reached[i] and not last else k + 1
