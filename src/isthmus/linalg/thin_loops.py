"""A compiled product of a large matrix with few columns."""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import LANES, load_row, more, spread, store_row

# Entries of a row that are read at a time: six of them and the columns stay in the cache.
_LONG = 2048
# Columns of a transpose that are summed at a time, and rows, which stay in the cache meanwhile.
WIDE, _BLOCK = 4 * LANES, 512


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def add_products(A, columns, out):
    """Add ``A @ columns.T`` to ``out.T``; ``columns`` and ``out`` have rows in multiples of four.

    Six rows with four columns are 24 sums, which stay in registers while the long rows go by:
    every entry of ``A`` is read where it lies, and not copied first as BLAS does.
    """
    n, m = A.shape
    sixes = n - n % 6
    for low in range(0, m, _LONG):
        high = min(m, low + _LONG)
        for i in range(0, sixes, 6):
            a0, a1, a2 = A[i, low:high], A[i + 1, low:high], A[i + 2, low:high]
            a3, a4, a5 = A[i + 3, low:high], A[i + 4, low:high], A[i + 5, low:high]
            for c in range(0, len(columns), 4):
                b0, b1 = columns[c, low:high], columns[c + 1, low:high]
                b2, b3 = columns[c + 2, low:high], columns[c + 3, low:high]
                s00 = s10 = s20 = s30 = s40 = s50 = 0.0
                s01 = s11 = s21 = s31 = s41 = s51 = 0.0
                s02 = s12 = s22 = s32 = s42 = s52 = 0.0
                s03 = s13 = s23 = s33 = s43 = s53 = 0.0
                for j in range(high - low):
                    x0, x1, x2, x3, x4, x5 = a0[j], a1[j], a2[j], a3[j], a4[j], a5[j]
                    y = b0[j]
                    s00 += x0 * y
                    s10 += x1 * y
                    s20 += x2 * y
                    s30 += x3 * y
                    s40 += x4 * y
                    s50 += x5 * y
                    y = b1[j]
                    s01 += x0 * y
                    s11 += x1 * y
                    s21 += x2 * y
                    s31 += x3 * y
                    s41 += x4 * y
                    s51 += x5 * y
                    y = b2[j]
                    s02 += x0 * y
                    s12 += x1 * y
                    s22 += x2 * y
                    s32 += x3 * y
                    s42 += x4 * y
                    s52 += x5 * y
                    y = b3[j]
                    s03 += x0 * y
                    s13 += x1 * y
                    s23 += x2 * y
                    s33 += x3 * y
                    s43 += x4 * y
                    s53 += x5 * y
                _add_six(out[c], i, s00, s10, s20, s30, s40, s50)
                _add_six(out[c + 1], i, s01, s11, s21, s31, s41, s51)
                _add_six(out[c + 2], i, s02, s12, s22, s32, s42, s52)
                _add_six(out[c + 3], i, s03, s13, s23, s33, s43, s53)
    for i in range(sixes, n):
        for c in range(len(columns)):
            total = 0.0
            for j in range(m):
                total += A[i, j] * columns[c, j]
            out[c, i] += total


@njit(nogil=True, inline="always")
def _add_six(out, i, s0, s1, s2, s3, s4, s5):
    out[i] += s0
    out[i + 1] += s1
    out[i + 2] += s2
    out[i + 3] += s3
    out[i + 4] += s4
    out[i + 5] += s5


@njit(nogil=True)
def add_transposed_products(A, columns, out):
    """Add ``A.T @ columns.T`` to ``out.T``; ``columns`` and ``out`` have rows in multiples of four.

    ``A`` has at least 32 columns. Four columns of the result at 32 places are 16 registers of sums,
    which stay while the rows of ``A`` go by: nothing is stored before a block of rows ends.
    """
    n, m = A.shape
    sums = np.empty((4, WIDE))
    for first in range(0, n, _BLOCK):
        last = min(n, first + _BLOCK)
        for low in range(0, m, WIDE):
            start = min(low, m - WIDE)  # the last places overlap with those before, and count once
            for c in range(0, len(columns), 4):
                _sum_rows(A, columns, first, last, start, c, sums)
                for q in range(4):
                    for j in range(low - start, WIDE):
                        out[c + q, start + j] += sums[q, j]


@njit(nogil=True, inline="always")
def _sum_rows(A, columns, first, last, start, c, sums):
    zero = spread(0.0)
    s00 = s01 = s02 = s03 = zero
    s10 = s11 = s12 = s13 = zero
    s20 = s21 = s22 = s23 = zero
    s30 = s31 = s32 = s33 = zero
    for i in range(first, last):
        x0, x1 = load_row(A, i, start), load_row(A, i, start + LANES)
        x2, x3 = load_row(A, i, start + 2 * LANES), load_row(A, i, start + 3 * LANES)
        p = columns[c, i]
        s00, s01, s02, s03 = more(s00, p, x0), more(s01, p, x1), more(s02, p, x2), more(s03, p, x3)
        p = columns[c + 1, i]
        s10, s11, s12, s13 = more(s10, p, x0), more(s11, p, x1), more(s12, p, x2), more(s13, p, x3)
        p = columns[c + 2, i]
        s20, s21, s22, s23 = more(s20, p, x0), more(s21, p, x1), more(s22, p, x2), more(s23, p, x3)
        p = columns[c + 3, i]
        s30, s31, s32, s33 = more(s30, p, x0), more(s31, p, x1), more(s32, p, x2), more(s33, p, x3)
    _store_four(sums, 0, s00, s01, s02, s03)
    _store_four(sums, 1, s10, s11, s12, s13)
    _store_four(sums, 2, s20, s21, s22, s23)
    _store_four(sums, 3, s30, s31, s32, s33)


@njit(nogil=True, inline="always")
def _store_four(sums, q, s0, s1, s2, s3):
    store_row(sums, q, 0, s0)
    store_row(sums, q, LANES, s1)
    store_row(sums, q, 2 * LANES, s2)
    store_row(sums, q, 3 * LANES, s3)
