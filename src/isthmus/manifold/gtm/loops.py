"""Compiled loops of the E-step: powers of two, their sums, and means of rows under them."""

from math import factorial, log
from typing import Any

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from isthmus._compiled import njit

# Exponents are cut off here, for powers that a double has.
LEAST, MOST = -1000.0, 1000.0
# Sums of powers beyond these are made anew, with the largest exponent split off.
TINY, HUGE = 1e-250, 1e4
# Rows whose means are taken together: their table stays in the innermost cache.
TOGETHER = 8
# Taylor's series of 2^x for |x| <= 1/2, whose next term is below the rounding of a double.
C = tuple(log(2.0) ** n / factorial(n) for n in range(13))


def _bitcast(context: Any, bits: Any) -> Any:
    """The double that has the bits of an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


_float_of_bits: Any = intrinsic(_bitcast)


@njit(fastmath=True)
def _power(x):
    r"""The power :math:`2^x` without a branch; ``x`` is negative but for rounding."""
    x = min(max(x, LEAST), MOST)
    whole = np.int32(x - 0.5)
    f = x - whole
    p = C[12]
    p = p * f + C[11]
    p = p * f + C[10]
    p = p * f + C[9]
    p = p * f + C[8]
    p = p * f + C[7]
    p = p * f + C[6]
    p = p * f + C[5]
    p = p * f + C[4]
    p = p * f + C[3]
    p = p * f + C[2]
    p = p * f + C[1]
    p = p * f + C[0]
    return p * _float_of_bits((np.int64(whole) + 1023) << 52)


@njit(fastmath=True)
def _take_powers(table):
    """Replace exponents (K,) by their powers of two; return the sum of these."""
    total = 0.0
    for k in range(len(table)):
        power = _power(table[k])
        table[k] = power
        total += power
    return total


@njit(nogil=True, fastmath=True)
def take_powers(table, sums):
    """Replace exponents (n, K) by their powers of two, and write the sums of rows (n,)."""
    for i in range(len(table)):
        sums[i] = _take_powers(table[i])


@njit(fastmath=True)
def _exponents_of_two(rows, offsets, i, other, columns, first, second):
    """Offsets and the products of two rows (p,) and columns (p, K), four at a time."""
    one, two = rows[i], rows[other]
    o, u = offsets[i], offsets[other]
    for j in range(0, len(one), 4):
        a, b, c, d = one[j], one[j + 1], one[j + 2], one[j + 3]
        e, f, g, h = two[j], two[j + 1], two[j + 2], two[j + 3]
        if j == 0:
            for k in range(len(first)):
                p, q, r, s = columns[0, k], columns[1, k], columns[2, k], columns[3, k]
                first[k] = (o + a * p + b * q) + (c * r + d * s)
                second[k] = (u + e * p + f * q) + (g * r + h * s)
        else:
            for k in range(len(first)):
                p, q, r, s = columns[j, k], columns[j + 1, k], columns[j + 2, k], columns[j + 3, k]
                first[k] += (a * p + b * q) + (c * r + d * s)
                second[k] += (e * p + f * q) + (g * r + h * s)


@njit(fastmath=True)
def _exponents_from_largest(row, offset, columns, out):
    """Exponents of one row, from which the largest is split off and returned."""
    top = -np.inf
    for k in range(len(out)):
        out[k] = offset
        for j in range(len(row)):
            out[k] += row[j] * columns[j, k]
        top = max(top, out[k])
    for k in range(len(out)):
        out[k] -= top
    return top


@njit(fastmath=True)
def _add_rows(table, rows, moments):
    """Add ``rows.T @ table``, of :data:`TOGETHER` rows, to moments (c, K), two at a time."""
    for j in range(0, len(moments), 2):
        a, b, c, d = rows[0, j], rows[1, j], rows[2, j], rows[3, j]
        e, f, g, h = rows[4, j], rows[5, j], rows[6, j], rows[7, j]
        m, n, o, p = rows[0, j + 1], rows[1, j + 1], rows[2, j + 1], rows[3, j + 1]
        q, r, s, t = rows[4, j + 1], rows[5, j + 1], rows[6, j + 1], rows[7, j + 1]
        for k in range(moments.shape[1]):
            u, v, w, x = table[0, k], table[1, k], table[2, k], table[3, k]
            y, z, i, l = table[4, k], table[5, k], table[6, k], table[7, k]  # noqa: E741
            moments[j, k] += (a * u + b * v + c * w + d * x) + (e * y + f * z + g * i + h * l)
            moments[j + 1, k] += (m * u + n * v + o * w + p * x) + (q * y + r * z + s * i + t * l)


@njit(nogil=True, fastmath=True)
def add_moments(rows, offsets, columns, moments):
    """Add the means of rows under their responsibilities to ``moments`` (c, K).

    Exponents of two are ``rows @ columns + offsets``, with (n, p), (p, K) and (n,), where ``p`` is
    a multiple of four; means are those of the first ``c`` columns of ``rows``, an even number.
    Returns the sum of the logarithms to base two of the powers' sums. No table of n times K is
    made.
    """
    n, n_means = len(rows), len(moments)
    table = np.zeros((TOGETHER, columns.shape[1]))
    shares = np.zeros((TOGETHER, n_means))
    total = 0.0
    for first in range(0, n, TOGETHER):
        size = min(TOGETHER, n - first)
        for r in range(0, size, 2):
            i, other = first + r, min(first + r + 1, n - 1)
            _exponents_of_two(rows, offsets, i, other, columns, table[r], table[r + 1])
        for r in range(size):
            i = first + r
            powers, top = _take_powers(table[r]), 0.0
            if powers < TINY or powers > HUGE:
                top = _exponents_from_largest(rows[i], offsets[i], columns, table[r])
                powers = _take_powers(table[r])
            total += np.log2(powers) + top
            for j in range(n_means):
                shares[r, j] = rows[i, j] / powers
        for r in range(size, TOGETHER):  # the last rows may be fewer
            for j in range(n_means):
                shares[r, j] = 0.0
        _add_rows(table, shares, moments)
    return total
