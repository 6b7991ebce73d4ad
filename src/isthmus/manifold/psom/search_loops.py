"""Compiled projections on the map through a grid of nodes, many rows side by side.

The steps are those of :func:`isthmus.optimize.levenberg_marquardt.least_squares_rows`. The map is
evaluated for the points of all lanes at once, so that inner loops run along lanes, without a jump;
a row that has ended leaves its lane to the next. An axis has its nodes, barycentric weights and
differentiation matrix in a row of a table; ``counts`` says how many of them count.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import cholesky, cholesky_solve

LANES = 64
EPS, TINY = np.finfo(np.float64).eps, np.finfo(np.float64).tiny


@njit(nogil=True, fastmath={"contract"})
def _basis(x, k, n, nodes, weights, D, ell, slope):
    """Fill in the Lagrange polynomials of axis k at all points, and their slopes, (n, lanes)."""
    total = np.zeros(LANES)
    for i in range(n):
        for lane in range(LANES):
            gap = x[k, lane] - nodes[k, i]
            ell[i, lane] = weights[k, i] / (gap if gap != 0.0 else 1.0)
            total[lane] += ell[i, lane]
    for lane in range(LANES):
        total[lane] = 1.0 / total[lane] if total[lane] != 0.0 else 0.0
    for i in range(n):
        for lane in range(LANES):
            ell[i, lane] *= total[lane]
            slope[i, lane] = 0.0
    for i in range(n):
        for lane in range(LANES):
            if x[k, lane] == nodes[k, i]:
                for m in range(n):
                    ell[m, lane] = 1.0 if m == i else 0.0
    for i in range(n):
        for m in range(n):
            for lane in range(LANES):
                slope[m, lane] += ell[i, lane] * D[k, i, m]


@njit(nogil=True, fastmath={"contract"})
def _contract_weights(W, ell, slope, n, width, jets):
    """Contract the first axis of the weights with polynomials, and with their slopes."""
    for r in range(width):
        for lane in range(LANES):
            jets[0, r, lane] = ell[0, lane] * W[r]
            jets[1, r, lane] = slope[0, lane] * W[r]
    for i in range(1, n):
        for r in range(width):
            entry = W[i * width + r]
            for lane in range(LANES):
                jets[0, r, lane] += ell[i, lane] * entry
                jets[1, r, lane] += slope[i, lane] * entry


@njit(nogil=True, fastmath={"contract"})
def _contract(row, n, jets, source, target, width):
    """Contract the next axis of one table into another, or where it stands."""
    for r in range(width):
        for lane in range(LANES):
            jets[target, r, lane] = row[0, lane] * jets[source, r, lane]
    for i in range(1, n):
        for r in range(width):
            for lane in range(LANES):
                jets[target, r, lane] += row[i, lane] * jets[source, i * width + r, lane]


@njit(nogil=True)
def _jets(x, W, nodes, weights, D, counts, ell, slope, jets):
    """Fill ``jets`` (1 + q, ..., lanes) with values at all points and derivatives by axis."""
    width = len(W)
    for k in range(len(x)):
        n = counts[k]
        width //= n
        _basis(x, k, n, nodes, weights, D, ell, slope)
        if k == 0:
            _contract_weights(W, ell, slope, n, width, jets)
        else:
            _contract(slope, n, jets, 0, k + 1, width)
            for s in range(k + 1):
                _contract(ell, n, jets, s, s, width)


@njit(nogil=True)
def _weighted_square(target, w):
    total = 0.0
    for c in range(len(target)):
        total += w[c] * target[c] * target[c]
    return total


@njit(nogil=True)
def _error(jets, lane, target, w):
    total = 0.0
    for c in range(len(target)):
        if w[c] > 0.0:
            residual = jets[0, c, lane] - target[c]
            total += w[c] * residual * residual
    return total


@njit(nogil=True)
def _normal_equations(jets, lane, target, w, N, g):
    """Fill in the half gradient and the Gauss-Newton matrix of a lane."""
    q = g.shape[1]
    for a in range(q):
        g[lane, a] = 0.0
        for b in range(a + 1):
            N[lane, a, b] = 0.0
    for c in range(len(target)):
        if w[c] > 0.0:
            for a in range(q):
                slope = w[c] * jets[a + 1, c, lane]
                g[lane, a] += slope * (jets[0, c, lane] - target[c])
                for b in range(a + 1):
                    N[lane, a, b] += slope * jets[b + 1, c, lane]
    for a in range(q):
        for b in range(a):
            N[lane, b, a] = N[lane, a, b]


@njit(nogil=True)
def _hold(x, g, low, high, held):
    """Mark the coordinates at a border that the descent would cross."""
    for a in range(len(held)):
        held[a] = (x[a] <= low[a] and g[a] > 0.0) or (x[a] >= high[a] and g[a] < 0.0)


@njit(nogil=True)
def _step(N, g, lane, held, mu, A, step):
    """Fill in the damped step of the free coordinates; returns the fall that it promises."""
    q, trace = len(held), 0.0
    for a in range(q):
        if not held[a]:
            trace += N[lane, a, a]
    ridge = mu * max(trace, TINY**0.5)
    for a in range(q):
        for b in range(q):
            A[a, b] = 0.0 if held[a] or held[b] else N[lane, a, b]
        A[a, a] += ridge + (1.0 if held[a] else 0.0)
        step[a] = 0.0 if held[a] else -g[lane, a]
    cholesky(A, q, 0.0)
    cholesky_solve(A, q, step)
    promised = 0.0
    for a in range(q):
        if not held[a]:
            curved = 0.0
            for b in range(q):
                if not held[b]:
                    curved += N[lane, a, b] * step[b]
            promised -= step[a] * (2.0 * g[lane, a] + curved)
    return promised


@njit(nogil=True)
def search_rows(x, targets, W, w, nodes, weights, D, counts, low, high, settings, error, converged):
    """Move each row of ``x`` to where the map comes nearest to its target; returns the most steps.

    ``W`` is flat. ``w`` has a row of weights for each target, or one for all. ``settings`` are the
    most steps, the tolerance, the first damping and the largest. ``error`` and ``converged`` are
    filled in.
    """
    n, q = x.shape
    max_iter, tol, damping, largest = settings
    jets = np.empty((q + 1, len(W) // counts[0], LANES))
    ell, slope = np.empty((nodes.shape[1], LANES)), np.empty((nodes.shape[1], LANES))
    trial, row = np.empty((q, LANES)), np.full(LANES, -1)
    N, g = np.empty((LANES, q, q)), np.empty((LANES, q))
    A, step, held = np.empty((q, q)), np.empty(q), np.empty(q, np.bool_)
    mu, floor, promised = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    n_steps = np.zeros(LANES, np.int64)
    most, begun, active = 0, 0, 0
    for lane in range(LANES):
        for a in range(q):
            trial[a, lane] = low[a]
    while True:
        for lane in range(LANES):
            if row[lane] < 0 and begun < n:
                i = row[lane] = begun
                begun += 1
                active += 1
                for a in range(q):
                    trial[a, lane] = x[i, a]
                n_steps[lane], mu[lane], error[i], converged[i] = 0, damping, np.inf, False
                floor[lane] = EPS * _weighted_square(targets[i], w[min(i, len(w) - 1)]) + TINY
        if active == 0:
            return most
        _jets(trial, W, nodes, weights, D, counts, ell, slope, jets)
        for lane in range(LANES):
            i = row[lane]
            if i < 0:
                continue
            target, weight = targets[i], w[min(i, len(w) - 1)]
            found, before = _error(jets, lane, target, weight), error[i]
            if found < before or n_steps[lane] == 0:
                for a in range(q):
                    x[i, a] = trial[a, lane]
                error[i] = found
                _normal_equations(jets, lane, target, weight, N, g)
                if n_steps[lane] > 0:
                    gain = before - found
                    # As far as the linear model was right (Nielsen's rule).
                    trust = 1.0 - (2.0 * gain / promised[lane] - 1.0) ** 3
                    mu[lane] *= min(max(trust, 0.2), 2.0)
                    converged[i] = gain <= tol * max(found, floor[lane])
            else:
                mu[lane] *= 4.0
            converged[i] |= mu[lane] > largest
            if not converged[i] and n_steps[lane] < max_iter:
                _hold(x[i], g[lane], low, high, held)
                promised[lane] = _step(N, g, lane, held, mu[lane], A, step)
                n_steps[lane] += 1
                converged[i] = promised[lane] <= tol * max(error[i], floor[lane])
                for a in range(q):
                    trial[a, lane] = min(max(x[i, a] + step[a], low[a]), high[a])
                if not converged[i]:
                    continue
            most = max(most, n_steps[lane])
            row[lane] = -1
            active -= 1
