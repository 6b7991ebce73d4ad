"""Compiled loops of non-negative least squares, row by row."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.cholesky_loops import append_row, cholesky_solve

# A pivot below this share of the diagonal belongs to an atom that the others already span.
DEPENDENT = 1e-12
# Multipliers of bound entries may be negative by this share of the right-hand side.
SLACK = 1e-11


@njit(nogil=True)
def _factor(G, passive, L, index):
    """Cholesky factor of the passive block; entries that others span leave the passive set."""
    size = 0
    for j in range(G.shape[0]):
        if not passive[j]:
            continue
        if append_row(L, size, G, index, j, DEPENDENT):
            size += 1
        else:
            passive[j] = False
    return size


@njit(nogil=True)
def _solve_passive(L, index, size, b, w, work):
    """Set ``w`` to the least squares solution on the passive entries and zero elsewhere."""
    for a in range(size):
        work[a] = b[index[a]]
    cholesky_solve(L, size, work)
    w[:] = 0.0
    for a in range(size):
        w[index[a]] = work[a]


@njit(nogil=True)
def _active_set_row(G, b, w, passive, barred, L, index, work):
    """Lawson and Hanson's method, for the rare row on which pivoting does not end.

    One atom enters at a time, so that the objective falls with every step, also where atoms depend
    on each other; pivoting may cycle there. ``index`` keeps the order in which atoms came.
    """
    k = len(b)
    limit = 0.0
    for j in range(k):
        limit = max(limit, SLACK * abs(b[j]))
    w[:] = 0.0
    passive[:] = False
    barred[:] = False
    size = 0
    for _ in range(10 * k + 20):
        best, entering = limit, -1
        for j in range(k):
            if passive[j] or barred[j]:
                continue
            slope = b[j]
            for a in range(size):
                slope -= G[j, index[a]] * w[index[a]]
            if slope > best:
                best, entering = slope, j
        if entering < 0:
            return
        if not append_row(L, size, G, index, entering, DEPENDENT):
            barred[entering] = True  # spanned by the others: its slope is a rounding error
            continue
        size += 1
        passive[entering] = True
        barred[:] = False
        while size > 0:
            for a in range(size):
                work[a] = b[index[a]]
            cholesky_solve(L, size, work)
            step = 1.0
            for a in range(size):
                if work[a] <= 0.0:
                    step = min(step, w[index[a]] / (w[index[a]] - work[a]))
            for a in range(size):
                w[index[a]] += step * (work[a] - w[index[a]])
            if step == 1.0:
                break
            # Those that have reached zero leave, and the others are factored again.
            kept = 0
            for a in range(size):
                j = index[a]
                if work[a] <= 0.0 and w[j] <= 1e-14 * abs(work[a]):
                    w[j] = 0.0
                    passive[j] = False
                    barred[j] = j == entering
                else:
                    append_row(L, kept, G, index, j, 0.0)
                    kept += 1
            size = kept


@njit(nogil=True)
def _solve_row(G, b, w, passive, wrong, L, index, work, known):
    """Minimise ½ w'Gw - b'w over w >= 0 by block pivoting; return the size of the passive set.

    ``known`` is the size of a factor in ``L`` that fits ``passive`` already, or -1. All entries
    of the wrong sign change sides at once while that makes them fewer, else only the last one,
    which cannot cycle.
    """
    k = len(b)
    limit = 0.0
    for j in range(k):
        limit = max(limit, SLACK * abs(b[j]))
    fewest = k + 1
    patience = 3
    size = known
    for _ in range(10 * k + 20):
        if size < 0:
            size = _factor(G, passive, L, index)
        _solve_passive(L, index, size, b, w, work)
        count = 0
        last = -1
        for j in range(k):
            if passive[j]:
                wrong[j] = w[j] < 0.0
            else:
                multiplier = -b[j]
                for a in range(size):
                    multiplier += G[j, index[a]] * w[index[a]]
                wrong[j] = multiplier < -limit
            if wrong[j]:
                count += 1
                last = j
        if count == 0:
            return size
        size = -1
        if count < fewest:
            fewest = count
            patience = 3
        else:
            patience -= 1
        for j in range(k):
            if wrong[j] and (patience >= 0 or j == last):
                passive[j] = not passive[j]
    _active_set_row(G, b, w, passive, wrong, L, index, work)
    return -1


@njit(nogil=True)
def _workspace(k):
    return (
        np.zeros(k, np.bool_),
        np.zeros(k, np.bool_),
        np.empty((k, k)),
        np.empty(k, np.int64),
        np.empty(k),
    )


@njit(nogil=True)
def solve_rows(W, B, G):
    """Set each row of ``W`` to the minimiser of ½ w'Gw - b'w over w >= 0, from its support."""
    n, k = W.shape
    passive, wrong, L, index, work = _workspace(k)
    size = -1
    for i in range(n):
        for j in range(k):
            positive = W[i, j] > 0.0
            if positive != passive[j]:
                passive[j] = positive
                size = -1  # another support than that of the row before: factor again
        size = _solve_row(G, B[i], W[i], passive, wrong, L, index, work, size)


@njit(nogil=True)
def solve_simplex_rows(W, B, G, squared_norms):
    """The same over the simplex: w >= 0 with sum 1, from its support.

    With p_j = a_j - x, the weights of the point of the hull next to x are proportional to the
    minimiser of ||sum_j u_j p_j||² + t (sum_j u_j - 1)² over u >= 0, for any t > 0.
    """
    n, k = W.shape
    passive, wrong, L, index, work = _workspace(k)
    shifted = np.empty((k, k))
    target = np.empty(k)
    for i in range(n):
        spread = 0.0
        for j in range(k):
            for m in range(k):
                shifted[j, m] = G[j, m] - B[i, j] - B[i, m] + squared_norms[i]
            spread += max(shifted[j, j], 0.0)
        weight = spread / k
        if weight <= 0.0:  # all atoms lie on the point
            W[i] = 1.0 / k
            continue
        for j in range(k):
            for m in range(k):
                shifted[j, m] += weight
            target[j] = weight
            passive[j] = W[i, j] > 0.0
        _solve_row(shifted, target, W[i], passive, wrong, L, index, work, -1)
        total = 0.0
        for j in range(k):
            total += W[i, j]
        for j in range(k):
            W[i, j] /= total


@njit(nogil=True)
def solve_observed_rows(W, V, indptr, indices, data, l1, l2, squared_l1):
    """Like :func:`solve_rows`, each row with the normal equations of its observed entries."""
    n, k = W.shape
    passive, wrong, L, index, work = _workspace(k)
    G = np.empty((k, k))
    b = np.empty(k)
    for i in range(n):
        G[:] = squared_l1
        b[:] = -l1
        for j in range(k):
            G[j, j] += l2
        for p in range(indptr[i], indptr[i + 1]):
            v = V[indices[p]]
            for j in range(k):
                b[j] += data[p] * v[j]
                for m in range(k):
                    G[j, m] += v[j] * v[m]
        for j in range(k):
            passive[j] = W[i, j] > 0.0
        _solve_row(G, b, W[i], passive, wrong, L, index, work, -1)


@njit(nogil=True)
def solve_rows_apart(W, B, G):
    """Like :func:`solve_rows`, row i with column i of ``B`` and of the packed triangles ``G``."""
    n, k = W.shape
    passive, wrong, L, index, work = _workspace(k)
    matrix = np.empty((k, k))
    b = np.empty(k)
    for i in range(n):
        for j in range(k):
            b[j] = B[j, i]
            passive[j] = W[i, j] > 0.0
            for m in range(j + 1):
                matrix[j, m] = matrix[m, j] = G[j * (j + 1) // 2 + m, i]
        _solve_row(matrix, b, W[i], passive, wrong, L, index, work, -1)
