"""The compiled loop of covariance-free slow feature analysis: one pass over rows."""

import numpy as np

from isthmus._compiled import njit
from isthmus.features.components.loops import mean_step, minor_row, principal_rate, principal_step


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
    u, residual = np.empty(K), np.empty(K)
    z, z_before, dz, direction = np.empty(q), np.empty(q), np.empty(q), np.empty(q)
    for row in range(len(Phi)):
        counters[0] += 1
        t = counters[0]
        mean_step(mean, Phi[row], max(1.0 / t, floor), u)
        for k in range(K):
            residual[k] = u[k]
        principal_step(V, residual, principal_rate(t, amnesia, floor), t)
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
        minor_row(dz, w, w_average, top, counters[1], rate, direction)


@njit
def _whiten(V, u, z, rcond):
    top = np.sqrt(np.dot(V[0], V[0]))
    for i in range(len(V)):
        norm = np.sqrt(np.dot(V[i], V[i]))
        z[i] = np.dot(V[i], u) / norm**1.5 if norm > rcond * top else 0.0
