"""Compiled loops of the E-step: powers of two, their sums, and means of rows under them."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.power_loops import power_of_two

# Sums of powers beyond these are made anew, with the largest exponent split off.
TINY, HUGE = 1e-250, 1e4
# Rows whose means are taken together: their table stays in the innermost cache.
TOGETHER = 8


@njit(fastmath=True)
def _take_powers(table):
    """Replace exponents (K,) by their powers of two; return the sum of these."""
    total = 0.0
    for k in range(len(table)):
        power = power_of_two(table[k])
        table[k] = power
        total += power
    return total


@njit(nogil=True, fastmath=True)
def take_powers(table, sums):
    """Replace exponents (n, K) by their powers of two, and write the sums of rows (n,)."""
    for i in range(len(table)):
        sums[i] = _take_powers(table[i])


@njit(fastmath=True)
def _exponents_of_two(rows, offsets, i, other, columns, heights, first, second):
    """Offsets, heights (K,) and the products of two rows and columns (p, K), four at a time."""
    one, two = rows[i], rows[other]
    o, u = offsets[i], offsets[other]
    for j in range(0, len(columns), 4):
        a, b, c, d = one[j], one[j + 1], one[j + 2], one[j + 3]
        e, f, g, h = two[j], two[j + 1], two[j + 2], two[j + 3]
        if j == 0:
            for k in range(len(first)):
                p, q, r, s = columns[0, k], columns[1, k], columns[2, k], columns[3, k]
                t = heights[k]
                first[k] = ((o + t) + a * p + b * q) + (c * r + d * s)
                second[k] = ((u + t) + e * p + f * q) + (g * r + h * s)
        else:
            for k in range(len(first)):
                p, q, r, s = columns[j, k], columns[j + 1, k], columns[j + 2, k], columns[j + 3, k]
                first[k] += (a * p + b * q) + (c * r + d * s)
                second[k] += (e * p + f * q) + (g * r + h * s)


@njit(fastmath=True)
def _exponents_from_largest(row, offset, columns, heights, out):
    """Exponents of one row, from which the largest is split off and returned."""
    top = -np.inf
    for k in range(len(out)):
        out[k] = offset + heights[k]
        for j in range(len(columns)):
            out[k] += row[j] * columns[j, k]
        top = max(top, out[k])
    for k in range(len(out)):
        out[k] -= top
    return top


@njit(fastmath=True)
def _add_rows(table, rows, moments):
    """Add ``rows.T @ table``, of :data:`TOGETHER` rows, to moments (c, K), two at a time."""
    n_means = len(moments)
    for j in range(0, n_means - 1, 2):
        a, b, c, d = rows[0, j], rows[1, j], rows[2, j], rows[3, j]
        e, f, g, h = rows[4, j], rows[5, j], rows[6, j], rows[7, j]
        m, n, o, p = rows[0, j + 1], rows[1, j + 1], rows[2, j + 1], rows[3, j + 1]
        q, r, s, t = rows[4, j + 1], rows[5, j + 1], rows[6, j + 1], rows[7, j + 1]
        for k in range(moments.shape[1]):
            u, v, w, x = table[0, k], table[1, k], table[2, k], table[3, k]
            y, z, i, l = table[4, k], table[5, k], table[6, k], table[7, k]  # noqa: E741
            moments[j, k] += (a * u + b * v + c * w + d * x) + (e * y + f * z + g * i + h * l)
            moments[j + 1, k] += (m * u + n * v + o * w + p * x) + (q * y + r * z + s * i + t * l)
    if n_means % 2:
        j = n_means - 1
        a, b, c, d = rows[0, j], rows[1, j], rows[2, j], rows[3, j]
        e, f, g, h = rows[4, j], rows[5, j], rows[6, j], rows[7, j]
        for k in range(moments.shape[1]):
            u, v, w, x = table[0, k], table[1, k], table[2, k], table[3, k]
            y, z, i, l = table[4, k], table[5, k], table[6, k], table[7, k]  # noqa: E741
            moments[j, k] += (a * u + b * v + c * w + d * x) + (e * y + f * z + g * i + h * l)


@njit(nogil=True, fastmath=True)
def add_moments(rows, offsets, columns, heights, table, moments):
    """Add the means of rows under their responsibilities to ``moments`` (d + 1, K).

    Exponents of two are ``rows @ columns + heights + offsets``, with (n, p), (p, K), (K,) and
    (n,), where ``p`` is a multiple of four; means are those of the first ``d`` columns of
    ``rows``, and of ones. ``table`` (8, K) is overwritten: no table of n times K is made. Returns
    the sum of the logarithms to base two of the powers' sums.
    """
    n, last = len(rows), len(moments) - 1
    shares = np.zeros((TOGETHER, last + 1))
    total = 0.0
    for first in range(0, n, TOGETHER):
        size = min(TOGETHER, n - first)
        for r in range(0, size, 2):
            i, other = first + r, min(first + r + 1, n - 1)
            _exponents_of_two(rows, offsets, i, other, columns, heights, table[r], table[r + 1])
        for r in range(size):
            i = first + r
            powers, top = _take_powers(table[r]), 0.0
            if powers < TINY or powers > HUGE:
                top = _exponents_from_largest(rows[i], offsets[i], columns, heights, table[r])
                powers = _take_powers(table[r])
            total += np.log2(powers) + top
            for j in range(last):
                shares[r, j] = rows[i, j] / powers
            shares[r, last] = 1.0 / powers
        for r in range(size, TOGETHER):  # the last rows may be fewer
            shares[r] = 0.0
        _add_rows(table, shares, moments)
    return total
