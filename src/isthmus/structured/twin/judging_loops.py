"""Compiled criteria of trial outputs with a Gaussian kernel, from the trial to its gradient."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.power_loops import power_of_two

# Sums in any order, so that several terms are added at a time.
SUMS = {"reassoc", "contract", "nsz"}
# Rows from which BLAS multiplies faster than a loop does.
MANY_ROWS = 8
LOG2_E = 1 / np.log(2)


@njit(nogil=True, fastmath=SUMS)
def _fill_values(V, first, m, lines, gamma, g):
    """Kernel values of trials with all references, whose coordinates are ``lines``."""
    (d, n), rate = lines.shape, gamma * LOG2_E
    for i in range(m):
        for j in range(n):
            g[i, j] = 0.0
        for k in range(d):
            v = V[first + i, k]
            for j in range(n):
                t = lines[k, j] - v
                g[i, j] -= t * t
        for j in range(n):
            g[i, j] = power_of_two(rate * g[i, j])


@njit(nogil=True, fastmath=SUMS)
def _multiply(g, m, P, Pg):
    """``g @ P`` for the first rows."""
    if m >= MANY_ROWS:
        np.dot(g[:m], P, Pg[:m])
        return
    for i in range(m):
        for j in range(P.shape[1]):
            Pg[i, j] = 0.0
        for k in range(P.shape[0]):
            t = g[i, k]
            for j in range(P.shape[1]):
                Pg[i, j] += t * P[k, j]


@njit(nogil=True, fastmath=SUMS)
def _judge(g, Pg, i, linear, own, q, g_yy, floor):
    """The criterion of one row; its derivative by the row is written over ``Pg``.

    ``Pg`` holds Qg alone or Qg and Mg, by which the two criteria are told apart.
    """
    n = g.shape[1]
    gQg = both = 0.0
    for j in range(n):
        gQg += g[i, j] * Pg[i, j]
        both += g[i, j] * linear[q, j]
    s = max(g_yy - gQg, floor)
    if Pg.shape[1] == n:
        for j in range(n):
            Pg[i, j] = 2 * own[q] / s * Pg[i, j] - 2 * linear[q, j]
        return g_yy - 2 * both - own[q] * np.log(s)
    gMg = 0.0
    for j in range(n):
        gMg += g[i, j] * Pg[i, n + j]
    fit = own[q] - 2 * both + gMg
    by_s = (1 - fit / s) / s
    for j in range(n):
        Pg[i, j] = 2 / s * (Pg[i, n + j] - linear[q, j]) - 2 * by_s * Pg[i, j]
    return np.log(s) + fit / s


@njit(nogil=True, fastmath=SUMS)
def judge_trials(V, queries, lines, gamma, P, linear, own, g_yy, floor, g, Pg, value, slope):
    """Criterion and gradient of trials, as many at a time as ``g`` and ``Pg`` have rows."""
    (d, n), size = lines.shape, len(g)
    for first in range(0, len(V), size):
        m = min(size, len(V) - first)
        _fill_values(V, first, m, lines, gamma, g)
        _multiply(g, m, P, Pg)
        for i in range(m):
            row = first + i
            value[row] = _judge(g, Pg, i, linear, own, queries[row], g_yy, floor)
            for j in range(n):
                Pg[i, j] *= g[i, j]
            for k in range(d):
                total, v = 0.0, V[row, k]
                for j in range(n):
                    total += Pg[i, j] * (lines[k, j] - v)
                slope[row, k] = 2 * gamma * total
