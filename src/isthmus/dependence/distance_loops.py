"""Compiled sums over the distances of a few tables at once: four rows with eight points at a time.

Between its roots and its sums a distance stays in a register or in the nearest cache.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    larger_modulus,
    less,
    load_row,
    more,
    more_products,
    products,
    reciprocal_roots,
    roots,
    spread,
    store_row,
    total,
    where_larger,
)

# Rows that are taken at a time, and columns of them that are kept for products of tables.
ROWS, WIDTH = 4, 256
# Squared distances below this are nothing but rounding errors of points in the unit cube.
SMALLEST = 1e-36


@njit(nogil=True)
def _fill_rows(points, k0, k1, offsets, a, n, i, first, last, room, row_sums):
    """Distances of four rows from ``i`` on to points ``first`` to ``last`` in rows of ``room``.

    Columns ``k0`` to ``k1`` of the points are the table, the a-th; its ``offsets`` are subtracted,
    and what is on the diagonal, above it, or in rows that are not there is zero.
    """
    zero, least, lane = spread(0.0), spread(SMALLEST), load_row(np.arange(8.0).reshape(1, 8), 0, 0)
    t0 = t1 = t2 = t3 = zero
    u0, u1 = spread(offsets[a, i]), spread(offsets[a, i + 1])
    u2, u3 = spread(offsets[a, i + 2]), spread(offsets[a, i + 3])
    # Points that a row has: those before it, and none of a row that is not there.
    n0 = float(i if i < n else -1)
    n1 = float(i + 1 if i + 1 < n else -1)
    n2 = float(i + 2 if i + 2 < n else -1)
    n3 = float(i + 3 if i + 3 < n else -1)
    for j in range(first, last, LANES):
        s0 = s1 = s2 = s3 = zero
        for k in range(k0, k1):
            z = load_row(points, k, j)
            e = less(z, 1.0, spread(points[k, i]))
            s0 = more_products(s0, e, e)
            e = less(z, 1.0, spread(points[k, i + 1]))
            s1 = more_products(s1, e, e)
            e = less(z, 1.0, spread(points[k, i + 2]))
            s2 = more_products(s2, e, e)
            e = less(z, 1.0, spread(points[k, i + 3]))
            s3 = more_products(s3, e, e)
        u = load_row(offsets, a, j)
        # Processors take roots beside their products: half of the rows for each.
        c0, c1 = roots(s0), products(s1, reciprocal_roots(larger_modulus(least, s1)))
        c2, c3 = roots(s2), products(s3, reciprocal_roots(larger_modulus(least, s3)))
        u = load_row(offsets, a, j)
        c0, c1 = less(less(c0, 1.0, u), 1.0, u0), less(less(c1, 1.0, u), 1.0, u1)
        c2, c3 = less(less(c2, 1.0, u), 1.0, u2), less(less(c3, 1.0, u), 1.0, u3)
        if j + LANES > i or i + ROWS > n:
            c0 = where_larger(spread(n0 - j), lane, c0, zero)
            c1 = where_larger(spread(n1 - j), lane, c1, zero)
            c2 = where_larger(spread(n2 - j), lane, c2, zero)
            c3 = where_larger(spread(n3 - j), lane, c3, zero)
        place = ROWS * (j - first)
        store_row(room, a, place, c0)
        store_row(room, a, place + LANES, c1)
        store_row(room, a, place + 2 * LANES, c2)
        store_row(room, a, place + 3 * LANES, c3)
        t0, t1, t2, t3 = more(t0, 1.0, c0), more(t1, 1.0, c1), more(t2, 1.0, c2), more(t3, 1.0, c3)
        r = more(more(load_row(row_sums, a, j), 1.0, c0), 1.0, c1)
        store_row(row_sums, a, j, more(more(r, 1.0, c2), 1.0, c3))
    row_sums[a, i] += total(t0)
    row_sums[a, i + 1] += total(t1)
    row_sums[a, i + 2] += total(t2)
    row_sums[a, i + 3] += total(t3)


@njit(nogil=True)
def add_distance_sums(points, ends, offsets, n, start, stop, room, sums, row_sums):
    r"""Add the sums over rows ``start`` to ``stop`` and the points before them.

    ``points`` (columns, m) holds all tables one below the other, each up to its end in ``ends``,
    as points in the unit cube; m is a multiple of eight, and what is beyond n counts nothing.
    To ``sums`` (g, g) are added :math:`\sum_{i>j}c^a_{ij}c^b_{ij}`, to ``row_sums`` (g, m) those of
    rows and columns, with :math:`c^a_{ij}=\|x^a_i-x^a_j\|-u^a_i-u^a_j`. ``room`` (g, 1024) is work
    space.
    """
    for i in range(start, min(stop, n), ROWS):
        for first in range(0, min(i + ROWS, n), WIDTH):
            last = min(first + WIDTH, (i + ROWS + LANES - 1) // LANES * LANES)
            for a in range(len(ends)):
                k0 = ends[a - 1] if a > 0 else 0
                _fill_rows(points, k0, ends[a], offsets, a, n, i, first, last, room, row_sums)
            for a in range(len(ends)):
                for b in range(a + 1):
                    s = t = spread(0.0)
                    for j in range(0, ROWS * (last - first), 2 * LANES):
                        s = more_products(s, load_row(room, a, j), load_row(room, b, j))
                        k = j + LANES
                        t = more_products(t, load_row(room, a, k), load_row(room, b, k))
                    sums[a, b] += total(more(s, 1.0, t))
