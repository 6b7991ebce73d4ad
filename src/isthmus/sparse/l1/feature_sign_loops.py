"""Compiled loops of feature-sign search: the active set of one signal.

In the names below ``m`` atoms are active: ``active[:m]`` are their numbers, ``a[:m]`` their
coefficients, ``signs[:m]`` the signs they are given, and ``R`` is the factor of their Gram matrix
(see ``active_set_loops``). The system of the signs is R'R target = b - alpha signs; ``y``, half of
its solution, R target, is kept while atoms come and go, as is ``v``, which is R a.

Loops that are called from one place are written into their caller (``inline``), which compiles
sooner: a loop is optimised anew within each one around it. More of it would make one too long.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import LANES, aligned, larger_modulus, largest, load, spread
from isthmus.sparse.l1.active_set_loops import (
    SUMS,
    backward,
    columns,
    forward,
    gradient,
    join,
    remove,
    times,
)
from isthmus.typing import Array, IntArray

# Slopes of the active atoms may miss alpha by this share of the largest product of the signal with
# an atom, or the coefficients are corrected.
ROUNDING = 1e-14
# Slopes are compared by stretches of this length.
STRETCH = 32


@njit(nogil=True)
def _best_step(m, a, target, signs, alpha, curvature):
    """Length in (0, 1] of the best step to ``target``: a zero crossing or the end."""
    best_step, best_value = 0.0, np.inf
    for q in range(-1, m):
        if q >= 0 and a[q] * target[q] >= 0:
            continue
        step = 1.0 if q < 0 else a[q] / (a[q] - target[q])
        # With fixed signs the cost falls by this; a coefficient beyond zero pays twice.
        value = -curvature * step * (1.0 - 0.5 * step)
        for r in range(m):
            if a[r] * target[r] < 0:
                value += 2.0 * alpha * max(0.0, -signs[r] * (a[r] + step * (target[r] - a[r])))
        if value < best_value:
            best_step, best_value = step, value
    return best_step


@njit(nogil=True, fastmath=SUMS)
def _move(m, y, v, step):
    """Move ``v`` towards ``y``."""
    for q in range(m):
        v[q] += step * (y[q] - v[q])


@njit(nogil=True, fastmath=SUMS)
def _squared_distance(m, y, v):
    total = 0.0
    for q in range(m):
        apart = y[q] - v[q]
        total += apart * apart
    return total


@njit(nogil=True)
def _settle(R, m, active, a, signs, alpha, positive, max_iter, target, y, v, known):
    """Minimise over the active coefficients; return how many stay, refused, systems solved.

    ``refused`` counts atoms that had just come in and would have moved against their sign;
    ``known`` says that ``v`` is R a. At the end it is, and equals ``y``.
    """
    refused = 0
    for n_solved in range(1, max_iter + 1):
        for q in range(m):
            target[q] = y[q]
        backward(R, m, target)
        wrong = 0
        for q in range(m - 1, -1, -1):
            if a[q] == 0.0 and target[q] * signs[q] <= 0.0:
                remove(R, m, active, a, signs, y, v, q)
                m -= 1
                wrong += 1
        refused += wrong
        if wrong > 0:
            continue
        crossings = 0
        for q in range(m):
            crossings += a[q] * target[q] < 0.0 or target[q] == 0.0
        if crossings == 0:
            for q in range(m):
                a[q], v[q] = target[q], y[q]
            return m, refused, n_solved
        if not known:
            times(R, m, a, v)
            known = True
        m = _pass_zeros(R, m, active, a, signs, alpha, positive, target, y, v)
    return m, refused, max_iter


@njit(nogil=True, inline="always")
def _pass_zeros(R, m, active, a, signs, alpha, positive, target, y, v):
    """Make the best step to ``target`` at which coefficients change signs; return how many stay."""
    step = _best_step(m, a, target, signs, alpha, _squared_distance(m, y, v))
    if positive:  # no coefficient may pass zero: go to the first crossing
        for q in range(m):
            if a[q] * target[q] < 0.0:
                step = min(step, a[q] / (a[q] - target[q]))
    _move(m, y, v, step)
    for q in range(m - 1, -1, -1):
        crosses = a[q] * target[q] < 0.0 and a[q] / (a[q] - target[q]) == step
        if crosses or (step == 1.0 and target[q] == 0.0):
            for r in range(q, m - 1):
                target[r] = target[r + 1]
            remove(R, m, active, a, signs, y, v, q)
            m -= 1
    first = m
    for q in range(m - 1, -1, -1):
        a[q] += step * (target[q] - a[q])
        target[q] = 0.0
        if a[q] * signs[q] < 0.0:
            # by this the right-hand side changes
            target[q] = 2.0 * alpha * signs[q]
            signs[q] = -signs[q]
            first = q
    forward(R, first, m, target)
    for q in range(first, m):
        y[q] += target[q]
    return m


@njit(nogil=True)
def _largest_slope(g, start, stop, positive):
    """How fast the squared error falls at most where one of these coefficients leaves zero."""
    worst, j = 0.0, start
    if not positive:
        moduli = spread(0.0)
        while j + LANES <= stop:
            moduli = larger_modulus(moduli, load(g, j))
            j += LANES
        worst = largest(moduli)
    while j < stop:
        worst = max(worst, -g[j] if positive else abs(g[j]))
        j += 1
    return worst


@njit(nogil=True, inline="always")
def _list_above(g, k, threshold, positive, slopes, wanted):
    """List which of k atoms have a slope that reaches the threshold; return how many.

    ``slopes`` are the largest ones of each stretch, so that most of them are passed over.
    """
    count = 0
    for start in range(0, k, STRETCH):
        if slopes[start // STRETCH] >= threshold:
            for j in range(start, min(start + STRETCH, k)):
                if (-g[j] if positive else abs(g[j])) >= threshold:
                    wanted[count] = j
                    count += 1
    return count


@njit(nogil=True)
def _wanted(g, k, alpha, limit, share, positive, slopes, wanted):
    """List which of k atoms want to come in; return how many.

    Those whose slope exceeds ``limit``, and alpha by at least ``share`` of the largest excess;
    ``share=1`` lists the best alone. The slopes of active atoms have been set to zero.
    """
    worst = 0.0
    for start in range(0, k, STRETCH):
        most = _largest_slope(g, start, min(start + STRETCH, k), positive)
        slopes[start // STRETCH] = most
        worst = max(worst, most)
    if worst <= limit:
        return 0
    threshold = max(limit, alpha + share * (worst - alpha)) if share < 1.0 else worst
    return _list_above(g, k, threshold, positive, slopes, wanted)


@njit(nogil=True)
def _enter(G, b, g, alpha, R, m, active, a, signs, y, v, wanted, count, new, rhs, W, S):
    """Let ``count`` of the listed atoms in, at zero; return how many are active then."""
    for first in range(0, count, LANES):
        part = min(LANES, count - first)
        for t in range(part):
            j = wanted[first + t]
            new[t] = j
            rhs[t] = b[j] + (alpha if g[j] > 0.0 else -alpha)
        before = m
        m = join(R, m, G, active, new, part, rhs, y, W, S)
        for q in range(before, m):
            signs[q] = -1.0 if g[active[q]] > 0.0 else 1.0
            a[q] = v[q] = 0.0
    return m


@njit(nogil=True, inline="always")
def _correct(R, m, a, signs, alpha, most, target):
    """Take what rounding has left of the slopes of active atoms out of the coefficients.

    ``target`` holds the slopes.
    """
    wrong = 0.0
    for q in range(m):
        target[q] += alpha * signs[q]
        wrong = max(wrong, abs(target[q]))
    if wrong > ROUNDING * most:
        forward(R, 0, m, target)
        backward(R, m, target)
        for q in range(m):
            a[q] -= target[q]


@njit(nogil=True, inline="always")
def _exchange(G, g, R, m, active, a, signs, y, v, wanted, count, positive, W, direction):
    """Make room for an atom that the active ones span, the best of those listed; the first then.

    Moving it by t and the others by -t c, where G c are its products with them, leaves the fit
    as it is and lowers the sum of moduli, until one of the others is zero. That one leaves.
    Return t with the sign of the atom, or 0 where rounding leaves no such step.
    """
    best = wanted[0]
    for t in range(1, count):
        j = wanted[t]
        if (-g[j] > -g[best]) if positive else (abs(g[j]) > abs(g[best])):
            best = j
    wanted[0] = best
    columns(R, m, G, active, wanted, 1, W)
    for q in range(m):
        direction[q] = W[q, 0]
    backward(R, m, direction)
    sign = -1.0 if g[best] > 0.0 else 1.0
    leaves, length = -1, np.inf
    for q in range(m):
        change = sign * direction[q]
        if a[q] * change > 0.0 and a[q] / change < length:
            leaves, length = q, a[q] / change
    if leaves < 0:
        return 0.0
    for q in range(m):
        a[q] -= length * sign * direction[q]
    remove(R, m, active, a, signs, y, v, leaves)
    return length * sign


@njit(nogil=True, inline="always")
def _list_start(code, g, wanted):
    """List the atoms of a start, which becomes zero; ``g`` has its negative. Return how many."""
    count = 0
    for j in range(code.shape[0]):
        g[j] = -code[j]
        if code[j] != 0.0:
            wanted[count] = j
            count += 1
            code[j] = 0.0
    return count


@njit(nogil=True, inline="always")
def _code_one(G, b, alpha, tol, max_iter, positive, share, code, matrices, vectors, numbers):
    """Minimise ½ c'Gc - b'c + alpha |c|₁ from the start ``code`` and write the minimum there.

    Return the number of systems solved, and whether the minimum was reached.
    """
    R, W, S = matrices
    a, signs, target, y, v, rhs, slopes, g = vectors
    active, wanted, new = numbers
    k = b.shape[0]
    most = _largest_slope(b, 0, k, False)
    limit = alpha + tol * most
    m, n_solved, finished, moved = 0, 0, False, 0.0
    starts = _largest_slope(code, 0, k, False) > 0.0
    while n_solved < max_iter:
        if starts:
            count = _list_start(code, g, wanted)
        elif moved != 0.0:
            count = 1
        else:
            gradient(G, b, active, a, m, g)
            for q in range(m):
                target[q] = g[active[q]]
                g[active[q]] = 0.0
            count = _wanted(g, k, alpha, limit, share, positive, slopes, wanted)
            if count == 0:
                _correct(R, m, a, signs, alpha, most, target)
                finished = True
                break
        before = m
        m = _enter(G, b, g, alpha, R, m, active, a, signs, y, v, wanted, count, new, rhs, W, S)
        entered = m - before
        if starts:
            for q in range(m):
                a[q] = -g[active[q]]
        elif entered == 0:
            if moved != 0.0:
                break
            # Every atom that wants to come in depends on those that are in.
            moved = _exchange(
                G, g, R, m, active, a, signs, y, v, wanted, count, positive, W, target
            )
            if moved == 0.0:
                break
            m -= 1
            continue
        elif moved != 0.0:
            a[before] = moved
        known = moved == 0.0 and not starts
        m, refused, solved = _settle(
            R, m, active, a, signs, alpha, positive, max_iter, target, y, v, known
        )
        n_solved += solved
        if known and refused >= entered:
            # All were refused, so the next comes alone; one alone that is refused is rounding.
            if share == 1.0 or entered == 1:
                break
            share = 1.0
        starts, moved = False, 0.0
    for q in range(m):
        code[active[q]] = a[q]
    return n_solved, finished


def room(
    k: int, capacity: int
) -> tuple[tuple[Array, ...], tuple[Array, ...], tuple[IntArray, ...]]:
    """Memory for a search among at most k atoms, of which at most ``capacity`` are active."""
    # Whole registers are loaded, from one place further too, so rows are longer than the rank.
    length = capacity + 2 * LANES - capacity % LANES
    matrices = aligned(capacity, length), aligned(capacity, LANES), aligned(LANES + 1, LANES)
    for matrix in matrices:
        matrix[:] = 0.0
    vectors = (*np.zeros((6, length)), np.zeros(k // STRETCH + 1), np.zeros(k))
    integers = np.int64
    numbers = np.zeros(capacity, integers), np.zeros(k, integers), np.zeros(LANES, integers)
    return matrices, vectors, numbers


@njit(nogil=True)
def code_block(G, B, alpha, tol, max_iter, positive, share, codes, n_solved, finished, *memory):
    """Codes of the signals whose products with the atoms are the rows of ``B``.

    ``codes`` holds the starts; ``memory`` is :func:`room` for as many active atoms as the rank
    of G.
    """
    matrices, vectors, numbers = memory
    for i in range(B.shape[0]):
        n_solved[i], finished[i] = _code_one(
            G, B[i], alpha, tol, max_iter, positive, share, codes[i], matrices, vectors, numbers
        )
