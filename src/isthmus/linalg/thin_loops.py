"""A compiled product of a large matrix with few columns."""

from isthmus._compiled import njit

# Entries of a row that are read at a time: six of them and the columns stay in the cache.
_LONG, _SHORT = 2048, 256


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


@njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})
def add_transposed_products(A, columns, out):
    """Add ``A.T @ columns.T`` to ``out.T``; both have rows in multiples of four, and so has ``A``.

    Four rows of ``A`` are added to four of ``out`` at a time, in parts that stay in the cache.
    """
    n, m = A.shape
    for low in range(0, m, _SHORT):
        high = min(m, low + _SHORT)
        for i in range(0, n, 4):
            a0, a1 = A[i, low:high], A[i + 1, low:high]
            a2, a3 = A[i + 2, low:high], A[i + 3, low:high]
            for c in range(0, len(columns), 4):
                b0, b1 = out[c, low:high], out[c + 1, low:high]
                b2, b3 = out[c + 2, low:high], out[c + 3, low:high]
                p0, p1, p2, p3 = columns[c], columns[c + 1], columns[c + 2], columns[c + 3]
                p00, p01, p02, p03 = p0[i], p0[i + 1], p0[i + 2], p0[i + 3]
                p10, p11, p12, p13 = p1[i], p1[i + 1], p1[i + 2], p1[i + 3]
                p20, p21, p22, p23 = p2[i], p2[i + 1], p2[i + 2], p2[i + 3]
                p30, p31, p32, p33 = p3[i], p3[i + 1], p3[i + 2], p3[i + 3]
                for j in range(high - low):
                    x0, x1, x2, x3 = a0[j], a1[j], a2[j], a3[j]
                    y0 = b0[j] + p00 * x0 + p01 * x1 + p02 * x2 + p03 * x3
                    y1 = b1[j] + p10 * x0 + p11 * x1 + p12 * x2 + p13 * x3
                    y2 = b2[j] + p20 * x0 + p21 * x1 + p22 * x2 + p23 * x3
                    y3 = b3[j] + p30 * x0 + p31 * x1 + p32 * x2 + p33 * x3
                    b0[j], b1[j], b2[j], b3[j] = y0, y1, y2, y3
