"""Compiled loops of minor components: what a row does, in few passes over its columns.

The recurrence leaves no product of matrices: a row moves the directions that the next one meets.
But every inner product that it asks for is a sum of inner products with vectors that are read
anyway, so that three passes move a direction: its inner products, its step, its average.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.features.components.loops import TURN


@njit(fastmath=True)
def _center(mean, row, rate, u, top):
    """Move the mean, write the centred row to ``u``; its inner products with itself and the top."""
    uu, ut, tt = 0.0, 0.0, 0.0
    for k in range(len(mean)):
        m = mean[k] + rate * (row[k] - mean[k])
        away = row[k] - m
        mean[k] = m
        u[k] = away
        uu += away * away
        ut += away * top[k]
        tt += top[k] * top[k]
    return uu, ut, tt


@njit(fastmath=True)
def _products(V, j, first, second, third):
    """Inner products of a row of ``V`` with three others."""
    a, b, c = 0.0, 0.0, 0.0
    for k in range(V.shape[1]):
        a += V[j, k] * V[first, k]
        b += V[j, k] * V[second, k]
        c += V[j, k] * V[third, k]
    return a, b, c


@njit(fastmath=True)
def _product(V, j, i):
    total = 0.0
    for k in range(V.shape[1]):
        total += V[j, k] * V[i, k]
    return total


@njit(fastmath=True)
def _combine(V, j, keep, first, a, second, b, third, c, average):
    """Write ``keep`` times row j of ``V`` plus multiples of three others to it.

    Returns its inner products with itself, with the first of the others and with the average.
    """
    ww, uw, aw = 0.0, 0.0, 0.0
    for k in range(V.shape[1]):
        value = keep * V[j, k] + a * V[first, k] + b * V[second, k] + c * V[third, k]
        ww += value * value
        uw += value * V[first, k]
        aw += value * average[j, k]
        V[j, k] = value
    return ww, uw, aw


@njit(fastmath=True)
def _step(V, average, gamma, rate, weight, squares, along):
    """All directions by one row, each made orthogonal to the earlier ones, and their averages.

    The directions are the first rows of ``V``, the centred row u is the last. ``squares`` (J,) are
    the squared lengths of the directions, ``along`` their products with u.
    """
    J = len(V) - 1
    for j in range(J):
        keep = 1.0 - rate + rate / np.sqrt(squares[j])
        of_u = -rate / (np.sqrt(squares[j]) * gamma)  # times the product of u and w, below
        if j == 0:
            of_u *= _product(V, 0, J)
            found = _combine(V, 0, keep, J, of_u, J, 0.0, J, 0.0, average)
        elif j == 1:
            uw, last, _ = _products(V, 1, J, 0, 0)
            of_u *= uw
            of_last = -(keep * last + of_u * along[0]) / squares[0]
            found = _combine(V, 1, keep, J, of_u, 0, of_last, J, 0.0, average)
        else:
            uw, before, last = _products(V, j, J, j - 2, j - 1)
            of_u *= uw
            of_before = -(keep * before + of_u * along[j - 2]) / squares[j - 2]
            of_last = -(keep * last + of_u * along[j - 1]) / squares[j - 1]
            for i in range(j - 2):
                overlap = _product(V, j, i) + of_u * along[i] / keep
                for k in range(V.shape[1]):
                    V[j, k] -= overlap / squares[i] * V[i, k]
            found = _combine(V, j, keep, J, of_u, j - 2, of_before, j - 1, of_last, average)
        squares[j], along[j] = found[0], found[1]
        # Directions have no sign: average those that point the same way.
        gain = weight if found[2] >= 0.0 else -weight
        for k in range(V.shape[1]):
            average[j, k] = (1.0 - weight) * average[j, k] + gain * V[j, k]


@njit(fastmath=True)
def minor_rows(X, mean, w, w_average, top, energy, counters, rate):
    """Minor components with the rows of ``X`` in order, in place.

    ``energy`` (1,) is the mean squared length of centred rows. A row moves a direction by the rate
    times that over the largest variance, and the rate is small enough that no single row turns it.
    """
    along, squares = np.empty(len(w)), np.empty(len(w))
    # One array: views of single vectors, chosen while running, would be counted at every use.
    V = np.empty((len(w) + 1, X.shape[1]))
    u = V[len(w)]
    for j in range(len(w)):
        for k in range(X.shape[1]):
            V[j, k] = w[j, k]
        squares[j] = _product(V, j, j)
    for row in range(len(X)):
        counters[0] += 1
        uu, ut, tt = _center(mean, X[row], 1.0 / counters[0], u, top)
        if counters[0] == 1:  # the first row is its own mean
            continue
        counters[1] += 1
        energy[0] += (uu - energy[0]) / counters[1]
        safe = TURN * np.sqrt(tt)
        now = safe / energy[0] if rate * energy[0] > safe > 0.0 else rate
        if tt == 0.0:
            for k in range(len(top)):
                top[k] = np.sqrt(uu) * u[k]  # as long as the variance along it, in every unit
            continue
        rate_top = max(1.0 / counters[1], now)
        keep, gain = 1.0 - rate_top, rate_top * ut / np.sqrt(tt)
        for k in range(len(top)):
            top[k] = keep * top[k] + gain * u[k]
        # The squared length of the top, a sum of terms that are not negative.
        gamma = 1.1 * np.sqrt(keep * keep * tt + 2.0 * keep * gain * ut + gain * gain * uu)
        if gamma > 0.0:
            weight = max(1.0 / counters[1], 0.1 * now)
            _step(V, w_average, gamma, now, weight, squares, along)
    for j in range(len(w)):
        for k in range(X.shape[1]):
            w[j, k] = V[j, k]
