"""Compiled loops over observed or stored entries, one row at a time."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    less,
    load,
    load_row,
    more_products,
    spread,
    store,
    total,
)

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
    # Whole registers: behind the entries of a row there are zeros.
    block = np.empty((k, longest + LANES))
    residual = np.empty(longest + LANES)
    squares = np.empty(k)
    loss = 0.0
    for i in range(n):
        size = _take_row(V, indptr[i], indptr[i + 1], indices, data, block, residual)
        total_w = 0.0
        for j in range(k):
            w, square = W[i, j], spread(0.0)
            total_w += w
            for p in range(0, size, LANES):
                part = load_row(block, j, p)
                store(residual, p, less(load(residual, p), w, part))
                square = more_products(square, part, part)
            squares[j] = total(square) + l2 + squared_l1
        for _ in range(n_sweeps):
            for j in range(k):
                if squares[j] > 0.0:
                    fitted = spread(0.0)
                    for p in range(0, size, LANES):
                        fitted = more_products(fitted, load_row(block, j, p), load(residual, p))
                    slope = l1 + l2 * W[i, j] + squared_l1 * total_w - total(fitted)
                    delta = max(W[i, j] - slope / squares[j], 0.0) - W[i, j]
                    if delta != 0.0:
                        W[i, j] += delta
                        total_w += delta
                        for p in range(0, size, LANES):
                            rest = less(load(residual, p), delta, load_row(block, j, p))
                            store(residual, p, rest)
        left = spread(0.0)
        for p in range(0, size, LANES):
            left = more_products(left, load(residual, p), load(residual, p))
        loss += 0.5 * total(left) + l1 * total_w + 0.5 * squared_l1 * total_w * total_w
        for j in range(k):
            loss += 0.5 * l2 * W[i, j] * W[i, j]
    return loss


@njit(nogil=True)
def _take_row(V, start, stop, indices, data, block, residual):
    """Copy the entries of a row and its components, then zeros; return how many there are."""
    size = stop - start
    for p in range(size):
        residual[p] = data[start + p]
        for j in range(V.shape[1]):
            block[j, p] = V[indices[start + p], j]
    while size % LANES:
        residual[size] = 0.0
        for j in range(V.shape[1]):
            block[j, size] = 0.0
        size += 1
    return size


@njit(nogil=True)
def observed_gradient(W, V, indptr, indices, data, out, terms):
    """Set ``out`` to the derivative of ½ sum of (x - w'v)² over observed entries.

    ``terms`` becomes the root mean square of sums of x v in each column.
    """
    n, k = W.shape
    sums = np.empty(k)
    terms[:] = 0.0
    for i in range(n):
        for j in range(k):
            out[i, j] = sums[j] = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            row, x = indices[p], data[p]
            fit = 0.0
            for j in range(k):
                fit += W[i, j] * V[row, j]
            for j in range(k):
                out[i, j] += (fit - x) * V[row, j]
                sums[j] += x * V[row, j]
        for j in range(k):
            terms[j] += sums[j] * sums[j]
    for j in range(k):
        terms[j] = np.sqrt(terms[j] / n)


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
