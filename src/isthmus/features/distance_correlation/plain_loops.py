"""Compiled passes over all pairs at exponent 1: four rows with eight columns at a time.

The lower triangle is held by groups of eight rows, each row as long as the last of its group, so
that whole lanes are read and written. What lies on the diagonal, above it, or in rows that are not
there is zero in both matrices, and adds nothing.
"""

import numpy as np

from isthmus._compiled import njit
from isthmus.linalg.lanes import (
    LANES,
    less,
    less_products,
    load,
    load_row,
    more,
    more_products,
    products,
    quotients,
    reciprocal_roots,
    roots,
    spread,
    store,
    store_row,
    total,
    where_larger,
)

ROWS = 4


@njit
def pack_triangle(S, packed):
    """Copy what is below the diagonal of ``S``, group by group, with zeros elsewhere."""
    packed[:] = 0.0
    place = 0
    for i in range(len(S)):
        packed[place : place + i] = S[i, :i]
        place += i // LANES * LANES + LANES


@njit(nogil=True)
def fill_reciprocals(Zt, n, floor, S, R, first, last, row_sums):
    r"""One over the distances of groups ``first`` to ``last`` in ``R``, and sums of distances.

    ``Zt`` (d, m) has m - n columns of zeros at the end, m a multiple of eight. Returns
    :math:`\sum_{i>j}S_{ij}c_{ij}` with :math:`c_{ij}=(\|z_i-z_j\|^2+\epsilon)^{1/2}`, and adds to
    the row sums of :math:`c`.
    """
    zero, lane = spread(0.0), load(np.arange(8.0), 0)
    product, one, smallest = zero, spread(1.0), spread(floor)
    for i in range(first * LANES, min(last * LANES, n), ROWS):
        group = i // LANES
        width = group * LANES + LANES
        p0 = group * (group + 1) // 2 * LANES**2 + (i % LANES) * width
        p1, p2, p3 = p0 + width, p0 + 2 * width, p0 + 3 * width
        # Columns that a row has: those before it, and none of a row that is not there.
        n1 = float(i + 1 if i + 1 < n else -1)
        n2 = float(i + 2 if i + 2 < n else -1)
        n3 = float(i + 3 if i + 3 < n else -1)
        t0 = t1 = t2 = t3 = zero
        for j in range(0, width, LANES):
            s0 = s1 = s2 = s3 = smallest
            for k in range(len(Zt)):
                z = load_row(Zt, k, j)
                e = less(z, 1.0, spread(Zt[k, i]))
                s0 = more_products(s0, e, e)
                e = less(z, 1.0, spread(Zt[k, i + 1]))
                s1 = more_products(s1, e, e)
                e = less(z, 1.0, spread(Zt[k, i + 2]))
                s2 = more_products(s2, e, e)
                e = less(z, 1.0, spread(Zt[k, i + 3]))
                s3 = more_products(s3, e, e)
            # Processors divide beside their products: half of the rows for each.
            c0, c2 = roots(s0), roots(s2)
            r0, r1 = quotients(one, c0), reciprocal_roots(s1)
            r2, r3 = quotients(one, c2), reciprocal_roots(s3)
            if j + LANES == width or i + ROWS > n:
                limit = spread(float(i - j))
                r0, c0 = where_larger(limit, lane, r0, zero), where_larger(limit, lane, c0, zero)
                limit = spread(n2 - j)
                r2, c2 = where_larger(limit, lane, r2, zero), where_larger(limit, lane, c2, zero)
                r1 = where_larger(spread(n1 - j), lane, r1, zero)
                r3 = where_larger(spread(n3 - j), lane, r3, zero)
            store(R, p0 + j, r0)
            store(R, p1 + j, r1)
            store(R, p2 + j, r2)
            store(R, p3 + j, r3)
            c1, c3 = products(s1, r1), products(s3, r3)
            product = more_products(product, c0, load(S, p0 + j))
            product = more_products(product, c1, load(S, p1 + j))
            product = more_products(product, c2, load(S, p2 + j))
            product = more_products(product, c3, load(S, p3 + j))
            t0, t1 = more(t0, 1.0, c0), more(t1, 1.0, c1)
            t2, t3 = more(t2, 1.0, c2), more(t3, 1.0, c3)
            r = more(more(load(row_sums, j), 1.0, c0), 1.0, c1)
            store(row_sums, j, more(more(r, 1.0, c2), 1.0, c3))
        row_sums[i] += total(t0)
        row_sums[i + 1] += total(t1)
        row_sums[i + 2] += total(t2)
        row_sums[i + 3] += total(t3)
    return total(product)


@njit(nogil=True)
def _fill_weights(S, R, shifts, along, against, i, weights):
    """Weights of four rows from ``i`` on: what each pair pulls with, over its distance."""
    group = i // LANES
    width = group * LANES + LANES
    p0 = group * (group + 1) // 2 * LANES**2 + (i % LANES) * width
    zero, least = spread(0.0), spread(-against)
    for r in range(ROWS):
        place, shift = p0 + r * width, spread(shifts[i + r])
        for j in range(0, width, LANES):
            near = load(R, place + j)
            # (α S_ij - β (c_ij + m - m_i - m_j)) / c_ij
            v = more(more(load(shifts, j), 1.0, shift), along, load(S, place + j))
            v = more_products(least, v, near)
            # The padding has no distance, and no weight.
            store_row(weights, r, j, where_larger(near, zero, v, zero))


@njit(nogil=True)
def add_pulls(Zt, n, S, R, shifts, along, against, first, last, weights, Gt):
    r"""Add to ``Gt`` what pairs of groups ``first`` to ``last`` add to
    :math:`\sum_jw_{ij}(z_i-z_j)`.

    The weights are :math:`w_{ij}=(\alpha S_{ij}-\beta\hat c_{ij})/c_{ij}` with the centred
    :math:`\hat c_{ij}=c_{ij}-(b_i+b_j)/\beta` for the ``shifts`` b; ``weights`` (4, m) is work
    space.
    """
    zero = spread(0.0)
    for i in range(first * LANES, min(last * LANES, n), ROWS):
        _fill_weights(S, R, shifts, along, against, i, weights)
        width = i // LANES * LANES + LANES
        for k in range(len(Zt)):
            z0, z1 = spread(Zt[k, i]), spread(Zt[k, i + 1])
            z2, z3 = spread(Zt[k, i + 2]), spread(Zt[k, i + 3])
            t0 = t1 = t2 = t3 = zero
            for j in range(0, width, LANES):
                z, g = load_row(Zt, k, j), load_row(Gt, k, j)
                v, e = load_row(weights, 0, j), less(z0, 1.0, z)
                t0, g = more_products(t0, v, e), less_products(g, v, e)
                v, e = load_row(weights, 1, j), less(z1, 1.0, z)
                t1, g = more_products(t1, v, e), less_products(g, v, e)
                v, e = load_row(weights, 2, j), less(z2, 1.0, z)
                t2, g = more_products(t2, v, e), less_products(g, v, e)
                v, e = load_row(weights, 3, j), less(z3, 1.0, z)
                t3, g = more_products(t3, v, e), less_products(g, v, e)
                store_row(Gt, k, j, g)
            Gt[k, i] += total(t0)
            Gt[k, i + 1] += total(t1)
            Gt[k, i + 2] += total(t2)
            Gt[k, i + 3] += total(t3)
