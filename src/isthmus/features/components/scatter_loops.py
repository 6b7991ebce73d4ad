"""Scatter of rows of few columns: half of the products, in registers, as the rows go by.

BLAS packs rows before it multiplies them, which few columns do not repay, and computes both halves
of a small square. Here a block of rows is centred into the nearest cache, once, and eight columns
at sixteen places are sums that stay in registers while its rows go by.
"""

from isthmus._compiled import njit
from isthmus.linalg.lanes import LANES, less, load, load_row, more, spread, store, store_row

# Rows of a block, which with their products stay in the nearest cache.
ROWS = 64


@njit(nogil=True)
def add_scatter(rows, center, block, products, total):
    """Add the products, and the sums, of the rows about a center, which is as wide as they are.

    Rows have eight columns at least. ``block`` (ROWS, w), ``products`` (w, w) and ``total`` (w,)
    are as wide as whole registers; behind the last column, ``block`` is zero. Of the products, the
    upper half counts.
    """
    for first in range(0, len(rows), ROWS):
        n = min(ROWS, len(rows) - first)
        for i in range(n):
            for start in range(0, rows.shape[1], LANES):
                low = min(start, rows.shape[1] - LANES)  # the last places may overlap
                x = load_row(rows, first + i, low)
                store_row(block, i, low, less(x, 1.0, load(center, low)))
        _add_sums(block, n, total)
        _add_products(block, n, products)


@njit(nogil=True)
def add_changes(rows, before, block, products):
    """Add the products of the differences between rows and those before, of as many rows."""
    for first in range(0, len(rows), ROWS):
        n = min(ROWS, len(rows) - first)
        for i in range(n):
            for start in range(0, rows.shape[1], LANES):
                low = min(start, rows.shape[1] - LANES)
                x = load_row(rows, first + i, low)
                store_row(block, i, low, less(x, 1.0, load_row(before, first + i, low)))
        _add_products(block, n, products)


@njit(nogil=True)
def _add_sums(block, n, total):
    for start in range(0, block.shape[1], LANES):
        s = load(total, start)
        for i in range(n):
            s = more(s, 1.0, load_row(block, i, start))
        store(total, start, s)


@njit(nogil=True)
def _add_products(block, n, products):
    """Add the products of the first ``n`` rows, eight columns with sixteen or eight places."""
    wide = block.shape[1]
    for c in range(0, wide, LANES):
        for start in range(c, wide - LANES, 2 * LANES):
            _add_sixteen(block, n, c, start, products)
        if (wide - c) // LANES % 2:
            _add_eight(block, n, c, wide - LANES, products)


@njit(nogil=True)
def _add_sixteen(block, n, c, start, products):
    zero = spread(0.0)
    s00 = s01 = s10 = s11 = s20 = s21 = s30 = s31 = zero
    s40 = s41 = s50 = s51 = s60 = s61 = s70 = s71 = zero
    for i in range(n):
        x, y = load_row(block, i, start), load_row(block, i, start + LANES)
        p = block[i, c]
        s00, s01 = more(s00, p, x), more(s01, p, y)
        p = block[i, c + 1]
        s10, s11 = more(s10, p, x), more(s11, p, y)
        p = block[i, c + 2]
        s20, s21 = more(s20, p, x), more(s21, p, y)
        p = block[i, c + 3]
        s30, s31 = more(s30, p, x), more(s31, p, y)
        p = block[i, c + 4]
        s40, s41 = more(s40, p, x), more(s41, p, y)
        p = block[i, c + 5]
        s50, s51 = more(s50, p, x), more(s51, p, y)
        p = block[i, c + 6]
        s60, s61 = more(s60, p, x), more(s61, p, y)
        p = block[i, c + 7]
        s70, s71 = more(s70, p, x), more(s71, p, y)
    _add_row(products, c, start, s00)
    _add_row(products, c, start + LANES, s01)
    _add_row(products, c + 1, start, s10)
    _add_row(products, c + 1, start + LANES, s11)
    _add_row(products, c + 2, start, s20)
    _add_row(products, c + 2, start + LANES, s21)
    _add_row(products, c + 3, start, s30)
    _add_row(products, c + 3, start + LANES, s31)
    _add_row(products, c + 4, start, s40)
    _add_row(products, c + 4, start + LANES, s41)
    _add_row(products, c + 5, start, s50)
    _add_row(products, c + 5, start + LANES, s51)
    _add_row(products, c + 6, start, s60)
    _add_row(products, c + 6, start + LANES, s61)
    _add_row(products, c + 7, start, s70)
    _add_row(products, c + 7, start + LANES, s71)


@njit(nogil=True)
def _add_eight(block, n, c, start, products):
    zero = spread(0.0)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = zero
    for i in range(n):
        x = load_row(block, i, start)
        s0, s1 = more(s0, block[i, c], x), more(s1, block[i, c + 1], x)
        s2, s3 = more(s2, block[i, c + 2], x), more(s3, block[i, c + 3], x)
        s4, s5 = more(s4, block[i, c + 4], x), more(s5, block[i, c + 5], x)
        s6, s7 = more(s6, block[i, c + 6], x), more(s7, block[i, c + 7], x)
    _add_row(products, c, start, s0)
    _add_row(products, c + 1, start, s1)
    _add_row(products, c + 2, start, s2)
    _add_row(products, c + 3, start, s3)
    _add_row(products, c + 4, start, s4)
    _add_row(products, c + 5, start, s5)
    _add_row(products, c + 6, start, s6)
    _add_row(products, c + 7, start, s7)


@njit(nogil=True)
def _add_row(products, row, start, sums):
    store_row(products, row, start, more(load_row(products, row, start), 1.0, sums))
