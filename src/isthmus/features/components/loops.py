"""Compiled loops over the rows of a stream: principal and minor components, no covariances."""

import numpy as np

from isthmus._compiled import njit

# The most by which a row turns a minor direction, on average.
TURN = 0.5


@njit(fastmath=True)
def _dot(a, b):
    """Inner product; a call of BLAS would take longer than the sum of a few dozen numbers."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@njit(fastmath=True)
def mean_step(mean, row, rate, u):
    """Move the mean towards a row and write the centred row to ``u``."""
    for k in range(len(mean)):
        mean[k] += rate * (row[k] - mean[k])
        u[k] = row[k] - mean[k]


@njit(fastmath=True)
def principal_rate(t, amnesia, floor):
    """Rate of row t; the amnesic weight 1 - (1 + l) / t of the old vector must not be negative."""
    return max((1.0 + amnesia) / t if t > 2 * (1 + amnesia) else 1.0 / t, floor)


@njit(fastmath=True)
def principal_rows(X, mean, V, counters, amnesia, floor):
    """CCIPCA with the rows of ``X`` in order, in place; a direction is as long as its variance."""
    u = np.empty(X.shape[1])
    for row in range(len(X)):
        counters[0] += 1
        t = counters[0]
        mean_step(mean, X[row], max(1.0 / t, floor), u)
        principal_step(V, u, principal_rate(t, amnesia, floor), t)


@njit(fastmath=True)
def plain_minor_rows(X, mean, w, w_average, top, energy, counters, rate):
    """The slow twin of ``minor_rows``: one formula after the other, a pass for each."""
    u, direction = np.empty(X.shape[1]), np.empty(X.shape[1])
    for row in range(len(X)):
        counters[0] += 1
        mean_step(mean, X[row], 1.0 / counters[0], u)
        if counters[0] > 1:  # the first row is its own mean
            counters[1] += 1
            energy[0] += (_dot(u, u) - energy[0]) / counters[1]
            safe = TURN * np.sqrt(_dot(top, top))
            now = safe / energy[0] if rate * energy[0] > safe > 0.0 else rate
            minor_row(u, w, w_average, top, counters[1], now, direction)


@njit(fastmath=True)
def principal_step(V, residual, eta, t):
    """CCIPCA: each direction learns from what the earlier ones leave unexplained."""
    for i in range(min(len(V), t - 1)):  # the first row is its own mean and carries no information
        norm = np.sqrt(_dot(V[i], V[i]))
        if norm == 0.0:
            # A direction is as long as the variance along it. The published start, the row itself,
            # has the unit of a deviation, so that the result would depend on units.
            length = np.sqrt(_dot(residual, residual))
            for k in range(V.shape[1]):
                V[i, k] = length * residual[k]
            return
        along = _dot(residual, V[i]) / norm
        for k in range(V.shape[1]):
            V[i, k] += eta * (along * residual[k] - V[i, k])
        norm = np.sqrt(_dot(V[i], V[i]))
        if norm == 0.0:
            return
        along = _dot(residual, V[i]) / norm
        for k in range(V.shape[1]):
            residual[k] -= along * V[i, k] / norm


@njit(fastmath=True)
def minor_row(dz, w, w_average, top, n, rate, direction):
    """One centred vector, the n-th: top direction for the shift, minor directions, their average.

    ``w`` (J, q) are the directions, ``top`` (q,) the principal one, as long as its variance.
    """
    J, q = w.shape
    norm = np.sqrt(_dot(top, top))
    if norm == 0.0:
        length = np.sqrt(_dot(dz, dz))
        for j in range(q):
            top[j] = length * dz[j]  # as long as the variance along it, in every unit
        return
    rate_top = max(1.0 / n, rate)
    along = _dot(dz, top) / norm
    for i in range(q):
        top[i] += rate_top * (along * dz[i] - top[i])
    gamma = 1.1 * np.sqrt(_dot(top, top))
    if gamma > 0.0:
        minor_step(w, dz, gamma, rate, direction)
        weight = max(1.0 / n, 0.1 * rate)
        for j in range(J):
            # Directions have no sign: average those that point the same way.
            side = 1.0 if _dot(w[j], w_average[j]) >= 0.0 else -1.0
            for i in range(q):
                w_average[j, i] += weight * (side * w[j, i] - w_average[j, i])


@njit(fastmath=True)
def minor_step(w, dz, gamma, rate, direction):
    """Principal step on I - C/gamma, with earlier directions projected out of the vector.

    Removing them from the sample alone, as for principal directions, would leave the identity's
    part along the removed direction, which is then the largest: all directions would collapse
    onto one.
    """
    q = len(dz)
    for j in range(len(w)):
        norm = np.sqrt(_dot(w[j], w[j]))
        for i in range(q):
            direction[i] = w[j, i] / norm
        along = _dot(dz, direction) / gamma
        for i in range(q):
            w[j, i] += rate * (direction[i] - along * dz[i] - w[j, i])
        for earlier in range(j):
            squared = _dot(w[earlier], w[earlier])
            overlap = _dot(w[j], w[earlier]) / squared
            for i in range(q):
                w[j, i] -= overlap * w[earlier, i]
