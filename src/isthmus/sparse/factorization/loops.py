"""Compiled loops over observed or stored entries, one row at a time."""

import numpy as np

from isthmus._compiled import njit

FLOOR = 1e-16


@njit(nogil=True)
def observed_sweep(W, V, indptr, indices, data, l1, l2, squared_l1, n_sweeps):
    """Coordinate descent on ½ sum over observed entries of (x - w'v)² + penalties, in place.

    A row takes its components and its residual into work arrays, so that all inner loops run
    along them. Returns the loss of the rows.
    """
    n, k = W.shape
    longest = 0
    for i in range(n):
        longest = max(longest, indptr[i + 1] - indptr[i])
    block = np.empty((k, longest))
    residual = np.empty(longest)
    squares = np.empty(k)
    loss = 0.0
    for i in range(n):
        start = indptr[i]
        size = indptr[i + 1] - start
        total = 0.0
        for p in range(size):
            residual[p] = data[start + p]
            v = V[indices[start + p]]
            for j in range(k):
                block[j, p] = v[j]
        for j in range(k):
            w = W[i, j]
            total += w
            square = 0.0
            for p in range(size):
                residual[p] -= w * block[j, p]
                square += block[j, p] * block[j, p]
            squares[j] = square + l2 + squared_l1
        for _ in range(n_sweeps):
            for j in range(k):
                if squares[j] <= 0.0:
                    continue
                slope = l1 + l2 * W[i, j] + squared_l1 * total
                for p in range(size):
                    slope -= block[j, p] * residual[p]
                delta = max(W[i, j] - slope / squares[j], 0.0) - W[i, j]
                if delta != 0.0:
                    W[i, j] += delta
                    total += delta
                    for p in range(size):
                        residual[p] -= delta * block[j, p]
        for p in range(size):
            loss += 0.5 * residual[p] * residual[p]
        loss += l1 * total + 0.5 * squared_l1 * total * total
        for j in range(k):
            loss += 0.5 * l2 * W[i, j] * W[i, j]
    return loss


@njit(nogil=True)
def observed_gradient(W, V, indptr, indices, data, out):
    """Set ``out`` to the derivative of ½ sum of (x - w'v)² over observed entries."""
    n, k = W.shape
    for i in range(n):
        out[i] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            v = V[indices[p]]
            residual = -data[p]
            for j in range(k):
                residual += W[i, j] * v[j]
            for j in range(k):
                out[i, j] += residual * v[j]


@njit(nogil=True)
def stored_ratios(W, V, indptr, indices, data, out):
    """Set ``out`` to sums of x v / (w'v) over stored entries; return the sum of x log(x / w'v)."""
    n, k = W.shape
    total = 0.0
    for i in range(n):
        out[i] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            x = data[p]
            if x <= 0.0:
                continue
            v = V[indices[p]]
            fit = 0.0
            for j in range(k):
                fit += W[i, j] * v[j]
            ratio = x / max(fit, FLOOR)
            total += x * np.log(ratio)
            for j in range(k):
                out[i, j] += ratio * v[j]
    return total


@njit(nogil=True)
def newton_rows(W, V, indptr, indices, data, mass, l1, l2, tol, max_sweeps):
    """Minimise the Kullback-Leibler divergence of each row over w >= 0, components fixed.

    Newton steps on one entry at a time [Hsieh2011]_. Where a step down may be too long, by
    self-concordance [Hien2021]_, the longer of a damped and a multiplicative one is taken, so
    that the convex loss falls with each. ``mass[i, j]`` is the sum of component j over the entries
    that count for row i. A row ends where its relative projected gradient is below ``tol``.
    Returns the number of rows that did not get there.
    """
    n, k = W.shape
    longest = 0
    for i in range(n):
        longest = max(longest, indptr[i + 1] - indptr[i])
    block = np.empty((k, longest))
    fit = np.empty(longest)
    unfinished = 0
    for i in range(n):
        start = indptr[i]
        size = indptr[i + 1] - start
        x = data[start : start + size]
        concordance = 0.0
        for p in range(size):
            v = V[indices[start + p]]
            fit[p] = 0.0
            for j in range(k):
                block[j, p] = v[j]
                fit[p] += W[i, j] * v[j]
            if x[p] > 0.0:
                concordance = max(concordance, 1.0 / np.sqrt(x[p]))
        done = False
        for _ in range(max_sweeps):
            worst = 0.0
            for j in range(k):
                scale = mass[i, j] + l1
                if scale <= 0.0:
                    W[i, j] = 0.0
                    continue
                w = W[i, j]
                slope = scale + l2 * w
                curvature = l2
                for p in range(size):
                    share = block[j, p] / max(fit[p], FLOOR)
                    slope -= x[p] * share
                    curvature += x[p] * share * share
                if w > 0.0 or slope < 0.0:
                    worst = max(worst, abs(slope) / scale)
                if curvature <= 0.0:
                    new = 0.0
                else:
                    new = max(w - slope / curvature, 0.0)
                    step = abs(new - w) * np.sqrt(curvature) * concordance
                    if slope > 0.0 and step > 0.68:
                        damped = w + (new - w) / (1.0 + step)
                        new = min(damped, w * (1.0 - slope / (scale + l2 * w)))
                delta = new - w
                if delta != 0.0:
                    W[i, j] = new
                    for p in range(size):
                        fit[p] += delta * block[j, p]
            if worst <= tol:
                done = True
                break
        if not done:
            unfinished += 1
    return unfinished
