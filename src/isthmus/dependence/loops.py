"""Compiled loops: what leaves no matrix product."""

import numpy as np

from isthmus._compiled import njit

# Sums may be taken in any order, so that they run in vector registers.
SUMS = {"reassoc", "contract", "nsz"}
# Below this many neighbours in rank all pairs are cheaper than another pass.
BUCKET = 16


@njit(nogil=True, fastmath=SUMS)
def squared_distances(X, columns, start, stop, out):
    """Fill ``out`` with squared distances of rows of ``X`` to points ``start`` to ``stop``.

    ``columns`` is the transposed table of all points: differences along a column are taken for
    many points at once, and unlike products of norms they lose no digits.
    """
    for i in range(X.shape[0]):
        row = out[i]
        row[:] = 0.0
        for c in range(X.shape[1]):
            x = X[i, c]
            z = columns[c, start:stop]
            for j in range(z.shape[0]):
                d = x - z[j]
                row[j] += d * d


@njit(nogil=True, fastmath=SUMS)
def shift_and_sum(tile, row_offsets, column_offsets, row_sums, column_sums):
    """Subtract ``u_i + u_j`` from a tile in place; add its sums to those of rows and columns."""
    for i in range(tile.shape[0]):
        row = tile[i]
        u = row_offsets[i]
        total = 0.0
        for j in range(row.shape[0]):
            value = row[j] - u - column_offsets[j]
            row[j] = value
            total += value
            column_sums[j] += value
        row_sums[i] += total


@njit(nogil=True, fastmath=SUMS)
def _gathered_dot(k, row, permutation, gathered):
    # First one load after the other, then a product in registers: instructions that gather are
    # slower than both.
    for j in range(k.shape[0]):
        gathered[j] = row[permutation[j]]
    total = 0.0
    for j in range(k.shape[0]):
        total += k[j] * gathered[j]
    return total


@njit(nogil=True)
def add_permuted_products(K, start, L, permutations, out):
    r"""Add :math:`2\sum_{i<j}K_{ij}L_{\pi(i)\pi(j)}` of each permutation, rows from ``start``.

    ``K`` holds rows ``start``, ``start + 1``, ... of a symmetric matrix, columns from ``start`` on.
    A row of ``K`` meets all permutations while it is in the cache.
    """
    gathered = np.empty(K.shape[1])
    for i in range(K.shape[0]):
        k = K[i, i + 1 :]
        for b in range(permutations.shape[0]):
            row = L[permutations[b, start + i]]
            rest = permutations[b, start + i + 1 :]
            out[b] += 2.0 * _gathered_dot(k, row, rest, gathered)


@njit(nogil=True, fastmath=SUMS)
def _concordance_of_all_pairs(x, y):
    total = 0.0
    for j in range(1, len(x)):
        a = x[j]
        b = y[j]
        for i in range(j):
            total += (a - x[i]) * max(b - y[i], 0.0)
    return total


@njit(nogil=True, fastmath=SUMS)
def _split(x, y, rank, x_out, y_out, rank_out, bit):
    """Split a bucket by one bit of the rank, keeping the order; sum over the pairs it separates.

    No branch depends on the data: a processor cannot guess it, and a wrong guess costs more than
    all of the arithmetic here.
    """
    total = count = sum_x = sum_y = sum_xy = 0.0
    low = np.uint64(0)
    high = np.uint64(1 << bit)
    for i in range(len(x)):
        a = x[i]
        b = y[i]
        upper = (rank[i] >> bit) & 1
        above = float(upper)
        below = 1.0 - above
        # Σ (a - x_l)(b - y_l) over the earlier ones of lower rank
        total += above * ((count * a - sum_x) * b - (a * sum_y - sum_xy))
        count += below
        sum_x += below * a
        sum_y += below * b
        sum_xy += below * a * b
        place = high if upper else low
        x_out[place] = a
        y_out[place] = b
        rank_out[place] = rank[i]
        high += np.uint64(upper)
        low += np.uint64(1 - upper)
    return total


@njit(nogil=True)
def concordance(x, y, rank):
    r"""Sum of :math:`(x_j-x_i)(y_j-y_i)` over pairs with :math:`i<j` and :math:`y_i<y_j`.

    ``x`` ascends and ``rank`` is the rank of ``y``, any order among equals (they add nothing).
    Buckets of consecutive ranks are halved, the highest bit first: two elements are separated once,
    at the highest bit in which their ranks differ. O(n log n).
    """
    n = len(x)
    x, y, rank = x.copy(), y.copy(), rank.copy()
    x_new, y_new, rank_new = np.empty_like(x), np.empty_like(y), np.empty_like(rank)
    total = 0.0
    bit = 0
    while (2 << bit) < n:
        bit += 1
    while (1 << bit) >= BUCKET:
        width = 2 << bit
        for lo in range(0, n, width):
            hi = min(lo + width, n)
            total += _split(
                x[lo:hi], y[lo:hi], rank[lo:hi], x_new[lo:hi], y_new[lo:hi], rank_new[lo:hi], bit
            )
        x, x_new = x_new, x
        y, y_new = y_new, y
        rank, rank_new = rank_new, rank
        bit -= 1
    width = 2 << bit
    for lo in range(0, n, width):
        total += _concordance_of_all_pairs(x[lo : lo + width], y[lo : lo + width])
    return total


@njit(nogil=True)
def concordances(x, order, Y, ranks):
    """:func:`concordance` of one sorted column with each row of ``Y``, given in object order."""
    out = np.empty(len(Y))
    for b in range(len(Y)):
        out[b] = concordance(x, Y[b][order], ranks[b][order])
    return out


@njit(nogil=True)
def permuted_concordances(x, order, y, rank, permutations):
    """:func:`concordance` of one sorted column with permuted values of another."""
    out = np.empty(len(permutations))
    for b in range(len(permutations)):
        objects = permutations[b][order]
        out[b] = concordance(x, y[objects], rank[objects])
    return out
