"""Compiled steps of many quasi-Newton descents at once: between two evaluations, one call.

Rows are addressed by number and never taken as slices, which would double the time of compiling.
"""

import numpy as np

from isthmus._compiled import njit

# Sums of products in any order, so that several are added at a time.
SUMS = {"reassoc", "contract"}
# Share of a step that is tried next where one does not descend, and how often.
SHRINK, MOST_TRIALS = 0.3, 25
# Columns of what is counted for each row: its steps, the trials of the present one, where the
# latest step lies in its memory, how many steps that holds, and whether they have curvature.
STEPS, TRIALS, LATEST, KEPT, CURVED = range(5)


@njit(nogil=True, fastmath=SUMS)
def _dot(A, i, B, k):
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j] * B[k, j]
    return total


@njit(nogil=True, fastmath=SUMS)
def _add(A, i, B, k, scale):
    for j in range(A.shape[1]):
        A[i, j] += scale * B[k, j]


@njit(nogil=True)
def _downhill(i, x, g, D, box):
    """Minus the gradient, without what would leave the box."""
    for j in range(x.shape[1]):
        leaves = (x[i, j] <= box[0, j] and g[i, j] > 0) or (x[i, j] >= box[1, j] and g[i, j] < 0)
        D[i, j] = 0.0 if leaves else -g[i, j]


@njit(nogil=True)
def _point(i, x, g, D, box, S, Y, rho, count):
    """The quasi-Newton direction; where it does not descend, the gradient, and memory is void.

    Steps and changes of gradients of row i lie from row ``i * memory`` on; ``rho = 0`` is void.
    Whether there is any curvature.
    """
    memory, kept, latest = rho.shape[1], count[i, KEPT], count[i, LATEST]
    base = i * memory
    _downhill(i, x, g, D, box)
    a, gamma = np.zeros(memory), 0.0
    for t in range(kept):
        k = (latest - t) % memory
        if rho[i, k] != 0:
            if gamma == 0:
                gamma = 1 / (rho[i, k] * _dot(Y, base + k, Y, base + k))
            a[k] = rho[i, k] * _dot(S, base + k, D, i)
            _add(D, i, Y, base + k, -a[k])
    if gamma == 0:
        return False
    for j in range(x.shape[1]):
        D[i, j] *= gamma
    for t in range(kept - 1, -1, -1):
        k = (latest - t) % memory
        if rho[i, k] != 0:
            _add(D, i, S, base + k, a[k] - rho[i, k] * _dot(Y, base + k, D, i))
    for j in range(x.shape[1]):
        if (x[i, j] <= box[0, j] and g[i, j] > 0) or (x[i, j] >= box[1, j] and g[i, j] < 0):
            D[i, j] = 0.0
    if _dot(D, i, g, i) >= -1e-14 * np.sqrt(_dot(D, i, D, i) * _dot(g, i, g, i)):
        _downhill(i, x, g, D, box)
        count[i, KEPT] = 0
        return False
    return True


@njit(nogil=True)
def _take(i, k, x, g, trial, g_new, S, Y, rho, count, box):
    """Go to a trial, remember the step where its curvature is positive; the optimality there."""
    memory = rho.shape[1]
    latest = (count[i, LATEST] + 1) % memory
    row, largest = i * memory + latest, 0.0
    for j in range(x.shape[1]):
        S[row, j] = trial[k, j] - x[i, j]
        Y[row, j] = g_new[k, j] - g[i, j]
        x[i, j], g[i, j] = trial[k, j], g_new[k, j]
        moved = min(max(x[i, j] - g[i, j], box[0, j]), box[1, j]) - x[i, j]
        largest = max(largest, abs(moved))
    curvature = _dot(S, row, Y, row)
    enough = curvature > 1e-12 * np.sqrt(_dot(Y, row, Y, row) * _dot(S, row, S, row))
    rho[i, latest] = 1 / curvature if enough else 0.0
    count[i, LATEST], count[i, KEPT] = latest, min(count[i, KEPT] + 1, memory)
    return largest


@njit(nogil=True)
def next_trials(
    rows, trial, f_new, g_new, x, f, g, D, S, Y, rho, count, step, box, optimality, converged,
    threshold, first_length, max_iter, rounding,
):  # fmt: skip
    """Judge the trials of the open rows and write the next ones in their place; how many.

    Rows are independent: one that shortens its step does not keep others waiting. Without values
    of trials, ``f_new`` empty, the first ones are made.
    """
    n_open = 0
    for k in range(len(rows)):
        i, again = rows[k], False
        if len(f_new):
            count[i, TRIALS] += 1
            decrease = 0.0
            for j in range(x.shape[1]):
                decrease += g[i, j] * (trial[k, j] - x[i, j])
            # Near the minimum a descent is smaller than the rounding error of the value.
            if decrease < 0 and f_new[k] <= f[i] + 1e-4 * decrease + rounding * abs(f[i]):
                f[i] = f_new[k]
                optimality[i] = _take(i, k, x, g, trial, g_new, S, Y, rho, count, box)
                converged[i] = optimality[i] <= threshold[i]
            elif count[i, TRIALS] < MOST_TRIALS:
                again = True
                step[i] *= SHRINK
            else:
                # If the gradient itself gave no descent, rounding has the last word.
                converged[i] = count[i, CURVED] == 0
                count[i, KEPT] = 0
        if not again:
            count[i, STEPS] += len(f_new) > 0
            count[i, TRIALS], step[i] = 0, 1.0
            if converged[i] or count[i, STEPS] >= max_iter:
                continue
            count[i, CURVED] = _point(i, x, g, D, box, S, Y, rho, count)
            if count[i, CURVED] == 0:
                # Without curvature a unit gradient step has no meaning: start with a known length.
                step[i] = first_length / max(np.sqrt(_dot(D, i, D, i)), 1e-300)
                if count[i, STEPS] == 0:
                    step[i] = min(step[i], 1.0)
        rows[n_open] = i
        for j in range(x.shape[1]):
            moved = x[i, j] + step[i] * D[i, j]
            trial[n_open, j] = min(max(moved, box[0, j]), box[1, j])
        n_open += 1
    return n_open
