"""The compiled loop of covariance-free slow feature analysis: one pass over rows."""

import numpy as np

from isthmus._compiled import njit


@njit
def run(Phi, starts, mean, V, w, w_average, top, previous, counters, settings):
    """Update the state with the rows of ``Phi``, in order, in place.

    Parameters
    ----------
    Phi : rows of the expanded signal.
    starts : whether a row begins an episode, so that it has no predecessor.
    mean, V : running mean (K,) and principal directions (q, K); the length of a direction is the
        variance along it.
    w, w_average : minor directions of the whitened differences (J, q), and their average.
    top : the principal direction of the whitened differences (q,), for the shift gamma.
    previous : the last centred row.
    counters : rows seen, differences seen.
    settings : amnesia, floor of the rates, rate of the minor components, rows before they start,
        rcond.
    """
    amnesia, floor, rate, settle, rcond = settings
    q, K = V.shape
    J = len(w)
    u, residual = np.empty(K), np.empty(K)
    z, z_before, dz, direction = np.empty(q), np.empty(q), np.empty(q), np.empty(q)
    for row in range(len(Phi)):
        counters[0] += 1
        t = counters[0]
        eta_mean = max(1.0 / t, floor)
        for k in range(K):
            mean[k] += eta_mean * (Phi[row, k] - mean[k])
            u[k] = Phi[row, k] - mean[k]
            residual[k] = u[k]
        # The amnesic weight 1 - (1 + l) / t of the old vector must not be negative.
        eta = max((1.0 + amnesia) / t if t > 2 * (1 + amnesia) else 1.0 / t, floor)
        _principal_step(V, residual, eta, t)
        _whiten(V, u, z, rcond)
        if starts[row]:
            for j in range(u.shape[0]):
                previous[j] = u[j]
            continue
        _whiten(V, previous, z_before, rcond)  # with the present whitening, not the former one
        for j in range(u.shape[0]):
            previous[j] = u[j]
        if t <= settle:
            continue
        for i in range(q):
            dz[i] = z[i] - z_before[i]
        counters[1] += 1
        n = counters[1]
        norm = np.sqrt(np.dot(top, top))
        if norm == 0.0:
            for j in range(dz.shape[0]):
                top[j] = dz[j]
            continue
        eta_top = max(1.0 / n, rate)
        along = np.dot(dz, top) / norm
        for i in range(q):
            top[i] += eta_top * (along * dz[i] - top[i])
        gamma = 1.1 * np.sqrt(np.dot(top, top))
        if gamma > 0.0:
            _minor_step(w, dz, gamma, rate, direction)
            weight = max(1.0 / n, 0.1 * rate)
            for j in range(J):
                # Directions have no sign: average those that point the same way.
                side = 1.0 if np.dot(w[j], w_average[j]) >= 0.0 else -1.0
                for i in range(q):
                    w_average[j, i] += weight * (side * w[j, i] - w_average[j, i])


@njit
def _principal_step(V, residual, eta, t):
    """CCIPCA: each direction learns from what the earlier ones leave unexplained."""
    for i in range(min(len(V), t - 1)):  # the first row is its own mean and carries no information
        norm = np.sqrt(np.dot(V[i], V[i]))
        if norm == 0.0:
            # A direction is as long as the variance along it. The published start, the row itself,
            # has the unit of a deviation, so that the result would depend on units.
            length = np.sqrt(np.dot(residual, residual))
            for k in range(V.shape[1]):
                V[i, k] = length * residual[k]
            return
        along = np.dot(residual, V[i]) / norm
        for k in range(V.shape[1]):
            V[i, k] += eta * (along * residual[k] - V[i, k])
        norm = np.sqrt(np.dot(V[i], V[i]))
        if norm == 0.0:
            return
        along = np.dot(residual, V[i]) / norm
        for k in range(V.shape[1]):
            residual[k] -= along * V[i, k] / norm


@njit
def _whiten(V, u, z, rcond):
    top = np.sqrt(np.dot(V[0], V[0]))
    for i in range(len(V)):
        norm = np.sqrt(np.dot(V[i], V[i]))
        z[i] = np.dot(V[i], u) / norm**1.5 if norm > rcond * top else 0.0


@njit
def _minor_step(w, dz, gamma, rate, direction):
    """Principal step on I - C/gamma, with earlier directions projected out of the vector.

    Removing them from the sample alone, as for principal directions, would leave the identity's
    part along the removed direction, which is then the largest: all directions would collapse
    onto one.
    """
    q = len(dz)
    for j in range(len(w)):
        norm = np.sqrt(np.dot(w[j], w[j]))
        for i in range(q):
            direction[i] = w[j, i] / norm
        along = np.dot(dz, direction) / gamma
        for i in range(q):
            w[j, i] += rate * (direction[i] - along * dz[i] - w[j, i])
        for earlier in range(j):
            squared = np.dot(w[earlier], w[earlier])
            overlap = np.dot(w[j], w[earlier]) / squared
            for i in range(q):
                w[j, i] -= overlap * w[earlier, i]
